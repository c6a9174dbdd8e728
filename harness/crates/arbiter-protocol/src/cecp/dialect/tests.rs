#![expect(clippy::disallowed_methods, reason = "any time will do")]

use super::*;
use crate::{Deadlines, Info, Protocol, Session, Setup};

const GREETING: &str = r#"feature ping=1 setboard=1 usermove=1 reuse=0 colors=1 myname="E 1" option="Skill -spin 5 1 9" done=1"#;

fn open_session(options: &[(&str, &str)]) -> (Session, Instant) {
    let options = options.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let setup = Setup { options, ..Setup::default() };
    let mut session = Session::new(Protocol::Xboard, setup, Deadlines::default());
    let now = Instant::now();
    assert_eq!(session.open(now), "xboard\nprotover 2\n");
    (session, now)
}

fn ready(greeting: &str) -> (Session, Instant) {
    let (mut session, now) = open_session(&[]);
    session.receive(now, greeting).unwrap();
    if !session.is_ready() {
        session.receive(now, "pong 1").unwrap();
    }
    assert!(session.is_ready());
    (session, now)
}

fn game<'a>(start: &'a Chess, tc: &str) -> Game<'a> {
    let limits = Limits { clock: Some(tc.parse().unwrap()), ..Limits::default() };
    Game { start, mode: CastlingMode::Standard, limits, settings: &[] }
}

/// Returns a session in a game from the standard starting position, ready to search.
fn playing(greeting: &str) -> (Session, Instant) {
    let (mut session, now) = ready(greeting);
    session.new_game(now, game(&Chess::default(), "60")).unwrap();
    session.receive(now, "pong 2").unwrap();
    (session, now)
}

fn go() -> Go {
    let clock = |s| Some((Duration::from_secs(s), Duration::ZERO));
    Go { white: clock(10), black: clock(20), ..Go::default() }
}

#[test]
fn the_handshake_answers_each_feature_and_sets_options() {
    let (mut session, now) = open_session(&[("skill", "3")]);
    let Step::Send(sent) = session.receive(now, GREETING).unwrap() else { panic!() };
    assert_eq!(
        sent.lines().collect::<Vec<_>>(),
        [
            "accepted ping",
            "accepted setboard",
            "accepted usermove",
            "accepted reuse",
            "rejected colors",
            "accepted myname",
            "accepted option",
            "accepted done",
            "option Skill=3",
            "ping 1",
        ]
    );
    assert!(!session.is_ready());
    session.receive(now, "pong 7").unwrap();
    assert!(!session.is_ready(), "another ping was answered");
    session.receive(now, "pong 1").unwrap();
    assert!(session.is_ready() && !session.is_reusable());
    assert_eq!(session.engine_name(), Some("E 1"));
}

#[test]
fn unknown_options_are_refused() {
    let (mut session, now) = open_session(&[("Skil", "3")]);
    let error = session.receive(now, GREETING).unwrap_err().to_string();
    assert_eq!(error, "has no option 'Skil' (did you mean 'Skill'?)");
}

#[test]
fn engines_without_features_are_ready_and_done_0_has_one_deadline() {
    let (mut session, now) = open_session(&[]);
    let due = session.deadline().unwrap();
    assert_eq!(due, now + Xboard::SILENCE);
    assert_eq!(session.overdue(due), Ok(Step::Send(String::new())));
    assert!(session.is_ready());
    let (mut slow, now) = open_session(&[]);
    slow.receive(now, "feature done=0").unwrap();
    let later = now + Duration::from_secs(3);
    slow.receive(later, "feature done=0").unwrap();
    assert_eq!(slow.deadline(), Some(now + Deadlines::default().uciok), "not put off");
    let error = slow.overdue(later).unwrap_err().to_string();
    assert_eq!(error, "no 'feature done=1' within 10000 ms");
}

#[test]
fn a_game_is_played_from_both_sides() {
    let (mut session, now) = ready(GREETING);
    let sent = session.new_game(now, game(&Chess::default(), "40/90+0.5")).unwrap();
    assert_eq!(sent, "new\nforce\neasy\npost\nlevel 40 1:30 0.5\nping 2\n");
    session.receive(now, "pong 2").unwrap();
    let sent = session.think(now, "position startpos moves e2e4", &go(), None);
    assert_eq!(sent, "usermove e2e4\ntime 2000\notim 1000\ngo\n");
    session.receive(now, "9 -12 30 5000 e5 Nf3").unwrap();
    let Step::Move { text, info, .. } = session.receive(now, "move e5").unwrap() else { panic!() };
    assert_eq!((text.as_str(), info.nodes), ("e7e5", Some(5_000)));
    let sent = session.think(now, "position startpos moves e2e4 e7e5 g1f3", &go(), None);
    assert_eq!(sent, "time 2000\notim 1000\nusermove g1f3\n");
    assert_eq!(session.deadline(), Some(now + Deadlines::default().bestmove));
    assert_eq!(session.halt(now), "?\n");
    let step = session.receive(now, "move a8a1").unwrap();
    assert_eq!(step, Step::Move { text: "a8a1".into(), info: Info::default() });
    let sent = session.game_over("1-0 {White wins}");
    assert_eq!(sent.as_deref(), Some("force\nresult 1-0 {White wins}\n"));
}

#[test]
fn a_changed_period_is_sent_at_its_start() {
    let (mut session, now) = ready(GREETING);
    let sent = session.new_game(now, game(&Chess::default(), "2/60:1/30:1/30:1/90+1")).unwrap();
    assert!(sent.contains("\nlevel 2 1:00 0\n"), "{sent:?}");
    session.receive(now, "pong 2").unwrap();
    let mut line = "position startpos moves".to_owned();
    let mut levels = Vec::new();
    for (theirs, ours) in
        ["g1f3 g8f6", "f3g1 f6g8"].repeat(4).iter().filter_map(|m| m.split_once(' '))
    {
        line.push_str(&format!(" {theirs}"));
        let sent = session.think(now, &line, &go(), None);
        let level = sent.lines().find(|line| line.starts_with("level"));
        assert!(level.is_none_or(|level| sent.contains(&format!("{level}\ntime 2000\n"))));
        levels.push(level.map(str::to_owned));
        session.receive(now, &format!("move {ours}")).unwrap();
        line.push_str(&format!(" {ours}"));
    }
    let sent = |text: &str| Some(text.to_owned());
    let mut expected = vec![None, None, sent("level 1 0:30 0"), None, sent("level 1 1:30 1")];
    expected.resize(8, None);
    assert_eq!(levels, expected);
}

#[test]
fn moves_are_read_in_the_forms_of_old_engines() {
    let announced = |line: &str| {
        let (mut session, now) = playing(GREETING);
        session.think(now, "position startpos", &go(), None);
        match session.receive(now, line).unwrap() {
            Step::Move { text, .. } => Some(text),
            _ => None,
        }
    };
    for line in [
        "move e2e4",
        "move e2e4 (book)",
        "My move is: e4",
        "My move is : e2e4",
        "1. ... e2e4",
        "1 ... e4",
    ] {
        assert_eq!(announced(line).as_deref(), Some("e2e4"), "{line}");
    }
    for line in ["1. e2e4", "1... e2e4", "My move", "# 1. ... e2e4", "1 20 3 400 ... e2e4"] {
        assert_eq!(announced(line), None, "{line}");
    }
}

#[test]
fn draw_offers_are_ignored() {
    let (mut session, now) = playing(GREETING);
    session.think(now, "position startpos", &go(), None);
    assert_eq!(session.receive(now, "offer draw"), Ok(Step::Continue));
    assert!(matches!(session.receive(now, "move e2e4"), Ok(Step::Move { .. })));
    assert_eq!((session.receive_early("offer draw"), session.false_claim()), (None, None));
}

#[test]
fn positions_need_setboard_or_edit() {
    let fen = "4k3/8/8/8/8/8/8/R3K3 w - - 0 1".parse::<shakmaty::fen::Fen>().unwrap();
    let start: Chess = fen.into_position(CastlingMode::Standard).unwrap();
    let (mut session, now) = ready(GREETING);
    let sent = session.new_game(now, game(&start, "5")).unwrap();
    assert!(sent.contains("\nsetboard 4k3/8/8/8/8/8/8/R3K3 w - - 0 1\n"), "{sent:?}");
    session.receive(now, "pong 2").unwrap();
    session.receive(now, "tellusererror Illegal position").unwrap();
    let (mut refusing, now) = ready(GREETING);
    refusing.new_game(now, game(&start, "5")).unwrap();
    assert_eq!(refusing.receive(now, "tellusererror hello"), Ok(Step::Continue));
    let refused = unfit("refused: Illegal position");
    assert_eq!(refusing.receive(now, "tellusererror Illegal position"), Err(refused));
    let (mut blunt, now) = ready("feature done=1");
    assert_eq!(blunt.new_game(now, game(&start, "5")), Err(unfit(NO_SETBOARD)));
    let standard = CastlingMode::Standard;
    assert!(session.can_set_up(&start, standard) && !blunt.can_set_up(&start, standard));
    assert!(blunt.can_set_up(&Chess::default(), standard));
}

#[test]
fn chess960_needs_the_variant() {
    let start = Chess::default();
    let game = Game { mode: CastlingMode::Chess960, ..game(&start, "5") };
    let (mut session, now) = ready(GREETING);
    assert_eq!(session.new_game(now, game), Err(no_chess960()));
    let (mut able, now) = ready(r#"feature setboard=1 variants="normal,fischerandom" done=1"#);
    let sent = able.new_game(now, game).unwrap();
    assert!(sent.starts_with("new\nvariant fischerandom\n") && sent.contains("\nsetboard "));
}

#[test]
fn claims_are_distinguished() {
    let check = |line: &str, expect: Step| {
        let (mut session, now) = playing(GREETING);
        session.think(now, "position startpos moves e2e4", &go(), None);
        assert_eq!(session.receive(now, line), Ok(expect), "{line}");
    };
    check("resign", Step::Claim(Claim::Loss));
    check("computer resigns", Step::Claim(Claim::Loss));
    check("Black resigns", Step::Claim(Claim::Loss));
    check("White resigns", Step::Claim(Claim::Win("White resigns".into())));
    check("computer thinks", Step::Continue);
    check("1-0 {White mates}", Step::Claim(Claim::Loss));
    check("0-1 {Black mates}", Step::Claim(Claim::Win("0-1 {Black mates}".into())));
    let refusal = |line: &str| Step::Claim(Claim::Refusal(line.to_owned()));
    check("Illegal move: e2e4", refusal("Illegal move: e2e4"));
    check("Illegal move (pinned): e2e4", refusal("Illegal move (pinned): e2e4"));
    check(
        "Error (unknown command): usermove e2e4",
        refusal("Error (unknown command): usermove e2e4"),
    );
    check("Error (unknown command): easy", Step::Continue);
    check("Illegal move: a7a6", Step::Continue);
    check("offer draw", Step::Continue);
    check("# 1-0", Step::Continue);
}

#[test]
fn a_draw_claim_is_judged_after_the_next_move() {
    let (mut session, now) = playing(GREETING);
    session.think(now, "position startpos", &go(), None);
    let claim = "1/2-1/2 {Draw by repetition}";
    assert_eq!(session.receive(now, claim), Ok(Step::Continue));
    assert_eq!(session.false_claim(), Some(Claim::Draw(claim.into())));
    session.receive(now, "move e2e4").unwrap();
    assert_eq!(session.receive_early("1-0 {we win}"), Some(Claim::Win("1-0 {we win}".into())));
    assert_eq!(session.receive_early("0-1 {they win}"), Some(Claim::Loss));
    assert_eq!(session.receive_early("move d2d4"), None);
}
