//! The openings of a plan.

use crate::Plan;
use arbiter_openings::{Book, OpeningError, ReadOptions};

/// The book inside this binary; `openings/README.md` says how it was made.
const BUNDLED: &str = include_str!("../../../../openings/balanced.epd");

/// The only opening of a run without a book.
const INITIAL: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Name of the bundled book in messages.
const BUNDLED_NAME: &str = "bundled book";

/// Reads the plan's openings.
pub fn load_book(plan: &Plan) -> Result<Book, OpeningError> {
    let options = ReadOptions {
        plies: plan.plies,
        depth: plan.book_depth,
        seed: plan.seed,
        strict: plan.strict_book,
    };
    match &plan.book {
        None if plan.has_no_book => {
            arbiter_openings::from_text("the initial position", INITIAL, options)
        }
        None => arbiter_openings::from_text(BUNDLED_NAME, BUNDLED, options),
        Some(path) => arbiter_openings::load(path, options),
    }
}

/// The text of the bundled book.
pub fn bundled_book() -> &'static [u8] {
    BUNDLED.as_bytes()
}
