//! Adjudication by tablebases.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, KnownOutcome, Position};
use shakmaty_syzygy::{AmbiguousWdl, Wdl};

use crate::outcome::Scope;

/// Rule for adjudication by tablebases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablebaseRule {
    /// Maximum number of pieces, kings included, in a position that is looked up; 0 for no maximum.
    pub pieces: u32,
    /// `true` if a win is adjudicated even if the fifty-move rule would make the game a draw.
    #[serde(rename = "ignore_fifty")]
    pub ignores_fifty: bool,
    /// Results that are adjudicated.
    pub scope: Scope,
}

/// Syzygy tablebases with WDL values. A value is from the point of view of the side to move; the
/// value is `None` if no table contains the position. No table contains positions with castling
/// rights.
pub trait Tables: Debug + Send + Sync {
    /// Returns the value that the position would have with a halfmove clock of 0.
    fn fresh(&self, position: &Chess) -> Option<Wdl>;

    /// Returns the value of the position with its actual halfmove clock.
    fn exact(&self, position: &Chess) -> Option<AmbiguousWdl>;
}

/// Returns the result of a position according to `tables` and `rule`; `None` if the game has to
/// continue.
pub(super) fn value(
    rule: TablebaseRule,
    tables: &dyn Tables,
    position: &Chess,
) -> Option<KnownOutcome> {
    let pieces = position.board().occupied().count();
    if rule.pieces > 0 && pieces > rule.pieces as usize {
        return None;
    }
    let us = position.turn();
    let won = |winner| KnownOutcome::Decisive { winner };
    let value = match tables.fresh(position)? {
        Wdl::Draw => KnownOutcome::Draw,
        // A cursed win needs more than fifty moves even after a zeroing move, so the fifty-move
        // rule makes the game a draw.
        Wdl::CursedWin | Wdl::BlessedLoss if !rule.ignores_fifty => KnownOutcome::Draw,
        wdl if rule.ignores_fifty || position.halfmoves() == 0 => {
            won(if wdl > Wdl::Draw { us } else { !us })
        }
        // The halfmove clock is above 0, so the win may come too late. Only the exact lookup uses
        // the halfmove clock.
        _ => match tables.exact(position)? {
            AmbiguousWdl::Win => won(us),
            AmbiguousWdl::Loss => won(!us),
            AmbiguousWdl::CursedWin | AmbiguousWdl::BlessedLoss | AmbiguousWdl::Draw => {
                KnownOutcome::Draw
            }
            // Distances in the tables may be off by one ply, so it is unknown whether the remaining
            // moves suffice. The game continues, because a guess could turn a draw into a win.
            AmbiguousWdl::MaybeWin | AmbiguousWdl::MaybeLoss => return None,
        },
    };
    rule.scope.contains(value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Color};

    /// Tables that return these two values for every position.
    #[derive(Debug, Clone, Copy)]
    struct Oracle(Option<Wdl>, Option<AmbiguousWdl>);

    impl Tables for Oracle {
        fn fresh(&self, _: &Chess) -> Option<Wdl> {
            self.0
        }

        fn exact(&self, _: &Chess) -> Option<AmbiguousWdl> {
            self.1
        }
    }

    const RULE: TablebaseRule =
        TablebaseRule { pieces: 0, ignores_fifty: false, scope: Scope::Both };
    const WHITE: Option<KnownOutcome> = Some(KnownOutcome::Decisive { winner: Color::White });
    const BLACK: Option<KnownOutcome> = Some(KnownOutcome::Decisive { winner: Color::Black });

    /// Looks up a position with White to move, four pieces, and the halfmove clock at `counter`.
    fn at(counter: u32, rule: TablebaseRule, tables: Oracle) -> Option<KnownOutcome> {
        let fen: Fen = format!("8/8/8/4k3/8/8/8/KQR5 w - - {counter} 80").parse().unwrap();
        value(rule, &tables, &fen.into_position(CastlingMode::Standard).unwrap())
    }

    #[test]
    fn games_continue_if_the_position_is_in_no_table() {
        assert_eq!(at(0, RULE, Oracle(None, Some(AmbiguousWdl::Win))), None);
        assert_eq!(at(9, RULE, Oracle(Some(Wdl::Win), None)), None);
    }

    #[test]
    fn values_are_for_the_side_to_move() {
        assert_eq!(at(0, RULE, Oracle(Some(Wdl::Win), None)), WHITE);
        assert_eq!(at(0, RULE, Oracle(Some(Wdl::Loss), None)), BLACK);
        assert_eq!(at(9, RULE, Oracle(Some(Wdl::Loss), Some(AmbiguousWdl::Loss))), BLACK);
        assert_eq!(at(9, RULE, Oracle(Some(Wdl::Draw), None)), Some(KnownOutcome::Draw));
    }

    #[test]
    fn the_fifty_move_rule_counts_unless_it_is_ignored() {
        let ignoring = TablebaseRule { ignores_fifty: true, ..RULE };
        for (fresh, exact, expect) in [
            (Wdl::CursedWin, None, Some(KnownOutcome::Draw)),
            (Wdl::Win, Some(AmbiguousWdl::Win), WHITE),
            (Wdl::Win, Some(AmbiguousWdl::CursedWin), Some(KnownOutcome::Draw)),
            (Wdl::Win, Some(AmbiguousWdl::MaybeWin), None),
        ] {
            assert_eq!(at(60, RULE, Oracle(Some(fresh), exact)), expect, "{fresh:?} {exact:?}");
            assert_eq!(at(60, ignoring, Oracle(Some(fresh), exact)), WHITE);
        }
        assert_eq!(at(60, ignoring, Oracle(Some(Wdl::BlessedLoss), None)), BLACK);
    }

    #[test]
    fn only_selected_results_are_adjudicated() {
        let win = Oracle(Some(Wdl::Win), None);
        let draw = Oracle(Some(Wdl::Draw), None);
        let wins = TablebaseRule { scope: Scope::Wins, ..RULE };
        assert_eq!((at(0, wins, win), at(0, wins, draw)), (WHITE, None));
        let draws = TablebaseRule { scope: Scope::Draws, ..RULE };
        assert_eq!((at(0, draws, win), at(0, draws, draw)), (None, Some(KnownOutcome::Draw)));
        let few = TablebaseRule { pieces: 3, ..RULE };
        assert_eq!(at(0, few, win), None);
        assert_eq!(at(0, TablebaseRule { pieces: 4, ..RULE }, win), WHITE);
    }
}
