//! Recursive search of a node, with loops over pieces, rays and steps.

use std::ops::ControlFlow;

use super::board::{CandidateMove, NO_SQUARE, Square88, is_off_board, next};
use super::table::{Best, Entry, Slot};
use super::{DEPTH_INDEPENDENT, Feature, INFINITY, MATE_THRESHOLD, Search};
use crate::chess::{Color, Kind, zobrist};
use crate::eval::Score;

/// Parameters of a node.
pub(super) struct Node {
    /// The side to move.
    pub(super) side: Color,
    pub(super) alpha: Score,
    pub(super) beta: Score,
    /// Static evaluation, in 1/99 pawn.
    pub(super) score: Score,
    /// XOR of the placement keys of the node and the root.
    pub(super) key: u64,
    /// Square that the previous move crossed; [`NO_SQUARE`] if that move crossed no square.
    pub(super) crossed: Square88,
    /// Destination of the previous move, for the detection of recaptures.
    pub(super) target: Square88,
    /// Depth to search, in plies.
    pub(super) depth: i32,
    /// `true` if the node is outside the tree and therefore has a separate table entry. The king
    /// capture test is outside the tree. The root is outside the tree unless the last move crossed
    /// a square.
    pub(super) is_outside: bool,
    /// `true` for the root.
    pub(super) is_root: bool,
}

/// Key of nodes outside the tree. These nodes have separate table entries, because micro-Max passes
/// the crossed square through a signed byte.
const OUTSIDE: u64 = 0xD1B5_4A32_D192_ED03;

impl Node {
    /// Returns the key of the node in the hash table.
    pub(super) fn hash(&self) -> u64 {
        let side = if self.side == Color::Black { zobrist::black_to_move() } else { 0 };
        let crossed = match self.crossed {
            _ if self.is_outside => OUTSIDE,
            NO_SQUARE => 0,
            // The Zobrist number is rotated, because a castling rook on this square uses the same
            // number.
            square => zobrist::castling(super::board::to_square(square)).rotate_left(32),
        };
        self.key ^ side ^ crossed
    }

    /// Returns the king capture test: the node with the other side to move, whose score shows
    /// whether that side can capture the king.
    fn king_capture_test(&self) -> Node {
        Node {
            side: !self.side,
            alpha: -INFINITY,
            beta: INFINITY,
            score: 0,
            key: self.key,
            crossed: NO_SQUARE,
            target: NO_SQUARE,
            depth: 1,
            is_outside: true,
            is_root: false,
        }
    }
}

/// State of one iteration of a node.
struct Scan {
    depth: i32,
    /// The best score so far.
    score: Score,
    /// `true` until the best move of the previous iteration has been searched.
    pending: bool,
}

impl Search<'_> {
    /// Searches a node and returns its score. The score is meaningless if the search was stopped.
    pub(super) fn node(&mut self, node: &Node) -> Score {
        let (slot, entry) = self.look_up(node);
        let mut depth = 0;
        let mut best = Best::default();
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

    /// Returns the slot and the entry of the node in the table. There is no entry if the feature
    /// `hash` is disabled.
    pub(super) fn look_up(&self, node: &Node) -> (Slot, Option<Entry>) {
        let (slot, entry) = self.table.find(node.hash());
        (slot, entry.filter(|_| self.is_enabled(Feature::Hash)))
    }

    /// Searches a node to `depth` plies and stores the result. Sets `depth` to
    /// [`DEPTH_INDEPENDENT`] if the score is a mate score.
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
        if score.abs() > MATE_THRESHOLD {
            *depth = DEPTH_INDEPENDENT;
        }
        if score == -INFINITY {
            // All moves lose the king. The position is mate if the king can be captured now, and
            // stalemate otherwise.
            score = -self.node(&node.king_capture_test()) / 2;
        }
        if !self.limiter.stopped {
            let is_lower = score > node.alpha;
            let is_upper = score < node.beta;
            let entry = Entry { score, depth: *depth, is_lower, is_upper, best: *best };
            self.table.store(slot, node.hash(), &entry);
        }
        score
    }

    /// Searches the moves of all pieces, beginning with the piece of the best move, and returns the
    /// best score.
    fn scan(&mut self, node: &Node, depth: i32, best: &mut Best) -> Score {
        let mut scan = Scan {
            depth,
            // At depth 1, the side to move may stand pat.
            score: if depth > 1 { -INFINITY } else { node.score },
            pending: best.simple && self.is_enabled(Feature::BestFirst),
        };
        let start = best.from;
        let mut from = start;
        loop {
            if let Some(piece) = self.board.at(from).filter(|piece| piece.color == node.side) {
                for &step in piece.steps() {
                    let rest = CandidateMove::start(piece, from);
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

    /// Searches the moves along a ray. Returns `Break` if the node is finished.
    fn ray(
        &mut self,
        node: &Node,
        scan: &mut Scan,
        best: &mut Best,
        rest: CandidateMove,
        step: Square88,
    ) -> ControlFlow<()> {
        let mut candidate = rest;
        loop {
            candidate.to = if scan.pending { best.to } else { candidate.to + step };
            if is_off_board(candidate.to) || !self.may_step(node, &mut candidate, step) {
                return ControlFlow::Continue(());
            }
            if self.takes_king(node, &candidate) {
                scan.score = INFINITY;
            }
            if scan.score >= node.beta {
                return ControlFlow::Break(());
            }
            let depth = scan.depth - self.cost(node, candidate.to);
            if depth > 0 && !(node.is_root && self.is_excluded(&candidate)) {
                let mut score = self.search_move(node, scan.score, &candidate, depth);
                if node.is_root && self.is_illegal_castle(&candidate) {
                    score = -INFINITY;
                }
                if self.limiter.stopped {
                    return ControlFlow::Break(());
                }
                if scan.pending {
                    // The best move was searched first. Now the ray is searched from its start.
                    self.update_pv(node, &candidate, score);
                    scan.score = score;
                    scan.pending = false;
                    candidate = rest;
                    continue;
                }
                if score > scan.score {
                    scan.score = score;
                    *best = Best {
                        from: candidate.from,
                        to: candidate.to,
                        simple: !candidate.is_castle(),
                    };
                    self.update_pv(node, &candidate, score);
                }
            }
            if !self.continues_ray(&mut candidate, step) {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Sets the captured piece of the candidate, and returns whether the candidate is pseudo-legal.
    fn may_step(&self, node: &Node, candidate: &mut CandidateMove, step: Square88) -> bool {
        let is_pawn = candidate.piece.kind == Kind::Pawn;
        candidate.victim =
            if is_pawn && candidate.to == node.crossed { candidate.to ^ 16 } else { candidate.to };
        candidate.taken = self.board.at(candidate.victim);
        let is_own = candidate.taken.is_some_and(|taken| taken.color == node.side);
        let is_straight = step & 7 == 0;
        !(is_own || is_pawn && is_straight == candidate.taken.is_some())
    }

    /// Returns whether the move captures the king, or, directly after castling, reaches the castled
    /// king's origin or the square that the king crossed.
    fn takes_king(&self, node: &Node, candidate: &CandidateMove) -> bool {
        let takes = candidate.taken.is_some_and(|taken| taken.kind == Kind::King);
        let castled = node.crossed != NO_SQUARE && self.board.at(node.crossed).is_some();
        takes || castled && (candidate.to - node.crossed).abs() < 2
    }

    /// Returns the depth that a move costs, in plies: 0 for recaptures, otherwise 1.
    fn cost(&self, node: &Node, to: Square88) -> i32 {
        i32::from(to != node.target || !self.is_enabled(Feature::Recapture))
    }

    /// Returns whether the ray continues after a step: for sliders on an empty square, for pawns on
    /// their third rank, and for castling.
    fn continues_ray(&self, candidate: &mut CandidateMove, step: Square88) -> bool {
        let third_row = if candidate.piece.color == Color::White { 0x50 } else { 0x20 };
        let corner = self.board.castling_corner(candidate, step);
        let special = corner.is_some()
            || candidate.piece.kind == Kind::Pawn && candidate.to & 0x70 == third_row;
        if special {
            candidate.crossed = candidate.to;
            candidate.corner = corner.unwrap_or(candidate.corner);
        }
        candidate.taken.is_none() && (special || candidate.piece.slides())
    }

    /// Makes a move, searches the child node and unmakes the move.
    fn search_move(
        &mut self,
        node: &Node,
        so_far: Score,
        candidate: &CandidateMove,
        depth: i32,
    ) -> Score {
        let delay = self.is_enabled(Feature::DelayedGain);
        self.board.make(candidate);
        let gain = self.gain(candidate);
        let child = Node {
            side: !node.side,
            // A score above the static evaluation is reduced by 1 per ply, so that earlier gains
            // are preferred.
            alpha: -node.beta - Score::from(delay && node.beta > node.score),
            beta: -so_far.max(node.alpha),
            score: -node.score - gain,
            key: node.key ^ candidate.key_change(),
            crossed: candidate.crossed,
            target: candidate.to,
            depth,
            is_outside: false,
            is_root: false,
        };
        let score = -self.node(&child);
        self.board.unmake(candidate);
        if node.is_root {
            self.latest_child = child.hash();
        }
        score - Score::from(delay && score > node.score)
    }

    /// Returns the gain of a move that has been made, in 1/99 pawn.
    fn gain(&self, candidate: &CandidateMove) -> Score {
        let weights = &self.weights;
        let mut gain = candidate.taken.map_or(0, |taken| weights.worth[taken.kind.index()]);
        if !matches!(candidate.piece.kind, Kind::Rook | Kind::Queen) {
            gain += self.eccentricity[candidate.from as usize & 0x7F]
                - self.eccentricity[candidate.to as usize & 0x7F];
        }
        if candidate.is_castle() {
            gain += weights.castling;
        }
        if candidate.piece.kind == Kind::Pawn {
            let missing = self.board.missing_beside(candidate.from, candidate.piece);
            gain -= weights.unsupported * (missing - 1);
            if candidate.promotes() {
                gain += weights.promotion;
            }
        } else if weights.blocked != 0 {
            let color = candidate.piece.color;
            let blocks = |square| Score::from(self.board.is_before_pawn(square, color));
            gain += weights.blocked * (blocks(candidate.from) - blocks(candidate.to));
        }
        gain
    }
}
