//! What the search believes of what the table says.
//!
//! Keys do not know the fifty-move clock. A position met with a higher clock than when it was stored
//! may be a draw where the entry promises a win.

use super::params;
use crate::chess::Position;
use crate::eval::Score;
use crate::eval::score::{MATE, is_mate};
use crate::tt::{Bound, Entry};

/// The score of an entry if its bound settles the window.
pub(super) fn decisive(entry: &Entry, ply: usize, alpha: Score, beta: Score) -> Option<Score> {
    let score = entry.score_at(ply);
    let settles = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score >= beta,
        Bound::Upper => score <= alpha,
        Bound::None => false,
    };
    settles.then_some(score)
}

/// May the entry end the search of a position?
pub(super) fn is_timely(entry: &Entry, position: &Position) -> bool {
    position.halfmove_clock() < params::CLOCK_NEAR_END && !outlasts_clock(entry, position)
}

/// A static evaluation moved to the table's score where its bound allows.
pub(super) fn sharpened(
    evaluation: Score,
    entry: Option<Entry>,
    position: &Position,
    ply: usize,
) -> Score {
    let Some(entry) = entry.filter(|entry| !outlasts_clock(entry, position)) else {
        return evaluation;
    };
    let score = entry.score_at(ply);
    let closer = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score > evaluation,
        Bound::Upper => score < evaluation,
        Bound::None => false,
    };
    if closer { score } else { evaluation }
}

/// Does the entry promise a mate that the fifty-move rule may come before?
fn outlasts_clock(entry: &Entry, position: &Position) -> bool {
    is_mate(entry.score) && MATE - entry.score.abs() + i32::from(position.halfmove_clock()) > 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::eval::score::mate_in;

    #[test]
    fn a_mate_is_believed_only_within_the_fifty_move_rule() {
        let at = |clock| fen::parse(&format!("8/8/8/8/8/4k3/8/K6R w - - {clock} 90")).unwrap();
        let entry =
            |score| Entry { mv: None, score, evaluation: None, depth: 20, bound: Bound::Exact };
        for (score, clock, believed) in [
            (mate_in(21), 0, true),
            (mate_in(21), 79, true),
            (mate_in(21), 80, false),
            (-mate_in(20), 81, false),
            (700, 80, true),
            (700, 95, false),
        ] {
            assert_eq!(is_timely(&entry(score), &at(clock)), believed, "{score} {clock}");
        }
        let doubtful = Some(entry(mate_in(21)));
        assert_eq!(sharpened(480, doubtful, &at(80), 3), 480);
        assert_eq!(sharpened(480, doubtful, &at(79), 3), mate_in(24));
    }
}
