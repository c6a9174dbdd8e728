//! Engine as typed by the user: `stockfish,option.Hash=64,tc=8+0.08`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::option_file::{escaped, named_file};
use crate::{BUNDLED, Provenance, SandboxMode};
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
    /// Provenance of the program; `None` before the program is built.
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
    /// Lines that are sent to the engine after the options.
    pub init: Vec<String>,
    /// Lifetime of the engine process.
    pub restart: Option<Restart>,
    /// `true` if the engine ponders.
    pub ponder: Option<bool>,
    /// `true` if the engine reports scores from White's point of view.
    pub white_pov: Option<bool>,
    /// File for the engine's standard error.
    pub stderr: Option<PathBuf>,
    /// Maximum address space of each process, in MiB.
    pub memory_mib: Option<u64>,
    /// Sandbox of the engine.
    pub sandbox: Option<SandboxMode>,
}

impl EngineSpec {
    /// Resolves relative paths, including the path of a program, against `folder`.
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
        let path = self.engine.take_if(|name| is_relative_path(name));
        self.cmd = self.cmd.or(path).map(|cmd| {
            if cmd.contains('/') { folder.join(&cmd).to_string_lossy().into_owned() } else { cmd }
        });
        self
    }

    /// Sets an option to a literal value, even if the value begins with `@`.
    pub fn set_option_text(&mut self, name: &str, value: &str) {
        self.set_option(name, &escaped(value));
    }

    /// Returns the default name of an engine: the evaluation of the bundled engine, the file name
    /// of a program, or a number. The file names of the engine's option files are appended.
    pub(crate) fn default_name(&self, index: usize) -> String {
        let stem = |path: &str| {
            Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned())
        };
        let name = match self.cmd.as_deref().unwrap_or_default() {
            BUNDLED => Some(self.eval.clone().unwrap_or("palimpsest".to_owned())),
            cmd => stem(cmd),
        };
        let name = name.unwrap_or_else(|| format!("engine {}", index + 1));
        // Two engines may differ only in an option file, such as a network.
        let files = self.options.iter().filter_map(|(_, value)| stem(named_file(value)?));
        std::iter::once(name).chain(files).collect::<Vec<_>>().join("-")
    }

    pub(crate) fn set_option(&mut self, name: &str, value: &str) {
        // Later settings replace earlier settings, as for every other key.
        self.options.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
        self.options.push((name.to_owned(), value.to_owned()));
    }

    /// Fills unset settings from `each`. Limits are one setting: an engine with any limit takes no
    /// limit from `each`.
    pub fn or(mut self, each: &EngineSpec) -> EngineSpec {
        let options = std::mem::replace(&mut self.options, each.options.clone());
        for (name, value) in options {
            self.set_option(&name, &value);
        }
        let has_limits = !self.limits.is_empty() || self.no_clock;
        let has_program = self.cmd.is_some();
        let is_built = self.rev.is_some();
        EngineSpec {
            engine: self.engine,
            name: self.name.or_else(|| each.name.clone()),
            // Program and revision exclude each other, so an engine with either setting ignores the
            // other setting in `--each`.
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

/// Returns whether a name is a relative path that begins with `./` or `../`.
pub fn is_relative_path(name: &str) -> bool {
    name.starts_with("./") || name.starts_with("../")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_can_have_no_clock() {
        let each = EngineSpec::parse("tc=8+0.08").unwrap();
        let merged = EngineSpec::parse("tc=inf").unwrap().or(&each);
        assert!(merged.no_clock && merged.limits.is_empty());
        let merged = EngineSpec::parse("cmd=x").unwrap().or(&EngineSpec::parse("tc=inf").unwrap());
        assert!(merged.no_clock);
    }

    #[test]
    fn each_fills_missing_engine_keys() {
        let each = EngineSpec::parse("nodes=100,option.Hash=1,option.Threads=1").unwrap();
        let merged = EngineSpec::parse("cmd=x,option.hash=8").unwrap().or(&each);
        assert_eq!(merged.limits.nodes, Some(100));
        assert_eq!(
            merged.options,
            [("Threads".to_owned(), "1".to_owned()), ("hash".to_owned(), "8".to_owned())]
        );
        // A limit of the engine is not combined with the limits of `--each`.
        let merged = EngineSpec::parse("cmd=x,depth=3").unwrap().or(&each);
        assert_eq!(merged.limits, Limits { depth: Some(3), ..Limits::default() });
    }
}
