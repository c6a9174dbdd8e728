//! Text for a gate of `arbiter ci`, from the JSON report of the gate's subcommand.

use serde::Deserialize;
use serde_json::Value;

use super::json::RunResults;
use crate::topics::check::{ConformanceFigures, failed_musts};
use crate::topics::speed::SpeedReport;
use crate::topics::suite::PerftTotals;
use crate::topics::suite::epd_figures::EpdResults;
use arbiter_plan::GateKind;

/// Returns the main values of a gate's report as one line of text. Fails if `report` cannot be
/// parsed as the report of a gate of this kind.
pub fn gate_text(kind: GateKind, report: &Value) -> Result<String, serde_json::Error> {
    let decimal = |value: Option<f64>, digits: usize| {
        value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
    };
    Ok(match kind {
        GateKind::Perft => {
            let PerftTotals { right, wrong, faults, .. } = PerftTotals::deserialize(report)?;
            let first = first_wrong(report).unwrap_or_default();
            format!("{right} correct, {wrong} wrong, {faults} without a reply{first}")
        }
        GateKind::Epd => {
            let EpdResults { engines, comparisons } = EpdResults::deserialize(report)?;
            let counts = engines.first().map(|first| (first.solved.solved, first.solved.positions));
            let (solved, positions) = counts.unwrap_or_default();
            let lost =
                comparisons.first().map(|first| format!(", {} lost", first.lost_lines.len()));
            format!("{solved} of {positions} solved{}", lost.unwrap_or_default())
        }
        GateKind::Speed => {
            let SpeedReport { ratio, ratio_low, ratio_high, verdict, .. } =
                SpeedReport::deserialize(report)?;
            let [ratio, low, high] = [ratio, ratio_low, ratio_high].map(|value| decimal(value, 4));
            format!("speed relative to the base {ratio} [{low}, {high}] (95 %), {verdict}")
        }
        GateKind::Sprt => {
            let run = RunResults::deserialize(report)?;
            let llr = [run.llr, run.llr_lower, run.llr_upper];
            let [llr, lower, upper] = llr.map(|value| decimal(value, 2));
            let elo = [run.elo_sequential, run.elo_sequential_low, run.elo_sequential_high];
            let [elo, low, high] = elo.map(|value| decimal(value, 1));
            let elo =
                format!("Elo {elo} [{low}, {high}]").replace("Elo – [–, –]", "no Elo interval");
            format!(
                "{}: LLR {llr}, bounds [{lower}, {upper}], {elo}, {} games",
                run.verdict, run.figures.games.games
            )
        }
        GateKind::Lint => {
            let run = RunResults::deserialize(report)?;
            let lint = run.lint.iter();
            let found = lint.map(|one| format!("{} {} ({})", one.rule, one.moves, one.example));
            let found = found.reduce(|all, one| format!("{all}, {one}"));
            let found = found.as_deref().unwrap_or("nothing found");
            format!("{} games, {found}", run.figures.games.games)
        }
        GateKind::Check => {
            let ConformanceFigures { score, .. } = ConformanceFigures::deserialize(report)?;
            let failed = failed_musts(report).map_or(String::new(), |failed| failed + "; ");
            format!("{failed}score {} of 100", decimal(score, 1))
        }
        GateKind::Bench | GateKind::Build => String::new(),
    })
}

/// Describes the first wrong count in a perft report; `None` if no count is wrong.
fn first_wrong(report: &Value) -> Option<String> {
    let positions = report["positions"].as_array()?;
    let wrong = positions.iter().find(|position| position["verdict"] == "wrong")?;
    let Value::Object(first) = &wrong["first_wrong"] else { return None };
    let mut text = format!(
        "; line {}, depth {}: counts {}, expected {}, first wrong position {}",
        wrong["line"],
        wrong["depth"],
        wrong["found"],
        wrong["correct"],
        first.get("fen")?.as_str()?
    );
    for list in ["missing", "extra"] {
        let moves = first.get(list)?.as_array()?.iter().filter_map(Value::as_str);
        let moves = moves.collect::<Vec<_>>().join(" ");
        if !moves.is_empty() {
            text += &format!(", {list} moves {moves}");
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::figures::Summary;
    use crate::run::json::run_json;
    use arbiter_plan::{Plan, Request, RunKind};
    use arbiter_run::RunState;

    #[test]
    fn reports_are_summarized_in_one_line() {
        let check =
            |kind, report: &Value, expected| assert_eq!(gate_text(kind, report).unwrap(), expected);
        let report = json!({ "engine": "A", "right": 3, "wrong": 1, "wrong_suite": 0, "faults": 0,
            "nodes": 9 });
        check(GateKind::Perft, &report, "3 correct, 1 wrong, 0 without a reply");
        let mut report = report;
        report["positions"] = json!([{ "line": 1, "verdict": "right" }, { "line": 2, "depth": 3,
            "verdict": "wrong", "found": 5, "correct": 7, "first_wrong": { "kind": "moves",
            "fen": "8/8", "path": [], "missing": ["e1g1", "a2a4"], "extra": [] } }]);
        let expected = "3 correct, 1 wrong, 0 without a reply; line 2, depth 3: counts 5, \
            expected 7, first wrong position 8/8, missing moves e1g1 a2a4";
        check(GateKind::Perft, &report, expected);
        let engine = json!({ "name": "A", "limits": "depth 3", "positions": 4, "solved": 2,
            "faults": 0, "total_time_ms": 1.0, "themes": [] });
        let comparison = json!({ "first": "A", "second": "B", "both": 2, "only_first": 0,
            "only_second": 1, "neither": 1, "won_lines": [], "lost_lines": [7] });
        let report = json!({ "engines": [engine], "comparisons": [comparison] });
        check(GateKind::Epd, &report, "2 of 4 solved, 1 lost");
        assert!(gate_text(GateKind::Epd, &json!({ "engines": 1 })).is_err());
    }

    #[test]
    fn runs_are_summarized_in_one_line() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let state = RunState::new(plan.schedule(), plan.sprt);
        let mut report = run_json(&Summary::new("r", &plan, &state, None));
        let text = gate_text(GateKind::Sprt, &report).unwrap();
        assert!(
            text.starts_with(
                "inconclusive: LLR 0.00, bounds [-2.94, 2.94], no Elo interval, 0 games"
            ),
            "{text}"
        );
        assert_eq!(gate_text(GateKind::Lint, &report).unwrap(), "0 games, nothing found");
        report["lint"] = json!([{ "engine": "A", "rule": "time", "moves": 2, "games": 1,
            "example_game": "1.2", "example_ply": 5, "example": "1.2, 3. e2e4: 9 ms" }]);
        let text = gate_text(GateKind::Lint, &report).unwrap();
        assert_eq!(text, "0 games, time 2 (1.2, 3. e2e4: 9 ms)");
    }

    #[test]
    fn failed_musts_are_named() {
        let check = |name, grade, verdict| {
            let reason = (verdict == "failed").then_some("late");
            json!({ "name": name, "grade": grade, "rule": "", "verdict": verdict, "reason": reason })
        };
        let checks = [
            check("a", "must", "failed"),
            check("b", "must", "passed"),
            check("c", "nice", "failed"),
            check("d", "must", "failed"),
        ];
        let report = json!({ "engine": "A", "score": 85.8, "grades": {}, "checks": checks });
        let text = gate_text(GateKind::Check, &report).unwrap();
        assert_eq!(text, "2 musts failed: a, d; score 85.8 of 100");
    }
}
