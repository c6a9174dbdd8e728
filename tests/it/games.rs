//! Tests of a match between well-behaved engines: counts and files, and that both depend on the
//! seed alone.

use std::collections::BTreeMap;

use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput, openings};
use crate::support::snapshot::expect_next;

/// Returns a match of two honest puppets.
fn honest(bench: &Bench, pairs: usize) -> Plan<'_> {
    Plan::new(bench, "match", pairs)
        .puppet("A", "--mode good --seed 1")
        .puppet("B", "--mode good --seed 2")
}

/// Plays an honest match in a separate bench.
fn play(configure: impl Fn(Plan<'_>) -> Plan<'_>) -> RunOutput {
    let bench = Bench::new();
    let played = configure(honest(&bench, 20)).expect_output(0);
    bench.wait_until_quiet();
    played
}

#[test]
fn counted_and_played_games_agree() {
    let played = play(|plan| plan.set("concurrency", 2));
    let (report, games) = (&played.report, played.games());
    assert_eq!(report.run, "run");
    assert_eq!(report.verdict, "none");
    assert_eq!(report.games, 40);
    assert_eq!(games.len(), 40);

    let mut pentanomial = [0; 5];
    for pair in games.chunks(2) {
        pentanomial[pair[0].half_points("A") + pair[1].half_points("A")] += 1;
    }
    assert_eq!(report.pentanomial, pentanomial);
    let wins = games.iter().filter(|game| game.half_points("A") == 2).count();
    assert_eq!(report.wins, wins as u64);
}

#[test]
fn a_pair_is_one_opening_played_from_both_sides() {
    let games = play(|plan| plan).games();
    let position = |fen: &str| fen.split(' ').take(3).collect::<Vec<_>>().join(" ");
    for (pair, line) in games.chunks(2).zip(openings(20).lines()) {
        for (game, (white, black)) in pair.iter().zip([("A", "B"), ("B", "A")]) {
            assert_eq!((game.tag("White"), game.tag("Black")), (white, black));
            assert_eq!(position(game.tag("FEN")), position(line));
        }
    }
}

#[test]
fn results_belong_to_the_named_engine() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 4).puppet("Random", "--seed 1");
    let played = plan.puppet("Greedy", "--seed 2 --skill greedy").expect_output(0);
    assert!(played.report.losses >= 6, "{:#?}", played.report);
    for color in ["White", "Black"] {
        let games = played.games();
        let mut greedy = games.iter().filter(|game| game.tag(color) == "Greedy");
        assert!(greedy.any(|game| game.half_points("Greedy") == 2), "no win as {color}");
    }
}

#[test]
fn games_end_by_the_rules_with_the_right_reason() {
    let played = play(|plan| plan.unset("max-moves"));
    let mut reasons = BTreeMap::new();
    for game in played.games() {
        let (after, reason) = game.over.unwrap_or_else(|| panic!("not over: {game:#?}"));
        assert_eq!(game.moves.len(), after, "it was over by {reason} before: {game:#?}");
        *reasons.entry(reason.to_owned()).or_insert(0) += 1;
    }
    assert_eq!(played.report.terminations, reasons);
    assert!(reasons.len() >= 3, "random games end in more ways than {reasons:?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_concurrency() {
    for order in ["sequential", "random"] {
        let with = |concurrency: u32, seed: u32| {
            play(|plan| {
                plan.set("openings order", order).set("concurrency", concurrency).set("seed", seed)
            })
        };
        let alone = with(1, 7);
        assert_eq!(with(4, 7), alone, "{order}");
        // With openings in sequential order, the seed has no effect, but the PGN contains it.
        let mut other = with(4, 8);
        other.pgn = other.pgn.replace("[Seed \"8\"]", "[Seed \"7\"]");
        assert_eq!(other == alone, order == "sequential", "{order} with another seed");
    }
}

#[test]
fn slow_engines_change_only_the_duration() {
    let delayed = |args: &str| {
        let bench = Bench::new();
        let plan = Plan::new(&bench, "match", 2).puppet("A", args).puppet("B", "--seed 2");
        plan.set("concurrency", 2).expect_output(0)
    };
    assert_eq!(delayed("--seed 1 --delay-ms 2"), delayed("--seed 1"));
}

#[test]
fn options_reach_the_engine() {
    let with = |fields: &str| {
        let bench = Bench::new();
        let plan = Plan::new(&bench, "match", 2).puppet_with("A", "--seed 1", fields);
        plan.puppet("B", "--seed 2").expect_output(0).pgn
    };
    let plain = with("");
    assert_eq!(with(",option.Style=Normal"), plain);
    assert_ne!(with(",option.Style=Risky"), plain);
    assert_eq!(with(",option.Move Overhead=20,option.Ponder=false"), plain);
}

#[test]
fn an_option_for_each_engine_reaches_both() {
    let bench = Bench::new();
    let logs = bench.logs();
    let args = |seed: u32| format!("--seed {seed} {logs}");
    Plan::new(&bench, "match", 1)
        .puppet("A", &args(1))
        .puppet("B", &args(2))
        .set("each", "nodes=1,option.Hash=8")
        .expect_output(0);
    let players = bench.conversations();
    assert_eq!(players.len() % 2, 0, "each engine has as many processes: {players:#?}");
    for input in players {
        assert_eq!(input[0], "uci");
        let at = |line: &str| {
            let found = input.iter().position(|input| input.starts_with(line));
            found.unwrap_or_else(|| panic!("never heard {line}: {input:#?}"))
        };
        assert!(at("setoption name Hash value 8") < at("isready"), "{input:#?}");
        assert!(at("isready") < at("position"), "{input:#?}");
        assert!(at("ucinewgame") < at("position"), "{input:#?}");
        assert!(input[at("go")].contains("nodes 1"), "{input:#?}");
        assert_eq!(input.last().map(String::as_str), Some("quit"));
    }
}

#[test]
fn a_clock_is_started_kept_and_announced() {
    let bench = Bench::new();
    let logs = bench.logs();
    let args = |seed: u32| format!("--seed {seed} {logs}");
    let played = Plan::new(&bench, "match", 1)
        .puppet("A", &args(1))
        .puppet_with("B", &args(2), ",tc=40+0.2")
        .set("each", "tc=20+0.1")
        .expect_output(0);
    assert_eq!(played.report.ended_by("time_forfeit"), 0);
    let players = bench.conversations();
    let firsts: Vec<&str> = players
        .iter()
        .filter_map(|input| input.iter().find(|line| line.starts_with("go ")))
        .map(|line| line.as_str())
        .collect();
    // White is to move after the opening, so one of these searches is the first search of the first
    // game, with both clocks full; A, which has the shorter time control, is White.
    let full = firsts.iter().find(|go| go.contains("wtime 20000") && go.contains("btime 40000"));
    let full = full.unwrap_or_else(|| panic!("no full clocks in {firsts:?}"));
    assert!(full.contains("winc 100") && full.contains("binc 200"), "{full}");
}

#[test]
fn games_end_by_adjudication() {
    let played = play(|plan| plan.set("max-moves", 5));
    assert_eq!(played.report.ended_by("move_cap"), 40, "{:#?}", played.report);
    assert!(played.games().iter().all(|game| game.moves.len() == 10));
    // Any score is within 100 pawns of equality, so the game is drawn at the first opportunity.
    let rule = "movenumber=1,movecount=2,score=10000";
    let played = play(|plan| plan.set("draw", rule).set("max-moves", 30));
    assert!(played.report.ended_by("draw_adjudication") > 30, "{:#?}", played.report);
}

#[test]
fn the_result_is_printed_on_stdout() {
    let bench = Bench::new();
    let finished = honest(&bench, 2).set("format", "text").run().expect_code(0);
    expect_next(&finished.stdout);
}
