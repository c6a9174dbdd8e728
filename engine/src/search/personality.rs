//! Personalities: searches that are selected by name.

use super::{micromax, rdchess};
use crate::eval::feature::{Feature, FeatureSet, UnknownFeature};
use crate::eval::{Choice, Variant};

/// A search algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Personality {
    /// Search of this engine.
    #[default]
    Palimpsest,
    /// Search of micro-Max 3.2, which visits the same nodes as the original.
    Micromax,
    /// Search of RDChess, reimplemented from a description by the author of RDChess.
    Rdchess,
}

impl Personality {
    /// All personalities; the default personality comes first.
    pub const ALL: [Personality; 3] =
        [Personality::Palimpsest, Personality::Micromax, Personality::Rdchess];

    /// Returns the name used by the UCI option `Personality`.
    pub const fn name(self) -> &'static str {
        match self {
            Personality::Palimpsest => "palimpsest",
            Personality::Micromax => "micromax",
            Personality::Rdchess => "rdchess",
        }
    }

    /// Returns the personality with this name, ignoring case.
    pub fn from_name(name: &str) -> Option<Personality> {
        Personality::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name))
    }

    /// Returns the search's own evaluation.
    pub const fn own_evaluation(self) -> Variant {
        match self {
            Personality::Palimpsest => Variant::Nnue,
            Personality::Micromax => Variant::Micromax,
            Personality::Rdchess => Variant::Rdchess,
        }
    }

    /// Returns whether the search works only with its own evaluation.
    pub const fn requires_own_evaluation(self) -> bool {
        matches!(self, Personality::Micromax)
    }

    /// Returns whether the search uses only one thread and finds only one principal variation.
    pub const fn is_single_threaded(self) -> bool {
        !matches!(self, Personality::Palimpsest)
    }

    /// Returns the search features that can be disabled.
    pub fn features(self) -> &'static [Feature] {
        match self {
            Personality::Palimpsest => &[],
            Personality::Micromax => micromax::FEATURES,
            Personality::Rdchess => rdchess::FEATURES,
        }
    }
}

/// A search and an evaluation, with the disabled features of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The search.
    pub personality: Personality,
    /// The evaluation.
    pub eval: Choice,
    /// Disabled features of the search.
    pub disabled: FeatureSet,
}

impl Configuration {
    /// Returns a configuration with all features enabled. `eval` replaces the personality's own
    /// evaluation, if the personality allows other evaluations.
    pub fn new(personality: Personality, eval: Option<Variant>) -> Configuration {
        let own = personality.own_evaluation();
        let chosen = eval.filter(|_| !personality.requires_own_evaluation());
        Configuration {
            personality,
            eval: chosen.unwrap_or(own).into(),
            disabled: FeatureSet::EMPTY,
        }
    }

    /// Returns the configuration for commands about features. Unlike in [`new`](Self::new), the
    /// default evaluation is the hand-crafted evaluation instead of the network, because the
    /// network has no features.
    pub fn with_features(personality: Personality, eval: Option<Variant>) -> Configuration {
        let own = match personality.own_evaluation() {
            Variant::Nnue => Variant::Palimpsest,
            own => own,
        };
        Configuration::new(personality, eval.or(Some(own)))
    }

    /// Returns the features that can be disabled: first the features of the evaluation, then the
    /// features of the search.
    pub fn features(&self) -> Vec<Feature> {
        let mut features = self.eval.variant.features();
        features.extend(self.personality.features());
        features
    }

    /// Returns the configuration with the named features disabled and all other features enabled.
    ///
    /// # Errors
    ///
    /// Returns the first unknown name.
    pub fn without(mut self, names: &str) -> Result<Configuration, UnknownFeature> {
        let known = [&self.eval.variant.features()[..], self.personality.features()];
        [self.eval.disabled, self.disabled] = FeatureSet::parse_groups(names, known)?;
        Ok(self)
    }

    /// Returns the configuration with the named experiments and no other experiments.
    ///
    /// # Errors
    ///
    /// Returns the first unknown name.
    pub fn trying(mut self, names: &str) -> Result<Configuration, UnknownFeature> {
        self.eval = self.eval.trying(names)?;
        Ok(self)
    }

    /// Returns the error message for a feature name that this configuration does not have.
    pub fn refusal(&self, unknown: &UnknownFeature) -> String {
        format!("{unknown} with Eval {}", self.eval.variant.name())
    }

    /// Returns whether no feature is disabled and no experiment is enabled.
    pub fn is_unaltered(&self) -> bool {
        let Choice { disabled, experiments, .. } = self.eval;
        self.disabled.is_empty() && disabled.is_empty() && experiments.is_empty()
    }
}

impl From<Choice> for Configuration {
    /// Returns the default search with this evaluation.
    fn from(eval: Choice) -> Configuration {
        Configuration { eval, ..Configuration::default() }
    }
}

impl From<Variant> for Configuration {
    /// Returns the default search with all features of this evaluation.
    fn from(variant: Variant) -> Configuration {
        Choice::from(variant).into()
    }
}

impl From<Personality> for Configuration {
    /// Returns a personality with all features and its own evaluation.
    fn from(personality: Personality) -> Configuration {
        Configuration::new(personality, None)
    }
}
