//! What became of the steps of `arbiter ci`, kept so that a step is not carried out twice for the
//! same commits, and so that its figures can be followed over time.

use rusqlite::{OptionalExtension, Row, params};

use super::{Store, StoreError};
use arbiter_plan::gate::{Kind, Outcome, Verdict};

/// An outcome with what it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredGate {
    /// When it was carried out, in milliseconds of Unix time.
    pub created_ms: i64,
    /// The engine under test: a commit, or what stands for it.
    pub test: String,
    /// What it was compared with.
    pub base: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
}

const COLUMNS: &str = "created_ms, test, base, step, kind, verdict, words, code, seconds, figures";

impl Store {
    /// Keeps an outcome; `key` follows from all that decides it.
    pub fn add_gate(&self, key: &str, gate: &StoredGate) -> Result<(), StoreError> {
        let outcome = &gate.outcome;
        self.connection
            .execute(
                "INSERT INTO gates (key, created_ms, test, base, step, kind, verdict, words, code,
                     seconds, figures)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                params![
                    key,
                    gate.created_ms,
                    gate.test,
                    gate.base,
                    outcome.step,
                    outcome.kind.as_str(),
                    outcome.verdict.as_str(),
                    outcome.words,
                    outcome.code,
                    outcome.seconds,
                    outcome.figures.to_string()
                ],
            )
            .map(drop)
            .map_err(|e| self.sqlite(e))
    }

    /// The latest outcome of a key.
    pub fn gate(&self, key: &str) -> Result<Option<StoredGate>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM gates WHERE key = ?1 ORDER BY id DESC LIMIT 1");
        let found = self.connection.query_row(&sql, [key], read).optional();
        found.map_err(|e| self.sqlite(e))?.map(|row| self.understood(row)).transpose()
    }

    /// All outcomes, oldest first; those of one step if it is named.
    pub fn gates(&self, step: Option<&str>) -> Result<Vec<StoredGate>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM gates WHERE ?1 IS NULL OR step = ?1 ORDER BY created_ms, id"
        );
        let rows = || -> rusqlite::Result<Vec<GateRow>> {
            self.connection.prepare(&sql)?.query_map([step], read)?.collect()
        };
        let rows = rows().map_err(|e| self.sqlite(e))?;
        rows.into_iter().map(|row| self.understood(row)).collect()
    }

    fn understood(&self, row: GateRow) -> Result<StoredGate, StoreError> {
        let step = row.step.clone();
        row.into_gate().map_err(|what| self.corrupt(&format!("step {step}"), what))
    }
}

struct GateRow {
    created_ms: i64,
    test: String,
    base: Option<String>,
    step: String,
    kind: String,
    verdict: String,
    words: String,
    code: u8,
    seconds: f64,
    figures: String,
}

fn read(row: &Row<'_>) -> rusqlite::Result<GateRow> {
    Ok(GateRow {
        created_ms: row.get(0)?,
        test: row.get(1)?,
        base: row.get(2)?,
        step: row.get(3)?,
        kind: row.get(4)?,
        verdict: row.get(5)?,
        words: row.get(6)?,
        code: row.get(7)?,
        seconds: row.get(8)?,
        figures: row.get(9)?,
    })
}

impl GateRow {
    fn into_gate(self) -> Result<StoredGate, String> {
        let kinds = Kind::ALL.into_iter().chain([Kind::Build]);
        let kind = kinds.into_iter().find(|kind| kind.as_str() == self.kind);
        let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.as_str() == self.verdict);
        Ok(StoredGate {
            created_ms: self.created_ms,
            test: self.test,
            base: self.base,
            outcome: Outcome {
                kind: kind.ok_or_else(|| format!("kind '{}' is not known", self.kind))?,
                verdict: verdict
                    .ok_or_else(|| format!("verdict '{}' is not known", self.verdict))?,
                step: self.step,
                words: self.words,
                code: self.code,
                seconds: self.seconds,
                figures: serde_json::from_str(&self.figures).map_err(|error| error.to_string())?,
                from_before: Some(self.created_ms),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_outcome_counts_and_all_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path()).unwrap();
        let gate = |created_ms, verdict| StoredGate {
            created_ms,
            test: "abc".into(),
            base: None,
            outcome: Outcome {
                step: "quick".into(),
                kind: Kind::Sprt,
                verdict,
                words: "w".into(),
                code: 5,
                seconds: 1.5,
                figures: serde_json::json!({ "llr": 0.5 }),
                from_before: Some(created_ms),
            },
        };
        let [old, new] = [gate(1, Verdict::Failed), gate(2, Verdict::Undecided)];
        store.add_gate("k", &old).unwrap();
        store.add_gate("k", &new).unwrap();
        assert_eq!(store.gate("k").unwrap(), Some(new.clone()));
        assert_eq!(store.gate("other").unwrap(), None);
        assert_eq!(store.gates(Some("quick")).unwrap(), [old, new]);
        assert_eq!(store.gates(Some("slow")).unwrap(), []);
        assert_eq!(store.gates(None).unwrap().len(), 2);
    }
}
