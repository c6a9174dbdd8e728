//! `arbiter epd`: suites of positions with known solutions.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::output::{OutputFormat, Rows, print_report};
use crate::suite_run::{SuiteArgs, run_here};
use crate::{exit_code::ExitCode, failure::Failure};
use arbiter_names::quantity;
use arbiter_plan::Engine;
use arbiter_protocol::Limits;
use arbiter_report::{EpdEngine, EpdReport, SuiteConditions, note};
use arbiter_suite::Suite;
use arbiter_suite::epd::{Question, Record, SearchOutcome, read};

/// Default time per position, if no limit is given.
const DEFAULT_MOVETIME: Duration = Duration::from_secs(1);

/// Flags of `arbiter epd`.
#[derive(Debug, Args)]
#[command(after_help = "\
A position is solved if the engine plays a move of bm, avoids the moves of am, or announces a mate in at
most dm moves (bm #5 counts as dm 5; for bm #-5, the engine must announce that it is mated in at most 5).
Points for moves come from c0 (\"f5=10, Be5=2\"), or from c7 and c9 with c8; themes come from id. The
time to the solution is the time after which every PV begins with a solution. Unusable lines are listed
and count neither as solved nor as failed. With --on (Cargo feature cluster), workers search the
positions; use --nodes or --depth if the workers differ in speed.

Exit codes: 0 if all gates pass; 1 if --min-solved or --max-lost fails; 2 for usage errors; 3 for invalid
input; 4 if no line is usable; 6 if an engine did not reply; 7 for an environment error;
8 if the NATS server cannot be used.

Examples:
  arbiter epd ./mine --suite wac.epd --movetime 1s --min-solved 290
  arbiter epd ./new ./old --suite sts.epd --nodes 100000 --max-lost 20")]
pub(crate) struct EpdArgs {
    /// Time for each position: 250ms, 2s, or a number of milliseconds [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = movetime)]
    movetime: Option<Duration>,
    /// Nodes for each position
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Depth for each position, in plies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Stop a search once its best move was a solution for N depths
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..))]
    hold: Option<u32>,
    /// Exit with 1 if the first engine solves fewer than N positions
    #[arg(long, value_name = "N")]
    min_solved: Option<u64>,
    /// Exit with 1 if another engine solves more than N positions that the first engine does not
    #[arg(long, value_name = "N")]
    max_lost: Option<usize>,
    /// Format of the result
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
    #[command(flatten)]
    suite: SuiteArgs,
}

/// Parses a time such as `2s` or `250ms`; a number without a unit is in milliseconds.
fn movetime(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 0.001),
        None => text.strip_suffix('s').map_or((text, 0.001), |digits| (digits, 1.0)),
    };
    let is_plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let seconds = digits.parse::<f64>().ok().filter(|_| is_plain).map(|number| number * unit);
    seconds
        .filter(|seconds| (0.001..=1e6).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("expected a time such as 250ms, 2s or 250, got '{text}'"))
}

/// Searches the suite and prints the result.
pub(crate) fn run(mut args: EpdArgs) -> Result<ExitCode, Failure> {
    if args.max_lost.is_some() && args.suite.specs().count() < 2 && args.suite.build.base.is_none()
    {
        return Err(Failure::usage("--max-lost requires two engines"));
    }
    let Suite { cases, unusable, corrected } = args.suite.read(read)?;
    let engines = args.suite.engines(common_limits(&args))?;
    if let Some(engine) = engines.iter().find(|e| e.conditions.limits.clock.is_some()) {
        let message = format!("engine '{}': tc= does not apply here; give st=", engine.name);
        return Err(Failure::invalid(message));
    }
    let records: Vec<Arc<Record>> = cases.into_iter().map(Arc::new).collect();
    let hold = args.hold;
    let all = engines.len();
    let question = |record: &Arc<Record>| Question { record: record.clone(), hold, engines: all };
    let questions: Vec<Question> = records.iter().map(question).collect();
    let is_chess960 = records.iter().any(|record| record.start.is_chess960());
    let (answers, place) = match args.suite.fleet()? {
        None => {
            announce(&args, &engines, records.len());
            let limits = || engines.iter().map(|engine| engine.conditions.limits);
            let tasks = questions.iter().flat_map(|question| question.searches(limits()));
            run_here(&args.suite.query, &engines, is_chess960, tasks.collect())?
        }
        #[cfg(feature = "cluster")]
        Some(fleet) => {
            let suite = &args.suite;
            let run = crate::suite_run::run_on_workers;
            let (answered, place) = run(fleet, suite, &engines, is_chess960, questions)?;
            let answers = answered
                .into_iter()
                .flat_map(|(done, by)| done.0.into_iter().map(move |answer| (answer, by.clone())));
            (answers.collect(), place)
        }
    };
    let mut searches: Vec<Vec<SearchOutcome>> = engines.iter().map(|_| Vec::new()).collect();
    for (index, (answer, by)) in answers.into_iter().enumerate() {
        // The answers of all engines to one question follow each other.
        let record = &records[index / all];
        let searched = answer.and_then(|answer| answer.judged(&record.start, &record.goal));
        searches[index % all].push(searched.map_err(|fault| fault + &by));
    }
    let with_searches = |(engine, searches)| {
        let Engine { name, conditions, .. }: &Engine = engine;
        EpdEngine { name, limits: conditions.limits.to_string(), searches }
    };
    let report = EpdReport {
        suite: &args.suite.name(),
        engines: engines.iter().zip(searches).map(with_searches).collect(),
        hold: args.hold,
        records: &records,
        conditions: SuiteConditions { unusable: &unusable, corrected: &corrected, place },
    };
    let rows = Rows { list: Some("positions"), first: &["line", "id"] };
    print_report(&args.format.of_document(&report.document(), || report.json(), rows))?;
    Ok(verdict(&args, &report))
}

fn common_limits(args: &EpdArgs) -> Limits {
    let EpdArgs { movetime, nodes, depth, .. } = *args;
    let limits = Limits { movetime, nodes, depth, ..Limits::default() };
    if limits.is_empty() { Limits { movetime: Some(DEFAULT_MOVETIME), ..limits } } else { limits }
}

/// Prints the maximum duration, if every engine has a fixed time per position.
fn announce(args: &EpdArgs, engines: &[Engine], positions: usize) {
    let times: Option<Duration> = engines.iter().map(|e| e.conditions.limits.movetime).sum();
    if let Some(time) = times {
        let all = time.as_secs_f64() * positions as f64 / args.suite.query.concurrency() as f64;
        note(&format!("{}, {:.0} s at most", quantity(positions, "position"), all.ceil()));
    }
}

/// Returns the exit code. The conditions are tested in this order: `--min-solved`, `--max-lost`,
/// engine faults.
fn verdict(args: &EpdArgs, report: &EpdReport) -> ExitCode {
    let solved = report.tally(0).solved;
    if let Some(wanted) = args.min_solved.filter(|wanted| solved < *wanted) {
        note(&format!("{} solved {solved}, expected {wanted}", report.engines[0].name));
        return ExitCode::Negative;
    }
    for other in 1..report.engines.len() {
        let lost = report.comparison(other).lost.len();
        if args.max_lost.is_some_and(|allowed| lost > allowed) {
            let [first, second] = [0, other].map(|index| report.engines[index].name);
            note(&format!("{second} solved {lost} positions that {first} did not"));
            return ExitCode::Negative;
        }
    }
    let has_fault = (0..report.engines.len()).any(|engine| report.tally(engine).faults > 0);
    if has_fault { ExitCode::TooManyFaults } else { ExitCode::Passed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let ms = |millis| Ok(Duration::from_millis(millis));
        assert_eq!(movetime("250ms"), ms(250));
        assert_eq!(movetime("250"), ms(250));
        assert_eq!(movetime("2s"), ms(2000));
        assert_eq!(movetime("0.5s"), ms(500));
        for wrong in ["", "s", "0", "-1s", "1m", "1e9", "inf"] {
            assert!(movetime(wrong).is_err(), "{wrong}");
        }
    }
}
