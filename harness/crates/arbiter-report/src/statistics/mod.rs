//! Statistics of the games of a run, collected over its counted pairs in the order of the schedule.

mod by_move_number;
mod calibration;
mod llr_history;
mod misjudged;
mod move_times;
mod openings;
mod phases;

pub use by_move_number::{ByMoveNumber, MOVES_PER_RANGE, SearchStatistics};
pub use llr_history::{HistoryPoint, LlrHistory};
pub use misjudged::{MisjudgedGame, MisjudgedGames};
pub use move_times::MoveTimes;
pub use openings::{Opening, Openings, outliers};
pub use phases::{Phase, Phases};

use shakmaty::{Color, Position};

use arbiter_game::record::GameRecord;
use arbiter_plan::run::job::PlayedPair;
use arbiter_stats::{Calibration, GameResult, Trinomial};

/// Statistics of the games of a run.
#[derive(Debug, Clone)]
pub struct GameStatistics {
    /// LLR and Elo over the pairs; of runs of two engines only.
    pub llr_history: LlrHistory,
    /// By engine.
    pub engines: Vec<EngineStatistics>,
    /// All games by their result for White.
    pub white: Trinomial,
    /// By opening.
    pub openings: Openings,
    /// Games whose result was far from an engine's best evaluation.
    pub misjudged: MisjudgedGames,
}

/// Statistics of the games of one engine.
#[derive(Debug, Clone, Default)]
pub struct EngineStatistics {
    /// Its games as White and as Black, by result.
    pub by_colour: [Trinomial; 2],
    /// Depth, speed and time by move number.
    pub by_move_number: ByMoveNumber,
    /// Depth, speed and time by game phase.
    pub phases: Phases,
    /// Its moves by the time they took.
    pub times: MoveTimes,
    /// Its evaluations against the results.
    pub calibration: Calibration,
}

impl GameStatistics {
    /// Statistics of no games of so many engines.
    pub fn new(engines: usize) -> GameStatistics {
        GameStatistics {
            llr_history: LlrHistory::default(),
            engines: vec![EngineStatistics::default(); engines],
            white: Trinomial::default(),
            openings: Openings::default(),
            misjudged: MisjudgedGames::default(),
        }
    }

    /// Adds the games of a pair.
    pub fn add(&mut self, played: &PlayedPair) {
        for (half, game) in played.games.iter().enumerate() {
            self.add_game(game);
            self.openings.add(played.pairing.opening, game);
            self.misjudged.add(played.pairing.pair, half, game);
        }
    }

    fn add_game(&mut self, game: &GameRecord) {
        self.white.record(result(game, Color::White));
        for color in Color::ALL {
            let own = &mut self.engines[*game.engines.get(color)];
            let result = result(game, color);
            own.by_colour[color.fold_wb(0, 1)].record(result);
            own.calibration.add(calibration::seen(game, color), result);
        }
        let mut position = Some(game.start());
        for (played, (mover, number)) in game.moves.iter().zip(movers(game)) {
            if let Some(thought) = &played.thought {
                let own = &mut self.engines[*game.engines.get(mover)];
                own.times.add(thought.elapsed);
                own.by_move_number.add(number, thought);
                position.iter().for_each(|position| own.phases.add(position, thought));
            }
            // There is no position after a move that the rules do not allow.
            position = position.and_then(|mut position| {
                position.play_unchecked(played.uci.to_move(&position).ok()?);
                Some(position)
            });
        }
    }
}

/// Mean score, 0 to 1; `None` without games.
pub(crate) fn mean_score(results: &Trinomial) -> Option<f64> {
    results.distribution().moments().map(|moments| moments.mean)
}

/// The result for one side.
fn result(game: &GameRecord, color: Color) -> GameResult {
    match game.outcome.result.winner() {
        None => GameResult::Draw,
        Some(winner) if winner == color => GameResult::Win,
        Some(_) => GameResult::Loss,
    }
}

/// Who makes each move of a game, and the number of the move.
fn movers(game: &GameRecord) -> impl Iterator<Item = (Color, u32)> {
    let first = game.first_to_move();
    let number = game.fen.split(' ').nth(5).and_then(|number| number.parse().ok()).unwrap_or(1);
    let offset = u32::from(first == Color::Black);
    (offset..).map(move |half| {
        (if half % 2 == 0 { Color::White } else { Color::Black }, number + half / 2)
    })
}
