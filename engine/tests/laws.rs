//! Invariants of all positions, tested in random games, and comparison with an independent
//! implementation of the rules (shakmaty).

use palimpsest::chess::attacks::{Level, Machine};
use palimpsest::chess::perft::perft_at;
use palimpsest::chess::uci_move::{self, CastlingForm};
use palimpsest::chess::{Game, Move, MoveKind, Position, fen};
use palimpsest::eval::{Score, Variant};
use palimpsest::line::SearchStack;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};

/// Xorshift generator with a fixed seed, so that every run plays the same games.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

const ROOTS: [&str; 4] = [
    fen::STARTPOS,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
];

/// Plays random games, and calls `visit` with each position and the legal moves in the position.
fn play_random_games(seed: u64, games: usize, mut visit: impl FnMut(&Position, &[Move])) {
    let mut random = Random(seed);
    for game in 0..games {
        let mut position = fen::parse(ROOTS[game % ROOTS.len()]).unwrap();
        for _ in 0..200 {
            let moves = position.legal_moves();
            visit(&position, &moves);
            if position.outcome().is_some() {
                break;
            }
            position = position.play(moves[random.below(moves.len())]);
        }
    }
}

#[test]
fn keys_and_text_are_consistent() {
    play_random_games(0x1234_5678_9ABC_DEF1, 60, |position, _| {
        // The comparison includes checkers, pins and keys, which the parser computes from scratch.
        assert_eq!(fen::parse(&position.to_string()).as_ref(), Ok(position));
    });
}

#[test]
fn generated_moves_are_legal_and_announced_checks_are_checks() {
    play_random_games(0xFEDC_BA98_7654_3211, 40, |position, moves| {
        for &mv in moves {
            assert!(position.is_legal(mv), "{position} {mv:?}");
            assert_eq!(position.gives_check(mv), position.play(mv).in_check(), "{position} {mv:?}");
        }
    });
}

#[test]
fn exactly_the_generated_moves_are_legal() {
    let mut visited = 0;
    play_random_games(0x5DEE_CE66_D123_4567, 24, |position, moves| {
        visited += 1;
        // Only every ninth position is tested, because each test covers every encoded move.
        if visited % 9 != 0 {
            return;
        }
        let mut listed = [false; 1 << 16];
        for mv in moves {
            listed[usize::from(mv.bits())] = true;
        }
        for bits in 0..=u16::MAX {
            // Bits that encode no kind of move are decoded as quiet moves, which have a different
            // encoding.
            let is_kind = MoveKind::ALL.iter().any(|&kind| kind as u16 == bits >> 12);
            if let Some(mv) = Move::from_bits(bits).filter(|_| is_kind) {
                assert_eq!(position.is_legal(mv), listed[usize::from(bits)], "{position} {mv:?}");
            }
        }
    });
    assert!(visited > 2_000);
}

#[test]
fn noisy_and_quiet_moves_are_disjoint_and_make_up_all() {
    play_random_games(0x0BAD_5EED_0BAD_5EED, 60, |position, moves| {
        let noisy = position.noisy_moves();
        let quiet = position.quiet_moves();
        assert!(noisy.iter().all(|mv| !mv.is_quiet()) && quiet.iter().all(|mv| mv.is_quiet()));
        let sorted = |list: &[Move]| {
            let mut bits: Vec<u16> = list.iter().map(|mv| mv.bits()).collect();
            bits.sort_unstable();
            bits
        };
        assert_eq!(sorted(moves), sorted(&[&noisy[..], &quiet[..]].concat()), "{position}");
    });
}

#[test]
fn all_cpu_levels_count_the_same() {
    play_random_games(0x7777_1111_3333_5555, 12, |position, moves| {
        let expected: u64 = moves.iter().map(|&mv| position.play(mv).count_legal_moves()).sum();
        for machine in Level::ALL.into_iter().filter_map(Machine::at) {
            let found = perft_at(machine, position, 2);
            assert_eq!(found, expected, "{position} {:?}", machine.level());
        }
    });
}

#[test]
fn moves_of_other_positions_are_legal_only_if_generated() {
    let mut earlier: Vec<Move> = Vec::new();
    play_random_games(0x0F1E_2D3C_4B5A_6979, 40, |position, moves| {
        for &mv in &earlier {
            assert_eq!(position.is_legal(mv), moves.contains(&mv), "{position} {mv:?}");
        }
        earlier = moves.to_vec();
    });
}

#[test]
fn shakmaty_agrees() {
    play_random_games(0xA5A5_1234_0F0F_77AB, 60, |position, moves| {
        let text = fen::format(position, fen::CastlingLetters::Shredder);
        let theirs: Chess = text
            .parse::<Fen>()
            .unwrap()
            .into_position(CastlingMode::Chess960)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut expected: Vec<(String, String)> = theirs
            .legal_moves()
            .into_iter()
            .map(|mv| {
                let name = UciMove::from_move(mv, CastlingMode::Chess960).to_string();
                let mut after = theirs.clone();
                after.play_unchecked(mv);
                (name, Fen::from_position(&after, EnPassantMode::Legal).to_string())
            })
            .collect();
        let mut found: Vec<(String, String)> = moves
            .iter()
            .map(|&mv| {
                let name = uci_move::format(mv, CastlingForm::KingTakesRook);
                (name, position.play(mv).to_string())
            })
            .collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{text}");
    });
}

/// Plays a random game in a line, with side branches that are unmade, and then unmakes all moves.
/// Returns the scores while making moves and the scores while unmaking moves, both in game order.
fn walk(variant: Variant, seed: u64) -> (Vec<Score>, Vec<Score>) {
    let mut random = Random(seed);
    let mut line = SearchStack::new(&Game::new(Position::startpos()), variant.evaluator());
    let mut forward = Vec::new();
    for _ in 0..60 {
        forward.push(line.evaluate());
        let moves = line.position().legal_moves();
        if moves.is_empty() {
            break;
        }
        if !line.position().in_check() {
            line.make_null();
            line.unmake();
        }
        line.make(moves[random.below(moves.len())]);
        line.unmake();
        line.make(moves[random.below(moves.len())]);
    }
    let mut back = Vec::new();
    for _ in 0..line.ply() {
        line.unmake();
        back.push(line.evaluate());
    }
    back.reverse();
    (forward, back)
}

#[test]
fn taking_back_moves_restores_evaluations() {
    for variant in Variant::ALL {
        for seed in 1..20 {
            let (forward, back) = walk(variant, seed * 0x9E37_79B9);
            assert_eq!(forward[..back.len()], back[..], "{variant:?}");
        }
    }
}
