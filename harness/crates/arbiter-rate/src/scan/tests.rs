use super::*;

const OPTIONS: ScanOptions = ScanOptions { opening_plies: 8, replay: false, evaluations: false };
const REPLAYED: ScanOptions = ScanOptions { replay: true, ..OPTIONS };

fn game(tags: &[(&str, &str)], moves: &str) -> String {
    let tags: String = tags.iter().map(|(k, v)| format!("[{k} \"{v}\"]\n")).collect();
    format!("{tags}\n{moves}\n\n")
}

fn reasons(text: &str) -> Vec<Option<RejectReason>> {
    let games = scan(text.as_bytes(), OPTIONS).games;
    games.iter().map(|game| game.as_ref().err().map(|bad| bad.reason)).collect()
}

const AB: [(&str, &str); 2] = [("White", "A"), ("Black", "B")];

#[test]
fn games_are_read_with_all_their_parts() {
    let tags = [
        ("White", "A"),
        ("Black", "B"),
        ("Result", "0-1"),
        ("FEN", "8/8/8/8/8/8/k7/7K B - - 0 1"),
        ("Termination", "normal"),
    ];
    let text = game(&tags, "1... Ka1 {1/1 1s} 2. Kh2 {1/1 0.5s, Black mates} 0-1");
    let block = scan(text.repeat(2).as_bytes(), OPTIONS);
    assert_eq!(block.games.len(), 2);
    let read = block.games[1].clone().unwrap();
    assert_eq!(block.players[read.white as usize], "A");
    assert_eq!(block.endings[read.termination as usize], "mates");
    assert_eq!((read.result, read.plies), (GameResult::Loss, 2));
    assert_eq!((read.time_ms, read.timed), ([500.0, 1000.0], [1, 1]));
    assert_eq!(block.openings, [(block.openings[0].0, tags[3].1.replace('B', "b"))]);
}

#[test]
fn the_ending_follows_the_data_of_the_last_move() {
    let check = |comment: &str, ending: &str| {
        let block = scan(game(&AB, &format!("1. e4 {{{comment}}} 1-0")).as_bytes(), OPTIONS);
        assert_eq!(block.endings, [ending], "{comment}");
    };
    check("+M1/8, n=300, White mates", "mates");
    check("+M1/8 0.1s, tl=1.5s, n=300, pv=\"e2e4, e7\", line=\"a, b\", White mates", "mates");
    check(
        "+0.1/8, Black crashed (exit code 3, last error output: a=b)",
        "crashed (exit code 3, last error output: a=b)",
    );
    check("+0.1/8, n=300", "not told");
    check("+0.46/9 0.1s} {White mates", "mates");
    check(" Black Resigns. ", "Resigns");
    check("+M1/8\n0.1s,\nWhite\nmates", "mates");
    check("White's connection stalls", "White's connection stalls");
    check("Draw by adjudication", "Draw by adjudication");
    check("book, draw by stalemate", "draw by stalemate");
    check("White is better", "not told");
    check("White wins a queen", "not told");
    check("He resigned, since all is lost", "not told");
    check("5.5/9 (+2, =6)", "not told");
    check("Inaccuracy, best was d4} e5 2. d4 {", "not told");
}

#[test]
fn rejected_games_have_a_reason() {
    let with = |more: &[(&'static str, &'static str)]| [&AB[..], more].concat();
    let text = [
        game(&with(&[("Result", "1-0")]), "1. e4 1-0"),
        game(&with(&[("Result", "1-0")]), "1. e4 0-1"),
        game(&with(&[("Result", "*")]), "1. e4 *"),
        game(&with(&[("Result", "1-0"), ("White", "A"), ("Result", "0-1")]), "1. e4 1-0"),
        game(&with(&[]), "1. e4 1-0"),
        game(&[("White", "A"), ("Black", "A"), ("Result", "1-0")], "1. e4 1-0"),
        game(&[("White", "A"), ("Result", "1-0")], "1. e4 1-0"),
        game(&with(&[("Variant", "Atomic"), ("Result", "1-0")]), "1. e4 1-0"),
        "1. e4 e5 1-0\n\n".to_owned(),
        game(&with(&[("Result", "*")]), "1. e4 1-0"),
        game(&with(&[("Result", "1-0")]), "1. e4 *"),
        game(&with(&[("Result", "?")]), "1. e4 1-0"),
        game(&with(&[("Result", "1–0")]), "1. e4 1:0"),
        game(&with(&[("Result", "1/2 - 1/2")]), "1. e4 ½-½"),
        game(&with(&[("Result", "0:1")]), "1. e4"),
        game(&AB, "1. e4 1-0 0-1"),
        game(&AB, "1. e4 1 : 0 {the result} 1-0"),
    ]
    .concat();
    use RejectReason::*;
    let expected = [
        None,
        Some(Contradiction),
        Some(NoResult),
        Some(TwoValues),
        None,
        Some(SamePlayer),
        Some(NoPlayer),
        Some(Variant),
        Some(Unreadable),
        Some(Contradiction),
        Some(Contradiction),
        None,
        None,
        None,
        None,
        Some(Contradiction),
        None,
    ];
    assert_eq!(reasons(&text), expected);
}

#[test]
fn an_unclosed_comment_or_variation_rejects_only_one_game() {
    let tags = [&AB[..], &[("Result", "1-0")]].concat();
    let (good, cut) = (game(&tags, "1. e4 {x} 1-0"), game(&tags, "1. e4 {x 1-0"));
    let inner = game(&tags, "1. e4 {x\n\n[%eval 1]} 1-0");
    let variation = game(&tags, "1. e4 (1. d4 2. Nf3 1-0");
    let text = [&*good, &cut, &good, &inner, &variation, &cut].concat();
    let cut = Some(RejectReason::Cut);
    assert_eq!(reasons(&text), [None, cut, None, None, cut, cut]);
    let spread = "[White \"A\"]\n\n[Black \"B\"]\n\n[Result \"1-0\"]\n\n1. e4 1-0\n";
    assert_eq!(reasons(spread), [None]);
}

#[test]
fn errors_in_replays_have_line_and_move() {
    let with = |result: &'static str, more: &[(&'static str, &'static str)]| {
        [&AB[..], &[("Result", result)], more].concat()
    };
    let text = [
        game(&with("1-0", &[]), "1. e4 e5 2. Nf3 1-0"),
        game(&with("1-0", &[]), "1. e4 {a}\n{b}\ne5 (1... Ke4) 2. Ke3 1-0"),
        game(&with("1-0", &[]), "1. f3 e5 2. g4 Qh4# 1-0"),
        game(&with("1-0", &[("FEN", "8/8/8/8/8/8/8/8 w - - 0 1")]), "1. e4 1-0"),
        game(&with("0-1", &[]), "1. f3 e5 2. g4 Qh4# 0-1"),
    ]
    .concat();
    assert_eq!(reasons(&text), [None; 5]);
    for end in ["\n", "\r\n"] {
        let block = scan(text.replace('\n', end).as_bytes(), REPLAYED);
        let bad: Vec<_> = block.games.iter().filter_map(|game| game.as_ref().err()).collect();
        let found: Vec<_> = bad.iter().map(|bad| (bad.reason, bad.line)).collect();
        use RejectReason::*;
        assert_eq!(found, [(IllegalMove, 12), (WrongResult, 14), (Position, 20)]);
        assert_eq!(bad[0].culprit.as_deref(), Some("2. Ke3"));
        assert_eq!(block.lines, 33);
    }
}

#[test]
fn openings_are_identified_by_position_and_moves() {
    let opening = |tags: &[(&'static str, &'static str)], moves: &str| {
        let all = [&AB[..], tags].concat();
        scan(game(&all, moves).as_bytes(), ScanOptions { opening_plies: 2, ..OPTIONS }).openings[0]
            .clone()
    };
    let a = opening(&[], "1. e4 e5 2. Nf3 1-0");
    assert_eq!(a.1, "e4 e5");
    assert_eq!(a, opening(&[], "1. e4 {0.1/1 1s} e5 2. Nc3 0-1"));
    assert_ne!(a, opening(&[], "1. e4 c5 1-0"));
    assert_eq!(opening(&[], "1. d4 {book} d5 {book} 2. c4 {book} e6 {0/1 1s} 1-0").1, "d4 d5 c4");
    assert_eq!(opening(&[], "1. d4 d5 2. c4 {book, 0.001s} e6 1-0").1, "d4 d5 c4");
}

#[test]
fn an_opening_is_independent_of_its_fen_spelling() {
    let fens = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b HAha -",
    ];
    let games =
        fens.map(|fen| game(&[&AB[..], &[("Result", "1-0"), ("FEN", fen)]].concat(), "1-0"));
    let block = scan(games.concat().as_bytes(), OPTIONS);
    assert_eq!(block.openings.len(), 1, "{block:?}");
}

#[test]
fn an_opening_is_independent_of_comments() {
    let forms = [
        "1. e4 e5 2. Nf3 Nc6 1-0",
        "1. e4 {Best by test} e5 2. Nf3 Nc6 1-0",
        "1. e4 e5 (1... c5 2. Nc3) 2. Nf3 Nc6 1-0",
        "1. e4! e5 $1 2.Nf3$14 Nc6?! 1-0",
        "1. e4 {(e7e5 g1f3) +0.10/12 3} e5 {d=30, sd=40, pv=e4 e5 Nf3} 2. Nf3 Nc6 1-0",
        "1. e4 {+0.1/8 0.1s, n=9, pv=\"d4 d5\", line=\"info pv c4\"} e5 ; 1. c4\n2. Nf3\n% 2. c4\nNc6 1-0",
        "1. e2e4 e7e5 2. g1f3 b8c6 1-0",
        "1. e2e4 e7e5 2. Ng1f3 Nb8c6 1-0",
        "1. e2-e4 e7-e5\n\n2. Ng1-f3 Nb8-c6 1-0",
    ];
    let text: String = forms.iter().map(|moves| game(&AB, moves)).collect();
    for options in [OPTIONS, REPLAYED] {
        let block = scan(text.as_bytes(), options);
        let found: Vec<_> =
            block.games.iter().map(|game| game.as_ref().map(|g| g.opening)).collect();
        assert_eq!(found, [Ok(0); 9]);
        assert_eq!(block.openings[0].1, "e4 e5 Nf3 Nc6");
    }
}

#[test]
fn moves_allowed_by_standard_or_programs_are_legal() {
    let promotion = [("FEN", "8/1P4k1/8/8/8/8/2p3K1/8 w - - 0 1")];
    let games = [
        (&[][..], "1. e4 e5 2. Nf3$1 Nc6$2 3. Bb5 1-0"),
        (&[], "1. e4\n% 1. illegal\ne5 1-0"),
        (&[], "1. e4 a6 2. e5 d5 3. exd6 e.p. Nc6 1-0"),
        (&[], "1. e4 a6 2. e5 d5 3. exd6e.p. exd6 1-0"),
        (&[], "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. 0-0 Nxe4 5. Nxe5 Ne5 1-0"),
        (&[], "1. e2e4 e7e5 2. g1f3 b8c6 3. f1b5 g8f6 4. e1g1 f6e4 1-0"),
        (&[], "01. e4 e5 02. Bc4 Nc6 03. Qh5 Nf6 04. Qxf7 checkmate 1-0"),
        (&promotion, "1. b8Q c1=N 1-0"),
        (&promotion, "1. b8(R) c1/B 1-0"),
        (&promotion, "1. b7b8q c2c1r 1-0"),
        (&[("FEN", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")], "1. e1h1 e8c8 1-0"),
    ];
    for (tags, moves) in games {
        let tags = [&AB[..], tags].concat();
        let block = scan(game(&tags, moves).as_bytes(), REPLAYED);
        assert!(block.games[0].is_ok(), "{moves}: {:?}", block.games);
    }
    let blamed = |moves: &str| {
        let block = scan(game(&AB, moves).as_bytes(), REPLAYED);
        block.games[0].clone().unwrap_err().culprit.unwrap()
    };
    assert_eq!(blamed("1. e4 -- 2. d4 1-0"), "1... --, a null move");
    assert_eq!(blamed("1. Z0 e5 1-0"), "1. --, a null move");
    assert_eq!(blamed("1. e4 e5 2. Sf3 1-0"), "2. Sf3");
}

#[test]
fn a_game_continues_after_a_blank_line() {
    let text = game(&AB, "1. e4 e5\n\n2. Nf3 1-0") + &game(&AB, "1. d4 1-0");
    let plies = scan(text.as_bytes(), REPLAYED).games.into_iter().map(|game| game.unwrap().plies);
    assert_eq!(plies.collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn tags_may_have_any_white_space() {
    let text = "[ White\t\"A\" ]\n[Black\u{b}\"B\"] [Result \"1-0\"]\n\n1. e4 1-0\n";
    assert_eq!(reasons(text), [None]);
}

#[test]
fn long_names_that_start_alike_are_different_players() {
    let names = ["1", "2"].map(|end| "x".repeat(MAX_NAME) + end);
    let tags = [("White", names[0].as_str()), ("Black", &names[1]), ("Result", "1-0")];
    let block = scan(game(&tags, "1. e4 1-0").repeat(2).as_bytes(), OPTIONS);
    assert_eq!(block.games.len(), 2);
    assert_eq!(block.players.len(), 2);
    assert_ne!(block.players[0], block.players[1]);
    assert!(block.players[0].starts_with(&names[0][..MAX_NAME]), "{:?}", block.players);
}

#[test]
fn malformed_text_does_not_panic() {
    for text in ["", "[", "[White", "[White \"A", "{", "\n\n\n", "[White \"\\\"]\n\n1-0", "\u{0}"] {
        scan(text.as_bytes(), OPTIONS);
        scan(text.as_bytes(), REPLAYED);
    }
}

#[test]
fn impossible_rights_in_fen_tags_are_counted_in_replays() {
    let fen = |fen| game(&[&AB[..], &[("Result", "1-0"), ("FEN", fen)]].concat(), "1. e4 1-0");
    let sound = fen("4k3/8/8/8/8/8/4P3/4K2R w K - 0 1");
    let odd = [fen("4k3/8/8/8/8/8/4P3/4K3 w K e6 0 1"), fen("4k3/8/8/8/8/8/4P3/4K3 w - d3 0 1;")];
    let text = [sound, odd.concat()].concat();
    for replay in [false, true] {
        let block = scan(text.as_bytes(), ScanOptions { replay, ..ScanOptions::default() });
        assert!(block.games.iter().all(Result::is_ok), "{block:?}");
        assert_eq!(block.corrected, if replay { 2 } else { 0 });
    }
}
