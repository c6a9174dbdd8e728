//! Gates of `arbiter ci` and their verdicts.
//!
//! This module does no I/O: the command line runs the gates and measures the duration of each gate.

use std::time::Duration;

use arbiter_game::lint::LintRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Kind of a gate, named after its subcommand if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GateKind {
    /// Builds the programs; always the first gate.
    Build,
    /// Checks the engine's compliance with UCI.
    Check,
    /// Checks that the node count of the bench is deterministic and equal to the node count in the
    /// commit message.
    Bench,
    /// Compares perft counts with a suite.
    Perft,
    /// Runs a suite of EPD positions.
    Epd,
    /// Searches for impossible output of the engine in games.
    Lint,
    /// Compares the speed with the base.
    Speed,
    /// Compares the strength with the base.
    Sprt,
}

impl GateKind {
    /// Returns all kinds that are allowed in `arbiter.toml`.
    pub fn configurable() -> impl Iterator<Item = GateKind> {
        arbiter_names::variants().filter(|kind| *kind != GateKind::Build)
    }
}

arbiter_names::named!(GateKind, GateVerdict);

/// Check of `arbiter ci` that a commit has to pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Unique name of the gate.
    pub name: String,
    /// Kind of the gate.
    pub kind: GateKind,
    /// Additional flags of the subcommand.
    pub args: Vec<String>,
    /// Paths on which the gate depends. The gate is skipped unless a file below one of these paths
    /// differs between the base and the commit under test. If the list is empty, the gate always
    /// runs.
    pub changed: Vec<String>,
    /// `true` if no further gates run after a failure of this gate.
    pub stops: bool,
    /// Maximum duration. At the end of this time, an SPRT ends and reports the result so far; any
    /// other gate is stopped and counts as broken.
    pub budget: Option<Duration>,
    /// `true` if an undecided gate counts as passed.
    pub is_lenient: bool,
    /// Lint rules whose violations are ignored.
    pub ignored: Vec<LintRule>,
}

impl Gate {
    /// Returns whether the gate needs the engine of the base. An EPD gate uses the base only with
    /// `--max-lost`.
    pub fn needs_base_engine(&self) -> bool {
        let compares = self.args.iter().any(|arg| arg.starts_with("--max-lost"));
        matches!(self.kind, GateKind::Speed | GateKind::Sprt)
            || (self.kind == GateKind::Epd && compares)
    }

    /// Returns whether the gate needs a base commit.
    pub fn needs_base(&self) -> bool {
        self.needs_base_engine() || !self.changed.is_empty()
    }
}

/// Verdict of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GateVerdict {
    /// The gate passed.
    Passed,
    /// The gate failed.
    Failed,
    /// The gate was undecided within its budget, and may be undecided.
    Undecided,
    /// The gate was undecided within its budget, and must be decided.
    Unproven,
    /// The gate could not be run.
    Broken,
    /// The gate was skipped: none of its paths has changed, or there is no base.
    Skipped,
}

impl GateVerdict {
    /// Returns whether `arbiter ci` can pass with this verdict.
    pub fn is_good(self) -> bool {
        matches!(self, GateVerdict::Passed | GateVerdict::Undecided | GateVerdict::Skipped)
    }

    /// Returns whether the verdict remains valid when the same commits are tested again.
    pub fn is_lasting(self) -> bool {
        // A broken gate may succeed in a second attempt, and a skipped gate was not run.
        !matches!(self, GateVerdict::Broken | GateVerdict::Skipped)
    }
}

/// Result of a gate: verdict, exit code and figures.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GateOutcome {
    /// Name of the gate.
    pub gate: String,
    /// Kind of the gate.
    pub kind: GateKind,
    /// Verdict of the gate.
    pub verdict: GateVerdict,
    /// Figures or reasons as one line of text.
    pub text: String,
    /// Exit code of the gate.
    #[serde(rename = "exit_code")]
    pub code: u8,
    /// Duration in seconds, of the earlier run if the result is cached.
    pub seconds: f64,
    /// JSON output of the subcommand, with its `schema`. For a bench: `nodes`, `nps` and `copies`.
    /// `null` if there is no output.
    #[serde(rename = "report")]
    pub figures: Value,
    /// Start time of the earlier run of the gate, as Unix time in milliseconds, if the result is
    /// cached.
    #[serde(skip)]
    pub from_before: Option<i64>,
}

/// Returns the verdict for an exit code of the subcommand; `was_ended` is `true` if the subcommand
/// was stopped at the end of the budget.
pub fn gate_verdict(gate: &Gate, code: Option<i32>, was_ended: bool) -> GateVerdict {
    let open = if gate.is_lenient { GateVerdict::Undecided } else { GateVerdict::Unproven };
    match code {
        Some(0) => GateVerdict::Passed,
        Some(1) => GateVerdict::Failed,
        Some(5) => open,
        // At the end of the budget, an SPRT ends as after Ctrl-C (exit code 130) and reports the
        // result so far.
        Some(130) if was_ended && gate.kind == GateKind::Sprt => open,
        // Any other code is an error of the gate itself, and not a result of the change.
        _ => GateVerdict::Broken,
    }
}

/// Returns the exit code of `arbiter ci`: the code of the first gate whose verdict is not good
/// ([`GateVerdict::is_good`]), otherwise 0.
pub fn ci_exit_code(outcomes: &[GateOutcome]) -> u8 {
    outcomes.iter().find(|outcome| !outcome.verdict.is_good()).map_or(0, |outcome| outcome.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(kind: GateKind, is_lenient: bool) -> Gate {
        Gate {
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
    fn exit_codes_map_to_verdicts() {
        let check = |kind, lenient, code, ended, expect| {
            assert_eq!(
                gate_verdict(&gate(kind, lenient), code, ended),
                expect,
                "{kind:?} {code:?}"
            );
        };
        check(GateKind::Perft, true, Some(0), false, GateVerdict::Passed);
        check(GateKind::Perft, true, Some(1), false, GateVerdict::Failed);
        check(GateKind::Sprt, true, Some(5), false, GateVerdict::Undecided);
        check(GateKind::Sprt, false, Some(5), false, GateVerdict::Unproven);
        check(GateKind::Sprt, true, Some(130), true, GateVerdict::Undecided);
        // The user interrupted the SPRT before the end of the budget.
        check(GateKind::Sprt, true, Some(130), false, GateVerdict::Broken);
        check(GateKind::Perft, true, Some(130), true, GateVerdict::Broken);
        check(GateKind::Epd, true, Some(3), false, GateVerdict::Broken);
        check(GateKind::Epd, true, None, false, GateVerdict::Broken);
    }

    #[test]
    fn the_first_bad_gate_decides_the_exit_code() {
        let outcome = |verdict, code| GateOutcome {
            gate: "x".into(),
            kind: GateKind::Perft,
            verdict,
            text: String::new(),
            code,
            seconds: 0.0,
            figures: Value::Null,
            from_before: None,
        };
        assert_eq!(
            ci_exit_code(&[outcome(GateVerdict::Passed, 0), outcome(GateVerdict::Undecided, 5)]),
            0
        );
        assert_eq!(
            ci_exit_code(&[outcome(GateVerdict::Skipped, 0), outcome(GateVerdict::Unproven, 5)]),
            5
        );
        assert_eq!(
            ci_exit_code(&[outcome(GateVerdict::Broken, 23), outcome(GateVerdict::Failed, 1)]),
            23
        );
    }

    #[test]
    fn gates_that_compare_need_a_base() {
        assert!(gate(GateKind::Sprt, true).needs_base() && !gate(GateKind::Epd, true).needs_base());
        let args = vec!["--max-lost=3".to_owned()];
        assert!(Gate { args, ..gate(GateKind::Epd, true) }.needs_base());
        let changed = vec!["engine".to_owned()];
        assert!(Gate { changed, ..gate(GateKind::Perft, true) }.needs_base());
    }
}
