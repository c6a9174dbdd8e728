//! Elo scales of the hypotheses of a test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest absolute value of a hypothesis in normalized Elo. A difference of 200 nElo is
/// significant after a few dozen pairs and needs no sequential test. Above about 230 nElo, the
/// iteration in `gsprt` cannot start.
pub(crate) const MAX_NORMALIZED_ELO: f64 = 200.0;

/// Largest absolute value of a hypothesis in logistic Elo.
pub(crate) const MAX_LOGISTIC_ELO: f64 = 1000.0;

/// Elo scale of the hypotheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Normalized Elo: the difference in standard deviations of a game.
    Normalized,
    /// Logistic Elo: the expected score of a game.
    Logistic,
    /// BayesElo, converted to logistic Elo with the draw rate of the sample.
    Bayesian,
}

impl Model {
    /// Returns the largest absolute value, in Elo, that a hypothesis on this scale may have.
    pub const fn max_elo(self) -> f64 {
        match self {
            Model::Normalized => MAX_NORMALIZED_ELO,
            Model::Logistic | Model::Bayesian => MAX_LOGISTIC_ELO,
        }
    }
}

arbiter_names::named!(Model);
