//! What the games of a run tell beyond their results: a fold over its counted pairs, in the order
//! of the schedule.

mod calibration;
mod course;
mod openings;
mod phases;
mod stages;
mod surprises;
mod times;

pub use course::{Course, Mark};
pub use openings::{Opening, Openings, outliers};
pub use phases::{Phase, Phases};
pub use stages::{STAGE_MOVES, Stage, Stages};
pub use surprises::{Surprise, Surprises};
pub use times::MoveTimes;

use shakmaty::Color;

use arbiter_game::record::GameRecord;
use arbiter_plan::run::job::PlayedPair;
use arbiter_stats::{Calibration, GameResult, Trinomial};

/// What the games tell.
#[derive(Debug, Clone)]
pub struct Digest {
    /// How the evidence grew; of runs of two engines only.
    pub course: Course,
    /// By engine.
    pub engines: Vec<EngineDigest>,
    /// All games by their result for White.
    pub white: Trinomial,
    /// By opening.
    pub openings: Openings,
    /// The games that did not end as an engine thought.
    pub surprises: Surprises,
}

/// What the games tell of one engine.
#[derive(Debug, Clone, Default)]
pub struct EngineDigest {
    /// Its games as White and as Black, by result.
    pub by_colour: [Trinomial; 2],
    /// How it thought by the number of the move.
    pub stages: Stages,
    /// How it thought by what was left on the board.
    pub phases: Phases,
    /// How long it took for its moves.
    pub times: MoveTimes,
    /// What became of its evaluations.
    pub calibration: Calibration,
}

impl Digest {
    /// Nothing yet, of so many engines.
    pub fn new(engines: usize) -> Digest {
        Digest {
            course: Course::default(),
            engines: vec![EngineDigest::default(); engines],
            white: Trinomial::default(),
            openings: Openings::default(),
            surprises: Surprises::default(),
        }
    }

    /// Adds the games of a pair.
    pub fn add(&mut self, played: &PlayedPair) {
        for (half, game) in played.games.iter().enumerate() {
            self.add_game(game);
            self.openings.add(played.pairing.opening, game);
            self.surprises.add(played.pairing.pair, half, game);
        }
    }

    fn add_game(&mut self, game: &GameRecord) {
        self.white.record(result(game, Color::White));
        for color in Color::ALL {
            let own = &mut self.engines[*game.engines.get(color)];
            let result = result(game, color);
            own.by_colour[color.fold_wb(0, 1)].record(result);
            own.stages.add(game, color);
            own.calibration.add(calibration::seen(game, color), result);
        }
        for (played, (mover, _)) in game.moves.iter().zip(movers(game)) {
            if let Some(thought) = &played.thought {
                self.engines[*game.engines.get(mover)].times.add(thought.elapsed);
            }
        }
        self.add_phases(game);
    }

    fn add_phases(&mut self, game: &GameRecord) {
        let mut sides = [Phases::default(), Phases::default()];
        phases::add(game, &mut sides);
        for color in Color::ALL {
            let own = &mut self.engines[*game.engines.get(color)];
            own.phases.merge(&sides[color.fold_wb(0, 1)]);
        }
    }
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
