//! Any text is either rejected with reasons or becomes a position that can be written and read
//! again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use palimpsest::chess::fen::{self, CastlingLetters};

fuzz_target!(|text: &str| match fen::parse(text) {
    Ok(position) => {
        for letters in [CastlingLetters::XFen, CastlingLetters::Shredder] {
            assert_eq!(fen::parse(&fen::format(&position, letters)).as_ref(), Ok(&position));
        }
        assert_eq!(position.key(), position.recompute_key());
        assert_eq!(position.legal_moves().len() as u64, position.count_legal_moves());
    }
    Err(error) => assert!(!error.0.is_empty() && !error.to_string().is_empty()),
});
