//! The bundled engine, Palimpsest. No other module depends on Palimpsest's crate.

use crate::exit_code::ExitCode;
use arbiter_names::did_you_mean;
use palimpsest::eval::Variant;
use palimpsest::search::{Configuration, Personality};

/// Evaluation of the bundled engine, with the features of a search that uses this evaluation.
#[derive(Debug)]
pub(crate) struct Evaluation {
    /// Name of the evaluation, as in the option `Eval`.
    pub name: &'static str,
    /// Features that the option `Disable` can switch off: first the features of the evaluation,
    /// then the features of the search.
    pub features: Vec<&'static str>,
}

/// Returns the evaluation `name` with its features and the features of the search `personality`. By
/// default, the evaluation is the hand-crafted evaluation, and the search is the default search.
/// The error lists the available names.
pub(crate) fn evaluation(
    name: Option<&str>,
    personality: Option<&str>,
) -> Result<Evaluation, String> {
    let variant = |name: &str| {
        Variant::from_name(name).ok_or_else(|| {
            let known = Variant::ALL.map(Variant::name);
            let hint = did_you_mean(name, known);
            let known = known.join(", ");
            format!("the bundled engine has no evaluation '{name}'{hint}; available: {known}")
        })
    };
    let personality = match personality {
        None => Personality::default(),
        Some(name) => Personality::from_name(name).ok_or_else(|| {
            let known = Personality::ALL.map(Personality::name).join(", ");
            format!("the bundled engine has no personality '{name}'; available: {known}")
        })?,
    };
    let configuration = Configuration::with_features(personality, name.map(variant).transpose()?);
    let features = configuration.features().into_iter().map(|feature| feature.name).collect();
    Ok(Evaluation { name: configuration.eval.variant.name(), features })
}

/// Checks the features named in the engine's options, in the order of the options. The engine
/// itself would ignore unknown features.
pub(crate) fn check_features(options: &[(String, String)]) -> Result<(), String> {
    let mut personality = Personality::default();
    let mut eval = None;
    let mut configuration = Configuration::default();
    for (name, value) in options {
        let changed = match name.to_ascii_lowercase().as_str() {
            "personality" => {
                personality = Personality::from_name(value).unwrap_or(personality);
                Ok(Configuration::new(personality, eval))
            }
            "eval" => {
                eval = Variant::from_name(value).or(eval);
                Ok(Configuration::new(personality, eval))
            }
            "disable" => configuration.without(value),
            "enable" => configuration.trying(value),
            _ => continue,
        };
        configuration = changed.map_err(|unknown| {
            let reason = configuration.refusal(&unknown);
            format!("option.{name}={value}: {reason}; use another evaluation (bundled:palimpsest)")
        })?;
    }
    Ok(())
}

/// Runs the engine in this process, and returns its exit code.
pub(crate) fn run(args: Vec<String>) -> ExitCode {
    let code = u8::try_from(palimpsest::run(args.into_iter())).ok();
    code.and_then(ExitCode::from_number).unwrap_or(ExitCode::Bug)
}
