//! The `[ci]` table: gates that a change must pass.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{RENAMED, SWITCHES};
use arbiter_names::MAX_NAME;
use arbiter_plan::{Gate, GateKind};
use arbiter_protocol::parse_seconds;

/// The `[ci]` table; every key is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CiTable {
    /// Revision to compare with.
    pub base: Option<String>,
    /// Gates, in order.
    #[serde(default)]
    gate: Vec<GateTable>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct GateTable {
    /// Kind of the gate.
    kind: String,
    /// Name of the gate, if it differs from the kind.
    name: Option<String>,
    /// Flags of the subcommand, split as in a shell.
    #[serde(default, deserialize_with = "flags")]
    args: String,
    /// Paths; the gate is skipped if nothing below these paths has changed.
    #[serde(default)]
    changed: Vec<String>,
    /// `true` (the default) if no further gates run after a failure of this gate.
    stop: Option<bool>,
    /// Maximum duration, in seconds; when this time has elapsed, an SPRT reports its result so far.
    budget: Option<f64>,
    /// Verdict of an inconclusive gate: "pass" or "fail".
    inconclusive: Option<String>,
    /// Ignored lint rules, by name.
    #[serde(default)]
    ignore: Vec<String>,
}

/// Reads the flags of a gate. Fails if a flag has been renamed.
fn flags<'de, D: Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    let text = String::deserialize(source)?;
    // Unbalanced quotes are reported later, with the number of the gate.
    for word in shell_words::split(&text).unwrap_or_default() {
        let flag = word.split('=').next().and_then(|flag| flag.strip_prefix("--"));
        let renamed = RENAMED.iter().find(|(old, ..)| flag == Some(*old));
        let Some((old, new, key)) = renamed else { continue };
        let value = if SWITCHES.contains(key) { "true" } else { "VALUE" };
        let key = if key.is_empty() { String::new() } else { format!("{key}=") };
        return Err(Error::custom(format!("--{old} is now --{new} {key}{value}")));
    }
    Ok(text)
}

impl CiTable {
    /// Returns the parsed gates. The error names the invalid gate.
    pub fn gates(&self) -> Result<Vec<Gate>, String> {
        let mut gates: Vec<Gate> = Vec::new();
        for (index, table) in self.gate.iter().enumerate() {
            let place = |reason: String| format!("[[ci.gate]] number {}: {reason}", index + 1);
            let gate = table.gate().map_err(place)?;
            if gates.iter().any(|other| other.name == gate.name) {
                let reason = format!("two gates are named '{}'; rename one", gate.name);
                return Err(place(reason));
            }
            gates.push(gate);
        }
        Ok(gates)
    }
}

impl GateTable {
    fn gate(&self) -> Result<Gate, String> {
        let kind = GateKind::configurable().find(|kind| kind.to_string() == self.kind);
        let kind = kind.ok_or_else(|| {
            let all: Vec<String> = GateKind::configurable().map(|kind| kind.to_string()).collect();
            format!("kind '{}' is not one of {}", self.kind, all.join(", "))
        })?;
        let args = shell_words::split(&self.args)
            .map_err(|_| format!("args = \"{}\" has unbalanced quotes", self.args))?;
        let budget = self.budget.map(|seconds| parse_seconds(&seconds.to_string()));
        let is_lenient = match self.inconclusive.as_deref() {
            None | Some("pass") => true,
            Some("fail") => false,
            Some(other) => {
                return Err(format!("inconclusive = \"{other}\" is neither pass nor fail"));
            }
        };
        let empty = |arg: &&String| ["--dry-run", "--help", "-h"].contains(&arg.as_str());
        if let Some(arg) = args.iter().find(empty) {
            return Err(format!("with {arg}, the gate would pass without a test"));
        }
        if kind == GateKind::Bench && !args.is_empty() {
            return Err("a bench takes no args; set bench in [build]".to_owned());
        }
        if kind != GateKind::Lint && !self.ignore.is_empty() {
            return Err(format!("ignore is only for a lint, not for a {kind}"));
        }
        let name = self.name.clone().unwrap_or_else(|| self.kind.clone());
        if !arbiter_names::is_name(&name) {
            return Err(format!(
                "invalid name {name:?}; give one line of at most {MAX_NAME} characters"
            ));
        }
        let rules = self.ignore.iter().map(|rule| rule.parse());
        Ok(Gate {
            name,
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

    fn gates(text: &str) -> Result<Vec<Gate>, String> {
        let table: CiTable = toml::from_str(text).map_err(|error| error.to_string())?;
        table.gates()
    }

    #[test]
    fn gates_are_read_in_order() {
        let text = "[[gate]]\nkind = 'perft'\nargs = \"--suite 'a b.epd'\"\nstop = false\n\
                    [[gate]]\nkind = 'sprt'\nname = 'quick'\nbudget = 90\nchanged = ['src']\n\
                    inconclusive = 'fail'\n";
        let gates = gates(text).unwrap();
        assert_eq!((gates[0].name.as_str(), gates[0].stops), ("perft", false));
        assert_eq!(gates[0].args, ["--suite", "a b.epd"]);
        assert_eq!(gates[1].name, "quick");
        assert_eq!(gates[1].budget.unwrap().as_secs(), 90);
        assert!(!gates[1].is_lenient && gates[1].stops);
    }

    #[test]
    fn invalid_gates_are_rejected_with_a_reason() {
        let check = |text: &str, part: &str| {
            let error = gates(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check("[[gate]]\nkind = 'dance'", "number 1: kind 'dance' is not one of check, bench");
        check("[[gate]]\nkind = 'epd'\n[[gate]]\nkind = 'epd'", "number 2: two gates");
        for name in ["", "a\\nb", "\\u001b[1m", "\\u202E"] {
            check(&format!("[[gate]]\nkind = 'epd'\nname = \"{name}\""), "number 1: invalid name");
        }
        check("[[gate]]\nkind = 'epd'\nargs = '\"'", "quotes");
        check(
            "[[gate]]\nkind = 'sprt'\nargs = '--strict-book'",
            "--strict-book is now --openings strict=true",
        );
        check("[[gate]]\nkind = 'sprt'\nargs = '--test=x'", "--test is now --dev VALUE");
        for flag in ["--dry-run", "-h"] {
            check(&format!("[[gate]]\nkind = 'sprt'\nargs = '{flag}'"), "without a test");
        }
        check("[[gate]]\nkind = 'sprt'\nbudget = 0", "budget");
        check("[[gate]]\nkind = 'sprt'\ninconclusive = 'maybe'", "neither");
        check("[[gate]]\nkind = 'bench'\nargs = 'x'", "[build]");
        check(
            "[[gate]]\nkind = 'epd'\nignore = ['nodes']",
            "ignore is only for a lint, not for a epd",
        );
        check(
            "[[gate]]\nkind = 'lint'\nignore = ['mates']",
            "ignore: 'mates' is not one of illegal_pv",
        );
    }
}
