//! Execution of one gate. All gates except the bench run a subcommand of this program, so that
//! users can repeat a gate by hand.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::CiArgs;
use crate::build_args::BuildArgs;
use crate::engine_builds::{BuildContext, BuiltEngines, own_binary};
use crate::{exit_code::ExitCode, failure::Failure, runtime::run_program};
use arbiter_plan::{
    BUNDLED, EngineSpec, Gate, GateKind, GateOutcome, GateVerdict, Provenance, SandboxMode,
    gate_verdict, resolve_engine, settings_text,
};
use arbiter_process::{Completed, EndReason, Launch, Timeouts};
use arbiter_report::{gate_text, is_kept, note};
use arbiter_runner::{hash_file, unix_time_ms};
use arbiter_store::{Store, StoredGate};

/// Time limit of a gate without a budget, so that a hanging gate ends.
const LIMIT: Duration = Duration::from_secs(24 * 3600);

/// Default flags for the games of a lint. All transcripts are kept as evidence.
const LINT: [(&str, &str); 3] =
    [("--each", "nodes=10000"), ("--pairs", "20"), ("--transcripts", "all")];

/// Maximum time that a gate may continue after its budget to finish the games in progress.
const GRACE: Duration = Duration::from_secs(300);

/// Engine under test, or base.
#[derive(Debug, Clone)]
pub(super) struct Side {
    /// Name of the engine.
    pub(super) label: String,
    /// Value of `cmd=` for the engine.
    cmd: String,
    /// Settings of the engine, as fields of `--engine`; may be empty.
    settings: String,
    /// String that identifies the program, its build and its settings.
    identity: String,
    /// Provenance of the engine.
    provenance: Option<Provenance>,
}

/// Engines that the gates use.
#[derive(Debug)]
pub(super) struct GateEngines {
    /// Engine under test.
    pub(super) test: Side,
    /// Base, or the reason why no base is available (empty if no gate needs a base).
    pub(super) base: Result<Side, String>,
    /// Names of the gates that are skipped because none of their paths has changed.
    unchanged: Vec<String>,
}

impl GateEngines {
    /// Converts the built engines; `without` is the reason why there is no base.
    pub(super) fn new(
        prepared: BuiltEngines,
        without: String,
        unchanged: Vec<String>,
    ) -> Result<GateEngines, Failure> {
        let own_program = own_binary()?;
        let mut sides = Vec::new();
        for (index, spec) in prepared.engines.into_iter().enumerate() {
            let has_limits = !spec.limits.is_empty();
            let engine = resolve_engine(index, spec).map_err(Failure::invalid)?;
            let path = engine.program.as_ref();
            let cmd = path.map_or(BUNDLED.to_owned(), |path| path.display().to_string());
            let program = path.unwrap_or(&own_program);
            // The folder name of a build identifies all inputs of the build, whereas the bytes of
            // the program may differ between machines.
            let of_build = program.ancestors().nth(2).and_then(|folder| folder.file_name());
            let mut identity = match (&engine.provenance, of_build) {
                (Some(_), Some(folder)) => folder.to_string_lossy().into_owned(),
                _ => hash_file(program).map_err(Failure::environment)?,
            };
            let settings = settings_text(&engine, has_limits);
            identity.push_str(&settings);
            for (_, file) in engine.option_files() {
                identity.push_str(&hash_file(file).map_err(Failure::environment)?);
            }
            let provenance = engine.provenance;
            sides.push(Side { label: engine.name, cmd, settings, identity, provenance });
        }
        let mut sides = sides.into_iter();
        let test = sides.next().ok_or_else(|| Failure::invalid("no engine under test"))?;
        Ok(GateEngines { test, base: sides.next().ok_or(without), unchanged })
    }

    /// Returns the names of the engines, in one line.
    pub(super) fn describe(&self) -> String {
        let labels = [&self.test].into_iter().chain(&self.base).map(|side| side.label.as_str());
        labels.collect::<Vec<_>>().join(" and ")
    }
}

/// Runner of the gates.
pub(super) struct GateRunner<'a> {
    pub(super) sides: &'a GateEngines,
    pub(super) args: &'a CiArgs,
    pub(super) context: &'a BuildContext,
    pub(super) store: &'a Store,
    pub(super) results: &'a Path,
    /// Folder of the settings file. Gates run in this folder, so paths in the flags of gates are
    /// relative to this folder.
    pub(super) folder: &'a Path,
}

impl GateRunner<'_> {
    /// Runs a gate, or returns its cached result. After an error, no further gate runs.
    pub(super) fn pass(&self, gate: &Gate) -> Result<GateOutcome, Failure> {
        if let Some(reason) = self.reason_to_skip(gate) {
            note(&format!("{}: skipped, {reason}", gate.name));
            return Ok(outcome(&gate.name, gate.kind, GateVerdict::Skipped, reason));
        }
        let key = self.key(gate).map_err(Failure::environment)?;
        if !self.args.no_cache
            && let Some(known) = self.store.gate(&key)?
        {
            let outcome = GateOutcome { gate: gate.name.clone(), ..known.outcome };
            note(&format!("{}: {}, cached", gate.name, outcome.verdict));
            return Ok(outcome);
        }
        let created_ms = unix_time_ms();
        let outcome = match gate.kind {
            GateKind::Bench => self.bench(gate, created_ms)?,
            _ => self.subcommand(gate)?,
        };
        note(&format!("{}: {}, {}", gate.name, outcome.verdict, outcome.text));
        if is_kept(&outcome) {
            let name = |side: &Side| {
                side.provenance.as_ref().map_or(side.label.clone(), Provenance::identity)
            };
            let base = self.sides.base.as_ref().ok().filter(|_| gate.needs_base()).map(name);
            let test = name(&self.sides.test);
            let stored = StoredGate { created_ms, test, base, outcome: outcome.clone() };
            self.store.add_gate(&key, &stored)?;
        }
        Ok(outcome)
    }

    fn reason_to_skip(&self, gate: &Gate) -> Option<String> {
        if self.sides.unchanged.contains(&gate.name) {
            return Some(format!("no changes in {}", gate.changed.join(", ")));
        }
        match &self.sides.base {
            Err(reason) if gate.needs_base() && !reason.is_empty() => {
                Some(format!("no base: {reason}"))
            }
            _ => None,
        }
    }

    /// Returns a hash of everything that determines the result of a gate: engines, flags, and the
    /// files named in flags.
    fn key(&self, gate: &Gate) -> Result<String, String> {
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(concat!("arbiter gate 1 ", env!("CARGO_PKG_VERSION")));
        add(&gate.kind.to_string());
        add(&format!("{:?} {} {}", gate.budget, gate.is_lenient, self.context.copies));
        if self.args.sandbox != SandboxMode::Off {
            add(&self.args.sandbox.to_string());
        }
        add(&self.sides.test.identity);
        if let (Ok(base), true) = (&self.sides.base, gate.needs_base()) {
            add(&base.identity);
        }
        gate.ignored.iter().for_each(|rule| add(&format!("ignore {rule}")));
        for arg in &gate.args {
            add(arg);
            let value = arg.split_once('=').map_or(arg.as_str(), |(_, value)| value);
            let file = self.folder.join(value);
            if file.is_file() {
                add(&hash_file(&file)?);
            }
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Runs the bench of the engine under test, with one parallel run for each concurrent game.
    fn bench(&self, gate: &Gate, started: i64) -> Result<GateOutcome, Failure> {
        let build = BuildArgs { base: None, no_bench: false, ..self.args.build.clone() };
        let each = EngineSpec { sandbox: Some(self.args.sandbox), ..EngineSpec::default() };
        let context = BuildContext { each, ..self.context.clone() };
        let prepared = build.prepare(Vec::new(), context, None);
        let seconds = (unix_time_ms() - started) as f64 / 1e3;
        let found = prepared.and_then(|prepared| {
            let found = prepared.signatures.first().copied().flatten();
            found.ok_or_else(|| Failure::new(ExitCode::NoBench, "the engine has no bench"))
        });
        let outcome = match found {
            Ok(found) => {
                let figures = serde_json::json!({
                    "nodes": found.nodes, "nps": found.nps, "copies": self.context.copies,
                });
                let text = format!("{} nodes", found.nodes);
                let passed = outcome(&gate.name, gate.kind, GateVerdict::Passed, text);
                GateOutcome { figures, ..passed }
            }
            Err(failure) if failure.is_interruption() => return Err(failure),
            Err(Failure { code, message }) => {
                let verdict = match code {
                    ExitCode::BenchNondeterministic | ExitCode::BenchBroken => GateVerdict::Failed,
                    _ => GateVerdict::Broken,
                };
                let failed = outcome(&gate.name, gate.kind, verdict, message);
                GateOutcome { code: code as u8, ..failed }
            }
        };
        Ok(GateOutcome { seconds, ..outcome })
    }

    fn subcommand(&self, gate: &Gate) -> Result<GateOutcome, Failure> {
        let log = self.results.join(format!("ci-{}.log", gate.name.replace('/', "-")));
        // An old log of a gate with this name would be misleading.
        let _ = std::fs::remove_file(&log);
        note(&format!("{}: running, progress in {}", gate.name, log.display()));
        let launch = Launch {
            program: own_binary()?,
            args: self.gate_arguments(gate),
            stderr: Some(from_root(&log)),
            dir: Some(from_root(self.folder)),
            // A gate is this program, which needs the access to a NATS server for `--on`.
            environment: Some(std::env::vars_os().collect()),
            ..Launch::default()
        };
        let timeouts = Timeouts { limit: gate.budget.unwrap_or(LIMIT), grace: GRACE };
        Ok(outcome_of(gate, &run_program(launch, timeouts, "interrupted")?, &log))
    }

    /// Returns the command line of a gate. Commits are given by their full hashes, so that the run
    /// contains the provenance of its engines. A build of uncommitted files is given by the path of
    /// its program, because the files may have changed since the build.
    fn gate_arguments(&self, gate: &Gate) -> Vec<String> {
        let test = &self.sides.test;
        let base = self.sides.base.as_ref().ok().filter(|_| gate.needs_base_engine());
        let sides = std::iter::once(test).chain(base);
        let mut arguments = vec![match gate.kind {
            GateKind::Lint => "match".to_owned(),
            _ => gate.kind.to_string(),
        }];
        let mut flags: Vec<(&str, String)> = Vec::new();
        match gate.kind {
            GateKind::Sprt | GateKind::Speed => {
                let from = sides.clone().find_map(|side| side.provenance.as_ref());
                for (flag, side) in ["--dev", "--base"].into_iter().zip(sides) {
                    let clean = side.provenance.as_ref().filter(|from| !from.is_dirty);
                    let program = clean.map_or(&side.cmd, |from| &from.commit).clone();
                    flags.push((flag, with_fields(program, &side.settings)));
                }
                let (repo, cache) = (from.map(|from| &from.repo), self.args.build.cache.as_ref());
                let config = self.context.config.as_ref();
                let passed = self.args.build.pass_env.iter();
                flags.extend(passed.map(|name| ("--pass-env", name.clone())));
                flags.push(("--sandbox", self.args.sandbox.to_string()));
                for (flag, path) in [("--repo", repo), ("--cache", cache), ("--config", config)] {
                    flags.extend(path.map(|path| (flag, from_root(path).display().to_string())));
                }
            }
            // A lint plays the engine against itself.
            GateKind::Lint => {
                let other = Side { label: format!("{} again", test.label), ..test.clone() };
                flags.extend([test, &other].map(|side| ("--engine", self.spec(side))));
                for (flag, value) in LINT {
                    if !gate.args.iter().any(|arg| arg.starts_with(flag)) {
                        flags.push((flag, value.to_owned()));
                    }
                }
            }
            // `arbiter check` takes the engine as a positional argument.
            GateKind::Check => arguments.push(self.spec(test)),
            GateKind::Perft | GateKind::Epd => {
                flags.extend(sides.map(|side| ("--engine", self.spec(side))));
            }
            // A build and a bench are not subcommands.
            GateKind::Build | GateKind::Bench => {}
        }
        if matches!(gate.kind, GateKind::Sprt | GateKind::Lint) {
            flags.push(("--results", from_root(self.results).display().to_string()));
            let name = gate.name.replace([' ', '/'], "-");
            flags.push(("--name", format!("ci-{name}-{}", unix_time_ms())));
            if !gate.args.iter().any(|arg| arg.starts_with("--concurrency")) {
                flags.push(("--concurrency", self.context.copies.to_string()));
            }
        }
        flags.push(("--format", "json".to_owned()));
        arguments.extend(flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]));
        arguments.extend(gate.args.iter().cloned());
        arguments
    }

    /// Returns an engine as a value of `--engine`.
    fn spec(&self, side: &Side) -> String {
        let program = format!("cmd=\"{}\",sandbox={}", side.cmd, self.args.sandbox);
        with_fields(program, &side.settings) + &format!(",name=\"{}\"", side.label)
    }
}

/// Appends fields to an engine that is the value of a flag.
fn with_fields(engine: String, fields: &str) -> String {
    if fields.is_empty() { engine } else { format!("{engine},{fields}") }
}

/// Converts a path to an absolute path.
fn from_root(path: &Path) -> PathBuf {
    // `absolute` rejects the empty path, which stands for the current folder.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the result of a gate from its finished subcommand.
fn outcome_of(gate: &Gate, ended: &Completed, log: &Path) -> GateOutcome {
    let mut figures: Value = serde_json::from_str(&ended.lines.join("\n")).unwrap_or_default();
    let findings = figures.get_mut("lint").and_then(Value::as_array_mut);
    let has_findings = findings.is_some_and(|findings| {
        let ignored: Vec<String> = gate.ignored.iter().map(ToString::to_string).collect();
        findings.retain(|found| !ignored.iter().any(|rule| found["rule"] == **rule));
        gate.kind == GateKind::Lint && !findings.is_empty()
    });
    // The match exits with 0 even if the lint reports findings.
    let found = ended.code.map(|code| if has_findings && code == 0 { 1 } else { code });
    let verdict = gate_verdict(gate, found, ended.reason == EndReason::TimedOut);
    let error = ended.errors.iter().rev().find(|line| line.starts_with("error"));
    let mut text = match (verdict, error) {
        (GateVerdict::Broken, Some(error)) => error.trim_start_matches("error: ").to_owned(),
        (GateVerdict::Broken, None) => format!("ended with {}; see {}", ended.how, log.display()),
        _ => gate_text(gate.kind, &figures)
            .unwrap_or_else(|error| format!("unreadable report: {error}")),
    };
    if let (GateVerdict::Failed, GateKind::Epd, Some(reason)) =
        (verdict, gate.kind, ended.errors.last())
    {
        text += &format!("; {reason}");
    }
    let code = match verdict {
        // An undecided gate has the same exit code whether it exceeded its budget or played all its
        // games.
        GateVerdict::Undecided | GateVerdict::Unproven => Some(ExitCode::Inconclusive as i32),
        _ => found,
    };
    let fallback = ExitCode::Environment as u8;
    GateOutcome {
        code: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(fallback),
        seconds: ended.elapsed.as_secs_f64(),
        figures,
        ..outcome(&gate.name, gate.kind, verdict, text)
    }
}

/// Returns a gate result without figures and duration.
pub(super) fn outcome(
    gate: &str,
    kind: GateKind,
    verdict: GateVerdict,
    text: String,
) -> GateOutcome {
    GateOutcome {
        gate: gate.to_owned(),
        kind,
        verdict,
        text,
        code: 0,
        seconds: 0.0,
        figures: Value::Null,
        from_before: None,
    }
}
