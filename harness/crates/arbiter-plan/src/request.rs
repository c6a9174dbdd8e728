//! Request for a run from flags and `arbiter.toml`; every setting may be unset. Also the
//! reasons why a request is rejected.

use std::path::PathBuf;

use crate::{CpuContention, EngineSpec, Plan, TournamentRequest};
use arbiter_openings::Order;
use arbiter_schedule::Format;
use arbiter_spsa::Tuning;
use arbiter_stats::{Correction, DEFAULT_ELO0, DEFAULT_ELO1, DEFAULT_ERROR, Evidence, Model, Sprt};

/// Default number of nodes per move in an ablation. This number suffices for a depth of a few
/// plies, and a node limit gives the same games on every machine.
const DEFAULT_ABLATE_NODES: u64 = 2_000;

/// Engines of the demonstration: the SPRT that is played if no engines are given.
const DEMONSTRATION: [&str; 2] = [
    "name=palimpsest,cmd=bundled,eval=palimpsest",
    "name=no-mobility,cmd=bundled,eval=palimpsest,option.Disable=mobility",
];

/// A requested run: settings that may be unset, and a draft of the plan with all other settings.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Engines in the order of the request.
    pub engines: Vec<EngineSpec>,
    /// Settings for all engines.
    pub each: EngineSpec,
    /// Order of the openings.
    pub order: Option<Order>,
    /// Seed of all random choices.
    pub seed: Option<u64>,
    /// Format and length of the tournament.
    pub tournament: TournamentRequest,
    /// Number of concurrent games.
    pub concurrency: Option<usize>,
    /// Folder for the standard error of engines for which no file is set.
    pub stderr_dir: Option<PathBuf>,
    /// Maximum share of games, 0 to 1, that may end with an engine fault in a valid run.
    pub fault_limit: Option<f64>,
    /// Treatment of CPU contention.
    pub cpu_contention: CpuContention,
    /// Bounds of the SPRT.
    pub sprt: SprtRequest,
    /// `true` if an SPRT ends the games of each feature of an ablation.
    pub is_sequential: bool,
    /// Parameters and gain schedule of a tuning run; the numbers of iterations and pairs are in
    /// `tournament`.
    pub tuning: Option<Tuning>,
    /// Draft of the plan. The draft contains no final values for the settings in the other fields,
    /// and its paths may be relative.
    pub draft: Plan,
}

/// Requested settings of an SPRT.
#[derive(Debug, Clone, Copy, Default)]
pub struct SprtRequest {
    /// Elo of the null hypothesis (H0), on the scale of `model`.
    pub elo0: Option<f64>,
    /// Elo of the alternative hypothesis (H1), on the scale of `model`.
    pub elo1: Option<f64>,
    /// Probability, 0 to 1, of accepting H1 if H0 is true.
    pub alpha: Option<f64>,
    /// Probability, 0 to 1, of accepting H0 if H1 is true.
    pub beta: Option<f64>,
    /// Elo scale of the hypotheses.
    pub model: Option<Model>,
    /// Correction of the bounds for overshoot.
    pub correction: Option<Correction>,
    /// Kind of evidence that the test uses.
    pub evidence: Option<Evidence>,
}

/// Reason why a request is rejected, as a message for the user.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The request has nothing to play.
    #[error("nothing to run: --pairs and --rounds must be at least 1")]
    NothingToRun,
    /// The number of engines is wrong.
    #[error("{0}")]
    EngineCount(String),
    /// A value is invalid, or two values contradict each other.
    #[error("{0}")]
    Invalid(String),
}

impl From<String> for PlanError {
    fn from(reason: String) -> PlanError {
        PlanError::Invalid(reason)
    }
}

impl Request {
    /// Returns the indices of the engines that have no limits and therefore get the default limit.
    pub fn without_limits(&self) -> Vec<usize> {
        let limits = |spec: &EngineSpec| spec.clone().or(&self.each).limits;
        let engines = self.engines.iter().enumerate();
        engines.filter(|(_, spec)| limits(spec).is_empty()).map(|(index, _)| index).collect()
    }

    /// Turns an SPRT without engines into a demonstration that needs only this binary: Palimpsest
    /// against a copy that lacks one feature of its evaluation, with few nodes per move and distant
    /// hypotheses.
    pub(super) fn or_demonstration(mut self) -> Request {
        for text in DEMONSTRATION {
            self.engines.push(EngineSpec::parse(text).expect("the texts are constants that parse"));
        }
        if self.each.limits.is_empty() {
            // With node limits, the demonstration gives the same result on every machine, busy or
            // not.
            self.each.limits.nodes = Some(1_500);
        }
        // Distant hypotheses and a low maximum number of pairs keep the demonstration short.
        self.sprt.elo1 = self.sprt.elo1.or(Some(20.0));
        self.tournament.pairs = self.tournament.pairs.or(Some(500));
        self
    }

    /// Returns the request as a gauntlet of one engine, with the default node limit if no limit is
    /// set. Fails if the request does not have exactly one engine, or has another format.
    pub(super) fn for_ablation(mut self) -> Result<Request, PlanError> {
        if self.engines.len() != 1 {
            let count = self.engines.len();
            return Err(PlanError::EngineCount(format!(
                "ablate needs one engine, got {count}; write, for example, \
                 `arbiter ablate bundled:material`"
            )));
        }
        if self.tournament.format.is_some_and(|format| format != Format::Gauntlet) {
            return Err("ablate always plays a gauntlet; omit schedule flags".to_owned().into());
        }
        self.tournament.format = Some(Format::Gauntlet);
        if self.each.limits.is_empty() {
            self.each.limits.nodes = Some(DEFAULT_ABLATE_NODES);
        }
        Ok(self)
    }
}

impl SprtRequest {
    pub(super) fn resolve(self) -> Result<Sprt, String> {
        let test = Sprt::new(
            self.elo0.unwrap_or(DEFAULT_ELO0),
            self.elo1.unwrap_or(DEFAULT_ELO1),
            self.alpha.unwrap_or(DEFAULT_ERROR),
            self.beta.unwrap_or(DEFAULT_ERROR),
            self.model.unwrap_or(Model::Normalized),
        )
        .map_err(|error| format!("sprt: {error}"))?;
        let correction = self.correction.unwrap_or(test.usual_correction());
        Ok(test.with_correction(correction).with_evidence(self.evidence.unwrap_or_default()))
    }
}
