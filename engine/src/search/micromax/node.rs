//! The recursive search of one node, and within it the walk over pieces, rays and steps.

use std::ops::ControlFlow;

use super::board::{NOWHERE, Place, Shot, is_beyond, next};
use super::table::{Best, Entry, Slot};
use super::{DECIDED, DECISIVE, Feature, INFINITY, Search};
use crate::chess::{Color, Kind, zobrist};
use crate::eval::Score;

/// What a node is searched with.
pub(super) struct Node {
    /// The side to move.
    pub(super) side: Color,
    pub(super) alpha: Score,
    pub(super) beta: Score,
    /// The static evaluation.
    pub(super) score: Score,
    /// The key of the placement, from the root on.
    pub(super) key: u64,
    /// The square that the move before has crossed.
    pub(super) crossed: Place,
    /// Where the move before went: taking there is a recapture.
    pub(super) target: Place,
    /// Plies to search.
    pub(super) depth: i32,
    /// Is the node no part of the tree, its result of no use to it? So are the root, unless its
    /// last move crossed a square, and the test whether a king could be taken.
    pub(super) is_outside: bool,
    /// Is it the root?
    pub(super) is_root: bool,
}

/// Told apart from every square of chess.
const OUTSIDE: u64 = 0xD1B5_4A32_D192_ED03;

impl Node {
    /// The key by which the node is remembered.
    pub(super) fn hash(&self) -> u64 {
        let side = if self.side == Color::Black { zobrist::black_to_move() } else { 0 };
        let crossed = match self.crossed {
            _ if self.is_outside => OUTSIDE,
            NOWHERE => 0,
            // Turned by half a word, since a castling rook has the same word.
            place => zobrist::castling(super::board::square(place)).rotate_left(32),
        };
        self.key ^ side ^ crossed
    }

    /// The node of the same position with the other side to move, in which only kings are looked
    /// for.
    fn king_test(&self) -> Node {
        Node {
            side: !self.side,
            alpha: -INFINITY,
            beta: INFINITY,
            score: 0,
            key: self.key,
            crossed: NOWHERE,
            target: NOWHERE,
            depth: 1,
            is_outside: true,
            is_root: false,
        }
    }
}

/// One iteration of a node.
struct Scan {
    depth: i32,
    /// The best score so far.
    score: Score,
    /// Is the best move of the iteration before still to be tried, before all others?
    pending: bool,
}

impl Search<'_> {
    /// The score of a node; meaningless once the search has stopped.
    pub(super) fn node(&mut self, node: &Node) -> Score {
        let (slot, entry) = self.look_up(node);
        let (mut depth, mut best) = (0, Best::default());
        if let Some(entry) = entry {
            if entry.depth >= node.depth && entry.settles(node.alpha, node.beta) {
                return entry.score;
            }
            depth = entry.depth.min(node.depth - 1);
            best = entry.best;
            best.simple &= depth > 0;
        }
        if self.limiter.should_stop() {
            return 0;
        }
        self.limiter.nodes += 1;
        let mut score = 0;
        while depth < node.depth && !self.limiter.stopped {
            depth += 1;
            score = self.iteration(node, slot, &mut depth, &mut best);
        }
        score
    }

    /// Where the node is remembered, and as what.
    pub(super) fn look_up(&self, node: &Node) -> (Slot, Option<Entry>) {
        let (slot, entry) = self.table.find(node.hash());
        (slot, entry.filter(|_| self.keeps(Feature::Hash)))
    }

    /// Searches a node to `depth`, which becomes [`DECIDED`] if the score is a mate, and remembers
    /// the result.
    pub(super) fn iteration(
        &mut self,
        node: &Node,
        slot: Slot,
        depth: &mut i32,
        best: &mut Best,
    ) -> Score {
        let mut score = self.scan(node, *depth, best);
        if self.limiter.stopped {
            return score;
        }
        if score.abs() > DECISIVE {
            *depth = DECIDED;
        }
        if score == -INFINITY {
            // Every move loses the king: mate if it is attacked already.
            score = -self.node(&node.king_test()) / 2;
        }
        if !self.limiter.stopped {
            let (is_lower, is_upper) = (score > node.alpha, score < node.beta);
            let entry = Entry { score, depth: *depth, is_lower, is_upper, best: *best };
            self.table.store(slot, node.hash(), &entry);
        }
        score
    }

    /// Walks over the board, beginning with the piece of the best move.
    fn scan(&mut self, node: &Node, depth: i32, best: &mut Best) -> Score {
        let mut scan = Scan {
            depth,
            // At the horizon the side to move need not do anything.
            score: if depth > 1 { -INFINITY } else { node.score },
            pending: best.simple && self.keeps(Feature::BestFirst),
        };
        let start = best.from;
        let mut from = start;
        loop {
            if let Some(man) = self.board.at(from).filter(|man| man.color == node.side) {
                for &step in man.steps() {
                    let rest = Shot::at_rest(man, from);
                    if self.ray(node, &mut scan, best, rest, step).is_break() {
                        return scan.score;
                    }
                }
            }
            from = next(from);
            if from == start {
                return scan.score;
            }
        }
    }

    /// Follows a ray. Breaks if the node is done.
    fn ray(
        &mut self,
        node: &Node,
        scan: &mut Scan,
        best: &mut Best,
        rest: Shot,
        step: Place,
    ) -> ControlFlow<()> {
        let mut shot = rest;
        loop {
            shot.to = if scan.pending { best.to } else { shot.to + step };
            if is_beyond(shot.to) || !self.may_step(node, &mut shot, step) {
                return ControlFlow::Continue(());
            }
            if self.takes_king(node, &shot) {
                scan.score = INFINITY;
            }
            if scan.score >= node.beta {
                return ControlFlow::Break(());
            }
            let depth = scan.depth - self.cost(node, shot.to);
            if depth > 0 && !(node.is_root && self.is_barred(&shot)) {
                let score = self.attempt(node, scan.score, &shot, depth);
                if self.limiter.stopped {
                    return ControlFlow::Break(());
                }
                if scan.pending {
                    // The best move comes first; now all others, and it again, from the start.
                    self.update_pv(node, &shot, score);
                    scan.score = score;
                    scan.pending = false;
                    shot = rest;
                    continue;
                }
                if score > scan.score {
                    scan.score = score;
                    *best = Best { from: shot.from, to: shot.to, simple: !shot.is_castle() };
                    self.update_pv(node, &shot, score);
                }
            }
            if !self.goes_on(&mut shot, step) {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Looks at the square ahead. A piece may not take its own, a pawn takes aslant and only then.
    fn may_step(&self, node: &Node, shot: &mut Shot, step: Place) -> bool {
        let is_pawn = shot.man.kind == Kind::Pawn;
        shot.victim = if is_pawn && shot.to == node.crossed { shot.to ^ 16 } else { shot.to };
        shot.taken = self.board.at(shot.victim);
        let is_own = shot.taken.is_some_and(|taken| taken.color == node.side);
        let is_straight = step & 7 == 0;
        !(is_own || is_pawn && is_straight == shot.taken.is_some())
    }

    /// Does the move take the king, or reach a square it has crossed or left in castling?
    fn takes_king(&self, node: &Node, shot: &Shot) -> bool {
        let takes = shot.taken.is_some_and(|taken| taken.kind == Kind::King);
        let castled = node.crossed != NOWHERE && self.board.at(node.crossed).is_some();
        takes || castled && (shot.to - node.crossed).abs() < 2
    }

    /// What a move costs in depth: recaptures cost nothing.
    fn cost(&self, node: &Node, to: Place) -> i32 {
        i32::from(to != node.target || !self.keeps(Feature::Recapture))
    }

    /// After a step: does the ray go on? A pawn may go on from its third row, a king to castle.
    fn goes_on(&self, shot: &mut Shot, step: Place) -> bool {
        let third_row = if shot.man.color == Color::White { 0x50 } else { 0x20 };
        let corner = self.board.castling_corner(shot, step);
        let special =
            corner.is_some() || shot.man.kind == Kind::Pawn && shot.to & 0x70 == third_row;
        if special {
            shot.crossed = shot.to;
            shot.corner = corner.unwrap_or(shot.corner);
        }
        shot.taken.is_none() && (special || shot.man.slides())
    }

    /// Makes a move, searches the reply and takes it back.
    fn attempt(&mut self, node: &Node, so_far: Score, shot: &Shot, depth: i32) -> Score {
        let delay = self.keeps(Feature::DelayedGain);
        self.board.make(shot);
        let gain = self.gain(shot);
        let child = Node {
            side: !node.side,
            // A score above the static evaluation will lose a point for coming late.
            alpha: -node.beta - Score::from(delay && node.beta > node.score),
            beta: -so_far.max(node.alpha),
            score: -node.score - gain,
            key: node.key ^ shot.key_change(),
            crossed: shot.crossed,
            target: shot.to,
            depth,
            is_outside: false,
            is_root: false,
        };
        let score = -self.node(&child);
        self.board.unmake(shot);
        if node.is_root {
            self.latest_child = child.hash();
        }
        score - Score::from(delay && score > node.score)
    }

    /// What a move that has been made gains.
    fn gain(&self, shot: &Shot) -> Score {
        let weights = &self.weights;
        let mut gain = shot.taken.map_or(0, |taken| weights.worth[taken.kind.index()]);
        if !matches!(shot.man.kind, Kind::Rook | Kind::Queen) {
            gain += self.eccentricity[shot.from as usize & 0x7F]
                - self.eccentricity[shot.to as usize & 0x7F];
        }
        if shot.is_castle() {
            gain += weights.castling;
        }
        if shot.man.kind == Kind::Pawn {
            let missing = self.board.missing_beside(shot.from, shot.man);
            gain -= weights.unsupported * (missing - 1);
            if shot.promotes() {
                gain += weights.promotion;
            }
        }
        gain
    }
}
