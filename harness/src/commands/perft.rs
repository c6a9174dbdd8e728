//! `arbiter perft`: check of an engine's perft counts against a suite.

use clap::Args;

use crate::output::{OutputFormat, Rows, print_report};
use crate::suite_run::{SuiteArgs, run_here};
use crate::{exit_code::ExitCode, failure::Failure};
use arbiter_protocol::Limits;
use arbiter_report::{PerftReport, PerftTotals, SuiteConditions};
use arbiter_suite::Suite;
use arbiter_suite::perft::{Case, Count, Patterns, PerftQuery, read, variant_of};

/// Flags of `arbiter perft`.
#[derive(Debug, Args)]
#[command(after_help = "\
A suite contains lines of FEN and counts (\";D1 20 ;D2 400\", \",20,400\", \"| 3 | 8902\"), records (\"id\", \"epd\",
\"perft 1 20\"), or JSON (a list of fen, depth, nodes; or testCases with start and the positions expected after
each move). Unusable lines are listed and skipped. With --on (Cargo feature cluster), the engine runs on workers.

Exit codes: 0 if all counts are correct; 1 if a count of the engine is wrong; 2 for usage errors; 3 for
invalid input, an engine without perft, or a wrong count in the suite (the engine's count is correct); 4
if there is nothing to count; 6 if the engine did not reply; 7 for an environment error; 8 if the NATS
server cannot be used.

Examples:
  arbiter perft ./mine --suite perft.epd --max-nodes 1000000
  arbiter perft ./mine --suite my.epd --command 'perft {depth}' --pattern 'leaves (\\d+)'")]
pub(crate) struct PerftArgs {
    /// Maximum depth in plies; the deepest count of each position within the limits is checked
    #[arg(long, value_name = "N", default_value = "64")]
    depth: u32,
    /// Maximum number of leaves of one position, according to the suite
    #[arg(long, value_name = "N", default_value = "10000000")]
    max_nodes: u64,
    /// Perft command, sent after `position`; {depth} stands for the depth
    #[arg(long, value_name = "TEXT", default_value = "go perft {depth}")]
    command: String,
    /// Regular expression for the last line of the reply; group 1 is the total [default: common
    /// formats, such as "Nodes searched: 20"]
    #[arg(long, value_name = "REGEX")]
    pattern: Option<String>,
    /// Format of the result
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
    #[command(flatten)]
    suite: SuiteArgs,
}

/// Runs the perft counts of the suite and prints the result.
pub(crate) fn run(mut args: PerftArgs) -> Result<ExitCode, Failure> {
    if !args.command.contains("{depth}") {
        return Err(Failure::usage(format!("--command '{}' lacks {{depth}}", args.command)));
    }
    let patterns = Patterns::new(args.pattern.as_deref()).map_err(Failure::invalid)?;
    let query =
        PerftQuery { command: args.command.clone(), patterns, limit: args.suite.query.deadline };
    if args.suite.build.base.is_some() || args.suite.specs().count() > 1 {
        return Err(Failure::usage("perft takes one engine"));
    }
    let name = args.suite.name();
    if let Some(variant) = variant_of(&name) {
        let message = format!("{name}: a suite of {variant}; arbiter supports chess and Chess960");
        return Err(Failure::invalid(message));
    }
    let Suite { cases, unusable, corrected } = args.suite.read(read)?;
    let all = cases.len();
    let (cases, counts): (Vec<Case>, Vec<Count>) =
        cases.into_iter().filter_map(|case| with_count(case, &args, &query)).unzip();
    if cases.is_empty() {
        return Err(Failure::nothing_to_run(format!(
            "{}: no count is within --depth {} and --max-nodes {}",
            args.suite.suite.display(),
            args.depth,
            args.max_nodes
        )));
    }
    let engines = args.suite.engines(Limits::default())?;
    let needs_chess960 = cases.iter().any(|case| case.start.is_chess960());
    let (counted, place) = match args.suite.fleet()? {
        None => run_here(&args.suite.query, &engines, needs_chess960, counts.clone())?,
        #[cfg(feature = "cluster")]
        Some(fleet) => {
            let suite = &args.suite;
            let run = crate::suite_run::run_on_workers;
            let (counted, place) = run(fleet, suite, &engines, needs_chess960, counts.clone())?;
            (counted.into_iter().map(|(done, by)| (done.0, by)).collect(), place)
        }
    };
    // The reason for a missing reply names the worker in all forms of the report.
    let named = counted.into_iter().map(|(counted, by)| match counted {
        Ok(verdict) => (Ok(verdict), by),
        Err(reason) => (Err(reason + &by), String::new()),
    });
    let (verdicts, workers): (Vec<_>, Vec<_>) = named.unzip();
    let report = PerftReport {
        engine: &engines[0].name,
        suite: &name,
        beyond: all - cases.len(),
        cases: &cases,
        counts: &counts,
        verdicts: &verdicts,
        workers: &workers,
        conditions: SuiteConditions { unusable: &unusable, corrected: &corrected, place },
    };
    let rows =
        Rows { list: Some("positions"), first: &["line", "name", "verdict", "depth", "expected"] };
    let document = report.document(args.format == OutputFormat::Md);
    print_report(&args.format.of_document(&document, || report.json(), rows))?;
    Ok(match report.totals() {
        PerftTotals { wrong: 1.., .. } => ExitCode::Negative,
        PerftTotals { faults: 1.., .. } => ExitCode::TooManyFaults,
        PerftTotals { wrong_suite: 1.., .. } => ExitCode::Invalid,
        _ => ExitCode::Passed,
    })
}

fn with_count(case: Case, args: &PerftArgs, query: &PerftQuery) -> Option<(Case, Count)> {
    let (depth, expected) = case.within(args.depth, args.max_nodes)?;
    let count = Count { start: case.start.clone(), depth, expected, query: query.clone() };
    Some((case, count))
}
