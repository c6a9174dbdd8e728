//! Flags shared by all commands that play games, and the merging of these flags with
//! `arbiter.toml`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;
use log::LevelFilter;

use crate::project::{results_folder, settings};
use crate::requested_run::{RequestedRun, RunArgs};
use crate::{engine_builds::engine_spec, failure::Failure};
use arbiter_plan::{ENGINE_KEYS, EngineSpec, SandboxMode};
use arbiter_report::note;
use arbiter_schedule::Format;
use arbiter_settings::{SANDBOXES, Settings, TestSettings, merged, one_of};

/// Maximum number of threads of a computation.
const MAX_THREADS: usize = 64;

/// Flags of every command that plays games.
#[derive(Debug, Args)]
pub(crate) struct PlayArgs {
    /// Engines, as described below; figures are from the first engine's point of view
    #[arg(help_heading = None::<&str>, value_name = "ENGINE", conflicts_with_all = ["dev", "base"])]
    pub engines: Vec<String>,
    /// Additional engine, after the engines given as arguments; may be repeated
    #[arg(help_heading = "Engines", help = engine_help(), long, value_name = "SPEC",
        conflicts_with_all = ["dev", "base"])]
    pub engine: Vec<String>,
    /// Default settings of all engines, with the keys of --engine
    #[arg(help_heading = "Engines", long, value_name = "SPEC")]
    each: Option<String>,
    /// Sandbox for engines on this machine: an engine can write only to a separate empty home
    /// folder, which is also its working folder unless dir= is given. An engine can read only the
    /// system's programs and libraries, the folder of its program, the folder given with dir=, and
    /// files whose absolute paths are in its options, and cannot access the network or other
    /// processes. The build of a revision can also use the revision's checkout, the toolchains and,
    /// with network = true in [build], the network [default: off]
    #[arg(help_heading = "Engines", long, value_parser = one_of(SANDBOXES))]
    sandbox: Option<SandboxMode>,
    /// Settings file [default: nearest arbiter.toml from this folder up to the repository root]
    #[arg(help_heading = "Run", long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    flags: RunArgs,
}

/// Returns the names of the flags on the command line. Fails if an argument is not UTF-8, because
/// the command line is stored as text.
fn given_flags() -> Result<BTreeSet<String>, Failure> {
    let mut flags = BTreeSet::new();
    for word in std::env::args_os() {
        let flag = word.to_str().ok_or_else(|| Failure::usage(not_utf8(&word)))?.strip_prefix("--");
        flags.extend(flag.and_then(|flag| flag.split('=').next()).map(str::to_owned));
    }
    flags.remove("");
    Ok(flags)
}

/// Returns the error message for an argument that is not UTF-8.
pub(crate) fn not_utf8(word: &OsStr) -> String {
    format!("{} is not UTF-8; rename the file or link to it", word.display())
}

/// Returns the requested number of threads, by default one per processor, but at most
/// [`MAX_THREADS`].
pub(crate) fn threads(requested: Option<usize>) -> Result<usize, String> {
    match requested {
        Some(threads @ 1..=MAX_THREADS) => Ok(threads),
        Some(threads) => Err(format!("expected --threads from 1 to {MAX_THREADS}, got {threads}")),
        None => {
            let cores = std::thread::available_parallelism().map_or(1, Into::into);
            Ok(cores.min(MAX_THREADS))
        }
    }
}

/// Returns the help of `--engine`.
fn engine_help() -> String {
    let keys: Vec<String> = ENGINE_KEYS.iter().map(ToString::to_string).collect();
    format!(
        "Additional engine, after the engines given as arguments: comma-separated KEY=VALUE with \
         the keys {}. Double quotes protect commas and spaces. Repeat for each engine",
        keys.join(", ")
    )
}

impl PlayArgs {
    /// Returns whether the flags request the resumption of a run.
    pub(crate) fn is_resuming(&self) -> bool {
        self.flags.resume.is_some()
    }

    /// Merges the flags with the settings file; flags take precedence. `bounds` are the bounds of
    /// the SPRT, if the command plays an SPRT.
    pub(crate) fn resolve(mut self, bounds: Option<TestSettings>) -> Result<RequestedRun, Failure> {
        if self.flags.verbose {
            log::set_max_level(LevelFilter::Debug);
        }
        let found = self.file()?;
        let settings_files = found.file().map(Path::to_owned).into_iter().collect();
        let named = self.settings.results.clone();
        let results = results_folder(named, self.config.as_deref(), &found)?;
        let is_new = !self.is_resuming();
        if is_new && found.file().is_some() {
            note(&format!("settings of {}", found.name()));
        }
        // The settings of a resumed run come from the store, even if the settings file has changed.
        let file = if is_new { found } else { Settings::default() };
        let (engines, each) = self.engines(&file)?;
        let concurrency = self.settings.concurrency;
        let pgn = merged(self.settings.pgn.clone()).file;
        let affinity = self.settings.affinity.clone();
        let mut given = given_flags()?;
        given.extend((!self.engines.is_empty()).then(|| "engine".to_owned()));
        given.extend(self.settings.given_keys());
        // A resumed run may write to a different file, but must write the same contents.
        given.remove("pgn file");
        let has_pgn_keys = given.iter().any(|key| key.starts_with("pgn "));
        if !has_pgn_keys {
            given.remove("pgn");
        }
        let mut settings = self.settings.over(file);
        // For a resumed run, the store contains the path of the PGN file.
        let needs_file = has_pgn_keys && is_new;
        if needs_file && merged(settings.pgn.clone()).file.is_none() {
            let message = "pgn: give the file of the games: --pgn FILE, or file in [pgn]";
            return Err(Failure::invalid(message));
        }
        (settings.engines, settings.each) = (engines, each);
        if self.flags.resume_or_start {
            self.flags.resume.clone_from(&self.flags.name);
        }
        settings.sprt = bounds.map(|bounds| bounds.or(settings.sprt)).unwrap_or_default();
        Ok(RequestedRun {
            results,
            flags: self.flags,
            given,
            reference_nps: settings.scale,
            request: settings.request().map_err(Failure::invalid)?,
            settings_files,
            config: self.config,
            concurrency,
            pgn,
            affinity,
            ..RequestedRun::default()
        })
    }

    /// Returns the engines from the flags, or else from the file, and the settings for all engines.
    fn engines(&self, file: &Settings) -> Result<(Vec<EngineSpec>, EngineSpec), Failure> {
        let named = self.engines.iter().map(|text| engine_spec("engine", text));
        let specs = named.chain(self.engine.iter().map(|text| engine_spec("--engine", text)));
        let specs = specs.collect::<Result<Vec<_>, _>>()?;
        self.check_no_format()?;
        let specs = if specs.is_empty() { file.engines.clone() } else { specs };
        let specs = specs.into_iter().map(|spec| self.flags.build.look_up(spec));
        let specs = specs.collect::<Result<_, Failure>>()?;
        let mut each = file.each.clone();
        if let Some(text) = &self.each {
            let given = engine_spec("--each", text)?;
            if let Some(word) = &given.engine {
                let expected = "expected KEY=VALUE, such as tc=8+0.08";
                return Err(Failure::invalid(format!("--each '{word}': {expected}")));
            }
            each = given.or(&each);
        }
        each.sandbox = self.sandbox.or(each.sandbox);
        Ok((specs, each))
    }

    /// Fails if the name of an engine is the name of a tournament format.
    fn check_no_format(&self) -> Result<(), Failure> {
        let is_format = |word: &&String| word.parse::<Format>().is_ok();
        let Some(format) = self.engines.iter().find(is_format) else { return Ok(()) };
        let others = self.engines.iter().filter(|word| !is_format(word));
        let right = shell_words::join(
            ["arbiter", "tournament", format].into_iter().chain(others.map(String::as_str)),
        );
        let message = format!("'{format}' is a tournament format, not an engine; try `{right}`");
        Err(Failure::usage(message))
    }

    /// Reads the settings file; returns empty settings if there is no file.
    pub(crate) fn file(&self) -> Result<Settings, Failure> {
        settings(self.config.as_deref()).map(Option::unwrap_or_default)
    }
}
