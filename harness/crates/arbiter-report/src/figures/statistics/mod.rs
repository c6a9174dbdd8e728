//! Statistics of the games in a run, collected from the run's counted pairs in schedule order.

mod llr_history;
mod misjudged;
mod search;

pub use llr_history::{HistoryPoint, LlrHistory};
pub(crate) use misjudged::{MIN_ADVANTAGE, MisjudgedGame};

pub(crate) use search::{BUCKETS, ENDS_MS, MOVES_PER_RANGE, PHASES, RANGES, SearchStatistics};

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use shakmaty::{ByColor, Chess, Color, Position};

use arbiter_game::outcome::Termination;
use arbiter_game::record::GameRecord;
use arbiter_protocol::Score;
use arbiter_run::{Effect, PlayedPair};
use arbiter_stats::{Calibration, EvaluationBuckets, GameResult, Trinomial};

use crate::figures::openings::{OpeningName, OpeningNames, book_plies};

/// Maximum number of stored games that ended by a fault.
const MAX_FAULTY: usize = 6;

/// Statistics of the games in a run.
#[derive(Debug, Clone, Default)]
pub struct GameStatistics {
    /// LLR and Elo over the pairs, for runs of two engines.
    pub(crate) llr_history: LlrHistory,
    /// Statistics by engine.
    pub engines: Vec<EngineStatistics>,
    /// Total duration of all games.
    pub duration: Duration,
    /// Numbers of games by White's result.
    pub white: Trinomial,
    /// Played openings by number, from 0. Openings with the same FEN and the same board after the
    /// book moves count as one opening. The number of this opening is the number of the opening
    /// that was played first.
    pub openings: BTreeMap<u64, PlayedOpening>,
    /// Games in which an engine scored far less than its best evaluation predicted, largest errors
    /// first.
    pub misjudged: Vec<MisjudgedGame>,
    /// First games that ended by a fault: number of the pair, index of the game in the pair (from
    /// 0), and record.
    pub faulty: Vec<(u64, usize, GameRecord)>,
    names: OpeningNames,
    /// For each opening, by number: the number of the equal opening that was played first.
    same_as: BTreeMap<u64, u64>,
    /// Number of the opening that was played first, for each combination of FEN and board after the
    /// book moves.
    first_of: HashMap<[String; 2], u64>,
}

/// Opening as displayed, with its results.
#[derive(Debug, Clone, Default)]
pub struct PlayedOpening {
    /// Label of the opening in a chart.
    pub label: String,
    /// Full name of the opening.
    pub name: String,
    /// Piece placement (first field of the FEN) after the book moves.
    pub placement: String,
    /// White's results.
    pub white: Trinomial,
    /// Results of the first engine.
    pub first: Trinomial,
}

/// Statistics of the games of one engine.
#[derive(Debug, Clone, Default)]
pub struct EngineStatistics {
    /// Results as White and as Black.
    pub by_colour: [Trinomial; 2],
    /// Numbers of won games by ending.
    pub wins: BTreeMap<Termination, u64>,
    /// Search statistics by range of move numbers.
    pub by_move_number: [SearchStatistics; RANGES],
    /// Search statistics by game phase.
    pub phases: [SearchStatistics; PHASES.len()],
    /// Numbers of moves by bucket of thinking time.
    pub times: [u64; BUCKETS],
    /// Comparison of evaluations with results.
    pub calibration: Calibration,
}

impl GameStatistics {
    /// Returns empty statistics for `engines` engines.
    pub fn new(engines: usize) -> GameStatistics {
        GameStatistics { engines: vec![EngineStatistics::default(); engines], ..Default::default() }
    }

    /// Adds a counted pair to the LLR history, if the run has two engines.
    pub fn observe(&mut self, effect: &Effect) {
        if let (2, Effect::Count { tally, sprt_status }) = (self.engines.len(), effect) {
            self.llr_history.count(tally, *sprt_status);
        }
    }

    /// Adds the games of a pair.
    pub fn add(&mut self, played: &PlayedPair) {
        for (game_index, game) in played.games.iter().enumerate() {
            self.add_game(game);
            let opening = self.opening(played.pairing.opening, game);
            opening.white.record(result(game, Color::White));
            if let Some(color) = Color::ALL.into_iter().find(|color| *game.engines.get(*color) == 0)
            {
                opening.first.record(result(game, color));
            }
            if game.outcome.termination.is_fault() && self.faulty.len() < MAX_FAULTY {
                self.faulty.push((played.pairing.pair, game_index, game.clone()));
            }
            misjudged::add(&mut self.misjudged, played.pairing.pair, game_index, game);
        }
    }

    /// Returns the entry of the opening `number`, from which `game` was played. Creates a missing
    /// entry.
    fn opening(&mut self, number: u64, game: &GameRecord) -> &mut PlayedOpening {
        let first = self.same_as.get(&number).copied().unwrap_or_else(|| {
            let place = [game.fen.clone(), placement_after_book(game)];
            let first = *self.first_of.entry(place).or_insert(number);
            self.same_as.insert(number, first);
            first
        });
        self.openings.entry(first).or_insert_with(|| {
            let named = self.names.name_in_book(game);
            let label = match named {
                // Several openings in a book may have the same name, so the label contains the
                // number.
                Some(OpeningName { eco, name }) => format!("{} {eco} {name}", first + 1),
                None => format!("opening {}", first + 1),
            };
            let suffix = if named.is_none() { format!(": {}", game.fen) } else { String::new() };
            let name = label.clone() + &suffix;
            let placement = placement_after_book(game);
            PlayedOpening { label, name, placement, ..PlayedOpening::default() }
        })
    }

    fn add_game(&mut self, game: &GameRecord) {
        self.duration += game.duration;
        self.white.record(result(game, Color::White));
        let mut evaluations = ByColor::<EvaluationBuckets>::default();
        let mut position = game.start();
        let mut phase = search::phase(&position);
        for (played, (mover, number)) in game.moves.iter().zip(movers(game)) {
            if let Some(search) = &played.search {
                let engine = &mut self.engines[*game.engines.get(mover)];
                engine.times[search::time_bucket(search.elapsed)] += 1;
                engine.by_move_number[search::move_range(number)].add(search);
                engine.phases[phase].add(search);
                search.score.iter().for_each(|s| evaluations.get_mut(mover).add(centipawns(*s)));
            }
            let Some(m) = search::stored_move(&position, played.uci) else { break };
            position.play_unchecked(m);
            if m.is_capture() || m.is_promotion() {
                phase = search::phase(&position);
            }
        }
        for color in Color::ALL {
            let engine = &mut self.engines[*game.engines.get(color)];
            let result = result(game, color);
            engine.by_colour[color.fold_wb(0, 1)].record(result);
            if result == GameResult::Win {
                *engine.wins.entry(game.outcome.termination).or_default() += 1;
            }
            engine.calibration.add(*evaluations.get(color), result);
        }
    }
}

/// Returns the piece placement (first field of the FEN) after the book moves of a game.
fn placement_after_book(game: &GameRecord) -> String {
    position_after(game, book_plies(game)).board().to_string()
}

/// Returns the position after the first `plies` plies of a game.
pub(crate) fn position_after(game: &GameRecord, plies: usize) -> Chess {
    let mut position = game.start();
    for played in game.moves.iter().take(plies) {
        // The referee accepted all moves of the game, so only a damaged record contains an illegal
        // move. Such a record must not cause a panic.
        let Ok(m) = played.uci.to_move(&position) else { break };
        position.play_unchecked(m);
    }
    position
}

/// Returns the mean score per game, 0 to 1; `None` if there are no games.
pub(crate) fn mean_score(results: &Trinomial) -> Option<f64> {
    results.distribution().moments().map(|moments| moments.mean)
}

/// Returns the result of a game for one side.
fn result(game: &GameRecord, color: Color) -> GameResult {
    GameResult::of(game.outcome.result.winner().map(|winner| winner == color))
}

/// Converts a score to centipawns: a mate by the engine becomes infinity, and a mate against the
/// engine −infinity.
fn centipawns(score: Score) -> f64 {
    match score {
        Score::Centipawns(centipawns) => f64::from(centipawns),
        Score::Mate(moves) if moves > 0 => f64::INFINITY,
        Score::Mate(_) => f64::NEG_INFINITY,
    }
}

/// Returns the side to move and the move number for each ply of a game. The iterator is infinite.
pub(crate) fn movers(game: &GameRecord) -> impl Iterator<Item = (Color, u32)> {
    let first = game.first_to_move();
    let number = game.fen.split(' ').nth(5).and_then(|number| number.parse().ok()).unwrap_or(1);
    let offset = u32::from(first == Color::Black);
    (offset..)
        .map(move |ply| (if ply % 2 == 0 { Color::White } else { Color::Black }, number + ply / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mate_score_is_infinite() {
        assert_eq!(centipawns(Score::Centipawns(-31)), -31.0);
        assert_eq!([3, 0, -2].map(|moves| centipawns(Score::Mate(moves))), {
            [f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]
        });
    }
}
