use std::collections::BTreeSet;

use shakmaty::KnownOutcome;

use super::*;
use arbiter_plan::{EngineSpec, Request, RunKind};
use arbiter_run::{GameTally, PairTally};
use arbiter_stats::GameResult::{self, Draw, Loss, Win};
use arbiter_stats::{DEFAULT_ELO1, Decision};

fn plan(kind: RunKind, engines: &[&str]) -> Plan {
    let engines = engines.iter().map(|text| EngineSpec::parse(text).unwrap()).collect();
    Plan::resolve(kind, Request { engines, ..Request::default() }).unwrap()
}

fn duel(dialect: Dialect, penta: bool) -> DialectWriter {
    let engines = ["cmd=sh,name=A,option.Hash=16,option.Threads=1", "cmd=sh,name=B,option.Hash=16"];
    let b = vec![("threads".to_owned(), "2".to_owned())];
    DialectWriter::new(dialect, penta, &plan(RunKind::Sprt, &engines), &[Vec::new(), b])
}

fn counts(pairs: &[([usize; 2], [GameResult; 2])]) -> RunCounts {
    let mut counts = RunCounts::default();
    for (pair, (engines, results)) in (0..).zip(pairs) {
        let game = |result| GameTally {
            result,
            termination: Termination::Checkmate,
            fault: None,
            hash: None,
        };
        let [first, second] = results.map(game);
        counts.count(&PairTally {
            pair,
            engines: *engines,
            first,
            second: Some(second),
            is_repeat: false,
        });
    }
    counts
}

fn sprt_status() -> Option<SprtStatus> {
    Some(SprtStatus { llr: 2.95, lower: -2.94, upper: 2.94, decision: Decision::AcceptH1 })
}

#[test]
fn game_lines_have_the_form_of_fastchess() {
    let writer = duel(Dialect::Fastchess, true);
    assert_eq!(writer.started(3, 40, 1, 0), "Started game 3 of 40 (B vs A)\n");
    let outcome =
        Outcome::lost(Color::White, Termination::TimeForfeit, "White loses on time (99.6 ms over)");
    let line = "Finished game 3 (B vs A): 0-1 {White loses on time (99ms overrun)}\n";
    assert_eq!(writer.finished(3, 1, 0, &outcome), line);
    let draw = Outcome {
        result: KnownOutcome::Draw,
        termination: Termination::Threefold,
        detail: String::new(),
    };
    assert_eq!(annotation(&draw, Dialect::Fastchess), "Draw by 3-fold repetition");
    let crash = Outcome::lost(Color::Black, Termination::Crash, "");
    assert_eq!(annotation(&crash, Dialect::Fastchess), "Black disconnects");
}

#[test]
fn results_have_the_form_of_fastchess() {
    let writer = duel(Dialect::Fastchess, true);
    let pairs = [([0, 1], [Win, Draw]), ([0, 1], [Win, Loss]), ([0, 1], [Draw, Draw])];
    let text = writer.interval(&counts(&pairs), sprt_status());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "-".repeat(50));
    assert_eq!(lines[1], "Results of A vs B (8+0.08, 1t - 2t, 16MB):");
    assert_eq!(lines[2], "Elo: 58.45 +/- 98.05, nElo: 173.72 +/- 278.00");
    assert_eq!(lines[3], "LOS: 88.97 %, DrawRatio: 66.67 %, PairsRatio: inf");
    assert_eq!(lines[4], "Games: 6, Wins: 2, Losses: 1, Draws: 3, Points: 3.5 (58.33 %)");
    assert_eq!(lines[5], "Ptnml(0-2): [0, 0, 2, 1, 0], WL/DD Ratio: 1.00");
    let bounds = format!("[0.00, {DEFAULT_ELO1:.2}]");
    assert_eq!(lines[6], format!("LLR: 2.95 (100.3%) (-2.94, 2.94) {bounds}"));
    assert_eq!((lines[7], lines.len()), (lines[0], 8));
    assert_eq!(writer.score(0, 1, &Trinomial::default()), "");
    let ended = format!("SPRT ({bounds}) completed - H1 was accepted\n");
    assert_eq!(writer.verdict(RunEnd::AcceptedH1), ended);
    assert_eq!(writer.verdict(RunEnd::Complete), "");
    let by_games = duel(Dialect::Fastchess, false).interval(&counts(&pairs), None);
    assert!(by_games.contains("DrawRatio: 50.00 %\n") && !by_games.contains("Ptnml"), "{by_games}");
}

#[test]
fn results_have_the_form_of_cutechess() {
    let writer = duel(Dialect::Cutechess, true);
    let games = Trinomial { wins: 2, draws: 3, losses: 1 };
    assert_eq!(writer.score(0, 1, &games), "Score of A vs B: 2 - 1 - 3  [0.583] 6\n");
    let pairs = [([0, 1], [Win, Draw]), ([0, 1], [Win, Loss]), ([0, 1], [Draw, Draw])];
    let text = writer.interval(&counts(&pairs), sprt_status());
    let lines: Vec<&str> = text.lines().collect();
    // A scored two wins and a draw as White, and a loss and two draws as Black.
    assert_eq!(
        lines[..3],
        [
            "...      A playing White: 2 - 0 - 1  [0.833] 3",
            "...      A playing Black: 0 - 1 - 2  [0.333] 3",
            "...      White vs Black: 3 - 0 - 3  [0.750] 6",
        ]
    );
    // The cumulative normal distribution at 1 / sqrt(3) is 0.718.
    assert!(lines[3].starts_with("Elo difference: 58.5 +/- "), "{text}");
    assert!(lines[3].ends_with(", LOS: 71.8 %, DrawRatio: 50.0 %"), "{text}");
    let sprt = "SPRT: llr 2.95 (100.3%), lbound -2.94, ubound 2.94 - H1 was accepted";
    assert_eq!(lines[4..], [sprt]);
    assert_eq!(writer.verdict(RunEnd::AcceptedH1), "");
}

#[test]
fn undecided_and_perfect_results_print_nan_and_inf_like_cutechess() {
    let writer = duel(Dialect::Cutechess, true);
    let text = writer.interval(&RunCounts::default(), None);
    let line = "Elo difference: nan +/- nan, LOS: nan %, DrawRatio: nan %\n";
    assert_eq!(text, format!("{line}SPRT: llr 0 (0.0%), lbound -inf, ubound inf\n"));
    let text = writer.interval(&counts(&[([0, 1], [Win, Win])]), None);
    assert!(text.contains("\nElo difference: inf +/- nan"), "{text}");
}

#[test]
fn exact_halves_are_rounded_like_qt_or_c() {
    let games = Trinomial { wins: 4, losses: 10, draws: 2 };
    for (dialect, share) in [(Dialect::Fastchess, "0.312"), (Dialect::Cutechess, "0.313")] {
        let writer = DialectWriter { dialect: Dialect::Cutechess, ..duel(dialect, false) };
        let line = format!("Score of A vs B: 4 - 10 - 2  [{share}] 16\n");
        assert_eq!(writer.score(0, 1, &games), line);
    }
    let halves = [0.0625, 0.0615, -0.0625, 0.0624, f64::NAN]
        .map(|value| cutechess::format_like_qt(value, 3));
    assert_eq!(halves, ["0.063", "0.061", "-0.063", "0.062", "nan"]);
}

#[test]
fn many_engines_are_ranked() {
    let engines = ["cmd=sh,name=A", "cmd=sh,name=B", "cmd=sh,name=C"];
    let plan = plan(RunKind::Match, &engines);
    let pairs = [([0, 1], [Loss, Draw]), ([0, 2], [Win, Win]), ([1, 2], [Draw, Win])];
    for dialect in [Dialect::Fastchess, Dialect::Cutechess] {
        let text = DialectWriter::new(dialect, true, &plan, &[]).interval(&counts(&pairs), None);
        // cutechess-cli prints the line of the SPRT even for a run without an SPRT.
        let is_row = |line: &&str| !line.is_empty() && !line.starts_with(['-', 'S']);
        let rows = text.lines().filter(is_row);
        let names: Vec<&str> = rows.filter_map(|row| row.split_whitespace().nth(1)).collect();
        assert_eq!(names, ["Name", "B", "A", "C"], "{text}");
        let widths: BTreeSet<usize> = text.lines().filter(is_row).map(str::len).collect();
        assert_eq!(widths.len(), 1, "{text}");
    }
}
