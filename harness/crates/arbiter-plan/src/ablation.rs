//! Ablation: games of a complete engine against copies that each lack one feature, to measure the
//! Elo value of each feature.

use serde::{Deserialize, Serialize};

use crate::Engine;

/// Maximum number of features in one ablation.
const MAX_ABLATED: usize = 200;

/// Features of an engine to disable, one at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ablation {
    /// UCI option whose value is the name of the feature to disable.
    pub option: String,
    /// Names of the features; the engine with index n + 1 in the plan lacks the feature with index
    /// n.
    pub features: Vec<String>,
}

impl Ablation {
    /// Returns the complete engine, followed by one copy for each feature, with this feature
    /// disabled. Fails if there are no features, more than 200 features, or duplicate features, or
    /// if the engine already sets the option.
    pub fn engines(&self, complete: Engine) -> Result<Vec<Engine>, String> {
        let Ablation { option, .. } = self;
        let name = &complete.name;
        if complete.options.iter().any(|(set, _)| set.eq_ignore_ascii_case(option)) {
            return Err(format!(
                "engine '{name}' sets option.{option}, which ablate needs for the features"
            ));
        }
        if self.features.is_empty() {
            return Err(format!(
                "ablate needs the features of engine '{name}'; name them with --features"
            ));
        }
        if self.features.len() > MAX_ABLATED {
            let count = self.features.len();
            return Err(format!("ablate takes up to {MAX_ABLATED} features, got {count}"));
        }
        for (index, feature) in self.features.iter().enumerate() {
            if self.features[..index].contains(feature) {
                return Err(format!("feature '{feature}' is named twice"));
            }
        }
        let without = self.features.iter().map(|feature| {
            let mut engine = complete.clone();
            engine.name = format!("{name} without {feature}");
            engine.options.push((option.clone(), feature.clone()));
            engine
        });
        Ok(std::iter::once(complete.clone()).chain(without).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineSpec, resolve_engine};

    fn engine(text: &str) -> Engine {
        resolve_engine(0, EngineSpec::parse(text).unwrap()).unwrap()
    }

    fn ablation(features: &[&str]) -> Ablation {
        let features = features.iter().map(|feature| (*feature).to_owned()).collect();
        Ablation { option: "Disable".to_owned(), features }
    }

    #[test]
    fn each_feature_adds_an_engine_without_it() {
        let complete = engine("cmd=bundled,eval=blunder,nodes=9");
        let engines = ablation(&["pst", "passed"]).engines(complete.clone()).unwrap();
        assert_eq!(engines[0], complete);
        let names: Vec<&str> = engines.iter().map(|engine| engine.name.as_str()).collect();
        assert_eq!(names, ["blunder", "blunder without pst", "blunder without passed"]);
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(engines[2].options, [option("Eval", "blunder"), option("Disable", "passed")]);
        assert_eq!(engines[2].conditions, complete.conditions);
    }

    #[test]
    fn invalid_ablations_are_rejected() {
        let check = |spec: &str, features: &[&str], expect: &str| {
            let error = ablation(features).engines(engine(spec)).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check("cmd=bundled", &[], "name them with --features");
        check("cmd=bundled", &["a", "b", "a"], "feature 'a' is named twice");
        check("cmd=bundled,option.disable=x", &["a"], "sets option.Disable,");
    }
}
