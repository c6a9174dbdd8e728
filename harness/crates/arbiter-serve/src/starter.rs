//! Interface to the component that starts tests.

use std::fmt::Debug;

/// Fields of the form that requests an SPRT, as unparsed text.
#[derive(Debug, Clone, Default)]
pub struct NewTest {
    /// Engine under test.
    pub dev: String,
    /// Reference engine.
    pub base: String,
    /// Search limit of both engines, such as a time control, in the form of `--each`.
    pub limit: String,
    /// Elo of the null hypothesis.
    pub elo0: String,
    /// Elo of the alternative hypothesis.
    pub elo1: String,
    /// Maximum number of pairs.
    pub pairs: String,
    /// Name of the run.
    pub name: String,
}

/// Result of a request to start a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartResult {
    /// The test was started as a run with the requested name.
    Run,
    /// The test is still being prepared; the server log reports the start or the failure.
    Prepared,
    /// Another run that this server started is still running; contains the name of that run.
    Busy(String),
    /// The test was not started or has failed; contains the reason.
    Refused(String),
}

/// Component that starts tests, at most one at a time.
pub trait Starter: Debug + Send + Sync {
    /// Starts a test, and waits for a limited time until the run has started.
    fn start(&self, wanted: &NewTest) -> StartResult;

    /// Stops a test started by this server, even during the preparation of the test. Returns
    /// `false` if this server is not running such a test.
    fn stop(&self, run: &str) -> bool;
}
