//! The bundled engine. The only file that depends on Palimpsest.

use arbiter_names::did_you_mean;
use palimpsest::eval::Variant;
use palimpsest::search::{Configuration, Personality};

/// An evaluation of the bundled engine, as a search uses it.
#[derive(Debug)]
pub(crate) struct Evaluation {
    /// Name of the evaluation, as in the option `Eval`.
    pub name: &'static str,
    /// Features that the option `Disable` switches off: the evaluation's, then the search's.
    pub features: Vec<&'static str>,
}

/// Returns the evaluation `name` with its features and those of the search; without a name, an
/// evaluation with features for `personality`, or for the default one. An error lists the names.
pub(crate) fn evaluation(
    name: Option<&str>,
    personality: Option<&str>,
) -> Result<Evaluation, String> {
    let variant = |name: &str| {
        Variant::from_name(name).ok_or_else(|| {
            let known = Variant::ALL.map(Variant::name);
            let (hint, known) = (did_you_mean(name, known), known.join(", "));
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

/// Checks the features that the engine's options name, in the order in which they are set. An
/// engine would ignore unknown ones.
pub(crate) fn check_features(options: &[(String, String)]) -> Result<(), String> {
    let (mut personality, mut eval) = (Personality::default(), None);
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

/// Runs the engine in this process; returns its exit code.
pub(crate) fn run(args: Vec<String>) -> i32 {
    palimpsest::run(args.into_iter())
}
