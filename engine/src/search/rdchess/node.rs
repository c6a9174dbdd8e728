//! The full-width part: NegaScout over one node, with extensions and forward pruning.

use super::order::{Hints, Next, Order, gain};
use super::{Feature, Search, WORTH};
use crate::chess::{Color, Kind, Move, Position};
use crate::eval::score::{DRAW, EVALUATION_MAX, INFINITE, MAX_PLY, mated_in};
use crate::eval::{Evaluator, Score};
use crate::search::tt_score::tt_cutoff;
use crate::tt::{Bound, Entry};

/// Plies by which the search after passing is less deep.
const NULL_REDUCTION: i32 = 2;
/// Most that a move at depth 1 may gain beside material.
const FUTILITY: Score = 325;
/// The same at depth 2.
const EXTENDED_FUTILITY: Score = 510;
/// At depth 3 a side behind by more than this is looked at less deep.
const RAZOR: Score = 900;
/// Razoring needs an opponent with more officers than this.
const RAZOR_OFFICERS: u32 = 3;

/// How a node is to be searched.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    pub(super) alpha: Score,
    pub(super) beta: Score,
    pub(super) depth: i32,
    /// Was the move before extended?
    pub(super) extended: bool,
    /// The move before; none at the root and after passing.
    pub(super) last: Option<Move>,
    /// May the side to move pass?
    pub(super) may_pass: bool,
}

/// A node under way.
struct Node {
    visit: Visit,
    ply: usize,
    in_check: bool,
    /// Balance of material for the side to move.
    material: Score,
    best: Score,
    best_move: Option<Move>,
    count: usize,
}

/// Balance of material for the side to move.
pub(super) fn material(position: &Position) -> Score {
    let board = position.board();
    let sum = |color: Color| -> Score {
        let worth = |kind: Kind| WORTH[kind.index()] * board.pieces(color, kind).len() as Score;
        Kind::ALL.into_iter().map(worth).sum()
    };
    sum(position.turn()) - sum(!position.turn())
}

impl<E: Evaluator> Search<'_, E> {
    /// The score of the current position; meaningless once the search has stopped.
    pub(super) fn node(&mut self, mut visit: Visit) -> Score {
        let ply = self.line.ply();
        let in_check = self.line.position().in_check();
        let may_extend = ply < 2 * self.root_depth as usize;
        if in_check && may_extend && self.keeps(Feature::CheckExtension) {
            visit.depth += 1;
            visit.extended = true;
        }
        if visit.depth <= 0 {
            return self.quiescence(visit.alpha, visit.beta, visit.last);
        }
        self.pv_table.clear(ply);
        if self.limiter.should_stop() {
            return DRAW;
        }
        if ply > 0
            && let Some(score) = self.draw_or_max_ply(ply)
        {
            return score;
        }
        let key = self.line.position().key();
        let entry = self.look_up(key);
        if ply > 0
            && let Some(score) = self.settled(entry, ply, &mut visit)
        {
            return score;
        }
        let material = material(self.line.position());
        if self.is_hopeless(&visit, material) {
            visit.depth -= 1;
        }
        let best = -INFINITE;
        let mut node = Node { visit, ply, in_check, material, best, best_move: None, count: 0 };
        let passed = self.moves(&mut node, entry);
        if self.limiter.stopped {
            return DRAW;
        }
        if let Some(score) = passed {
            return score;
        }
        if node.count == 0 {
            return if in_check { mated_in(ply) } else { DRAW };
        }
        self.remember(key, &node, entry);
        node.best
    }

    /// The score of positions that need no search: draws, and the end of the line. Repetitions
    /// are not remembered.
    pub(super) fn draw_or_max_ply(&mut self, ply: usize) -> Option<Score> {
        self.selective_depth = self.selective_depth.max(ply);
        if self.line.is_dead() || self.keeps(Feature::Repetition) && self.line.repeats() {
            return Some(DRAW);
        }
        if ply >= MAX_PLY - 1 {
            let in_check = self.line.position().in_check();
            return Some(if in_check { DRAW } else { self.line.evaluate() });
        }
        None
    }

    /// What the table knows, if it is in use.
    pub(super) fn look_up(&mut self, key: u64) -> Option<Entry> {
        if self.keeps(Feature::Hash) { self.table.probe(key) } else { None }
    }

    /// The score, if the table knows enough; otherwise its bounds may narrow the window.
    fn settled(&self, entry: Option<Entry>, ply: usize, visit: &mut Visit) -> Option<Score> {
        let entry = entry.filter(|entry| entry.depth >= visit.depth)?;
        if let Some(score) = tt_cutoff(&entry, ply, visit.alpha, visit.beta) {
            return Some(score);
        }
        if self.keeps(Feature::HashBounds) {
            let score = entry.score_at(ply);
            match entry.bound {
                Bound::Lower => visit.alpha = visit.alpha.max(score),
                Bound::Upper => visit.beta = visit.beta.min(score),
                Bound::Exact | Bound::None => {}
            }
        }
        None
    }

    /// Razoring: is the side to move so far behind at depth 3 that depth 2 will do?
    fn is_hopeless(&self, visit: &Visit, material: Score) -> bool {
        let board = self.line.position().board();
        let simple = board.kind(Kind::Pawn) | board.kind(Kind::King);
        let officers = board.color(!self.line.position().turn()) - simple;
        self.keeps(Feature::Razoring)
            && visit.depth == 3
            && !visit.extended
            && material + RAZOR <= visit.alpha
            && officers.len() > RAZOR_OFFICERS
    }

    /// Tries the moves. Some score if passing was good enough.
    fn moves(&mut self, node: &mut Node, entry: Option<Entry>) -> Option<Score> {
        let hints = self.hints(node.visit.last, entry, node.ply);
        let mut order = Order::all(hints);
        while let Some(next) = order.next(self.line.position()) {
            let mv = match next {
                Next::Move(mv) => mv,
                Next::Null => {
                    let passed = self.pass(node);
                    if passed.is_some() || self.limiter.stopped {
                        return passed;
                    }
                    continue;
                }
            };
            if node.ply == 0 && !self.root_moves.contains(&mv) {
                continue;
            }
            node.count += 1;
            if let Some(bound) = self.futile(node, mv) {
                node.best = node.best.max(bound);
                continue;
            }
            let score = self.try_move(node, mv);
            if self.limiter.stopped {
                return None;
            }
            if score <= node.best {
                continue;
            }
            node.best = score;
            if score > node.visit.alpha {
                node.best_move = Some(mv);
                self.update_pv(node.ply, mv, score);
                if score >= node.visit.beta {
                    if mv.is_quiet() {
                        self.killers.record(node.ply, mv);
                    }
                    break;
                }
                node.visit.alpha = score;
            }
        }
        None
    }

    /// What the order of moves is to know.
    pub(super) fn hints(&self, last: Option<Move>, entry: Option<Entry>, ply: usize) -> Hints {
        let enemy = !self.line.position().turn();
        Hints {
            table: entry.and_then(|entry| entry.mv),
            killers: self.killers.at(ply),
            capturer: last.filter(|mv| mv.is_capture()).map(Move::to),
            enemy_king: self.root_kings[enemy.index()],
            disabled: self.disabled,
        }
    }

    /// Passes, if that is allowed; some score if even so the side to move is good enough.
    fn pass(&mut self, node: &Node) -> Option<Score> {
        let Visit { beta, depth, may_pass, .. } = node.visit;
        let position = self.line.position();
        if !may_pass
            || node.ply == 0
            || node.in_check
            || !self.keeps(Feature::NullMove)
            || beta.abs() > EVALUATION_MAX
            || !position.has_pieces(position.turn())
        {
            return None;
        }
        self.limiter.nodes += 1;
        self.line.make_null();
        let score = -self.node(Visit {
            alpha: -beta,
            beta: 1 - beta,
            depth: depth - 1 - NULL_REDUCTION,
            extended: false,
            last: None,
            may_pass: false,
        });
        self.line.unmake();
        (!self.limiter.stopped && score >= beta).then_some(score.min(EVALUATION_MAX))
    }

    /// A bound no better than alpha, if the move cannot be expected to do better.
    fn futile(&self, node: &Node, mv: Move) -> Option<Score> {
        let margin = match node.visit.depth {
            1 if self.keeps(Feature::Futility) => FUTILITY,
            2 if self.keeps(Feature::ExtendedFutility) => EXTENDED_FUTILITY,
            _ => return None,
        };
        let position = self.line.position();
        let bound = node.material + gain(position, mv) + margin;
        let is_futile = !node.in_check
            && node.ply > 0
            && bound <= node.visit.alpha
            && node.visit.alpha.abs() <= EVALUATION_MAX
            && !position.gives_check(mv);
        is_futile.then_some(bound)
    }

    /// Makes a move, searches behind it and takes it back: after the first move with a null window,
    /// and fully only if that was too good.
    fn try_move(&mut self, node: &Node, mv: Move) -> Score {
        let Visit { alpha, beta, depth, .. } = node.visit;
        let extended = self.advances_to_seventh(mv) && self.keeps(Feature::PawnExtension);
        self.limiter.nodes += 1;
        self.line.make(mv);
        let below = Visit {
            alpha: -beta,
            beta: -alpha,
            depth: depth - 1 + i32::from(extended),
            extended,
            last: Some(mv),
            may_pass: true,
        };
        let mut score = alpha + 1;
        let scouts = node.count > 1 && beta - alpha > 1 && self.keeps(Feature::Negascout);
        if scouts {
            score = -self.node(Visit { alpha: -alpha - 1, ..below });
        }
        if !scouts || score > alpha && score < beta && !self.limiter.stopped {
            score = -self.node(below);
        }
        self.line.unmake();
        score
    }

    /// Does a pawn go from its sixth to its seventh rank?
    fn advances_to_seventh(&self, mv: Move) -> bool {
        let position = self.line.position();
        position.kind_at(mv.from()) == Some(Kind::Pawn)
            && mv.to().relative(position.turn()).rank() == 6
    }

    /// Updates the principal variation by a move that has raised alpha.
    fn update_pv(&mut self, ply: usize, mv: Move, score: Score) {
        self.pv_table.update(ply, mv);
        if ply == 0 {
            self.result.line.clone_from(self.pv_table.root_pv());
            if self.result.line.len() == 1 {
                let answer = self.answer(mv);
                self.result.line.extend(answer);
            }
            self.result.score = score;
        }
    }

    /// The table's reply to a move, for a principal variation that a table hit has cut short.
    fn answer(&mut self, mv: Move) -> Option<Move> {
        let after = self.line.position().play(mv);
        let known = self.look_up(after.key()).and_then(|entry| entry.mv);
        known.filter(|&answer| after.is_legal(answer))
    }

    /// Remembers a position that has raised alpha, or that did so before.
    fn remember(&mut self, key: u64, node: &Node, entry: Option<Entry>) {
        let (mv, bound) = match (node.best_move, entry) {
            (Some(mv), _) if node.best >= node.visit.beta => (Some(mv), Bound::Lower),
            (Some(mv), _) => (Some(mv), Bound::Exact),
            (None, Some(entry)) => (entry.mv, Bound::Upper),
            (None, None) => return,
        };
        if self.keeps(Feature::Hash) {
            let score = Entry::score_from(node.best, node.ply);
            let depth = node.visit.depth;
            self.table.store(key, Entry { mv, score, evaluation: None, depth, bound });
        }
    }
}
