//! Where the static evaluation has been wrong: what searches found beyond it is remembered by parts
//! of the position, and added where the same parts are met again (correction history, first in
//! Caissa, 2023).

use super::history::{PIECE_TO_COUNT, PieceTo, apply_bonus};
use super::params;
use crate::chess::{Bitboard, Color, Kind, Position};
use crate::eval::Score;

/// No entry exceeds this in size.
const MAX: i32 = 1_024;

/// The most that one search may teach.
const LESSON_MAX: i32 = MAX / 4;

/// Places in each table, as a power of two.
const PLACE_BITS: u32 = 14;

/// Pawns, the pieces of either side, minor pieces with the kings.
const PARTS: usize = 4;

/// Errors of the static evaluation, from the point of view of the side to move.
pub(super) struct Corrections {
    /// By part of the position, side to move and place.
    parts: Box<[i16]>,
    /// By the arrivals two plies ago and one ply ago.
    moves: Box<[i16]>,
}

impl Corrections {
    /// No errors known.
    pub(super) fn new() -> Corrections {
        Corrections {
            parts: vec![0; (PARTS * 2) << PLACE_BITS].into(),
            moves: vec![0; PIECE_TO_COUNT * PIECE_TO_COUNT].into(),
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.parts.fill(0);
        self.moves.fill(0);
    }

    /// What to add to the static evaluation of a position, in centipawns. `previous` are the moves
    /// that led to it.
    #[inline]
    pub(super) fn of(&self, position: &Position, previous: [Option<PieceTo>; 3]) -> Score {
        let mut sum = 0;
        for (place, weight) in places(position).into_iter().zip(params::correction_parts()) {
            sum += i32::from(self.parts[place]) * weight;
        }
        if let Some(place) = sequence(previous) {
            sum += i32::from(self.moves[place]) * params::correction_moves();
        }
        sum / MAX
    }

    /// A search to `depth` found `error` more than the static evaluation, corrected, had promised.
    pub(super) fn learn(
        &mut self,
        position: &Position,
        previous: [Option<PieceTo>; 3],
        error: Score,
        depth: i32,
    ) {
        let lesson = error * depth * params::correction_rate() / 8;
        let lesson = lesson.clamp(-LESSON_MAX, LESSON_MAX);
        for place in places(position) {
            apply_bonus::<MAX>(&mut self.parts[place], lesson);
        }
        if let Some(place) = sequence(previous) {
            apply_bonus::<MAX>(&mut self.moves[place], lesson);
        }
    }
}

/// The places that the parts of a position have in their tables.
#[inline]
fn places(position: &Position) -> [usize; PARTS] {
    let board = position.board();
    let both = |kind| Color::ALL.map(|color| board.pieces(color, kind));
    let pieces = |color| {
        let kinds = [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King];
        kinds.map(|kind| board.pieces(color, kind))
    };
    let minor = board.kind(Kind::Knight) | board.kind(Kind::Bishop);
    let minors = [
        board.kind(Kind::Knight),
        minor & board.color(Color::White),
        minor & board.color(Color::Black),
        board.kind(Kind::King),
    ];
    let turn = position.turn().index();
    let places = [
        place(&both(Kind::Pawn)),
        place(&pieces(Color::White)),
        place(&pieces(Color::Black)),
        place(&minors),
    ];
    let mut part = 0;
    places.map(|place| {
        part += 1;
        ((part - 1) * 2 + turn) << PLACE_BITS | place
    })
}

#[inline]
fn place(sets: &[Bitboard]) -> usize {
    (hash(sets) >> (u64::BITS - PLACE_BITS)) as usize
}

/// A word that depends on every member of every set: multiplicative hashing (Knuth, "The Art of
/// Computer Programming", 6.4), set by set. Cheaper than keeping keys up to date with every move.
#[inline]
pub(super) fn hash(sets: &[Bitboard]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut word = 0;
    for set in sets {
        word = (word ^ set.0).wrapping_mul(FACTOR);
        word ^= word >> 32;
    }
    word.wrapping_mul(FACTOR)
}

#[inline]
fn sequence([last, one_before, _]: [Option<PieceTo>; 3]) -> Option<usize> {
    Some(one_before? * PIECE_TO_COUNT + last?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;

    #[test]
    fn an_error_is_corrected_where_parts_are_shared() {
        let parse = |text| fen::parse(text).unwrap();
        let taught = parse("r1bq1rk1/pp3ppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R2Q1RK1 w - - 0 10");
        let same_pawns = parse("2rq1rk1/pp3ppp/4pn2/3p4/3P4/3BPN2/PP3PPP/R2Q1RK1 w - - 0 12");
        let unlike = parse("4r1k1/1p3p2/8/8/8/5N2/P5P1/R5K1 w - - 0 30");
        let other_side = parse("2rq1rk1/pp3ppp/4pn2/3p4/3P4/3BPN2/PP3PPP/R2Q1RK1 b - - 0 12");
        let mut corrections = Corrections::new();
        for _ in 0..8 {
            corrections.learn(&taught, [Some(3), Some(700), None], 40, 6);
        }
        let whole = corrections.of(&taught, [Some(3), Some(700), None]);
        let without_moves = corrections.of(&taught, [None, Some(700), None]);
        let pawns = corrections.of(&same_pawns, [None; 3]);
        assert!(whole > without_moves && without_moves > pawns && pawns > 0, "{whole} {pawns}");
        assert_eq!(corrections.of(&unlike, [None; 3]), 0);
        assert_eq!(corrections.of(&other_side, [None; 3]), 0);
        corrections.clear();
        assert_eq!(corrections.of(&taught, [Some(3), Some(700), None]), 0);
    }

    #[test]
    fn no_error_makes_a_correction_exceed_its_weights() {
        let position = Position::startpos();
        let most = params::correction_parts().iter().sum::<i32>() + params::correction_moves();
        let mut corrections = Corrections::new();
        for error in [30_000, -30_000] {
            for _ in 0..100 {
                corrections.learn(&position, [Some(0), Some(767), None], error, 100);
            }
            let correction = corrections.of(&position, [Some(0), Some(767), None]);
            assert!((most - 5..=most).contains(&correction.abs()), "{correction}");
            assert_eq!(correction > 0, error > 0);
        }
    }

    #[test]
    fn places_are_spread() {
        // Pawn structures that differ by a single pawn on the board's edge.
        let mut seen = std::collections::HashSet::new();
        for square in 0..64 {
            for other in 0..square {
                seen.insert(place(&[Bitboard(1 << square), Bitboard(1 << other)]));
            }
        }
        // 2016 structures in 16384 places: about 120 share one by chance.
        assert!(seen.len() > 1_750, "{}", seen.len());
    }
}
