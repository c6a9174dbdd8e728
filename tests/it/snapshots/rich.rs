//! Hand-written store whose runs contain each ending of a game and of a run, each warning, each
//! verdict of a gate, and each kind of run.

use std::path::Path;
use std::time::Duration;

use arbiter_game::adjudicate::{DrawRule, ResignRule, Rules};
use arbiter_game::lint::{LintFinding, LintRule};
use arbiter_game::outcome::{Outcome, Termination};
use arbiter_game::record::{GameRecord, LateMove, MoveRecord, SearchDetails, SearchInfo};
use arbiter_openings::Quarantine;
use arbiter_plan::{
    Ablation, DEFAULT_AHEAD, EngineSpec, GateKind, GateOutcome, GateVerdict, Plan, Provenance,
    Request, RunKind, Scale, SprtRequest, TournamentRequest,
};
use arbiter_protocol::Score;
use arbiter_run::{Games, PairTally, PlayedPair, Remark, RunEnd, RunInput, RunState};
use arbiter_schedule::Format;
use arbiter_spsa::{A_RATIO, ALPHA, GAMMA, Parameter, ParameterKind, Tuning};
use arbiter_stats::Model;
use arbiter_store::{EngineHashes, Fingerprints, Offsets, Store, StoredGate};
use serde_json::json;
use shakmaty::{ByColor, Color};

use crate::support::store::change;

/// Commit whose gates are in the store.
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Start of the first run, as Unix time in milliseconds; each other run starts one minute after the
/// preceding run.
const FIRST_START: i64 = 1_790_000_000_000;

/// Fills the store of a folder. The run `rich` contains everything; all other runs are named after
/// their purpose.
pub fn fill(folder: &Path) {
    let mut store = Store::create(folder).expect("an empty folder takes a store");
    rich(&mut store);
    let duel = |kind, more: fn(&mut Request)| {
        let mut request = request(&["A", "B"]);
        more(&mut request);
        Plan::resolve(kind, request).expect("the request makes sense")
    };
    let sprt = || duel(RunKind::Sprt, |_| ());
    let even = [Some(0), None, Some(1), None];
    add(&mut store, 1, "rejected", &sprt(), None, 60, &[Some(1), Some(1), None, Some(1)]);
    let short = duel(RunKind::Sprt, |request| request.tournament.pairs = Some(4));
    add(&mut store, 2, "undecided", &short, Some(RunEnd::Complete), 4, &even);
    add(&mut store, 3, "interrupted", &sprt(), Some(RunEnd::Interrupted), 3, &even);
    add(&mut store, 4, "killed", &sprt(), None, 2, &even);
    let mut single = duel(RunKind::Match, |request| {
        request.tournament.draft.is_single = true;
        request.tournament.pairs = Some(6);
    });
    // Earlier versions accepted such names.
    single.engines[1].name.push('\u{202e}');
    add(&mut store, 5, "single", &single, Some(RunEnd::Complete), 6, &even);
    let mut many = request(&["A", "B", "C", "D"]);
    many.tournament.format = Some(Format::RoundRobin);
    many.tournament.pairs = Some(2);
    let many = Plan::resolve(RunKind::Tournament, many).expect("the request makes sense");
    let results = [Some(0), None, Some(1), None, None, Some(0), None];
    add(&mut store, 6, "tournament", &many, Some(RunEnd::Complete), 12, &results);
    let mut ablation_run = request(&["whole"]);
    let features = vec!["tempo".into(), "outpost".into()];
    ablation_run.draft.ablation = Some(Ablation { option: "Disable".into(), features });
    ablation_run.tournament.pairs = Some(8);
    let ablation_run =
        Plan::resolve(RunKind::Ablate, ablation_run).expect("the request makes sense");
    let results = [Some(0), None, None, Some(0), Some(1), None, Some(0)];
    add(&mut store, 7, "ablation", &ablation_run, Some(RunEnd::Complete), 16, &results);
    add(&mut store, 8, "tuning", &tuning(), Some(RunEnd::Complete), 60, &results);
    make_games_differ(folder);
}

/// Sets different hashes, because most games have equal moves but have to count as different games.
fn make_games_differ(folder: &Path) {
    change(folder, "UPDATE pairs SET first_hash = 2 * pair, second_hash = 2 * pair + 1");
}

/// Adds tests of some commits against the same opponent.
pub fn add_commits(folder: &Path) {
    let mut store = Store::open(folder).expect("the folder has a store");
    let even = [Some(0), None, Some(1), None];
    let better = [Some(0), None, None, Some(0), Some(1), None, Some(0)];
    for (number, winners) in (1..).zip([&even[..], &better, &better, &even]) {
        let mut plan = Plan::resolve(RunKind::Sprt, request(&["dev", "main"]))
            .expect("the request makes sense");
        let commit = format!("{number}{}", &COMMIT[1..]);
        let (repo, revision) = ("/srv/engine".into(), format!("HEAD~{}", 4 - number));
        plan.engines[0].provenance =
            Some(Provenance { repo, revision, commit, is_dirty: false, bench: None });
        let pairs = 20 + 5 * number;
        add(
            &mut store,
            30 + number as i64,
            &format!("commit-{number}"),
            &plan,
            Some(RunEnd::Complete),
            pairs,
            winners,
        );
    }
    make_games_differ(folder);
}

/// Adds tournaments in which each round depends on the preceding round, named after their formats.
pub fn add_tournaments(folder: &Path) {
    let mut store = Store::open(folder).expect("the folder has a store");
    let names = ["Anna", "Bo", "Cleo, who has a name that is rather long", "Dora", "Eve", "Fay"];
    let mut plan = |format: Format, rounds: Option<u64>, pairs: u64, winners: &[Option<usize>]| {
        let mut many = request(&names);
        many.tournament.format = Some(format);
        many.tournament.pairs = Some(1);
        many.tournament.rounds = rounds;
        let plan = Plan::resolve(RunKind::Tournament, many).expect("the request makes sense");
        let (minutes, run) = (9 + pairs as i64, format.to_string());
        add(&mut store, minutes, &run, &plan, Some(RunEnd::Complete), pairs, winners);
    };
    plan(Format::Swiss, Some(3), 9, &[Some(0), None, Some(0), Some(0), None, Some(1), None]);
    plan(Format::Knockout, None, 5, &[Some(0), None]);
    plan(Format::Ladder, None, 5, &[Some(1), None, Some(0), Some(0), Some(1)]);
}

/// Returns a tuning run of two parameters in 30 iterations.
fn tuning() -> Plan {
    let parameter = |name: &str, start: f64, max: f64, kind| Parameter {
        name: name.to_owned(),
        kind,
        start,
        min: 0.0,
        max,
        c_end: max / 20.0,
        r_end: 0.02,
    };
    let parameters = vec![
        parameter("Razor Margin", 300.0, 900.0, ParameterKind::Int),
        parameter("LmrBase", 0.75, 2.0, ParameterKind::Float),
    ];
    let mut request = request(&["tuned"]);
    let [alpha, gamma, a_ratio] = [ALPHA, GAMMA, A_RATIO];
    let (iterations, pairs, ahead) = (0, 0, DEFAULT_AHEAD);
    request.tuning = Some(Tuning { parameters, alpha, gamma, a_ratio, iterations, pairs, ahead });
    request.tournament.rounds = Some(30);
    request.tournament.pairs = Some(2);
    Plan::resolve(RunKind::Tune, request).expect("the request makes sense")
}

/// Returns the request of all runs: bundled engines with these names under a clock, and a test that
/// ends soon.
fn request(names: &[&str]) -> Request {
    let engine = |name: &&str| {
        let spec = EngineSpec::parse("cmd=bundled,eval=material,option.Hash=8");
        EngineSpec { name: Some((*name).to_owned()), ..spec.expect("the description is sound") }
    };
    Request {
        engines: names.iter().map(engine).collect(),
        each: EngineSpec::parse("tc=8+0.08").expect("the limits are sound"),
        sprt: SprtRequest {
            elo1: Some(20.0),
            model: Some(Model::Normalized),
            ..SprtRequest::default()
        },
        tournament: TournamentRequest { pairs: Some(500), ..TournamentRequest::default() },
        concurrency: Some(2),
        ..Request::default()
    }
}

fn rich(store: &mut Store) {
    let mut request = request(&["new <b>&|", "old"]);
    request.draft.rules = Rules {
        draw: Some(DrawRule { move_number: 40, move_count: 8, score_cp: 10 }),
        resign: Some(ResignRule { move_count: 4, score_cp: 600, two_sided: true }),
        move_cap: Some(200),
        ..Rules::default()
    };
    let mut plan = Plan::resolve(RunKind::Sprt, request).expect("the request makes sense");
    plan.engines[0].provenance = Some(Provenance {
        repo: "/srv/engine".into(),
        revision: "HEAD".into(),
        commit: COMMIT.into(),
        is_dirty: false,
        bench: Some(1_234_567),
    });
    plan.scale = Some(Scale { reference_nps: 1e6, measured_nps: 8e5 });
    let fingerprints = Fingerprints {
        book: "b".repeat(64),
        openings: "0".repeat(64),
        corrected: Default::default(),
        duplicates: None,
        quarantine: Quarantine {
            count: 3,
            faults: vec!["book.epd:7: no white king".into(), "book.epd:9: not a FEN".into()],
        },
        engines: ["e", "f"].map(engine_hashes).into(),
        host: "Some CPU, 2 processors available, linux 6.1, x86_64".into(),
    };
    let about = Some("one of everything");
    store
        .begin_run("rich", FIRST_START, &plan, &fingerprints, Offsets::default(), about)
        .expect("it is new");
    let schedule = plan.schedule();
    for pair in 0..60 {
        let pairing = schedule.pairing(pair).expect("there are 500 pairs");
        let nth = 2 * pair as usize;
        let game = |index: usize| {
            let kind = Termination::ALL[(nth + index) % Termination::ALL.len()];
            let [white, black] = if index == 0 { [0, 1] } else { [1, 0] };
            // The old engine fails, and loses, four times out of five.
            let loser = if (nth + index) % 5 == 3 { 0 } else { 1 };
            ended_game(pair, ByColor { white, black }, kind, loser)
        };
        let mut first = game(0);
        if let (1 | 7, Some(search)) =
            (pair, first.moves.last_mut().and_then(|m| m.search.as_mut()))
        {
            let what = "12,000 nodes, then 9,000".to_owned();
            let findings = vec![LintFinding { rule: LintRule::Nodes, what, line: String::new() }];
            search.details = SearchDetails { findings, ..SearchDetails::default() }.boxed();
        }
        let played = PlayedPair { pairing, games: Games { first, second: Some(game(1)) } };
        let noise = (pair == 4)
            .then_some("old waited for a processor for 31 % of its thinking time, new for 2 %");
        if pair == 3 {
            store
                .void(
                    "rich",
                    &played,
                    "new lost on time (13.0 ms over, margin 10 ms) after 8.0 ms of CPU contention",
                )
                .expect("noted");
        }
        store.append("rich", &played, noise, None).expect("it is committed");
    }
    let remark = Remark { worker: "w1".into(), pair: Some(2), text: "a duplicate result".into() };
    store.note_remark("rich", FIRST_START, &remark).expect("it is noted");
    gates(store);
}

/// Returns a game with this ending; `loser` lost it unless it was drawn.
fn ended_game(pair: u64, engines: ByColor<usize>, kind: Termination, loser: usize) -> GameRecord {
    use Termination::*;
    let is_drawn = matches!(
        kind,
        Stalemate | Threefold | FiftyMoves | DeadPosition | DrawAdjudication | MoveCap
    );
    let color = if engines.white == loser { Color::White } else { Color::Black };
    let outcome = if is_drawn {
        Outcome::drawn(kind, format!("drawn by {}", kind.describe()))
    } else {
        Outcome::lost(color, kind, format!("{color} lost by {}", kind.describe()))
    };
    let late = LateMove { over: Duration::from_millis(27), waited: None };
    let late = (kind == TimeForfeit).then_some(late);
    GameRecord { late, ..game(pair, engines, outcome) }
}

/// Returns a game with search information, from the opening that the pair number selects.
fn game(pair: u64, engines: ByColor<usize>, outcome: Outcome) -> GameRecord {
    const STARTS: [&str; 3] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "4r1k1/5ppp/8/8/8/8/5PPP/4R1K1 b - - 0 30",
    ];
    const MOVES: [&str; 3] = ["e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7", "f2f3 e7e5 g2g4 d8h4", "e8e1"];
    let line = (pair % 3) as usize;
    // An endgame has no book moves.
    let book = if line == 2 { 0 } else { 2 };
    let record = |(ply, uci): (usize, &str)| MoveRecord {
        uci: uci.parse().expect("the moves are sound"),
        search: (ply >= book).then(|| search(pair, ply)),
    };
    GameRecord {
        engines,
        fen: STARTS[line].to_owned(),
        chess960: false,
        moves: MOVES[line].split(' ').enumerate().map(record).collect(),
        outcome,
        duration: Duration::from_millis(2_500 + 100 * pair),
        ready: ByColor {
            white: Some(Duration::from_micros(40 + pair)),
            black: Some(Duration::from_micros(900)),
        },
        movetime: ByColor::default(),
        late: None,
        waited: ByColor { white: Some(Duration::from_micros(300)), black: Some(Duration::ZERO) },
        begun_ms: None,
        transcript: None,
    }
}

fn search(pair: u64, ply: usize) -> SearchInfo {
    let number = pair as i32 * 7 + ply as i32 * 31;
    let elapsed = Duration::from_micros(1_500 * (number as u64 % 97 + 1));
    SearchInfo {
        score: Some(match number % 11 {
            0 => Score::Mate(3),
            1 => Score::Mate(-2),
            n => Score::Centipawns(n * 60 - 330),
        }),
        depth: Some(8 + number as u32 % 9),
        seldepth: Some(20),
        nodes: Some(10_000 + 731 * number as u64),
        elapsed,
        reported: Some(elapsed.saturating_sub(Duration::from_micros(180 + 40 * ply as u64))),
        ..SearchInfo::default()
    }
}

/// Adds a gate of each kind, with each verdict.
fn gates(store: &Store) {
    use GateKind::*;
    let engine = |name: &str, solved: u64| {
        json!({
            "name": name, "limits": "depth 8", "positions": 40, "solved": solved,
            "faults": 0, "total_time_ms": 900.0,
            "themes": [
                { "theme": "fork", "positions": 25, "solved": solved - 10 },
                { "theme": "pin", "positions": 15, "solved": 10 },
            ],
        })
    };
    let perft = json!({
        "engine": "new", "right": 126, "wrong": 2, "wrong_suite": 0, "faults": 0, "nodes": 4_000
    });
    let tactics = json!({ "engines": [engine("new", 31), engine("old", 29)], "comparisons": [] });
    let gates = [
        (Check, GateVerdict::Passed, "score 98.1", json!({ "score": 98.1 })),
        (Bench, GateVerdict::Broken, "the bench differs between copies", json!(null)),
        (Perft, GateVerdict::Failed, "126 right, 2 wrong, 0 without a reply", perft),
        (Epd, GateVerdict::Passed, "31 of 40 solved, 1 lost", tactics),
        (
            Speed,
            GateVerdict::Unproven,
            "speed relative to the base 0.9950 [0.9700, 1.0210] (95 %)",
            json!(null),
        ),
        (Sprt, GateVerdict::Undecided, "inconclusive: LLR 0.40 [-2.94, 2.94]", json!(null)),
        (Build, GateVerdict::Skipped, "no changes in engine, Cargo.lock", json!(null)),
    ];
    for (number, (kind, verdict, gate_text, figures)) in (0..).zip(gates) {
        let outcome = GateOutcome {
            gate: kind.to_string(),
            kind,
            verdict,
            text: gate_text.to_owned(),
            code: 0,
            seconds: 12.0 + f64::from(number),
            figures,
            from_before: None,
        };
        let gate = StoredGate {
            created_ms: FIRST_START + i64::from(number),
            test: COMMIT.to_owned(),
            base: Some("fedcba9876543210fedcba9876543210fedcba98".to_owned()),
            outcome,
        };
        store.add_gate(&format!("key {number}"), &gate).expect("it is kept");
    }
}

/// Adds a run whose games are won by the engines in `winners` in turn, by index in the pair; `None`
/// is a draw.
fn add(
    store: &mut Store,
    minutes: i64,
    run: &str,
    plan: &Plan,
    ending: Option<RunEnd>,
    pairs: u64,
    winners: &[Option<usize>],
) {
    let fingerprints = Fingerprints {
        book: "b".repeat(64),
        engines: vec![engine_hashes("e"); plan.engines.len()],
        host: "Some CPU".into(),
        ..Fingerprints::default()
    };
    let started = FIRST_START + 60_000 * minutes;
    store
        .begin_run(run, started, plan, &fingerprints, Offsets::default(), None)
        .expect("it is new");
    // In a tuning run, the next pairs depend on the results so far.
    let mut state = RunState::of(plan);
    for pair in 0..pairs {
        let pairing = state.schedule().pairing(pair).expect("the run has so many pairs");
        let game = |index: usize| {
            let [white, black] = match index {
                0 => pairing.engines,
                _ => [pairing.engines[1], pairing.engines[0]],
            };
            let engines = ByColor { white, black };
            let outcome = match winners[(2 * pair as usize + index) % winners.len()] {
                None => Outcome::drawn(Termination::Threefold, "drawn by repetition"),
                Some(place) if pairing.engines[place] == white => {
                    Outcome::lost(Color::Black, Termination::Checkmate, "White mates")
                }
                Some(_) => Outcome::lost(Color::White, Termination::Checkmate, "Black mates"),
            };
            self::game(pair, engines, outcome)
        };
        let second = (!plan.design.is_single).then(|| game(1));
        let played = PlayedPair { pairing, games: Games { first: game(0), second } };
        store.append(run, &played, None, None).expect("it is committed");
        // `make_games_differ` has set these hashes in the store.
        let mut tally = PairTally::of(&played);
        tally.first.hash = Some(2 * pair);
        tally.second.iter_mut().for_each(|second| second.hash = Some(2 * pair + 1));
        state.apply(RunInput::Committed(tally));
    }
    store.set_ending(run, ending).expect("it is noted");
}

/// Returns the hashes of an engine without option files.
fn engine_hashes(digit: &str) -> EngineHashes {
    EngineHashes { program: digit.repeat(64), option_files: Vec::new() }
}
