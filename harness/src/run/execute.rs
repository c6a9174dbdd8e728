//! Execution of a run that is ready: observers, executor, signals and the result.

use tokio::sync::mpsc;

use super::json_lines::Stream;
use super::messages::{
    announce, default_resume_hint, failure, note_worker_shares, show, with_results,
};
use super::{Inputs, ReadyRun};
use crate::control_server::{ControlledRun, Server};
use crate::output::{OutputFormat, lines, print_report, width};
use crate::{
    exit_code::ExitCode, failure::Failure, fleet::Fleet, keyboard::Keyboard, metrics::Endpoint,
    runtime::runtime,
};
use arbiter_compat::Printer;
use arbiter_game::engine::EngineSetup;
use arbiter_plan::Plan;
use arbiter_process::file_version;
use arbiter_report::{
    Boards, Live, RecentEvents, Summary, Verdict, brief_document, gates_of_run, log_error,
    markdown, note, plain_body, run_csv, run_document, run_json, run_json_text, summary_of,
};
use arbiter_run::{JobMaker, Observer, RunEnd};
use arbiter_runner::{
    Finished, LiveGames, LocalExecutor, LocalOptions, Run, Signals, StopCause, StopSignal,
    cpu_sets_of, dispatch, unix_time_ms,
};
use arbiter_store::Store;

/// Maximum number of queued control requests to a run.
const CONTROL_REQUESTS: usize = 64;

/// Plays a run that is ready, prints the result, and returns the exit code. `retry_hint` replaces
/// the default hint that shows how to resume the run.
pub(super) fn execute(
    mut ready: ReadyRun,
    fleet: Option<Fleet>,
    endpoint: Option<Endpoint>,
    retry_hint: Option<&str>,
) -> Result<ExitCode, Failure> {
    let resume_hint =
        retry_hint.map_or_else(|| default_resume_hint(&ready, fleet.as_ref()), str::to_owned);
    if let Some(style) = &ready.style {
        // The identity is saved before the first game, so that a run that is killed can also be
        // resumed.
        let saved = style.save(&ready.name, &ready.results, &ready.plan, ready.state.counts());
        saved.map_err(Failure::environment)?;
    }
    if let Some(Inputs { book, .. }) = &ready.inputs {
        announce(&ready, book, fleet.as_ref());
    }
    let (request, unnoted) = match ready.state.ending() {
        // The process may have been killed after the last pair but before the ending was stored, so
        // the ending is stored now.
        Some(ending) => {
            let unnoted = ready.store.set_ending(&ready.name, Some(ending)).err();
            if let Some(style) = &ready.style {
                let printed = Printer::print_again(style, &ready.plan, &ready.state, ending);
                printed.map_err(Failure::environment)?;
            }
            (None, unnoted)
        }
        None => {
            let finished = play_pairs(&mut ready, fleet, endpoint, &resume_hint)?;
            (finished.stop_cause, finished.unnoted)
        }
    };
    // The verdict follows from the stored pairs, so a failure to store the ending is not an error
    // of the command.
    if let Some(error) = unnoted {
        log_error(format!("{error}; all pairs are stored, but not the final status of the run"));
    }
    let ReadyRun { name, state, store, results, format, style, .. } = &ready;
    let summary = summary_of(store, &store.run(name)?, state)?;
    if style.is_none() {
        print(store, &summary, *format)?;
    }
    note_worker_shares(store, name)?;
    note(&format!(
        "results in {}; show them: {}; as a page: {} {name} --out {name}.html",
        store.file().display(),
        show(name, results),
        with_results("report", results)
    ));
    if summary.ending == Some(RunEnd::Interrupted) {
        note(&resume_hint);
    }
    Ok(exit_code(&summary, request))
}

/// Plays the pairs of the run; `resume_hint` is shown after an error.
fn play_pairs(
    ready: &mut ReadyRun,
    fleet: Option<Fleet>,
    endpoint: Option<Endpoint>,
    resume_hint: &str,
) -> Result<Finished, Failure> {
    let ReadyRun { name, plan, inputs, store, files, state, results, format, style, .. } = ready;
    let inputs = inputs.as_mut().expect("inputs are only missing if the run has ended");
    let Inputs { book, tables, setups, options } = inputs;
    let setups = std::mem::take(setups);
    let jobs = JobMaker::new(plan, book, tables.clone());
    let (control, control_requests) = mpsc::channel(CONTROL_REQUESTS);
    // fastchess and cutechess-cli have no keyboard commands.
    let keys = if style.is_some() { None } else { Keyboard::listen(control.clone()) };
    let live_games = LiveGames::default();
    let mut observers: Vec<&mut dyn Observer> = Vec::new();
    observers.extend(files.iter_mut().map(|file| file as &mut dyn Observer));
    let mut view: Box<dyn Observer> = match style {
        Some(style) => {
            let printer = Printer::new(style, plan, options, state.schedule().clone());
            let printer = printer.with_run(options, name, results, control.clone());
            Box::new(printer.map_err(Failure::environment)?)
        }
        None => {
            let games = live_games.clone();
            let shown = move |most| {
                let (shown, count) = games.snapshots(most);
                Boards::of(&shown, count)
            };
            Box::new(Live::new(plan, state, keys.is_some(), shown))
        }
    };
    observers.push(&mut *view);
    let mut recent = RecentEvents::new(plan, unix_time_ms());
    let controlled = ControlledRun {
        control_requests: control,
        live_games: live_games.clone(),
        recent: recent.clone(),
    };
    observers.push(&mut recent);
    let mut stream = Stream(plan);
    observers.extend((*format == OutputFormat::Ndjson).then_some(&mut stream as &mut dyn Observer));
    // The store is read before the runtime starts, because reading a large run takes long.
    #[cfg(feature = "cluster")]
    let created_ms = store.run(name)?.head.created_ms;
    #[cfg(feature = "cluster")]
    let history = crate::fleet::worker_history(store, name, plan)?;
    let runtime = runtime()?;
    let metrics = endpoint.map(|endpoint| endpoint.observer(runtime.handle(), fleet.as_ref()));
    let mut metrics = metrics.transpose()?;
    observers.extend(metrics.as_mut().map(|metrics| metrics as &mut dyn Observer));
    let stops_at_once = style.is_some();
    let run = Run { name, store, jobs, stops_at_once, plan, observers, control_requests };
    runtime.block_on(async {
        let socket = Server::listen(results, name, controlled);
        // Shells disable SIGINT for programs that scripts start in the background. fastchess and
        // cutechess-cli can be interrupted even in this case, so with their output style, SIGINT is
        // always handled.
        let signals =
            if style.is_some() { Signals::listen_in_any_case() } else { Signals::listen() };
        let mut signals = signals.map_err(Failure::environment)?;
        let finished = match fleet {
            None => {
                let local = local(plan, setups, live_games, stops_at_once)?;
                dispatch(run, state, local, &mut signals).await
            }
            #[cfg(feature = "cluster")]
            Some(fleet) => {
                let opening = fleet.executor(plan, name, created_ms, setups, history);
                let put_away = arbiter_runner::Executor::finish;
                let when = super::preflight::BEFORE_GAMES;
                let remote = crate::fleet::opened(opening, &mut signals, put_away, when).await?;
                dispatch(run, state, remote, &mut signals).await
            }
        };
        socket.close().await;
        finished.map_err(|error| failure(&error, &show(name, results), resume_hint))
    })
}

/// Returns the executor of a run on this machine.
fn local(
    plan: &Plan,
    mut setups: Vec<EngineSetup>,
    live_games: LiveGames,
    tells_games: bool,
) -> Result<LocalExecutor, Failure> {
    setups.iter_mut().for_each(|EngineSetup { launch, .. }| {
        launch.version = file_version(&launch.program);
    });
    let local_options = LocalOptions {
        slots: plan.concurrency,
        wait: plan.wait,
        measures_waiting: plan.noise_limit.is_some(),
        tells_games,
        cpu_sets: cpu_sets_of(plan).map_err(Failure::invalid)?,
    };
    LocalExecutor::new(local_options, setups, live_games).map_err(Failure::environment)
}

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
fn exit_code(summary: &Summary, request: Option<StopCause>) -> ExitCode {
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
