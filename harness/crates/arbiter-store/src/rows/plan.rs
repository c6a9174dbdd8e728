//! Stored form of plans.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use arbiter_game::adjudicate::TablebaseRule;
use arbiter_game::annotation::{Annotation, Keeping};
use arbiter_openings::Quarantine;
use arbiter_plan::{Engine, Plan, check_size};

/// Versions of the stored plan. Fields may be added with a default; a change to the meaning of a
/// field needs a new version. Version 3 is used for plans with options that name files.
const VERSIONS: [u32; 2] = [2, 3];

/// Fingerprints of a run's inputs at the start of the run. When the run is resumed, the stored
/// fingerprints are compared with fingerprints of the current inputs, so that an engine's games in
/// a run are never played with two programs or from two books.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fingerprints {
    /// Hash of the opening book.
    #[serde(rename = "book_hash")]
    pub book: String,
    /// Hash of the openings read from the book.
    #[serde(rename = "openings_hash")]
    pub openings: String,
    /// Lines of the book that were skipped.
    pub quarantine: Quarantine,
    /// Lines of the book that were corrected.
    #[serde(default, skip_serializing_if = "Quarantine::is_empty")]
    pub corrected: Quarantine,
    /// Number of openings in the book that are equal to an earlier opening; `None` if unknown,
    /// because an earlier build stored the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<usize>,
    /// Hashes of each engine's files.
    #[serde(skip)]
    pub engines: Vec<EngineHashes>,
    /// Description of the machine; a run may be resumed on another machine.
    pub host: String,
}

/// Hashes of the files of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EngineHashes {
    /// Hash of the program.
    #[serde(rename = "program_hash")]
    pub program: String,
    /// Hashes of the files that the engine's options name; empty in runs of earlier versions.
    #[serde(rename = "option_file_hashes", default, skip_serializing_if = "Vec::is_empty")]
    pub option_files: Vec<String>,
}

/// Stored plan, including the values that the serialization of [`Plan`] skips.
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

/// An engine with the hashes of the program and of the files that the options name.
#[derive(Debug, Serialize, Deserialize)]
struct EngineRow {
    #[serde(flatten)]
    engine: Engine,
    #[serde(flatten)]
    hashes: EngineHashes,
}

/// Folders of tablebases, and the rule for adjudication by tablebases.
#[derive(Debug, Serialize, Deserialize)]
struct TablesRow {
    paths: Vec<PathBuf>,
    #[serde(flatten)]
    rule: TablebaseRule,
}

/// Notation and files of the games.
#[derive(Debug, Serialize, Deserialize)]
struct OutputRow {
    #[serde(flatten)]
    annotation: Annotation,
    epd: Option<PathBuf>,
    transcripts: Keeping,
}

impl PlanRow {
    /// Returns the stored form of a plan; `fingerprints` has a hash for each engine of the plan.
    pub(crate) fn of(plan: &Plan, fingerprints: &Fingerprints) -> PlanRow {
        let engines = plan.engines.iter().cloned().zip(fingerprints.engines.iter().cloned());
        let engines = engines.map(|(engine, hashes)| EngineRow { engine, hashes });
        let names_files = plan.engines.iter().any(|engine| engine.option_files().next().is_some());
        let tables = |rule| TablesRow { paths: plan.tables.clone(), rule };
        PlanRow {
            // Only plans that name files need version 3. Older versions of Arbiter can read all
            // other plans, and must not mistake a file name for a value.
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

    /// Returns the plan as JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a plan is numbers and text")
    }

    /// Parses a plan from JSON; the error is the reason why the text is invalid.
    pub(crate) fn from_json(text: &str) -> Result<PlanRow, String> {
        let row: PlanRow = serde_json::from_str(text).map_err(|error| format!("plan: {error}"))?;
        // The text may come from another person, and a larger run could use all memory.
        check_size(&row.plan.design, row.engines.len()).map_err(|what| format!("plan: {what}"))?;
        // A plan of an unknown version may describe other games, so the run must not be resumed.
        if VERSIONS.contains(&row.version) {
            Ok(row)
        } else {
            Err(format!("plan has version {}; update arbiter", row.version))
        }
    }

    /// Returns the plan and the fingerprints.
    pub(crate) fn into_plan(self) -> (Plan, Fingerprints) {
        let PlanRow { engines, mut fingerprints, tables, output, mut plan, .. } = self;
        for EngineRow { engine, hashes } in engines {
            plan.engines.push(engine);
            fingerprints.engines.push(hashes);
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
