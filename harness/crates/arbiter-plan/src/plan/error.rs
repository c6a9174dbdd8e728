//! Why a request is not a plan.

/// Why a request is not a plan, in words for the user.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There is nothing to play.
    #[error("0 pairs are nothing to run; give --pairs and --rounds at least 1")]
    NothingToRun,
    /// Too few or too many engines.
    #[error("{0}")]
    EngineCount(String),
    /// A value is wrong, or two of them contradict each other.
    #[error("{0}")]
    Invalid(String),
}

impl From<String> for PlanError {
    fn from(reason: String) -> PlanError {
        PlanError::Invalid(reason)
    }
}
