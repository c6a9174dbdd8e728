//! One engine as the user typed it: `name=A,cmd=stockfish,option.Hash=64,tc=8+0.08`.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::clock::{Limits, TimeError, parse_seconds};

/// What can be said of an engine; everything may be left open and come from `--each`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EngineSpec {
    /// Name in reports; must be unique in the run.
    pub name: Option<String>,
    /// The program, or `bundled`.
    pub cmd: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory.
    pub dir: Option<PathBuf>,
    /// Shorthand for the option `Eval` of the bundled engine.
    pub eval: Option<String>,
    /// UCI options in the order given.
    pub options: Vec<(String, String)>,
    /// What bounds its thinking.
    pub limits: Limits,
    /// Overrun that is forgiven.
    pub margin: Option<Duration>,
}

/// The keys of a spec, as shown in errors and help.
pub const KEYS: &str = "name, cmd, args, dir, eval, option.NAME, tc, st, nodes, depth, timemargin";

/// What is wrong with a spec.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecError {
    /// A field is not `key=value`.
    #[error("'{0}' is not KEY=VALUE")]
    NotAField(String),
    /// A key is not known.
    #[error("unknown key '{0}'; the keys are {KEYS}")]
    UnknownKey(String),
    /// A quotation mark is never closed.
    #[error("a quotation mark is never closed")]
    OpenQuote,
    /// A number is malformed or not positive.
    #[error("{key}={value} is not a positive whole number")]
    Number {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A time is malformed.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// The arguments' quotation is broken.
    #[error("args={0} has unbalanced quotes")]
    Args(String),
}

impl EngineSpec {
    /// Reads comma separated `key=value` fields. Double quotes keep commas and spaces together.
    pub fn parse(text: &str) -> Result<EngineSpec, SpecError> {
        let mut spec = EngineSpec::default();
        for field in split_fields(text)? {
            let (key, value) =
                field.split_once('=').ok_or_else(|| SpecError::NotAField(field.clone()))?;
            spec.set(key.trim(), value)?;
        }
        Ok(spec)
    }

    /// Sets one field; the only place that knows the keys, for flags and files alike.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        match key {
            "name" => self.name = Some(value.to_owned()),
            "cmd" => self.cmd = Some(value.to_owned()),
            "args" => {
                self.args =
                    shell_words::split(value).map_err(|_| SpecError::Args(value.to_owned()))?;
            }
            "dir" => self.dir = Some(PathBuf::from(value)),
            "eval" => self.eval = Some(value.to_owned()),
            "tc" => self.limits.clock = Some(value.parse()?),
            "st" => self.limits.movetime = Some(parse_seconds(value)?),
            "nodes" => self.limits.nodes = Some(positive(key, value)?),
            "depth" => {
                let fail = || SpecError::Number { key: key.into(), value: value.into() };
                let depth = positive(key, value)?;
                self.limits.depth = Some(u32::try_from(depth).map_err(|_| fail())?);
            }
            "timemargin" => self.margin = Some(Duration::from_millis(whole(key, value)?)),
            _ => match key.strip_prefix("option.") {
                Some(name) if !name.is_empty() => self.set_option(name, value),
                _ => return Err(SpecError::UnknownKey(key.to_owned())),
            },
        }
        Ok(())
    }

    fn set_option(&mut self, name: &str, value: &str) {
        // Later settings replace earlier ones, as for every other key.
        self.options.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
        self.options.push((name.to_owned(), value.to_owned()));
    }

    /// Fills everything left open from `each`. Limits go together: an engine with a limit of its
    /// own takes none from `each`.
    pub fn or(mut self, each: &EngineSpec) -> EngineSpec {
        let own = std::mem::replace(&mut self.options, each.options.clone());
        for (name, value) in own {
            self.set_option(&name, &value);
        }
        EngineSpec {
            name: self.name.or_else(|| each.name.clone()),
            cmd: self.cmd.or_else(|| each.cmd.clone()),
            args: if self.args.is_empty() { each.args.clone() } else { self.args },
            dir: self.dir.or_else(|| each.dir.clone()),
            eval: self.eval.or_else(|| each.eval.clone()),
            options: self.options,
            limits: if self.limits.is_empty() { each.limits } else { self.limits },
            margin: self.margin.or(each.margin),
        }
    }
}

fn whole(key: &str, value: &str) -> Result<u64, SpecError> {
    let fail = || SpecError::Number { key: key.to_owned(), value: value.to_owned() };
    value.parse().map_err(|_| fail())
}

fn positive(key: &str, value: &str) -> Result<u64, SpecError> {
    match whole(key, value)? {
        0 => Err(SpecError::Number { key: key.to_owned(), value: value.to_owned() }),
        number => Ok(number),
    }
}

/// Splits at commas outside double quotes and drops the quotes. No CSV reader does this: they
/// know quotes only around a whole field, and ours stand behind the `=`.
fn split_fields(text: &str) -> Result<Vec<String>, SpecError> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("the list starts with one field").push(c),
        }
    }
    if quoted {
        return Err(SpecError::OpenQuote);
    }
    fields.retain(|field| !field.trim().is_empty());
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_spec() {
        let text = r#"name=A,cmd=./a b,args="--x 'p q' --y",option.Hash=64,option.Path="a,b",tc=8+0.08,timemargin=20"#;
        let spec = EngineSpec::parse(text).unwrap();
        assert_eq!(spec.name.as_deref(), Some("A"));
        assert_eq!(spec.cmd.as_deref(), Some("./a b"));
        assert_eq!(spec.args, ["--x", "p q", "--y"]);
        assert_eq!(
            spec.options,
            [("Hash".to_owned(), "64".to_owned()), ("Path".to_owned(), "a,b".to_owned())]
        );
        assert_eq!(spec.limits.clock, Some("8+0.08".parse().unwrap()));
        assert_eq!(spec.margin, Some(Duration::from_millis(20)));
    }

    #[test]
    fn errors_say_what_was_wrong() {
        let check = |text: &str, expect: &str| {
            assert_eq!(EngineSpec::parse(text).unwrap_err().to_string(), expect);
        };
        check("stockfish", "'stockfish' is not KEY=VALUE");
        check("nodes=0", "nodes=0 is not a positive whole number");
        check("nodes=-5", "nodes=-5 is not a positive whole number");
        check("depth=99999999999", "depth=99999999999 is not a positive whole number");
        check("name=\"x", "a quotation mark is never closed");
        check("st=fast", "'fast' is not a time in seconds between 0.001 and 10000000");
        assert!(
            EngineSpec::parse("tc=8+").unwrap_err().to_string().starts_with("time control '8+'")
        );
        assert!(EngineSpec::parse("colour=red").unwrap_err().to_string().contains("timemargin"));
    }

    #[test]
    fn each_fills_what_is_open() {
        let each = EngineSpec::parse("nodes=100,option.Hash=1,option.Threads=1").unwrap();
        let own = EngineSpec::parse("cmd=x,option.hash=8").unwrap().or(&each);
        assert_eq!(own.limits.nodes, Some(100));
        assert_eq!(
            own.options,
            [("Threads".to_owned(), "1".to_owned()), ("hash".to_owned(), "8".to_owned())]
        );
        // A limit of one's own is not mixed with the common one.
        let own = EngineSpec::parse("cmd=x,depth=3").unwrap().or(&each);
        assert_eq!(own.limits, Limits { depth: Some(3), ..Limits::default() });
    }
}
