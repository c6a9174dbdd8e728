//! 0x88 board of micro-Max. A row has 16 squares, of which only the first 8 are on the board, so
//! that two bits of the index mark squares off the board. The first row is the eighth rank.

use crate::chess::position::castled_squares;
use crate::chess::{Color, Kind, Position, Square, zobrist};

/// A 0x88 square, `16 * row + file`, on or off the board.
pub(super) type Square88 = i32;

/// No square.
pub(super) const NO_SQUARE: Square88 = 0x80;

const OFF_BOARD: Square88 = 0x88;

/// Returns whether the square is off the board.
pub(super) const fn is_off_board(square: Square88) -> bool {
    square & OFF_BOARD != 0
}

/// Returns the next square in the order in which micro-Max visits the squares.
pub(super) const fn next(square: Square88) -> Square88 {
    (square + 9) & !OFF_BOARD
}

/// Converts a square to a 0x88 square.
pub(super) fn to_square88(square: Square) -> Square88 {
    Square88::from(7 - square.rank()) << 4 | Square88::from(square.file())
}

/// Converts a 0x88 square to a square.
pub(super) fn to_square(square: Square88) -> Square {
    Square::at((square & 7) as u8, 7 - (square >> 4 & 7) as u8)
}

/// A piece on the board.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct BoardPiece {
    /// Colour of the piece.
    pub(super) color: Color,
    /// Type of the piece.
    pub(super) kind: Kind,
    /// `true` for a king or rook that may still castle.
    pub(super) unmoved: bool,
}

impl BoardPiece {
    fn new(color: Color, kind: Kind) -> BoardPiece {
        BoardPiece { color, kind, unmoved: false }
    }

    /// Returns the steps of the piece, in micro-Max's order.
    pub(super) fn steps(self) -> &'static [Square88] {
        match (self.kind, self.color) {
            (Kind::Pawn, Color::White) => &[-16, -15, -17],
            (Kind::Pawn, Color::Black) => &[16, 15, 17],
            (Kind::Knight, _) => &[-14, 14, -18, 18, -31, 31, -33, 33],
            (Kind::Bishop, _) => &[-15, 15, -17, 17],
            (Kind::Rook, _) => &[-1, 1, -16, 16],
            (Kind::King | Kind::Queen, _) => &[-1, 1, -16, 16, -15, 15, -17, 17],
        }
    }

    /// Returns whether the piece may continue after a step onto an empty square.
    pub(super) fn slides(self) -> bool {
        matches!(self.kind, Kind::Bishop | Kind::Rook | Kind::Queen)
    }

    /// Returns the Zobrist number of the piece on a square.
    fn word(self, at: Square88) -> u64 {
        zobrist::placement(self.color, self.kind, to_square(at))
    }
}

/// A pseudo-legal move that is built step by step along a ray.
#[derive(Clone, Copy)]
pub(super) struct CandidateMove {
    /// The piece that moves.
    pub(super) piece: BoardPiece,
    /// Origin.
    pub(super) from: Square88,
    /// Destination.
    pub(super) to: Square88,
    /// The square of the captured piece.
    pub(super) victim: Square88,
    /// The captured piece.
    pub(super) taken: Option<BoardPiece>,
    /// Square that a double push or a castling king has crossed; [`NO_SQUARE`] for other moves.
    pub(super) crossed: Square88,
    /// Corner of the castling rook; [`NO_SQUARE`] if the move is not castling.
    pub(super) corner: Square88,
}

impl CandidateMove {
    /// Returns the candidate at the start of a ray, before the first step.
    pub(super) fn start(piece: BoardPiece, from: Square88) -> CandidateMove {
        CandidateMove {
            piece,
            from,
            to: from,
            victim: from,
            taken: None,
            crossed: NO_SQUARE,
            corner: NO_SQUARE,
        }
    }

    /// Returns whether the move is castling.
    pub(super) fn is_castle(&self) -> bool {
        self.corner != NO_SQUARE
    }

    /// Returns whether the move is a pawn move to the last rank.
    pub(super) fn promotes(&self) -> bool {
        let last = match self.piece.color {
            Color::White => 0x00,
            Color::Black => 0x70,
        };
        self.piece.kind == Kind::Pawn && self.to & 0x70 == last
    }

    /// Returns the piece on the destination after the move. Pawns promote to queens.
    fn arriving(&self) -> BoardPiece {
        let kind = if self.promotes() { Kind::Queen } else { self.piece.kind };
        BoardPiece::new(self.piece.color, kind)
    }

    /// Returns the change of the placement key. For castling, the change for the rook is one
    /// Zobrist number that depends on the rook's corner.
    pub(super) fn key_change(&self) -> u64 {
        let taken = self.taken.map_or(0, |taken| taken.word(self.victim));
        let castled = if self.is_castle() { zobrist::castling(to_square(self.corner)) } else { 0 };
        self.arriving().word(self.to) ^ self.piece.word(self.from) ^ taken ^ castled
    }
}

/// Board: the pieces by 0x88 square.
pub(super) struct Board([Option<BoardPiece>; 128]);

impl Board {
    /// Returns the board of a position.
    pub(super) fn new(position: &Position) -> Board {
        let mut board = Board([None; 128]);
        for at in position.board().occupied() {
            let piece = position.piece_at(at);
            board.0[to_square88(at) as usize] =
                piece.map(|piece| BoardPiece::new(piece.color, piece.kind));
        }
        if !position.is_chess960() {
            for rook in position.castling_rooks() {
                let color = if rook.rank() == 0 { Color::White } else { Color::Black };
                for at in [rook, position.board().king(color)] {
                    if let Some(piece) = &mut board.0[to_square88(at) as usize] {
                        piece.unmoved = true;
                    }
                }
            }
        }
        board
    }

    /// Returns the piece on a square.
    pub(super) fn at(&self, square: Square88) -> Option<BoardPiece> {
        self.0[square as usize & 0x7F]
    }

    /// Returns the number of sides (left and right of `square`) on which the square two files away
    /// does not contain `pawn`.
    pub(super) fn missing_beside(&self, square: Square88, pawn: BoardPiece) -> i32 {
        let missing = |at: Square88| is_off_board(at) || self.at(at) != Some(pawn);
        i32::from(missing(square - 2)) + i32::from(missing(square + 2))
    }

    /// Returns whether the square is directly in front of a pawn of colour `color`.
    pub(super) fn is_before_pawn(&self, square: Square88, color: Color) -> bool {
        let behind = square + if color == Color::White { 16 } else { -16 };
        let pawn = |piece: BoardPiece| piece.color == color && piece.kind == Kind::Pawn;
        !is_off_board(behind) && self.at(behind).is_some_and(pawn)
    }

    /// Returns the corner of the rook with which the king may castle after the sideways step
    /// `step`; `None` if castling is not possible.
    pub(super) fn castling_corner(
        &self,
        candidate: &CandidateMove,
        step: Square88,
    ) -> Option<Square88> {
        let may = candidate.piece.kind == Kind::King && candidate.piece.unmoved && step.abs() == 1;
        if !may || candidate.is_castle() {
            return None;
        }
        let corner = (candidate.from | 7) - if step < 0 { 7 } else { 0 };
        let ready = self.at(corner).is_some_and(|rook| rook.unmoved);
        let is_free = self.at(corner ^ 1).is_none() && self.at(corner ^ 2).is_none();
        (ready && is_free).then_some(corner)
    }

    fn set(&mut self, square: Square88, piece: Option<BoardPiece>) {
        self.0[square as usize & 0x7F] = piece;
    }

    /// Makes a move.
    pub(super) fn make(&mut self, candidate: &CandidateMove) {
        self.set(candidate.victim, None);
        self.set(candidate.from, None);
        self.set(candidate.to, Some(candidate.arriving()));
        if candidate.is_castle() {
            self.set(candidate.corner, None);
            self.set(candidate.crossed, Some(BoardPiece::new(candidate.piece.color, Kind::Rook)));
        }
    }

    /// Unmakes a move.
    pub(super) fn unmake(&mut self, candidate: &CandidateMove) {
        if candidate.is_castle() {
            let rook =
                BoardPiece { unmoved: true, ..BoardPiece::new(candidate.piece.color, Kind::Rook) };
            self.set(candidate.corner, Some(rook));
            self.set(candidate.crossed, None);
        }
        self.set(candidate.to, None);
        self.set(candidate.from, Some(candidate.piece));
        self.set(candidate.victim, candidate.taken);
    }
}

/// Returns the square that a double push or a castling king crosses; `None` for other moves.
pub(super) fn crossed(mv: crate::chess::Move) -> Option<Square88> {
    use crate::chess::MoveKind;
    match mv.kind() {
        MoveKind::DoublePush => Some((to_square88(mv.from()) + to_square88(mv.to())) / 2),
        MoveKind::Castle => Some(to_square88(castled_squares(mv.from(), mv.to()).1)),
        _ => None,
    }
}
