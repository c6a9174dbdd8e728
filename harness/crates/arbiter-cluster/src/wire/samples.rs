//! Messages with all optional fields, for tests and for the fuzz target.

use std::sync::Arc;
use std::time::Duration;

use shakmaty::{ByColor, CastlingMode, Chess, Color};

use super::*;
use crate::subject::RunId;
use crate::trust::{Key, RunSecret};
use arbiter_game::adjudicate::Rules;
use arbiter_game::annotation::{Annotation, Keeping};
use arbiter_game::driver::{GameSetup, Progress};
use arbiter_game::lint::{LintFinding, LintRule};
use arbiter_game::outcome::{Outcome, Termination};
use arbiter_game::record::{
    GameRecord, KeptFields, LateMove, MoveRecord, SearchDetails, SearchInfo,
};
use arbiter_plan::{Engine, LaunchSettings};
use arbiter_protocol::{Conditions, Deadlines, Limits, Score};
use arbiter_run::{Games, PairJob, PlayedPair};
use arbiter_schedule::Pairing;
use arbiter_suite::epd::{Answer, EngineAnswers, Question, SearchProgress, read as read_suite};
use arbiter_suite::perft::{Count, Patterns, PerftQuery, read as read_cases};

pub(crate) const RUN_ID: &str = "0123456789abcdef";

pub(crate) fn run_id() -> RunId {
    RunId::try_from(RUN_ID.to_owned()).unwrap()
}

pub(crate) fn key() -> Key {
    Key::from_secret_bytes([7; 32])
}

pub(crate) fn secret() -> RunSecret {
    RunSecret::new(&key(), &run_id())
}

/// Returns packed bytes with the proof of worker host-1 for attempt 2 at pair 7.
pub(crate) fn proven(packed: &[u8]) -> Vec<u8> {
    [&2u32.to_le_bytes(), &secret().proof("host-1", 7, 2).as_bytes()[..], packed].concat()
}

/// Returns a message on the result subject of a worker.
pub(crate) fn message(worker: &str, payload: Vec<u8>) -> async_nats::Message {
    let subject = run_id().result_subject(7, worker);
    async_nats::Message {
        subject: subject.into(),
        reply: None,
        length: payload.len(),
        payload: payload.into(),
        headers: None,
        status: None,
        description: None,
    }
}

pub(crate) fn description() -> RunDescription {
    let engine = |conditions: Conditions| RunEngine {
        engine: Engine {
            name: "A".into(),
            program: None,
            args: vec![],
            dir: None,
            options: vec![],
            launch: LaunchSettings::default(),
            conditions,
            provenance: None,
        },
        program: RunFile { hash: blake3::hash(b"x"), bytes: 1, name: "x".into() },
        option_files: vec![],
        is_benched: false,
    };
    let conditions = job(0).games.first.conditions;
    RunDescription {
        run_id: run_id(),
        run: "run".into(),
        engines: vec![engine(conditions.white), engine(conditions.black)],
        tuned: vec!["Hash".into()],
        deadlines: Deadlines::default(),
        rules: Rules::default(),
        transcripts: Keeping::default(),
        annotation: Annotation::default(),
        noise_limit: None,
        wait: Duration::ZERO,
        lease: Duration::from_secs(30),
        stall_timeout: Duration::from_secs(60),
        requirements: Requirements { threads: 1, memory_mib: 32 },
        reference_nps: None,
    }
}

/// Returns the pair with this number; the opening of the pair has one move.
pub(crate) fn job(pair: u64) -> PairJob {
    let limits = Limits { nodes: Some(1), ..Limits::default() };
    let conditions = Conditions { limits, margin: Duration::ZERO, white_pov: false };
    let setup = |white, black| GameSetup {
        engines: ByColor { white, black },
        fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned(),
        start: Chess::default(),
        mode: CastlingMode::Standard,
        book: vec!["f2f3".parse().unwrap()],
        conditions: ByColor { white: conditions, black: conditions },
        settings: ByColor::default(),
        rules: Rules::default(),
        tables: None,
        keep: Arc::new(KeptFields::default()),
        progress: Progress::default(),
    };
    let games = Games { first: setup(0, 1), second: Some(setup(1, 0)) };
    PairJob { pairing: Pairing { pair, engines: [0, 1], opening: pair }, games }
}

/// Returns a valid result of [`job()`]: White is mated in both games.
pub(crate) fn played(pair: u64) -> PlayedPair {
    let job = job(pair);
    let record = |setup: &GameSetup| GameRecord {
        engines: setup.engines,
        fen: setup.fen.clone(),
        chess960: false,
        moves: ["f2f3", "e7e5", "g2g4", "d8h4"]
            .into_iter()
            .enumerate()
            .map(|(ply, uci)| MoveRecord {
                uci: uci.parse().unwrap(),
                search: (ply > 0).then(SearchInfo::default),
            })
            .collect(),
        outcome: Outcome::lost(Color::White, Termination::Checkmate, "White is mated"),
        duration: Duration::from_millis(7),
        ready: ByColor::default(),
        movetime: ByColor::default(),
        late: None,
        waited: ByColor::default(),
        begun_ms: None,
        transcript: None,
    };
    let second = job.games.second.as_ref().map(record);
    PlayedPair { pairing: job.pairing, games: Games { first: record(&job.games.first), second } }
}

pub(crate) fn result(report: Result<PlayedPair, String>) -> JobResult {
    JobResult { run_id: run_id(), number: 7, attempt: 2, report }
}

/// Returns a result with all optional fields.
pub(crate) fn full() -> JobResult {
    let mut pair = played(7);
    let game = &mut pair.games.first;
    game.moves[1].search = Some(SearchInfo {
        score: Some(Score::Mate(-3)),
        depth: Some(9),
        seldepth: Some(12),
        nodes: Some(123_456_789_012),
        elapsed: Duration::from_nanos(1_234_567),
        reported: Some(Duration::from_millis(1)),
        details: SearchDetails {
            left: Some(Duration::from_nanos(7)),
            nps: Some(1_000),
            hashfull: Some(4),
            tbhits: Some(3),
            pv: vec!["e2e4".into(), "e7e5".into()],
            lines: vec!["info string \"x\"".into()],
            findings: vec![LintFinding {
                rule: LintRule::NotPvMove,
                what: "x".into(),
                line: String::new(),
            }],
        }
        .boxed(),
    });
    game.moves[2].search.as_mut().unwrap().score = Some(Score::Centipawns(-31));
    game.ready.black = Some(Duration::from_micros(70));
    game.late =
        Some(LateMove { over: Duration::from_millis(30), waited: Some(Duration::from_millis(4)) });
    game.waited.white = Some(Duration::from_millis(5));
    game.transcript = Some("5 W< go\n6 W> bestmove e2e4\n".parse().unwrap());
    result(Ok(pair))
}

/// Returns a question with all optional fields.
pub(crate) fn question() -> Question {
    let line = "4k3/8/8/8/8/8/4P3/4K2R w K - bm e4; am Rh8+; dm 9; c0 \"e4=10, e3=4\";";
    let record = read_suite(line, false).cases.remove(0);
    Question { record: Arc::new(record), hold: Some(3), engines: 2 }
}

/// Returns the answers of three engines, one of which crashed.
pub(crate) fn answered() -> EngineAnswers {
    let since = SearchProgress { at: Duration::from_millis(3), depth: Some(4), nodes: None };
    let end = SearchProgress { at: Duration::from_nanos(12_345), depth: Some(9), nodes: Some(77) };
    let score = Some(Score::Mate(3));
    let answer = Answer { played: "e2e4".into(), score, end, since: Some(since) };
    let score = Some(Score::Centipawns(-5));
    let end = SearchProgress { depth: None, ..end };
    let other = Answer { score, since: None, end, ..answer.clone() };
    EngineAnswers(vec![Ok(answer), Ok(other), Err("it crashed".into())])
}

/// Returns a count to depth 2.
pub(crate) fn count() -> Count {
    let case = read_cases("4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D2 25", false).cases.remove(0);
    let patterns = Patterns::new(Some(r"leaves (\d+)")).unwrap();
    let command = "perft {depth}".to_owned();
    let limit = Duration::from_secs(9);
    let query = PerftQuery { command, patterns, limit };
    Count { start: case.start, depth: 2, expected: 25, query }
}

/// Returns a status with all optional fields.
pub(crate) fn status() -> WorkerStatus {
    WorkerStatus {
        version: "0.1.0".into(),
        slots: 8,
        playing: 3,
        pairs: 99,
        recent_pairs: 30,
        recent_secs: 120,
        cores: 16,
        memory_mib: 32_000,
        system: "linux x86_64".into(),
        cpu: "a processor".into(),
        sandbox: "off".into(),
        benches: vec![("A".into(), 1.5e6)],
        refusals: vec![(run_id(), "why".into())],
        trouble: Some("what".into()),
        is_leaving: true,
    }
}

/// Returns `text` signed with the key of the coordinator.
pub(crate) fn signed(purpose: &str, text: &[u8]) -> Vec<u8> {
    [&key().public().to_bytes()[..], &key().sign(purpose, text), text].concat()
}

/// Returns a heartbeat in the given game of a pair.
pub(crate) fn heartbeat(half: Option<u8>) -> Heartbeat {
    Heartbeat { pair: 3, attempt: 1, proof: blake3::hash(b"p"), half, is_given_back: false }
}

/// Checks the proof of a message, and reads the result.
pub(crate) fn read_message<D: Payload>(
    message: &async_nats::Message,
) -> Result<JobResult<D>, WireError> {
    check_proof(message, &secret()).and_then(|proven| read_result(&proven, &run_id()))
}
