//! Words of the program by which tests find a place in a text or wait for a moment: whoever rewords one
//! rewords it here.

/// Before the figures of the course of a test, in a report as text.
pub const LLR_COURSE: &str = "Log-likelihood ratio of the test:";
/// Before the table of evaluations, in a report as text.
pub const EVALUATIONS: &str = "Evaluations against results:";
/// Above the table of the result, in a report as text.
pub const RESULT: &str = "## Result";
/// Above the conditions, in a report as text.
pub const CONDITIONS: &str = "## How it was played";
/// Above findings about variations, in a report as text.
pub const LINT: &str = "## Lint";
/// Before the cross table, in a report as text.
pub const CROSS_TABLE: &str = "the errors allow for pairs.";
/// Before the figures of a chart, on a page.
pub const FIGURES: &str = "<summary>Figures: ";
/// The keys that steer a run, at a terminal.
pub const KEYS: &str = "p pause · r resume · d drain";
/// A run that is paused and has three places, at a terminal.
pub const PAUSED: [&str; 2] = [" · paused", "3 at once"];
/// What the page says of the speed of a run and of the time that is left.
pub const PACE: [&str; 2] = [" games/", ", about "];
/// Events on the page: a run of two games at once was paused and goes on.
pub const EVENTS: [&str; 2] = ["paused, 2 games at once", "running, 2 games at once"];
