//! The engines of a plan: their setups, and trials before the run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use arbiter_game::annotation::{Dialect, Keeping};

use arbiter_game::engine::{EngineError, EngineProcess, EngineSetup};
use arbiter_openings::Book;
use arbiter_plan::{
    Engine, Plan, Program, SandboxMode, cpu_sets, cpus_per_game, is_threads_option,
};
use arbiter_process::{
    Launch, QUIT_GRACE, ResourceLimits, Sandbox, Spawner, allowed_cpus, made_for,
};
use arbiter_protocol::{Deadlines, OptionDeclaration, Protocol, Session, SessionError, Setup};

/// Time for an engine to answer `uci` before it is tried as an xboard engine. An xboard engine
/// would otherwise cost the whole deadline of `uciok`, and its error would not name the cause.
const HEAD_START: Duration = Duration::from_secs(1);

/// Arguments that make engines with a console interface speak UCI.
const UCI_ARGUMENTS: [&str; 3] = ["--uci", "-uci", "uci"];

/// Maximum time for an engine to answer `uci` with one of these arguments.
const ARGUMENT_TRIAL: Duration = Duration::from_secs(2);

/// Returns one setup for each engine of the plan; `own_binary` is the program of the bundled
/// engine.
pub fn engine_setups(plan: &Plan, own_binary: &Path) -> Vec<EngineSetup> {
    let with_plan = |engine| {
        let own = engine_setup(engine, own_binary);
        EngineSetup {
            deadlines: plan.deadlines,
            pattern: plan.annotation.pattern.clone(),
            is_recorded: plan.transcripts != Keeping::None,
            setup: Setup {
                is_lenient: plan.is_lenient,
                takes_bounds: plan.annotation.dialect == Some(Dialect::Cutechess),
                keeps_variations: plan.annotation.dialect == Some(Dialect::Fastchess),
                ..own.setup
            },
            ..own
        }
    };
    let mut setups: Vec<EngineSetup> = plan.engines.iter().map(with_plan).collect();
    for sandbox in setups.iter_mut().filter_map(|setup| setup.launch.sandbox.as_mut()) {
        sandbox.readable.extend(plan.tables.iter().cloned());
        Sandbox::remove_leftovers();
    }
    setups
}

/// Returns the processors of each of the plan's games on this machine; none if the system decides.
/// Fails if there are too few processors for the concurrency.
pub fn cpu_sets_of(plan: &Plan) -> Result<Vec<Vec<usize>>, String> {
    let allowed = allowed_cpus();
    cpu_sets(&plan.affinity, &allowed, plan.concurrency, cpus_per_game(plan))
}

/// Returns the setup of one engine, with the default deadlines.
pub fn engine_setup(engine: &Engine, own_binary: &Path) -> EngineSetup {
    let (program, mut args) = match &engine.program {
        Program::Bundled => (own_binary.to_owned(), vec!["engine".to_owned()]),
        Program::Path(path) => (path.clone(), Vec::new()),
    };
    args.extend(engine.args.iter().cloned());
    EngineSetup {
        name: engine.name.clone(),
        launch: Launch {
            program,
            args,
            dir: engine.dir.clone(),
            stderr: engine.launch.stderr.clone(),
            cpus: Vec::new(),
            limits: ResourceLimits {
                memory_bytes: engine.launch.memory_mib.map(|mib| mib.saturating_mul(1 << 20)),
                ..ResourceLimits::default()
            },
            environment: None,
            sandbox: sandbox_of(engine),
        },
        protocol: engine.launch.protocol,
        setup: Setup {
            options: engine.told_options(),
            init: engine.launch.init.clone(),
            ponder: engine.launch.ponder,
            nodestime: engine.conditions.limits.nodestime,
            is_lenient: false,
            takes_bounds: false,
            keeps_variations: false,
        },
        restart: engine.launch.restart,
        deadlines: Deadlines::default(),
        pattern: None,
        is_recorded: false,
    }
}

/// Returns the sandbox of an engine on this machine. The engine may read the folder of its program,
/// unless that contains the user's home, its own folder, and files and folders that its options
/// name.
fn sandbox_of(engine: &Engine) -> Option<Sandbox> {
    let folder = match &engine.program {
        Program::Path(path) => path.parent().map(Path::to_owned),
        Program::Bundled => None,
    };
    let home = std::env::home_dir().unwrap_or_default();
    // A program in the home of the user, or above it, must not open all of the home to the engine.
    let folder = folder.filter(|folder| !home.starts_with(folder));
    let told = engine.told_options();
    let named = told.iter().flat_map(|(_, value)| std::env::split_paths(value));
    let named = named.filter(|path| path.is_absolute() && path.exists());
    sandbox(
        engine.launch.sandbox,
        folder.into_iter().chain(engine.dir.clone()).chain(named).collect(),
    )
}

/// Returns a sandbox in which an engine may read these files and folders besides its program.
pub fn sandbox(mode: SandboxMode, readable: Vec<PathBuf>) -> Option<Sandbox> {
    let is_required = mode == SandboxMode::Require;
    let sandbox = Sandbox { readable, is_required, ..Sandbox::default() };
    (mode != SandboxMode::Off).then_some(sandbox)
}

/// Reason that an engine cannot be used.
#[derive(Debug, Error)]
#[error("engine '{name}': {cause}")]
pub struct PreflightError {
    /// Name of the engine.
    pub name: String,
    cause: String,
    /// `true` if the machine failed, and not the engine.
    pub environment: bool,
    /// `true` if the engine could not be started at all.
    pub at_start: bool,
}

impl PreflightError {
    /// Returns the error of an unfit engine.
    pub(crate) fn new(setup: &EngineSetup, cause: String) -> PreflightError {
        PreflightError { name: setup.name.clone(), cause, environment: false, at_start: false }
    }
}

/// Starts an engine that plays no game of a run. If it should speak UCI, and answers xboard's
/// greeting first, it is returned as an xboard engine without its options.
pub(crate) async fn start(
    spawner: &Spawner,
    setup: &EngineSetup,
) -> Result<EngineProcess, PreflightError> {
    let is_uci = setup.protocol == Protocol::Uci;
    let xboard = async {
        tokio::time::sleep(HEAD_START).await;
        start_xboard(spawner, setup).await
    };
    let started = tokio::select! {
        // UCI is polled first: an engine that answers both protocols at once is a UCI engine.
        biased;
        started = EngineProcess::start(spawner, setup) => started,
        Some(engine) = xboard, if is_uci => return Ok(engine),
    };
    let error = match started {
        Ok(engine) => return Ok(engine),
        Err(error) => error,
    };
    let has_left = matches!(error, EngineError::Exited(_) | EngineError::Closed);
    if is_uci
        && has_left
        && let Some(engine) = start_xboard(spawner, setup).await
    {
        return Ok(engine);
    }
    let mut hint = hint(&error).to_owned();
    // The error then says for which system the program is made, and the hint would lead elsewhere.
    if has_left && made_for(&setup.launch.program).is_some() {
        hint.clear();
    }
    if is_uci
        && (has_left || is_silent(&error))
        && let Some(argument) = uci_argument(spawner, setup).await
    {
        hint = format!("; it speaks UCI with the argument {argument}: ENGINE,args={argument}");
    }
    Err(PreflightError {
        environment: error.is_environment(),
        at_start: true,
        ..PreflightError::new(setup, format!("{error}{hint}"))
    })
}

/// Starts an engine without UCI with each of the known arguments, and returns the first with which
/// it speaks UCI.
async fn uci_argument(spawner: &Spawner, setup: &EngineSetup) -> Option<&'static str> {
    // Without options a wrong option cannot fail the trial.
    let mut setup = EngineSetup { setup: Setup::default(), ..setup.clone() };
    for argument in UCI_ARGUMENTS {
        setup.launch.args.push(argument.to_owned());
        let start = EngineProcess::start(spawner, &setup);
        if let Ok(Ok(engine)) = tokio::time::timeout(ARGUMENT_TRIAL, start).await {
            engine.quit(QUIT_GRACE).await;
            return Some(argument);
        }
        setup.launch.args.pop();
    }
    None
}

/// Returns whether a running engine has answered `uci` with nothing that ends the answer.
fn is_silent(error: &EngineError) -> bool {
    matches!(error, EngineError::Session(SessionError::Late { awaited: "uciok", .. }))
}

/// Starts an engine as an xboard engine, if it sends `feature`.
async fn start_xboard(spawner: &Spawner, setup: &EngineSetup) -> Option<EngineProcess> {
    let (protocol, told) = (Protocol::Xboard, Setup::default());
    let setup = EngineSetup { protocol, setup: told, ..setup.clone() };
    let engine = EngineProcess::start(spawner, &setup).await.ok()?;
    if engine.session().has_features() {
        return Some(engine);
    }
    engine.quit(QUIT_GRACE).await;
    None
}

/// Starts the thread that starts engines such as this one.
pub(crate) fn start_spawner(name: &str) -> Result<Spawner, PreflightError> {
    Spawner::start().map_err(|error| PreflightError {
        name: name.to_owned(),
        cause: error.to_string(),
        environment: true,
        at_start: false,
    })
}

/// Findings of the checks that are no errors.
#[derive(Debug, Default)]
pub struct Preflight {
    /// Engines that should speak UCI and speak xboard. They were not checked further.
    pub xboard: Vec<String>,
    /// Openings of the book that an engine cannot set up, by their index.
    pub unplayable: BTreeSet<usize>,
    /// Name and threads of engines that use several threads by default without an option for it.
    pub threaded: Vec<(String, usize)>,
    /// Default options of each engine, and its options that were left out.
    pub options: Vec<OptionsFound>,
}

/// Options of an engine, as found.
#[derive(Debug, Clone, Default)]
pub struct OptionsFound {
    /// Name and default value of each option.
    pub defaults: Vec<(String, String)>,
    /// Name and value of options that are left out, and whether the engine has an option of this
    /// name.
    pub left_out: Vec<(String, String, bool)>,
}

impl OptionsFound {
    fn of(session: &Session) -> OptionsFound {
        let has = |name: &str| {
            session.options().iter().any(|option| option.name.eq_ignore_ascii_case(name))
        };
        let default = |option: &OptionDeclaration| {
            option.default.clone().map(|value| (option.name.clone(), value))
        };
        let left_out = session.left_out().iter();
        OptionsFound {
            defaults: session.options().iter().filter_map(default).collect(),
            left_out: left_out
                .map(|(name, value)| (name.clone(), value.clone(), has(name)))
                .collect(),
        }
    }
}

/// Starts, configures and ends each engine once, so that a wrong option is an error before the run
/// and not a thousand lost games in it. The error names the first engine that is unfit.
pub async fn check_game_engines(
    setups: &[EngineSetup],
    book: &Book,
) -> Result<Preflight, PreflightError> {
    let Preflight { mut xboard, mut unplayable, mut threaded, mut options } = Preflight::default();
    check_each(setups, |setup, engine| {
        if setup.protocol == Protocol::Uci && !engine.session().is_uci() {
            xboard.push(setup.name.clone());
            return Ok(());
        }
        options.push(OptionsFound::of(engine.session()));
        let is_told = setup.setup.options.iter().any(|(name, _)| is_threads_option(name));
        let declared =
            engine.session().options().iter().find(|option| is_threads_option(&option.name));
        let threads = declared.and_then(|option| option.default.as_ref()?.parse().ok());
        if let Some(threads) = threads.filter(|threads| *threads > 1 && !is_told) {
            threaded.push((setup.name.clone(), threads));
        }
        // Only xboard engines are limited in the positions that they can set up.
        if !engine.session().is_uci() {
            let openings = book.openings().enumerate();
            let out_of_reach = openings
                .filter(|(_, o)| {
                    !engine.session().can_set_up(&o.start_position(), o.castling_mode())
                })
                .map(|(index, _)| index);
            unplayable.extend(out_of_reach);
        }
        if book.needs_chess960() && !engine.session().plays_chess960() {
            return Err("does not play Chess960, which the opening book requires");
        }
        if unplayable.len() == book.len() {
            return Err(
                "cannot set up any opening of the book: the engine has no setboard; give openings \
                 as moves from the initial position",
            );
        }
        Ok(())
    })
    .await?;
    Ok(Preflight { xboard, unplayable, threaded, options })
}

/// Checks engines as [`check_game_engines`] does, but for queries about positions instead of games.
/// The error names the first engine that is unfit.
pub async fn check_suite_engines(
    setups: &[EngineSetup],
    needs_chess960: bool,
) -> Result<(), PreflightError> {
    let judge = |_: &EngineSetup, engine: &EngineProcess| match (
        engine.session().is_uci(),
        engine.session().plays_chess960(),
    ) {
        (false, _) => Err("speaks xboard, but suites require UCI"),
        (true, false) if needs_chess960 => Err("does not play Chess960, which a position requires"),
        _ => Ok(()),
    };
    check_each(setups, judge).await
}

/// Starts an engine once, and returns the result of `ask`. Fails if the engine cannot be started or
/// configured.
pub async fn ask_engine<T>(
    setup: &EngineSetup,
    ask: impl FnOnce(&Session) -> T,
) -> Result<T, PreflightError> {
    let spawner = start_spawner(&setup.name)?;
    let engine = start(&spawner, setup).await?;
    let learnt = ask(engine.session());
    engine.quit(QUIT_GRACE).await;
    Ok(learnt)
}

/// Starts, configures and ends each engine once, and lets `judge` return the reason if it is unfit.
async fn check_each(
    setups: &[EngineSetup],
    mut judge: impl FnMut(&EngineSetup, &EngineProcess) -> Result<(), &'static str>,
) -> Result<(), PreflightError> {
    let spawner = start_spawner("-")?;
    for setup in setups {
        let engine = start(&spawner, setup).await?;
        let fitness = judge(setup, &engine);
        engine.quit(QUIT_GRACE).await;
        fitness.map_err(|cause| PreflightError::new(setup, cause.to_owned()))?;
    }
    Ok(())
}

/// Returns advice on an engine that failed its handshake.
fn hint(error: &EngineError) -> &'static str {
    match error {
        EngineError::Exited(_) | EngineError::Closed => {
            "; start it by hand with the same args and dir to see why"
        }
        error if is_silent(error) => {
            ", nor 'feature'; if the engine starts slowly, give it more time (--deadlines scale=3; for \
             fastchess -startup-ms, for cutechess-cli tscale=3), otherwise start it by hand and \
             type uci"
        }
        EngineError::Session(SessionError::Late { .. }) => {
            "; give it more time to get ready: --deadlines scale=3 (for fastchess -ping-ms, for \
             cutechess-cli tscale=3)"
        }
        EngineError::Session(SessionError::Option(error)) if error.is_unlike_any() => {
            "; set it on that engine only: ENGINE,option.NAME=VALUE"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::{Request, RunKind};

    #[test]
    fn the_bundled_engine_is_this_binary() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let setups = engine_setups(&plan, Path::new("/bin/arbiter"));
        assert_eq!(setups[0].launch.program, Path::new("/bin/arbiter"));
        assert_eq!(setups[0].launch.args, ["engine"]);
        assert_eq!(setups[1].setup.options, plan.engines[1].options);
        assert_eq!(setups[1].setup.options.len(), 2);
    }
}
