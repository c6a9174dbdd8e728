//! The result of a run: printed, and as an exit code.

use crate::{
    ExitCode, Failure, OutputFormat, emit,
    output::{lines, width},
};
use arbiter_plan::run::event::Ending;
use arbiter_report::document::{brief, of_run};
use arbiter_report::stored::gates_of;
use arbiter_report::summary::{Summary, Verdict};
use arbiter_report::{csv, json, markdown, plain};
use arbiter_runner::{StopCause, StopSignal};
use arbiter_store::Store;

/// Prints a summary on standard output.
pub(crate) fn print(store: &Store, summary: &Summary, format: OutputFormat) -> Result<(), Failure> {
    emit(&match format {
        OutputFormat::Text => plain::body(&brief(summary), width()),
        OutputFormat::Json => json::render(summary),
        OutputFormat::Ndjson => lines(&json::value(summary)),
        OutputFormat::Md => {
            let stored = store.run(&summary.run)?;
            let gates = gates_of(store, &stored)?;
            markdown::render(&of_run(&stored, summary, None, &gates))
        }
        OutputFormat::Csv => csv::of_run(&json::value(summary)),
    })
}

/// The exit code that a run's end deserves, and who asked for it.
pub(crate) fn exit_code(summary: &Summary, request: Option<StopCause>) -> ExitCode {
    match (summary.ending, summary.verdict()) {
        (Some(Ending::Interrupted), _) => match request {
            Some(StopCause::Signal(StopSignal::Terminate)) => ExitCode::Terminated,
            Some(StopCause::Drain) => ExitCode::Drained,
            Some(StopCause::Signal(StopSignal::Interrupt)) | None => ExitCode::Interrupted,
        },
        _ if summary.is_invalid() => ExitCode::Faulty,
        (_, Verdict::H1 | Verdict::None) => ExitCode::Passed,
        (_, Verdict::H0) => ExitCode::Negative,
        (_, Verdict::Inconclusive) => ExitCode::Inconclusive,
    }
}
