//! Engine as typed by the user: `stockfish,option.Hash=64,tc=8+0.08`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::option_file::{escaped, named_file};
use crate::program::unexpanded_home;
use crate::{BUNDLED, ENGINE_KEYS, Provenance, SandboxMode};
use arbiter_names::did_you_mean;
use arbiter_protocol::{Limits, Protocol, Restart};

/// Requested settings of an engine; `--each` fills settings that are unset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EngineSpec {
    /// Name to look up: a registered engine, a revision or a program.
    pub engine: Option<String>,
    /// Name in reports; must be unique in the run.
    pub name: Option<String>,
    /// Program name or path, or `bundled`.
    pub cmd: Option<String>,
    /// Revision to build, instead of a program.
    pub rev: Option<String>,
    /// Repository of the revision.
    pub repo: Option<PathBuf>,
    /// Provenance of the program, after it has been built.
    pub provenance: Option<Provenance>,
    /// Command-line arguments.
    pub args: Vec<String>,
    /// Working directory.
    pub dir: Option<PathBuf>,
    /// Shorthand for the option `Eval` of the bundled engine.
    pub eval: Option<String>,
    /// UCI options in the order given.
    pub options: Vec<(String, String)>,
    /// Limits of the engine's searches.
    pub limits: Limits,
    /// `true` if the clock is explicitly off, so that the clock of `--each` does not apply.
    pub no_clock: bool,
    /// Time margin before a loss on time.
    pub margin: Option<Duration>,
    /// Protocol of the engine.
    pub protocol: Option<Protocol>,
    /// Lines that are sent to the engine after its options.
    pub init: Vec<String>,
    /// Lifetime of the engine process.
    pub restart: Option<Restart>,
    /// `true` if the engine ponders.
    pub ponder: Option<bool>,
    /// `true` if the engine reports scores from White's point of view.
    pub white_pov: Option<bool>,
    /// File for the engine's error output.
    pub stderr: Option<PathBuf>,
    /// Maximum address space of each process, in MiB.
    pub memory_mib: Option<u64>,
    /// Sandbox of the engine.
    pub sandbox: Option<SandboxMode>,
}

impl EngineSpec {
    /// Parses comma-separated `key=value` fields; the first field may be only the value of
    /// `engine`. Double quotes protect commas and spaces.
    pub fn parse(text: &str) -> Result<EngineSpec, String> {
        let mut spec = EngineSpec::default();
        for (key, value) in EngineSpec::fields(text)? {
            spec.set(&key, &value)?;
        }
        Ok(spec)
    }

    /// Returns the keys and values of the text of an engine; keys may be unknown.
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
            return known.set(self, value);
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

    /// Resolves relative paths, including the path of a program, from `folder`.
    pub fn seen_from(mut self, folder: &Path) -> EngineSpec {
        for place in [&mut self.dir, &mut self.stderr, &mut self.repo] {
            *place = place.take().map(|path| folder.join(path));
        }
        for (_, value) in &mut self.options {
            if let Some(path) = named_file(value) {
                *value = format!("@{}", folder.join(path).display());
            }
        }
        // A path is relative to the folder, but a name without a path is looked up as on the
        // command line.
        let is_path = |name: &mut String| name.starts_with("./") || name.starts_with("../");
        let path = self.engine.take_if(is_path);
        self.cmd = self.cmd.or(path).map(|cmd| {
            if cmd.contains('/') { folder.join(&cmd).to_string_lossy().into_owned() } else { cmd }
        });
        self
    }

    /// Sets an option to a literal text, even if the text begins with `@`.
    pub fn set_option_text(&mut self, name: &str, value: &str) {
        self.set_option(name, &escaped(value));
    }

    /// Returns the default name of an engine: the evaluation of the bundled engine, the file name
    /// of a program, or a number, followed by the file names of its options.
    pub(crate) fn default_name(&self, index: usize) -> String {
        let stem = |path: &str| {
            Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned())
        };
        let own = match (self.cmd.as_deref().unwrap_or_default(), &self.eval) {
            (BUNDLED, Some(eval)) => Some(eval.clone()),
            (BUNDLED, None) => Some("palimpsest".to_owned()),
            (cmd, _) => stem(cmd),
        };
        let own = own.unwrap_or_else(|| format!("engine {}", index + 1));
        // Two engines may differ only in an option file, such as a network.
        let files = self.options.iter().filter_map(|(_, value)| stem(named_file(value)?));
        std::iter::once(own).chain(files).collect::<Vec<_>>().join("-")
    }

    fn set_option(&mut self, name: &str, value: &str) {
        // Later settings replace earlier settings, as for every other key.
        self.options.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
        self.options.push((name.to_owned(), value.to_owned()));
    }

    /// Fills unset settings from `each`. Limits are one setting: an engine with any limit takes no
    /// limit from `each`.
    pub fn or(mut self, each: &EngineSpec) -> EngineSpec {
        let own = std::mem::replace(&mut self.options, each.options.clone());
        for (name, value) in own {
            self.set_option(&name, &value);
        }
        let has_limits = !self.limits.is_empty() || self.no_clock;
        let (has_program, is_built) = (self.cmd.is_some(), self.rev.is_some());
        EngineSpec {
            engine: self.engine,
            name: self.name.or_else(|| each.name.clone()),
            // Program and revision exclude each other, so either setting of the engine also
            // overrides the other setting of `--each`.
            cmd: self.cmd.or_else(|| each.cmd.clone().filter(|_| !is_built)),
            rev: self.rev.or_else(|| each.rev.clone().filter(|_| !has_program)),
            repo: self.repo.or_else(|| each.repo.clone()),
            provenance: self.provenance,
            args: if self.args.is_empty() { each.args.clone() } else { self.args },
            dir: self.dir.or_else(|| each.dir.clone()),
            eval: self.eval.or_else(|| each.eval.clone()),
            options: self.options,
            // Limits are replaced together: an engine with a depth must not also get the clock of
            // `--each`.
            limits: if has_limits { self.limits } else { each.limits },
            no_clock: if has_limits { self.no_clock } else { each.no_clock },
            margin: self.margin.or(each.margin),
            protocol: self.protocol.or(each.protocol),
            init: if self.init.is_empty() { each.init.clone() } else { self.init },
            restart: self.restart.or(each.restart),
            ponder: self.ponder.or(each.ponder),
            white_pov: self.white_pov.or(each.white_pov),
            stderr: self.stderr.or_else(|| each.stderr.clone()),
            memory_mib: self.memory_mib.or(each.memory_mib),
            sandbox: self.sandbox.or(each.sandbox),
        }
    }
}

/// Returns an error if the text after a space or semicolon in a field is another field.
fn check_comma(field: &str, rest: &str, is_key: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let own = field.split_once('=').map(|(key, _)| key.trim());
    // Names of options contain spaces, and arguments of programs may look like keys.
    let is_text = field.trim().is_empty()
        || (own.is_none() && field.trim_start().starts_with("option."))
        || matches!(own, Some("args" | "init" | "event" | "site" | "match"));
    let next = rest.trim_start().split_once('=').map(|(key, _)| key).filter(|key| is_key(key));
    match next.filter(|_| !is_text) {
        Some(key) => Err(format!("missing comma before {key}=; separate keys by commas")),
        None => Ok(()),
    }
}

/// Returns the keys and values of comma-separated `key=value` fields; the first field may be only
/// the value of the key `first`. Double quotes protect commas and spaces; two of them inside such
/// quotes are one. `is_key` finds keys before which a comma is missing.
pub fn fields(
    text: &str,
    first: &str,
    is_key: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, String)>, String> {
    let is_path = |key: &str| key.contains(['/', '\\']);
    let pair = |(index, field): (usize, String)| match field.split_once('=') {
        Some((key, value)) if index > 0 || !is_path(key) => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ if index == 0 => Ok((first.to_owned(), field)),
        // `tc=8+0,08` splits at its decimal comma, and the second part has digits only.
        _ if field.bytes().all(|b| b.is_ascii_digit() || b"+./:".contains(&b)) => {
            Err(format!("'{field}' is not KEY=VALUE; fractions have a point, as in tc=8+0.08"))
        }
        _ => Err(format!("'{field}' is not KEY=VALUE")),
    };
    split_fields(text, is_key)?.into_iter().enumerate().map(pair).collect()
}

/// Splits at commas outside double quotes and removes the quotes. CSV readers allow quotes only
/// around a complete field, but these quotes follow the `=`.
fn split_fields(text: &str, is_key: &dyn Fn(&str) -> bool) -> Result<Vec<String>, String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = text.char_indices().peekable();
    while let Some((place, c)) = chars.next() {
        let field = fields.last_mut().expect("the list starts with one field");
        match c {
            '"' if quoted && chars.next_if(|(_, next)| *next == '"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => {
                if !quoted && (c.is_whitespace() || c == ';') {
                    check_comma(field, &text[place + c.len_utf8()..], is_key)?;
                }
                field.push(c);
            }
        }
    }
    if quoted {
        return Err("unclosed quotation mark".to_owned());
    }
    // Superfluous commas, for example at the end, are allowed.
    fields.retain(|field| !field.trim().is_empty());
    Ok(fields)
}

#[cfg(test)]
mod tests {
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
        let own = EngineSpec::parse("restart=off").unwrap().or(&spec);
        assert_eq!((own.restart, own.ponder), (Some(Restart::Off), Some(true)));
        assert_eq!(own.init, spec.init);
    }

    #[test]
    fn an_engine_can_have_no_clock() {
        let each = EngineSpec::parse("tc=8+0.08").unwrap();
        let own = EngineSpec::parse("tc=inf").unwrap().or(&each);
        assert!(own.no_clock && own.limits.is_empty());
        let own = EngineSpec::parse("cmd=x").unwrap().or(&EngineSpec::parse("tc=inf").unwrap());
        assert!(own.no_clock);
    }

    #[test]
    fn each_fills_missing_engine_keys() {
        let each = EngineSpec::parse("nodes=100,option.Hash=1,option.Threads=1").unwrap();
        let own = EngineSpec::parse("cmd=x,option.hash=8").unwrap().or(&each);
        assert_eq!(own.limits.nodes, Some(100));
        assert_eq!(
            own.options,
            [("Threads".to_owned(), "1".to_owned()), ("hash".to_owned(), "8".to_owned())]
        );
        // A limit of the engine is not combined with the limits of `--each`.
        let own = EngineSpec::parse("cmd=x,depth=3").unwrap().or(&each);
        assert_eq!(own.limits, Limits { depth: Some(3), ..Limits::default() });
    }
}
