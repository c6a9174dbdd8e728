//! Measured generators, each as a function that counts leaves. The last ply is counted without a
//! list of moves, if the library can count moves without a list.

use palimpsest::chess::attacks::{Level, Machine};
use palimpsest::chess::{fen, perft};
use shakmaty::Position as _;

/// Function from a depth in plies to the number of leaves below one position.
pub type Counter = Box<dyn Fn(u32) -> u64>;

/// A named move generator.
pub struct Generator {
    /// Name in the table.
    pub name: String,
    /// Function that returns the counter for the position of a FEN.
    pub bind: Box<dyn Fn(&str) -> Counter>,
}

/// Returns all generators. All other generators are compared with the first generator.
pub fn all() -> Vec<Generator> {
    let mut all = vec![
        generator("cozy-chess", |fen| {
            let board: cozy_chess::Board = fen.parse().expect("a legal position");
            Box::new(move |depth| cozy(&board, depth))
        }),
        generator("chess", |fen| {
            let board: chess::Board = fen.parse().expect("a legal position");
            Box::new(move |depth| chess::MoveGen::movegen_perft_test(&board, depth as usize) as u64)
        }),
        generator("shakmaty", |text| {
            let fen: shakmaty::fen::Fen = text.parse().expect("a FEN");
            let mode = shakmaty::CastlingMode::Standard;
            let position: shakmaty::Chess = fen.into_position(mode).expect("a legal position");
            Box::new(move |depth| shakmaty(&position, depth))
        }),
    ];
    for machine in Level::ALL.into_iter().filter_map(Machine::at) {
        let name = format!("palimpsest, {}", machine.level().name());
        all.push(generator(name, move |text| {
            let position = fen::parse(text).expect("a legal position");
            Box::new(move |depth| perft::perft_at(machine, &position, depth))
        }));
    }
    all.push(generator("palimpsest, lists", |text| {
        let position = fen::parse(text).expect("a legal position");
        Box::new(move |depth| perft::perft_by_lists(&position, depth))
    }));
    all
}

fn generator(name: impl Into<String>, bind: impl Fn(&str) -> Counter + 'static) -> Generator {
    Generator { name: name.into(), bind: Box::new(bind) }
}

fn cozy(board: &cozy_chess::Board, depth: u32) -> u64 {
    let mut count = 0;
    board.generate_moves(|moves| {
        if depth == 1 {
            count += moves.len() as u64;
        } else {
            for mv in moves {
                let mut next = board.clone();
                next.play_unchecked(mv);
                count += cozy(&next, depth - 1);
            }
        }
        false
    });
    count
}

fn shakmaty(position: &shakmaty::Chess, depth: u32) -> u64 {
    let moves = position.legal_moves();
    if depth == 1 {
        return moves.len() as u64;
    }
    let below = |mv| {
        let mut next = position.clone();
        next.play_unchecked(mv);
        shakmaty(&next, depth - 1)
    };
    moves.into_iter().map(below).sum()
}
