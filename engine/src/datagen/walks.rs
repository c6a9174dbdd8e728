//! Training positions reached by random moves from game positions. The scores are static
//! evaluations. A search evaluates such positions more often than game positions.

use super::Settings;
use super::record::Record;
use crate::chess::{Color, Game};
use crate::line::SearchStack;
use crate::random::Random;

/// Maximum length of a walk, in plies.
pub(super) const WALK_PLIES: usize = 4;

/// Returns the records of random walks from the current position of a game. The score of a record
/// is the static evaluation. A walk that ends in check, or in a position in which the game is over,
/// gives no record.
pub(super) fn walk(settings: Settings, game: &Game, random: &mut Random) -> Vec<Record> {
    let mut line = SearchStack::new(game, settings.eval.evaluator());
    let mut records = Vec::with_capacity(settings.walks);
    for _ in 0..settings.walks {
        for _ in 0..=random.below(WALK_PLIES) {
            let moves = line.position().legal_moves();
            if moves.is_empty() {
                break;
            }
            line.make(moves[random.below(moves.len())]);
        }
        let position = *line.position();
        if !position.in_check() && position.outcome().is_none() {
            let score = line.evaluate();
            let is_white = position.turn() == Color::White;
            records.push(Record::new(&position, if is_white { score } else { -score }));
        }
        while line.ply() > 0 {
            line.unmake();
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::eval::Variant;

    #[test]
    fn walks_end_at_new_positions_with_their_scores() {
        let settings = Settings { walks: 50, ..Settings::default() };
        let game = Game::new(Position::startpos());
        let walked = || walk(settings, &game, &mut Random::new(3));
        let records = walked();
        assert_eq!(walked(), records, "they depend on the seed alone");
        // A walk that ends in check gives no record, but few walks from the starting position end
        // in check.
        assert!(records.len() > 40);
        let mut others = 0;
        for record in &records {
            let position = record.position().unwrap();
            assert!(!position.in_check() && position != Position::startpos());
            let score = Variant::default().evaluate(&position);
            let is_white = position.turn() == Color::White;
            assert_eq!(record.white_score(), if is_white { score } else { -score });
            others += usize::from(!is_white);
        }
        assert!(others > 10 && records.len() - others > 10, "either side is to move");
    }
}
