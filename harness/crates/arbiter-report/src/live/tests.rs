//! Tests of the live view on terminals of several widths.

use std::collections::BTreeMap;

use super::*;
use arbiter_run::RunCounts;
use arbiter_schedule::{Design, Schedule};
use arbiter_stats::{Decision, Model, Pentanomial, Sprt, Trinomial};

fn side(engine: usize, score: &str, time_left_ms: Option<u64>) -> Side {
    Side { engine, time_left_ms, score: Some(score.to_owned()), depth: None, elapsed_ms: None }
}

/// Returns the first `shown` of `count` games. White is to move in every second game.
fn boards(shown: usize, count: usize, left_ms: Option<u64>) -> Boards {
    let board = |pair: u64| Board {
        pair,
        game: 1,
        placement: String::new(),
        is_white_to_move: pair.is_multiple_of(2),
        move_number: 22,
        last_move: Some("e4e5".to_owned()),
        white: side(0, "+1.20", left_ms),
        black: side(1, "-M12", left_ms),
    };
    Boards { count, shown: (26..).take(count.min(shown)).map(board).collect() }
}

/// Returns the view of a match with 26 counted pairs and `in_progress` games in progress.
fn running<'a>(in_progress: usize, left_ms: Option<u64>) -> Live<'a> {
    let mut counts = RunCounts::default();
    let encounter = counts.encounters.entry([0, 1]).or_default();
    encounter.pairs = Pentanomial([3, 2, 11, 2, 8]);
    encounter.games = Trinomial { losses: 19, draws: 4, wins: 29 };
    Live {
        screen: None,
        games: Box::new(move |most| boards(most, in_progress, left_ms)),
        engines: vec!["palimpsest".to_owned(), "palimpsest-of-yesterday".to_owned()],
        progress: Progress {
            sprt: None,
            sprt_statuses: BTreeMap::new(),
            schedule: Schedule::new(Design::round_robin(100), 2, 1),
            counts,
            counted: 26,
            counted_before: 0,
        },
        last_line: None,
        printed_faults: BTreeSet::new(),
        pace: Pace::Running,
        active_time: ActiveTime::default(),
        slots: None,
        suspect: 0,
        has_keys: true,
        tuning: None,
    }
}

/// Returns the view of an SPRT with the pairs of [`running`].
fn test<'a>(in_progress: usize, left_ms: Option<u64>) -> Live<'a> {
    let mut live = running(in_progress, left_ms);
    live.progress.sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, Model::Normalized).ok();
    let decision = Decision::Continue;
    let status = SprtStatus { llr: 1.284, lower: -2.86, upper: 2.9, decision };
    live.progress.sprt_statuses.insert([0, 1], status);
    live.progress.schedule = Schedule::new(Design::round_robin(500), 2, 1);
    live
}

const TIME: Duration = Duration::from_secs(14);

#[track_caller]
fn assert_drawn(live: &Live<'_>, columns: usize, expected: &str) {
    let drawn = live.display(TIME, columns, 24);
    assert_eq!(format!("\n{}\n", drawn.join("\n")), expected);
    assert!(drawn.iter().all(|line| length(line) <= columns), "{drawn:#?}");
}

#[test]
fn an_sprt_is_drawn_on_a_wide_terminal() {
    assert_drawn(&test(2, Some(59_900)), 120, "
LLR +1.28  -2.86 ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░│████████████░░░░░░░░░░░░░░░░░ +2.90  H1 45 % · H0 10 % · neither 45 %
Elo +67.7 ± 92.7 · LOS 93.4 % · ptnml [3, 2, 11, 2, 8]
26 pairs of at most 500 · 00:00:14 · 3.7 games/s · about 5 min left
p pause · r resume · d drain · + - concurrency · q stop
  27.2  palimpsest                +1.20  59.9  –  palimpsest-of-yesterday    -M12  59.9  ply  42 e4e5
  28.2  palimpsest                +1.20  59.9  –  palimpsest-of-yesterday    -M12  59.9  ply  43 e4e5
");
}

#[test]
fn an_sprt_is_drawn_in_eighty_columns() {
    assert_drawn(
        &test(2, Some(120_000)),
        80,
        "
LLR +1.28  -2.86 ░░░░░░░░░░░│█████░░░░░░ +2.90  H1 45 % · H0 10 % · neither 45 %
Elo +67.7 ± 92.7 · LOS 93.4 % · ptnml [3, 2, 11, 2, 8]
26 pairs of at most 500 · 00:00:14 · 3.7 games/s · about 5 min left
p pause · r resume · d drain · + - concurrency · q stop
  27.2  palimpsest    +1.20  2:00  –  palimpsest…    -M12  2:00  ply  42 e4e5
  28.2  palimpsest    +1.20  2:00  –  palimpsest…    -M12  2:00  ply  43 e4e5
",
    );
}

#[test]
fn a_narrow_terminal_has_three_lines() {
    assert_drawn(
        &test(2, Some(59_900)),
        50,
        "
LLR +1.28  -2.86 ░░░░░░░░░░░░░│█████░░░░░░░░ +2.90
H1 45 % · H0 10 % · Elo +67.7 ± 92.7 · 26 pairs
3.7 games/s · about 5 min left · 27.2 ply 42 e4e5…
",
    );
    assert_drawn(
        &test(0, None),
        69,
        "
LLR +1.28  -2.86 ░░░░░░░░░░░░░░░░░░░░░░░│█████████░░░░░░░░░░░░░ +2.90
H1 45 % · H0 10 % · Elo +67.7 ± 92.7 · 26 pairs
3.7 games/s · about 5 min left
",
    );
    assert_eq!(running(3, None).display(TIME, 50, 24).len(), 3);
    assert_eq!(running(3, None).display(Duration::ZERO, 1, 1).len(), 1);
}

#[test]
fn a_match_shows_its_pairs_and_changed_settings() {
    let live = Live { suspect: 3, slots: Some(2), pace: Pace::Paused, ..running(12, None) };
    assert_drawn(
        &live,
        90,
        "
26/100 pairs ████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
Elo +67.7 ± 92.7 · LOS 93.4 % · ptnml [3, 2, 11, 2, 8]
00:00:14 · 3.7 games/s · about 39 s left · 2 in parallel · contention in 3 pairs · paused
p pause · r resume · d drain · + - concurrency · q stop
  27.2  palimpsest         +1.20  –  palimpsest-of-y…    -M12  ply  42 e4e5
  28.2  palimpsest         +1.20  –  palimpsest-of-y…    -M12  ply  43 e4e5
  29.2  palimpsest         +1.20  –  palimpsest-of-y…    -M12  ply  42 e4e5
  30.2  palimpsest         +1.20  –  palimpsest-of-y…    -M12  ply  43 e4e5
  31.2  palimpsest         +1.20  –  palimpsest-of-y…    -M12  ply  42 e4e5
  32.2  palimpsest         +1.20  –  palimpsest-of-y…    -M12  ply  43 e4e5
  33.2  palimpsest         +1.20  –  palimpsest-of-y…    -M12  ply  42 e4e5
  34.2  palimpsest         +1.20  –  palimpsest-of-y…    -M12  ply  43 e4e5
and 4 more games
",
    );
    let line = "Elo +67.7 ± 92.7 · LOS 93.4 % · ptnml [3, 2, 11, 2, 8] · 26/100 pairs · 3.7 \
                games/s · about 39 s left · 2 in parallel · contention in 3 pairs · paused";
    assert_eq!(live.line(TIME), line);
}

#[test]
fn the_view_fits_the_rows_of_the_terminal() {
    let drawn = |games, rows| test(games, None).display(TIME, 100, rows);
    assert_eq!([drawn(40, 10).len(), drawn(40, 5).len(), drawn(40, 3).len()], [9, 4, 2]);
    assert_eq!(drawn(40, 10).last().map(String::as_str), Some("and 36 more games"));
    // The last game is shown instead of the line "and 1 more game".
    assert_eq!(drawn(9, 24).len(), 4 + 9);
    assert_eq!(drawn(5, 10).len(), 9);
}

#[test]
fn faults_of_void_pairs_are_shown_again() {
    let printed_faults = |pair, is_void| {
        let mut live = running(0, None);
        live.printed_faults.insert((4, "fault in game 5.1".to_owned()));
        live.observe(&RunEvent::Disturbed { pair, reason: "waited", is_void }).unwrap();
        live.printed_faults.len()
    };
    assert_eq!(
        [printed_faults(4, true), printed_faults(4, false), printed_faults(3, true)],
        [0, 1, 1]
    );
}

#[test]
fn playing_time_excludes_pauses() {
    let second = Duration::from_secs;
    let steered = |pace, elapsed| RunEvent::Steered { pace, slots: 2, elapsed: second(elapsed) };
    let mut live = running(0, None);
    live.observe(&steered(Pace::Paused, 10)).unwrap();
    assert_eq!(live.active_time.of(second(100)), second(10));
    live.observe(&steered(Pace::Running, 40)).unwrap();
    assert_eq!(live.active_time.of(second(42)), second(12));
    live.observe(&steered(Pace::Paused, 42)).unwrap();
    live.observe(&steered(Pace::Paused, 50)).unwrap();
    assert_eq!(live.active_time.of(second(60)), second(12));
}
