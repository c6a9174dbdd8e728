//! The bytes choose a double Fischer random position and then moves; every position of the game is
//! checked.

#![no_main]

use libfuzzer_sys::fuzz_target;
use palimpsest::chess::attacks::{Level, Machine};
use palimpsest::chess::perft::{perft_at, perft_by_lists};
use palimpsest::chess::{Position, fen};

/// Maximum length of a game, in plies.
const PLIES_MAX: usize = 400;

fuzz_target!(|bytes: &[u8]| {
    let [white, black, moves @ ..] = bytes else { return };
    let Ok(mut position) = fen::parse(&start(*white, *black)) else { return };
    for &choice in moves.iter().take(PLIES_MAX) {
        check(&position);
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        position = position.play(legal[usize::from(choice) % legal.len()]);
    }
});

fn check(position: &Position) {
    assert_eq!(position.key(), position.recompute_key());
    assert_eq!(fen::parse(&position.to_string()).as_ref(), Ok(position));
    let legal = position.legal_moves();
    assert!(legal.iter().all(|&mv| position.is_legal(mv)));
    let quiet = position.quiet_moves().len();
    assert_eq!(position.noisy_moves().len() + quiet, legal.len());
    for machine in Level::ALL.into_iter().filter_map(Machine::at) {
        assert_eq!(perft_at(machine, position, 2), perft_by_lists(position, 2));
    }
}

/// Returns a starting position with one back rank for each byte. The byte selects the files of
/// bishops, queen and the first knight in turn.
fn start(white: u8, black: u8) -> String {
    let (white, black) = (back_rank(white).to_uppercase(), back_rank(black));
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1")
}

fn back_rank(mut number: u8) -> String {
    let mut rank = [b' '; 8];
    let mut deal = |count: u8| {
        let digit = number % count;
        number /= count;
        usize::from(digit)
    };
    rank[deal(4) * 2] = b'b';
    rank[deal(4) * 2 + 1] = b'b';
    let mut place = |letter: u8, index: usize| {
        let free = (0..8).filter(|&file| rank[file] == b' ').nth(index);
        rank[free.expect("fewer pieces than files")] = letter;
    };
    place(b'q', deal(6));
    place(b'n', deal(2));
    for letter in *b"nrkr" {
        place(letter, 0);
    }
    rank.iter().map(|&letter| char::from(letter)).collect()
}
