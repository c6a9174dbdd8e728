use super::*;
use arbiter_protocol::Limits;
use shakmaty::KnownOutcome;

const MS: fn(u64) -> Duration = Duration::from_millis;
const NO_RULES: Rules = Rules {
    draw: None,
    resign: None,
    move_cap: None,
    counts_by_position: false,
    counts_as_fastchess: false,
    tablebase: None,
};

fn conditions(tc: &str, margin: Duration) -> ByColor<Conditions> {
    let limits = Limits { clock: Some(tc.parse().unwrap()), ..Limits::default() };
    ByColor::new_with(|_| Conditions { limits, margin, white_pov: false })
}

fn from_fen(fen: &str) -> Referee {
    let fen: Fen = fen.parse().unwrap();
    let position = fen.into_position(CastlingMode::Standard).unwrap();
    Referee::new(position, CastlingMode::Standard, &[], conditions("1", MS(10)), NO_RULES, None)
}

fn answer(text: &str, elapsed: Duration) -> Reply {
    Reply::Move { text: text.into(), elapsed, info: Info::default() }
}

/// Plays `moves`, each in one millisecond, and returns the outcome, if any.
fn after(fen: &str, moves: &str) -> Option<(KnownOutcome, Termination)> {
    let mut referee = from_fen(fen);
    for text in moves.split_whitespace() {
        assert_eq!(referee.outcome(), None, "over before {text}");
        referee.judge(answer(text, MS(1)));
    }
    referee.outcome().map(|o| (o.result, o.termination))
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const WHITE: KnownOutcome = KnownOutcome::Decisive { winner: Color::White };
const BLACK: KnownOutcome = KnownOutcome::Decisive { winner: Color::Black };
const DRAW: KnownOutcome = KnownOutcome::Draw;

#[test]
fn endings_by_the_rules() {
    let check = |fen: &str, moves: &str, result, termination| {
        assert_eq!(after(fen, moves), Some((result, termination)), "{fen} {moves}");
    };
    check(START, "f2f3 e7e5 g2g4 d8h4", BLACK, Termination::Checkmate);
    check("7k/5K2/8/6Q1/8/8/8/8 w - - 0 1", "g5g6", DRAW, Termination::Stalemate);
    let pinned = "2k5/8/2b5/4b3/8/2b5/6P1/7K b - - 0 1";
    check(pinned, "c3d4", DRAW, Termination::Stalemate);
    check("7k/8/8/8/8/8/1r6/K1B5 w - - 0 1", "a1b2", DRAW, Termination::DeadPosition);
    check("7k/8/8/8/8/8/8/KQ6 w - - 99 90", "b1b2", DRAW, Termination::FiftyMoves);
    let knights = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
    check(START, knights, DRAW, Termination::Threefold);
}

#[test]
fn mate_on_the_hundredth_ply_is_mate() {
    let fen = "6k1/5ppp/8/8/8/8/8/KR6 w - - 99 90";
    assert_eq!(after(fen, "b1b8"), Some((WHITE, Termination::Checkmate)));
}

#[test]
fn positions_with_different_castling_rights_are_no_repetition() {
    // The first occurrence still had castling rights, so only two of the three positions are equal.
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let round = "e1e2 e8e7 e2e1 e7e8";
    assert_eq!(after(fen, &format!("{round} {round}")), None);
    let three = format!("{round} {round} e1e2 e8e7");
    assert_eq!(after(fen, &three), Some((DRAW, Termination::Threefold)));
}

/// Checks the order of judgement: each answer also has all faults that are judged later.
#[test]
fn faults_are_judged_in_a_fixed_order() {
    let fen = "6k1/5ppp/8/8/8/8/8/KR6 w - - 99 90";
    let late = MS(2_000);
    let check = |reply: Reply, result, termination| {
        let mut referee = from_fen(fen);
        referee.judge(reply.clone());
        let got = referee.outcome().map(|o| (o.result, o.termination));
        assert_eq!(got, Some((result, termination)), "{reply:?}");
    };
    check(Reply::Fault(Fault::Crashed("exit code 1".into())), BLACK, Termination::Crash);
    check(Reply::Fault(Fault::Disconnected("closed".into())), BLACK, Termination::Disconnect);
    check(Reply::Fault(Fault::Silent("no 'bestmove'".into())), BLACK, Termination::Stall);
    for text in ["xyzzy", "", "(none)", "NULL", "0000", "a1a1", "b1c2", "g8h8", "b1b8"] {
        check(answer(text, late), BLACK, Termination::TimeForfeit);
    }
    for text in ["xyzzy", "", "(none)", "NULL"] {
        check(answer(text, MS(1)), BLACK, Termination::UnparseableMove);
    }
    for text in ["0000", "a1a1", "b1c2", "g8h8"] {
        check(answer(text, MS(1)), BLACK, Termination::IllegalMove);
    }
    check(answer("b1b8", MS(1_010)), WHITE, Termination::Checkmate);
}

#[test]
fn the_rules_of_chess_come_before_adjudication() {
    let fen: Fen = "6k1/5ppp/8/8/8/8/8/KR6 w - - 98 90".parse().unwrap();
    let rules = Rules { move_cap: Some(1), ..NO_RULES };
    let check = |moves: &[&str], termination| {
        let start: Chess = fen.clone().into_position(CastlingMode::Standard).unwrap();
        let conditions = conditions("1", MS(10));
        let mut referee = Referee::new(start, CastlingMode::Standard, &[], conditions, rules, None);
        moves.iter().for_each(|text| referee.judge(answer(text, MS(1))));
        assert_eq!(referee.outcome().map(|o| o.termination), Some(termination));
    };
    check(&["b1b8"], Termination::Checkmate);
    check(&["b1b2", "g8f8"], Termination::FiftyMoves);
    check(&["b1b2", "h7h6"], Termination::MoveCap);
}

#[test]
fn go_commands_contain_position_and_clock() {
    let mut referee = Referee::new(
        Chess::default(),
        CastlingMode::Standard,
        &[],
        conditions("40/60+0.5", MS(10)),
        NO_RULES,
        None,
    );
    referee.judge(answer("e2e4", MS(1_500)));
    let turn = referee.turn();
    assert_eq!(turn.color, Color::Black);
    assert_eq!(turn.position, "position startpos moves e2e4");
    assert_eq!(turn.go.to_string(), "go wtime 59000 btime 60000 winc 500 binc 500 movestogo 40");
    assert_eq!(turn.budget, Some(MS(60_010)));
}

#[test]
fn movetime_is_enforced_and_nodes_have_no_clock() {
    let sides = ByColor {
        white: Limits { movetime: Some(MS(100)), ..Limits::default() },
        black: Limits { nodes: Some(500), ..Limits::default() },
    };
    let conditions = sides.map(|limits| Conditions { limits, margin: MS(5), white_pov: false });
    let start =
        || Referee::new(Chess::default(), CastlingMode::Standard, &[], conditions, NO_RULES, None);
    let mut referee = start();
    assert_eq!(referee.turn().go.to_string(), "go movetime 100");
    referee.judge(answer("e2e4", MS(105)));
    assert_eq!(referee.outcome(), None);
    assert_eq!(referee.turn().go.to_string(), "go nodes 500");
    assert_eq!(referee.turn().budget, None);
    let mut referee = start();
    referee.judge(answer("e2e4", MS(106)));
    let outcome = referee.outcome().unwrap();
    assert_eq!(outcome.termination, Termination::TimeForfeit);
    assert_eq!(outcome.detail, "White loses on time (6.0 ms over)");
}

#[test]
fn castling_notation_follows_the_mode() {
    let check = |fen: &str, mode, text: &str, written: &str| {
        let start: Chess = fen.parse::<Fen>().unwrap().into_position(mode).unwrap();
        let mut referee = Referee::new(start, mode, &[], conditions("1", MS(0)), NO_RULES, None);
        referee.judge(answer(text, MS(1)));
        assert_eq!(referee.into_moves()[0].uci.to_string(), written);
    };
    let usual = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let unusual = "4k3/8/8/8/8/8/8/3K1R2 w F - 0 1";
    for text in ["e1g1", "e1h1"] {
        check(usual, CastlingMode::Standard, text, "e1g1");
        check(usual, CastlingMode::Chess960, text, "e1h1");
    }
    for text in ["d1g1", "d1f1"] {
        check(unusual, CastlingMode::Chess960, text, "d1f1");
    }
}

#[test]
fn claims_end_the_game_and_only_resignation_is_no_fault() {
    let check = |claim: Claim, termination, detail: &str| {
        let mut referee = from_fen(START);
        referee.judge(Reply::Claim(claim));
        let outcome = referee.outcome().unwrap();
        assert_eq!((outcome.result, outcome.termination), (BLACK, termination));
        assert_eq!(outcome.detail, detail);
    };
    check(Claim::Loss, Termination::Resignation, "White resigns");
    let line = || "1-0 {White mates}".to_owned();
    let wrong = Termination::ProtocolError;
    check(Claim::Win(line()), wrong, "White wrongly claims to have won: '1-0 {White mates}'");
    check(Claim::Draw("1/2".into()), wrong, "White wrongly claims a draw: '1/2'");
    check(Claim::Refusal("Illegal".into()), wrong, "White refuses a legal move: 'Illegal'");
}

#[test]
fn a_ponder_position_includes_the_expected_reply() {
    let mut referee = from_fen(START);
    referee.judge(answer("e2e4", MS(100)));
    let forecast = referee.forecast("e7e5").unwrap();
    assert_eq!(forecast.position, "position startpos moves e2e4 e7e5");
    assert_eq!(forecast.go.to_string(), "go wtime 900 btime 1000");
    for reply in ["e7e4", "e2e4", "", "0000", "hello"] {
        assert_eq!(referee.forecast(reply), None, "{reply}");
    }
    let mut mating = from_fen("rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2");
    mating.judge(answer("g2g4", MS(1)));
    assert_eq!(mating.forecast("d8h4"), None, "there is nothing to think about after mate");
    assert_eq!(mating.outcome(), None);
}

#[test]
fn an_hourglass_adds_the_time_used_by_the_opponent() {
    let sides = ByColor { white: "hg/10", black: "20+1" };
    let conditions = sides.map(|tc| Conditions {
        limits: Limits { clock: Some(tc.parse().unwrap()), ..Limits::default() },
        margin: MS(0),
        white_pov: false,
    });
    let standard = CastlingMode::Standard;
    let mut referee = Referee::new(Chess::default(), standard, &[], conditions, NO_RULES, None);
    referee.judge(answer("e2e4", MS(3_000)));
    assert_eq!(referee.turn().go.to_string(), "go wtime 7000 btime 20000 binc 1000");
    referee.judge(answer("e7e5", MS(5_000)));
    assert_eq!(referee.turn().go.to_string(), "go wtime 12000 btime 16000 binc 1000");
}

#[test]
fn with_nodestime_the_clock_counts_nodes() {
    let limits =
        Limits { clock: Some("1+0.1".parse().unwrap()), nodestime: Some(100), ..Limits::default() };
    let conditions = ByColor::new_with(|_| Conditions { limits, margin: MS(0), white_pov: false });
    let start = || {
        let standard = CastlingMode::Standard;
        Referee::new(Chess::default(), standard, &[], conditions, NO_RULES, None)
    };
    let searched = |nodes| Reply::Move {
        text: "e2e4".into(),
        elapsed: Duration::from_secs(3_600),
        info: Info { nodes: Some(nodes), ..Info::default() },
    };
    let mut referee = start();
    assert_eq!(referee.turn().budget, None, "real time decides nothing");
    referee.judge(searched(50_000));
    assert_eq!(referee.turn().go.to_string(), "go wtime 600 btime 1000 winc 100 binc 100");
    let mut referee = start();
    referee.judge(searched(100_100));
    let outcome = referee.outcome().unwrap();
    assert_eq!(outcome.detail, "White loses on time (1.0 ms over)");
}

#[test]
fn the_first_position_counts_for_repetitions_of_the_pv() {
    let knights = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
    for (pv, expect) in [(knights.to_owned(), 0), (format!("{knights} e2e4"), 1)] {
        let mut referee = from_fen(START);
        let info = Info::parse(&format!("score cp 0 pv {pv}"));
        referee.judge(Reply::Move { text: "g1f3".into(), elapsed: MS(1), info });
        let search = referee.moves[0].search.as_ref().unwrap();
        let findings = search.details.iter().flat_map(|details| &details.findings);
        let found: Vec<&str> = findings.map(|found| &*found.what).collect();
        assert_eq!(found, vec!["e2e4 at ply 9 after threefold repetition"; expect]);
    }
}
