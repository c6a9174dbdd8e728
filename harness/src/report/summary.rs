//! Everything there is to say of a run, as values.

use crate::clock::Limits;
use crate::config::plan::{Kind, Plan};
use crate::report::standings::Standings;
use crate::run::event::Ending;
use crate::run::standing::{Encounter, Standing};
use crate::schedule::Schedule;
use crate::stats::elo::{self, Estimate};
use crate::stats::normalized;
use crate::stats::pentanomial::{Pentanomial, Trinomial};
use crate::stats::sequential::{self, SequentialEstimate};
use crate::stats::sprt::Sprt;

/// The answer of a run to its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The first engine is stronger, as far as the SPRT's error rates vouch for it.
    H1,
    /// It is not.
    H0,
    /// An SPRT that was not decided.
    Inconclusive,
    /// No question was asked.
    None,
}

impl Verdict {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::H1 => "H1",
            Verdict::H0 => "H0",
            Verdict::Inconclusive => "inconclusive",
            Verdict::None => "none",
        }
    }
}

/// A run, or how far it came.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Name in the store.
    pub run: String,
    /// What it answers.
    pub kind: Kind,
    /// Names of the engines.
    pub engines: Vec<String>,
    /// What bounds each engine.
    pub limits: Vec<Limits>,
    /// Seed.
    pub seed: u64,
    /// The stopping rule.
    pub sprt: Option<Sprt>,
    /// Log-likelihood ratio of the counted pairs.
    pub llr: Option<f64>,
    /// All counts.
    pub standing: Standing,
    /// How it ended, if it did.
    pub ending: Option<Ending>,
    /// Share of faults above which the run is invalid.
    pub fault_limit: f64,
    /// Whether every game counts by itself, as each opening is played once.
    pub is_single: bool,
    /// The table, if the run is more than a match of two.
    pub standings: Option<Standings>,
}

/// Strength figures of one engine against others, with their intervals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Strength {
    /// Counted pairs.
    pub pairs: Pentanomial,
    /// Counted games.
    pub games: Trinomial,
    /// Logistic Elo by the pairs, or by the games if there are no pairs; `None` before the first.
    pub elo: Option<Estimate>,
    /// Normalized Elo; `None` while nothing is spread.
    pub nelo: Option<Estimate>,
    /// Chance that the first engine is the stronger one, 0 to 1.
    pub los: Option<f64>,
}

impl Strength {
    /// The figures that follow from the counts.
    pub fn of(encounter: Encounter) -> Strength {
        let Encounter { pairs, games } = encounter;
        // Without pairs, games are the unit of evidence.
        let moments = match pairs.pairs() {
            0 => games.distribution().moments(),
            _ => pairs.distribution().moments(),
        };
        Strength {
            pairs,
            games,
            elo: moments.as_ref().map(elo::estimate),
            nelo: moments.as_ref().and_then(normalized::estimate),
            los: moments.as_ref().and_then(elo::likelihood_of_superiority),
        }
    }
}

impl Summary {
    /// The summary of a run by its plan and what was counted.
    pub fn new(
        run: &str,
        plan: &Plan,
        standing: &Standing,
        llr: Option<f64>,
        ending: Option<Ending>,
        schedule: &Schedule,
    ) -> Summary {
        let is_match = plan.engines.len() == 2 && plan.design.format.is_fixed();
        Summary {
            run: run.to_owned(),
            kind: plan.kind,
            engines: plan.engines.iter().map(|engine| engine.name.clone()).collect(),
            limits: plan.engines.iter().map(|engine| engine.conditions.limits).collect(),
            seed: plan.seed,
            sprt: plan.sprt,
            llr,
            standing: standing.clone(),
            ending,
            fault_limit: plan.fault_limit,
            is_single: plan.design.is_single,
            standings: (!is_match).then(|| Standings::new(schedule, standing)),
        }
    }

    /// The verdict that the stopping rule licenses.
    pub fn verdict(&self) -> Verdict {
        match (self.sprt, self.ending) {
            (None, _) => Verdict::None,
            (Some(_), Some(Ending::AcceptedH1)) => Verdict::H1,
            (Some(_), Some(Ending::AcceptedH0)) => Verdict::H0,
            (Some(_), _) => Verdict::Inconclusive,
        }
    }

    /// The first engine against all others together.
    pub fn strength(&self) -> Strength {
        let own = self.standing.encounters.iter().filter(|(engines, _)| engines[0] == 0);
        let sum = own.fold(Encounter::default(), |mut sum, (_, encounter)| {
            sum.pairs += encounter.pairs;
            sum.games += encounter.games;
            sum
        });
        Strength::of(sum)
    }

    /// The strength estimate that allows for the stopping rule; `None` without one, or without a
    /// pair.
    pub fn after_stop(&self) -> Option<SequentialEstimate> {
        sequential::of_pairs(&self.sprt?, &self.standing.main_encounter().pairs)
    }

    /// Whether more games ended by an engine's fault than the plan allows.
    pub fn is_invalid(&self) -> bool {
        self.standing.fault_share() > self.fault_limit
    }
}
