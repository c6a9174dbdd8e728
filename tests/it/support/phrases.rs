//! Words of the program by which tests find a place in a text or wait for a moment: whoever rewords
//! one rewords it here.

/// Before the figures of the course of a test, in a report as text.
pub const LLR_COURSE: &str = "Log-likelihood ratio of the test:";
/// Before the table of evaluations, in a report as text.
pub const EVALUATIONS: &str = "Evaluations against results:";
/// Above the table of the result, in a report as text.
pub const RESULT: &str = "## Result";
/// Above the conditions, in a report as text.
pub const CONDITIONS: &str = "## Setup";
/// Above findings about variations, in a report as text.
pub const LINT: &str = "## Lint";
/// Before the cross table, in a report as text.
pub const CROSS_TABLE: &str = "errors account for pairs.";
/// Before the figures of a chart, on a page.
pub const FIGURES: &str = "<summary>Figures: ";
/// The keys that steer a run, at a terminal.
pub const KEYS: &str = "p pause · r resume · d drain";
/// A run that is paused and has three places, at a terminal.
pub const PAUSED: [&str; 2] = [" · paused", "3 in parallel"];
/// Speed of a run and remaining time, on the page.
pub const PACE: [&str; 2] = [" games/", ", about "];
/// Events on the page: a run of two games at once was paused and goes on.
pub const EVENTS: [&str; 2] = ["paused, 2 games in parallel", "running, 2 games in parallel"];
/// A remark on a result that came before.
pub const DOUBLED: &str = "a duplicate result of a pair";
/// A remark on a result of who had no such job.
pub const NOT_GIVEN: &str = "a result of a job of another worker";
/// A remark on a worker of which games of others differ.
pub const AUDITED: &str = "excluded: audit: its games of";
/// A remark on streams that were damaged.
pub const EMPTIED: &str = "streams were emptied";
/// A remark on jobs that nobody does.
pub const NOBODY: &str = "no worker replied";
/// A remark on a program that is another one.
pub const NOT_SIGNED: &str = "differs from the signed one";
/// A remark on a key that a worker does not trust.
pub const NOT_TRUSTED: &str = "is not trusted here";
/// A remark on a worker that cannot play, behind its name.
pub const NOT_PLAYED: &str = ": does not play";
/// A worker's note on a job that comes again.
pub const NOT_AGAIN: &str = "job not repeated: its result was sent";
/// Jobs on the page of a cluster.
pub const QUEUED: &str = "pairs queued";
/// The page of a cluster without its server.
pub const SERVER_LOST: &str = "the NATS server is lost";
/// Error of a program whose servers all refuse it.
pub const NO_SERVER: &str = "cannot use the NATS server";
