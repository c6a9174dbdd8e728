//! Reimplementation of the search of micro-Max 3.2. The reimplementation visits the same nodes as
//! the original and finds the same scores and moves; see `PROVENANCE.md`.
//!
//! Moves are pseudo-legal, and the capture of a king ends the game. Each node is searched by
//! iterative deepening, and an iteration starts with the best move of the previous iteration.
//! Scores are updated incrementally.

mod board;
mod node;
mod table;

use super::limiter::Limiter;
use super::thread_state::ThreadState;
use super::time_manager::{IterationStats, TimeManager};
use super::{Report, Request, SearchResult};
use crate::chess::{Move, Position, Square};
use crate::eval::feature::{self, FeatureSet, features};
use crate::eval::micromax::{Weights, game_score};
use crate::eval::score::{mate_in, mated_in};
use crate::eval::{Choice, Score};
use crate::tt::Bound;
use board::{
    Board, CandidateMove, NO_SQUARE, Square88, crossed, is_off_board, to_square, to_square88,
};
use node::Node;
use table::Best;
pub use table::Table;

features! {
    /// A feature of the search.
    Feature {
        Hash = "hash", "transposition table for scores and best moves";
        BestFirst = "best_first", "the best move of the previous iteration is tried first";
        Recapture = "recapture_extension", "recaptures cost no depth and are tried at the horizon";
        DelayedGain = "delayed_gain", "a later gain is worth one point less than an immediate gain";
    }
}

/// Features that can be disabled.
pub(super) const FEATURES: &[feature::Feature] = Feature::ALL;

/// Score of capturing the king, in 1/99 pawn.
const INFINITY: Score = 8_000;

/// Threshold of mate scores: a score with a greater absolute value is a mate score. The threshold
/// and [`MATE`] have the same values as in micro-Max.
const MATE_THRESHOLD: Score = INFINITY / 4;

/// Mate score. Each move up to the mate subtracts 1.
const MATE: Score = INFINITY / 2;

/// Depth stored with scores that are valid at any depth; greater than the depth of every iteration.
const DEPTH_INDEPENDENT: i32 = 99;

/// Depth of the last iteration at the root, in plies.
const DEPTH_MAX: i32 = 98;

/// Maximum distance to mate, in moves, at which a mate score is distinguished from a material
/// score.
const MATE_MOVES_MAX: Score = 100;

/// State of a running search.
struct Search<'a> {
    board: Board,
    table: &'a mut Table,
    limiter: Limiter<'a>,
    request: Request<'a>,
    disabled: FeatureSet,
    weights: Weights,
    /// Distance from the centre by 0x88 square.
    eccentricity: [Score; 128],
    /// The root moves.
    root_moves: Vec<Move>,
    /// Hash key of the node after the most recently searched root move.
    latest_child: u64,
    /// Score of the game minus the root score; 0 unless the score of the game looks like a mate
    /// score.
    offset: Score,
    result: SearchResult,
}

/// Searches the current position of a game.
pub(super) fn search(
    eval: Choice,
    disabled: FeatureSet,
    request: Request<'_>,
    table: &mut Table,
    thread: ThreadState<'_>,
    report: &mut dyn FnMut(&Report<'_>),
) -> SearchResult {
    let result = SearchResult::without_search(request);
    if result.line.is_empty() {
        return result;
    }
    // Scores depend on the path to a position, so entries from searches of other roots are invalid.
    table.clear();
    let position = request.game.position();
    let weights = Weights::new(eval.disabled, eval.experiments);
    let mut eccentricity = [0; 128];
    for at in Square::all() {
        eccentricity[to_square88(at) as usize] = weights.eccentricity(at);
    }
    let score = game_score(request.game, eval.disabled, eval.experiments);
    let root_score = bounded_root_score(score);
    let search = Search {
        board: Board::new(position),
        table,
        limiter: Limiter::new(request, thread),
        request,
        disabled,
        weights,
        eccentricity,
        root_moves: request.root_moves(),
        latest_child: 0,
        offset: score - root_score,
        result,
    };
    search.run(root_score, report)
}

/// Returns the root score for a score of the game. micro-Max cannot handle material scores that
/// look like mate scores, so such a score is replaced by a smaller score.
fn bounded_root_score(score: Score) -> Score {
    if score.abs() > MATE_THRESHOLD { score.signum() * MATE_THRESHOLD / 2 } else { score }
}

impl Search<'_> {
    fn run(mut self, score: Score, report: &mut dyn FnMut(&Report<'_>)) -> SearchResult {
        let game = self.request.game;
        let crossed = game.moves().last().and_then(|&mv| crossed(mv));
        let root = Node {
            side: game.position().turn(),
            alpha: -INFINITY,
            beta: INFINITY,
            score,
            key: 0,
            crossed: crossed.unwrap_or(NO_SQUARE),
            target: NO_SQUARE,
            depth: 0,
            is_outside: crossed.is_none(),
            is_root: true,
        };
        let (slot, _) = self.table.find(root.hash());
        let mut time_manager = TimeManager::default();
        let mut depth = 0;
        let mut best = Best::default();
        self.limiter.nodes = 1;
        while depth < DEPTH_MAX {
            depth += 1;
            let score = self.iteration(&root, slot, &mut depth, &mut best);
            if self.limiter.stopped {
                break;
            }
            // As in micro-Max, the reported depth is one less than the depth of the iteration, and
            // 98 after a mate score.
            let ply = depth as u32 - 1;
            self.result.score = self.engine_score(score);
            self.result.depth = ply;
            self.report(ply, report);
            let percent = time_manager.soft_limit_percent(&self.result, IterationStats::default());
            let choices = self.root_moves.len();
            let deep_enough = self.request.limits.depth.is_some_and(|limit| ply >= limit.max(1));
            let enough = self.limiter.should_stop_deepening(self.result.score, choices, percent);
            // The first iteration searches no move, so the search continues for one more iteration.
            if deep_enough || ply > 0 && enough {
                break;
            }
        }
        self.result.nodes = self.limiter.nodes;
        self.result
    }

    fn is_enabled(&self, feature: Feature) -> bool {
        !self.disabled.contains(feature.into())
    }

    /// Returns whether `go searchmoves` excludes a root move.
    fn is_excluded(&self, candidate: &CandidateMove) -> bool {
        let restricted = !self.request.limits.search_moves.is_empty();
        restricted && self.root_move(candidate.from, candidate.to).is_none()
    }

    /// Returns whether a root move is illegal castling. Unlike other illegal moves, illegal
    /// castling might not lose the king in the search.
    fn is_illegal_castle(&self, candidate: &CandidateMove) -> bool {
        candidate.is_castle() && self.root_move(candidate.from, candidate.to).is_none()
    }

    /// Returns the legal root move with this origin and destination.
    fn root_move(&self, from: Square88, to: Square88) -> Option<Move> {
        find(&self.root_moves, from, to)
    }

    /// If the node is the root, sets the principal variation to the new best move and the reply in
    /// the table.
    fn update_pv(&mut self, node: &Node, candidate: &CandidateMove, score: Score) {
        if !node.is_root {
            return;
        }
        let Some(mv) = self.root_move(candidate.from, candidate.to) else { return };
        let after = self.request.game.position().play(mv);
        self.result.line = vec![mv];
        self.result.score = self.engine_score(score);
        let (_, entry) = self.table.find(self.latest_child);
        let reply = entry.and_then(|entry| reply(&after, entry.best));
        self.result.line.extend(reply);
    }

    /// Converts a search score to the score that the engine reports. In the result, mate scores
    /// count plies instead of moves.
    fn engine_score(&self, score: Score) -> Score {
        if score.abs() >= MATE - MATE_MOVES_MAX {
            engine_mate_score(score)
        } else {
            score + self.offset
        }
    }

    fn report(&self, ply: u32, report: &mut dyn FnMut(&Report<'_>)) {
        report(&Report {
            depth: ply,
            selective_depth: ply,
            rank: 1,
            score: self.result.score,
            bound: Bound::Exact,
            nodes: self.limiter.nodes,
            hash_permille: self.table.fullness_permille(),
            // The first iteration searches no move, so this iteration has no principal variation.
            line: if ply == 0 { &[] } else { &self.result.line },
        });
    }
}

fn engine_mate_score(score: Score) -> Score {
    let moves = (MATE - score.abs()).max(0) as usize;
    if score > 0 { mate_in(2 * moves.max(1) - 1) } else { mated_in(2 * moves) }
}

/// Converts a score that the engine reports to the score that micro-Max prints.
pub fn original_score(score: Score) -> Score {
    match crate::eval::score::mate_distance_moves(score) {
        Some(moves) if moves > 0 => MATE - moves,
        Some(moves) => -MATE - moves,
        None => score,
    }
}

/// Returns the best move of a table entry, if the move is legal in the position.
fn reply(position: &Position, best: Best) -> Option<Move> {
    find(&position.legal_moves(), best.from, best.to)
}

/// Returns the move with this origin and destination; promotions to pieces other than queens are
/// ignored.
fn find(moves: &[Move], from: Square88, to: Square88) -> Option<Move> {
    if is_off_board(from) || is_off_board(to) {
        return None;
    }
    let (from, to) = (to_square(from), to_square(to));
    moves.iter().copied().find(|mv| {
        let arrives = if mv.is_castle() {
            crate::chess::position::castled_squares(mv.from(), mv.to()).0
        } else {
            mv.to()
        };
        let queens = mv.promotion().is_none_or(|kind| kind == crate::chess::Kind::Queen);
        mv.from() == from && arrives == to && queens
    })
}
