//! The `[ci]` table: steps that a change must pass.

use serde::Deserialize;

use arbiter_plan::{Step, StepKind};
use arbiter_protocol::parse_seconds;

/// The `[ci]` table; every key is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CiTable {
    /// The revision to compare with.
    pub base: Option<String>,
    /// Steps, in their order.
    #[serde(default)]
    step: Vec<StepTable>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct StepTable {
    /// check, bench, perft, epd, lint, speed or sprt.
    kind: String,
    /// Name of the step, if it is not the kind.
    name: Option<String>,
    /// Flags of the subcommand, as a shell would split them.
    args: Option<String>,
    /// Paths without whose change it is left out.
    #[serde(default)]
    changed: Vec<String>,
    /// `true`, the default, if its failure ends the run of steps.
    stop: Option<bool>,
    /// Seconds after which the step is to end and report its result so far.
    budget: Option<f64>,
    /// "pass" or "fail".
    inconclusive: Option<String>,
    /// Rules of the lint, by name.
    #[serde(default)]
    ignore: Vec<String>,
}

impl CiTable {
    /// Returns the steps, parsed. An error names the wrong one.
    pub fn steps(&self) -> Result<Vec<Step>, String> {
        let mut steps: Vec<Step> = Vec::new();
        for (index, table) in self.step.iter().enumerate() {
            let place = |reason: String| format!("[[ci.step]] number {}: {reason}", index + 1);
            let step = table.step().map_err(place)?;
            if steps.iter().any(|other| other.name == step.name) {
                let reason = format!("two steps are named '{}'; rename one", step.name);
                return Err(place(reason));
            }
            steps.push(step);
        }
        Ok(steps)
    }
}

impl StepTable {
    fn step(&self) -> Result<Step, String> {
        let kind = self.kind.parse().ok().filter(|kind| *kind != StepKind::Build);
        let kind = kind.ok_or_else(|| {
            let all = StepKind::ALL.map(|kind| kind.to_string()).join(", ");
            format!("kind '{}' is none of {all}", self.kind)
        })?;
        let args = self.args.as_deref().unwrap_or_default();
        let args = shell_words::split(args)
            .map_err(|_| format!("args = \"{args}\" has unbalanced quotes"))?;
        let budget = self.budget.map(|seconds| parse_seconds(&seconds.to_string()));
        let is_lenient = match self.inconclusive.as_deref() {
            None | Some("pass") => true,
            Some("fail") => false,
            Some(other) => {
                return Err(format!("inconclusive = \"{other}\" is neither pass nor fail"));
            }
        };
        if kind == StepKind::Bench && !args.is_empty() {
            return Err("a bench takes no args; set bench in [build]".to_owned());
        }
        if kind != StepKind::Lint && !self.ignore.is_empty() {
            return Err(format!("ignore is only for a lint, not for a {kind}"));
        }
        let rules = self.ignore.iter().map(|rule| rule.parse());
        Ok(Step {
            name: self.name.clone().unwrap_or_else(|| self.kind.clone()),
            kind,
            args,
            changed: self.changed.clone(),
            stops: self.stop.unwrap_or(true),
            budget: budget.transpose().map_err(|error| format!("budget: {error}"))?,
            is_lenient,
            ignored: rules.collect::<Result<_, _>>().map_err(|error| format!("ignore: {error}"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Result<Vec<Step>, String> {
        let table: CiTable = toml::from_str(text).map_err(|error| error.to_string())?;
        table.steps()
    }

    #[test]
    fn steps_are_read_in_order() {
        let text = "[[step]]\nkind = 'perft'\nargs = \"--suite 'a b.epd'\"\nstop = false\n\
                    [[step]]\nkind = 'sprt'\nname = 'quick'\nbudget = 90\nchanged = ['src']\n\
                    inconclusive = 'fail'\n";
        let steps = steps(text).unwrap();
        assert_eq!((steps[0].name.as_str(), steps[0].stops), ("perft", false));
        assert_eq!(steps[0].args, ["--suite", "a b.epd"]);
        assert_eq!(steps[1].name, "quick");
        assert_eq!(steps[1].budget.unwrap().as_secs(), 90);
        assert!(!steps[1].is_lenient && steps[1].stops);
    }

    #[test]
    fn mistakes_are_placed() {
        let check = |text: &str, part: &str| {
            let error = steps(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check("[[step]]\nkind = 'dance'", "number 1: kind 'dance' is none of check, bench");
        check("[[step]]\nkind = 'epd'\n[[step]]\nkind = 'epd'", "number 2: two steps");
        check("[[step]]\nkind = 'epd'\nargs = '\"'", "quotes");
        check("[[step]]\nkind = 'sprt'\nbudget = 0", "budget");
        check("[[step]]\nkind = 'sprt'\ninconclusive = 'maybe'", "neither");
        check("[[step]]\nkind = 'bench'\nargs = 'x'", "[build]");
        check(
            "[[step]]\nkind = 'epd'\nignore = ['nodes']",
            "ignore is only for a lint, not for a epd",
        );
        check(
            "[[step]]\nkind = 'lint'\nignore = ['mates']",
            "ignore: 'mates' is none of illegal_pv",
        );
    }
}
