//! Properties of the statistics that hold for any counts.

use std::ops::Add;

use proptest::prelude::*;

use super::super::Decision;
use super::super::elo::{self, finite};
use super::super::normalized;
use super::super::pentanomial::{Pentanomial, Trinomial};
use super::super::ratings::{Errors, Meeting, Options, rate};
use super::super::scale::Model;
use super::super::sequential;
use super::super::sprt::Sprt;

const MODELS: [Model; 3] = [Model::Normalized, Model::Logistic, Model::Bayesian];

fn pairs() -> impl Strategy<Value = Pentanomial> {
    let count = prop_oneof![Just(0u64), 0u64..20, 0u64..100_000];
    prop::array::uniform5(count).prop_map(Pentanomial)
}

fn games() -> impl Strategy<Value = Trinomial> {
    let count = || prop_oneof![Just(0u64), 0u64..20, 0u64..100_000];
    (count(), count(), count()).prop_map(|(losses, draws, wins)| Trinomial { losses, draws, wins })
}

fn model() -> impl Strategy<Value = Model> {
    prop::sample::select(MODELS.to_vec())
}

fn test(elo0: f64, width: f64, model: Model) -> Sprt {
    Sprt::new(elo0, elo0 + width, 0.05, 0.05, model).expect("a sound test")
}

fn is_sound(value: f64) -> bool {
    !value.is_nan()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn statistics_of_any_counts_are_valid_numbers(pairs in pairs(), games in games(), model in model()) {
        let test = test(-1.0, 4.0, model);
        prop_assert!(test.llr(&pairs).is_finite());
        prop_assert!(test.llr_games(&games).is_finite());
        for moments in [pairs.distribution().moments(), games.distribution().moments()] {
            let Some(moments) = moments else { continue };
            let estimate = elo::estimate(&moments);
            prop_assert!(is_sound(estimate.value) && is_sound(estimate.low));
            if let Some(nelo) = normalized::estimate(&moments) {
                let is_bound = estimate.value.is_infinite();
                prop_assert!(is_sound(nelo.value) && nelo.half_width().is_some() != is_bound);
            }
            if let Some(los) = elo::likelihood_of_superiority(&moments) {
                prop_assert!((0.0..=1.0).contains(&los));
            }
        }
        if let Some(after) = sequential::after(&test, &pairs, Decision::Continue) {
            prop_assert!(is_sound(after.elo.value) && is_sound(after.elo.low));
            prop_assert!((0.0..=1.0).contains(&after.los));
            prop_assert!(after.elo.low <= after.elo.value && after.elo.value <= after.elo.high);
        }
        if let Some(forecast) = test.forecast(&pairs) {
            prop_assert!((0.0..=1.0).contains(&forecast.upper_probability));
            prop_assert!(forecast.mean_units.is_finite() && forecast.mean_units >= 0.0);
        }
    }

    #[test]
    fn swapping_sides_negates_ratios_and_estimates(pairs in pairs(), games in games(), model in model()) {
        let (ours, theirs) = (test(-1.0, 4.0, model), test(-3.0, 4.0, model));
        let close = |a: f64, b: f64| (a + b).abs() <= 1e-8 * a.abs().max(1e-2);
        let (a, b) = (ours.llr(&pairs), theirs.llr(&pairs.swapped()));
        prop_assert!(close(a, b), "{a} {b}");
        let (a, b) = (ours.llr_games(&games), theirs.llr_games(&games.swapped()));
        prop_assert!(close(a, b), "{a} {b}");
        let after = |test: &Sprt, pairs: &Pentanomial| {
            sequential::after(test, pairs, Decision::Continue).and_then(|s| finite(s.elo.value))
        };
        if let Some((a, b)) = after(&ours, &pairs).zip(after(&theirs, &pairs.swapped())) {
            prop_assert!((a + b).abs() < 1e-3 * a.abs().max(1.0), "{a} {b}");
        }
    }

    #[test]
    fn a_better_pair_raises_ratio_and_estimate(pairs in pairs(), cell in 0usize..4) {
        // The sample has no empty cells, because an empty cell is raised by a thousandth of a pair.
        let mut worse = Pentanomial(pairs.0.map(|count| count + 1));
        let mut better = worse;
        worse.0[cell] += 1;
        better.0[cell + 1] += 1;
        // On other scales, a better pair may lower the LLR, because the pair may increase the
        // variance or reduce the number of draws.
        let test = test(0.0, 5.0, Model::Logistic);
        let (low, high) = (test.llr(&worse), test.llr(&better));
        prop_assert!(high >= low - 1e-9 * low.abs(), "{low} {high}");
        let value = |pairs: &Pentanomial| {
            elo::estimate(&pairs.distribution().moments().expect("a pair")).value
        };
        prop_assert!(value(&better) > value(&worse) || value(&better) == value(&worse));
    }

    #[test]
    fn counts_can_be_merged_in_any_order(parts in prop::collection::vec(pairs(), 0..6)) {
        let forward = parts.iter().copied().fold(Pentanomial::default(), Add::add);
        let backward = parts.iter().rev().copied().fold(Pentanomial::default(), Add::add);
        prop_assert_eq!(forward, backward);
        prop_assert_eq!(forward.pairs(), parts.iter().map(Pentanomial::pairs).sum::<u64>());
        let swapped = parts.iter().map(Pentanomial::swapped).fold(Pentanomial::default(), Add::add);
        prop_assert_eq!(forward.swapped(), swapped);
    }

    #[test]
    fn ratings_do_not_depend_on_the_order_of_players(
        counts in prop::collection::vec(prop::array::uniform3(0u64..30), 12),
        shift in 0usize..4,
    ) {
        let table = |shift: usize| -> Vec<Meeting> {
            let mut found = Vec::new();
            let mut counts = counts.iter();
            for a in 0..4usize {
                for b in a + 1..4 {
                    let mut meeting = Meeting::new([(a + shift) % 4, (b + shift) % 4]);
                    for single in &mut meeting.singles {
                        *single = *counts.next().expect("twelve counts");
                    }
                    found.push(meeting);
                }
            }
            found
        };
        let options = Options { prior_draws: 0.5, ..Options::default() };
        let plain = rate(4, &table(0), &options).expect("a maximum");
        let moved = rate(4, &table(shift), &options).expect("a maximum");
        for player in 0..4 {
            let other = (player + shift) % 4;
            let (a, b) = (plain.rating(player), moved.rating(other));
            prop_assert_eq!(a.is_some(), b.is_some());
            if let Some((a, b)) = a.zip(b) {
                prop_assert!((a - b).abs() < 1e-5 * a.abs().max(1.0), "{} {}", a, b);
            }
            let error = plain.error(player, Errors::Sandwich);
            prop_assert!(error.is_none_or(|error| error.is_finite()));
        }
    }
}
