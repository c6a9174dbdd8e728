//! Gates of a change: the steps of `arbiter ci`, and their outcomes.
//!
//! Pure: the command line carries steps out and measures their costs.

use std::time::Duration;

use arbiter_game::lint::LintRule;
use arbiter_names::quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Kind of a step, with the name of the subcommand if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// Builds the programs; always the first step.
    Build,
    /// Checks the engine's compliance with UCI.
    Check,
    /// Checks that the bench is steady, and equal to that of the commit message.
    Bench,
    /// Compares perft counts with a suite.
    Perft,
    /// Runs a suite of EPD positions.
    Epd,
    /// Checks that the engine's reports on its searches are true.
    Lint,
    /// Compares the speed with that of the base.
    Speed,
    /// Compares the strength with that of the base.
    Sprt,
}

impl StepKind {
    /// All kinds that `arbiter.toml` may use.
    pub const ALL: [StepKind; 7] = [
        StepKind::Check,
        StepKind::Bench,
        StepKind::Perft,
        StepKind::Epd,
        StepKind::Lint,
        StepKind::Speed,
        StepKind::Sprt,
    ];
}

arbiter_names::named!(StepKind, StepVerdict);

/// A step of `arbiter ci`.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Name, unique among the steps.
    pub name: String,
    /// Kind of the step.
    pub kind: StepKind,
    /// Further flags of the subcommand.
    pub args: Vec<String>,
    /// Paths one of which must differ between the commits for the step to run; empty for always.
    pub changed: Vec<String>,
    /// `true` if no further step is run after a failure.
    pub stops: bool,
    /// Time after which the step has to end and report its result so far.
    pub budget: Option<Duration>,
    /// `true` if an undecided step is as good as a pass.
    pub is_lenient: bool,
    /// Rules of a lint whose findings are left out.
    pub ignored: Vec<LintRule>,
}

impl Step {
    /// Returns whether the step needs an engine to compare with. Positions are compared only on
    /// request.
    pub fn needs_base_engine(&self) -> bool {
        let compares = self.args.iter().any(|arg| arg.starts_with("--max-lost"));
        matches!(self.kind, StepKind::Speed | StepKind::Sprt)
            || (self.kind == StepKind::Epd && compares)
    }

    /// Returns whether the step needs a base.
    pub fn needs_base(&self) -> bool {
        self.needs_base_engine() || !self.changed.is_empty()
    }
}

/// Verdict of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepVerdict {
    /// The step was carried out and passed.
    Passed,
    /// The step was carried out and failed.
    Failed,
    /// The step was undecided within the budget, which is allowed.
    Undecided,
    /// The step was undecided within the budget, which is not allowed.
    Unproven,
    /// The step could not be carried out.
    Broken,
    /// The step was left out: no path that it depends on has changed, or there is no base.
    Skipped,
}

impl StepVerdict {
    /// Returns whether all steps together may still pass.
    pub fn is_good(self) -> bool {
        matches!(self, StepVerdict::Passed | StepVerdict::Undecided | StepVerdict::Skipped)
    }

    /// Returns whether the verdict also applies when the same commits are tested again.
    pub fn is_lasting(self) -> bool {
        !matches!(self, StepVerdict::Broken | StepVerdict::Skipped)
    }
}

/// Outcome of a step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepOutcome {
    /// Name of the step.
    pub step: String,
    /// Kind of the step.
    pub kind: StepKind,
    /// Verdict of the step.
    pub verdict: StepVerdict,
    /// Figures or reasons on one line.
    pub words: String,
    /// Exit code of the step.
    #[serde(rename = "exit_code")]
    pub code: u8,
    /// Duration in seconds, also of an earlier run.
    pub seconds: f64,
    /// JSON output of the subcommand, with a `schema` of its own. For a bench `nodes`, `nps` and
    /// `copies`; `null` if there is none.
    #[serde(rename = "report")]
    pub figures: Value,
    /// Start of an earlier run of the step, in milliseconds of Unix time, if the outcome is taken
    /// from one.
    #[serde(skip)]
    pub from_before: Option<i64>,
}

/// Returns the verdict of a subcommand's exit code. `was_ended` if its budget ended it.
pub fn step_verdict(step: &Step, code: Option<i32>, was_ended: bool) -> StepVerdict {
    let open = if step.is_lenient { StepVerdict::Undecided } else { StepVerdict::Unproven };
    match code {
        Some(0) => StepVerdict::Passed,
        Some(1) => StepVerdict::Failed,
        Some(5) => open,
        // It was told to say what it knows by then.
        Some(130) if was_ended && step.kind == StepKind::Sprt => open,
        _ => StepVerdict::Broken,
    }
}

/// Returns the main figures of a report.
pub fn step_words(kind: StepKind, figures: &Value) -> String {
    let number = |key: &str| figures[key].as_u64().unwrap_or_default();
    let decimal = |key: &str, digits: usize| {
        figures[key].as_f64().map_or("–".to_owned(), |value| format!("{value:.digits$}"))
    };
    match kind {
        StepKind::Perft => format!(
            "{} right, {} wrong, {} without a reply",
            number("right"),
            number("wrong"),
            number("faults")
        ),
        StepKind::Epd => {
            let engine = &figures["engines"][0];
            let of = |key: &str| engine[key].as_u64().unwrap_or_default();
            let lost = figures["comparisons"][0]["lost_lines"].as_array();
            let lost = lost.map_or(String::new(), |lost| format!(", {} lost", lost.len()));
            format!("{} of {} solved{lost}", of("solved"), of("positions"))
        }
        StepKind::Speed => format!(
            "speed {} [{}, {}] of the base, {}",
            decimal("ratio", 4),
            decimal("ratio_low", 4),
            decimal("ratio_high", 4),
            figures["verdict"].as_str().unwrap_or("undecided")
        ),
        StepKind::Sprt => format!(
            "{}: LLR {} [{}, {}], Elo {} [{}, {}], {} games",
            figures["verdict"].as_str().unwrap_or("none"),
            decimal("llr", 2),
            decimal("llr_lower", 2),
            decimal("llr_upper", 2),
            decimal("elo_sequential", 1),
            decimal("elo_sequential_low", 1),
            decimal("elo_sequential_high", 1),
            number("games")
        ),
        StepKind::Lint => {
            let found = figures["lint"].as_array().map_or(&[][..], |found| found);
            let found = found.iter().map(|found| {
                let text = |key: &str| found[key].as_str().unwrap_or_default();
                format!("{} {} ({})", text("rule"), found["moves"], text("example"))
            });
            let found = found.reduce(|all, one| format!("{all}, {one}"));
            format!("{} games, {}", number("games"), found.as_deref().unwrap_or("nothing found"))
        }
        StepKind::Bench => format!("{} nodes", number("nodes")),
        StepKind::Check => {
            let failed = failed_musts(figures).map_or(String::new(), |failed| failed + "; ");
            format!("{failed}score {}", decimal("score", 1))
        }
        StepKind::Build => String::new(),
    }
}

/// Returns the names of the checks graded "must" that an engine fails, from the JSON of
/// `arbiter check`; `None` if there are none.
pub fn failed_musts(figures: &Value) -> Option<String> {
    let checks = figures["checks"].as_array().into_iter().flatten();
    let failed = checks.filter(|check| check["grade"] == "must" && check["outcome"] == "failed");
    let names: Vec<&str> = failed.filter_map(|check| check["name"].as_str()).collect();
    let number = quantity(names.len(), "must");
    (!names.is_empty()).then(|| format!("{number} failed: {}", names.join(", ")))
}

/// Returns the exit code of all steps: that of the first one whose verdict is not good.
pub fn ci_exit_code(outcomes: &[StepOutcome]) -> u8 {
    outcomes.iter().find(|outcome| !outcome.verdict.is_good()).map_or(0, |outcome| outcome.code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn step(kind: StepKind, is_lenient: bool) -> Step {
        Step {
            name: "x".into(),
            kind,
            args: Vec::new(),
            changed: Vec::new(),
            stops: true,
            budget: None,
            is_lenient,
            ignored: Vec::new(),
        }
    }

    #[test]
    fn exit_codes_are_verdicts() {
        let check = |kind, lenient, code, ended, expect| {
            assert_eq!(
                step_verdict(&step(kind, lenient), code, ended),
                expect,
                "{kind:?} {code:?}"
            );
        };
        check(StepKind::Perft, true, Some(0), false, StepVerdict::Passed);
        check(StepKind::Perft, true, Some(1), false, StepVerdict::Failed);
        check(StepKind::Sprt, true, Some(5), false, StepVerdict::Undecided);
        check(StepKind::Sprt, false, Some(5), false, StepVerdict::Unproven);
        check(StepKind::Sprt, true, Some(130), true, StepVerdict::Undecided);
        // Somebody else has interrupted it.
        check(StepKind::Sprt, true, Some(130), false, StepVerdict::Broken);
        check(StepKind::Perft, true, Some(130), true, StepVerdict::Broken);
        check(StepKind::Epd, true, Some(3), false, StepVerdict::Broken);
        check(StepKind::Epd, true, None, false, StepVerdict::Broken);
    }

    #[test]
    fn the_first_bad_step_names_the_exit_code() {
        let outcome = |verdict, code| StepOutcome {
            step: "x".into(),
            kind: StepKind::Perft,
            verdict,
            words: String::new(),
            code,
            seconds: 0.0,
            figures: Value::Null,
            from_before: None,
        };
        assert_eq!(
            ci_exit_code(&[outcome(StepVerdict::Passed, 0), outcome(StepVerdict::Undecided, 5)]),
            0
        );
        assert_eq!(
            ci_exit_code(&[outcome(StepVerdict::Skipped, 0), outcome(StepVerdict::Unproven, 5)]),
            5
        );
        assert_eq!(
            ci_exit_code(&[outcome(StepVerdict::Broken, 23), outcome(StepVerdict::Failed, 1)]),
            23
        );
    }

    #[test]
    fn reports_are_put_in_a_line() {
        let figures = json!({ "right": 3, "wrong": 1, "faults": 0 });
        assert_eq!(step_words(StepKind::Perft, &figures), "3 right, 1 wrong, 0 without a reply");
        let figures = json!({
            "engines": [{ "solved": 2, "positions": 4 }], "comparisons": [{ "lost_lines": [7] }]
        });
        assert_eq!(step_words(StepKind::Epd, &figures), "2 of 4 solved, 1 lost");
        let found = json!({ "rule": "time", "moves": 2, "example": "1.2, 3. e2e4: 9 ms" });
        let figures = json!({ "games": 40, "lint": [found] });
        let words = "40 games, time 2 (1.2, 3. e2e4: 9 ms)";
        assert_eq!(step_words(StepKind::Lint, &figures), words);
        let words = step_words(StepKind::Lint, &json!({ "games": 40 }));
        assert_eq!(words, "40 games, nothing found");
        let check =
            |name, grade, outcome| json!({ "name": name, "grade": grade, "outcome": outcome });
        let checks = [
            check("a", "must", "failed"),
            check("b", "must", "passed"),
            check("c", "nice", "failed"),
            check("d", "must", "failed"),
        ];
        let words = step_words(StepKind::Check, &json!({ "score": 85.8, "checks": checks }));
        assert_eq!(words, "2 musts failed: a, d; score 85.8");
        assert!(step_words(StepKind::Sprt, &json!({ "games": 6 })).contains("LLR –"));
    }

    #[test]
    fn steps_that_compare_need_a_base() {
        assert!(step(StepKind::Sprt, true).needs_base() && !step(StepKind::Epd, true).needs_base());
        let args = vec!["--max-lost=3".to_owned()];
        assert!(Step { args, ..step(StepKind::Epd, true) }.needs_base());
        let changed = vec!["engine".to_owned()];
        assert!(Step { changed, ..step(StepKind::Perft, true) }.needs_base());
    }
}
