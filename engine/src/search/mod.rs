//! Searching: iterative deepening around a principal-variation alpha-beta.
//!
//! Nothing here reads a clock or prints. A search limited by nodes depends on nothing but the game,
//! the memory and the limits, so that it can be repeated exactly.

mod alphabeta;
mod brake;
mod correction;
mod extend;
mod history;
mod learn;
mod limits;
mod memory;
pub mod micromax;
mod params;
mod personality;
mod picker;
mod probcut;
mod prune;
mod quiescence;
mod rdchess;
mod reduce;
mod see;
mod slots;
mod table;

use crate::chess::{Game, Move};
use crate::eval::score::{DRAW, INFINITE, MAX_PLY, is_mate, mated_in};
use crate::eval::{Evaluator, Score, Task};
use crate::line::Line;
use crate::time::Timer;
use crate::tt::{Bound, TranspositionTable};
use alphabeta::Root;
use brake::{Brake, Pace};
use history::{Arrival, Histories, Trail};
pub use limits::{Limits, Signals};
use memory::Kept;
pub use memory::Memory;
pub use personality::{Personality, Player};
use picker::Room;

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

impl Request<'_> {
    /// The legal moves that may be considered at the root.
    fn root_moves(&self) -> Vec<Move> {
        let allowed = &self.limits.search_moves;
        let legal = self.game.position().legal_moves();
        legal.iter().copied().filter(|mv| allowed.is_empty() || allowed.contains(mv)).collect()
    }
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

impl Finding {
    /// What there is to say before anything is searched: the first move allowed, or how the game
    /// has ended.
    fn at_once(request: Request<'_>) -> Finding {
        let line: Vec<Move> = request.root_moves().first().copied().into_iter().collect();
        let mated = line.is_empty() && request.game.position().in_check();
        Finding { line, score: if mated { mated_in(0) } else { DRAW }, depth: 0, nodes: 0 }
    }
}

/// Lets that player search, handing interim results to `report`.
///
/// If there is no memory for the table of another personality, the finding is some legal move.
pub fn search(
    player: impl Into<Player>,
    request: Request<'_>,
    memory: &mut Memory,
    report: &mut dyn FnMut(&Report<'_>),
) -> Finding {
    let player = player.into();
    if memory.hand_to(player.personality).is_err() {
        return Finding::at_once(request);
    }
    match &mut memory.kept {
        Kept::Palimpsest { table, histories } => {
            player.eval.dispatch(Palimpsest { request, table, histories, report })
        }
        Kept::Micromax(table) => micromax::search(&player, request, table, report),
        Kept::Rdchess(table) => {
            player.eval.dispatch(rdchess::RdChess { player, request, table, report })
        }
    }
}

/// The engine's own search as a task for an evaluation.
struct Palimpsest<'a> {
    request: Request<'a>,
    table: &'a mut TranspositionTable,
    histories: &'a mut Histories,
    report: &'a mut dyn FnMut(&Report<'_>),
}

impl Task for Palimpsest<'_> {
    type Output = Finding;

    fn run<E: Evaluator>(self, evaluator: E) -> Finding {
        if E::CONTEXT.is_path() {
            self.table.clear();
        } else {
            self.table.new_search();
        }
        Searcher::new(self.request, self.table, self.histories, evaluator).run(self.report)
    }
}

/// What a ply of the current line remembers.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// Static evaluation, corrected; none in check.
    evaluation: Option<Score>,
    /// The move made from here; none for a pass.
    made: Option<Move>,
    /// Which piece that brought where.
    arrival: Option<Arrival>,
    /// Quiet moves that refuted something at this ply.
    killers: [Option<Move>; 2],
    /// Cut-offs at this ply since the node two plies before began.
    cutoffs: u32,
    /// The move left out by a test for singularity.
    excluded: Option<Move>,
}

/// Frames before the root, so that looking back needs no test.
const FRAMES_BEFORE: usize = 4;

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
    brake: Brake<'a>,
    selective_depth: usize,
    root_depth: i32,
    /// The ply from which passing may be tried; not 0 while passing itself is under test.
    passing_from: usize,
    frames: Vec<Frame>,
    lines: Lines,
    /// Room that no node uses at the moment.
    #[expect(clippy::vec_box, reason = "the room is handed on, and boxes are moved in no time")]
    rooms: Vec<Box<Room>>,
    /// The best line and its score; replaced whenever a root move proves better.
    best: Finding,
}

impl<'a, E: Evaluator> Searcher<'a, E> {
    fn new(
        request: Request<'a>,
        table: &'a TranspositionTable,
        histories: &'a mut Histories,
        evaluator: E,
    ) -> Self {
        Searcher {
            line: Line::new(request.game, evaluator),
            table,
            histories,
            request,
            root_moves: request.root_moves(),
            brake: Brake::new(request),
            selective_depth: 0,
            root_depth: 0,
            passing_from: 0,
            frames: vec![Frame::default(); FRAMES_BEFORE + MAX_PLY + 1],
            lines: Lines::new(),
            rooms: Vec::new(),
            best: Finding::at_once(request),
        }
    }

    fn run(mut self, report: &mut dyn FnMut(&Report<'_>)) -> Finding {
        if self.root_moves.is_empty() {
            return self.best;
        }
        let mut pace = Pace::default();
        for depth in 1..=self.request.limits.max_depth() {
            self.root_depth = depth;
            self.selective_depth = 0;
            let score = self.aspirate(depth, report);
            if self.brake.stopped {
                break;
            }
            self.best.score = score;
            self.best.depth = depth as u32;
            let best = self.best.clone();
            self.report(report, best.score, Bound::Exact);
            if self.brake.is_enough(best.score, self.root_moves.len(), pace.percent(&best)) {
                break;
            }
        }
        self.best.nodes = self.brake.nodes;
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
            if self.brake.stopped {
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

    fn make(&mut self, mv: Move) {
        let ply = self.line.ply();
        self.brake.nodes += 1;
        let arrival = Some(history::arrival(self.line.position(), mv));
        let frame = self.frame(ply);
        (frame.made, frame.arrival) = (Some(mv), arrival);
        self.line.make(mv);
        self.table.prefetch(self.line.position().key());
    }

    #[inline]
    fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + FRAMES_BEFORE]
    }

    /// Cut-offs at a ply behind the current node and its siblings.
    #[inline]
    fn cutoffs(&self, ply: usize) -> u32 {
        self.frames[ply + FRAMES_BEFORE].cutoffs
    }

    /// The moves made one, two and four plies ago.
    #[inline]
    fn before(&self, ply: usize) -> [Option<Arrival>; 3] {
        let here = ply + FRAMES_BEFORE;
        [1, 2, 4].map(|back| self.frames[here - back].arrival)
    }

    /// Room for the moves of a node; to be pushed back to the others afterwards.
    #[inline]
    fn room(&mut self) -> Box<Room> {
        self.rooms.pop().unwrap_or_else(Room::new)
    }

    /// What led to the current position.
    #[inline]
    fn trail(&self, ply: usize) -> Trail {
        Trail::new(self.line.position(), self.before(ply))
    }

    fn report_bound(&self, report: &mut dyn FnMut(&Report<'_>), score: Score, bound: Bound) {
        // Early windows fail all the time and interest nobody.
        if self.brake.nodes > 2_000_000 {
            self.report(report, score, bound);
        }
    }

    fn report(&self, report: &mut dyn FnMut(&Report<'_>), score: Score, bound: Bound) {
        report(&Report {
            depth: self.root_depth as u32,
            selective_depth: self.selective_depth as u32,
            score,
            bound,
            nodes: self.brake.nodes,
            hash_permille: self.table.fullness_permille(),
            line: &self.best.line,
        });
    }
}

#[cfg(test)]
mod tests;
