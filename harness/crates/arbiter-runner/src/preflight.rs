//! Setups of the engines of a plan, and checks of the engines before the run.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use arbiter_game::annotation::{Dialect, Keeping};
use arbiter_game::engine::{EngineError, EngineProcess, EngineSetup};
use arbiter_openings::Book;
use arbiter_plan::{
    Engine, LaunchSettings, Plan, SandboxMode, cpu_sets, cpus_per_game, is_threads_option,
};
use arbiter_process::{
    Launch, QUIT_GRACE, ResourceLimits, Sandbox, Spawner, allowed_cpus, made_for,
};
use arbiter_protocol::{Deadlines, OptionDeclaration, Protocol, Session, SessionError, Setup};

/// Time to wait for an answer to `uci` before the engine is also started as an xboard engine.
/// Without this second start, the check of an xboard engine would take the full timeout of `uciok`,
/// and the error would not name the cause.
const HEAD_START: Duration = Duration::from_secs(1);

/// Arguments with which some command-line programs speak UCI.
const UCI_ARGUMENTS: [&str; 3] = ["--uci", "-uci", "uci"];

/// Time within which an engine started with one of `UCI_ARGUMENTS` must become ready.
const ARGUMENT_TRIAL: Duration = Duration::from_secs(2);

/// Returns a setup for each engine of the plan; `own_binary` is the program of the bundled engine.
/// If an engine runs in a sandbox, also removes the temporary home folders that killed processes
/// left behind.
pub fn engine_setups(plan: &Plan, own_binary: &Path) -> Vec<EngineSetup> {
    let mut setups = Vec::new();
    for engine in &plan.engines {
        let mut setup = engine_setup(engine, own_binary);
        setup.deadlines = plan.deadlines;
        setup.pattern.clone_from(&plan.annotation.pattern);
        setup.is_recorded = plan.transcripts != Keeping::None;
        setup.setup.is_lenient = plan.is_lenient;
        setup.setup.takes_bounds = plan.annotation.dialect == Some(Dialect::Cutechess);
        setup.setup.keeps_variations = plan.annotation.dialect == Some(Dialect::Fastchess);
        if let Some(sandbox) = &mut setup.launch.sandbox {
            sandbox.readable.extend(plan.tables.iter().cloned());
            Sandbox::remove_leftovers();
        }
        setups.push(setup);
    }
    setups
}

/// Returns the processors of each concurrent game on this machine; empty if the operating system
/// assigns processors. Fails if there are too few processors for the concurrency, or if a requested
/// processor is not available.
pub fn cpu_sets_of(plan: &Plan) -> Result<Vec<Vec<usize>>, String> {
    let allowed = allowed_cpus();
    cpu_sets(&plan.affinity, &allowed, plan.concurrency, cpus_per_game(&plan.engines))
}

/// Returns the setup of an engine with default timeouts.
pub fn engine_setup(engine: &Engine, own_binary: &Path) -> EngineSetup {
    let (program, mut args) = match &engine.program {
        None => (own_binary.to_owned(), vec!["engine".to_owned()]),
        Some(path) => (path.clone(), Vec::new()),
    };
    args.extend(engine.args.iter().cloned());
    let LaunchSettings { protocol, init, restart, ponder, stderr, memory_mib, sandbox } =
        &engine.launch;
    EngineSetup {
        name: engine.name.clone(),
        launch: Launch {
            program,
            args,
            dir: engine.dir.clone(),
            stderr: stderr.clone(),
            limits: ResourceLimits {
                memory_bytes: memory_mib.map(|mib| mib.saturating_mul(1 << 20)),
                ..ResourceLimits::default()
            },
            sandbox: sandbox_of(engine, *sandbox),
            ..Launch::default()
        },
        protocol: *protocol,
        setup: Setup {
            options: engine.sent_options(),
            init: init.clone(),
            ponder: *ponder,
            nodestime: engine.conditions.limits.nodestime,
            ..Setup::default()
        },
        restart: *restart,
        deadlines: Deadlines::default(),
        pattern: None,
        is_recorded: false,
    }
}

/// Returns the sandbox of an engine on this machine. The engine may read its working folder, its
/// program, and the files and folders that its options name. The engine may also read the folder of
/// its program, unless this folder is or contains the user's home folder.
fn sandbox_of(engine: &Engine, mode: SandboxMode) -> Option<Sandbox> {
    let folder = engine.program.as_deref().and_then(Path::parent).map(Path::to_owned);
    let home = std::env::home_dir().unwrap_or_default();
    // A program in the user's home folder itself, or in a parent folder, must not make the complete
    // home folder readable.
    let folder = folder.filter(|folder| !home.starts_with(folder));
    let options = engine.sent_options();
    let named = options.iter().flat_map(|(_, value)| std::env::split_paths(value));
    let named = named.filter(|path| path.is_absolute() && path.exists());
    sandbox(mode, folder.into_iter().chain(engine.dir.clone()).chain(named).collect())
}

/// Returns a sandbox in which an engine may read the files and folders `readable` in addition to
/// its program; `None` if the mode is off.
pub fn sandbox(mode: SandboxMode, readable: Vec<PathBuf>) -> Option<Sandbox> {
    let is_required = mode == SandboxMode::Require;
    let sandbox = Sandbox { readable, is_required, ..Sandbox::default() };
    (mode != SandboxMode::Off).then_some(sandbox)
}

/// Reason why an engine cannot be used.
#[derive(Debug, Error)]
#[error("engine '{name}': {cause}")]
pub struct PreflightError {
    /// Name of the engine.
    pub name: String,
    cause: String,
    /// `true` if the machine, not the engine, caused the error.
    pub environment: bool,
    /// `true` if the start or the handshake of the engine failed.
    pub at_start: bool,
}

impl PreflightError {
    /// Creates the error for an engine that was started but is unsuitable.
    pub(crate) fn new(name: &str, cause: impl Display) -> PreflightError {
        let (name, cause) = (name.to_owned(), cause.to_string());
        PreflightError { name, cause, environment: false, at_start: false }
    }
}

/// Starts an engine outside a run. If the protocol in the setup is UCI but the engine answers only
/// to `xboard`, the engine is returned as an xboard engine, without the requested options.
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
        // UCI is polled first: an engine that answers in both protocols is a UCI engine.
        biased;
        started = EngineProcess::start(spawner, setup) => started,
        Some(engine) = xboard, if is_uci => return Ok(engine),
    };
    let error = match started {
        Ok(engine) => return Ok(engine),
        Err(error) => error,
    };
    let is_gone = matches!(error, EngineError::Exited(_) | EngineError::Closed);
    if is_uci
        && is_gone
        && let Some(engine) = start_xboard(spawner, setup).await
    {
        return Ok(engine);
    }
    let mut hint = hint(&error).to_owned();
    // The error already names the system for which the program was built, so the hint would be
    // misleading.
    if is_gone && made_for(&setup.launch.program).is_some() {
        hint.clear();
    }
    if is_uci
        && (is_gone || is_silent(&error))
        && let Some(argument) = uci_argument(spawner, setup).await
    {
        hint = format!("; it speaks UCI with the argument {argument}: ENGINE,args={argument}");
    }
    Err(PreflightError {
        environment: error.is_environment(),
        at_start: true,
        ..PreflightError::new(&setup.name, format_args!("{error}{hint}"))
    })
}

/// Starts an engine with each of `UCI_ARGUMENTS`, and returns the first argument with which the
/// engine speaks UCI.
async fn uci_argument(spawner: &Spawner, setup: &EngineSetup) -> Option<&'static str> {
    // No options are sent, because a wrong option would make the trial fail.
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

/// Returns whether a running engine did not send `uciok` in time.
fn is_silent(error: &EngineError) -> bool {
    matches!(error, EngineError::Slow(SessionError::Late { awaited: "uciok", .. }, _))
}

/// Starts an engine as an xboard engine; `None` if the start fails or the engine sends no `feature`
/// line.
async fn start_xboard(spawner: &Spawner, setup: &EngineSetup) -> Option<EngineProcess> {
    let setup =
        EngineSetup { protocol: Protocol::Xboard, setup: Setup::default(), ..setup.clone() };
    let engine = EngineProcess::start(spawner, &setup).await.ok()?;
    if engine.session().has_features() {
        return Some(engine);
    }
    engine.quit(QUIT_GRACE).await;
    None
}

/// Starts a spawner; `name` is the name of the engine in the error message.
pub(crate) fn start_spawner(name: &str) -> Result<Spawner, PreflightError> {
    Spawner::start()
        .map_err(|error| PreflightError { environment: true, ..PreflightError::new(name, error) })
}

/// Findings of the checks, apart from errors.
#[derive(Debug, Default)]
pub struct Preflight {
    /// Names of engines that speak xboard although the protocol in their setup is UCI; the
    /// remaining checks were skipped for these engines.
    pub xboard: Vec<String>,
    /// Indices of the openings that an engine cannot set up.
    pub unplayable: BTreeSet<usize>,
    /// Engines that use several threads by default and for which the plan sets no number of
    /// threads: name of the engine, name of the option, and default number of threads.
    pub threaded: Vec<(String, String, usize)>,
    /// Options found for each engine.
    pub options: Vec<OptionsFound>,
}

/// Options of an engine: defaults, and options that were not sent to the engine.
#[derive(Debug, Clone, Default)]
pub struct OptionsFound {
    /// Name and default value of each option.
    pub defaults: Vec<(String, String)>,
    /// Name and value of each omitted option, and `true` if the engine has an option with this
    /// name.
    pub left_out: Vec<(String, String, bool)>,
}

impl OptionsFound {
    fn of(session: &Session) -> OptionsFound {
        let options = session.options().iter();
        let has = |name: &str| options.clone().any(|own| own.name.eq_ignore_ascii_case(name));
        let left_out = session.left_out().iter();
        let left_out = left_out.map(|(name, value)| (name.clone(), value.clone(), has(name)));
        let left_out = left_out.collect();
        let default =
            |option: &OptionDeclaration| Some((option.name.clone(), option.default.clone()?));
        OptionsFound { defaults: options.filter_map(default).collect(), left_out }
    }
}

/// Starts, configures and terminates each engine once. A wrong option is thus reported before the
/// run; in the run, the engine would lose every game. The error names the first unsuitable engine.
pub async fn check_game_engines(
    setups: &[EngineSetup],
    book: &Book,
) -> Result<Preflight, PreflightError> {
    let mut found = Preflight::default();
    check_each(setups, |setup, engine| {
        if setup.protocol == Protocol::Uci && !engine.session().is_uci() {
            found.xboard.push(setup.name.clone());
            return Ok(());
        }
        found.options.push(OptionsFound::of(engine.session()));
        let is_set = setup.setup.options.iter().any(|(name, _)| is_threads_option(name));
        let declared =
            engine.session().options().iter().find(|option| is_threads_option(&option.name));
        if let Some(option) = declared.filter(|_| !is_set)
            && let Some(threads) = option.default.as_ref().and_then(|usual| usual.parse().ok())
            && threads > 1
        {
            found.threaded.push((setup.name.clone(), option.name.clone(), threads));
        }
        // Only xboard engines may be unable to set up a position.
        if !engine.session().is_uci() {
            let openings = book.openings().enumerate();
            let out_of_reach = openings
                .filter(|(_, o)| !engine.session().can_set_up(&o.start_position(), o.castling_mode))
                .map(|(index, _)| index);
            found.unplayable.extend(out_of_reach);
        }
        if book.needs_chess960() && !engine.session().plays_chess960() {
            return Err("does not play Chess960, which the opening book requires");
        }
        if found.unplayable.len() == book.len() {
            return Err(
                "cannot set up any opening of the book: the engine has no setboard; give openings \
                 as moves from the initial position",
            );
        }
        Ok(())
    })
    .await?;
    Ok(found)
}

/// Checks engines as [`check_game_engines`] does, but for suites instead of games. The error names
/// the first unsuitable engine.
pub async fn check_suite_engines(
    setups: &[EngineSetup],
    needs_chess960: bool,
) -> Result<(), PreflightError> {
    check_each(setups, |_, engine| {
        if !engine.session().is_uci() {
            return Err("speaks xboard, but suites require UCI");
        }
        if needs_chess960 && !engine.session().plays_chess960() {
            return Err("does not play Chess960, which a position requires");
        }
        Ok(())
    })
    .await
}

/// Starts an engine, calls `ask` with its session, and terminates the engine. Returns the result of
/// `ask`. Fails if the engine cannot be started or configured.
pub async fn ask_engine<T>(
    setup: &EngineSetup,
    ask: impl FnOnce(&Session) -> T,
) -> Result<T, PreflightError> {
    let spawner = start_spawner(&setup.name)?;
    let engine = start(&spawner, setup).await?;
    let result = ask(engine.session());
    engine.quit(QUIT_GRACE).await;
    Ok(result)
}

/// Starts, configures and terminates each engine once; `judge` returns an error if an engine is
/// unsuitable.
async fn check_each(
    setups: &[EngineSetup],
    mut judge: impl FnMut(&EngineSetup, &EngineProcess) -> Result<(), &'static str>,
) -> Result<(), PreflightError> {
    let spawner = start_spawner("-")?;
    for setup in setups {
        let engine = start(&spawner, setup).await?;
        let fitness = judge(setup, &engine);
        engine.quit(QUIT_GRACE).await;
        fitness.map_err(|cause| PreflightError::new(&setup.name, cause))?;
    }
    Ok(())
}

/// Returns a hint for an engine that failed its handshake.
fn hint(error: &EngineError) -> &'static str {
    match error {
        EngineError::Exited(_) | EngineError::Closed => {
            "; start it by hand with the same args and dir to see why"
        }
        EngineError::Configured(_) => {
            "; start it by hand with the same args, dir and options to see why"
        }
        error if is_silent(error) => {
            ", nor 'feature'; if the engine starts slowly, give it more time (in games --deadlines \
             scale=3, in arbiter check --patience; for fastchess -startup-ms, for cutechess-cli \
             tscale=3), otherwise start it by hand and type uci"
        }
        EngineError::Slow(..) => {
            "; give it more time to get ready: in games --deadlines scale=3 (for fastchess -ping-ms, \
             for cutechess-cli tscale=3)"
        }
        EngineError::Session(SessionError::Option(error)) if error.is_unlike_any => {
            "; set it on that engine only: ENGINE,option.NAME=VALUE"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::{EngineSpec, Request, RunKind, resolve_engine};

    #[test]
    fn the_bundled_engine_is_this_binary() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let setups = engine_setups(&plan, Path::new("/bin/arbiter"));
        assert_eq!(setups[0].launch.program, Path::new("/bin/arbiter"));
        assert_eq!(setups[0].launch.args, ["engine"]);
        assert_eq!(setups[1].setup.options, plan.engines[1].options);
        assert_eq!(setups[1].setup.options.len(), 2);
    }

    #[test]
    fn an_exit_after_uciok_is_not_blamed_on_a_missing_argument() {
        let script = "while read -r line; do case $line in \
                          uci) echo uciok;; \
                          isready) [ \"$1\" ] || exit 1; echo readyok;; \
                      esac; done";
        let args = ["-c", script, "sh"].map(str::to_owned).into();
        let spec = EngineSpec { cmd: Some("sh".to_owned()), args, ..EngineSpec::default() };
        let setup = engine_setup(&resolve_engine(0, spec).unwrap(), Path::new(""));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        let error = runtime.block_on(ask_engine(&setup, |_| ())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "engine 'sh': sent uciok, then exited (exit code 1); start it by \
             hand with the same args, dir and options to see why"
        );
    }
}
