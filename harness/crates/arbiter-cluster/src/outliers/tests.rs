use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::*;
use arbiter_run::GameTally;
use arbiter_schedule::seed::seed_for;
use arbiter_stats::GameResult;

fn tally(pair: u64, results: [GameResult; 2], termination: Termination) -> PairTally {
    let [first, second] =
        results.map(|result| GameTally { result, termination, fault: None, hash: None });
    PairTally { pair, engines: [0, 1], first, second: Some(second), is_repeat: false }
}

/// Returns a pair of two equal engines; each game ends by `termination` with probability `failing`.
fn random_pair(random: &mut ChaCha8Rng, failing: f64, termination: Termination) -> PairTally {
    let mut uniform = || random.next_u32() as f64 / f64::from(u32::MAX);
    let mut result = || match uniform() {
        u if u < 0.3 => GameResult::Win,
        u if u < 0.6 => GameResult::Loss,
        _ => GameResult::Draw,
    };
    let results = [result(), result()];
    let mut tally = tally(0, results, Termination::Checkmate);
    for game in [Some(&mut tally.first), tally.second.as_mut()].into_iter().flatten() {
        if uniform() < failing {
            game.termination = termination;
        }
    }
    tally
}

/// Returns the first finding among `workers` workers that play `pairs` pairs each.
fn first_finding(
    random: &mut ChaCha8Rng,
    workers: usize,
    pairs: u64,
    play: impl Fn(&mut ChaCha8Rng, usize) -> PairTally,
) -> Option<Finding> {
    let mut outliers = OutlierDetector::new(true);
    for _ in 0..pairs {
        for worker in 0..workers {
            let tally = play(random, worker);
            if let Some(finding) = outliers.add_and_check(&format!("w{worker}"), &tally) {
                return Some(finding);
            }
        }
    }
    None
}

#[test]
fn a_worker_that_crashes_is_found_soon() {
    let crash = |_: &mut ChaCha8Rng, worker| match worker {
        0 => tally(0, [GameResult::Loss; 2], Termination::Crash),
        _ => tally(0, [GameResult::Draw; 2], Termination::Threefold),
    };
    let mut random = seed_for(1, "audit", 0);
    let finding = first_finding(&mut random, 2, 8, crash).expect("16 crashes against none");
    assert_eq!(finding.worker, "w0");
    assert!(finding.reason.starts_with("engine failures in 16 of its 16 games"), "{finding:?}");
    assert_eq!(first_finding(&mut random, 2, 7, crash), None, "too few to say");
    // If all workers crash, the engine is at fault; a single worker cannot be compared.
    let all = |_: &mut ChaCha8Rng, _| tally(0, [GameResult::Loss; 2], Termination::Crash);
    assert_eq!(first_finding(&mut random, 3, 500, all), None);
    assert_eq!(first_finding(&mut random, 1, 500, all), None);
}

#[test]
fn a_worker_that_loses_on_time_is_found() {
    let mut random = seed_for(1, "audit", 1);
    let late = |random: &mut ChaCha8Rng, worker| {
        random_pair(random, if worker == 0 { 0.15 } else { 0.01 }, Termination::TimeForfeit)
    };
    let finding = first_finding(&mut random, 4, 500, late).expect("15 % against 1 %");
    assert_eq!(finding.worker, "w0");
    assert!(finding.reason.starts_with("losses on time in "), "{finding:?}");
    // A small share is harmless, however significant the excess.
    let seldom = |random: &mut ChaCha8Rng, worker| {
        random_pair(random, if worker == 0 { 0.01 } else { 0.0 }, Termination::TimeForfeit)
    };
    assert_eq!(first_finding(&mut random, 4, 4_000, seldom), None);
}

#[test]
fn a_worker_with_different_results_is_found_among_three() {
    let mut random = seed_for(1, "audit", 2);
    let odd = |random: &mut ChaCha8Rng, worker| match worker {
        0 if random.next_u32().is_multiple_of(2) => {
            tally(0, [GameResult::Loss; 2], Termination::Checkmate)
        }
        _ => random_pair(random, 0.0, Termination::Crash),
    };
    let finding =
        first_finding(&mut random, 3, 2_000, odd).expect("half of its pairs are lost besides");
    assert_eq!(finding.worker, "w0");
    assert!(
        finding.reason.contains("differ from the results of the 2 other workers"),
        "{finding:?}"
    );
    assert_eq!(first_finding(&mut random, 2, 2_000, odd), None, "of two nobody knows which");
}

#[test]
fn a_worker_that_gives_back_too_many_jobs_is_found() {
    let mut random = seed_for(13, "audit", 0);
    let mut give_back = |share: f64, is_single: bool| {
        let mut outliers = OutlierDetector::new(true);
        for _ in 0..2_000 {
            for worker in ["a", "b", "c"] {
                let uniform = random.next_u32() as f64 / f64::from(u32::MAX);
                if uniform < if worker == "a" { share } else { 0.02 } {
                    if let Some(finding) = outliers.gave_back(worker, 16) {
                        return Some(finding);
                    }
                } else {
                    let pair = random_pair(&mut random, 0.0, Termination::Crash);
                    let second = pair.second.filter(|_| !is_single);
                    outliers.add(worker, &PairTally { second, ..pair });
                }
            }
        }
        None
    };
    for is_single in [false, true] {
        let finding = give_back(0.2, is_single).expect("a fifth of its jobs");
        assert_eq!(finding.worker, "a");
        assert!(finding.reason.starts_with("no result in 50 of its "), "{finding:?}");
        for harmless in [0.03, 0.07] {
            assert_eq!(give_back(harmless, is_single), None, "{harmless}");
        }
    }
}

#[test]
fn a_large_worker_that_is_stopped_is_not_excluded() {
    let found = |most: u64| {
        let mut outliers = OutlierDetector::new(true);
        for worker in ["large", "b", "c"] {
            for pair in 0..200 {
                outliers.add(worker, &tally(pair, [GameResult::Draw; 2], Termination::Threefold));
            }
        }
        (1..=10 * most).find(|_| outliers.gave_back("large", most).is_some())
    };
    assert_eq!([16, 60, 100].map(found), [Some(50), Some(200), Some(350)]);
}

/// Checks after how many games a worker that reports false breakdowns in a share of its games is
/// excluded, if four other workers report no false breakdowns. The manual contains these figures.
#[test]
fn claimed_breakdowns_are_found_by_their_rate() {
    let found = [0.5, 0.1, 0.02].map(|claims| {
        let mut games: Vec<u64> = (0..40)
            .map(|run| {
                let mut random = seed_for(11, "audit", run);
                let mut outliers = OutlierDetector::new(true);
                let games = (1..20_000).find(|_| {
                    let mut play = |worker: &str, failing| {
                        let tally = random_pair(&mut random, failing, Termination::Crash);
                        outliers.add_and_check(worker, &tally)
                    };
                    let others = ["a", "b", "c", "d"].map(|worker| play(worker, 0.0));
                    assert_eq!(others, [None, None, None, None]);
                    play("liar", claims).is_some()
                });
                2 * games.expect("it is found")
            })
            .collect();
        games.sort_unstable();
        [games[19], games[37]]
    });
    assert_eq!(found, [[16, 32], [128, 256], [512, 1024]]);
}

/// Simulates workers that do not differ.
#[test]
fn workers_that_are_alike_are_not_excluded() {
    const RUNS: u64 = 300;
    let mut alarms = 0;
    for run in 0..RUNS {
        let mut random = seed_for(7, "audit", run);
        // Failures are so frequent that their numbers differ widely by chance.
        let alike = |random: &mut ChaCha8Rng, _| random_pair(random, 0.05, Termination::Crash);
        alarms += u64::from(first_finding(&mut random, 6, 256, alike).is_some());
    }
    // The probability of an alarm is at most 0.3 % per run. In 300 runs, one alarm is likely; three
    // or more alarms have a probability of 1 in 16.
    assert!(alarms <= 2, "{alarms} of {RUNS} runs");
}

/// Checks that Fisher's test keeps its significance level. Bonferroni's correction is not applied,
/// because the correction could hide an error in the test.
#[test]
fn the_exact_test_keeps_its_level() {
    let mut random = seed_for(9, "audit", 0);
    let mut uniform = || random.next_u32() as f64 / f64::from(u32::MAX);
    let mut below = [0_u32; 2];
    const TRIALS: u32 = 20_000;
    for _ in 0..TRIALS {
        let mut share = |games: u64| {
            let failures = (0..games).filter(|_| uniform() < 0.1).count() as u64;
            FailureCount { games, failures }
        };
        let p = fisher_exact(share(64), share(192));
        for (count, level) in below.iter_mut().zip([0.05, 0.01]) {
            *count += u32::from(p <= level);
        }
    }
    let [five, one] = below.map(|count| f64::from(count) / f64::from(TRIALS));
    // The test is discrete, so its rate is below the level, but not far below.
    assert!((0.02..0.05).contains(&five), "{five}");
    assert!((0.003..0.01).contains(&one), "{one}");
}

#[test]
fn forgotten_workers_are_not_compared() {
    let mut outliers = OutlierDetector::new(true);
    for pair in 0..40 {
        outliers.add("bad", &tally(pair, [GameResult::Loss; 2], Termination::Crash));
    }
    outliers.remove("bad");
    let mut fine = |pair| {
        outliers.add_and_check("good", &tally(pair, [GameResult::Draw; 2], Termination::Threefold))
    };
    assert!((0..100).all(|pair| fine(pair).is_none()));
    assert_eq!(outliers.workers.len(), 1);
}
