//! Tests of opening books of every kind: the openings played, and the commands that engines
//! receive.

use std::collections::BTreeMap;

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position};

use crate::support::bench::Bench;
use crate::support::plan::{Plan, openings};
use crate::support::snapshot::{expect_next, without_machine};

/// Returns a match of two honest puppets that log their input.
fn logged(bench: &Bench, pairs: usize) -> Plan<'_> {
    let log = bench.logs();
    Plan::new(bench, "match", pairs)
        .puppet("A", &format!("--seed 1 {log}"))
        .puppet("B", &format!("--seed 2 {log}"))
}

#[test]
fn bad_lines_are_left_out_and_reported() {
    let bench = Bench::new();
    let sound = openings(3);
    let mut lines: Vec<&str> = sound.lines().collect();
    lines.insert(1, "hello");
    lines.push("8/8/8/8/8/8/8/K7 w - -");
    lines.push("bye");
    let book = bench.write("some.epd", lines.join("\n"));
    let finished = logged(&bench, 3).set("openings", book.display()).run().expect_code(0);
    expect_next(&finished.stderr);
    assert_eq!(bench.read("games.pgn").matches("[FEN ").count(), 6);

    let results = bench.path("results").display().to_string();
    let show = |format| {
        let args = ["results", "--results", &results, "--format", format, "show", "run"];
        bench.arbiter(args).finish().expect_code(0)
    };
    for report in [finished.json(), show("json").json()] {
        assert_eq!(report["openings_excluded"], 3, "{report:#}");
        let faults = report["opening_faults"].as_array().expect("a list");
        assert!(faults[1].as_str().is_some_and(|fault| fault.contains("some.epd:5: ")));
    }
    for format in ["text", "md"] {
        expect_next(&without_machine(&show(format).stdout));
    }
}

#[test]
fn impossible_positions_are_corrected_and_reported() {
    let bench = Bench::new();
    let book = "; a book\n4k3/4p3/8/8/8/8/4P3/4K2R w KQ e6 0 9; ply 5\n4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 9\n";
    let book = bench.write("odd.epd", book.replace('\n', "\r"));
    let finished = logged(&bench, 2).set("openings", book.display()).run().expect_code(0);
    let correction_text = "odd.epd:2: ignored as impossible: castling with a1, en passant on e6";
    assert!(finished.stderr.contains(correction_text), "{finished:#?}");
    assert!(finished.stderr.contains("2 openings from"), "{finished:#?}");
    assert!(finished.stderr.contains("(1 corrected)"), "{finished:#?}");
    assert!(bench.read("games.pgn").contains("[FEN \"4k3/4p3/8/8/8/8/4P3/4K2R w K - 0 9\"]"));
    let results = bench.path("results").display().to_string();
    let show = |format| {
        let args = ["results", "--results", &results, "--format", format, "show", "run"];
        bench.arbiter(args).finish().expect_code(0)
    };
    for report in [finished.json(), show("json").json()] {
        assert_eq!(
            (&report["openings_excluded"], &report["openings_corrected"]),
            (&0.into(), &1.into())
        );
        let correction = report["opening_corrections"][0].as_str().expect("a text");
        assert!(correction.ends_with(correction_text), "{correction}");
    }
    for format in ["text", "md"] {
        assert!(show(format).stdout.contains("1 corrected; the first: "), "{format}");
    }
}

/// One opening of eight moves in each book format; a position without counters is at move 1.
const EIGHT_MOVES: [(&str, &str, usize); 6] = [
    (
        "moves.pgn",
        "[Event \"?\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O *\n",
        8,
    ),
    ("counters.epd", "r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N2/PP1P1PPP/RNBQR1K1 w - - 1 9\n", 8),
    ("counters.fen", "r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N2/PP1P1PPP/RNBQR1K1 w - - 1 9\n", 8),
    (
        "operations.epd",
        "r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N2/PP1P1PPP/RNBQR1K1 w - - hmvc 1; fmvn 9;\n",
        8,
    ),
    (
        "tag.pgn",
        "[FEN \"r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N2/PP1P1PPP/RNBQR1K1 w - - 1 9\"]\n\n*\n",
        8,
    ),
    ("bare.epd", "r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N2/PP1P1PPP/RNBQR1K1 w - -\n", 0),
];

#[test]
fn every_book_format_counts_the_same_moves() {
    let puppets = ["A", "B"].map(|name| (name, "--info 'depth 1 score cp 0'"));
    for (rule, value) in [("max-moves", "12"), ("draw", "movenumber=12,movecount=1,score=30000")] {
        for is_bundled in [false, true] {
            let mut first: Option<Vec<String>> = None;
            for (name, text, moves_before) in EIGHT_MOVES {
                let bench = Bench::new();
                let book = bench.write(name, text);
                let plan = Plan::new(&bench, "match", 1).unset("max-moves");
                let plan = plan.set("openings", book.display()).set("each", "nodes=50");
                let plan = if is_bundled {
                    plan.engine("name=A,cmd=bundled".into()).engine("name=B,cmd=bundled".into())
                } else {
                    puppets.into_iter().fold(plan, |plan, (name, args)| plan.puppet(name, args))
                };
                let game = plan.set(rule, value).expect_output(0).games().remove(0);
                let book_plies = if text.contains("1. e4") { 16 } else { 0 };
                let engine_moves = game.moves[book_plies..].to_vec();
                let place = format!("{rule} {name} {engine_moves:?}");
                let wanted = 2 * (12 - moves_before);
                // Captures and pawn moves delay a draw.
                let is_due = if rule == "draw" {
                    engine_moves.len() >= wanted
                } else {
                    engine_moves.len() == wanted
                };
                assert!(is_due, "{place}");
                if moves_before == 8 {
                    assert_eq!(
                        *first.get_or_insert_with(|| engine_moves.clone()),
                        engine_moves,
                        "{place}"
                    );
                }
            }
        }
    }
}

/// FEN of `startpos`.
const INITIAL: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Positions, with the castling rules that their castling rights require.
const MIXED: [(&str, CastlingMode); 8] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", CastlingMode::Standard),
    // Chess960 in X-FEN and double Chess960 in Shredder-FEN.
    ("bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w KQkq -", CastlingMode::Chess960),
    ("bbnrkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNQNRBKR w HEfd -", CastlingMode::Chess960),
    // These letters do not require Chess960.
    ("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w HAha - 3 9", CastlingMode::Standard),
    ("1r2k2r/pppppppp/8/8/8/8/PPPPPPPP/1R2K2R w KQkq -", CastlingMode::Chess960),
    ("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/1R3KR1 w GBha -", CastlingMode::Chess960),
    // The castling rook is not the outermost rook.
    ("4k3/pppppppp/8/8/8/8/PPPPPPPP/RR2K3 w B -", CastlingMode::Chess960),
    ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 7 30", CastlingMode::Standard),
];

#[test]
fn each_opening_of_a_mixed_book_has_its_own_castling_rules() {
    let bench = Bench::new();
    let lines = MIXED.map(|(line, _)| line);
    // The book is repeated three times, so that some engines castle.
    let book = bench.write("mixed.epd", lines.repeat(3).join("\n"));
    let plan = logged(&bench, 24).set("openings", book.display()).set("max-moves", 30);
    let games = plan.expect_output(0).games();
    for (pair, (line, mode)) in games.chunks(2).zip(MIXED.repeat(3)) {
        for game in pair {
            assert_eq!(game.tags.contains_key("Variant"), mode == CastlingMode::Chess960, "{line}");
        }
    }

    let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
    let mut castled = [0, 0];
    let conversations = bench.conversations();
    for conversation in &conversations {
        let mut mode = CastlingMode::Standard;
        for line in conversation {
            if let Some(value) = line.strip_prefix("setoption name UCI_Chess960 value ") {
                mode = CastlingMode::from_chess960(value == "true");
            }
            let Some(sent_position) = line.strip_prefix("position ") else { continue };
            let (start, moves) = sent_position.split_once(" moves ").unwrap_or((sent_position, ""));
            let fen = start.strip_prefix("fen ").unwrap_or(INITIAL);
            let pieces = fen.split(' ').next().expect("a word");
            let (line, expected) =
                MIXED.iter().find(|(line, _)| line.starts_with(pieces)).expect("an opening");
            assert_eq!(mode, *expected, "{sent_position}");
            *positions.entry(line).or_default() += 1;
            let opening: Fen = if line.ends_with('-') {
                format!("{line} 0 1").parse().expect("a position")
            } else {
                line.parse().expect("a position")
            };
            let mut position: Chess = opening.into_position(mode).expect("a legal position");
            let start: Chess =
                fen.parse::<Fen>().expect("FEN").into_position(mode).expect("a legal position");
            assert_eq!(
                (&start, start.halfmoves()),
                (&position, position.halfmoves()),
                "{sent_position}"
            );
            for word in moves.split_whitespace() {
                let uci: UciMove = word.parse().expect("a move");
                let m = uci.to_move(&position).expect("a legal move");
                assert_eq!(UciMove::from_move(m, mode), uci, "{sent_position}");
                castled[usize::from(mode.is_chess960())] += usize::from(m.is_castle());
                position.play_unchecked(m);
            }
        }
    }
    assert_eq!(positions.len(), MIXED.len());
    assert!(castled.iter().all(|&times| times > 0), "{castled:?}");
}

/// Returns a Polyglot book with an entry for each move in `lines`.
fn polyglot(lines: &[&[&str]]) -> Vec<u8> {
    let mut entries: Vec<[u8; 16]> = Vec::new();
    for line in lines {
        let mut position = Chess::default();
        for word in *line {
            let uci: UciMove = word.parse().expect("a move");
            let UciMove::Normal { from, to, .. } = uci else { panic!("{word}") };
            let key: Zobrist64 = position.zobrist_hash(EnPassantMode::PseudoLegal);
            let bits = u16::from(from) << 6 | u16::from(to);
            let mut entry = [0; 16];
            entry[..8].copy_from_slice(&key.0.to_be_bytes());
            entry[8..10].copy_from_slice(&bits.to_be_bytes());
            entry[10..12].copy_from_slice(&1u16.to_be_bytes());
            entries.push(entry);
            position.play_unchecked(uci.to_move(&position).expect("a legal move"));
        }
    }
    entries.sort_unstable();
    entries.dedup();
    entries.concat()
}

#[test]
fn a_polyglot_book_is_followed_to_its_depth() {
    let lines: [&[&str]; 3] = [
        &["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"],
        &["e2e4", "c7c5", "g1f3", "d7d6", "d2d4"],
        &["d2d4", "d7d5", "c2c4", "e7e6", "b1c3"],
    ];
    let bench = Bench::new();
    let book = bench.write("book.bin", polyglot(&lines));
    let plan = logged(&bench, 3).set("openings", book.display()).set("max-moves", 10);
    let finished = plan.set("openings depth", 4).run().expect_code(0);
    expect_next(&finished.stderr);
    // Before its first move of a game, an engine receives the moves of the book line.
    let conversations = bench.conversations();
    let sent_lines: Vec<&str> = conversations.iter().flatten().map(String::as_str).collect();
    for line in lines {
        let first = format!("position startpos moves {}", line[..4].join(" "));
        let times = sent_lines.iter().filter(|sent| **sent == first).count();
        assert_eq!(times, 2, "{first} in {sent_lines:#?}");
    }
}
