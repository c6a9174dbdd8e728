//! The search: iterative deepening with principal variation search.
//!
//! No code in this module reads a clock or prints. A search with a node limit and one thread is
//! deterministic: the result depends only on the configuration, the game, the memory and the
//! limits.

mod alphabeta;
mod correction;
mod extend;
mod features;
mod history;
mod limiter;
mod limits;
mod mate_line;
mod memory;
pub mod micromax;
mod node;
mod params;
mod personality;
mod picker;
mod piece_to;
mod probcut;
mod prune;
mod quiescence;
mod rdchess;
mod reduce;
mod root;
mod see;
mod slots;
mod smp;
mod thread_state;
mod threats;
mod time_manager;
mod tt_score;
mod tunable;
mod update;

use crate::chess::{Game, Move};
use crate::eval::score::{DRAW, INFINITE, MAX_PLY, is_mate, mated_in};
use crate::eval::{Evaluator, Score, TableUse};
use crate::line::SearchStack;
use crate::time::Timer;
use crate::tt::{Bound, TranspositionTable};
#[cfg(any(test, feature = "tuning"))]
pub use features::{SEARCH_FEATURES, SearchFeature, disable_features};
use history::{Histories, QuietContext};
use limiter::Limiter;
pub use limits::{Limits, Signals};
pub use memory::Memory;
use memory::SearchState;
use node::Root;
#[cfg(any(test, feature = "tuning"))]
pub use params::PARAMS;
pub use personality::{Configuration, Personality};
use picker::MoveBuffers;
use piece_to::{PieceTo, piece_to};
use root::RootMoves;
pub use smp::STACK_BYTES;
use thread_state::{SharedState, ThreadState};
use time_manager::{IterationStats, TimeManager};

/// Position to search, with the limits of the search.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Game up to the root.
    pub game: &'a Game,
    /// Limits other than time.
    pub limits: &'a Limits,
    /// Time limits.
    pub timer: &'a Timer,
    /// Signals for `stop` and `ponderhit`.
    pub signals: &'a Signals,
}

impl Request<'_> {
    /// Returns the legal moves at the root, restricted by `go searchmoves`.
    fn root_moves(&self) -> Vec<Move> {
        let allowed = &self.limits.search_moves;
        let legal = self.game.position().legal_moves();
        legal.iter().copied().filter(|mv| allowed.is_empty() || allowed.contains(mv)).collect()
    }
}

/// An interim result, printed as an `info` line.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Nominal depth of the iteration, in plies.
    pub depth: u32,
    /// Maximum distance of a visited node from the root, in plies.
    pub selective_depth: u32,
    /// Rank of the principal variation (MultiPV); 1 is the best.
    pub rank: usize,
    /// Score in centipawns, from the point of view of the side to move at the root.
    pub score: Score,
    /// Type of the score: exact, or an upper or lower bound.
    pub bound: Bound,
    /// Nodes visited so far, by all threads.
    pub nodes: u64,
    /// Share of the transposition table in use, in permille.
    pub hash_permille: usize,
    /// The principal variation.
    pub line: &'a [Move],
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// Principal variation; the first move is the move to play. Empty if there is no allowed move.
    pub line: Vec<Move>,
    /// Score in centipawns, from the point of view of the side to move at the root.
    pub score: Score,
    /// Depth of the last finished iteration, in plies.
    pub depth: u32,
    /// Nodes visited, by all threads.
    pub nodes: u64,
    /// Number of threads.
    pub threads: usize,
    /// Lookups and hits of the evaluation's pawn table in the thread that found this result; `None`
    /// if lookups are not counted.
    pub pawn_table: Option<TableUse>,
}

impl SearchResult {
    /// Returns the result before any search: the first allowed move, or the score of mate or
    /// stalemate if there is no move.
    fn without_search(request: Request<'_>) -> SearchResult {
        let line: Vec<Move> = request.root_moves().first().copied().into_iter().collect();
        let mated = line.is_empty() && request.game.position().in_check();
        let score = if mated { mated_in(0) } else { DRAW };
        SearchResult { line, score, depth: 0, nodes: 0, threads: 1, pawn_table: None }
    }
}

/// Searches with the personality and evaluation of `configuration`, and passes interim results to
/// `report`.
///
/// If there is not enough memory for the personality's table, the result contains only the first
/// allowed move.
pub fn search(
    configuration: impl Into<Configuration>,
    request: Request<'_>,
    memory: &mut Memory,
    report: &mut dyn FnMut(&Report<'_>),
) -> SearchResult {
    let Configuration { personality, eval, disabled } = configuration.into();
    if memory.ensure_personality(personality).is_err() {
        return SearchResult::without_search(request);
    }
    let shared = SharedState::new(1);
    let thread = shared.thread(0);
    match &mut memory.state {
        SearchState::Palimpsest { table, histories } => {
            smp::search(eval, request, table, histories, report)
        }
        SearchState::Micromax(table) => {
            micromax::search(eval, disabled, request, table, thread, report)
        }
        SearchState::Rdchess(table) => {
            rdchess::search(eval, disabled, request, table, thread, report)
        }
    }
}

/// Entry of one ply in the search stack.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// Corrected static evaluation in centipawns; `None` in check.
    static_eval: Option<Score>,
    /// The move made at this ply; `None` for a null move.
    current_move: Option<Move>,
    /// Index of the current move in the histories.
    piece_to: Option<PieceTo>,
    /// Quiet context of the node, set before the moves are searched.
    quiet_context: QuietContext,
    /// Killer moves: quiet moves that caused cutoffs at this ply.
    killers: [Option<Move>; 2],
    /// Reduction of the current move, in plies.
    reduction: i32,
    /// Number of cutoffs at this ply since the search of the node two plies above began.
    cutoffs: u32,
    /// Move that a singular search excludes.
    excluded: Option<Move>,
    /// `true` during the verification search of a null move cutoff at this node.
    is_verifying: bool,
}

/// Number of unused search stack entries before the root, so that access to entries up to four
/// plies back needs no bounds check.
const FRAMES_BEFORE: usize = 4;

/// Triangular PV table: the principal variation from each ply.
struct PvTable(Vec<Vec<Move>>);

impl PvTable {
    fn new() -> PvTable {
        PvTable((0..=MAX_PLY).map(|_| Vec::with_capacity(MAX_PLY)).collect())
    }

    fn clear(&mut self, ply: usize) {
        self.0[ply].clear();
    }

    /// Returns the principal variation from the root.
    fn root_pv(&self) -> &Vec<Move> {
        &self.0[0]
    }

    /// Sets the variation from `ply` to `mv`, followed by the variation from `ply + 1`.
    fn update(&mut self, ply: usize, mv: Move) {
        let (upper, lower) = self.0.split_at_mut(ply + 1);
        let line = &mut upper[ply];
        line.clear();
        line.push(mv);
        line.extend_from_slice(&lower[0]);
    }
}

/// State of the running search of one thread.
struct Searcher<'a, E> {
    line: SearchStack<E>,
    table: &'a TranspositionTable,
    histories: &'a mut Histories,
    request: Request<'a>,
    thread: ThreadState<'a>,
    root_moves: RootMoves,
    limiter: Limiter<'a>,
    selective_depth: usize,
    root_depth: i32,
    /// Minimum ply at which null moves may be tried; greater than 0 only during a verification
    /// search.
    null_move_min_ply: usize,
    frames: Vec<Frame>,
    pv_table: PvTable,
    /// Move lists for reuse by other nodes.
    #[expect(clippy::vec_box, reason = "the lists are handed on, and boxes are cheap to move")]
    buffers: Vec<Box<MoveBuffers>>,
    /// Best line and score so far for the current MultiPV index.
    best: SearchResult,
    /// Results by MultiPV index, the best first. Results that the current iteration has not yet
    /// updated are from the previous iteration.
    results: Vec<SearchResult>,
}

impl<'a, E: Evaluator> Searcher<'a, E> {
    fn new(
        request: Request<'a>,
        table: &'a TranspositionTable,
        histories: &'a mut Histories,
        thread: ThreadState<'a>,
        evaluator: E,
    ) -> Self {
        let root_moves = RootMoves::new(request);
        let best = SearchResult::without_search(request);
        let results = vec![best.clone(); request.limits.lines().min(root_moves.len()).max(1)];
        Searcher {
            line: SearchStack::new(request.game, evaluator),
            table,
            histories,
            request,
            thread,
            root_moves,
            limiter: Limiter::new(request, thread),
            selective_depth: 0,
            root_depth: 0,
            null_move_min_ply: 0,
            frames: vec![Frame::default(); FRAMES_BEFORE + MAX_PLY + 1],
            pv_table: PvTable::new(),
            buffers: Vec::new(),
            best,
            results,
        }
    }

    fn run(mut self, report: &mut dyn FnMut(&Report<'_>)) -> SearchResult {
        let mut time_manager = TimeManager::default();
        let deepest = if self.root_moves.len() == 0 { 0 } else { self.request.limits.max_depth() };
        for depth in 1..=deepest {
            self.root_depth = depth;
            let Some(stats) = self.iterate(depth, report) else { break };
            let percent = if features::pace() {
                time_manager.soft_limit_percent(&self.results[0], stats)
            } else {
                100
            };
            if self.limiter.should_stop_deepening(
                self.results[0].score,
                self.root_moves.len(),
                percent,
            ) {
                break;
            }
        }
        self.limiter.finish();
        let pawn_table = self.line.pawn_table();
        SearchResult { pawn_table, ..self.results.swap_remove(0) }
    }

    /// Performs one iteration: searches the requested number of lines, and excludes from each line
    /// the first moves of the earlier lines. Returns `None` if the search was stopped.
    fn iterate(
        &mut self,
        depth: i32,
        report: &mut dyn FnMut(&Report<'_>),
    ) -> Option<IterationStats> {
        let mut stats = IterationStats::default();
        self.root_moves.include_all();
        for index in 0..self.results.len() {
            self.selective_depth = 0;
            self.best.clone_from(&self.results[index]);
            let best_move = self.best.line.first().copied();
            self.root_moves.hint = best_move.filter(|_| !self.root_moves.is_complete());
            let (score, fail_lows) = self.aspirate(depth, index + 1, report);
            mate_line::complete(&mut self.best, self.request.game, self.table);
            if self.limiter.stopped {
                // The first move of an iteration is the best move of the previous iteration. A move
                // that later raised alpha in the unfinished iteration is therefore better, so the
                // line of that move is used.
                if index == 0 && self.results[0].line != self.best.line {
                    self.results[0].clone_from(&self.best);
                    self.report(report, 1, &self.best, Bound::Lower);
                } else if index > 0 {
                    // Lines are reported at the end of an iteration, so the first line, although
                    // finished, has not yet been reported.
                    self.report(report, 1, &self.results[0], Bound::Exact);
                }
                return None;
            }
            self.best.score = score;
            self.best.depth = depth as u32;
            self.results[index].clone_from(&self.best);
            if index == 0 {
                let best_node_percent =
                    self.best.line.first().and_then(|&mv| self.root_moves.node_percent(mv));
                stats = IterationStats { best_node_percent, fail_lows };
            }
            self.best.line.first().into_iter().for_each(|&mv| self.root_moves.exclude(mv));
            // A later MultiPV line may have a higher score than an earlier line, because each line
            // is a separate search.
            self.results[..=index].sort_by_key(|result| -result.score);
        }
        for (result, rank) in self.results.iter().zip(1..) {
            self.report(report, rank, result, Bound::Exact);
        }
        Some(stats)
    }

    /// Searches one line with aspiration windows, and returns the line's score and the number of
    /// fail-lows.
    fn aspirate(
        &mut self,
        depth: i32,
        rank: usize,
        report: &mut dyn FnMut(&Report<'_>),
    ) -> (Score, u32) {
        // Different window widths make the threads search different trees.
        let mut width = params::aspiration_start() + (self.thread.index() % 8) as Score;
        let mut alpha = -INFINITE;
        let mut beta = INFINITE;
        if features::aspiration()
            && depth >= params::aspiration_depth()
            && !is_mate(self.best.score)
        {
            alpha = (self.best.score - width).max(-INFINITE);
            beta = (self.best.score + width).min(INFINITE);
        }
        let mut reduced = 0;
        let mut fail_lows = 0;
        loop {
            let score = self.node::<Root>(alpha, beta, (depth - reduced).max(1), false);
            if self.limiter.stopped {
                return (score, fail_lows);
            }
            if score <= alpha {
                fail_lows += 1;
                beta = (alpha + beta) / 2;
                alpha = (score - width).max(-INFINITE);
                reduced = 0;
                self.report_bound(report, rank, score, Bound::Upper);
            } else if score >= beta {
                beta = (score + width).min(INFINITE);
                reduced = (reduced + 1).min(3);
                self.report_bound(report, rank, score, Bound::Lower);
            } else {
                return (score, fail_lows);
            }
            width += width / 2;
            if width > 500 {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }

    fn make(&mut self, mv: Move) {
        let ply = self.line.ply();
        self.limiter.nodes += 1;
        let piece_to = Some(piece_to(self.line.position(), mv));
        let frame = self.frame(ply);
        frame.current_move = Some(mv);
        frame.piece_to = piece_to;
        self.line.make(mv);
        self.histories.correction.prefetch(self.line.position(), self.previous_moves(ply + 1));
    }

    #[inline]
    fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + FRAMES_BEFORE]
    }

    /// Returns the number of cutoffs at a ply since the search of the node two plies above began.
    #[inline]
    fn cutoffs(&self, ply: usize) -> u32 {
        self.frames[ply + FRAMES_BEFORE].cutoffs
    }

    /// Returns the moves made one, two and four plies ago.
    #[inline]
    fn previous_moves(&self, ply: usize) -> [Option<PieceTo>; 3] {
        let index = ply + FRAMES_BEFORE;
        [1, 2, 4].map(|back| self.frames[index - back].piece_to)
    }

    /// Returns move lists for a node. The caller must push the lists back to `buffers`.
    #[inline]
    fn take_buffers(&mut self) -> Box<MoveBuffers> {
        self.buffers.pop().unwrap_or_else(MoveBuffers::new)
    }

    /// Returns the quiet context of the current position.
    #[inline]
    fn new_quiet_context(&self, ply: usize) -> QuietContext {
        QuietContext::new(self.line.position(), self.previous_moves(ply))
    }

    fn report_bound(
        &self,
        report: &mut dyn FnMut(&Report<'_>),
        rank: usize,
        score: Score,
        bound: Bound,
    ) {
        // Aspiration windows fail often in short searches, so bounds are reported only after 2
        // million nodes, to limit the output.
        if self.limiter.nodes > 2_000_000 {
            self.report(report, rank, &SearchResult { score, ..self.best.clone() }, bound);
        }
    }

    fn report(
        &self,
        report: &mut dyn FnMut(&Report<'_>),
        rank: usize,
        result: &SearchResult,
        bound: Bound,
    ) {
        report(&Report {
            depth: self.root_depth as u32,
            selective_depth: self.selective_depth as u32,
            rank,
            score: result.score,
            bound,
            nodes: self.limiter.total_nodes(),
            hash_permille: self.table.fullness_permille(),
            line: &result.line,
        });
    }
}

#[cfg(test)]
mod tests;
