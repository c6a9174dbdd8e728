//! Piece count, and value of combinations of pieces.

use super::Version;
use super::features::{Experiment, Term};
use super::weights::{PAWN, Weights};
use crate::chess::{Color, Kind, Position};
use crate::eval::Score;
use crate::eval::pair::Pair;
use crate::eval::sink::Sink;

/// Value of a piece in the piece count, in pawns, from pawn to queen.
const WORTH: [i32; 5] = [1, 3, 3, 5, 10];

/// Contribution of a piece to the game phase, from pawn to queen.
const PHASE: [i32; 5] = [0, 1, 1, 2, 4];

/// Game phase of the starting position.
pub(super) const PHASE_MAX: i32 = 24;

/// Winning chances, in sixteenths, at which the lead counts in full.
const WHOLE: i32 = 16;

/// Numbers of pieces of each type, from pawn to queen, White's first.
#[derive(Clone, Copy)]
pub(super) struct Counts([[i32; 5]; 2]);

impl Counts {
    #[inline]
    pub(super) fn of(position: &Position) -> Counts {
        let board = position.board();
        let kinds = [Kind::Pawn, Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen];
        let of = |color| kinds.map(|kind| board.pieces(color, kind).len() as i32);
        Counts([of(Color::White), of(Color::Black)])
    }

    /// Returns the game phase: 24 in the starting position, 0 with only kings and pawns.
    #[inline]
    pub(super) fn phase(&self) -> i32 {
        let both = (0..5).map(|kind| PHASE[kind] * (self.0[0][kind] + self.0[1][kind]));
        both.sum::<i32>().min(PHASE_MAX)
    }

    /// Returns the material score from White's point of view, in centipawns.
    pub(super) fn sum<V: Version, K: Sink>(&self, mut sink: K) -> Score {
        self.score::<V, K>(&mut sink);
        // The middlegame and endgame values are equal, so only the conversion to centipawns
        // remains.
        sink.sum().opening() >> 5
    }

    /// Returns the piece count of a side, in pawns.
    #[inline]
    fn count(&self, color: Color) -> i32 {
        self.0[color.index()].iter().zip(WORTH).map(|(&count, worth)| count * worth).sum()
    }

    /// Returns White's piece count minus Black's, in pawns.
    pub(super) fn difference(&self) -> i32 {
        self.count(Color::White) - self.count(Color::Black)
    }

    /// Returns the number of pawns of a side.
    #[inline]
    pub(super) fn pawns(&self, color: Color) -> i32 {
        self.0[color.index()][0]
    }

    /// Returns whether each side has exactly one bishop, and no other pieces besides the king and
    /// pawns.
    #[inline]
    pub(super) fn one_bishop_each(&self) -> bool {
        self.0.iter().all(|side| side[1..] == [0, 1, 0, 0])
    }

    /// Adds the piece count, the imbalance, and the reduction for material that cannot win.
    #[inline]
    pub(super) fn score<V: Version, K: Sink>(&self, sink: &mut K) {
        let [white, black] = Color::ALL.map(|color| PAWN * self.count(color));
        sink.add(Term::Material, Color::White, Pair::new(white, white));
        sink.add(Term::Material, Color::Black, Pair::new(black, black));
        let count = if sink.is_enabled(Term::Material) { white - black } else { 0 };
        let is_enabled = sink.is_enabled(Term::Imbalance);
        let pawns = if sink.tries(Experiment::OtherPawnValues) { V::OTHER } else { V::WEIGHTS };
        let pawns = &pawns.imbalance.pawn;
        let mut total = count + if is_enabled { self.imbalance(V::WEIGHTS, pawns) } else { 0 };
        if sink.is_enabled(Term::DrawishMaterial) && total != 0 {
            let strong = if total > 0 { Color::White } else { Color::Black };
            let part = self.winning_chances(strong);
            if part < WHOLE {
                total = total * part / WHOLE;
            }
        }
        // Rybka's material table combines the imbalance and the reduction in one number, so both
        // are recorded as one term.
        let term = if is_enabled { Term::Imbalance } else { Term::DrawishMaterial };
        let net = total - count;
        let owner = if net < 0 { Color::Black } else { Color::White };
        sink.add(term, owner, Pair::new(net.abs(), net.abs()));
    }

    /// Returns the imbalance, White minus Black, from a compact model of Rybka's material table.
    #[inline]
    fn imbalance(&self, weights: &Weights, pawns: &[i32; 3]) -> i32 {
        let [white, black] = self.0;
        if white == black {
            return 0;
        }
        let model = &weights.imbalance;
        let more: [i32; 5] = std::array::from_fn(|kind| white[kind] - black[kind]);
        let pair = |kind: usize| i32::from(white[kind] >= 2) - i32::from(black[kind] >= 2);
        let (knights, bishops, rooks) = (pair(1), pair(2), pair(3));
        let beside_pawns = |kind: usize| white[0] * white[kind] - black[0] * black[kind];
        let steady = model.pawn_knight * beside_pawns(1) + model.pawn_rook * beside_pawns(3);
        let stage = |at: usize| {
            model.knight[at] * more[1]
                + model.bishop[at] * more[2]
                + model.rook[at] * more[3]
                + model.queen[at] * more[4]
                + pawns[at] * more[0]
                + model.bishop_pair[at] * bishops
                + model.rook_pair[at] * rooks
                + model.knight_pair[at] * knights
                + steady
        };
        let half = PHASE_MAX / 2;
        let phase = self.phase();
        if phase <= half {
            (stage(0) * (half - phase) + stage(1) * phase) / half
        } else {
            (stage(1) * (PHASE_MAX - phase) + stage(2) * (phase - half)) / half
        }
    }

    /// Returns the winning chances of the stronger side, in sixteenths. The lead is multiplied by
    /// this fraction.
    #[inline]
    pub(super) fn winning_chances(&self, strong: Color) -> i32 {
        let [pawns, knights, bishops, rooks, queens] = self.0[strong.index()];
        if pawns >= 2 {
            return WHOLE;
        }
        let [weak_pawns, weak_knights, weak_bishops, weak_rooks, weak_queens] =
            self.0[(!strong).index()];
        let heavy = 2 * queens + rooks;
        let all = 2 * heavy + bishops + knights;
        let mut weak = 2 * (2 * weak_queens + weak_rooks) + weak_bishops + weak_knights;
        if pawns == 0 {
            return match (all, knights, bishops) {
                (1, _, _) => 0,
                (2, 2, _) => i32::from(weak == 0 && weak_pawns > 0),
                (2, _, 2) if weak == 1 && weak_knights == 1 => 8,
                _ if all - weak <= 1 && heavy <= 2 => 2,
                _ => WHOLE,
            };
        }
        // The weaker side is assumed to sacrifice its cheapest piece for the last pawn.
        if weak_bishops + weak_knights > 0 {
            weak -= 1;
        } else if weak_rooks > 0 {
            weak -= 2;
        } else {
            return WHOLE;
        }
        match (all, knights) {
            (1, _) | (2, 2) => 4,
            _ if all - weak <= 1 && heavy <= 2 => 8,
            _ => WHOLE,
        }
    }
}
