//! Specification of an engine as typed by the user, such as `stockfish,option.Hash=64,tc=8+0.08`,
//! and the resolution of a specification to an [`Engine`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::option_file::named_file;
use crate::{BUNDLED, Engine, LaunchSettings, Provenance, SandboxMode, option_file, program};
use arbiter_protocol::{Conditions, Limits, Protocol, Restart};

/// Default time margin, larger than the usual delays of pipes and the scheduler.
pub const DEFAULT_MARGIN: Duration = Duration::from_millis(10);

/// Default time control of engines without a limit.
pub const DEFAULT_TC: &str = "8+0.08";

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
        // A leading `@@` stands for `@`.
        let escape = if value.starts_with('@') { "@" } else { "" };
        self.set_option(name, &format!("{escape}{value}"));
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
            name: self.name.or_else(|| each.name.clone()),
            // Program and revision exclude each other, so an engine with either setting ignores the
            // other setting in `--each`.
            cmd: self.cmd.or_else(|| each.cmd.clone().filter(|_| !is_built)),
            rev: self.rev.or_else(|| each.rev.clone().filter(|_| !has_program)),
            repo: self.repo.or_else(|| each.repo.clone()),
            args: if self.args.is_empty() { each.args.clone() } else { self.args },
            dir: self.dir.or_else(|| each.dir.clone()),
            eval: self.eval.or_else(|| each.eval.clone()),
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
            ..self
        }
    }
}

/// Returns whether a name is a relative path that begins with `./` or `../`.
pub fn is_relative_path(name: &str) -> bool {
    name.starts_with("./") || name.starts_with("../")
}

/// Resolves one engine; `index`, from 0, is used for a default name. Fails if the program or an
/// option file cannot be found, or if settings contradict each other.
pub fn resolve_engine(index: usize, mut spec: EngineSpec) -> Result<Engine, String> {
    let name = spec.name.take().unwrap_or_else(|| spec.default_name(index));
    let fail = |reason: &str| format!("engine '{name}'{reason}");
    let is_bad = |s: &String| s.trim().is_empty() || s.chars().any(arbiter_names::is_hidden);
    if !arbiter_names::is_name(&name) {
        return Err(format!(
            "invalid engine name '{}': it must not be empty, contain control characters or have \
             more than {} characters",
            name.escape_debug(),
            arbiter_names::MAX_NAME
        ));
    }
    if spec.options.iter().any(|(option, _)| option.eq_ignore_ascii_case("UCI_Chess960")) {
        return Err(fail(": arbiter sets UCI_Chess960 for each game, as the opening requires"));
    }
    if spec.rev.is_some() && spec.provenance.is_none() && spec.cmd.is_some() {
        return Err(fail(" has both cmd= and rev=; give one of them"));
    }
    for (option, value) in &mut spec.options {
        *value = option_file::resolved(value)
            .map_err(|reason| fail(&format!(": option {option}: {reason}")))?;
    }
    let cmd = spec.cmd.clone().ok_or_else(|| {
        fail(
            " has no program: name the program first, as in stockfish,tc=1+0.01; use --each for \
             all engines",
        )
    })?;
    let program = if cmd == BUNDLED {
        if let Some(eval) = spec.eval.take() {
            // The evaluation must be the first option, because `engine_keys` reads the evaluation
            // there.
            spec.options.insert(0, ("Eval".to_owned(), eval));
        }
        None
    } else if spec.eval.is_some() {
        return Err(fail(": eval= is only for cmd=bundled; use option.NAME= for other engines"));
    } else {
        let found = program::find_program(&cmd, spec.dir.as_deref());
        let found = found.map_err(|reason| fail(&format!(": {reason}")))?;
        // GNU Chess needs an argument for UCI. Arguments from the user are unchanged, because these
        // arguments may already contain `--uci`.
        let is_uci = spec.protocol != Some(Protocol::Xboard);
        if spec.args.is_empty() && is_uci && found.ends_with("gnuchess") {
            spec.args.push("--uci".to_owned());
        }
        Some(found)
    };
    if let Some(dir) = spec.dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(fail(&format!(": dir '{}' is not a folder", dir.display())));
    }
    let limits = resolve_limits(&spec).map_err(fail)?;
    let margin = spec.margin.unwrap_or(DEFAULT_MARGIN);
    if spec.init.iter().any(is_bad) {
        return Err(fail(": a line of init= is empty or contains control characters"));
    }
    // Each option is one line to the engine, so a line break would send a second command.
    let has_control = |text: &str| text.contains(char::is_control);
    if let Some((option, _)) =
        spec.options.iter().find(|(option, value)| has_control(option) || has_control(value))
    {
        return Err(fail(&format!(
            ": option {option:?} or its value contains a control character; write it on one line"
        )));
    }
    Ok(Engine {
        name,
        program,
        launch: launch_settings(&spec),
        args: spec.args,
        dir: spec.dir.map(absolute),
        options: spec.options,
        conditions: Conditions { limits, margin, white_pov: spec.white_pov.unwrap_or(false) },
        provenance: spec.provenance,
    })
}

/// Returns the launch settings in a specification, with defaults for unset settings.
fn launch_settings(spec: &EngineSpec) -> LaunchSettings {
    LaunchSettings {
        protocol: spec.protocol.unwrap_or_default(),
        init: spec.init.clone(),
        restart: spec.restart.unwrap_or_default(),
        ponder: spec.ponder.unwrap_or(false),
        stderr: spec.stderr.clone().map(absolute),
        memory_mib: spec.memory_mib,
        sandbox: spec.sandbox.unwrap_or_default(),
    }
}

fn resolve_limits(spec: &EngineSpec) -> Result<Limits, &'static str> {
    let mut limits = spec.limits;
    // `nodestime` only changes the unit of a clock and limits nothing by itself.
    let bare = Limits { nodestime: None, ..limits };
    if bare.is_empty() && spec.no_clock {
        return Err(": tc=inf requires another limit: give st, nodes or depth");
    }
    if bare.is_empty() {
        limits.clock = Some(DEFAULT_TC.parse().expect("a constant that parses"));
    }
    if limits.nodestime.is_some() && limits.clock.is_none() && limits.movetime.is_none() {
        return Err(": nodestime= requires a clock: give tc or st");
    }
    if spec.protocol == Some(Protocol::Xboard) {
        check_xboard(limits)?;
    }
    Ok(limits)
}

/// Returns an error if the xboard protocol cannot express the limits.
fn check_xboard(limits: Limits) -> Result<(), &'static str> {
    // The xboard command `st` accepts only whole seconds.
    let has_fraction = limits.movetime.is_some_and(|time| time.subsec_nanos() != 0);
    if limits.nodes.is_some() || limits.nodestime.is_some() || has_fraction {
        Err(": the xboard protocol supports only tc, st in whole seconds, and depth")
    } else {
        Ok(())
    }
}

impl Engine {
    /// Sets the engine's protocol to xboard. Fails if the xboard protocol cannot express the limits
    /// of the engine.
    pub fn set_xboard(&mut self) -> Result<(), String> {
        self.launch.protocol = Protocol::Xboard;
        check_xboard(self.conditions.limits)
            .map_err(|reason| format!("engine '{}'{reason}", self.name))
    }
}

/// Returns the absolute path, because a run may be resumed from another folder. Returns the path
/// unchanged if the working folder is unknown.
pub(crate) fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
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
