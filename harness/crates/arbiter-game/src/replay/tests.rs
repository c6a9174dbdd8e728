use super::*;
use crate::adjudicate::Rules;
use crate::outcome::Termination;
use arbiter_process::Launch;
use arbiter_protocol::{Conditions, Deadlines, Limits, Protocol, Restart, Setup};
use shakmaty::{CastlingMode, Chess};

/// Transcript of a game in which Black mates on the second move; each side has one second.
const MATE: &str = "\
-900 W< uci
-800 W> uciok
-700 W< isready
-600 W> readyok
-500 W= 
-500 W< ucinewgame
-500 W< isready
-500 W. 
-400 W> readyok
-900 B< uci
-800 B> id name B
-800 B> uciok
-700 B< isready
-600 B> readyok
-500 B= 
-500 B< ucinewgame
-500 B< isready
-500 B. 
-400 B> readyok
10 W< position startpos
10 W< go wtime 1000 btime 1000
400010 W> bestmove f2f3
400100 B< position startpos moves f2f3
400100 B< go wtime 600 btime 1000
500100 B> info depth 1 score cp 3
500100 B> bestmove e7e5
500200 W< position startpos moves f2f3 e7e5
500200 W< go wtime 600 btime 900
600200 W> bestmove g2g4
600300 B< position startpos moves f2f3 e7e5 g2g4
600300 B< go wtime 500 btime 900
700300 B> bestmove d8h4
";

fn replay_text(text: &str) -> ReplayResult {
    let limits = Limits { clock: Some("1".parse().unwrap()), ..Limits::default() };
    let margin = Duration::from_millis(10);
    let conditions = Conditions { limits, margin, white_pov: false };
    let conditions = ByColor { white: conditions, black: conditions };
    let start = Chess::default();
    let mode = CastlingMode::Standard;
    let referee = Referee::new(start.clone(), mode, &[], conditions, Rules::default(), None);
    let setup = EngineSetup {
        name: "engine".to_owned(),
        launch: Launch::default(),
        protocol: Protocol::Uci,
        setup: Setup::default(),
        restart: Restart::Auto,
        deadlines: Deadlines::default(),
        pattern: None,
        is_recorded: true,
    };
    let mut transcript: Transcript = text.parse().unwrap();
    // The times in the texts are in microseconds.
    transcript.entries.iter_mut().for_each(|entry| entry.at_ns *= 1_000);
    transcript.entries.sort_by_key(|entry| entry.at_ns);
    let game = Game { start: &start, mode, limits, settings: &[] };
    replay(referee, ByColor::new_with(|_| game), ByColor::new_with(|_| &setup), &transcript)
}

fn ending(text: &str) -> (Termination, String) {
    let replayed = replay_text(text);
    let outcome = replayed.outcome.unwrap_or_else(|| panic!("{:?}", replayed.remarks));
    (outcome.termination, outcome.detail)
}

#[test]
fn a_replay_reproduces_the_game() {
    let replayed = replay_text(MATE);
    assert_eq!(replayed.outcome.unwrap().termination, Termination::Checkmate);
    assert_eq!((replayed.moves, replayed.remarks), (4, Vec::new()));
}

#[test]
fn a_line_that_differs_in_the_replay_is_named() {
    let other = MATE.replace("go wtime 500 btime 900", "go wtime 499 btime 900");
    let replayed = replay_text(&other);
    assert_eq!(replayed.outcome.unwrap().termination, Termination::Checkmate);
    let remark = "600.300 ms: Black received 'go wtime 499 btime 900', and would now receive 'go \
                  wtime 500 btime 900'";
    assert_eq!(replayed.remarks, [remark]);
}

#[test]
fn replayed_faults_match_the_recorded_ones() {
    let until = |line: &str| &MATE[..MATE.find(line).unwrap()];
    let crashed = format!("{}600100 W! crashed: exit code 3\n", until("600200"));
    let expect = "White crashed (exit code 3)".to_owned();
    assert_eq!(ending(&crashed), (Termination::Crash, expect));
    // The engine receives `stop` after its time has run out; the engine then answers late or not at
    // all.
    let go = until("600200");
    let late = format!("{go}1110300 W< stop\n1200000 W> bestmove g2g4\n");
    let (termination, detail) = ending(&late);
    assert_eq!(termination, Termination::TimeForfeit);
    assert_eq!(detail, "White loses on time (99.8 ms over)");
    let deaf = format!("{go}1110300 W< stop\n3110400 W! silent: no 'bestmove' within 2000 ms\n");
    assert_eq!(ending(&deaf).0, Termination::Stall);
    let illegal = MATE.replace("bestmove d8h4", "bestmove d8h5");
    assert_eq!(ending(&illegal).0, Termination::IllegalMove);
}

#[test]
fn an_engine_that_never_started_forfeits() {
    let text = "0 B< uci\n9 B! crashed: signal 9\n";
    assert_eq!(ending(text), (Termination::Crash, "Black crashed (signal 9)".to_owned()));
}

#[test]
fn gaps_and_early_ends_of_transcripts_are_reported() {
    let cut = MATE.replace("600200 W> bestmove g2g4", "600200 W~ 7 lines not recorded");
    let replayed_cut = replay_text(&cut);
    assert_eq!((replayed_cut.outcome, replayed_cut.moves), (None, 2));
    assert!(replayed_cut.remarks[0].starts_with("7 lines not recorded of White"));
    let short = replay_text(&MATE[..MATE.find("600200").unwrap()]);
    assert!(short.remarks[0].starts_with("the transcript of White ends"), "{short:?}");
}
