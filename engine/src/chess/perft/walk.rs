//! Fast counting of leaves, with bitboards only.
//!
//! A node consists of bitboards (64 bytes) and of the castling and en-passant rights. A node has
//! neither a key nor a mailbox. Nodes are copied, and moves are not unmade. Child nodes are made
//! directly from the generator's sets of destinations, without a move list. On the last ply, the
//! moves are only counted. The side to move is a compile-time parameter. A second compile-time
//! parameter states whether the leaves are exactly two plies below a node.

use std::marker::PhantomData;

use crate::chess::attacks::{self, Cpu, Job};
use crate::chess::bitboard::Bitboard;
use crate::chess::color::{Black, Color, Side, White};
use crate::chess::movegen::{
    Counter, Mover, Node, Rights, Visitor, generate, in_check, without_check,
};
use crate::chess::moves::MoveKind;
use crate::chess::piece::Kind;
use crate::chess::position::{Board, CheckInfo, Position, castled_squares};
use crate::chess::square::Square;

/// Job that counts the leaves `depth` plies (at least one) below a position.
pub(super) struct Count<'a> {
    pub(super) position: &'a Position,
    pub(super) depth: u32,
}

impl Job for Count<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<C: Cpu>(self, cpu: C) -> u64 {
        let board = self.position.board();
        let rights = Rights::of(self.position);
        match self.position.turn() {
            Color::White => count::<White, C>(cpu, board, rights, self.depth),
            Color::Black => count::<Black, C>(cpu, board, rights, self.depth),
        }
    }
}

#[inline(always)]
fn count<S: Side, C: Cpu>(cpu: C, board: &Board, rights: Rights, depth: u32) -> u64 {
    let side = PhantomData::<S>;
    match depth {
        0 | 1 => cpu.run(LastPly { side, board, king: board.king(S::COLOR), rights }),
        // The inlined code for the last ply doubles the compile time of the crate, so development
        // builds do without the inlined code.
        2 if cfg!(not(debug_assertions)) => {
            cpu.run(Inner::<S, true> { side, board, rights, depth })
        }
        _ => cpu.run(Inner::<S, false> { side, board, rights, depth }),
    }
}

/// Job that counts the moves of a node. The job is inlined into the code of the parent node, which
/// has already found the king's square.
struct LastPly<'a, S> {
    side: PhantomData<S>,
    board: &'a Board,
    king: Square,
    rights: Rights,
}

impl<S: Side> Job for LastPly<'_, S> {
    type Output = u64;

    #[inline(always)]
    fn run<C: Cpu>(self, cpu: C) -> u64 {
        let check_info = CheckInfo::find::<S>(self.board, self.king);
        let node = Node { board: self.board, king: self.king, rights: self.rights, check_info };
        if check_info.checkers.any() {
            let LastPly { side, king, rights, .. } = self;
            return cpu.run(LastPlyInCheck { side, board: *self.board, king, rights, check_info });
        }
        let mut counter = Counter::default();
        without_check::<S, C, Counter, true, true>(cpu, node, &mut counter);
        counter.count
    }
}

/// Job that counts the moves of a node in check. The job is separate and not inlined, because nodes
/// in check are rare.
struct LastPlyInCheck<S> {
    side: PhantomData<S>,
    board: Board,
    king: Square,
    rights: Rights,
    check_info: CheckInfo,
}

impl<S: Side> Job for LastPlyInCheck<S> {
    type Output = u64;

    #[inline(always)]
    fn run<C: Cpu>(self, cpu: C) -> u64 {
        let mut counter = Counter::default();
        let node = Node {
            board: &self.board,
            king: self.king,
            rights: self.rights,
            check_info: self.check_info,
        };
        in_check::<S, C, Counter, true, true>(cpu, node, &mut counter);
        counter.count
    }
}

/// Job that counts the leaves two or more plies below a node; exactly two if `LAST`.
struct Inner<'a, S, const LAST: bool> {
    side: PhantomData<S>,
    board: &'a Board,
    rights: Rights,
    depth: u32,
}

impl<S: Side, const LAST: bool> Job for Inner<'_, S, LAST> {
    type Output = u64;

    #[inline(always)]
    fn run<C: Cpu>(self, cpu: C) -> u64 {
        let Inner { side, board, rights, depth } = self;
        let king = board.king(S::COLOR);
        let node = Node { board, king, rights, check_info: CheckInfo::find::<S>(board, king) };
        let castling = rights.castling;
        let enemy_king = board.king(!S::COLOR);
        let mut walker =
            Walker::<S, C, LAST> { side, cpu, board, enemy_king, castling, depth, count: 0 };
        generate::<S, C, _, true, true>(cpu, node, &mut walker);
        walker.count
    }
}

/// Visitor that makes each generated move and counts the leaves below the move.
struct Walker<'a, S, C, const LAST: bool> {
    side: PhantomData<S>,
    cpu: C,
    board: &'a Board,
    enemy_king: Square,
    castling: Bitboard,
    depth: u32,
    count: u64,
}

impl<S: Side, C: Cpu, const LAST: bool> Walker<'_, S, C, LAST> {
    #[inline(always)]
    fn descend(&mut self, board: &Board, rights: Rights) {
        let side = PhantomData::<S::Opponent>;
        self.count += if LAST {
            LastPly { side, board, king: self.enemy_king, rights }.run(self.cpu)
        } else {
            count::<S::Opponent, C>(self.cpu, board, rights, self.depth - 1)
        };
    }

    /// Descends like [`descend`](Self::descend) without an inlined copy of the code for the last
    /// ply. Used for rare moves.
    #[inline(always)]
    fn descend_apart(&mut self, board: &Board, rights: Rights) {
        self.count += count::<S::Opponent, C>(self.cpu, board, rights, self.depth - 1);
    }

    /// Makes the moves of one piece to `targets`.
    #[inline(always)]
    fn moves(&mut self, kind: Kind, from: Square, targets: Bitboard) {
        let mut castling = self.castling - Bitboard::of(from);
        if kind == Kind::King {
            castling = castling - Bitboard::rank(S::COLOR.relative_rank(0));
        }
        let enemy = self.board.color(!S::COLOR);
        for to in targets & enemy {
            let board = self.board.after::<S>(kind, kind, from, to);
            self.descend_apart(&board, Rights::to_castle(castling - Bitboard::of(to)));
        }
        for to in targets - enemy {
            let board = self.board.after_quiet::<S>(kind, from, to);
            self.descend(&board, Rights::to_castle(castling));
        }
    }
}

impl<S: Side, C: Cpu, const LAST: bool> Visitor for Walker<'_, S, C, LAST> {
    #[inline(always)]
    fn piece(&mut self, mover: Mover, from: Square, targets: Bitboard) {
        // Each call passes a constant kind, so that the compiler knows which set changes.
        match mover {
            Mover::King => self.moves(Kind::King, from, targets),
            Mover::Knight => self.moves(Kind::Knight, from, targets),
            Mover::Bishop => self.moves(Kind::Bishop, from, targets),
            Mover::Rook => self.moves(Kind::Rook, from, targets),
            Mover::Queen => self.moves(Kind::Queen, from, targets),
        }
    }

    #[inline(always)]
    fn pinned(&mut self, from: Square, targets: Bitboard) {
        let is = |kind| self.board.kind(kind).contains(from);
        let kind = if is(Kind::Queen) {
            Kind::Queen
        } else if is(Kind::Rook) {
            Kind::Rook
        } else {
            Kind::Bishop
        };
        for to in targets {
            let board = self.board.after::<S>(kind, kind, from, to);
            let squares = Bitboard::of(from) | Bitboard::of(to);
            self.descend_apart(&board, Rights::to_castle(self.castling - squares));
        }
    }

    #[inline(always)]
    fn pawns(&mut self, targets: Bitboard, step: i8, kind: MoveKind) {
        for to in targets {
            let from = to.offset(-step);
            let board = if kind == MoveKind::Capture {
                self.board.after::<S>(Kind::Pawn, Kind::Pawn, from, to)
            } else {
                self.board.after_quiet::<S>(Kind::Pawn, from, to)
            };
            let mut rights = Rights::to_castle(self.castling - Bitboard::of(to));
            if kind == MoveKind::DoublePush {
                let passed = to.offset(-step / 2);
                let takers = board.pieces(!S::COLOR, Kind::Pawn);
                if (attacks::pawn(S::COLOR, passed) & takers).any() {
                    rights.en_passant = Bitboard::of(passed);
                }
            }
            if kind == MoveKind::Quiet {
                self.descend(&board, rights);
            } else {
                self.descend_apart(&board, rights);
            }
        }
    }

    #[inline(always)]
    fn promotions(&mut self, targets: Bitboard, step: i8, _capture: bool) {
        for to in targets {
            let from = to.offset(-step);
            for kind in [Kind::Queen, Kind::Knight, Kind::Rook, Kind::Bishop] {
                let board = self.board.after::<S>(Kind::Pawn, kind, from, to);
                self.descend_apart(&board, Rights::to_castle(self.castling - Bitboard::of(to)));
            }
        }
    }

    #[inline(always)]
    fn castle(&mut self, king: Square, rook: Square) {
        let (king_to, rook_to) = castled_squares(king, rook);
        let board = self.board.after_castling::<S>((king, king_to), (rook, rook_to));
        self.descend_apart(
            &board,
            Rights::to_castle(self.castling - Bitboard::rank(S::COLOR.relative_rank(0))),
        );
    }

    #[inline(always)]
    fn en_passant(&mut self, from: Square, to: Square) {
        let captured = Square::at(to.file(), from.rank());
        let board = self.board.after_en_passant::<S>(from, to, captured);
        self.descend_apart(&board, Rights::to_castle(self.castling));
    }
}
