use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;
use crate::outliers::OutlierDetector;
use crate::range_set::RangeSet;
use crate::trust::{Key, RunSecret};
use crate::verify::Terms;
use crate::wire::WorkMessage;
use crate::wire::samples::{played, run_id};
use arbiter_game::outcome::Termination;
use arbiter_run::{GameTally, PairJob, PlayedPair};
use arbiter_stats::GameResult;

const WORKERS: [&str; 5] = ["a", "b", "c", "d", "liar"];

fn secret(byte: u8) -> RunSecret {
    RunSecret::new(&Key::from_secret_bytes([byte; 32]), &run_id())
}

/// Returns a source of uniform random numbers in [0, 1).
fn uniform(run: u8) -> impl FnMut() -> f64 {
    let (secret, mut number) = (secret(run), 0);
    move || {
        number += 1;
        secret.draw(number)
    }
}

/// Returns a pair of two engines of equal strength that draw half of their games; engine 0 is named
/// first in every other pair.
fn pair(random: &mut impl FnMut() -> f64, number: u64) -> PairTally {
    let mut game = || {
        let result = match random() {
            at if at < 0.25 => GameResult::Win,
            at if at < 0.75 => GameResult::Draw,
            _ => GameResult::Loss,
        };
        GameTally { result, termination: Termination::Checkmate, fault: None, hash: None }
    };
    let engines = if number.is_multiple_of(2) { [0, 1] } else { [1, 0] };
    PairTally { pair: number, engines, first: game(), second: Some(game()), is_repeat: false }
}

/// Returns a pair that a lying worker reports as won by engine 0.
fn lie(number: u64) -> PairTally {
    let mut won = pair(&mut || 0.0, number);
    if won.engines == [1, 0] {
        won.first.result = GameResult::Loss;
        won.second = Some(won.first);
    }
    won
}

/// Source of the pairs that a dishonest worker reports.
type Lie = fn(&mut dyn FnMut() -> f64, u64) -> PairTally;

/// Replaces the result `from` of engine 0 in the games of a pair.
fn replace(tally: &mut PairTally, from: GameResult, mut to: impl FnMut() -> GameResult) {
    let is_first = tally.engines == [0, 1];
    let seen = |result: GameResult| if is_first { result } else { result.reversed() };
    for game in [Some(&mut tally.first), tally.second.as_mut()].into_iter().flatten() {
        if seen(game.result) == from {
            game.result = seen(to());
        }
    }
}

/// Returns a random pair, as reported by a worker that gives back the share `given_back` of the
/// pairs that engine 0 loses.
fn random_result(random: &mut dyn FnMut() -> f64, number: u64, given_back: f64) -> PairTally {
    loop {
        let tally = pair(&mut || random(), number);
        let [first, second] = tally.half_points();
        let points = if tally.engines == [0, 1] { first } else { second };
        if points >= 2 || random() >= given_back {
            return tally;
        }
    }
}

/// The dishonest strategies that the manual describes.
const LIES: [(&str, Lie); 7] = [
    ("wins, always", |_, number| lie(number)),
    ("wins, in half of the pairs", |random, number| {
        if random() < 0.5 { lie(number) } else { pair(&mut || random(), number) }
    }),
    ("wins, in a fifth of the pairs", |random, number| {
        if random() < 0.2 { lie(number) } else { pair(&mut || random(), number) }
    }),
    ("draws for losses, always", |random, number| {
        let mut tally = pair(&mut || random(), number);
        replace(&mut tally, GameResult::Loss, || GameResult::Draw);
        tally
    }),
    ("slowed play", |random, number| {
        let mut tally = pair(&mut || random(), number);
        let slowed = || if random() < 0.4 { GameResult::Loss } else { GameResult::Win };
        replace(&mut tally, GameResult::Win, slowed);
        tally
    }),
    ("all lost pairs left out", |random, number| random_result(random, number, 1.0)),
    ("a tenth of the jobs left out", |random, number| random_result(random, number, 0.32)),
];

/// Simulates audits of five workers, one of which lies. Returns the first worker that is found, and
/// the number of audits before the worker is found.
fn find(run: u8, lie: Lie, most: u64) -> Option<(String, u64)> {
    let mut random = uniform(run);
    let mut bias = BiasDetector::default();
    let names = WORKERS.map(str::to_owned);
    (0..most).find_map(|number| {
        let first = (random() * 5.0) as usize;
        let again = (first + 1 + (random() * 4.0) as usize) % 5;
        let mut play =
            |worker| if worker == 4 { lie(&mut random, number) } else { pair(&mut random, number) };
        let tallies = [play(first), play(again)];
        let found = bias.add([&names[first], &names[again]], [&tallies[0], &tallies[1]]);
        found.map(|finding| (finding.worker, number + 1))
    })
}

/// Simulates, without audits, five workers, one of which lies. Returns the first worker that is
/// found, and the number of pairs that this worker has played before it is found.
fn find_by_shares(run: u8, lie: Lie, most: u64) -> Option<(String, u64)> {
    let mut random = uniform(run);
    let mut outliers = OutlierDetector::new(true);
    (0..most).find_map(|number| {
        let found = WORKERS.iter().find_map(|worker| {
            let tally = if *worker == "liar" {
                lie(&mut random, number)
            } else {
                pair(&mut random, number)
            };
            outliers.add_and_check(worker, &tally)
        });
        found.map(|finding| (finding.worker, number + 1))
    })
}

#[test]
fn audited_pairs_are_unpredictable() {
    let chosen = |byte| -> BTreeSet<u64> {
        let secret = secret(byte);
        (0..100_000).filter(|pair| secret.draw(*pair) < 0.02).collect()
    };
    let (one, other) = (chosen(1), chosen(2));
    for chosen in [&one, &other] {
        assert!((1_800..2_200).contains(&chosen.len()), "{}", chosen.len());
    }
    assert!(one.intersection(&other).count() < 100);
}

/// Returns the median and 95th percentile.
fn quantiles(mut needed: Vec<u64>) -> [u64; 2] {
    needed.sort_unstable();
    [needed[needed.len() / 2 - 1], needed[needed.len() * 19 / 20 - 1]]
}

/// Checks, for engines that do not repeat their games, how many audits, or how many pairs without
/// audits, are needed to find one lying worker of five. The manual contains these figures.
#[test]
#[ignore = "nightly: long simulation"]
fn audits_of_results_find_a_lying_worker() {
    let found = LIES.map(|(what, lie)| {
        let needed = |find: fn(u8, Lie, u64) -> Option<(String, u64)>, most| {
            let one = |run| {
                let (worker, after) = find(run, lie, most).expect(what);
                assert_eq!(worker, "liar", "{what}");
                after
            };
            quantiles((0..100).map(one).collect())
        };
        (what, needed(find, 100_000), needed(find_by_shares, 100_000))
    });
    let expected = [
        ("wins, always", [45, 60], [32, 64]),
        ("wins, in half of the pairs", [183, 339], [128, 256]),
        ("wins, in a fifth of the pairs", [1353, 2446], [1024, 1024]),
        ("draws for losses, always", [443, 747], [128, 128]),
        ("slowed play", [872, 1593], [512, 1024]),
        ("all lost pairs left out", [366, 633], [128, 128]),
        ("a tenth of the jobs left out", [6892, 12776], [2048, 4096]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn omitting_a_tenth_of_the_jobs_gains_23_elo() {
    const PAIRS: u64 = 40_000;
    let mut random = uniform(1);
    let half_points =
        (0..PAIRS).map(|_| random_result(&mut random, 0, 0.32).half_points()[0]).sum::<u64>();
    let score = half_points as f64 / (4 * PAIRS) as f64;
    let elo = 400.0 * (score / (1.0 - score)).log10();
    assert!((21.0..25.0).contains(&elo), "{elo}");
}

/// Checks, for engines that repeat their games, how many lies a worker tells before a lie is
/// audited.
#[test]
fn audits_of_moves_find_a_lying_worker() {
    let found = [0.01, 0.02, 0.05, 0.1].map(|share| {
        let lies_until_audit = |run: u8| {
            let secret = secret(run);
            (1..).find(|lie| secret.draw(*lie) < share).expect("it is found")
        };
        quantiles((0..200).map(lies_until_audit).collect())
    });
    assert_eq!(found, [[81, 328], [40, 170], [14, 59], [8, 32]]);
}

/// Returns audits of pair 4, which a worker named "liar" has played.
fn audits() -> Audits<PairJob> {
    let mut audits = Audits::new(AuditSpec { share: 1.0, repeats: true, engines: Vec::new() });
    let worker = "liar".to_owned();
    let held = UnconfirmedResult { worker, played: played(4), auditor: None, failed: 0 };
    audits.held.insert(4, held);
    audits
}

/// Returns the names of all workers that are present; some of these workers are accomplices of the
/// liar.
fn present(workers: usize) -> BTreeSet<String> {
    let others = (1..workers).map(|number| format!("worker{number}"));
    others.chain(["liar".to_owned()]).collect()
}

/// Checks that accomplices of a worker repeat the worker's pairs no more often than other workers
/// do, even if the accomplices take every job that waits on the server. The manual contains these
/// figures.
#[test]
fn accomplices_receive_only_their_share_of_audits() {
    for (workers, accomplices) in [(3, 1), (5, 1), (5, 2), (10, 1), (10, 4)] {
        let (mut audits, present, mut random) = (audits(), present(workers), uniform(1));
        let hoarders: Vec<_> = (1..=accomplices).map(|number| format!("worker{number}")).collect();
        let confirmed = (0..20_000).filter(|_| {
            assert!(audits.draw_auditor(4, &present, random()));
            hoarders.iter().any(|hoarder| audits.is_for(AUDITS + 4, hoarder))
        });
        let share = confirmed.count() as f64 / 20_000.0;
        let expected = accomplices as f64 / (workers - 1) as f64;
        assert!((share - expected).abs() < 0.015, "{accomplices} of {workers}: {share}");
    }
    // Two of five workers send identical lies, and one of these two workers takes all jobs.
    let lies_until_audit = |run: u8| {
        let (mut audits, present, secret) = (audits(), present(5), secret(run));
        let is_found = |lie: &u64| {
            assert!(audits.draw_auditor(4, &present, secret.draw(format!("{lie} 1"))));
            secret.draw(*lie) < 0.02 && !audits.is_for(AUDITS + 4, "worker1")
        };
        (1..).find(is_found).expect("it is found")
    };
    assert_eq!(quantiles((0..200).map(lies_until_audit).collect()), [50, 226]);
}

#[test]
fn only_the_drawn_worker_may_repeat_a_pair() {
    let mut audits = audits();
    let number = AUDITS + 4;
    let workers = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let may = |audits: &Audits<PairJob>| {
        ["a", "b", "liar"].into_iter().filter(|name| audits.is_for(number, name)).collect()
    };
    let none: Vec<&str> = may(&audits);
    assert!(none.is_empty() && audits.is_for(4, "a"), "pairs are for all workers");
    // Each of the other workers has an equal part of the range; a number close to 1 still draws the
    // last worker.
    for (draw, drawn) in [(0.0, "a"), (0.49, "a"), (0.5, "b"), (1.0 - f64::EPSILON, "b")] {
        assert!(audits.draw_auditor(4, &workers(&["a", "b", "liar"]), draw));
        assert_eq!((may(&audits), audits.auditor(number).unwrap().as_str()), (vec![drawn], drawn));
    }
    // After the worker has left, another worker is drawn, if there is another worker.
    assert!(audits.draw_auditor(4, &workers(&["a", "liar"]), 0.99));
    assert_eq!(may(&audits), ["a"]);
    assert!(!audits.draw_auditor(4, &workers(&["liar"]), 0.0));
    assert!(may(&audits).is_empty() && audits.auditor(number).is_none());
    assert!(!audits.draw_auditor(5, &workers(&["a"]), 0.0), "it is not audited");
    assert!(!audits.is_for(AUDITS + 5, "a"));
}

/// Work that fails while other work with the same flag is in progress.
#[derive(Debug, Clone)]
struct Exclusive(Arc<AtomicBool>);

impl Assignment for Exclusive {
    type Done = PlayedPair;

    fn work(&self) -> WorkMessage {
        unreachable!("it is never sent")
    }

    fn check(&self, _: &PlayedPair, _: &Terms) -> Result<(), String> {
        Ok(())
    }

    async fn run_locally(self, _: Vec<EngineSetup>) -> Result<PlayedPair, String> {
        if self.0.swap(true, Ordering::Relaxed) {
            return Err("two pairs in parallel".to_owned());
        }
        tokio::task::yield_now().await;
        self.0.store(false, Ordering::Relaxed);
        Ok(played(0))
    }
}

#[test]
fn disputed_pairs_are_played_one_at_a_time() {
    let mut audits = Audits::new(AuditSpec { share: 1.0, repeats: true, engines: Vec::new() });
    let mut in_flight = InFlight::new(1, RangeSet::default(), Terms::default());
    let job = Exclusive(Arc::default());
    for pair in 0..3 {
        in_flight.request(pair, job.clone(), Duration::ZERO).expect("no result waits");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        (0..3).for_each(|pair| audits.play(&in_flight, pair, Vec::new()));
        for _ in 0..3 {
            let (pair, _, games) = audits.next().await;
            assert!(games.is_ok(), "pair {pair}: {games:?}");
        }
    });
}

/// With only two workers, both workers look biased if one worker is biased.
#[test]
fn two_disagreeing_workers_are_not_excluded() {
    let mut random = uniform(1);
    let mut bias = BiasDetector::default();
    let names = ["honest", "liar"].map(str::to_owned);
    for number in 0..500 {
        let tallies = [pair(&mut random, number), lie(number)];
        assert_eq!(bias.add([&names[0], &names[1]], [&tallies[0], &tallies[1]]), None);
    }
}

#[test]
fn workers_that_play_alike_are_not_excluded() {
    let honest: Lie = |random, number| pair(&mut || random(), number);
    let found = (0..200).filter_map(|run| find(run, honest, 300)).count();
    assert_eq!(found, 0);
}
