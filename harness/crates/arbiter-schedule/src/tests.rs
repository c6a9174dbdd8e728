//! Properties of all formats, tested with random results.

use std::collections::{BTreeMap, BTreeSet};

use super::knockout::Entrant;
use super::*;
use crate::seed::below;

fn design(format: Format) -> Design {
    Design { format, ..Design::round_robin(1) }
}

/// Returns the half points of both engines in the pair, determined only by the arguments.
fn pair_result(seed: u64, pair: u64) -> [u64; 2] {
    let first = below(&mut seed_for(seed, "test.result", pair), 5);
    [first, 4 - first]
}

/// Returns the next pair to count.
fn next(schedule: &Schedule) -> u64 {
    (schedule.next_to_count()..)
        .find(|&pair| !schedule.is_void(pair))
        .expect("unknown pairs are not void")
}

/// Plays a tournament to its end and returns all its pairs.
fn play_out(schedule: &mut Schedule, seed: u64) -> Vec<Pairing> {
    let mut all = Vec::new();
    while let Some(pairing) = schedule.pairing(next(schedule)) {
        all.push(pairing);
        schedule.count(pairing.pair, pair_result(seed, pairing.pair), 2);
        assert!(all.len() < 100_000, "no end in sight");
    }
    assert!(schedule.is_complete());
    assert_eq!(schedule.known_pairs(), next(schedule));
    assert_eq!(schedule.expected_pairs(), all.len() as u64);
    all
}

#[test]
fn colours_alternate_within_an_encounter_or_in_the_run() {
    let base = Design { format: Format::Gauntlet, is_single: true, ..Design::default() };
    for (in_encounter, white) in [(true, [3, 3]), (false, [6, 0])] {
        let (alternates, alternates_in_encounter) = (!in_encounter, in_encounter);
        let design = Design { rounds: 2, pairs: 3, alternates, alternates_in_encounter, ..base };
        let all = play_out(&mut Schedule::new(design, 3, 1), 1);
        let games =
            [1, 2].map(|other| all.iter().filter(|game| game.engines == [0, other]).count());
        assert_eq!(games, white, "{in_encounter}");
    }
}

fn meetings(pairings: &[Pairing]) -> BTreeMap<[usize; 2], u64> {
    let mut met = BTreeMap::new();
    for pairing in pairings {
        let mut engines = pairing.engines;
        engines.sort_unstable();
        *met.entry(engines).or_default() += 1;
    }
    met
}

/// Returns designs of all formats, with many numbers of engines.
fn many() -> Vec<(Design, usize)> {
    let mut designs = Vec::new();
    for format in arbiter_names::variants() {
        for engines in [2, 3, 4, 5, 6, 7, 8, 9, 13, 16] {
            for (rounds, pairs, seeds) in [(1, 1, 0), (3, 2, 1), (2, 3, 2)] {
                let tie_breaks = if format == Format::Knockout { 2 } else { 0 };
                let design = Design { rounds, pairs, seeds, tie_breaks, ..design(format) };
                designs.push((design, engines));
            }
        }
    }
    designs
}

#[test]
fn no_engine_plays_itself_and_pairs_are_numbered_in_order() {
    for (design, engines) in many() {
        let mut schedule = Schedule::new(design, engines, 1);
        let pairings = play_out(&mut schedule, 7);
        let numbers = (0..schedule.known_pairs()).filter(|&pair| !schedule.is_void(pair));
        assert!(numbers.eq(pairings.iter().map(|pairing| pairing.pair)), "{design:?}");
        for pairing in &pairings {
            let [first, second] = pairing.engines;
            assert!(first != second && first < engines && second < engines, "{design:?}");
        }
    }
}

/// After any number of results, the schedule that was updated with each result must equal a new
/// schedule to which all results were added. Known pairs must not change.
#[test]
fn scheduled_pairs_depend_on_results_only() {
    for (design, engines) in many() {
        let mut grown = Schedule::new(design, engines, 5);
        let mut previous: Vec<Pairing> = Vec::new();
        loop {
            let now: Vec<Pairing> = (0..).map_while(|pair| grown.pairing(pair)).collect();
            assert_eq!(now.len() as u64, grown.known_pairs());
            assert!(now.starts_with(&previous), "{design:?}");
            // The first counts are all checked. Later counts are checked only in steps, to save
            // time.
            if grown.next_to_count() < 12 || grown.next_to_count().is_multiple_of(17) {
                let mut made = Schedule::new(design, engines, 5);
                for pair in 0..grown.next_to_count() {
                    if !made.is_void(pair) {
                        made.count(pair, pair_result(3, pair), 2);
                    }
                }
                let again: Vec<Pairing> = (0..).map_while(|pair| made.pairing(pair)).collect();
                assert_eq!(again, now, "{design:?}");
                assert_eq!(made.ranking(), grown.ranking());
                assert_eq!(made.round(), grown.round());
            }
            previous = now;
            let counted = next(&grown);
            assert!(counted <= grown.known_pairs());
            if counted == grown.known_pairs() {
                break;
            }
            grown.count(counted, pair_result(3, counted), 2);
        }
        assert!(grown.is_complete(), "stuck: {design:?}");
    }
}

#[test]
fn fixed_formats_schedule_every_encounter() {
    for engines in 2..12 {
        for (rounds, pairs) in [(1, 1), (2, 3)] {
            for format in [Format::RoundRobin, Format::Pyramid] {
                let design = Design { rounds, pairs, ..design(format) };
                let met = meetings(&play_out(&mut Schedule::new(design, engines, 1), 1));
                assert_eq!(met.len(), engines * (engines - 1) / 2);
                assert!(met.values().all(|times| *times == rounds * pairs));
            }
            for seeds in 1..engines {
                let design = Design { rounds, pairs, seeds, ..design(Format::Gauntlet) };
                let met = meetings(&play_out(&mut Schedule::new(design, engines, 1), 1));
                assert_eq!(met.len(), seeds * (engines - seeds));
                assert!(met.keys().all(|[first, second]| *first < seeds && *second >= seeds));
                assert!(met.values().all(|times| *times == rounds * pairs));
                let design = Design { seeds_meet: true, ..design };
                let met = meetings(&play_out(&mut Schedule::new(design, engines, 1), 1));
                assert_eq!(met.len(), seeds * engines - seeds * (seeds + 1) / 2);
                assert!(met.keys().all(|[first, _]| *first < seeds));
            }
        }
    }
}

#[test]
fn encounters_of_a_round_take_turns() {
    let design = Design { pairs: 2, ..design(Format::RoundRobin) };
    let schedule = Schedule::new(design, 3, 1);
    let all: Vec<_> = (0..6).filter_map(|n| schedule.pairing(n)).collect();
    let met: Vec<_> = all.iter().map(|p| (p.engines, p.opening)).collect();
    let once = [[0, 1], [0, 2], [1, 2]];
    assert_eq!(met[..3], once.map(|engines| (engines, 0)));
    assert_eq!(met[3..], once.map(|engines| (engines, 1)));
    assert_eq!(schedule.pairing(6), None);
}

#[test]
fn engines_enter_a_pyramid_one_after_the_other() {
    let design = Design { pairs: 2, ..design(Format::Pyramid) };
    let schedule = Schedule::new(design, 4, 1);
    let newcomers: Vec<usize> = (0..12).map(|n| schedule.pairing(n).unwrap().engines[1]).collect();
    assert_eq!(newcomers, [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3]);
}

#[test]
fn openings_follow_the_policy() {
    let openings = |policy, format| -> Vec<u64> {
        let design = Design { rounds: 2, pairs: 2, openings: policy, ..design(format) };
        play_out(&mut Schedule::new(design, 3, 1), 1).iter().map(|p| p.opening).collect()
    };
    use OpeningPolicy::*;
    let check = |policy, expected: &[u64]| {
        assert_eq!(openings(policy, Format::RoundRobin), expected, "{policy:?}");
    };
    check(Shared, &[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
    check(PerRound, &[0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
    check(PerEncounter, &[0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]);
    check(PerPair, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    check(Cycled, &[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    assert_eq!(openings(Shared, Format::Pyramid), [0, 1, 2, 3, 0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(openings(PerEncounter, Format::Swiss), [0, 0, 1, 1]);
    assert_eq!(openings(PerRound, Format::Ladder), [0, 0, 0, 0, 1, 1, 1, 1]);
}

#[test]
fn reversed_sides_do_not_change_the_ranking() {
    for (design, engines) in many() {
        let reversed = Design { is_reversed: true, ..design };
        let mut one = Schedule::new(design, engines, 1);
        let mut other = Schedule::new(reversed, engines, 1);
        while let Some(pairing) = one.pairing(next(&one)) {
            let twin = other.pairing(next(&other)).expect("both go on");
            let [first, second] = twin.engines;
            assert_eq!(pairing.engines, [second, first]);
            let [a, b] = pair_result(2, pairing.pair);
            one.count(pairing.pair, [a, b], 2);
            other.count(twin.pair, [b, a], 2);
        }
        assert_eq!(one.ranking(), other.ranking());
    }
}

#[test]
fn brackets_of_all_sizes_have_one_winner_and_byes_for_the_best() {
    for engines in 2..=33 {
        for seed in 0..20 {
            let design = Design { tie_breaks: 1, seeds: engines, ..design(Format::Knockout) };
            let mut schedule = Schedule::new(design, engines, 1);
            let byes = engines.next_power_of_two() - engines;
            let first = schedule.encounters().iter().filter(|e| e.round == 0);
            let busy: BTreeSet<usize> = first.flat_map(|e| e.engines).collect();
            assert_eq!(busy, (byes..engines).collect(), "the best seeds sit out");
            play_out(&mut schedule, seed);
            assert_eq!(schedule.encounters().len(), engines - 1);
            // All engines except the winner lose once.
            let mut beaten = BTreeSet::new();
            for encounter in schedule.encounters() {
                let loser = encounter.leader().map_or(1, |side| 1 - side);
                assert!(beaten.insert(encounter.engines[loser]), "beaten twice");
                assert!((1..=2).contains(&encounter.planned));
                let is_level_at_first = encounter.planned == 2 || encounter.leader().is_some();
                assert!(is_level_at_first, "a drawn encounter goes on");
            }
            let bracket = schedule.bracket().expect("a knockout has a bracket");
            let winner = bracket.winner().expect("somebody wins");
            assert!(!beaten.contains(&winner));
            let ranking = schedule.ranking();
            assert_eq!((ranking[0].engine, ranking[0].rank), (winner, 1));
            assert_eq!(ranking[1].rank, 2);
            assert!(bracket.levels().iter().all(|level| !level.contains(&Entrant::Open)));
        }
    }
}

#[test]
fn a_level_knockout_encounter_is_decided_by_seed_at_its_cap() {
    let design = Design { pairs: 2, tie_breaks: 3, ..design(Format::Knockout) };
    let mut schedule = Schedule::new(Design { seeds: 2, ..design }, 2, 1);
    for _ in 0..5 {
        assert!(!schedule.is_complete());
        schedule.count(schedule.next_to_count(), [2, 2], 2);
    }
    assert!(schedule.is_complete());
    assert_eq!(schedule.bracket().and_then(Knockout::winner), Some(0));
    let openings: Vec<u64> = (0..5).map(|n| schedule.pairing(n).unwrap().opening).collect();
    assert_eq!(openings, [0, 1, 2, 3, 4]);
}

#[test]
fn a_knockout_encounter_ends_when_the_loser_cannot_catch_up() {
    let design = Design { pairs: 4, seeds: 4, tie_breaks: 1, ..design(Format::Knockout) };
    let played = |design: Design, results: &[[u64; 2]]| {
        let mut schedule = Schedule::new(design, 4, 1);
        let mut counted = Vec::new();
        for &half_points in results {
            let pair = next(&schedule);
            schedule.count(pair, half_points, 2);
            counted.push(pair);
        }
        (schedule, counted)
    };
    // The pairs of both encounters alternate. An encounter with two pairs won and two pairs
    // remaining is not decided yet, because the encounter is drawn if both remaining pairs are
    // lost.
    let results = [[4, 0], [4, 0], [4, 0], [3, 1]];
    let (schedule, _) = played(design, &results);
    assert!((0..8).all(|pair| !schedule.is_void(pair)));
    let results = [&results[..], &[[1, 3], [1, 3], [4, 0]]].concat();
    let (schedule, counted) = played(design, &results);
    assert_eq!(counted, [0, 1, 2, 3, 4, 5, 7], "9 to 3 of 16 is enough");
    assert!(schedule.is_void(6));
    let planned: Vec<u64> = schedule.encounters().iter().map(|e| e.planned).collect();
    assert_eq!((planned, schedule.expected_pairs()), (vec![3, 4, 4], 11));
    let all_out = Design { plays_out: true, ..design };
    let (schedule, _) = played(all_out, &[[4, 0]; 7]);
    assert!((0..8).all(|pair| !schedule.is_void(pair)) && schedule.expected_pairs() == 12);
}

#[test]
fn a_swiss_has_no_rematch_while_it_can_be_avoided() {
    for engines in 2..=16 {
        // This number of rounds can always be paired without rematches.
        let rounds = (engines as u64 - 1).min(engines as u64 / 2).max(1);
        for seed in 0..25 {
            let design = Design { rounds, ..design(Format::Swiss) };
            let mut schedule = Schedule::new(design, engines, seed);
            let pairings = play_out(&mut schedule, seed);
            assert!(meetings(&pairings).values().all(|times| *times == 1), "{engines} {seed}");
            // In every round, each engine plays or has a bye. No engine has two byes.
            for round in 0..rounds {
                let busy = schedule.encounters().iter().filter(|e| e.round == round);
                let mut occupied: Vec<usize> = busy.flat_map(|e| e.engines).collect();
                let byes = schedule.byes().iter().filter(|(in_round, _)| *in_round == round);
                occupied.extend(byes.map(|(_, engine)| engine));
                occupied.sort_unstable();
                assert!(occupied.into_iter().eq(0..engines));
            }
            let sat_out: BTreeSet<usize> = schedule.byes().iter().map(|(_, e)| *e).collect();
            assert_eq!(sat_out.len(), schedule.byes().len(), "nobody has two byes so soon");
        }
    }
}

#[test]
fn a_swiss_with_too_many_rounds_repeats_encounters_evenly() {
    let design = Design { rounds: 9, ..design(Format::Swiss) };
    let met = meetings(&play_out(&mut Schedule::new(design, 4, 1), 1));
    assert_eq!(met.values().copied().collect::<Vec<u64>>(), [3; 6]);
}

#[test]
fn a_swiss_pairs_the_upper_half_against_the_lower() {
    let design = Design { rounds: 2, seeds: 8, ..design(Format::Swiss) };
    let mut schedule = Schedule::new(design, 8, 1);
    let round = |schedule: &Schedule, number| -> Vec<[usize; 2]> {
        let played = schedule.encounters().iter().filter(|e| e.round == number);
        played.map(|e| e.engines).collect()
    };
    assert_eq!(round(&schedule, 0), [[0, 4], [1, 5], [2, 6], [3, 7]]);
    (0..4).for_each(|_| schedule.count(schedule.next_to_count(), [4, 0], 2));
    assert_eq!(round(&schedule, 1), [[0, 2], [1, 3], [4, 6], [5, 7]]);
}

/// With three engines, each engine has one bye: 0 beats 1, 2 beats 0, and 1 draws with 2.
#[test]
fn swiss_ties_are_broken_by_buchholz_then_sonneborn_berger() {
    let design = Design { rounds: 3, seeds: 3, ..design(Format::Swiss) };
    let mut schedule = Schedule::new(design, 3, 1);
    assert_eq!(schedule.byes(), [(0, 2)]);
    let score = |engines: [usize; 2]| match engines {
        [0, 1] => [4, 0],
        [1, 0] => [0, 4],
        [0, 2] => [1, 3],
        [2, 0] => [3, 1],
        _ => [2, 2],
    };
    while let Some(pairing) = schedule.pairing(schedule.next_to_count()) {
        schedule.count(schedule.next_to_count(), score(pairing.engines), 2);
    }
    let ranking = schedule.ranking();
    let shown: Vec<_> = ranking.iter().map(|r| (r.engine, r.rank, r.points)).collect();
    // With a bye worth 1 point, engine 0 has 2 + ½ + 1, engine 1 has 0 + 1 + 1, and engine 2 has 1½
    // + 1 + 1. Buchholz is 2 + 3½ + 3½ for both leaders, so Sonneborn-Berger decides: 2·2 + ½·3½ +
    // 1·3½ = 9.25 against 1·2 + 1½·3½ + 1·3½ = 10.75.
    assert_eq!(shown, [(2, 1, 3.5), (0, 2, 3.5), (1, 3, 2.0)]);
    assert_eq!(ranking[0].buchholz, Some(9.0));
    assert_eq!(ranking[0].sonneborn_berger, Some(10.75));
    assert_eq!(ranking[1].sonneborn_berger, Some(9.25));
}

#[test]
fn the_bottom_of_a_ladder_can_climb_to_the_top() {
    let design = Design { seeds: 4, ..design(Format::Ladder) };
    let mut schedule = Schedule::new(design, 4, 1);
    let mut met = Vec::new();
    while let Some(pairing) = schedule.pairing(schedule.next_to_count()) {
        met.push(pairing.engines);
        // The challenger always wins. After a drawn encounter, the rungs would not change.
        schedule.count(schedule.next_to_count(), [1, 3], 2);
    }
    assert_eq!(met, [[2, 3], [1, 3], [0, 3]]);
    let order: Vec<usize> = schedule.ranking().iter().map(|row| row.engine).collect();
    assert_eq!(order, [3, 0, 1, 2]);
}

#[test]
fn the_holder_of_a_rung_stays_if_the_encounter_is_level() {
    let design = Design { seeds: 3, rounds: 2, ..design(Format::Ladder) };
    let mut schedule = Schedule::new(design, 3, 1);
    while schedule.pairing(schedule.next_to_count()).is_some() {
        schedule.count(schedule.next_to_count(), [2, 2], 2);
    }
    let order: Vec<usize> = schedule.ranking().iter().map(|row| row.engine).collect();
    assert_eq!(order, [0, 1, 2]);
}

/// Overlapping climbs must give the same result as successive climbs.
#[test]
fn climbs_that_overlap_do_not_disturb_each_other() {
    for engines in 2..12 {
        for rounds in 1..6 {
            let stronger = |a: usize, b: usize| (a * 7 + 3) % 13 > (b * 7 + 3) % 13;
            let design = Design { seeds: engines, rounds, ..design(Format::Ladder) };
            let mut schedule = Schedule::new(design, engines, 1);
            while let Some(pairing) = schedule.pairing(schedule.next_to_count()) {
                let [a, b] = pairing.engines;
                schedule.count(
                    schedule.next_to_count(),
                    if stronger(a, b) { [4, 0] } else { [0, 4] },
                    2,
                );
            }
            let mut rungs: Vec<usize> = (0..engines).collect();
            for _ in 0..rounds {
                for upper in (0..engines - 1).rev() {
                    if stronger(rungs[upper + 1], rungs[upper]) {
                        rungs.swap(upper, upper + 1);
                    }
                }
            }
            let order: Vec<usize> = schedule.ranking().iter().map(|row| row.engine).collect();
            assert_eq!(order, rungs, "{engines} engines, {rounds} rounds");
        }
    }
}

#[test]
fn unseeded_engines_are_drawn_by_the_random_seed() {
    let first = |seed| {
        let design = Design { seeds: 2, ..design(Format::Swiss) };
        let schedule = Schedule::new(design, 12, seed);
        schedule.encounters().iter().map(|e| e.engines).collect::<Vec<_>>()
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
    assert_eq!((first(1)[0][0], first(1)[1][0]), (0, 1));
}

#[test]
fn a_long_list_is_paired_in_time() {
    let design = Design { rounds: 9, ..design(Format::Swiss) };
    let pairings = play_out(&mut Schedule::new(design, 301, 1), 1);
    assert_eq!(pairings.len(), 9 * 150);
}
