//! Comparison with an independent implementation of the rules (shakmaty) in 100,000 positions from
//! random games of standard chess, Chess960 and double Fischer random chess.

use palimpsest::chess::{Move, Position, fen};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, Role};

const POSITIONS_EACH: usize = 50_000;

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

/// Returns a number that encodes origin, destination and promotion of a move. Castling is encoded
/// as king takes rook.
fn our_code(mv: Move) -> usize {
    let promotion = mv.promotion().map_or(0, |kind| kind.index());
    (promotion * 64 + mv.to().index()) * 64 + mv.from().index()
}

fn their_code(mv: shakmaty::Move) -> usize {
    let promotion = mv.promotion().map_or(0, |role| match role {
        Role::Pawn | Role::King => unreachable!("nothing promotes to it"),
        Role::Knight => palimpsest::chess::Kind::Knight.index(),
        Role::Bishop => palimpsest::chess::Kind::Bishop.index(),
        Role::Rook => palimpsest::chess::Kind::Rook.index(),
        Role::Queen => palimpsest::chess::Kind::Queen.index(),
    });
    let from = mv.from().expect("nothing is dropped");
    (promotion * 64 + usize::from(mv.to())) * 64 + usize::from(from)
}

/// Plays a random game with both implementations, and returns the number of compared positions.
fn play(text: &str, random: &mut Random) -> usize {
    let mut ours = fen::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let parsed: Fen = text.parse().unwrap();
    let mut theirs: Chess = parsed.into_position(CastlingMode::Chess960).unwrap();
    let mut compared = 0;
    for ply in 0..160 {
        let mut found: Vec<(usize, Move)> =
            ours.legal_moves().iter().map(|&mv| (our_code(mv), mv)).collect();
        let mut expected: Vec<(usize, shakmaty::Move)> =
            theirs.legal_moves().into_iter().map(|mv| (their_code(mv), mv)).collect();
        found.sort_unstable_by_key(|(code, _)| *code);
        expected.sort_unstable_by_key(|(code, _)| *code);
        let codes = |list: &[(usize, Move)]| list.iter().map(|(code, _)| *code).collect::<Vec<_>>();
        assert_eq!(codes(&found), expected.iter().map(|e| e.0).collect::<Vec<_>>(), "{ours}");
        assert_eq!(ours.count_legal_moves(), expected.len() as u64, "{ours}");
        assert_eq!(ours.checkers().0, u64::from(theirs.checkers()), "{ours}");
        if ply % 16 == 15 {
            let text = Fen::from_position(&theirs, EnPassantMode::Legal).to_string();
            assert_eq!(ours.to_string(), text);
        }
        compared += 1;
        if found.is_empty() {
            break;
        }
        let chosen = random.below(found.len());
        ours = ours.play(found[chosen].1);
        theirs.play_unchecked(expected[chosen].1);
    }
    compared
}

/// Returns a random Chess960 back rank: bishops on squares of both colours, and the king between
/// the rooks.
fn back_rank(random: &mut Random) -> String {
    loop {
        let mut letters = *b"rnbqkbnr";
        for last in (1..8).rev() {
            letters.swap(last, random.below(last + 1));
        }
        let files =
            |letter| (0..8).filter(move |&file| letters[file] == letter).collect::<Vec<_>>();
        let (rooks, bishops, king) = (files(b'r'), files(b'b'), files(b'k')[0]);
        if rooks[0] < king && king < rooks[1] && (bishops[0] + bishops[1]) % 2 == 1 {
            return String::from_utf8(letters.to_vec()).unwrap();
        }
    }
}

fn start(black: &str, white: &str) -> String {
    let rights = |rank: &str| -> String {
        let rook = |(file, letter)| (letter == b'r').then(|| (b'a' + file as u8) as char);
        rank.bytes().enumerate().filter_map(rook).collect()
    };
    let (upper, castling) = (white.to_uppercase(), rights(white).to_uppercase() + &rights(black));
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{upper} w {castling} - 0 1")
}

#[test]
fn standard_chess() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut compared = 0;
    while compared < POSITIONS_EACH {
        compared += play(fen::STARTPOS, &mut random);
    }
}

#[test]
fn chess960_and_double_fischer_random() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut compared = 0;
    while compared < POSITIONS_EACH {
        let white = back_rank(&mut random);
        let black = if random.below(2) == 0 { white.clone() } else { back_rank(&mut random) };
        compared += play(&start(&black, &white), &mut random);
    }
}

#[test]
fn odd_positions_do_not_crash() {
    for text in [
        // 218 moves, the largest known number.
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
        // Three or more checkers, which no legal move can cause.
        "4k3/8/3n1n2/8/4K3/8/3n1n2/4r3 w - - 0 1",
        "k3r3/8/1b5b/8/r3K2r/8/1b5b/4r3 w - - 0 1",
        // Two pawns next to a king.
        "8/8/8/8/3pkp2/8/3P1P2/4K3 w - - 0 1",
    ] {
        let position = fen::parse(text).map(|position: Position| {
            let moves = position.legal_moves();
            for &mv in moves.iter() {
                let _count = position.play(mv).count_legal_moves();
            }
            (moves.len() as u64, position.count_legal_moves())
        });
        // A position may be rejected with an error message. In an accepted position, both move
        // counts must be equal.
        match position {
            Ok((listed, counted)) => assert_eq!(listed, counted, "{text}"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let most = fen::parse("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1").unwrap();
    assert_eq!(most.legal_moves().len(), 218);
    let queens = "QQQQQQQQ/QQQQQQQQ/QQ6/8/8/7k/8/K7 b - - 0 1";
    assert!(fen::parse(queens).unwrap_err().to_string().contains("more pieces"));
}
