//! Reasons to refuse a request.

/// Reason to refuse a request, as text for the user.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A request with nothing to play.
    #[error("nothing to run: --pairs and --rounds must be at least 1")]
    NothingToRun,
    /// A wrong number of engines.
    #[error("{0}")]
    EngineCount(String),
    /// A wrong value, or two that contradict each other.
    #[error("{0}")]
    Invalid(String),
}

impl From<String> for PlanError {
    fn from(reason: String) -> PlanError {
        PlanError::Invalid(reason)
    }
}
