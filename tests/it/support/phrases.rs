//! Phrases of the program by which tests find a position in a text or wait for an event. Change
//! them here together with the program.

/// Phrase before the figures of the course of a test, in a text report.
pub const LLR_COURSE: &str = "Log-likelihood ratio of the test:";
/// Phrase before the table of evaluations, in a text report.
pub const EVALUATIONS: &str =
    "Score of games by reported evaluation (a game may count in several rows):";
/// Heading of the result, in a text report.
pub const RESULT: &str = "## Result";
/// Heading of the conditions, in a text report.
pub const CONDITIONS: &str = "## Setup";
/// Heading of the lint findings, in a text report.
pub const LINT: &str = "## Lint";
/// Phrase before the crosstable, in a text report.
pub const CROSS_TABLE: &str = "errors account for the pairing of games.";
/// Phrase before the figures of a chart, on a page.
pub const FIGURES: &str = "<summary>Figures: ";
/// Keys that steer a run, in a terminal.
pub const KEYS: &str = "p pause · r resume · d drain";
/// State of a paused run with a concurrency of three, in a terminal.
pub const PAUSED: [&str; 2] = [" · paused", "3 in parallel"];
/// Speed of a run and remaining time, on a page.
pub const PACE: [&str; 2] = [" games/", ", about "];
/// Events on a page: a run with two concurrent games was paused and continues.
pub const EVENTS: [&str; 2] = ["paused, 2 games in parallel", "running, 2 games in parallel"];
/// Remark on a duplicate result.
pub const DOUBLED: &str = "a duplicate result of a pair";
/// Remark on a result from a worker without the job.
pub const NOT_GIVEN: &str = "a result of a job of another worker";
/// Remark on a worker whose games differ from the audit by other workers.
pub const AUDITED: &str = "excluded: audit: the worker's games of";
/// Remark on damaged streams.
pub const EMPTIED: &str = "streams were emptied";
/// Remark on jobs that no worker plays.
pub const NOBODY: &str = "no worker replied";
/// Remark on a program that differs from the signed program.
pub const NOT_SIGNED: &str = "differs from the signed program";
/// Remark on a key that a worker does not trust.
pub const NOT_TRUSTED: &str = "is not trusted on this machine";
/// Remark on a worker that cannot play, after its name.
pub const NOT_PLAYED: &str = ": does not play";
/// Message of a worker about a repeated job.
pub const NOT_AGAIN: &str = "job not repeated: its result was sent";
/// Number of jobs, on the page of a cluster.
pub const QUEUED: &str = "pairs queued";
/// Message on the page of a cluster whose server is lost.
pub const SERVER_LOST: &str = "the NATS server is lost";
/// Error of a program that no server accepts.
pub const NO_SERVER: &str = "cannot use the NATS server";
