//! `arbiter results`: what was played. Also prints the result of a run that just ended.

mod log;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::args::{DEFAULT_RESULTS, Form, one_line};
use super::console::width;
use super::form::{Rows, lines};
use super::{ExitCode, Failure, emit};
use crate::config::command::command;
use crate::config::plan::Plan;
use crate::config::provenance::Provenance;
use crate::gate::Outcome;
use crate::openings::order::Order;
use crate::openings::quarantine::Quarantine;
use crate::report::digest::Digest;
use crate::report::document::{self, Document, Origin};
use crate::report::gates::{self, Past};
use crate::report::markdown;
use crate::report::run_list::{self, ListedRun};
use crate::report::summary::{Summary, Verdict};
use crate::report::table::Table;
use crate::report::{csv, json, terminal};
use crate::run::dispatch::Caller;
use crate::run::event::Ending;
use crate::run::noise::Disturbances;
use crate::run::signal::Request;
use crate::run::state::{Effect, Event, RunState};
use crate::store::{Fingerprints, RunHead, Store, StoreError, StoredGate, StoredRun};

/// Flags of `arbiter results`.
#[derive(Debug, Args)]
pub struct ResultsArgs {
    /// Folder of the results store; for `log` it may be repeated
    #[arg(long, value_name = "DIR", default_value = DEFAULT_RESULTS, global = true)]
    results: Vec<PathBuf>,
    /// Form of the output
    #[arg(long, value_enum, default_value = "text", global = true)]
    format: Form,
    #[command(subcommand)]
    command: Option<ResultsCommand>,
}

#[derive(Debug, Subcommand)]
enum ResultsCommand {
    /// Lists all runs, oldest first; also done if nothing is said.
    List,
    /// Lists what became of the steps of `arbiter ci`, oldest first.
    Gates {
        /// Only this step
        #[arg(long, value_name = "NAME")]
        step: Option<String>,
    },
    /// Shows one run as it was shown at its end.
    Show {
        /// Name of the run
        run: String,
    },
    /// Makes the log of tests: one row for each SPRT, oldest first, with what was tried, the commits,
    /// the bounds and limits, the counts, Elo, LLR and verdict. The same stores give the same log.
    Log(log::LogArgs),
    /// Says in one line what a run tries, as --about does at its start.
    About {
        /// Name of the run
        run: String,
        /// The text
        #[arg(value_parser = one_line)]
        text: String,
    },
}

/// Carries out the command.
pub fn results(args: ResultsArgs) -> ExitCode {
    match show(&args) {
        Ok(()) => ExitCode::Passed,
        Err(failure) => failure.report(),
    }
}

fn show(args: &ResultsArgs) -> Result<(), Failure> {
    let store = || match &args.results[..] {
        [folder] => Ok(Store::open(folder)?),
        _ => {
            let told = "several --results are for `arbiter results log` only";
            Err(Failure::new(ExitCode::Usage, told))
        }
    };
    match &args.command {
        None | Some(ResultsCommand::List) => {
            let runs: Vec<ListedRun> = store()?.runs()?.into_iter().map(listed).collect();
            let table = || run_list::table(&runs);
            let rows = Rows { list: None, first: &["run", "begun", "pairs", "ending", "about"] };
            let value = || run_list::json(&runs);
            emit(&args.format.render(
                || table().fitted(width()),
                || table().markdown(),
                value,
                rows,
            ))
        }
        Some(ResultsCommand::Gates { step }) => {
            emit(&history(&store()?.gates(step.as_deref())?, args.format))
        }
        Some(ResultsCommand::Show { run }) => {
            let store = store()?;
            print(&store, &stored_summary(&store, &store.run(run)?)?, args.format)
        }
        Some(ResultsCommand::Log(wanted)) => log::log(&args.results, wanted, args.format),
        Some(ResultsCommand::About { run, text }) => Ok(store()?.set_about(run, Some(text))?),
    }
}

fn history(gates: &[StoredGate], form: Form) -> String {
    let table = || history_table(gates);
    let first = ["begun", "step", "verdict", "test", "base", "kind", "seconds"];
    let rows = Rows { list: Some("gates"), first: &first };
    let value = || gates::history_json(&past(gates));
    form.render(|| table().fitted(width()), || table().markdown(), value, rows)
}

/// What became of steps of `arbiter ci`.
pub fn history_table(gates: &[StoredGate]) -> Table {
    gates::history(&past(gates))
}

fn past(gates: &[StoredGate]) -> Vec<Past<'_>> {
    gates
        .iter()
        .map(|gate| Past {
            begun: time(gate.created_ms),
            test: &gate.test,
            base: gate.base.as_deref(),
            outcome: &gate.outcome,
        })
        .collect()
}

/// Prints a summary on standard output.
pub fn print(store: &Store, summary: &Summary, form: Form) -> Result<(), Failure> {
    emit(&match form {
        Form::Text => terminal::render(summary, width()),
        Form::Json => json::render(summary),
        Form::Ndjson => lines(&json::value(summary)),
        Form::Md => {
            let stored = store.run(&summary.run)?;
            let gates = gates_of(store, &stored)?;
            markdown::render(&document(&stored, summary, None, &gates))
        }
        Form::Csv => csv::of_run(&json::value(summary)),
    })
}

/// All there is to say of a run; of its games only with a digest of them.
pub fn document(
    stored: &StoredRun,
    summary: &Summary,
    digest: Option<&Digest>,
    gates: &[Outcome],
) -> Document {
    let begun = Some(time(stored.head.created_ms));
    let origin = origin(&stored.plan, &stored.version, begun, &stored.fingerprints, gates);
    document::of_run(summary, &origin, digest)
}

/// Where a run comes from.
pub fn origin<'a>(
    plan: &'a Plan,
    version: &'a str,
    begun: Option<String>,
    fingerprints: &'a Fingerprints,
    gates: &'a [Outcome],
) -> Origin<'a> {
    Origin {
        plan,
        version,
        begun,
        host: fingerprints.host.as_deref(),
        book_hash: &fingerprints.book,
        engine_hashes: &fingerprints.engines,
        openings: match plan.order {
            Order::Random => "in random order".to_owned(),
            Order::Sequential => "in the order of the book".to_owned(),
        },
        adjudication: plan.rules.words(),
        command: command(plan),
        gates,
    }
}

/// What became of the gates of the commits that play, each as it was carried out last.
pub fn gates_of(store: &Store, stored: &StoredRun) -> Result<Vec<Outcome>, StoreError> {
    let commits: Vec<String> = stored
        .plan
        .engines
        .iter()
        .filter_map(|engine| engine.provenance.as_ref())
        .map(Provenance::identity)
        .collect();
    if commits.is_empty() {
        return Ok(Vec::new());
    }
    let mut latest: BTreeMap<(usize, String), Outcome> = BTreeMap::new();
    for gate in store.gates(None)? {
        if let Some(engine) = commits.iter().position(|commit| *commit == gate.test) {
            let step = gate.outcome.step.clone();
            latest.insert((engine, step), gate.outcome);
        }
    }
    Ok(latest.into_values().collect())
}

/// The exit code that a run's end deserves, and who asked for it.
pub fn exit_code(summary: &Summary, request: Option<Caller>) -> ExitCode {
    match (summary.ending, summary.verdict()) {
        (Some(Ending::Interrupted), _) => match request {
            Some(Caller::Signal(Request::Terminate)) => ExitCode::Terminated,
            Some(Caller::Drain) => ExitCode::Drained,
            Some(Caller::Signal(Request::Interrupt)) | None => ExitCode::Interrupted,
        },
        _ if summary.is_invalid() => ExitCode::Faulty,
        (_, Verdict::H1 | Verdict::None) => ExitCode::Passed,
        (_, Verdict::H0) => ExitCode::Negative,
        (_, Verdict::Inconclusive) => ExitCode::Inconclusive,
    }
}

/// The summary of a stored run, from the same events that made it.
fn stored_summary(store: &Store, stored: &StoredRun) -> Result<Summary, StoreError> {
    let state = replayed(store, &stored.head.run, &stored.plan)?;
    summary_of(store, stored, &state)
}

/// The summary of a stored run in the state that its pairs led to.
pub fn summary_of(
    store: &Store,
    stored: &StoredRun,
    state: &RunState,
) -> Result<Summary, StoreError> {
    let (run, plan) = (stored.head.run.as_str(), &stored.plan);
    let ending = state.ending().or(stored.head.ending);
    let left_out = &stored.fingerprints.quarantine;
    let disturbances = store.disturbances(run)?;
    let summary = summary(run, plan, left_out, disturbances, state, ending);
    with_stored(store, plan, summary)
}

/// The same with what only the store knows: what the run is about, who was set aside, and how promptly
/// engines answered; not in a run that no clock bounds, as the report of the same games is to be the same.
pub fn with_stored(store: &Store, plan: &Plan, summary: Summary) -> Result<Summary, StoreError> {
    let about = store.run(&summary.run)?.head.about;
    let aside = store.aside(&summary.run)?;
    let latencies = match plan.is_timed() {
        true => store.latencies(&summary.run)?,
        false => summary.latencies,
    };
    Ok(Summary { about, aside, latencies, ..summary })
}

/// What there is to say of a run.
pub fn summary(
    run: &str,
    plan: &Plan,
    quarantine: &Quarantine,
    disturbances: Disturbances,
    state: &RunState,
    ending: Option<Ending>,
) -> Summary {
    let (standing, looks) = (state.standing(), state.looks());
    let summary = Summary::new(run, plan, standing, looks, ending, state.schedule());
    let ascent = state.ascent().cloned();
    Summary { quarantine: quarantine.clone(), disturbances, ascent, ..summary }
}

/// The state of a run after the pairs that are on disk.
pub fn replayed(store: &Store, run: &str, plan: &Plan) -> Result<RunState, StoreError> {
    watched(store, run, plan, |_| ())
}

/// The same, with what followed from each pair.
pub fn watched(
    store: &Store,
    run: &str,
    plan: &Plan,
    mut observe: impl FnMut(Effect),
) -> Result<RunState, StoreError> {
    let mut state = RunState::of(plan);
    let tallies = store.tallies(run)?;
    for tally in &tallies {
        state.apply(Event::Committed(*tally)).into_iter().for_each(&mut observe);
    }
    // A pair was started because the schedule knew it from the pairs counted by then, and those
    // are on disk; so the schedule must know it again.
    for tally in tallies {
        let pairing = state.schedule().pairing(tally.pair);
        if pairing.is_none_or(|pairing| pairing.engines != tally.engines) {
            return Err(store.misfit(run, tally.pair));
        }
    }
    Ok(state)
}

fn listed(head: RunHead) -> ListedRun {
    ListedRun {
        begun: time(head.created_ms),
        run: head.run,
        pairs: head.pairs,
        ending: head.ending,
        about: head.about,
    }
}

/// A time of the store, in UTC.
pub fn time(unix_ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
