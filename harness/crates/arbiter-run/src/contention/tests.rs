use super::*;
use arbiter_game::outcome::Outcome;
use arbiter_game::record::{GameRecord, LateMove, MoveRecord, SearchInfo};
use arbiter_protocol::Limits;
use arbiter_schedule::Pairing;
use arbiter_schedule::seed::{seed_for, uniform};
use shakmaty::Color;

use crate::{Games, LatencyKind};
use arbiter_plan::{DEFAULT_NOISE_LIMIT, Request, RunKind};

const MARGIN: Duration = Duration::from_millis(10);

fn ms(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

fn conditions(_: usize) -> Conditions {
    let clock = Some("0.5+0.005".parse().unwrap());
    Conditions { limits: Limits { clock, ..Limits::default() }, margin: MARGIN, white_pov: false }
}

/// Waiting and thinking time, in milliseconds, of one side of a game with one move per side.
type Side = (f64, f64);

/// Returns a game of engines 0 and 1 with engine `white` as White. `late` contains the milliseconds
/// beyond the margin at a loss on time, and the milliseconds waited during that move.
fn game(white: usize, sides: [Side; 2], winner: Option<Color>, late: Option<Side>) -> GameRecord {
    let [w, b] = sides;
    let search = |(_, ms_): Side| SearchInfo { elapsed: ms(ms_), ..SearchInfo::default() };
    let moves =
        sides.map(|side| MoveRecord { uci: "e2e4".parse().unwrap(), search: Some(search(side)) });
    GameRecord {
        engines: ByColor { white, black: 1 - white },
        fen: String::new(),
        chess960: false,
        moves: moves.into(),
        outcome: match winner {
            Some(winner) => Outcome::lost(!winner, Termination::TimeForfeit, ""),
            None => Outcome::drawn(Termination::Threefold, ""),
        },
        duration: ms(w.1 + b.1),
        ready: ByColor::default(),
        movetime: ByColor::default(),
        late: late
            .map(|(over, waited)| LateMove { over: MARGIN + ms(over), waited: Some(ms(waited)) }),
        waited: ByColor { white: Some(ms(w.0)), black: Some(ms(b.0)) },
        begun_ms: None,
        transcript: None,
    }
}

fn pair(first: GameRecord, second: GameRecord) -> PlayedPair {
    let pairing = Pairing { pair: 0, engines: [0, 1], opening: 0 };
    PlayedPair { pairing, games: Games { first, second: Some(second) } }
}

fn name(engine: usize) -> &'static str {
    ["A", "B"][engine]
}

fn judged(played: &PlayedPair) -> Option<String> {
    judge_contention(DEFAULT_NOISE_LIMIT, played, name, conditions)
}

#[test]
fn a_time_loss_is_suspect_if_the_engine_had_waited_as_long() {
    let calm = game(1, [(0.0, 400.0); 2], None, None);
    let lost = |waited, over| {
        game(0, [(90.0, 500.0), (0.0, 400.0)], Some(Color::Black), Some((over, waited)))
    };
    let words = judged(&pair(lost(8.0, 7.0), calm.clone())).unwrap();
    assert_eq!(words, "A lost on time (17.0 ms over, margin 10 ms) after 8.0 ms of CPU contention");
    assert_eq!(judged(&pair(lost(7.0, 8.0), calm.clone())), None, "it was slow by itself");
    // A wait of the opponent does not make a loss on time suspect.
    let other = game(0, [(0.0, 500.0), (90.0, 400.0)], Some(Color::Black), Some((5.0, 0.0)));
    assert_eq!(judged(&pair(other, calm)), None);
}

#[test]
fn only_unequal_waiting_is_suspect() {
    let both =
        |a: Side, b: Side| judged(&pair(game(0, [a, b], None, None), game(1, [b, a], None, None)));
    assert_eq!(both((240.0, 400.0), (240.0, 400.0)), None, "they waited alike");
    assert_eq!(both((90.0, 400.0), (0.0, 400.0)), None, "not enough");
    let words = both((20.0, 400.0), (260.0, 400.0)).unwrap();
    assert_eq!(words, "B waited for a processor for 65 % of its thinking time, A for 5 %");
    // The engine waited for half of its thinking time, but only 4 ms of the granted 510 ms.
    assert_eq!(both((4.0, 8.0), (0.0, 8.0)), None);
    // Each engine waited in one of the games, so the pair is even.
    let once = |white| game(white, [(200.0, 400.0), (0.0, 400.0)], None, None);
    assert_eq!(judged(&pair(once(0), once(1))), None);
    let unmeasured = GameRecord { waited: ByColor::default(), ..once(0) };
    assert_eq!(judged(&pair(unmeasured, once(0))), None);
}

#[test]
fn waiting_without_a_clock_is_not_suspect() {
    let nodes = Limits { nodes: Some(500), ..Limits::default() };
    let mixed = |engine| match engine {
        0 => Conditions { limits: nodes, margin: MARGIN, white_pov: false },
        _ => conditions(engine),
    };
    let starved = game(0, [(390.0, 400.0), (0.0, 400.0)], None, None);
    let starved = pair(starved.clone(), starved);
    assert_eq!(judge_contention(DEFAULT_NOISE_LIMIT, &starved, name, mixed), None);
    assert!(judged(&starved).is_some());
}

/// Model of a machine and two engines. In a field with two values, the first value belongs to
/// engine 0.
struct Model {
    name: &'static str,
    /// Strength of engine 0 above engine 1, in Elo.
    elo: f64,
    /// Maximum probability that an engine waits during a move. The probability in each game is
    /// random, up to this value.
    chance: [f64; 2],
    /// Probability that a game is lost on time without waiting.
    careless: [f64; 2],
    /// Numbers of moves in a game that engine 0 wins, draws and loses.
    moves: [u32; 3],
}

/// Thinking time per move, in milliseconds.
const THOUGHT: f64 = 13.0;
/// Mean waiting time, in milliseconds.
const WAIT: f64 = 6.0;
/// Waiting time, in milliseconds, beyond which one move in ten loses on time.
const SLACK: f64 = 20.0;
/// Elo gained by doubling the thinking time.
const ELO_OF_TIME: f64 = 80.0;

fn exponential(mean: f64, random: f64) -> f64 {
    -mean * (1.0 - random).ln()
}

impl Model {
    /// Plays a game, and returns the game and the score of engine 0; `load` is 0 on an idle
    /// machine, and 1 at the first attempt.
    fn play(&self, white: usize, load: f64, draw: &mut impl FnMut() -> f64) -> (GameRecord, f64) {
        let chance = self.chance.map(|most| load * most * draw());
        let left = chance.map(|chance| 1.0 - chance * WAIT / (THOUGHT + chance * WAIT));
        let elo = self.elo + ELO_OF_TIME * (left[0] / left[1]).log2();
        let expected = 1.0 / (1.0 + 10f64.powf(-elo / 400.0));
        let random = draw();
        let (mut score, moves) = match random {
            _ if random < expected - 0.2 => (1.0, self.moves[0]),
            _ if random < expected + 0.2 => (0.5, self.moves[1]),
            _ => (0.0, self.moves[2]),
        };
        let mut waited = [0.0; 2];
        let mut lost = None;
        let last = 2 * moves as usize;
        for ply in 0..last {
            let engine = if ply % 2 == 0 { white } else { 1 - white };
            let waits = load > 0.0 && draw() < chance[engine];
            let wait = if waits { exponential(WAIT, draw()) } else { 0.0 };
            waited[engine] += wait;
            if wait > SLACK && draw() < 0.1 {
                lost = Some((engine, (wait - SLACK, wait)));
            } else if ply + 2 >= last && draw() < self.careless[engine] {
                lost = Some((engine, (exponential(20.0, draw()), wait)));
            }
            if lost.is_some() {
                break;
            }
        }
        if let Some((loser, _)) = lost {
            score = loser as f64;
        }
        let sides = waited.map(|waited| (waited, f64::from(moves) * THOUGHT + waited));
        let sides = [sides[white], sides[1 - white]];
        let winner = lost.map(|(loser, _)| Color::from_white(loser != white));
        (game(white, sides, winner, lost.map(|(_, late)| late)), score)
    }

    /// Returns the mean difference between the score of engine 0 and its score on an idle machine
    /// (in Elo), the standard error of this difference (in Elo), and the mean number of repetitions
    /// per pair.
    fn bias(&self, pairs: u64, rule: Rule) -> (f64, f64, f64) {
        let mut sum = 0.0;
        let mut squares = 0.0;
        let mut again = 0;
        let mut counted = 0.0;
        for number in 0..pairs {
            let score = |load, attempt| {
                let mut score = 0.0;
                let mut play = |white: usize| {
                    let index = number * 8 + attempt * 2 + white as u64;
                    let mut random = seed_for(1, self.name, index);
                    let (record, points) = self.play(white, load, &mut || uniform(&mut random));
                    score += points / 2.0;
                    record
                };
                (pair(play(0), play(1)), score)
            };
            let mut attempt = 0;
            let final_score = loop {
                let load = if attempt < 2 { 1.0 } else { rule.last_load };
                let (played, score) = score(load, attempt);
                if judged(&played).is_none() {
                    break Some(score);
                }
                if attempt == rule.replays {
                    break rule.counts_in_the_end.then_some(score);
                }
                attempt += 1;
                again += 1;
            };
            let Some(final_score) = final_score else { continue };
            let difference = final_score - score(0.0, 0).1;
            sum += difference;
            squares += difference * difference;
            counted += 1.0;
        }
        let mean = sum / counted;
        let error = ((squares / counted - mean * mean) / counted).sqrt();
        // Elo per point of a pair, near an even score.
        let elo = 1600.0 / std::f64::consts::LN_10;
        (elo * mean, elo * error, again as f64 / pairs as f64)
    }
}

/// Rule for suspect pairs.
#[derive(Clone, Copy)]
struct Rule {
    replays: u64,
    /// Load of the machine at the third attempt, 0 to 1.
    last_load: f64,
    /// `true` if a pair that is suspect at the last attempt counts.
    counts_in_the_end: bool,
}

const RULES: [Rule; 4] = [
    // All pairs count.
    Rule { replays: 0, last_load: 1.0, counts_in_the_end: true },
    // Suspect pairs are played again immediately.
    Rule { replays: 2, last_load: 1.0, counts_in_the_end: true },
    // At the third attempt, half as many games are played in parallel.
    Rule { replays: 2, last_load: 0.5, counts_in_the_end: true },
    // The test ends before a third attempt.
    Rule { replays: 1, last_load: 1.0, counts_in_the_end: false },
];

/// Number of pairs, sufficient to detect a bias of a few Elo.
const PAIRS: u64 = 2_000;

/// Checks the bias of the rules, compared with the rule that counts all pairs. `--nocapture` shows
/// the figures.
fn check_bias(pairs: u64) {
    let none = [0.0; 2];
    let both = [0.3; 2];
    let even = [50, 80, 50];
    let longer = [40, 60, 80];
    // Models that are not fair are asymmetric. A rule that drops more long games favours the engine
    // that loses the long games. An engine that waits alone is weaker.
    let models = [
        ("alike", 0.0, both, none, even, true),
        ("alike, 50 Elo apart", 50.0, both, none, even, true),
        ("alike, A loses 2 % on time", 0.0, both, [0.02, 0.0], even, true),
        ("alike, much", 0.0, [1.0; 2], none, even, true),
        ("alike, A loses long games", 0.0, both, none, longer, false),
        ("only A waits, a little", 0.0, [0.3, 0.0], none, even, false),
        ("only A waits, much", 0.0, [2.0, 0.0], none, even, false),
    ];
    println!(
        "| waiting | all count | again at once | third time at half the load | put off and left out | replays a pair |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for (name, elo, chance, careless, moves, is_fair) in models {
        let model = Model { name, elo, chance, careless, moves };
        let found = RULES.map(|rule| model.bias(pairs, rule));
        let shown = found.map(|(bias, error, _)| format!("{bias:+.1} ± {:.1}", 2.0 * error));
        println!("| {name} | {} | {:.2} |", shown.join(" | "), found[2].2);
        let most = if is_fair { 0.0 } else { found[0].0.abs().max(8.0) };
        // If both engines wait equally, counting all pairs favours the weaker engine.
        for (bias, error, _) in &found[1..] {
            assert!(bias.abs() < most + 4.0 * error, "{name}: {bias} ± {error}");
        }
    }
}

#[test]
fn replays_of_suspect_pairs_favour_no_engine() {
    check_bias(PAIRS);
}

#[test]
#[ignore = "nightly: long simulation"]
fn replays_of_many_suspect_pairs_favour_no_engine() {
    check_bias(20 * PAIRS);
}

#[test]
fn a_pair_void_twice_is_put_off_if_no_other_pair_depends_on_it() {
    let fates = |can_put_off| [0, 1, 2].map(|times| voided_again(7, times, can_put_off));
    assert_eq!(fates(true), [Some(RunInput::Voided(7)), Some(RunInput::PutOff(7)), None]);
    assert_eq!(fates(false), [Some(RunInput::Voided(7)), Some(RunInput::Voided(7)), None]);
}

#[test]
fn overload_is_reported_if_late_engines_waited_for_a_processor() {
    let request = Request { concurrency: Some(20), ..Request::default() };
    let plan = Plan::resolve(RunKind::Sprt, request).expect("the defaults are a plan");
    let check = |kind, waited: u64| {
        let mut counts = RunCounts::default();
        counts.faults.insert((0, kind), 9);
        let mut latencies = Latencies::default();
        for engine in 0..2 {
            latencies.add(engine, LatencyKind::Thinking, 100_000, 9);
            latencies.add(engine, LatencyKind::Waiting, waited, 9);
        }
        overload(&plan, &counts, &latencies)
    };
    let words = "the machine is overloaded: engines waited for a processor for 80 % of their \
                 thinking time; this machine can play 4 games in parallel (--concurrency 4)";
    assert_eq!(check(Termination::TimeForfeit, 80_000).as_deref(), Some(words));
    assert!(check(Termination::Stall, 99_000).is_some_and(|words| words.contains("1 game in")));
    assert_eq!(check(Termination::TimeForfeit, 20_000), None);
    assert_eq!(check(Termination::IllegalMove, 80_000), None);
}
