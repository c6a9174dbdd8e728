//! Searches, chosen by name.

use super::{micromax, rdchess};
use crate::eval::feature::{Feature, FeatureSet, UnknownFeature};
use crate::eval::{Choice, Variant};

/// A search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Personality {
    /// The engine's own.
    #[default]
    Palimpsest,
    /// The search of micro-Max 3.2, node for node.
    Micromax,
    /// The search of RDChess, from its description.
    Rdchess,
}

impl Personality {
    /// All personalities, the default first.
    pub const ALL: [Personality; 3] =
        [Personality::Palimpsest, Personality::Micromax, Personality::Rdchess];

    /// The name used by the UCI option `Personality`.
    pub const fn name(self) -> &'static str {
        match self {
            Personality::Palimpsest => "palimpsest",
            Personality::Micromax => "micromax",
            Personality::Rdchess => "rdchess",
        }
    }

    /// The personality of that name, in any case.
    pub fn from_name(name: &str) -> Option<Personality> {
        Personality::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name))
    }

    /// Returns the evaluation that belongs to the search.
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

    /// Returns whether the search uses one thread only and finds one line only.
    pub const fn is_single_threaded(self) -> bool {
        !matches!(self, Personality::Palimpsest)
    }

    /// The features of the search that can be switched off.
    pub fn features(self) -> &'static [Feature] {
        match self {
            Personality::Palimpsest => &[],
            Personality::Micromax => micromax::FEATURES,
            Personality::Rdchess => rdchess::FEATURES,
        }
    }
}

/// A search, an evaluation, and the features of both that are switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The search.
    pub personality: Personality,
    /// The evaluation.
    pub eval: Choice,
    /// The features of the search that are switched off.
    pub disabled: FeatureSet,
}

impl Configuration {
    /// A personality with all features, and with `eval` instead of its own evaluation if that is
    /// possible.
    pub fn new(personality: Personality, eval: Option<Variant>) -> Configuration {
        let own = personality.own_evaluation();
        let chosen = eval.filter(|_| !personality.requires_own_evaluation());
        Configuration {
            personality,
            eval: chosen.unwrap_or(own).into(),
            disabled: FeatureSet::EMPTY,
        }
    }

    /// Returns the configuration for commands about features: as [`new`](Self::new), but unless the
    /// network is requested, the hand-written evaluation replaces it, since it has no features.
    pub fn with_features(personality: Personality, eval: Option<Variant>) -> Configuration {
        let own = match personality.own_evaluation() {
            Variant::Nnue => Variant::Palimpsest,
            own => own,
        };
        Configuration::new(personality, eval.or(Some(own)))
    }

    /// The features that can be switched off: those of the evaluation, then those of the search.
    pub fn features(&self) -> Vec<Feature> {
        let mut features = self.eval.variant.features();
        features.extend(self.personality.features());
        features
    }

    /// Returns the configuration with the named features disabled and all others enabled.
    ///
    /// # Errors
    ///
    /// The first unknown name.
    pub fn without(mut self, names: &str) -> Result<Configuration, UnknownFeature> {
        let known = [&self.eval.variant.features()[..], self.personality.features()];
        [self.eval.disabled, self.disabled] = FeatureSet::parse_groups(names, known)?;
        Ok(self)
    }

    /// Returns the configuration with the named experiments and no others.
    ///
    /// # Errors
    ///
    /// The first unknown name.
    pub fn trying(mut self, names: &str) -> Result<Configuration, UnknownFeature> {
        self.eval = self.eval.trying(names)?;
        Ok(self)
    }

    /// Returns the error for feature names that this configuration does not know.
    pub fn refusal(&self, unknown: &UnknownFeature) -> String {
        format!("{unknown} with Eval {}", self.eval.variant.name())
    }

    /// Returns whether no feature is disabled and no experiment tried.
    pub fn is_unaltered(&self) -> bool {
        let Choice { disabled, experiments, .. } = self.eval;
        self.disabled.is_empty() && disabled.is_empty() && experiments.is_empty()
    }
}

impl From<Choice> for Configuration {
    /// The default search with this evaluation.
    fn from(eval: Choice) -> Configuration {
        Configuration { eval, ..Configuration::default() }
    }
}

impl From<Variant> for Configuration {
    /// The default search with all features of this evaluation.
    fn from(variant: Variant) -> Configuration {
        Choice::from(variant).into()
    }
}

impl From<Personality> for Configuration {
    /// A personality with all features and its own evaluation.
    fn from(personality: Personality) -> Configuration {
        Configuration::new(personality, None)
    }
}
