//! The bundled engine. The only file that knows Palimpsest.

use arbiter_names::did_you_mean;
use palimpsest::eval::Variant;
use palimpsest::search::{Configuration, Personality};

/// An evaluation of the bundled engine, as a search uses it.
#[derive(Debug)]
pub(crate) struct Evaluation {
    /// Its name, as the option `Eval` takes it.
    pub name: &'static str,
    /// The features that the option `Disable` switches off: the evaluation's, then the search's.
    pub features: Vec<&'static str>,
}

/// The evaluation of this name, or the one with features that goes with the search, which is the
/// personality of that name or the default one. An error lists the names there are.
pub(crate) fn evaluation(
    name: Option<&str>,
    personality: Option<&str>,
) -> Result<Evaluation, String> {
    let variant = |name: &str| {
        Variant::from_name(name).ok_or_else(|| {
            let known = Variant::ALL.map(Variant::name);
            let (hint, known) = (did_you_mean(name, known), known.join(", "));
            format!("the bundled engine has no evaluation '{name}'{hint}; it has {known}")
        })
    };
    let personality = match personality {
        None => Personality::default(),
        Some(name) => Personality::from_name(name).ok_or_else(|| {
            let known = Personality::ALL.map(Personality::name).join(", ");
            format!("the bundled engine has no personality '{name}'; it has {known}")
        })?,
    };
    let configuration = Configuration::with_features(personality, name.map(variant).transpose()?);
    let features = configuration.features().into_iter().map(|feature| feature.name).collect();
    Ok(Evaluation { name: configuration.eval.variant.name(), features })
}

/// Whether the engine knows the features that its options name, which are set in this order. If not it would
/// play as if nothing were said.
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
            format!("option.{name}={value}: {reason}; name another evaluation before it, as in bundled:palimpsest")
        })?;
    }
    Ok(())
}

/// Runs the engine in this process; returns its exit code.
pub(crate) fn run(args: Vec<String>) -> i32 {
    palimpsest::run(args.into_iter())
}
