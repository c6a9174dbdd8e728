//! Reimplementation of the search of RDChess, from a description by the author of RDChess:
//! NegaScout with a quiescence search, forward pruning near the leaves, and detailed move ordering.
//! `PROVENANCE.md` lists the parts that come from the description.

mod generators;
mod killers;
mod node;
mod order;
mod quiescence;
mod table;

use super::limiter::Limiter;
use super::thread_state::ThreadState;
use super::time_manager::{IterationStats, TimeManager};
use super::{PvTable, Report, Request, SearchResult};
use crate::chess::{Color, Move, Square};
use crate::eval::feature::{self, FeatureSet, features};
use crate::eval::score::{INFINITE, is_mate};
use crate::eval::{Choice, Evaluator, Score};
use crate::line::SearchStack;
use crate::tt::Bound;
use killers::Killers;
use node::NodeParams;
pub(crate) use table::Table;

features! {
    /// A feature of the search.
    Feature {
        Preorder = "preorder", "generators begin with forward moves, moves towards the enemy king and cheap captures";
        HashMove = "hash_move", "the hash move is tried first";
        OrderRecapture = "order_recapture", "captures of the piece that has just captured come early";
        Killers = "killers", "moves that caused a cutoff at the same ply come early";
        OrderCaptures = "order_captures", "captures by the gain of the exchange; losing captures come late";
        OrderLosing = "order_losing", "losing captures before the last of the quiet moves";
        OrderQuiet = "order_quiet", "quiet moves by the number of attackers of their squares";
        OrderEscapes = "order_escapes", "among quiet moves, escapes from strongly attacked squares to safe squares come first";
        OrderSafe = "order_safe", "among quiet moves, moves to safe squares come early";
        OrderPawns = "order_pawns", "among quiet moves, pawn moves come early";
        Negascout = "negascout", "null windows after the first move";
        Aspiration = "aspiration", "a narrow window at the root";
        CheckExtension = "check_extension", "one ply more in check";
        PawnExtension = "pawn_extension", "one ply more after a pawn move to the seventh rank";
        NullMove = "null_move", "null-move pruning";
        Futility = "futility", "no hopeless moves at depth 1";
        ExtendedFutility = "extended_futility", "no hopeless moves at depth 2";
        Razoring = "razoring", "hopeless nodes at depth 3 are searched to depth 2";
        Hash = "hash", "transposition table for scores and best moves";
        HashBounds = "hash_bounds", "bounds in the transposition table narrow the window";
        HashAgeing = "hash_ageing", "entries of the transposition table age from move to move";
        Repetition = "repetition", "repeated positions are draws";
        QuiescenceHash = "quiescence_hash", "the quiescence search reads the table";
        QuiescenceFutility = "quiescence_futility", "no hopeless captures in the quiescence search";
        QuiescenceLazy = "quiescence_lazy", "no full evaluation where material decides";
        QuiescenceContent = "quiescence_content", "the quiescence search ends with the first success";
        QuiescenceChecks = "quiescence_checks", "checks are answered in the quiescence search";
    }
}

/// Features that can be disabled.
pub(super) const FEATURES: &[feature::Feature] = Feature::ALL;

/// Piece values in centipawns.
const PIECE_VALUES: [Score; 6] = [100, 325, 325, 510, 900, 0];

/// Half-width of the aspiration window, in centipawns.
const ASPIRATION: Score = 50;

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
    let line = SearchStack::new(request.game, eval.evaluator());
    if line.context().is_path() {
        table.clear();
    }
    let ages = !disabled.contains(Feature::HashAgeing.into());
    table.begin(request.game, ages);
    let board = request.game.position().board();
    let search = Search {
        line,
        table,
        limiter: Limiter::new(request, thread),
        request,
        disabled,
        root_moves: request.root_moves(),
        root_kings: Color::ALL.map(|color| board.king(color)),
        root_depth: 0,
        selective_depth: 0,
        killers: Killers::new(),
        pv_table: PvTable::new(),
        result,
    };
    search.run(report)
}

/// State of a running search.
struct Search<'a> {
    line: SearchStack<Box<dyn Evaluator>>,
    table: &'a mut Table,
    limiter: Limiter<'a>,
    request: Request<'a>,
    disabled: FeatureSet,
    root_moves: Vec<Move>,
    /// Squares of the kings at the root, White's first.
    root_kings: [Square; 2],
    root_depth: i32,
    selective_depth: usize,
    killers: Killers,
    pv_table: PvTable,
    /// Best line so far, with its score.
    result: SearchResult,
}

impl Search<'_> {
    fn run(mut self, report: &mut dyn FnMut(&Report<'_>)) -> SearchResult {
        let mut time_manager = TimeManager::default();
        for depth in 1..=self.request.limits.max_depth() {
            self.root_depth = depth;
            self.selective_depth = 0;
            let score = self.aspirate(depth);
            if self.limiter.stopped {
                break;
            }
            self.result.score = score;
            self.result.depth = depth as u32;
            self.report(report);
            let percent = time_manager.soft_limit_percent(&self.result, IterationStats::default());
            if self.limiter.should_stop_deepening(score, self.root_moves.len(), percent) {
                break;
            }
        }
        self.result.nodes = self.limiter.nodes;
        self.result.pawn_table = self.line.pawn_table();
        self.result
    }

    fn is_enabled(&self, feature: Feature) -> bool {
        !self.disabled.contains(feature.into())
    }

    /// Performs one iteration, and returns the score in centipawns. A search that fails high or low
    /// is repeated with a window that is unbounded on that side.
    fn aspirate(&mut self, depth: i32) -> Score {
        let mut alpha = -INFINITE;
        let mut beta = INFINITE;
        let last = self.result.score;
        if depth > 1 && !is_mate(last) && self.is_enabled(Feature::Aspiration) {
            (alpha, beta) = (last - ASPIRATION, last + ASPIRATION);
        }
        loop {
            let params = NodeParams {
                alpha,
                beta,
                depth,
                extended: false,
                last: self.last(),
                can_null_move: false,
            };
            let score = self.node(params);
            if self.limiter.stopped || alpha < score && score < beta {
                return score;
            }
            if score <= alpha {
                alpha = -INFINITE;
            } else {
                beta = INFINITE;
            }
        }
    }

    /// Returns the last move of the game.
    fn last(&self) -> Option<Move> {
        self.request.game.moves().last().copied()
    }

    fn report(&self, report: &mut dyn FnMut(&Report<'_>)) {
        report(&Report {
            depth: self.root_depth as u32,
            selective_depth: self.selective_depth as u32,
            rank: 1,
            score: self.result.score,
            bound: Bound::Exact,
            nodes: self.limiter.nodes,
            hash_permille: self.table.fullness_permille(),
            line: &self.result.line,
        });
    }
}
