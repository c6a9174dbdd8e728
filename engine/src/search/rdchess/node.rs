//! Main search: NegaScout for one node, with extensions and forward pruning.

use super::order::{Hints, MoveOrder, Next, gain};
use super::{Feature, PIECE_VALUES, Search};
use crate::chess::{Color, Kind, Move, Position};
use crate::eval::Score;
use crate::eval::score::{DRAW, EVALUATION_MAX, INFINITE, MAX_PLY, mated_in};
use crate::search::tt_score::tt_cutoff;
use crate::tt::{Bound, Entry};

/// Null move reduction, in plies.
const NULL_REDUCTION: i32 = 2;
/// Futility margin at depth 1, in centipawns.
const FUTILITY: Score = 325;
/// Futility margin at depth 2, in centipawns.
const EXTENDED_FUTILITY: Score = 510;
/// Razoring margin at depth 3, in centipawns.
const RAZOR: Score = 900;
/// Number of opposing pieces, without king and pawns, above which razoring is allowed.
const RAZOR_OFFICERS: u32 = 3;

/// Parameters of a node.
#[derive(Clone, Copy)]
pub(super) struct NodeParams {
    pub(super) alpha: Score,
    pub(super) beta: Score,
    pub(super) depth: i32,
    /// `true` if the previous move was extended.
    pub(super) extended: bool,
    /// The previous move; `None` at the root and after a null move.
    pub(super) last: Option<Move>,
    /// `true` if a null move may be tried.
    pub(super) can_null_move: bool,
}

/// State of a node that is being searched.
struct Node {
    params: NodeParams,
    ply: usize,
    in_check: bool,
    /// Material balance from the point of view of the side to move, in centipawns.
    material: Score,
    best: Score,
    best_move: Option<Move>,
    count: usize,
}

/// Returns the material balance from the point of view of the side to move, in centipawns.
pub(super) fn material(position: &Position) -> Score {
    let board = position.board();
    let sum = |color: Color| -> Score {
        let worth =
            |kind: Kind| PIECE_VALUES[kind.index()] * board.pieces(color, kind).len() as Score;
        Kind::ALL.into_iter().map(worth).sum()
    };
    sum(position.turn()) - sum(!position.turn())
}

impl Search<'_> {
    /// Searches the current position, and returns the position's score in centipawns. The score is
    /// meaningless if the search was stopped.
    pub(super) fn node(&mut self, mut params: NodeParams) -> Score {
        let ply = self.line.ply();
        let in_check = self.line.position().in_check();
        let may_extend = ply < 2 * self.root_depth as usize;
        if in_check && may_extend && self.is_enabled(Feature::CheckExtension) {
            params.depth += 1;
            params.extended = true;
        }
        if params.depth <= 0 {
            return self.quiescence(params.alpha, params.beta, params.last);
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
            && let Some(score) = self.tt_score(entry, ply, &mut params)
        {
            return score;
        }
        let material = material(self.line.position());
        if self.is_razorable(&params, material) {
            params.depth -= 1;
        }
        let best = -INFINITE;
        let mut node = Node { params, ply, in_check, material, best, best_move: None, count: 0 };
        let null_score = self.moves(&mut node, entry);
        if self.limiter.stopped {
            return DRAW;
        }
        if let Some(score) = null_score {
            return score;
        }
        if node.count == 0 {
            return if in_check { mated_in(ply) } else { DRAW };
        }
        self.store(key, &node, entry);
        node.best
    }

    /// Returns the score of a drawn position, or of any position at the maximum ply; `None` for
    /// other positions. These scores are not stored in the table.
    pub(super) fn draw_or_max_ply(&mut self, ply: usize) -> Option<Score> {
        self.selective_depth = self.selective_depth.max(ply);
        if self.line.is_dead() || self.is_enabled(Feature::Repetition) && self.line.repeats() {
            return Some(DRAW);
        }
        if ply >= MAX_PLY - 1 {
            let in_check = self.line.position().in_check();
            return Some(if in_check { DRAW } else { self.line.evaluate() });
        }
        None
    }

    /// Returns the table entry of a position; `None` if there is no entry, or if the table is
    /// disabled.
    pub(super) fn look_up(&mut self, key: u64) -> Option<Entry> {
        if self.is_enabled(Feature::Hash) { self.table.probe(key) } else { None }
    }

    /// Returns the score of a table entry if the score allows a cutoff. Otherwise, the bound in the
    /// entry may narrow the window.
    fn tt_score(&self, entry: Option<Entry>, ply: usize, params: &mut NodeParams) -> Option<Score> {
        let entry = entry.filter(|entry| entry.depth >= params.depth)?;
        if let Some(score) = tt_cutoff(&entry, ply, params.alpha, params.beta) {
            return Some(score);
        }
        if self.is_enabled(Feature::HashBounds) {
            let score = entry.score_at(ply);
            match entry.bound {
                Bound::Lower => params.alpha = params.alpha.max(score),
                Bound::Upper => params.beta = params.beta.min(score),
                Bound::Exact | Bound::None => {}
            }
        }
        None
    }

    /// Razoring. Returns whether the node is at depth 3 and the side to move is so far behind that
    /// a search to depth 2 suffices.
    fn is_razorable(&self, params: &NodeParams, material: Score) -> bool {
        let board = self.line.position().board();
        let simple = board.kind(Kind::Pawn) | board.kind(Kind::King);
        let officers = board.color(!self.line.position().turn()) - simple;
        self.is_enabled(Feature::Razoring)
            && params.depth == 3
            && !params.extended
            && material + RAZOR <= params.alpha
            && officers.len() > RAZOR_OFFICERS
    }

    /// Searches the moves of a node. Returns a score only if the null move fails high.
    fn moves(&mut self, node: &mut Node, entry: Option<Entry>) -> Option<Score> {
        let hints = self.hints(node.params.last, entry, node.ply);
        let mut order = MoveOrder::all(hints);
        while let Some(next) = order.next(self.line.position()) {
            let mv = match next {
                Next::Move(mv) => mv,
                Next::Null => {
                    let null_score = self.null_move(node);
                    if null_score.is_some() || self.limiter.stopped {
                        return null_score;
                    }
                    continue;
                }
            };
            if node.ply == 0 && !self.root_moves.contains(&mv) {
                continue;
            }
            node.count += 1;
            if let Some(bound) = self.futility_bound(node, mv) {
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
            if score > node.params.alpha {
                node.best_move = Some(mv);
                self.update_pv(node.ply, mv, score);
                if score >= node.params.beta {
                    if mv.is_quiet() {
                        self.killers.record(node.ply, mv);
                    }
                    break;
                }
                node.params.alpha = score;
            }
        }
        None
    }

    /// Returns the hints for move ordering.
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

    /// Tries a null move, if null moves are allowed in the node. Returns a score if the null move
    /// fails high.
    fn null_move(&mut self, node: &Node) -> Option<Score> {
        let NodeParams { beta, depth, can_null_move, .. } = node.params;
        let position = self.line.position();
        if !can_null_move
            || node.ply == 0
            || node.in_check
            || !self.is_enabled(Feature::NullMove)
            || beta.abs() > EVALUATION_MAX
            || !position.has_pieces(position.turn())
        {
            return None;
        }
        self.limiter.nodes += 1;
        self.line.make_null();
        let score = -self.node(NodeParams {
            alpha: -beta,
            beta: 1 - beta,
            depth: depth - 1 - NULL_REDUCTION,
            extended: false,
            last: None,
            can_null_move: false,
        });
        self.line.unmake();
        (!self.limiter.stopped && score >= beta).then_some(score.min(EVALUATION_MAX))
    }

    /// Futility pruning. Returns an estimated upper bound on the score of a move if the bound does
    /// not exceed alpha.
    fn futility_bound(&self, node: &Node, mv: Move) -> Option<Score> {
        let margin = match node.params.depth {
            1 if self.is_enabled(Feature::Futility) => FUTILITY,
            2 if self.is_enabled(Feature::ExtendedFutility) => EXTENDED_FUTILITY,
            _ => return None,
        };
        let position = self.line.position();
        let bound = node.material + gain(position, mv) + margin;
        let is_futile = !node.in_check
            && node.ply > 0
            && bound <= node.params.alpha
            && node.params.alpha.abs() <= EVALUATION_MAX
            && !position.gives_check(mv);
        is_futile.then_some(bound)
    }

    /// Searches a move, and returns the move's score. Moves after the first move are searched with
    /// a null window. If the score is inside the full window, the move is searched again with the
    /// full window.
    fn try_move(&mut self, node: &Node, mv: Move) -> Score {
        let NodeParams { alpha, beta, depth, .. } = node.params;
        let extended = self.advances_to_seventh(mv) && self.is_enabled(Feature::PawnExtension);
        self.limiter.nodes += 1;
        self.line.make(mv);
        let below = NodeParams {
            alpha: -beta,
            beta: -alpha,
            depth: depth - 1 + i32::from(extended),
            extended,
            last: Some(mv),
            can_null_move: true,
        };
        let mut score = alpha + 1;
        let scouts = node.count > 1 && beta - alpha > 1 && self.is_enabled(Feature::Negascout);
        if scouts {
            score = -self.node(NodeParams { alpha: -alpha - 1, ..below });
        }
        if !scouts || score > alpha && score < beta && !self.limiter.stopped {
            score = -self.node(below);
        }
        self.line.unmake();
        score
    }

    /// Returns whether the move is a pawn move from the sixth to the seventh rank.
    fn advances_to_seventh(&self, mv: Move) -> bool {
        let position = self.line.position();
        position.kind_at(mv.from()) == Some(Kind::Pawn)
            && mv.to().relative(position.turn()).rank() == 6
    }

    /// Updates the principal variation with a move that has raised alpha.
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

    /// Returns the reply to `mv` from the table. The reply completes a principal variation that was
    /// cut short after `mv` by a table hit.
    fn answer(&mut self, mv: Move) -> Option<Move> {
        let after = self.line.position().play(mv);
        let reply = self.look_up(after.key()).and_then(|entry| entry.mv);
        reply.filter(|&answer| after.is_legal(answer))
    }

    /// Stores the result of a node, if a move raised alpha or if the position already has a table
    /// entry.
    fn store(&mut self, key: u64, node: &Node, entry: Option<Entry>) {
        let (mv, bound) = match (node.best_move, entry) {
            (Some(mv), _) if node.best >= node.params.beta => (Some(mv), Bound::Lower),
            (Some(mv), _) => (Some(mv), Bound::Exact),
            (None, Some(entry)) => (entry.mv, Bound::Upper),
            (None, None) => return,
        };
        if self.is_enabled(Feature::Hash) {
            let score = Entry::score_from(node.best, node.ply);
            let depth = node.params.depth;
            self.table.store(key, Entry { mv, score, evaluation: None, depth, bound, pv: false });
        }
    }
}
