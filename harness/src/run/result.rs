//! Output of the result of a run, and the exit code.

use crate::output::{OutputFormat, lines, print_report, width};
use crate::{exit_code::ExitCode, failure::Failure};
use arbiter_report::{
    Summary, Verdict, brief_document, gates_of_run, markdown, plain_body, run_csv, run_document,
    run_json, run_json_text,
};
use arbiter_run::RunEnd;
use arbiter_runner::{StopCause, StopSignal};
use arbiter_store::Store;

/// Prints a summary on standard output.
pub(crate) fn print(store: &Store, summary: &Summary, format: OutputFormat) -> Result<(), Failure> {
    print_report(&match format {
        OutputFormat::Text => plain_body(&brief_document(summary), width()),
        OutputFormat::Json => run_json_text(summary),
        OutputFormat::Ndjson => lines(&run_json(summary)),
        OutputFormat::Md => {
            let stored = store.run(&summary.run)?;
            let gates = gates_of_run(store, &stored)?;
            markdown(&run_document(&stored, summary, None, &gates))
        }
        OutputFormat::Csv => run_csv(&run_json(summary)),
    })
}

/// Returns the exit code of a run that has ended; `request` is the cause of an early stop.
pub(crate) fn exit_code(summary: &Summary, request: Option<StopCause>) -> ExitCode {
    match (summary.ending, summary.verdict()) {
        (Some(RunEnd::Interrupted), _) => match request {
            Some(StopCause::Signal(StopSignal::Terminate)) => ExitCode::Terminated,
            Some(StopCause::Drain) => ExitCode::Drained,
            Some(StopCause::Signal(StopSignal::Interrupt)) | None => ExitCode::Interrupted,
        },
        _ if summary.is_invalid() => ExitCode::TooManyFaults,
        (_, Verdict::H1 | Verdict::None) => ExitCode::Passed,
        (_, Verdict::H0) => ExitCode::Negative,
        (_, Verdict::Inconclusive) => ExitCode::Inconclusive,
    }
}
