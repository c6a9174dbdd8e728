//! Resolution of an engine's specification.

use std::path::PathBuf;
use std::time::Duration;

use crate::{BUNDLED, Engine, EngineSpec, LaunchSettings, option_file, program};
use arbiter_protocol::{Conditions, Limits, Protocol};

/// Default time margin, larger than the usual delays of pipes and the scheduler.
pub const DEFAULT_MARGIN: Duration = Duration::from_millis(10);

/// Default time control of engines without a limit.
pub const DEFAULT_TC: &str = "8+0.08";

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
