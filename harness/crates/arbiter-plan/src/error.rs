//! Reasons why a request is rejected.

/// Reason why a request is rejected, as a message for the user.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The request has nothing to play.
    #[error("nothing to run: --pairs and --rounds must be at least 1")]
    NothingToRun,
    /// The number of engines is wrong.
    #[error("{0}")]
    EngineCount(String),
    /// A value is invalid, or two values contradict each other.
    #[error("{0}")]
    Invalid(String),
}

impl From<String> for PlanError {
    fn from(reason: String) -> PlanError {
        PlanError::Invalid(reason)
    }
}
