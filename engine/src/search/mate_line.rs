//! Completion of a principal variation with a mate score. A variation ends where the search takes a
//! score from the transposition table, so the last moves to the mate may be missing.

use super::SearchResult;
use crate::chess::outcome::Outcome;
use crate::chess::{Game, Position};
use crate::eval::score::{MATE, is_mate, mate_in, mated_in};
use crate::tt::{Bound, TranspositionTable};

/// Appends the missing moves to a principal variation with a mate score, if the entries of the
/// transposition table lead to the mate.
pub(super) fn complete(result: &mut SearchResult, game: &Game, table: &TranspositionTable) {
    if !is_mate(result.score) {
        return;
    }
    let length = result.line.len();
    let mut position = result.line.iter().fold(*game.position(), |before, &mv| before.play(mv));
    for plies in (0..(MATE - result.score.abs()) as usize).rev().skip(length) {
        let moves = position.legal_moves();
        let mut after = moves.iter().map(|&mv| (mv, position.play(mv)));
        let Some((mv, next)) = after
            .find(|(_, next)| !game.keys().contains(&next.key()) && is_mate_in(plies, next, table))
        else {
            // No entry leads to the mate. The appended moves are removed, because the line would
            // still end before the mate.
            result.line.truncate(length);
            return;
        };
        result.line.push(mv);
        position = next;
    }
}

/// Returns whether the position is a mate in `plies` plies, by the rules (up to one ply) or by the
/// table entry of the position.
fn is_mate_in(plies: usize, position: &Position, table: &TranspositionTable) -> bool {
    let has_entry = |score, bound| {
        table.probe(position.key()).is_some_and(|entry| {
            entry.score == score && (entry.bound == bound || entry.bound == Bound::Exact)
        })
    };
    match plies {
        0 => position.outcome() == Some(Outcome::Checkmate),
        1 => position.legal_moves().iter().any(|&mv| is_mate_in(0, &position.play(mv), table)),
        _ if plies.is_multiple_of(2) => has_entry(mated_in(plies), Bound::Upper),
        _ => has_entry(mate_in(plies), Bound::Lower),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::chess::uci_move::{CastlingForm, parse};
    use crate::eval::Score;
    use crate::tt::Entry;

    #[test]
    fn moves_are_added_up_to_the_mate_or_not_at_all() {
        // 1… Ka8 2. Kc7 Ka7 3. Ra1#
        let root = fen::parse("8/k7/2K5/8/8/8/8/7R b - - 0 1").unwrap();
        let play = |position: &Position, mv| {
            let mv = parse(mv, position, CastlingForm::KingTo).unwrap();
            (mv, position.play(mv))
        };
        let (first, corner) = play(&root, "a7a8");
        let (_, closed) = play(&corner, "c6c7");
        let plies = |entries: [(Score, Bound); 2]| {
            let table = TranspositionTable::new(1).unwrap();
            for (position, (score, bound)) in [corner, closed].into_iter().zip(entries) {
                let depth = 9;
                let pv = false;
                let entry = Entry { mv: None, score, evaluation: None, depth, bound, pv };
                table.store(position.key(), entry);
            }
            let line = vec![first];
            let score = mated_in(4);
            let depth = 9;
            let mut result =
                SearchResult { line, score, depth, nodes: 0, threads: 1, pawn_table: None };
            complete(&mut result, &Game::new(root), &table);
            result.line.len()
        };
        let corner = mate_in(3);
        let closed = mated_in(2);
        assert_eq!(plies([(corner, Bound::Lower), (closed, Bound::Upper)]), 4);
        assert_eq!(plies([(corner, Bound::Exact), (closed, Bound::Exact)]), 4);
        assert_eq!(plies([(corner, Bound::Lower), (closed, Bound::Lower)]), 1);
        assert_eq!(plies([(corner, Bound::Exact), (mated_in(4), Bound::Exact)]), 1);
    }
}
