//! Mobility, threats, rooks on files, outposts and danger to the king.

use super::super::pair::Pair;
use super::super::sink::Sink;
use super::{Survey, Term, weights};
use crate::chess::attacks;
use crate::chess::color::Side;
use crate::chess::{Bitboard, Kind, Position};

/// Sends the piece terms of side `S` to `sink`.
#[inline]
pub(super) fn score<S: Side, K: Sink>(
    position: &Position,
    own: &Survey,
    enemy: &Survey,
    sink: &mut K,
) {
    let board = position.board();
    let occupied = board.occupied();
    let mine = board.color(S::COLOR);
    let theirs = board.color(!S::COLOR);
    let heavy = theirs & board.straight_sliders();
    let blocked = board.pieces(S::COLOR, Kind::Pawn) | board.pieces(S::COLOR, Kind::King);
    let usable = !(blocked | enemy.pawn_attacks);
    let mut attack = Attack::default();
    for (index, kind) in
        [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen].into_iter().enumerate()
    {
        for square in mine & board.kind(kind) {
            let reach = match kind {
                Kind::Knight => attacks::knight(square),
                Kind::Bishop => attacks::bishop(square, occupied ^ board.kind(Kind::Queen)),
                Kind::Rook => attacks::rook(square, occupied ^ (mine & board.straight_sliders())),
                _ => attacks::queen(square, occupied),
            };
            let above_usual = (reach & usable).len() as i32 - weights::MOBILITY_USUAL[index];
            sink.add(Term::Mobility, S::COLOR, weights::MOBILITY[index] * above_usual);
            attack.add(index, reach & enemy.king_zone);
            if matches!(kind, Kind::Knight | Kind::Bishop) {
                let threats = weights::MINOR_THREAT * (reach & heavy).len() as i32;
                sink.add(Term::MinorThreat, S::COLOR, threats);
                let outpost = own.pawn_attacks - enemy.pawn_span;
                if outpost.contains(square) && square.relative(S::COLOR).rank() >= 3 {
                    sink.add(Term::Outpost, S::COLOR, weights::OUTPOST);
                }
            }
        }
    }
    let threatened = own.pawn_attacks & (theirs - board.kind(Kind::Pawn));
    let threats = weights::PAWN_THREAT * threatened.len() as i32;
    sink.add(Term::PawnThreat, S::COLOR, threats);
    sink.add(Term::RookFile, S::COLOR, rooks::<S>(position));
    sink.add(Term::Shield, S::COLOR, shield::<S>(position));
    sink.add(Term::KingAttack, S::COLOR, attack.worth::<S>(position));
}

fn rooks<S: Side>(position: &Position) -> Pair {
    let board = position.board();
    let pawns = board.kind(Kind::Pawn);
    let mut sum = Pair::default();
    for rook in board.pieces(S::COLOR, Kind::Rook) {
        let file = Bitboard::file(rook.file());
        if (pawns & file).is_empty() {
            sum += weights::ROOK_FILE[0];
        } else if (pawns & file & board.color(S::COLOR)).is_empty() {
            sum += weights::ROOK_FILE[1];
        }
    }
    sum
}

/// The own pawns one and two ranks before the king and beside that.
fn shield_pawns<S: Side>(position: &Position) -> [Bitboard; 2] {
    let board = position.board();
    let king = Bitboard::of(board.king(S::COLOR));
    let near = (king | king.east() | king.west()).forward(S::COLOR);
    let pawns = board.pieces(S::COLOR, Kind::Pawn);
    [near & pawns, near.forward(S::COLOR) & pawns]
}

fn shield<S: Side>(position: &Position) -> Pair {
    let [near, far] = shield_pawns::<S>(position);
    weights::SHIELD_PAWN[0] * near.len() as i32 + weights::SHIELD_PAWN[1] * far.len() as i32
}

/// Pieces that look at the enemy king.
#[derive(Default)]
struct Attack {
    attackers: i32,
    units: i32,
}

impl Attack {
    #[inline]
    fn add(&mut self, index: usize, attacked: Bitboard) {
        if attacked.any() {
            self.attackers += 1;
            self.units +=
                weights::ATTACKER[index] + weights::ATTACKED_SQUARE * attacked.len() as i32;
        }
    }

    /// What the attack of side `S` is worth. A single piece is no attack.
    fn worth<S: Side>(&self, position: &Position) -> Pair {
        if self.attackers < 2 {
            return Pair::default();
        }
        let [near, far] = shield_pawns::<S::Opponent>(position);
        let units = (self.units - weights::SHIELD * (near | far).len() as i32).max(0);
        let danger = (units * units / weights::DANGER_DIVISOR).min(weights::DANGER_MAX);
        Pair::new(danger, danger / 12)
    }
}
