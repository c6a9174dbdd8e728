//! Outcomes of the gates of `arbiter ci`, stored so that a gate need not run twice for the same
//! commits, and so that figures can be compared over time.

use rusqlite::params;

use super::{Result, Store};
use arbiter_plan::GateOutcome;

/// Outcome of a gate, with the time of storage and the engines.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredGate {
    /// Time at which the outcome was stored, as Unix time in milliseconds.
    pub created_ms: i64,
    /// Engine under test: a commit, or another string that identifies the engine.
    pub test: String,
    /// Reference engine of the comparison, if any.
    pub base: Option<String>,
    /// Outcome of the gate.
    pub outcome: GateOutcome,
}

const COLUMNS: &str = "created_ms, test, base, step, kind, verdict, words, code, seconds, figures";

/// Condition for the outcomes that were stored by this store or imported under the key `?1`.
pub(crate) const FOR_RUN: &str = "(key NOT LIKE 'imported%' OR key = ?1)";

/// Returns the key of gate outcomes that were imported with a run. Reports of this run show the
/// outcomes, but `arbiter ci` never reuses them.
pub(crate) fn imported_key(run: &str) -> String {
    format!("imported {run}")
}

impl Store {
    /// Stores an outcome; `key` is a hash of everything that determines the outcome.
    pub fn add_gate(&self, key: &str, gate: &StoredGate) -> Result<()> {
        let StoredGate { created_ms, test, base, outcome } = gate;
        let GateOutcome { gate, text, code, seconds, .. } = outcome;
        let kind = outcome.kind.to_string();
        let verdict = outcome.verdict.to_string();
        let figures = outcome.figures.to_string();
        let insert = format!(
            "INSERT INTO gates (key, {COLUMNS})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
        );
        let values =
            params![key, created_ms, test, base, gate, kind, verdict, text, code, seconds, figures];
        self.execute(&insert, values).map(drop)
    }

    /// Returns the latest outcome that is stored under a key.
    pub fn gate(&self, key: &str) -> Result<Option<StoredGate>> {
        // A key may occur several times, because `--no-cache` repeats a gate.
        let latest = self.select_gates("key = ?1 ORDER BY id DESC LIMIT 1", Some(key))?;
        Ok(latest.into_iter().next())
    }

    /// Returns the outcomes of the gate `name`, or of all gates if `name` is `None`, oldest first.
    /// Imported outcomes are omitted.
    pub fn gates(&self, name: Option<&str>) -> Result<Vec<StoredGate>> {
        let own = "key NOT LIKE 'imported%' AND step = coalesce(?1, step) ORDER BY created_ms, id";
        self.select_gates(own, name)
    }

    /// Returns the outcomes that a report of a run may show, oldest first. Outcomes that were
    /// imported with this run precede all other outcomes; outcomes that were imported with other
    /// runs are omitted.
    pub fn gates_for_run(&self, run: &str) -> Result<Vec<StoredGate>> {
        let condition = format!("{FOR_RUN} ORDER BY key <> ?1, created_ms, id");
        self.select_gates(&condition, Some(&imported_key(run)))
    }

    /// Returns the outcomes that a condition with one parameter selects.
    fn select_gates(&self, condition: &str, value: Option<&str>) -> Result<Vec<StoredGate>> {
        type Columns =
            (i64, String, Option<String>, String, String, String, String, u8, f64, String);
        let select = format!("SELECT {COLUMNS} FROM gates WHERE {condition}");
        let rows: Vec<Columns> = self.rows(&select, [value], |row| row.try_into())?;
        let read = |row: Columns| {
            let (created_ms, test, base, gate, kind, verdict, text, code, seconds, figures) = row;
            let corrupt = |what: String| self.corrupt(&format!("gate {gate}"), what);
            let kind = kind.parse().map_err(|_| corrupt(format!("unknown kind '{kind}'")))?;
            let parsed = verdict.parse();
            let verdict = parsed.map_err(|_| corrupt(format!("unknown verdict '{verdict}'")))?;
            let figures =
                serde_json::from_str(&figures).map_err(|error| corrupt(error.to_string()))?;
            // A stored outcome is marked with its time, to distinguish it from a new measurement.
            let from_before = Some(created_ms);
            let outcome =
                GateOutcome { gate, kind, verdict, text, code, seconds, figures, from_before };
            Ok(StoredGate { created_ms, test, base, outcome })
        };
        rows.into_iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::{GateKind, GateVerdict};

    #[test]
    fn the_latest_outcome_counts_and_all_are_stored() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path()).unwrap();
        let gate = |created_ms, verdict| StoredGate {
            created_ms,
            test: "abc".into(),
            base: None,
            outcome: GateOutcome {
                gate: "quick".into(),
                kind: GateKind::Sprt,
                verdict,
                text: "w".into(),
                code: 5,
                seconds: 1.5,
                figures: serde_json::json!({ "llr": 0.5 }),
                from_before: Some(created_ms),
            },
        };
        let [old, new] = [gate(1, GateVerdict::Failed), gate(2, GateVerdict::Undecided)];
        store.add_gate("k", &old).unwrap();
        store.add_gate("k", &new).unwrap();
        assert_eq!(store.gate("k").unwrap(), Some(new.clone()));
        assert_eq!(store.gate("other").unwrap(), None);
        assert_eq!(store.gates(Some("quick")).unwrap(), [old, new]);
        assert_eq!(store.gates(Some("slow")).unwrap(), []);
        assert_eq!(store.gates(None).unwrap().len(), 2);
    }
}
