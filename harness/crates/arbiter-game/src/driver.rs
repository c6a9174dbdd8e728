//! Driver of one game: passes turns from the referee to the engines, and the engines' answers to
//! the referee.

#![expect(clippy::disallowed_methods, reason = "the driver stamps what the referee judges")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Chess, Color};

use crate::adjudicate::{Rules, Tables};
use crate::annotation::Keeping;
use crate::engine::EngineProcess;
use crate::live_game::LiveGame;
use crate::outcome::Outcome;
use crate::record::{GameRecord, KeptFields, LateMove};
use crate::referee::{Fault, Referee, Reply, ignores_limit};
use crate::relay::relayed;
use crate::transcript::{Recorder, Transcript};
use arbiter_protocol::{Conditions, Game, Info};

/// Names and values of options that are sent before a game, in addition to the options that are
/// sent when the engine starts.
pub type Settings = Arc<[(String, String)]>;

/// Counter of engine answers; clones share the count. If the count no longer changes, a watcher can
/// conclude that the game hangs.
pub type Progress = Arc<AtomicU64>;

/// Setup of a game.
#[derive(Debug, Clone)]
pub struct GameSetup {
    /// Index of each side's engine in the plan.
    pub engines: ByColor<usize>,
    /// FEN of the starting position, with halfmove clock and move number.
    pub fen: String,
    /// Starting position, parsed from `fen`.
    pub start: Chess,
    /// Rules and notation of castling.
    pub mode: CastlingMode,
    /// Moves of the opening book.
    pub book: Vec<UciMove>,
    /// Playing conditions of each side, such as its limits.
    pub conditions: ByColor<Conditions>,
    /// Options of each side for this game.
    pub settings: ByColor<Settings>,
    /// Adjudication rules.
    pub rules: Rules,
    /// Tablebases, if the rules need tablebases.
    pub tables: Option<Arc<dyn Tables>>,
    /// Data to keep in addition to moves and result.
    pub keep: Arc<KeptFields>,
    /// Counter of engine answers.
    pub progress: Progress,
}

/// Upper limit of a short time budget. During a move with a smaller budget, the engine's waits for
/// a processor are measured. These waits are shorter than 250 ms, so a move with a larger budget is
/// late for another reason.
const SHORT: Duration = Duration::from_millis(250);

/// Plays a game between engines that are ready for the game. Returns the record of the game, and
/// the engines. An engine fault ends the game and is never an error. If `is_measured`, waits for a
/// processor are measured during moves with a short time budget; if such a move loses on time, the
/// record contains the time that the engine waited.
pub async fn play(
    setup: GameSetup,
    engines: ByColor<EngineProcess>,
    live_game: Arc<LiveGame>,
    is_measured: bool,
) -> (GameRecord, ByColor<EngineProcess>) {
    let handoffs = engines.iter().map(|engine| engine.handoff.clone()).collect();
    let game = async move {
        let started = Instant::now();
        let mut referee = referee(&setup);
        let mut late_waited = None;
        live_game.update(referee.snapshot(setup.engines));
        let ByColor { mut white, mut black } = engines;
        let outcome = loop {
            if let Some(outcome) = referee.outcome() {
                break outcome.clone();
            }
            let turn = referee.turn();
            let (mover, waiter) = match turn.color {
                Color::White => (&mut white, &mut black),
                Color::Black => (&mut black, &mut white),
            };
            // An engine that ignores `go nodes` would search until its deadline in every game, so
            // the search is stopped when the node count shows that the limit is ignored.
            let limits = setup.conditions.get(turn.color).limits;
            let give_up = |_, info: &Info| ignores_limit(&limits, info);
            let is_short = is_measured && turn.budget.is_some_and(|budget| budget < SHORT);
            let delays = is_short.then(|| mover.process().delays());
            let reply = tokio::select! {
                // The mover is polled first, because its answer ends the turn; lines of the waiting
                // engine are not urgent.
                biased;
                reply = mover.watch(turn, give_up) => reply,
                never = waiter.listen() => match never {},
            };
            let elapsed = match &reply {
                Reply::Move { elapsed, .. } => Some(*elapsed),
                Reply::Claim(_) | Reply::Fault(_) => None,
            };
            referee.judge(reply);
            if referee.late().is_some() {
                let lost = |(earlier, search)| mover.process().delays().since(&earlier, search);
                late_waited = delays.zip(elapsed).map(lost);
            }
            if elapsed.is_some_and(|elapsed| live_game.is_due(elapsed)) {
                live_game.update(referee.snapshot(setup.engines));
            }
            // Relaxed ordering suffices, because a watcher only compares two counts.
            setup.progress.fetch_add(1, Ordering::Relaxed);
            let expected = mover.session().expected_reply();
            let forecast = expected.and_then(|reply| referee.forecast(reply));
            if let Some(forecast) = forecast.filter(|_| referee.outcome().is_none()) {
                // An error is ignored, because the error recurs on the engine's next turn and is
                // judged then.
                let _ = mover.ponder(forecast);
            }
        };
        let recorders = ByColor { white: Some(&*white.recorder), black: Some(&*black.recorder) };
        let ready = ByColor { white: white.ready_time, black: black.ready_time };
        let late = referee.late().map(|over| LateMove { over, waited: late_waited });
        let record =
            GameRecord { ready, late, ..record(&setup, referee, outcome, started, recorders) };
        (record, ByColor { white, black })
    };
    relayed(handoffs, game).await
}

/// Returns the description of the game for the engine that plays `color`.
pub fn game(setup: &GameSetup, color: Color) -> Game<'_> {
    let limits = setup.conditions.get(color).limits;
    Game { start: &setup.start, mode: setup.mode, limits, settings: setup.settings.get(color) }
}

/// Returns the record of a game that the side `absent` lost because the engine of this side could
/// not start; `recorder` contains the lines of this engine.
pub fn forfeited(
    setup: &GameSetup,
    absent: Color,
    fault: Fault,
    recorder: Option<&Recorder>,
) -> GameRecord {
    let mut referee = referee(setup);
    let outcome = referee.forfeit(absent, fault).clone();
    let recorders = ByColor::new_with(|color| recorder.filter(|_| color == absent));
    record(setup, referee, outcome, Instant::now(), recorders)
}

/// Returns the referee of a game with this setup, after the book moves.
pub fn referee(setup: &GameSetup) -> Referee {
    let GameSetup { start, mode, book, conditions, rules, tables, keep, .. } = setup;
    let mut referee = Referee::new(start.clone(), *mode, book, *conditions, *rules, tables.clone());
    referee.keep = keep.clone();
    referee
}

fn record(
    setup: &GameSetup,
    referee: Referee,
    outcome: Outcome,
    started: Instant,
    recorders: ByColor<Option<&Recorder>>,
) -> GameRecord {
    let is_kept = match setup.keep.transcripts {
        Keeping::All => true,
        Keeping::Abnormal => outcome.termination.is_fault(),
        Keeping::None => false,
    };
    GameRecord {
        engines: setup.engines,
        fen: setup.fen.clone(),
        chess960: setup.mode == CastlingMode::Chess960,
        moves: referee.into_moves(),
        outcome,
        duration: started.elapsed(),
        ready: ByColor::default(),
        movetime: setup.conditions.as_ref().map(|conditions| conditions.limits.movetime),
        late: None,
        waited: ByColor::default(),
        begun_ms: None,
        transcript: is_kept.then(|| Transcript::of(recorders, started)),
    }
}
