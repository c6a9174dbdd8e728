//! Searching: iterative deepening around a principal-variation alpha-beta.
//!
//! Nothing here reads a clock or prints. A search limited by nodes depends on nothing but the game,
//! the memory and the limits, so that it can be repeated exactly.

mod alphabeta;
mod extend;
mod history;
mod limits;
mod params;
mod picker;
mod prune;
mod quiescence;
mod reduce;
mod see;

use crate::chess::Move;
use crate::eval::score::{DRAW, INFINITE, MAX_PLY, is_mate, mate_distance_moves, mated_in};
use crate::eval::{Choice, Evaluator, Score, Task};
use crate::line::{Game, Line};
use crate::time::Timer;
use crate::tt::{Bound, OutOfMemory, TranspositionTable};
use alphabeta::Root;
use history::Arrival;
pub use history::Histories;
pub use limits::{Limits, Signals};

/// What is remembered from one search to the next.
pub struct Memory {
    /// The transposition table.
    pub table: TranspositionTable,
    /// Move histories.
    pub histories: Histories,
}

impl Memory {
    /// An empty memory with a table of `hash_megabytes` MiB.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table.
    pub fn new(hash_megabytes: usize) -> Result<Memory, OutOfMemory> {
        let table = TranspositionTable::new(hash_megabytes)?;
        Ok(Memory { table, histories: Histories::new() })
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.table.clear();
        self.histories.clear();
    }
}

/// What to search, and within which limits.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The game up to the root.
    pub game: &'a Game,
    /// Limits other than time.
    pub limits: &'a Limits,
    /// Limits of time.
    pub timer: &'a Timer,
    /// Signals from outside.
    pub signals: &'a Signals,
}

/// An interim result.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Nominal depth of the iteration, in plies.
    pub depth: u32,
    /// The deepest ply visited.
    pub selective_depth: u32,
    /// Score for the side to move at the root.
    pub score: Score,
    /// Is the score exact or a bound?
    pub bound: Bound,
    /// Positions visited so far.
    pub nodes: u64,
    /// How full the table is.
    pub hash_permille: usize,
    /// The line expected.
    pub line: &'a [Move],
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line expected; its first move is the one to play. Empty if there is no legal move.
    pub line: Vec<Move>,
    /// Score for the side to move at the root.
    pub score: Score,
    /// The last iteration that was completed, in plies.
    pub depth: u32,
    /// Positions visited.
    pub nodes: u64,
}

/// Searches with that evaluation, handing interim results to `report`.
pub fn search(
    choice: impl Into<Choice>,
    request: Request<'_>,
    memory: &mut Memory,
    report: &mut dyn FnMut(&Report<'_>),
) -> Finding {
    struct Search<'a> {
        request: Request<'a>,
        memory: &'a mut Memory,
        report: &'a mut dyn FnMut(&Report<'_>),
    }

    impl Task for Search<'_> {
        type Output = Finding;

        fn run<E: Evaluator>(self, evaluator: E) -> Finding {
            self.memory.table.new_search();
            Searcher::new(self.request, self.memory, evaluator).run(self.report)
        }
    }

    choice.into().dispatch(Search { request, memory, report })
}

/// What a ply of the current line remembers.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// Static evaluation; none in check.
    evaluation: Option<Score>,
    /// The move made from here; none for a pass.
    arrival: Option<Arrival>,
    /// Quiet moves that refuted something at this ply.
    killers: [Option<Move>; 2],
    /// The move left out by a test for singularity.
    excluded: Option<Move>,
}

/// Frames before the root, so that looking two plies back needs no test.
const FRAMES_BEFORE: usize = 2;

/// The best lines found from each ply on.
struct Lines(Vec<Vec<Move>>);

impl Lines {
    fn new() -> Lines {
        Lines((0..=MAX_PLY).map(|_| Vec::with_capacity(MAX_PLY)).collect())
    }

    fn clear(&mut self, ply: usize) {
        self.0[ply].clear();
    }

    /// The line at `ply` becomes `mv` and the line one ply deeper.
    fn extend(&mut self, ply: usize, mv: Move) {
        let (upper, lower) = self.0.split_at_mut(ply + 1);
        let line = &mut upper[ply];
        line.clear();
        line.push(mv);
        line.extend_from_slice(&lower[0]);
    }
}

/// A search under way.
struct Searcher<'a, E> {
    line: Line<E>,
    table: &'a TranspositionTable,
    histories: &'a mut Histories,
    request: Request<'a>,
    root_moves: Vec<Move>,
    nodes: u64,
    next_poll: u64,
    stopped: bool,
    selective_depth: usize,
    root_depth: i32,
    frames: Vec<Frame>,
    lines: Lines,
    /// The best line and its score; replaced whenever a root move proves better.
    best: Finding,
}

impl<'a, E: Evaluator> Searcher<'a, E> {
    fn new(request: Request<'a>, memory: &'a mut Memory, evaluator: E) -> Self {
        let allowed = &request.limits.search_moves;
        let legal = request.game.position().legal_moves();
        let root_moves: Vec<Move> =
            legal.iter().copied().filter(|mv| allowed.is_empty() || allowed.contains(mv)).collect();
        let line = root_moves.first().copied().into_iter().collect();
        Searcher {
            line: Line::new(request.game, evaluator),
            table: &memory.table,
            histories: &mut memory.histories,
            request,
            root_moves,
            nodes: 0,
            next_poll: params::POLL_INTERVAL,
            stopped: false,
            selective_depth: 0,
            root_depth: 0,
            frames: vec![Frame::default(); FRAMES_BEFORE + MAX_PLY + 1],
            lines: Lines::new(),
            best: Finding { line, score: DRAW, depth: 0, nodes: 0 },
        }
    }

    fn run(mut self, report: &mut dyn FnMut(&Report<'_>)) -> Finding {
        if self.root_moves.is_empty() {
            let mated = self.request.game.position().in_check();
            self.best.score = if mated { mated_in(0) } else { DRAW };
            return self.best;
        }
        let mut pace = Pace::default();
        for depth in 1..=self.request.limits.max_depth() {
            self.root_depth = depth;
            self.selective_depth = 0;
            let score = self.aspirate(depth, report);
            if self.stopped {
                break;
            }
            self.best.score = score;
            self.best.depth = depth as u32;
            let best = self.best.clone();
            self.report(report, best.score, Bound::Exact);
            if self.is_enough(pace.percent(&best)) {
                break;
            }
        }
        self.best.nodes = self.nodes;
        self.best
    }

    /// One iteration: a narrow window around the last score, widened on the side where it fails.
    fn aspirate(&mut self, depth: i32, report: &mut dyn FnMut(&Report<'_>)) -> Score {
        let mut width = params::ASPIRATION_START;
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if depth >= params::ASPIRATION_DEPTH && !is_mate(self.best.score) {
            alpha = (self.best.score - width).max(-INFINITE);
            beta = (self.best.score + width).min(INFINITE);
        }
        let mut reduced = 0;
        loop {
            let score = self.node::<Root>(alpha, beta, (depth - reduced).max(1), false);
            if self.stopped {
                return score;
            }
            if score <= alpha {
                beta = (alpha + beta) / 2;
                alpha = (score - width).max(-INFINITE);
                reduced = 0;
                self.report_bound(report, score, Bound::Upper);
            } else if score >= beta {
                beta = (score + width).min(INFINITE);
                reduced = (reduced + 1).min(3);
                self.report_bound(report, score, Bound::Lower);
            } else {
                return score;
            }
            width += width / 2;
            if width > 500 {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }

    /// Is the search to end after this iteration?
    fn is_enough(&self, percent: u32) -> bool {
        let Request { limits, timer, signals, .. } = self.request;
        if signals.is_stopped() {
            return true;
        }
        let mate = mate_distance_moves(self.best.score);
        if let (Some(wanted), Some(found)) = (limits.mate, mate)
            && 0 < found
            && found <= wanted as i32
        {
            return true;
        }
        if signals.is_pondering() || !timer.is_thrifty() {
            return false;
        }
        self.root_moves.len() == 1 || timer.is_enough(percent)
    }

    /// Must the search break off? To be asked at every node.
    #[inline]
    fn out_of_budget(&mut self) -> bool {
        if self.request.limits.nodes.is_some_and(|limit| self.nodes >= limit) {
            self.stopped = true;
        } else if self.nodes >= self.next_poll {
            self.next_poll = self.nodes + params::POLL_INTERVAL;
            let Request { timer, signals, .. } = self.request;
            if signals.is_stopped() || timer.is_over() && !signals.is_pondering() {
                self.stopped = true;
            }
        }
        self.stopped
    }

    fn make(&mut self, mv: Move) {
        let ply = self.line.ply();
        self.nodes += 1;
        self.frame(ply).arrival = Some(history::arrival(self.line.position(), mv));
        self.line.make(mv);
        self.table.prefetch(self.line.position().key());
    }

    #[inline]
    fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + FRAMES_BEFORE]
    }

    /// The moves made one and two plies ago.
    #[inline]
    fn before(&self, ply: usize) -> [Option<Arrival>; 2] {
        let here = ply + FRAMES_BEFORE;
        [self.frames[here - 1].arrival, self.frames[here - 2].arrival]
    }

    fn report_bound(&self, report: &mut dyn FnMut(&Report<'_>), score: Score, bound: Bound) {
        // Early windows fail all the time and interest nobody.
        if self.nodes > 2_000_000 {
            self.report(report, score, bound);
        }
    }

    fn report(&self, report: &mut dyn FnMut(&Report<'_>), score: Score, bound: Bound) {
        report(&Report {
            depth: self.root_depth as u32,
            selective_depth: self.selective_depth as u32,
            score,
            bound,
            nodes: self.nodes,
            hash_permille: self.table.fullness_permille(),
            line: &self.best.line,
        });
    }
}

/// Decides how much of the soft limit of time to use, from how the iterations went.
#[derive(Default)]
struct Pace {
    best: Option<Move>,
    steady: u32,
    score: Score,
}

impl Pace {
    /// Percent of the soft limit to use, given the result of one more iteration.
    fn percent(&mut self, found: &Finding) -> u32 {
        let best = found.line.first().copied();
        self.steady = if best == self.best { (self.steady + 1).min(6) } else { 0 };
        let drop = if self.best.is_some() { (self.score - found.score).clamp(0, 60) } else { 0 };
        self.best = best;
        self.score = found.score;
        150 - 14 * self.steady + drop as u32
    }
}

#[cfg(test)]
mod tests;
