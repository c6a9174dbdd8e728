#![expect(clippy::disallowed_methods, reason = "any time will do")]

use std::time::Duration;

use crate::state::MAX_OPTIONS;
use shakmaty::{CastlingMode, Chess};

use super::*;
use crate::{Deadlines, Go, Limits, Protocol, Session, SessionError, Setup};

fn open_session(requested: &[(&str, &str)]) -> (Session, Instant) {
    let options = requested.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    opened_with(Setup { options, ..Setup::default() })
}

fn opened_with(setup: Setup) -> (Session, Instant) {
    let mut session = Session::new(Protocol::Uci, setup, Deadlines::default());
    let now = Instant::now();
    assert_eq!(session.open(now), "uci\n");
    (session, now)
}

/// Opens the session of an engine that ponders.
fn open_pondering() -> (Session, Instant) {
    let (mut session, now) = opened_with(Setup { ponder: true, ..Setup::default() });
    session.receive(now, "option name Ponder type check default false").unwrap();
    ready(&mut session, now);
    (session, now)
}

fn ready(session: &mut Session, now: Instant) {
    session.receive(now, "uciok").unwrap();
    assert!(!session.is_ready());
    assert_eq!(session.receive(now, "readyok"), Ok(Step::Continue));
    assert!(session.is_ready());
}

fn game<'a>(start: &'a Chess, is_chess960: bool, settings: &'a [(String, String)]) -> Game<'a> {
    let mode = CastlingMode::from_chess960(is_chess960);
    Game { start, mode, limits: Limits::default(), settings }
}

#[test]
fn the_handshake_sets_options_by_their_declared_names() {
    let (mut session, now) = open_session(&[("hash", "32"), ("ShowPv", "full"), ("tbpath", "/x")]);
    session.receive(now, "Engine 1.0 by somebody").unwrap();
    session.receive(now, "id name Engine 1.0").unwrap();
    session.receive(now, "option name Hash type spin default 1 min 1 max 64").unwrap();
    session.receive(now, "option name ShowPv type combo default Full var Full var None").unwrap();
    session.receive(now, "option name TbPath type string").unwrap();
    let step = session.receive(now, "uciok").unwrap();
    assert_eq!(step, Step::Send("setoption name Hash value 32\nsetoption name ShowPv value Full\nsetoption name TbPath value /x\nisready\n".into()));
    session.receive(now, "readyok").unwrap();
    assert!(session.is_ready());
    assert_eq!(session.engine_name(), Some("Engine 1.0"));
    assert_eq!(session.deadline(), None);
}

#[test]
fn an_undeclared_option_ends_the_handshake() {
    let (mut session, now) = open_session(&[("Hash", "32")]);
    let error = session.receive(now, "uciok").unwrap_err();
    assert_eq!(error.to_string(), "has no option 'Hash'");
}

#[test]
fn too_many_options_are_an_error() {
    let (mut session, now) = open_session(&[]);
    let line = "option name X type button";
    let refused = (0..=MAX_OPTIONS).find_map(|_| session.receive(now, line).err());
    assert_eq!(refused.unwrap().to_string(), "declares more than 5000 options");
}

#[test]
fn each_wait_has_its_deadline() {
    let (mut session, now) = open_session(&[]);
    let limits = Deadlines::default();
    assert_eq!(session.deadline(), Some(now + limits.uciok));
    assert_eq!(session.overdue(now).unwrap_err().to_string(), "no 'uciok' within 10000 ms");
    ready(&mut session, now);
    session.new_game(now, game(&Chess::default(), false, &[])).unwrap();
    assert_eq!(session.deadline(), Some(now + limits.readyok));
    session.receive(now, "readyok").unwrap();
    session.think(now, "position startpos", &Go::default(), None);
    assert_eq!(session.deadline(), Some(now + limits.bestmove));
    session.halt(now);
    assert_eq!(session.deadline(), Some(now + limits.stop));
}

#[test]
fn a_move_has_the_last_search_information() {
    let (mut session, now) = open_pondering();
    session.think(now, "position startpos", &Go::default(), None);
    session.receive(now, "info depth 1 score cp 10 nodes 20").unwrap();
    assert_eq!(session.receive(now, "info depth 2 score cp 9 nodes 40"), Ok(Step::Info));
    assert_eq!(session.info().nodes, Some(40));
    session.receive(now, "readyok").unwrap();
    let step = session.receive(now, "bestmove e2e4 ponder e7e5").unwrap();
    let Step::Move { text, info } = step else { panic!("{step:?}") };
    assert_eq!((text.as_str(), info.depth, info.nodes), ("e2e4", Some(2), Some(40)));
    assert_eq!(session.expected_reply(), Some("e7e5"));
    // Further answers are ignored.
    assert_eq!(session.receive(now, "bestmove a2a3"), Ok(Step::Continue));
}

#[test]
fn a_repeated_bestmove_does_not_answer_the_next_search() {
    let (mut session, now) = open_session(&[]);
    ready(&mut session, now);
    let go = Go::default();
    let mut step_after = |position: &str, line: &str| {
        session.think(now, position, &go, None);
        session.receive(now, line).unwrap()
    };
    let game = "position startpos moves e2e4 e7e5";
    assert!(matches!(step_after("position startpos", "bestmove e2e4"), Step::Move { .. }));
    assert_eq!(step_after(game, "bestmove e2e4"), Step::Continue);
    assert_eq!(step_after(game, " bestmove  e2e4 ponder e7e5 "), Step::Continue);
    assert!(matches!(step_after(game, "bestmove g1f3"), Step::Move { .. }));
    // The opponent's last move and an empty move are answers, not repetitions.
    assert!(matches!(step_after(game, "bestmove e7e5"), Step::Move { .. }));
    assert!(matches!(step_after(game, "bestmove"), Step::Move { .. }));
    // After information about this search, the same move is an answer: the engine searched the
    // wrong position.
    session.think(now, game, &go, None);
    session.receive(now, "info depth 1 score cp 5 pv e2e4").unwrap();
    assert!(matches!(session.receive(now, "bestmove e2e4"), Ok(Step::Move { .. })));
    // During pondering, the same move is still a repetition.
    session.ponder(game.to_owned(), go);
    assert_eq!(session.receive(now, "bestmove e2e4"), Ok(Step::Continue));
    assert!(session.is_pondering());
}

#[test]
fn a_chess960_king_that_did_not_move_may_repeat_the_squares_of_its_castling() {
    let (mut session, now) = open_session(&[]);
    session.receive(now, "option name UCI_Chess960 type check default false").unwrap();
    ready(&mut session, now);
    session.new_game(now, game(&Chess::default(), true, &[])).unwrap();
    session.receive(now, "readyok").unwrap();
    session.think(now, "position fen x moves g1h1 e7e5", &Go::default(), None);
    assert!(matches!(session.receive(now, "bestmove g1h1"), Ok(Step::Move { .. })));
    session.think(now, "position fen x moves f1h1 e7e5", &Go::default(), None);
    assert_eq!(session.receive(now, "bestmove f1h1"), Ok(Step::Continue));
}

#[test]
fn the_chess960_option_is_sent_only_if_the_mode_changes() {
    let (mut session, now) = open_session(&[]);
    session.receive(now, "option name UCI_Chess960 type check default false").unwrap();
    ready(&mut session, now);
    let sent = session.new_game(now, game(&Chess::default(), true, &[])).unwrap();
    assert_eq!(sent, "setoption name UCI_Chess960 value true\nucinewgame\nisready\n");
    session.receive(now, "readyok").unwrap();
    assert_eq!(
        session.new_game(now, game(&Chess::default(), true, &[])).unwrap(),
        "ucinewgame\nisready\n"
    );
    let (mut plain, now) = open_session(&[]);
    ready(&mut plain, now);
    assert_eq!(plain.new_game(now, game(&Chess::default(), true, &[])), Err(no_chess960()));
}

#[test]
fn game_options_are_sent_before_the_game() {
    let (mut session, now) = open_session(&[]);
    session.receive(now, "option name Razor type spin default 5 min 0 max 9").unwrap();
    ready(&mut session, now);
    let setting = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    for value in ["7", "7", "8"] {
        let sent = session
            .new_game(now, game(&Chess::default(), false, &setting("razor", value)))
            .unwrap();
        let expect = format!("setoption name Razor value {value}\nucinewgame\nisready\n");
        assert_eq!(sent, expect);
        session.receive(now, "readyok").unwrap();
    }
    let refused = session.new_game(now, game(&Chess::default(), false, &setting("Razor", "10")));
    assert!(matches!(refused, Err(SessionError::Option(_))), "{refused:?}");
}

const EXPECTED: &str = "position startpos moves e2e4 e7e5";

fn pondering() -> (Session, Instant) {
    let (mut session, now) = open_pondering();
    let sent = session.ponder(EXPECTED.to_owned(), Go::default());
    assert_eq!(sent.unwrap(), "position startpos moves e2e4 e7e5\ngo ponder\n");
    assert!(session.is_ponder_miss("position startpos") && !session.is_ponder_miss(EXPECTED));
    assert_eq!(session.deadline(), None, "nobody waits for a ponderer");
    (session, now)
}

#[test]
fn ponderhit_continues_the_search() {
    let (mut session, now) = pondering();
    session.receive(now, "info depth 9 nodes 99").unwrap();
    assert_eq!(session.think(now, EXPECTED, &Go::default(), None), "ponderhit\n");
    let step = session.receive(now, "bestmove g1f3").unwrap();
    let Step::Move { info, .. } = step else { panic!("{step:?}") };
    assert_eq!(info.nodes, Some(99), "what it found before counts");
}

#[test]
fn a_ponder_miss_stops_the_search_and_discards_its_move() {
    let (mut session, now) = pondering();
    assert_eq!(session.end_pondering(now), "stop\n");
    assert_eq!(session.deadline(), Some(now + Deadlines::default().stop));
    assert_eq!(session.receive(now, "bestmove g1f3"), Ok(Step::Continue));
    assert!(session.is_ready());
}

#[test]
fn an_early_ponder_answer_ends_pondering() {
    let (mut session, now) = pondering();
    assert_eq!(session.receive(now, "bestmove g1f3"), Ok(Step::Continue));
    assert!(!session.is_pondering() && session.is_ready());
}

#[test]
fn pondering_needs_the_option() {
    let (mut session, now) = opened_with(Setup { ponder: true, ..Setup::default() });
    assert_eq!(
        session.receive(now, "uciok"),
        Err(unfit("does not declare Ponder, which ponder=true requires"))
    );
}

#[test]
fn init_lines_are_sent_after_the_options() {
    let setup = Setup {
        options: vec![("Hash".into(), "1".into())],
        init: vec!["book off".into()],
        nodestime: Some(600),
        ..Setup::default()
    };
    let (mut session, now) = opened_with(setup);
    session.receive(now, "option name Hash type spin").unwrap();
    session.receive(now, "option name NodesTime type spin min 0 max 10000").unwrap();
    let step = session.receive(now, "uciok").unwrap();
    let expect = "setoption name NodesTime value 600\nsetoption name Hash value 1\n\
                  book off\nisready\n";
    assert_eq!(step, Step::Send(expect.into()));
}

#[test]
fn a_slow_machine_gets_more_time_to_start() {
    let scaled = Deadlines::default().with_start_scaled(2.5);
    assert_eq!((scaled.uciok.as_secs(), scaled.readyok.as_secs()), (25, 75));
    assert_eq!(scaled.stop, Deadlines::default().stop);
}

#[test]
fn a_pending_request_consumes_lines_until_it_is_answered() {
    let (mut session, now) = open_session(&[]);
    ready(&mut session, now);
    let limit = Duration::from_secs(3);
    let sent = session.ask(now, "position startpos", "go perft 1", limit);
    assert_eq!(sent.unwrap(), "position startpos\ngo perft 1\n");
    assert_eq!(session.deadline(), Some(now + limit));
    assert_eq!(
        session.overdue(now).unwrap_err().to_string(),
        "no 'end of the answer' within 3000 ms"
    );
    for line in ["a2a3: 1", "readyok", "bestmove a2a3"] {
        assert_eq!(session.receive(now, line), Ok(Step::Answer(line.into())));
    }
    assert_eq!(session.settle(now), "isready\n");
    assert_eq!(session.receive(now, "h2h4: 1"), Ok(Step::Continue));
    session.receive(now, "readyok").unwrap();
    assert!(session.is_ready());
}

#[test]
fn bestmove_lines_are_parsed_and_others_ignored() {
    let answer = |line: &str| {
        let (mut session, now) = open_pondering();
        session.think(now, "position startpos", &Go::default(), None);
        let step = session.receive(now, line).unwrap();
        (step, session.expected_reply().map(str::to_owned))
    };
    let best = |text: &str, reply: Option<&str>| {
        (Step::Move { text: text.into(), info: Info::default() }, reply.map(str::to_owned))
    };
    assert_eq!(answer("  bestmove e2e4 ponder e7e5\t"), best("e2e4", Some("e7e5")));
    assert_eq!(answer("bestmove e2e4  ponder"), best("e2e4", Some("")));
    assert_eq!(answer("bestmove e2e4 e7e5"), best("e2e4", None));
    assert_eq!(answer("bestmove"), best("", None));
    for line in ["hello", "", "id", "option nonsense", "uciok"] {
        assert_eq!(answer(line), (Step::Continue, None), "{line}");
    }
    let (mut session, now) = open_session(&[]);
    ready(&mut session, now);
    session.think(now, "position startpos", &Go::default(), None);
    session.receive(now, "bestmove e2e4 ponder e7e5").unwrap();
    assert_eq!(session.expected_reply(), None, "the engine may not ponder");
}
