//! Keys of an engine in `--engine`, `--each` and the tables of `arbiter.toml`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::{BUNDLED, Engine, EngineSpec, Provenance, SandboxMode, field, fields, unexpanded_home};
use arbiter_names::did_you_mean;
use arbiter_protocol::{Protocol, Restart, parse_seconds};

/// Key of an engine in `--engine`, `--each` or `arbiter.toml`.
pub struct EngineKey {
    /// Name of the key.
    pub name: &'static str,
    /// Help text; may be empty.
    help: &'static str,
    /// `true` if the key sets a limit; several engines may have the same limit.
    is_limit: bool,
    /// Function that parses a value and sets the field; the second argument is the key.
    set: fn(&mut EngineSpec, &str, &str) -> Result<(), String>,
    /// Function that returns the key's value for an engine, if this value differs from the default
    /// and affects games.
    value: fn(&Engine) -> Option<String>,
}

/// Declares the keys in the order of the help. A declaration consists of the name, the help, a
/// statement that sets the value in `text`, and, after `=>`, the key's value for an engine.
macro_rules! keys {
    ($spec:ident, $key:ident, $text:ident, $engine:ident; $(
        $is_limit:literal => { $( $name:literal, $help:literal, $set:expr => $value:expr; )* }
    )*) => {
        /// All keys of engines, in the order of the help.
        #[expect(unused_variables, reason = "few keys need all")]
        pub const ENGINE_KEYS: &[EngineKey] = &[$( $( EngineKey {
            name: $name,
            help: $help,
            is_limit: $is_limit,
            set: |$spec, $key, $text| {
                $set;
                Ok(())
            },
            value: |$engine| $value.map(|value| value.to_string()),
        }, )* )*];
    };
}

keys! { spec, key, text, engine;
    false => {
        "engine", "a name to look up; engine= may be omitted at the start",
            spec.engine = Some(text.to_owned()) => None::<String>;
        "name", "in reports",
            spec.name = Some(text.to_owned()) => explicit_name(engine);
        "cmd", "a program, or \"bundled\"",
            spec.cmd = Some(text.to_owned()) => Some(program(engine)).filter(|_| built(engine).is_none());
        "rev", "a git revision to build, or \".\" for the working tree",
            spec.rev = Some(text.to_owned()) => built(engine).map(|built| &built.commit);
        "repo", "repository of the revision",
            spec.repo = Some(text.into()) => built(engine).map(|built| built.repo.display());
        "args", "",
            spec.args = shell_words::split(text).map_err(|_| format!("args={text}: unbalanced quotes"))?
            => (!engine.args.is_empty()).then(|| shell_words::join(&engine.args));
        "dir", "",
            spec.dir = Some(text.into()) => engine.dir.as_ref().map(|dir| dir.display());
        "eval", "bundled only",
            spec.eval = Some(text.to_owned()) => eval(engine);
        "proto", "uci or xboard",
            spec.protocol = Some(word(key, text)?) => unless(Protocol::default(), engine.launch.protocol);
        // Each option has a separate key, such as `option.Hash`, which `EngineSpec::set` reads. No
        // key has the name of this placeholder.
        "option.NAME", "",
            {} => None::<String>;
        "init", "lines to send after the options, separated by \"\\n\"",
            spec.init.extend(text.split("\\n").map(str::to_owned)) => unless(String::new(), engine.launch.init.join("\\n"));
        "restart", "on: a new process for each game; off: never; auto: if the engine needs one",
            spec.restart = Some(word(key, text)?) => unless(Restart::default(), engine.launch.restart);
        "ponder", "true: think on the opponent's time",
            spec.ponder = Some(truth(key, text)?) => unless(false, engine.launch.ponder);
        "whitepov", "true: scores are from White's point of view",
            spec.white_pov = Some(truth(key, text)?) => unless(false, engine.conditions.white_pov);
        // The file for standard error does not affect games, so reports omit this key.
        "stderr", "file for standard error",
            spec.stderr = Some(text.into()) => None::<String>;
        "memory", "maximum address space in MiB",
            spec.memory_mib = Some(positive(key, text)?) => engine.launch.memory_mib;
        "sandbox", "values as for --sandbox",
            spec.sandbox = Some(word(key, text)?) => unless(SandboxMode::default(), engine.launch.sandbox);
    }
    true => {
        "tc", "[MOVES/]SEC[+INC], several periods separated by \":\", hg/SEC for an hourglass, or inf",
            set_clock(spec, text)? => engine.conditions.limits.clock;
        "st", "seconds per move",
            spec.limits.movetime = Some(parse_seconds(text).map_err(|error| error.to_string())?)
            => engine.conditions.limits.movetime.map(|time| time.as_secs_f64());
        "nodes", "",
            spec.limits.nodes = Some(positive(key, text)?) => engine.conditions.limits.nodes;
        "depth", "",
            spec.limits.depth = Some(positive(key, text)?) => engine.conditions.limits.depth;
        "nodestime", "nodes that count as one millisecond",
            spec.limits.nodestime = Some(positive(key, text)?) => engine.conditions.limits.nodestime;
        "timemargin", "tolerated overrun, in ms",
            spec.margin = Some(millis(key, text)?)
            => Some(engine.conditions.margin.as_millis());
    }
}

/// Placeholder that stands for the keys of all options in the help.
const OPTION: &str = "option.NAME";

/// Key of the time margin.
const MARGIN: &str = "timemargin";

impl EngineSpec {
    /// Parses comma-separated `key=value` fields; the first field may be the value of `engine`
    /// without the key. Double quotes protect commas and spaces. Fails if a key is unknown or a
    /// value is invalid.
    pub fn parse(text: &str) -> Result<EngineSpec, String> {
        let mut spec = EngineSpec::default();
        for (key, value) in EngineSpec::fields(text)? {
            spec.set(&key, &value)?;
        }
        Ok(spec)
    }

    /// Splits the specification of an engine into keys and values. Accepts unknown keys.
    pub fn fields(text: &str) -> Result<Vec<(String, String)>, String> {
        let is_key = |key: &str| {
            key.starts_with("option.") || ENGINE_KEYS.iter().any(|known| known.name == key)
        };
        fields(text, "engine", &is_key)
    }

    /// Sets the field of a key from a flag or a file. Fails if the key is unknown or the value is
    /// invalid.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if let ("cmd" | "repo" | "dir" | "stderr", Some(reason)) = (key, unexpanded_home(value)) {
            return Err(format!("{key}={value}: {reason}"));
        }
        if let Some(name) = key.strip_prefix("option.").filter(|name| !name.is_empty()) {
            self.set_option(name, value);
            return Ok(());
        }
        if let Some(known) = ENGINE_KEYS.iter().find(|known| known.name == key) {
            return (known.set)(self, known.name, value);
        }
        let meant = match key {
            // These are key names of other programs. By similarity alone, `time` would suggest
            // `timemargin`.
            "time" | "timecontrol" => "tc",
            "movetime" => "st",
            key => key,
        };
        let names = ENGINE_KEYS.iter().map(|known| known.name);
        let mut hint = did_you_mean(meant, names.clone());
        if hint.is_empty() {
            hint = format!(" (for an option of the engine write option.{key})");
        }
        let names: Vec<&str> = names.collect();
        Err(format!("unknown key '{key}'{hint}; the keys are {}", names.join(", ")))
    }
}

impl EngineKey {
    /// Returns this key and the key's value for an engine as `KEY=VALUE`; an empty list if the
    /// value is the default. For the placeholder of options, returns one field per option.
    fn fields(&self, engine: &Engine) -> Vec<String> {
        if self.name != OPTION {
            return (self.value)(engine)
                .map(|value| field(self.name, &value))
                .into_iter()
                .collect();
        }
        // If the first option of the bundled engine is `Eval`, the key `eval` already contains the
        // value of this option.
        let others = engine.options.iter().skip(usize::from(eval(engine).is_some()));
        others.map(|(name, value)| field(&format!("option.{name}"), value)).collect()
    }
}

impl fmt::Display for EngineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.help {
            "" => f.write_str(self.name),
            help => write!(f, "{} ({help})", self.name),
        }
    }
}

/// Returns an engine as a value of `--engine`, without the file for standard error.
pub fn engine_text(engine: &Engine, with_limits: bool) -> String {
    text_of_keys(engine, |key| with_limits || !key.is_limit)
}

/// Returns the settings of an engine, except the program, as fields of `--engine`. The name is
/// included unless the program was built from a revision.
pub fn settings_text(engine: &Engine, with_limits: bool) -> String {
    text_of_keys(engine, |key| match key.name {
        "cmd" | "rev" | "repo" => false,
        "name" => engine.provenance.is_none(),
        _ => with_limits || !key.is_limit,
    })
}

/// Returns the search limits of an engine as a value of `--each`, without the time margin.
pub fn limits_text(engine: &Engine) -> String {
    text_of_keys(engine, |key| key.is_limit && key.name != MARGIN)
}

fn text_of_keys(engine: &Engine, is_wanted: impl Fn(&EngineKey) -> bool) -> String {
    let keys = ENGINE_KEYS.iter().filter(|key| is_wanted(key));
    keys.flat_map(|key| key.fields(engine)).collect::<Vec<_>>().join(",")
}

/// Returns the provenance of an engine whose program was built from a commit. A working tree with
/// changes cannot be checked out again, so a program built from the tree is identified by the
/// program's path in the build cache.
fn built(engine: &Engine) -> Option<&Provenance> {
    engine.provenance.as_ref().filter(|provenance| !provenance.is_dirty)
}

fn program(engine: &Engine) -> String {
    engine.program.as_ref().map_or(BUNDLED.to_owned(), |path| path.display().to_string())
}

/// Returns the evaluation that the bundled engine uses: the value of the engine's first option.
/// Returns `None` for any other engine.
fn eval(engine: &Engine) -> Option<&str> {
    let (name, value) = engine.options.first()?;
    (name == "Eval" && engine.program.is_none()).then_some(value.as_str())
}

/// Returns the name of the engine if the name differs from the default name. The name of an engine
/// built from a commit is always returned.
fn explicit_name(engine: &Engine) -> Option<String> {
    let typed = EngineSpec {
        cmd: Some(program(engine)),
        eval: eval(engine).map(str::to_owned),
        options: engine.options.clone(),
        ..EngineSpec::default()
    };
    let is_needed = built(engine).is_some() || typed.default_name(0) != engine.name;
    is_needed.then(|| engine.name.clone())
}

fn set_clock(spec: &mut EngineSpec, text: &str) -> Result<(), String> {
    // `inf` must also override a clock of `--each`; a missing clock would not.
    spec.no_clock = text == "inf";
    spec.limits.clock = if spec.no_clock { None } else { Some(text.parse()?) };
    Ok(())
}

/// Returns the value if it differs from the default `usual`.
pub fn unless<T: PartialEq>(usual: T, value: T) -> Option<T> {
    Some(value).filter(|value| *value != usual)
}

fn word<T: FromStr<Err = String>>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|error| format!("{key}: {error}"))
}

fn truth(key: &str, value: &str) -> Result<bool, String> {
    value.parse().map_err(|_| format!("{key}={value} is neither true nor false"))
}

/// Parses a positive integer within the range of the type.
fn positive<T: FromStr + PartialEq + Default>(key: &str, value: &str) -> Result<T, String> {
    let number: Option<T> = value.parse().ok();
    // No search is possible with 0 nodes or at depth 0, and no engine can run in 0 MiB.
    let number = number.filter(|number| *number != T::default());
    number.ok_or_else(|| format!("{key}={value} is not a positive whole number"))
}

fn millis(key: &str, value: &str) -> Result<Duration, String> {
    let number = value.parse().map(Duration::from_millis);
    number.map_err(|_| format!("{key}={value} is neither 0 nor a positive whole number"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_complete_spec_is_parsed() {
        let text = r#"name=A,cmd=./a b,args="--x 'p q' --y",option.Hash=64,option.Path="a,""b",tc=8+0.08,timemargin=20"#;
        let spec = EngineSpec::parse(text).unwrap();
        assert_eq!(spec.name.as_deref(), Some("A"));
        assert_eq!(spec.cmd.as_deref(), Some("./a b"));
        assert_eq!(spec.args, ["--x", "p q", "--y"]);
        assert_eq!(
            spec.options,
            [("Hash".to_owned(), "64".to_owned()), ("Path".to_owned(), "a,\"b".to_owned())]
        );
        assert_eq!(spec.limits.clock, Some("8+0.08".parse().unwrap()));
        assert_eq!(spec.margin, Some(Duration::from_millis(20)));
    }

    #[test]
    fn spec_errors_name_the_fault() {
        let check = |text: &str, expect: &str| {
            assert_eq!(EngineSpec::parse(text).unwrap_err().to_string(), expect);
        };
        check("stockfish tc=1", "missing comma before tc=; separate keys by commas");
        check("stockfish,fast", "'fast' is not KEY=VALUE");
        check("nodes=0", "nodes=0 is not a positive whole number");
        check("nodes=-5", "nodes=-5 is not a positive whole number");
        check("depth=99999999999", "depth=99999999999 is not a positive whole number");
        check("memory=lots", "memory=lots is not a positive whole number");
        check("timemargin=-5", "timemargin=-5 is neither 0 nor a positive whole number");
        check("proto=usb", "proto: 'usb' is not one of uci, xboard");
        check("restart=maybe", "restart: 'maybe' is not one of auto, on, off");
        check("ponder=yes", "ponder=yes is neither true nor false");
        check("name=\"x", "unclosed quotation mark");
        check("st=fast", "'fast' is not a time in seconds between 0.001 and 10000000");
        assert!(
            EngineSpec::parse("tc=8+").unwrap_err().to_string().starts_with("time control '8+'")
        );
        let time = EngineSpec::parse("time=1+0.01").unwrap_err();
        assert!(time.contains("'time' (did you mean 'tc'?)"), "{time}");
        assert!(EngineSpec::parse("colour=red").unwrap_err().to_string().contains("timemargin"));
    }

    #[test]
    fn engine_behaviour_keys_are_read() {
        let text = "proto=xboard,init=a b\\nc,init=d,restart=on,ponder=true,stderr=e.log,memory=64,\
                    sandbox=auto";
        let spec = EngineSpec::parse(text).unwrap();
        assert_eq!((spec.protocol, spec.restart), (Some(Protocol::Xboard), Some(Restart::On)));
        assert_eq!(spec.init, ["a b", "c", "d"]);
        assert_eq!((spec.ponder, spec.memory_mib), (Some(true), Some(64)));
        assert_eq!(spec.sandbox, Some(SandboxMode::Auto));
        assert_eq!(spec.stderr, Some(PathBuf::from("e.log")));
        let merged = EngineSpec::parse("restart=off").unwrap().or(&spec);
        assert_eq!((merged.restart, merged.ponder), (Some(Restart::Off), Some(true)));
        assert_eq!(merged.init, spec.init);
    }
}
