//! Sources of parameters: flags, files, `arbiter.toml`, and spin options of the engine.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::{
    engine_builds::setup, failure::Failure, output::print_result, requested_run::RequestedRun,
    run::make_engines, runtime::runtime, suite_run,
};
use arbiter_names::did_you_mean;
use arbiter_plan::{Engine, RunKind, resolve_engine};
use arbiter_process::read_text;
use arbiter_runner::spin_options;
use arbiter_settings::TuneTable;
use arbiter_spsa::{Parameter, table};

/// Spin options that a pattern with `*` does not match, because they are usually not tuned.
const USUAL: &str = "\
Hash, Threads, MultiPV, Move Overhead, MoveOverhead, Skill Level, UCI_Elo, Slow Mover, nodestime, \
SyzygyProbeDepth, SyzygyProbeLimit, Minimum Thinking Time";

/// Hint for an engine without suitable spin options.
const DECLARE: &str = "Many engines declare their parameters in a build for tuning only \
(Palimpsest: cargo build --release -p palimpsest --features tuning); in your own, print one line \
for each in reply to uci: option name razor_margin type spin default 240 min 80 max 720";

/// Parameters to tune.
#[derive(Debug, Args)]
pub(super) struct ParameterArgs {
    /// File with parameters, one per line
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// Parameter, as a line of --params; may be repeated
    #[arg(long, value_name = "LINE")]
    param: Vec<String>,
    /// Spin options to tune, separated by commas; a name may end with *
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "resume")]
    spins: Vec<String>,
}

impl ParameterArgs {
    /// Returns whether flags other than `--spins` define parameters.
    pub(super) fn is_given(&self) -> bool {
        self.params.is_some() || !self.param.is_empty()
    }

    /// Returns the parameters from the flags, or else from the settings file.
    pub(super) fn resolve(
        self,
        file: &TuneTable,
        file_name: &str,
        requested: &mut RequestedRun,
    ) -> Result<Vec<Parameter>, Failure> {
        requested.settings_files.extend(self.params.iter().chain(&file.params).cloned());
        let mut found = listed(self.params.as_deref(), &self.param)?;
        let mut spins = self.spins;
        if found.is_empty() && spins.is_empty() && self.params.is_none() {
            found = listed(file.params.as_deref(), &[])?;
            let more = file.parameters();
            found.extend(more.map_err(|error| Failure::invalid(format!("{file_name}: {error}")))?);
            spins.clone_from(&file.spins);
        }
        // A tuning run has one engine. If there are two engines, an error is reported later.
        if !spins.is_empty() && requested.request.engines.len() < 2 {
            make_engines(RunKind::Tune, requested)?;
            let request = &requested.request;
            if let [engine] = &request.engines[..] {
                let spec = engine.clone().or(&request.each);
                let engine = resolve_engine(0, spec).map_err(Failure::invalid)?;
                found.extend(declared(&engine, &spins)?);
            }
        }
        Ok(found)
    }
}

/// Parses the parameters in `file` and in `lines`.
pub(super) fn listed(file: Option<&Path>, lines: &[String]) -> Result<Vec<Parameter>, Failure> {
    let mut found = Vec::new();
    if let Some(path) = file {
        let wrong = |error: String| Failure::invalid(format!("{}: {error}", path.display()));
        let text = read_text(path);
        let text = text.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        found = table::read(&text).map_err(wrong)?;
    }
    for line in lines {
        let read = table::read_line(line);
        found.push(read.map_err(|error| Failure::invalid(format!("--param: {error}")))?);
    }
    Ok(found)
}

/// Returns the named spin options of an engine as parameters, in the order in which the engine
/// declares them.
fn declared(engine: &Engine, names: &[String]) -> Result<Vec<Parameter>, Failure> {
    let found = runtime()?.block_on(spin_options(&setup(engine)?))?;
    let known: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    if let Some(missing) = names.iter().find(|name| !known.iter().any(|own| fits(name, own))) {
        let hint = did_you_mean(missing, known.iter().copied());
        let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let kind = match missing.trim() {
            "*" => "spin option for a parameter of its play".to_owned(),
            name => format!("spin option '{name}'{hint}"),
        };
        let name = &engine.name;
        let message = format!("engine '{name}' has no {kind}; it has {has}. {DECLARE}");
        return Err(Failure::invalid(message));
    }
    let wanted = found.iter().filter(|(own, ..)| names.iter().any(|name| fits(name, own)));
    let parameters = wanted.map(|(name, default, min, max)| {
        let parameter = Parameter::from_spin(name, *default, *min, *max);
        parameter.check().map(|()| parameter)
    });
    parameters
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::invalid(format!("engine '{}': parameter {error}", engine.name)))
}

/// Returns whether `name`, which may end with `*`, matches an option, ignoring case.
fn fits(name: &str, option: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let option = option.to_ascii_lowercase();
    match name.strip_suffix('*') {
        Some(beginning) => {
            let is_usual = USUAL.split(", ").any(|usual| usual.eq_ignore_ascii_case(&option));
            option.starts_with(beginning) && !is_usual
        }
        None => option == name,
    }
}

/// Flags of `arbiter tune spins`.
#[derive(Debug, Args)]
pub(super) struct SpinsArgs {
    /// Engine, specified like ENGINE in `arbiter match -h`
    #[arg(value_name = "ENGINE")]
    engine: String,
    /// Options to print, separated by commas; a name may end with *
    #[arg(value_name = "NAMES", value_delimiter = ',', default_value = "*")]
    names: Vec<String>,
}

/// Prints spin options as a table of parameters.
pub(super) fn print(args: &SpinsArgs) -> Result<(), Failure> {
    let parameters = declared(&suite_run::engine(&args.engine)?, &args.names)?;
    let lines: Vec<String> = parameters.iter().map(|p| format!("{}\n", table::line(p))).collect();
    print_result(&lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_means_all_other_options_except_standard_ones() {
        assert!(fits("razor_*", "Razor_Depth") && !fits("razor_*", "null_depth"));
        assert!(fits("*", "null_depth") && !fits("*", "hash") && fits("hash", "Hash"));
        assert!(!fits("razor", "razor_depth"));
    }
}
