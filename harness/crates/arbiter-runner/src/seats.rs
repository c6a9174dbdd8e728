//! What has to be started for a plan, and whether it can be.

use std::collections::BTreeSet;
use std::path::Path;

use thiserror::Error;

use arbiter_game::annotation::Keeping;
pub use arbiter_game::player::Seat;
use arbiter_game::player::{Player, PlayerError};
use arbiter_openings::Book;
use arbiter_plan::affinity::{cpus_per_game, is_threads};
use arbiter_plan::plan::{Engine, Plan, Program};
use arbiter_plan::run::places::{PlacesError, places};
use arbiter_process::{Bounds, Launch, QUIT_GRACE, Spawner, allowed_cpus};
use arbiter_protocol::uci::session::{Deadlines, SessionError, Setup};

/// One seat for each engine of the plan; `own_binary` is where the bundled engine lives.
pub fn seats(plan: &Plan, own_binary: &Path) -> Vec<Seat> {
    let with_plan = |engine| Seat {
        deadlines: plan.deadlines,
        pattern: plan.annotation.pattern.clone(),
        is_taped: plan.transcripts != Keeping::None,
        ..seat(engine, own_binary)
    };
    plan.engines.iter().map(with_plan).collect()
}

/// The processors of each of the plan's games on this machine; none if the system decides.
pub fn places_of(plan: &Plan) -> Result<Vec<Vec<usize>>, PlacesError> {
    let allowed = allowed_cpus();
    places(&plan.affinity, &allowed, plan.concurrency, cpus_per_game(plan))
}

/// The seat of one engine, with the usual deadlines.
pub fn seat(engine: &Engine, own_binary: &Path) -> Seat {
    let (program, mut args) = match &engine.program {
        Program::Bundled => (own_binary.to_owned(), vec!["engine".to_owned()]),
        Program::Path(path) => (path.clone(), Vec::new()),
    };
    args.extend(engine.args.iter().cloned());
    Seat {
        name: engine.name.clone(),
        launch: Launch {
            program,
            args,
            dir: engine.dir.clone(),
            stderr: engine.manners.stderr.clone(),
            cpus: Vec::new(),
            bounds: Bounds {
                memory_bytes: engine.manners.memory_mib.map(|mib| mib.saturating_mul(1 << 20)),
                ..Bounds::default()
            },
        },
        protocol: engine.manners.protocol,
        setup: Setup {
            options: engine.options.clone(),
            init: engine.manners.init.clone(),
            ponder: engine.manners.ponder,
            nodestime: engine.conditions.limits.nodestime,
        },
        restart: engine.manners.restart,
        deadlines: Deadlines::default(),
        pattern: None,
        is_taped: false,
    }
}

/// An engine cannot take part.
#[derive(Debug, Error)]
#[error("engine '{name}': {cause}")]
pub struct TrialError {
    name: String,
    cause: String,
    /// Whether the machine is to blame.
    pub environment: bool,
}

impl TrialError {
    /// The engine is unfit.
    pub fn new(seat: &Seat, cause: String) -> TrialError {
        TrialError { name: seat.name.clone(), cause, environment: false }
    }

    /// The machine does not do its part.
    pub fn environment(seat: &Seat, error: impl std::fmt::Display) -> TrialError {
        TrialError { name: seat.name.clone(), cause: error.to_string(), environment: true }
    }

    /// The engine does not come through its handshake.
    pub fn of(seat: &Seat, error: &PlayerError) -> TrialError {
        TrialError {
            name: seat.name.clone(),
            cause: format!("{error}{}", hint(error)),
            environment: error.is_environment(),
        }
    }
}

/// What a trial of engines shows that is no mistake of theirs.
#[derive(Debug, Default)]
pub struct Trial {
    /// The openings of the book that some engine cannot be told, by their places in it.
    pub untold: BTreeSet<usize>,
    /// Engines that use several threads unless they are told otherwise, which nobody does: their
    /// names, and how many.
    pub threaded: Vec<(String, usize)>,
}

/// Starts, configures and ends each engine once, so that a wrong option is an error before the
/// run and not a thousand lost games in it.
pub async fn try_out(seats: &[Seat], book: &Book) -> Result<Trial, TrialError> {
    let Trial { mut untold, mut threaded } = Trial::default();
    try_each(seats, |seat, player| {
        let is_told = seat.setup.options.iter().any(|(name, _)| is_threads(name));
        let declared = player.options().iter().find(|option| is_threads(&option.name));
        let threads = declared.and_then(|option| option.default.as_ref()?.parse().ok());
        if let Some(threads) = threads.filter(|threads| *threads > 1 && !is_told) {
            threaded.push((seat.name.clone(), threads));
        }
        // Whoever speaks UCI can be told any position.
        if !player.speaks_uci() {
            let openings = book.openings().enumerate();
            let out_of_reach = openings
                .filter(|(_, o)| !player.can_set_up(&o.start_position(), o.castling_mode()))
                .map(|(index, _)| index);
            untold.extend(out_of_reach);
        }
        if book.needs_chess960() && !player.plays_chess960() {
            return Err("does not play Chess960, which the opening book needs");
        }
        if untold.len() == book.len() {
            return Err(
                "cannot set up any opening of the book: it has no setboard, and edit cannot \
                 express them; give openings that are moves from the initial position",
            );
        }
        Ok(())
    })
    .await?;
    Ok(Trial { untold, threaded })
}

/// As [`try_out`], for engines that are asked about positions and play no games.
pub async fn try_for_questions(seats: &[Seat], needs_chess960: bool) -> Result<(), TrialError> {
    let judge = |_: &Seat, player: &Player| match (player.speaks_uci(), player.plays_chess960()) {
        (false, _) => Err("does not speak UCI, which suites need"),
        (true, false) if needs_chess960 => Err("does not play Chess960, which a position needs"),
        _ => Ok(()),
    };
    try_each(seats, judge).await
}

/// What an engine calls itself, which often says its version.
pub async fn introduce(seat: &Seat) -> Result<Option<String>, TrialError> {
    let mut name = None;
    try_each(std::slice::from_ref(seat), |_, player| {
        name = player.engine_name().map(str::to_owned);
        Ok(())
    })
    .await?;
    Ok(name)
}

/// Starts, configures and ends each engine once, and lets `judge` say why it is unfit.
async fn try_each(
    seats: &[Seat],
    mut judge: impl FnMut(&Seat, &Player) -> Result<(), &'static str>,
) -> Result<(), TrialError> {
    let spawner = Spawner::start().map_err(|error| TrialError {
        name: "-".to_owned(),
        cause: error.to_string(),
        environment: true,
    })?;
    for seat in seats {
        let started = Player::start(&spawner, seat).await;
        let player = started.map_err(|error| TrialError::of(seat, &error))?;
        let fitness = judge(seat, &player);
        player.quit(QUIT_GRACE).await;
        fitness.map_err(|cause| TrialError::new(seat, cause.to_owned()))?;
    }
    Ok(())
}

/// What to do about an engine that did not get through its handshake.
fn hint(error: &PlayerError) -> &'static str {
    match error {
        PlayerError::Exited(_)
        | PlayerError::Closed
        | PlayerError::Session(SessionError::Late { .. }) => {
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
        let seats = seats(&plan, Path::new("/bin/arbiter"));
        assert_eq!(seats[0].launch.program, Path::new("/bin/arbiter"));
        assert_eq!(seats[0].launch.args, ["engine"]);
        assert_eq!(seats[1].setup.options, [("Eval".to_owned(), "material".to_owned())]);
    }
}
