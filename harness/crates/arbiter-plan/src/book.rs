//! Opening book of a plan.

use std::collections::BTreeSet;

use crate::Plan;
use arbiter_openings::{Book, ReadOptions};

/// Opening book embedded in this binary; `openings/README.md` describes the origin of the book.
pub const BUNDLED_BOOK: &[u8] = include_bytes!("../../../../openings/balanced.moves");

/// Number of plies of each opening of the bundled book.
const BUNDLED_PLIES: usize = 8;

/// FEN of the initial position, the only opening of a run without a book.
const INITIAL: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Name of the bundled book in messages.
const BUNDLED_NAME: &str = "bundled book";

fn options(plan: &Plan) -> ReadOptions {
    ReadOptions { seed: plan.seed, ..plan.reading }
}

/// Reads only the openings at the indices `places` of the plan's book file, which has `length`
/// openings and no invalid lines. Returns `None` if the plan has no book file, or if the openings
/// cannot be read in this way.
pub fn load_part_of_book(plan: &Plan, length: usize, places: &BTreeSet<usize>) -> Option<Book> {
    arbiter_openings::load_places(plan.book.as_ref()?, options(plan), length, places)
}

/// Reads the opening book of a plan. Fails if the file cannot be read or has no usable opening.
pub fn load_book(plan: &Plan) -> Result<Book, String> {
    let options = options(plan);
    match &plan.book {
        None if plan.has_no_book => {
            arbiter_openings::from_text("the initial position", INITIAL, options)
        }
        None => Ok(arbiter_openings::from_moves(BUNDLED_NAME, BUNDLED_BOOK, BUNDLED_PLIES)),
        Some(path) => arbiter_openings::load(path, options),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use shakmaty::Position;
    use shakmaty::fen::Epd;

    #[test]
    fn the_bundled_book_has_ten_thousand_legal_openings() {
        assert!(BUNDLED_BOOK.len() <= 250_000);
        let book = arbiter_openings::from_moves(BUNDLED_NAME, BUNDLED_BOOK, BUNDLED_PLIES);
        assert_eq!((book.len(), book.duplicates), (10_000, 0));
        let positions = book.openings().map(|opening| {
            let mut position = opening.start_position();
            for played in opening.moves {
                let played = played.to_move(&position).expect("the moves are legal");
                position.play_unchecked(played);
            }
            assert!(!position.is_check() && !position.is_game_over());
            Epd::from_position(&position, shakmaty::EnPassantMode::Legal)
        });
        assert_eq!(positions.collect::<HashSet<_>>().len(), 10_000);
    }
}
