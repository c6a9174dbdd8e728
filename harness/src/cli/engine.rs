//! `arbiter engine`: the bundled engine. The only file that knows Palimpsest.

use clap::Args;
use palimpsest::eval::Variant;

use super::ExitCode;

/// Arguments for Palimpsest.
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// What `palimpsest` takes: nothing for UCI, or `bench`, `perft`, `eval`, `compare`, `--help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// An evaluation of the bundled engine.
#[derive(Debug)]
pub struct Evaluation {
    /// Its name, as the option `Eval` takes it.
    pub name: &'static str,
    /// The features that the option `Disable` switches off.
    pub features: Vec<&'static str>,
}

/// The evaluation of this name, or the default one. An error lists the names there are.
pub fn evaluation(name: Option<&str>) -> Result<Evaluation, String> {
    let variant = match name {
        None => Variant::default(),
        Some(name) => Variant::from_name(name).ok_or_else(|| {
            let known = Variant::ALL.map(Variant::name).join(", ");
            format!("the bundled engine has no evaluation '{name}'; it has {known}")
        })?,
    };
    let features = variant.features().into_iter().map(|feature| feature.name).collect();
    Ok(Evaluation { name: variant.name(), features })
}

/// Runs the engine in this process.
pub fn engine(args: EngineArgs) -> ExitCode {
    match palimpsest::run(args.args.into_iter()) {
        0 => ExitCode::Passed,
        1 => ExitCode::Negative,
        2 => ExitCode::Usage,
        3 => ExitCode::Invalid,
        7 => ExitCode::Environment,
        _ => ExitCode::Bug,
    }
}
