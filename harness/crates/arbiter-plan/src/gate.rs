//! What a change must pass: the steps of `arbiter ci`, and what became of them.
//!
//! Pure: steps are carried out by the command line, which also knows what they cost.

use std::time::Duration;

use arbiter_game::lint::LintRule;
use arbiter_names::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a step does; its name is that of the subcommand if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// Makes the programs; always the first step.
    Build,
    /// Does the engine keep to UCI?
    Check,
    /// Is the bench steady, and what the commit says?
    Bench,
    /// Does the engine know the rules?
    Perft,
    /// What does it find?
    Epd,
    /// Is what it says of its searches true?
    Lint,
    /// Is it as fast as the base?
    Speed,
    /// Is it as strong as the base?
    Sprt,
}

impl StepKind {
    /// All kinds that `arbiter.toml` can ask for.
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

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Unique among the steps.
    pub name: String,
    /// What it does.
    pub kind: StepKind,
    /// Further flags of its subcommand.
    pub args: Vec<String>,
    /// It is left out unless one of these paths differs between the commits; none for always.
    pub changed: Vec<String>,
    /// Whether no further step is carried out after its failure.
    pub stops: bool,
    /// Time after which it has to end and report what it knows.
    pub budget: Option<Duration>,
    /// Whether "cannot be told" is as good as a pass.
    pub is_lenient: bool,
    /// Of a lint, the rules whose findings are left out.
    pub ignored: Vec<LintRule>,
}

impl Step {
    /// Whether it takes an engine to compare with. Positions are compared only if asked for.
    pub fn needs_base_engine(&self) -> bool {
        let compares = self.args.iter().any(|arg| arg.starts_with("--max-lost"));
        matches!(self.kind, StepKind::Speed | StepKind::Sprt)
            || (self.kind == StepKind::Epd && compares)
    }

    /// Whether there must be something to compare with.
    pub fn needs_base(&self) -> bool {
        self.needs_base_engine() || !self.changed.is_empty()
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepVerdict {
    /// The step was carried out and passed.
    Passed,
    /// The step was carried out and failed.
    Failed,
    /// It could not be told within the budget, which is allowed.
    Undecided,
    /// It could not be told within the budget, which is not allowed.
    Unproven,
    /// It could not be carried out.
    Broken,
    /// It was left out: nothing it depends on has changed, or there is no base.
    Skipped,
}

impl StepVerdict {
    /// Whether all steps together may still pass.
    pub fn is_good(self) -> bool {
        matches!(self, StepVerdict::Passed | StepVerdict::Undecided | StepVerdict::Skipped)
    }

    /// Whether it also holds when the same commits are tested again.
    pub fn is_lasting(self) -> bool {
        !matches!(self, StepVerdict::Broken | StepVerdict::Skipped)
    }
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepOutcome {
    /// The name of the step.
    pub step: String,
    /// What it did.
    pub kind: StepKind,
    /// How it ended.
    pub verdict: StepVerdict,
    /// One line of figures or reasons.
    pub words: String,
    /// Its exit code.
    #[serde(rename = "exit_code")]
    pub code: u8,
    /// How long it took, in seconds, now or before.
    pub seconds: f64,
    /// What its subcommand printed: a value with a `schema` of its own. Of a bench `nodes`, `nps` and
    /// `copies`; `null` if there is nothing.
    #[serde(rename = "report")]
    pub figures: Value,
    /// When it was carried out, in milliseconds of Unix time, if that was before.
    #[serde(skip)]
    pub from_before: Option<i64>,
}

/// An exit code that a child had, as a verdict. `is_timely` says that it was ended by its budget.
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

/// The figures of a report that people look at first.
pub fn step_words(kind: StepKind, figures: &Value) -> String {
    let number = |key: &str| figures[key].as_u64().unwrap_or_default();
    let decimal = |key: &str, digits: usize| {
        figures[key].as_f64().map_or("–".to_owned(), |value| format!("{value:.digits$}"))
    };
    match kind {
        StepKind::Perft => format!(
            "{} right, {} wrong, {} without an answer",
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

/// The checks graded "must" that an engine fails, by name, from the JSON of `arbiter check`; `None` if
/// there are none.
pub fn failed_musts(figures: &Value) -> Option<String> {
    let checks = figures["checks"].as_array().into_iter().flatten();
    let failed = checks.filter(|check| check["grade"] == "must" && check["outcome"] == "failed");
    let names: Vec<&str> = failed.filter_map(|check| check["name"].as_str()).collect();
    let number = counted(names.len(), "must");
    (!names.is_empty()).then(|| format!("{number} failed: {}", names.join(", ")))
}

/// The exit code of all: that of the first step that is not good.
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
        assert_eq!(step_words(StepKind::Perft, &figures), "3 right, 1 wrong, 0 without an answer");
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
