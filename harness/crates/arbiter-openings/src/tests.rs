//! Tests that write and read books in every format and container, and with every kind of error.

mod containers;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use shakmaty::{CastlingMode, Position};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use super::*;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3";
const GAMES: &str = "[Event \"one\"]\n\n1. e4 e5 (1... c5 2. Nf3) 2. Nf3 {knight} Nc6 1-0\n\n\
                     [Event \"two\"]\n\n1. d4 $1 d5 ; a remark\n2. c4 *\n";

fn read(name: &str, text: &str) -> Result<Book, String> {
    from_text(name, text, ReadOptions::default())
}

fn fens(book: &Book) -> Vec<String> {
    book.openings().map(|opening| opening.fen.to_string()).collect()
}

fn moves(opening: &Opening) -> String {
    let moves: Vec<String> = opening.moves.iter().map(UciMove::to_string).collect();
    moves.join(" ")
}

/// Returns the position after the moves, which must be legal.
pub(super) fn after_moves(opening: &Opening) -> Chess {
    let mut position = opening.start_position();
    for uci in &opening.moves {
        let m = uci.to_move(&position).expect("an opening is validated before it is made");
        position.play_unchecked(m);
    }
    position
}

/// Checks the error for an invalid line that is not skipped.
fn check_error(name: &str, text: &str, expected: &str) {
    let options = ReadOptions { strict: true, ..ReadOptions::default() };
    let error = from_text(name, text, options).expect_err(text);
    assert_eq!(error, expected);
}

fn starts_standard(opening: &Opening) -> bool {
    opening.castling_mode == CastlingMode::Standard && opening.fen == Fen::default()
}

#[test]
fn epd_counters_come_from_operations() {
    let text = format!(
        "{START}\n{AFTER_E4} hmvc 3; fmvn 12;\n{START} id \"a; fmvn 9; b\"; ce -5; fmvn 2;\n\
         {START} bm e4 d4; c0 \"x\"\n"
    );
    let counters: Vec<(u32, u32)> = read("a.epd", &text)
        .expect("a sound book")
        .openings()
        .map(|o| (o.fen.as_setup().halfmoves, o.fen.as_setup().fullmoves.get()))
        .collect();
    assert_eq!(counters, [(0, 1), (3, 12), (0, 2), (0, 1)]);
}

#[test]
fn fen_counters_are_kept_before_any_suffix() {
    for tail in ["7 31", "7 31 ;D1 20", "7 31; id \"x\";", "  7\t31 fmvn 5;", "7 31;"] {
        let book = read("a.fen", &format!("{START} {tail}")).expect(tail);
        assert_eq!(fens(&book), [format!("{START} 7 31")], "{tail}");
    }
    let book = read("a.fen", &format!("{START} 4")).expect("one counter is enough");
    assert_eq!(fens(&book), [format!("{START} 4 1")]);
}

#[test]
fn blank_lines_comments_carriage_returns_and_bom_are_tolerated() {
    let comments = "# a\r\n; b\r\n// c\r\n% d\r\n";
    let text = format!("\u{feff}{comments}\r\n{START}\r\n  \r\n # more\r\n  {AFTER_E4} 0 1");
    let strict = ReadOptions { strict: true, ..ReadOptions::default() };
    for end in ["\r\n", "\n", "\r", "\u{2028}", "\u{85}", "\u{b}", "\u{c}"] {
        for name in ["a.epd", "a.txt"] {
            let text = text.replace("\r\n", end);
            let book =
                from_text(name, &text, strict).unwrap_or_else(|error| panic!("{end:?}: {error}"));
            assert_eq!(fens(&book), [format!("{START} 0 1"), format!("{AFTER_E4} 0 1")], "{end:?}");
        }
    }
    let book = read("a.epd", &text).expect("a sound book");
    assert!(starts_standard(&book.opening(0)) && !starts_standard(&book.opening(1)));
}

#[test]
fn chess960_is_detected_if_castling_needs_it() {
    let cases = [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", CastlingMode::Standard),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1", CastlingMode::Standard),
        ("bbnrkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNQNRBKR w HEfd - 0 1", CastlingMode::Chess960),
        ("bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w KQkq - 0 1", CastlingMode::Chess960),
        ("bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w - - 0 1", CastlingMode::Standard),
        ("4k3/8/8/8/8/8/8/RR2K3 w B - 0 1", CastlingMode::Chess960),
    ];
    for (fen, expected) in cases {
        let book = read("a.epd", fen).expect(fen);
        assert_eq!(book.opening(0).castling_mode, expected, "{fen}");
        assert_eq!(book.needs_chess960(), expected == CastlingMode::Chess960);
        after_moves(&book.opening(0));
    }
}

#[test]
fn position_errors_name_file_and_line() {
    let check = |line: &str, expected: &str| {
        check_error("a.epd", &format!("{START}\n\n{line}\n"), &format!("a.epd:3: {expected}"));
    };
    check(
        "8/8/8 w",
        "expected a position (pieces, side to move, castling rights, en passant square), got `8/8/8 w`",
    );
    check("8/8/8/8 w - -", "expected a position, got `8/8/8/8 w - -`: invalid board part in fen");
    check(
        "8/8/8/8/8/8/8/8 x - -",
        "expected a position, got `8/8/8/8/8/8/8/8 x - -`: invalid turn part in fen",
    );
    check(
        "8/8/8/8/8/8/8/K7 w - -",
        "expected a legal position, got `8/8/8/8/8/8/8/K7 w - -`: illegal position: missing king",
    );
    check(
        "4k3/8/8/8/8/NNN5/NNNNNNNN/4K3 w - -",
        "expected a legal position, got `4k3/8/8/8/8/NNN5/NNNNNNNN/4K3 w - - 0 1`: \
         illegal position: too much material",
    );
    check(&format!("{START} hmvc x;"), "expected a number after `hmvc`, got `x`");
    check(&format!("{START} fmvn;"), "expected a number after `fmvn`, got ``");
    check(
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Qq] w KQkq -",
        "expected chess or Chess960, got `rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Qq] w KQkq -`",
    );
    check(&"x".repeat(70_000), "expected a line of at most 65536 bytes");
}

#[test]
fn impossible_rights_are_corrected_and_reported_in_lists_and_games() {
    let wrong = "4k3/8/8/8/8/8/4P3/4K2R w KQ e6 5 40";
    let sound = "4k3/8/8/8/8/8/4P3/4K2R w K - 5 40";
    let fault_text = |book: &Book| {
        assert_eq!((fens(book), book.quarantine.count), (vec![sound.to_owned()], 0));
        assert_eq!(book.corrected.count, 1);
        book.corrected.faults[0].clone()
    };
    let what = "ignored as impossible: castling with a1, en passant on e6";
    let list = read("a.epd", &format!("\n{wrong}; id \"x\"\n")).expect("a book");
    assert_eq!(fault_text(&list), format!("a.epd:2: {what}"));
    let game = format!("[FEN \"{wrong}\"]\n\n40. e4 Kd7 *\n");
    let book = read("a.pgn", &game).expect("a book");
    assert_eq!(fault_text(&book), format!("a.pgn:1: game 1: {what}"));
}

#[test]
fn positions_are_read_in_the_formats_of_suites() {
    for tail in
        ["; ply 5", ";ply 5", " ;D1 20", " bm e4", ",20,400", " | 3 | 8902", "; hmvc 0; fmvn 1;"]
    {
        let book = read("a.epd", &format!("{START}{tail}")).expect(tail);
        assert_eq!(
            (fens(&book), book.quarantine.count),
            (vec![format!("{START} 0 1")], 0),
            "{tail}"
        );
    }
}

#[test]
fn finished_games_are_not_openings() {
    let check = |fen: &str, ending: &str| {
        let expected = format!(
            "a.epd:1: expected a position to play from, got one where the game is over by {ending}"
        );
        check_error("a.epd", fen, &expected);
    };
    check("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "checkmate");
    check("7k/5Q2/6K1/8/8/8/8/8 b - -", "stalemate");
    check("4k3/8/8/8/8/8/8/4KN2 w - -", "insufficient material");
    check("4k3/8/8/8/8/8/8/4K2R w - - 100 80", "the fifty-move rule");
}

#[test]
fn empty_books_are_refused() {
    for name in ["a.epd", "a.pgn", "a"] {
        for text in ["", "\n\n", "\u{feff}"] {
            check_error(name, text, &format!("{name}: expected at least one opening, got none"));
        }
    }
    check_error("a.epd", "# nothing\n", "a.epd: expected at least one opening, got none");
}

#[test]
fn bad_lines_are_skipped_and_reported() {
    let long = "x".repeat(200_000);
    let text = format!("{START}\nnonsense\n{long}\n{AFTER_E4} 0 1\n8/8/8/8/8/8/8/K7 w - -");
    let book = read("a.epd", &text).expect("two sound lines");
    assert_eq!(fens(&book), [format!("{START} 0 1"), format!("{AFTER_E4} 0 1")]);
    let places: Vec<&str> =
        book.quarantine.faults.iter().filter_map(|fault| fault.get(..8)).collect();
    assert_eq!(places, ["a.epd:2:", "a.epd:3:", "a.epd:5:"]);
    assert_eq!(book.quarantine.count, 3);
}

#[test]
fn bad_games_are_skipped_and_reported() {
    let text = "[Event \"a\"]\n\n1. e4 e5 2. Ke3 (2. Nf3) Nc6 *\n\n[Event \"b\"]\n\n1. d4 *\n\n\
                [Variant \"Atomic\"]\n\n1. e4 *\n\nhello world\n\n[Event \"c\"]\n\n1. c4 c5\n\n\
                2. Nc3 Nc6 *\n\n1. Ng9 Nf6 *\n\n[Event \"d\"]\n\n1. Nf3 d5 *\n";
    let book = read("a.pgn", text).expect("three sound games");
    let lines: Vec<String> = book.openings().map(|opening| moves(&opening)).collect();
    // The moves of game c continue after a blank line.
    assert_eq!(lines, ["d2d4", "c2c4 c7c5 b1c3 b8c6", "g1f3 d7d5"]);
    let faults = &book.quarantine.faults;
    let places: Vec<&str> = faults.iter().filter_map(|fault| fault.split(": ").next()).collect();
    assert_eq!(places, ["a.pgn:3", "a.pgn:9", "a.pgn:13", "a.pgn:21"]);
}

#[test]
fn a_book_without_valid_lines_reports_the_first_fault() {
    let error = read("a.epd", &"nonsense\n".repeat(30)).expect_err("nothing").to_string();
    let parts: Vec<&str> = error.split("; ").collect();
    let first = "a.epd: expected at least one opening, got 30 bad ones: a.epd:1: expected a";
    assert!(parts[0].starts_with(first), "{error}");
    assert!(parts[2].starts_with("a.epd:3: ") && parts[3] == "and 27 more", "{error}");
}

#[test]
fn games_give_their_main_lines() {
    let book = read("a.pgn", GAMES).expect("a sound book");
    let lines: Vec<String> = book.openings().map(|opening| moves(&opening)).collect();
    assert_eq!(lines, ["e2e4 e7e5 g1f3 b8c6", "d2d4 d7d5 c2c4"]);
    for (plies, expected) in [(0, ["", ""]), (3, ["e2e4 e7e5 g1f3", "d2d4 d7d5 c2c4"])] {
        let options = ReadOptions { plies: Some(plies), ..ReadOptions::default() };
        let book = from_text("a.pgn", GAMES, options).expect("a sound book");
        let lines: Vec<String> = book.openings().map(|opening| moves(&opening)).collect();
        assert_eq!(lines, expected);
        assert!(book.openings().all(|opening| starts_standard(&opening)));
    }
}

#[test]
fn games_may_start_from_any_position_and_castle_in_chess960() {
    let text = "[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 5 40\"]\n\n40. e4 Kd7 *\n\n\
                [Variant \"Chess960\"]\n[FEN \"rk5r/8/8/8/8/8/8/RK5R w KQkq - 0 1\"]\n\n\
                1. O-O O-O-O *\n\n[Variant \"chess 960\"]\n\n1. Nf3 Nf6 2. g3 g6 3. Bg2 d6 4. O-O *\n";
    let book = read("a.pgn", text).expect("a sound book");
    let games: Vec<Opening> = book.openings().collect();
    let [ending, odd, usual] = &games[..] else { panic!("three games") };
    assert_eq!(ending.fen.to_string(), "4k3/8/8/8/8/8/4P3/4K3 w - - 5 40");
    assert_eq!(moves(ending), "e2e4 e8d7");
    assert_eq!((moves(odd).as_str(), odd.castling_mode), ("b1h1 b8a8", CastlingMode::Chess960));
    assert_eq!(moves(usual).split(' ').next_back(), Some("e1h1"));
    assert_eq!(
        after_moves(usual).board().king_of(shakmaty::Color::White),
        Some(shakmaty::Square::G1)
    );
}

#[test]
fn game_errors_name_game_and_line() {
    let check = |game: &str, expected: &str| {
        check_error("a.pgn", &format!("[Event \"fine\"]\n\n1. e4 *\n\n{game}"), expected);
    };
    check("[Event \"x\"]\n\n1. e4\ne5 2. Ke3\nNc6 *\n", "a.pgn:8: game 2: 2. Ke3 is not legal");
    check(
        "[Event \"x\"]\n\n1. Nf3 a6 2. Nc3 a5 3. Ne4 a4 4. Ng5 *",
        "a.pgn:7: game 2: 4. Ng5 fits more than one move",
    );
    check(
        "[Event \"x\"]\n[FEN \"8/8/8/8/8/8/8/K7 w - - 0 1\"]\n\n1. Kb1 *\n",
        "a.pgn:5: game 2: expected a legal position, got `8/8/8/8/8/8/8/K7 w - - 0 1`: \
         illegal position: missing king",
    );
    check(
        "[Variant \"Atomic\"]\n\n1. e4 *\n",
        "a.pgn:5: game 2: expected chess or Chess960, got `Atomic`",
    );
    check(
        "1. f3 e5 2. g4 Qh4# 0-1\n",
        "a.pgn:5: game 2: expected a position to play from, got one where the game is over by \
         checkmate",
    );
    check(
        "[Event \"a\"]\n[Site \"?\"]\n\n[Event \"b\"]\n\n1. d4 *\n",
        "a.pgn:5: game 2: expected moves or a result after the tags, got neither",
    );
    check("[Event \"x\"]\n\n1. e4 e5\n2. Ng9 *\n", "a.pgn:8: game 2: 2. Ng9 is not a move");
    check(
        "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6\n4. Ng1 Ng8 *\n",
        "a.pgn:5: game 2: expected a position to play from, got one where the game is over by \
         threefold repetition",
    );
    check(
        "[Event \"x\"]\n\n1. e4 {closed} e5\n2. Nf3 {not\nclosed\n",
        "a.pgn:5: game 2: unclosed comment or variation",
    );
    check("hello world\n", "a.pgn:5: game 2: 1. hello is not a move");
}

#[test]
fn games_are_read_in_the_notations_of_other_programs() {
    let text = "[FEN \"7k/1P6/8/8/8/8/2p5/K7 w - - 0 1\"]\n\n1. b8Q+ Kh7\n\n2. Qb2 c1(B) *\n\n\
                1. e2e4 e7e5 2.Ng1-f3$1 Nb8c6 3. f1b5 Nf6 4. 0-0 *\r\r1. e4 d5 2. e5 f5 3. exf6 e.p. *\r";
    let book = read("a.pgn", text).expect("a sound book");
    assert_eq!(book.quarantine.faults, [""; 0]);
    let lines: Vec<String> = book.openings().map(|opening| moves(&opening)).collect();
    let expected =
        ["b7b8q h8h7 b8b2 c2c1b", "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1", "e2e4 d7d5 e4e5 f7f5 e5f6"];
    assert_eq!(lines, expected);
}

#[test]
fn stray_results_and_comments_are_not_games() {
    let book = read("a.pgn", "{a book}\n\n1. e4 e5\n\n1-0\n\n1. d4 *\n").expect("a sound book");
    assert_eq!(book.openings().len(), 2);
}

#[test]
fn files_with_unknown_extensions_are_inspected() {
    assert_eq!(read("book.txt", START).expect("positions").openings().len(), 1);
    assert_eq!(read("book", GAMES).expect("games").openings().len(), 2);
    let long = format!("{START}\n").repeat(1000);
    assert_eq!(read("book", &long).expect("positions").openings().len(), 1000);
}

fn gzipped(contents: &(impl AsRef<[u8]> + ?Sized)) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(contents.as_ref()).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn zstandard(contents: &(impl AsRef<[u8]> + ?Sized)) -> Vec<u8> {
    compress_to_vec(contents.as_ref(), CompressionLevel::Fastest)
}

fn zipped(members: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in members {
        if name.ends_with('/') {
            archive.add_directory(*name, SimpleFileOptions::default()).expect("memory takes it");
        } else {
            archive.start_file(*name, SimpleFileOptions::default()).expect("memory takes it");
            archive.write_all(text.as_bytes()).expect("memory takes it");
        }
    }
    archive.finish().expect("memory takes it").into_inner()
}

/// Loads a file with the given name and content. Returns the result, and the path as error messages
/// show it.
fn load_bytes(name: &str, bytes: &[u8]) -> (Result<Book, String>, String) {
    let dir = TempDir::new().expect("a temporary directory");
    let path: PathBuf = dir.path().join(name);
    fs::write(&path, bytes).expect("a writable directory");
    (load(&path, ReadOptions::default()), path.display().to_string())
}

#[test]
fn missing_files_are_errors() {
    let error = load(Path::new("no/such/book.epd"), ReadOptions::default()).expect_err("missing");
    assert!(error.to_string().starts_with("no/such/book.epd: cannot open the opening book"));
    let dir = TempDir::new().expect("a temporary directory");
    assert!(load(dir.path(), ReadOptions::default()).is_err());
}

#[test]
fn foreign_bytes_never_panic() {
    use arbiter_schedule::seed::{below, seed_for};
    let seeds = [START.to_string(), format!("{AFTER_E4} hmvc 3; fmvn 12;"), GAMES.to_string()];
    for round in 0..3000 {
        let mut rng = seed_for(11, "test.foreign", round);
        let mut bytes = seeds[below(&mut rng, 3) as usize].clone().into_bytes();
        for _ in 0..=below(&mut rng, 6) {
            let at = below(&mut rng, bytes.len() as u64) as usize;
            bytes[at] = below(&mut rng, 256) as u8;
        }
        for name in ["a.epd", "a.pgn", "a"] {
            let mut collector = Collector::new(ReadOptions::default());
            let _ = archive::read_text(name, &mut bytes.as_slice(), &mut collector);
            for opening in collector.openings.iter() {
                assert!(!after_moves(&opening).legal_moves().is_empty());
            }
        }
    }
}

#[test]
fn kept_openings_keep_their_indices() {
    let text: Vec<String> =
        (0..50).map(|n| format!("4k3/8/8/8/8/8/8/4K2R w - - {n} {}", n + 1)).collect();
    let complete = read("a.fen", &text.join("\n")).unwrap();
    let mut thin = complete.clone();
    thin.keep(&BTreeSet::from([3, 17, 49]));
    assert_eq!(thin.len(), 50);
    for place in [3, 17, 49] {
        assert_eq!(thin.opening(place), complete.opening(place));
    }
    assert_eq!(thin.openings().len(), 3);
    thin.keep(&BTreeSet::from([17]));
    assert_eq!((thin.len(), thin.opening(17)), (50, complete.opening(17)));
}

#[test]
fn a_part_of_a_book_is_read_by_indices() {
    let lines: Vec<String> =
        (0..9).map(|n| format!("4k3/8/8/8/8/8/8/4K2R w K - {n} {}", n + 1)).collect();
    let odd =
        format!("# 1\n\n \"{}\n;\n\u{feff}{}\r\n{}", lines[0], lines[1], lines[2..].join("\u{b}"));
    let games: String = (1..10).map(|n| format!("1. e4 {}*\n\n", "e5 ".repeat(n % 2))).collect();
    let dir = TempDir::new().expect("a temporary directory");
    let part = |name: &str, text: &str, length, places: &[usize]| {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("a writable directory");
        let places = places.iter().copied().collect();
        (
            load(&path, ReadOptions::default()),
            load_places(&path, ReadOptions::default(), length, &places),
        )
    };
    for (name, text) in
        [("a.epd", lines.join("\n")), ("b", lines.join("\r\n")), ("c.epd", odd), ("d.pgn", games)]
    {
        for places in [&[0][..], &[8], &[2, 3, 7], &[0, 1, 2, 3, 4, 5, 6, 7, 8]] {
            let (complete, read) = part(name, &text, 9, places);
            let (mut complete, mut read) = (complete.expect(name), read.expect(name));
            complete.keep(&places.iter().copied().collect());
            read.duplicates = complete.duplicates;
            assert_eq!(read, complete, "{name}: {places:?}");
        }
        for (length, places) in [(8, &[0][..]), (10, &[0]), (9, &[9]), (9, &[])] {
            assert_eq!(part(name, &text, length, places).1, None, "{name}: {places:?} of {length}");
        }
    }
    let faulty = lines.join("\n").replacen("4K2R", "4K3R", 1);
    assert_eq!(part("a.epd", &faulty, 9, &[0, 3]).1, None);
}

#[test]
fn duplicate_lines_are_counted() {
    let line = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 ";
    let book = format!("{line}1\n{line}2\n{line}1\n{line}1\n");
    let book = from_text("a.epd", &book, ReadOptions::default()).unwrap();
    assert_eq!((book.len(), book.duplicates), (4, 2));
    let games = "1. e4 e5 *\n\n1. e4 e5 *\n\n1. d4 *\n";
    let book = from_text("a.pgn", games, ReadOptions::default()).unwrap();
    assert_eq!((book.len(), book.duplicates), (3, 1));
}
