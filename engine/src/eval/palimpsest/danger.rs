//! King danger: a sum of danger units. The sum is squared for the middlegame score.

use super::kingpawn::KingPawn;
use super::layout as at;
use super::side_info::SideInfo;
use super::weights::WEIGHTS;
use super::{Term, danger_worth};
use crate::chess::attacks::{self, Cpu};
use crate::chess::color::{Color, Side};
use crate::chess::{Bitboard, Kind, Position, Square};
use crate::eval::pair::Pair;
use crate::eval::sink::Sink;

/// Sum of the danger units for one king.
struct Units<'a, K> {
    sink: &'a mut K,
    attacker: Color,
    sum: Pair,
}

impl<K: Sink> Units<'_, K> {
    #[inline(always)]
    fn add(&mut self, place: usize, times: i32) {
        self.sum += WEIGHTS[place] * times;
        self.sink.count_weight(self.attacker, place, times);
    }
}

/// Adds the danger that side `S` causes to the enemy king. The danger is 0 if there are fewer than
/// two attackers. The presence of a queen of side `S` counts as an additional attacker.
#[inline(always)]
pub(super) fn score<S: Side, C: Cpu, K: Sink>(
    cpu: C,
    position: &Position,
    own: &SideInfo,
    enemy: &SideInfo,
    pawns: &KingPawn,
    sink: &mut K,
) {
    let has_queen = position.board().pieces(S::COLOR, Kind::Queen).any();
    let attackers: i32 = own.attackers.iter().sum();
    if attackers + i32::from(has_queen) < 2 {
        return;
    }
    let mut units = Units { sink: &mut *sink, attacker: S::COLOR, sum: Pair::ZERO };
    units.add(at::DANGER_BASE, 1);
    for (index, &attackers) in own.attackers.iter().enumerate() {
        units.add(at::DANGER_ATTACKER + index, attackers);
    }
    units.add(at::DANGER_SQUARE, own.zone_attacks);
    let lone = !enemy.attacked | enemy.by(Kind::King) | enemy.by(Kind::Queen);
    let weak = own.attacked & (lone - enemy.twice);
    units.add(at::DANGER_WEAK, (weak & enemy.zone).len() as i32);
    checks::<S, C, K>(cpu, position, own, enemy, weak, &mut units);
    if !has_queen {
        units.add(at::DANGER_NO_QUEEN, 1);
    }
    let defender = (!S::COLOR).index();
    units.add(at::DANGER_BARE_FILE, i32::from(pawns.bare[defender]));
    units.add(at::DANGER_STORM, i32::from(pawns.storming[defender]));
    let flank = flank::<S>(enemy.king);
    units.add(at::DANGER_FLANK, (flank & own.attacked).len() as i32);
    units.add(at::DANGER_FLANK + 1, (flank & enemy.attacked).len() as i32);
    let board = position.board();
    let minors = (board.kind(Kind::Knight) | board.kind(Kind::Bishop)) & board.color(!S::COLOR);
    units.add(at::DANGER_DEFENDER, (minors & enemy.zone).len() as i32);
    let sum = units.sum;
    sink.add(Term::KingAttack, S::COLOR, danger_worth(sum));
}

/// Adds the danger units for safe checks.
#[inline(always)]
fn checks<S: Side, C: Cpu, K: Sink>(
    cpu: C,
    position: &Position,
    own: &SideInfo,
    enemy: &SideInfo,
    weak: Bitboard,
    units: &mut Units<'_, K>,
) {
    let board = position.board();
    let safe = (!enemy.attacked | weak & own.twice) - board.color(S::COLOR);
    // The enemy queen does not block checks by sliders.
    let occupied = board.occupied() ^ board.pieces(!S::COLOR, Kind::Queen);
    let straight = cpu.rook(enemy.king, occupied);
    let diagonal = cpu.bishop(enemy.king, occupied);
    let found = [
        attacks::knight(enemy.king) & own.by(Kind::Knight),
        diagonal & own.by(Kind::Bishop),
        straight & own.by(Kind::Rook),
        (straight | diagonal) & (own.by(Kind::Queen) - enemy.by(Kind::Queen)),
    ];
    for (index, squares) in found.into_iter().enumerate() {
        let squares = squares & safe;
        if squares.any() {
            let place = at::DANGER_CHECK + 2 * index + usize::from(squares.has_several());
            units.add(place, 1);
        }
    }
}

/// Returns the flank of a king that `S` attacks: the squares on four files near the king, except
/// the first three ranks from the point of view of `S`.
#[inline(always)]
fn flank<S: Side>(king: Square) -> Bitboard {
    let files = match king.file() {
        0..=2 => Bitboard(0x0F0F_0F0F_0F0F_0F0F),
        3..=4 => Bitboard(0x3C3C_3C3C_3C3C_3C3C),
        _ => Bitboard(0xF0F0_F0F0_F0F0_F0F0),
    };
    let ranks = match S::COLOR {
        Color::White => Bitboard(0xFFFF_FFFF_FF00_0000),
        Color::Black => Bitboard(0x0000_00FF_FFFF_FFFF),
    };
    files & ranks
}

#[cfg(test)]
mod tests {
    use crate::chess::{Color, fen};
    use crate::eval::palimpsest::layout;
    use crate::eval::palimpsest::trace::Tracer;

    /// Returns the count of the weight at index `place` in White's attack.
    fn attack_units(text: &str, place: usize) -> i32 {
        let traced = Tracer::default().trace(&fen::parse(text).unwrap());
        let attack = &traced.danger[Color::White.index()];
        attack.iter().filter(|(found, _)| usize::from(*found) == place).map(|c| c.1).sum()
    }

    #[test]
    fn an_attack_is_counted() {
        // The knight attacks f7 and h7, and the queen attacks h7 and g6.
        let text = "6k1/5ppp/8/6N1/8/3Q4/8/4K3 w - - 0 1";
        for (place, expected) in [
            (layout::DANGER_BASE, 1),
            (layout::DANGER_ATTACKER, 1),
            (layout::DANGER_ATTACKER + 3, 1),
            (layout::DANGER_SQUARE, 4),
            (layout::DANGER_NO_QUEEN, 0),
            (layout::DANGER_BARE_FILE, 0),
            // The queen has more than one safe check: on d8, and on h7, where the knight protects
            // the queen.
            (layout::DANGER_CHECK + 6, 0),
            (layout::DANGER_CHECK + 7, 1),
        ] {
            assert_eq!(attack_units(text, place), expected, "{place}");
        }
    }

    #[test]
    fn a_lone_attacker_without_a_queen_is_ignored() {
        assert_eq!(attack_units("6k1/5ppp/8/6N1/8/8/8/4K3 w - - 0 1", layout::DANGER_BASE), 0);
        assert_eq!(attack_units("6k1/5ppp/8/6N1/8/8/8/Q3K3 w - - 0 1", layout::DANGER_BASE), 1);
    }
}
