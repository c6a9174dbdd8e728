use super::*;
use crate::trust::Key;
use crate::wire::samples::run_id;
use arbiter_game::outcome::Termination;
use arbiter_plan::GameTally;
use arbiter_stats::GameResult;

const WORKERS: [&str; 5] = ["a", "b", "c", "d", "liar"];

fn secret(byte: u8) -> RunSecret {
    RunSecret::new(&Key::of_bytes([byte; 32]), &run_id())
}

/// Random numbers from 0 up to 1.
fn uniform(run: u8) -> impl FnMut() -> f64 {
    let (secret, mut number) = (secret(run), 0);
    move || {
        number += 1;
        secret.draw(number)
    }
}

/// A pair of two engines that are equally good, half of whose games are drawn; the first engine is the
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

/// A pair that the first engine is said to have won.
fn lie(number: u64) -> PairTally {
    let mut won = pair(&mut || 0.0, number);
    if won.engines == [1, 0] {
        won.first.result = GameResult::Loss;
        won.second = Some(won.first);
    }
    won
}

/// Who is found, and after how many audits, if one worker in five lies of so large a share of its pairs.
fn find(run: u8, lies: f64, most: u64) -> Option<(String, u64)> {
    let mut random = uniform(run);
    let mut bias = BiasDetector::default();
    let names = WORKERS.map(str::to_owned);
    (0..most).find_map(|number| {
        let first = (random() * 5.0) as usize;
        let again = (first + 1 + (random() * 4.0) as usize) % 5;
        let mut play = |worker| match worker == 4 && random() < lies {
            true => lie(number),
            false => pair(&mut random, number),
        };
        let tallies = [play(first), play(again)];
        let found = bias.add([&names[first], &names[again]], [&tallies[0], &tallies[1]]);
        found.map(|finding| (finding.worker, number + 1))
    })
}

#[test]
fn nobody_knows_which_pairs_are_repeated() {
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

/// What half and 95 % of these are no more than.
fn quantiles(mut needed: Vec<u64>) -> [u64; 2] {
    needed.sort_unstable();
    [needed[needed.len() / 2 - 1], needed[needed.len() * 19 / 20 - 1]]
}

/// How many audits of five workers it takes to find one that lies of so large a share of its pairs, of
/// engines that do not repeat their games: the figures of the manual.
#[test]
fn who_lies_is_found_by_results() {
    let found = [1.0, 0.5, 0.2].map(|lies| {
        let find = |run| {
            let (worker, audits) = find(run, lies, 5_000).expect("it is found");
            assert_eq!(worker, "liar");
            audits
        };
        quantiles((0..100).map(find).collect())
    });
    assert_eq!(found, [[45, 56], [183, 339], [1353, 2446]]);
}

/// How many lies a worker can tell until one is audited, of engines that repeat their games.
#[test]
fn who_lies_is_found_by_moves() {
    let found = [0.01, 0.02, 0.05, 0.1].map(|share| {
        let told = |run: u8| {
            let secret = secret(run);
            (1..).find(|lie| secret.draw(*lie) < share).expect("it is found")
        };
        quantiles((0..200).map(told).collect())
    });
    assert_eq!(found, [[81, 328], [40, 170], [14, 59], [8, 32]]);
}

/// Both of two workers look biased if one of them is.
#[test]
fn of_two_workers_none_is_excluded() {
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
    let found = (0..200).filter_map(|run| find(run, 0.0, 300)).count();
    assert_eq!(found, 0);
}
