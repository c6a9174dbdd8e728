//! The engines of a plan: their setups, and checks before the run that they work.

use std::collections::BTreeSet;
use std::path::Path;

use thiserror::Error;

use arbiter_game::annotation::Keeping;
pub use arbiter_game::engine::EngineSetup;
use arbiter_game::engine::{EngineError, EngineProcess};
use arbiter_openings::Book;
use arbiter_plan::affinity::{cpus_per_game, is_threads};
use arbiter_plan::plan::{Engine, Plan, Program};
use arbiter_plan::run::places::places;
use arbiter_process::{Bounds, Launch, QUIT_GRACE, Spawner, allowed_cpus};
use arbiter_protocol::{Deadlines, SessionError, Setup};

/// One setup for each engine of the plan; `own_binary` is the program of the bundled engine.
pub fn engine_setups(plan: &Plan, own_binary: &Path) -> Vec<EngineSetup> {
    let with_plan = |engine| EngineSetup {
        deadlines: plan.deadlines,
        pattern: plan.annotation.pattern.clone(),
        is_recorded: plan.transcripts != Keeping::None,
        ..engine_setup(engine, own_binary)
    };
    plan.engines.iter().map(with_plan).collect()
}

/// The processors of each of the plan's games on this machine; none if the system decides.
pub fn places_of(plan: &Plan) -> Result<Vec<Vec<usize>>, String> {
    let allowed = allowed_cpus();
    places(&plan.affinity, &allowed, plan.concurrency, cpus_per_game(plan))
}

/// The setup of one engine, with the default deadlines.
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
            stderr: engine.behaviour.stderr.clone(),
            cpus: Vec::new(),
            bounds: Bounds {
                memory_bytes: engine.behaviour.memory_mib.map(|mib| mib.saturating_mul(1 << 20)),
                ..Bounds::default()
            },
        },
        protocol: engine.behaviour.protocol,
        setup: Setup {
            options: engine.options.clone(),
            init: engine.behaviour.init.clone(),
            ponder: engine.behaviour.ponder,
            nodestime: engine.conditions.limits.nodestime,
        },
        restart: engine.behaviour.restart,
        deadlines: Deadlines::default(),
        pattern: None,
        is_recorded: false,
    }
}

/// Why an engine cannot be used.
#[derive(Debug, Error)]
#[error("engine '{name}': {cause}")]
pub struct PreflightError {
    name: String,
    cause: String,
    /// Whether the machine is to blame.
    pub environment: bool,
}

impl PreflightError {
    /// The engine lacks something.
    pub fn new(setup: &EngineSetup, cause: String) -> PreflightError {
        PreflightError { name: setup.name.clone(), cause, environment: false }
    }

    /// The machine is to blame.
    pub fn environment(setup: &EngineSetup, error: impl std::fmt::Display) -> PreflightError {
        PreflightError { name: setup.name.clone(), cause: error.to_string(), environment: true }
    }

    /// The engine failed in its handshake.
    pub fn of(setup: &EngineSetup, error: &EngineError) -> PreflightError {
        PreflightError {
            name: setup.name.clone(),
            cause: format!("{error}{}", hint(error)),
            environment: error.is_environment(),
        }
    }
}

/// What the checks found that is no error.
#[derive(Debug, Default)]
pub struct Preflight {
    /// Openings of the book that some engine cannot set up, by their index in it.
    pub unplayable: BTreeSet<usize>,
    /// Engines that use several threads by default and are not told otherwise: name and threads.
    pub threaded: Vec<(String, usize)>,
}

/// Starts, configures and ends each engine once, so that a wrong option is an error before the
/// run and not a thousand lost games in it.
pub async fn check_engines(
    setups: &[EngineSetup],
    book: &Book,
) -> Result<Preflight, PreflightError> {
    let Preflight { mut unplayable, mut threaded } = Preflight::default();
    check_each(setups, |setup, engine| {
        let is_told = setup.setup.options.iter().any(|(name, _)| is_threads(name));
        let declared = engine.session().options().iter().find(|option| is_threads(&option.name));
        let threads = declared.and_then(|option| option.default.as_ref()?.parse().ok());
        if let Some(threads) = threads.filter(|threads| *threads > 1 && !is_told) {
            threaded.push((setup.name.clone(), threads));
        }
        // Whoever speaks UCI can be told any position.
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
            return Err("does not play Chess960, which the opening book needs");
        }
        if unplayable.len() == book.len() {
            return Err(
                "cannot set up any opening of the book: it has no setboard, and edit cannot \
                 express them; give openings that are moves from the initial position",
            );
        }
        Ok(())
    })
    .await?;
    Ok(Preflight { unplayable, threaded })
}

/// As [`check_engines`], for engines that are asked about positions and play no games.
pub async fn check_suite_engines(
    setups: &[EngineSetup],
    needs_chess960: bool,
) -> Result<(), PreflightError> {
    let judge = |_: &EngineSetup, engine: &EngineProcess| match (
        engine.session().is_uci(),
        engine.session().plays_chess960(),
    ) {
        (false, _) => Err("does not speak UCI, which suites need"),
        (true, false) if needs_chess960 => Err("does not play Chess960, which a position needs"),
        _ => Ok(()),
    };
    check_each(setups, judge).await
}

/// What an engine calls itself, which often says its version.
pub async fn engine_name(setup: &EngineSetup) -> Result<Option<String>, PreflightError> {
    let mut name = None;
    check_each(std::slice::from_ref(setup), |_, engine| {
        name = engine.session().engine_name().map(str::to_owned);
        Ok(())
    })
    .await?;
    Ok(name)
}

/// Starts, configures and ends each engine once, and lets `judge` say why it is unfit.
async fn check_each(
    setups: &[EngineSetup],
    mut judge: impl FnMut(&EngineSetup, &EngineProcess) -> Result<(), &'static str>,
) -> Result<(), PreflightError> {
    let spawner = Spawner::start().map_err(|error| PreflightError {
        name: "-".to_owned(),
        cause: error.to_string(),
        environment: true,
    })?;
    for setup in setups {
        let started = EngineProcess::start(&spawner, setup).await;
        let engine = started.map_err(|error| PreflightError::of(setup, &error))?;
        let fitness = judge(setup, &engine);
        engine.quit(QUIT_GRACE).await;
        fitness.map_err(|cause| PreflightError::new(setup, cause.to_owned()))?;
    }
    Ok(())
}

/// What to do about an engine that did not get through its handshake.
fn hint(error: &EngineError) -> &'static str {
    match error {
        EngineError::Exited(_)
        | EngineError::Closed
        | EngineError::Session(SessionError::Late { .. }) => {
            "; check that cmd, args and dir start an engine, and that proto is its protocol"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::plan::Kind;
    use arbiter_plan::request::Request;

    #[test]
    fn the_bundled_engine_is_this_binary() {
        let plan = Plan::resolve(Kind::Sprt, Request::default()).unwrap();
        let setups = engine_setups(&plan, Path::new("/bin/arbiter"));
        assert_eq!(setups[0].launch.program, Path::new("/bin/arbiter"));
        assert_eq!(setups[0].launch.args, ["engine"]);
        assert_eq!(setups[1].setup.options, [("Eval".to_owned(), "material".to_owned())]);
    }
}
