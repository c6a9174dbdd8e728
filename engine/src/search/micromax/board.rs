//! micro-Max's board: sixteen squares a row, of which only the first eight exist, so that a step
//! over the edge shows in one bit. The eighth rank is the first row.

use crate::chess::position::castled_squares;
use crate::chess::{Color, Kind, Position, Square, zobrist};

/// A square of the board, `16 * row + file`, or one beyond its edge.
pub(super) type Place = i32;

/// No square.
pub(super) const NOWHERE: Place = 0x80;

const BEYOND: Place = 0x88;

/// Is the place beyond the edge?
pub(super) const fn is_beyond(place: Place) -> bool {
    place & BEYOND != 0
}

/// The next square in the order in which the board is searched for pieces.
pub(super) const fn next(place: Place) -> Place {
    (place + 9) & !BEYOND
}

/// Where a square of chess is.
pub(super) fn place(square: Square) -> Place {
    Place::from(7 - square.rank()) << 4 | Place::from(square.file())
}

/// Which square of chess a place is.
pub(super) fn square(place: Place) -> Square {
    Square::at((place & 7) as u8, 7 - (place >> 4 & 7) as u8)
}

/// A piece on the board.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Man {
    /// Its owner.
    pub(super) color: Color,
    /// What it is.
    pub(super) kind: Kind,
    /// Is it a king or rook that may still castle?
    pub(super) unmoved: bool,
}

impl Man {
    fn new(color: Color, kind: Kind) -> Man {
        Man { color, kind, unmoved: false }
    }

    /// Its steps in the order in which they are tried.
    pub(super) fn steps(self) -> &'static [Place] {
        match (self.kind, self.color) {
            (Kind::Pawn, Color::White) => &[-16, -15, -17],
            (Kind::Pawn, Color::Black) => &[16, 15, 17],
            (Kind::Knight, _) => &[-14, 14, -18, 18, -31, 31, -33, 33],
            (Kind::Bishop, _) => &[-15, 15, -17, 17],
            (Kind::Rook, _) => &[-1, 1, -16, 16],
            (Kind::King | Kind::Queen, _) => &[-1, 1, -16, 16, -15, 15, -17, 17],
        }
    }

    /// May it go on after a step onto an empty square?
    pub(super) fn slides(self) -> bool {
        matches!(self.kind, Kind::Bishop | Kind::Rook | Kind::Queen)
    }

    /// The word of the piece on a square, for keys.
    fn word(self, at: Place) -> u64 {
        zobrist::placement(self.color, self.kind, square(at))
    }
}

/// A move in the making: one step along a ray.
#[derive(Clone, Copy)]
pub(super) struct Shot {
    /// The piece.
    pub(super) man: Man,
    /// Where it comes from.
    pub(super) from: Place,
    /// Where it goes.
    pub(super) to: Place,
    /// The square of what it takes.
    pub(super) victim: Place,
    /// What it takes.
    pub(super) taken: Option<Man>,
    /// The square that a pawn or a castling king has crossed.
    pub(super) crossed: Place,
    /// The corner of the rook that castles, too.
    pub(super) corner: Place,
}

impl Shot {
    /// A ray before its first step.
    pub(super) fn at_rest(man: Man, from: Place) -> Shot {
        Shot { man, from, to: from, victim: from, taken: None, crossed: NOWHERE, corner: NOWHERE }
    }

    /// Is it castling?
    pub(super) fn is_castle(&self) -> bool {
        self.corner != NOWHERE
    }

    /// Does a pawn reach the last row?
    pub(super) fn promotes(&self) -> bool {
        let last = match self.man.color {
            Color::White => 0x00,
            Color::Black => 0x70,
        };
        self.man.kind == Kind::Pawn && self.to & 0x70 == last
    }

    /// What arrives.
    fn arriving(&self) -> Man {
        let kind = if self.promotes() { Kind::Queen } else { self.man.kind };
        Man::new(self.man.color, kind)
    }

    /// What the move changes in the key of the placement. That a castling rook has moved shows in a
    /// word of its own.
    pub(super) fn key_change(&self) -> u64 {
        let taken = self.taken.map_or(0, |taken| taken.word(self.victim));
        let castled = if self.is_castle() { zobrist::castling(square(self.corner)) } else { 0 };
        self.arriving().word(self.to) ^ self.man.word(self.from) ^ taken ^ castled
    }
}

/// What stands where.
pub(super) struct Board([Option<Man>; 128]);

impl Board {
    /// The board of a position.
    pub(super) fn new(position: &Position) -> Board {
        let mut board = Board([None; 128]);
        for at in position.board().occupied() {
            let piece = position.piece_at(at);
            board.0[place(at) as usize] = piece.map(|piece| Man::new(piece.color, piece.kind));
        }
        if !position.is_chess960() {
            for rook in position.castling_rooks() {
                let color = if rook.rank() == 0 { Color::White } else { Color::Black };
                for at in [rook, position.board().king(color)] {
                    if let Some(man) = &mut board.0[place(at) as usize] {
                        man.unmoved = true;
                    }
                }
            }
        }
        board
    }

    /// What stands on a square.
    pub(super) fn at(&self, place: Place) -> Option<Man> {
        self.0[place as usize & 0x7F]
    }

    /// The number of the two squares two files beside `place` that are no square or hold no such
    /// pawn.
    pub(super) fn missing_beside(&self, place: Place, pawn: Man) -> i32 {
        let missing = |at: Place| is_beyond(at) || self.at(at) != Some(pawn);
        i32::from(missing(place - 2)) + i32::from(missing(place + 2))
    }

    /// The corner with the rook towards which a king that steps aside may castle.
    pub(super) fn castling_corner(&self, shot: &Shot, step: Place) -> Option<Place> {
        let may = shot.man.kind == Kind::King && shot.man.unmoved && step.abs() == 1;
        if !may || shot.is_castle() {
            return None;
        }
        let corner = (shot.from | 7) - if step < 0 { 7 } else { 0 };
        let ready = self.at(corner).is_some_and(|rook| rook.unmoved);
        let is_free = self.at(corner ^ 1).is_none() && self.at(corner ^ 2).is_none();
        (ready && is_free).then_some(corner)
    }

    fn set(&mut self, place: Place, man: Option<Man>) {
        self.0[place as usize & 0x7F] = man;
    }

    /// Makes a move.
    pub(super) fn make(&mut self, shot: &Shot) {
        self.set(shot.victim, None);
        self.set(shot.from, None);
        self.set(shot.to, Some(shot.arriving()));
        if shot.is_castle() {
            self.set(shot.corner, None);
            self.set(shot.crossed, Some(Man::new(shot.man.color, Kind::Rook)));
        }
    }

    /// Takes the move back.
    pub(super) fn unmake(&mut self, shot: &Shot) {
        if shot.is_castle() {
            let rook = Man { unmoved: true, ..Man::new(shot.man.color, Kind::Rook) };
            self.set(shot.corner, Some(rook));
            self.set(shot.crossed, None);
        }
        self.set(shot.to, None);
        self.set(shot.from, Some(shot.man));
        self.set(shot.victim, shot.taken);
    }
}

/// The square that the latest move of a game has crossed, if a pawn went two squares or a king
/// castled.
pub(super) fn crossed(mv: crate::chess::Move) -> Option<Place> {
    use crate::chess::MoveKind;
    match mv.kind() {
        MoveKind::DoublePush => Some((place(mv.from()) + place(mv.to())) / 2),
        MoveKind::Castle => Some(place(castled_squares(mv.from(), mv.to()).1)),
        _ => None,
    }
}
