//! Conditions for the use of scores in the transposition table.
//!
//! Position keys do not include the half-move clock. An entry may have been stored at a lower
//! clock, and may contain a mate score for a mate that the fifty-move rule now prevents.

use super::params;
use crate::chess::Position;
use crate::eval::Score;
use crate::eval::score::{MATE, is_mate};
use crate::tt::{Bound, Entry};

/// Returns the score of an entry if the entry's bound type allows a cutoff in the window `alpha` to
/// `beta`.
pub(super) fn tt_cutoff(entry: &Entry, ply: usize, alpha: Score, beta: Score) -> Option<Score> {
    let score = entry.score_at(ply);
    let cuts = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score >= beta,
        Bound::Upper => score <= alpha,
        Bound::None => false,
    };
    cuts.then_some(score)
}

/// Returns whether the entry may cause a cutoff at the position's half-move clock.
pub(super) fn is_valid_at_clock(entry: &Entry, position: &Position) -> bool {
    position.halfmove_clock() < params::CLOCK_NEAR_END && !is_mate_beyond_clock(entry, position)
}

/// Returns the score of the entry if the entry's bound type makes the score a better estimate than
/// the static evaluation; otherwise returns the static evaluation.
pub(super) fn refine_with_tt(
    evaluation: Score,
    entry: Option<Entry>,
    position: &Position,
    ply: usize,
) -> Score {
    let Some(entry) = entry.filter(|entry| !is_mate_beyond_clock(entry, position)) else {
        return evaluation;
    };
    let score = entry.score_at(ply);
    let better = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score > evaluation,
        Bound::Upper => score < evaluation,
        Bound::None => false,
    };
    if better { score } else { evaluation }
}

/// Returns whether the score of the entry is a mate score for a mate that the fifty-move rule may
/// prevent.
fn is_mate_beyond_clock(entry: &Entry, position: &Position) -> bool {
    is_mate(entry.score) && MATE - entry.score.abs() + i32::from(position.halfmove_clock()) > 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::eval::score::mate_in;

    #[test]
    fn a_mate_is_used_only_within_the_fifty_move_rule() {
        let at = |clock| fen::parse(&format!("8/8/8/8/8/4k3/8/K6R w - - {clock} 90")).unwrap();
        let entry = |score| Entry {
            mv: None,
            score,
            evaluation: None,
            depth: 20,
            bound: Bound::Exact,
            pv: false,
        };
        for (score, clock, is_used) in [
            (mate_in(21), 0, true),
            (mate_in(21), 79, true),
            (mate_in(21), 80, false),
            (-mate_in(20), 81, false),
            (700, 80, true),
            (700, 95, false),
        ] {
            assert_eq!(is_valid_at_clock(&entry(score), &at(clock)), is_used, "{score} {clock}");
        }
        let mate = Some(entry(mate_in(21)));
        assert_eq!(refine_with_tt(480, mate, &at(80), 3), 480);
        assert_eq!(refine_with_tt(480, mate, &at(79), 3), mate_in(24));
    }
}
