//! Plans.

use std::iter::repeat;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use arbiter_game::adjudicate::TablebaseRule;
use arbiter_game::annotation::{Annotation, Keeping};
use arbiter_openings::Quarantine;
use arbiter_plan::{Engine, Plan};

/// Versions of the stored plan. Fields may be added with a default; a change of meaning needs a new
/// version. Those of the later version have options that name files.
const VERSIONS: [u32; 2] = [2, 3];

/// What the inputs of a run looked like when it began: hashes that a resumed run compares, so
/// that it never mixes the games of two programs or two books.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fingerprints {
    /// Of the opening book.
    #[serde(rename = "book_hash")]
    pub book: String,
    /// Of the openings read from it.
    #[serde(rename = "openings_hash")]
    pub openings: String,
    /// What of the book was left out.
    pub quarantine: Quarantine,
    /// What of the book was corrected.
    #[serde(default, skip_serializing_if = "Quarantine::is_empty")]
    pub corrected: Quarantine,
    /// Of each engine's program.
    #[serde(skip)]
    pub engines: Vec<String>,
    /// Of the files that each engine's options name.
    #[serde(skip)]
    pub option_files: Vec<Vec<String>>,
    /// The machine, in words; it may be another when a run goes on.
    pub host: String,
}

impl Fingerprints {
    /// Of each engine, the hash of its program and those of the files that its options name.
    pub fn by_engine(&self) -> impl Iterator<Item = (&String, &[String])> {
        let files = self.option_files.iter().map(Vec::as_slice).chain(repeat(&[][..]));
        self.engines.iter().zip(files)
    }
}

/// The stored plan. What is not where the plan has it stands here, and is skipped there.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PlanRow {
    version: u32,
    engines: Vec<EngineRow>,
    #[serde(flatten)]
    fingerprints: Fingerprints,
    tables: Option<TablesRow>,
    output: OutputRow,
    #[serde(flatten)]
    plan: Plan,
}

/// An engine with the hashes of its program and of the files that its options name.
#[derive(Debug, Serialize, Deserialize)]
struct EngineRow {
    #[serde(flatten)]
    engine: Engine,
    program_hash: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    option_file_hashes: Vec<String>,
}

/// Where endgame tables are, and which games they end.
#[derive(Debug, Serialize, Deserialize)]
struct TablesRow {
    paths: Vec<PathBuf>,
    #[serde(flatten)]
    rule: TablebaseRule,
}

/// How games are written down.
#[derive(Debug, Serialize, Deserialize)]
struct OutputRow {
    #[serde(flatten)]
    annotation: Annotation,
    epd: Option<PathBuf>,
    transcripts: Keeping,
}

impl PlanRow {
    /// The stored form of a plan; the fingerprints have a hash for each of its engines.
    pub(crate) fn of(plan: &Plan, fingerprints: &Fingerprints) -> PlanRow {
        let engines = plan.engines.iter().cloned().zip(fingerprints.by_engine());
        let engines = engines.map(|(engine, (program_hash, files))| EngineRow {
            engine,
            program_hash: program_hash.clone(),
            option_file_hashes: files.to_vec(),
        });
        let names_files = plan.engines.iter().any(|engine| engine.option_files().next().is_some());
        let tables = |rule| TablesRow { paths: plan.tables.clone(), rule };
        PlanRow {
            version: VERSIONS[usize::from(names_files)],
            engines: engines.collect(),
            fingerprints: fingerprints.clone(),
            tables: plan.rules.tablebase.map(tables),
            output: OutputRow {
                annotation: plan.annotation.clone(),
                epd: plan.epd.clone(),
                transcripts: plan.transcripts,
            },
            plan: plan.clone(),
        }
    }

    /// As JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a plan is numbers and text")
    }

    /// Reads JSON; the error says what is wrong with it.
    pub(crate) fn from_json(text: &str) -> Result<PlanRow, String> {
        let row: PlanRow = serde_json::from_str(text).map_err(|error| format!("plan: {error}"))?;
        if VERSIONS.contains(&row.version) {
            Ok(row)
        } else {
            Err(format!("plan has version {}; update arbiter", row.version))
        }
    }

    /// The plan.
    pub(crate) fn into_plan(self) -> (Plan, Fingerprints) {
        let PlanRow { engines, mut fingerprints, tables, output, mut plan, .. } = self;
        for row in engines {
            fingerprints.engines.push(row.program_hash);
            fingerprints.option_files.push(row.option_file_hashes);
            plan.engines.push(row.engine);
        }
        if let Some(TablesRow { paths, rule }) = tables {
            (plan.tables, plan.rules.tablebase) = (paths, Some(rule));
        }
        OutputRow { annotation: plan.annotation, epd: plan.epd, transcripts: plan.transcripts } =
            output;
        (plan, fingerprints)
    }
}

#[cfg(test)]
mod tests;
