//! Kinds of runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a run, named after its subcommand in the store and in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// Sequential test (SPRT) of the first engine against the second.
    Sprt,
    /// Match of a fixed number of pairs.
    #[default]
    Match,
    /// Tournament of two or more engines.
    Tournament,
    /// Measurement of the Elo value of each feature of an engine.
    Ablate,
    /// Tuning of an engine's parameters.
    Tune,
}

arbiter_names::named!(RunKind);
