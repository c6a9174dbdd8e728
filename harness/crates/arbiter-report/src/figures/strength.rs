//! Strength of one engine against others, as values and as JSON.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::{GamesByResult, ends, is_significant, plus_minus, signed, superiority};
use arbiter_run::Encounter;
use arbiter_stats::elo::{self, Estimate};
use arbiter_stats::{Moments, Pentanomial, Trinomial, normalized};

/// Counts, Elo and LOS (likelihood of superiority) of one engine against its opponents.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Strength {
    /// Numbers of counted pairs by result.
    pub pairs: Pentanomial,
    /// Numbers of counted games by result.
    pub games: Trinomial,
    /// Logistic Elo, computed from the pairs, or from the games if there are no pairs; in a test,
    /// corrected for the stopping rule. `None` before the first result.
    pub elo: Option<Estimate>,
    /// Elo of a test without correction for the stopping rule; this Elo is biased towards the
    /// verdict.
    pub naive: Option<Estimate>,
    /// Normalized Elo; a bound if all games were won or all were lost. `None` before the first
    /// result, and if the results have no variance for another reason.
    pub nelo: Option<Estimate>,
    /// Likelihood that the first engine is stronger, 0 to 1; in a test, corrected for the stopping
    /// rule.
    pub los: Option<f64>,
    /// Direction and value of a bound on the LOS. Set if the LOS would otherwise be closer to 0 or
    /// 1 than if all pairs had been lost or won.
    pub(super) los_bound: Option<(Ordering, f64)>,
}

impl Strength {
    /// Computes the strength from the counts of an encounter.
    pub fn of(encounter: Encounter) -> Strength {
        let Encounter { pairs, games, .. } = encounter;
        let counts = Strength { pairs, games, ..Strength::default() };
        let moments = counts.moments();
        Strength {
            elo: moments.as_ref().map(elo::estimate),
            nelo: moments.as_ref().and_then(normalized::estimate),
            los: moments.as_ref().and_then(elo::likelihood_of_superiority),
            los_bound: moments.as_ref().and_then(elo::bound_of_superiority),
            ..counts
        }
    }

    /// Returns the mean and the variance of the score of a pair, or of a game if there are no
    /// pairs.
    pub(super) fn moments(&self) -> Option<Moments> {
        match self.pairs.pairs() {
            0 => self.games.distribution().moments(),
            _ => self.pairs.distribution().moments(),
        }
    }

    /// Returns `Greater` if the first engine is significantly stronger (two-sided test, 5 % level),
    /// `Less` if the first engine is significantly weaker, and otherwise `None`. The difference
    /// after a few pairs is never significant, even if all pairs have the same result.
    pub(crate) fn significant_difference(&self) -> Option<Ordering> {
        let los = self.los_bound.map(|(_, bound)| bound).or(self.los)?;
        match los {
            0.975.. => Some(Ordering::Greater),
            ..=0.025 => Some(Ordering::Less),
            _ => None,
        }
    }

    /// Returns the reason why `elo` has no interval; `None` if `elo` is `None` or has an interval.
    pub fn no_interval_reason(&self) -> Option<String> {
        let elo = self.elo.filter(|elo| !is_significant(elo))?;
        let (units, unit) = match self.pairs.pairs() {
            0 => (self.games.games(), "game"),
            pairs => (pairs, "pair"),
        };
        Some(match (elo.low == elo.high, units) {
            (false, _) => "too few games".to_owned(),
            (true, 1) => format!("a single {unit}"),
            (true, _) => format!("all {unit}s had the same result"),
        })
    }

    /// Formats `elo` with its 95 % interval, or with the reason why there is no interval.
    pub fn elo_text(&self) -> String {
        match (self.elo, self.no_interval_reason()) {
            (Some(elo), Some(reason)) if elo.value.is_finite() => {
                format!("{} (no interval: {reason})", signed(elo.value, 1))
            }
            (Some(_), Some(_)) => {
                let Trinomial { wins, losses, .. } = self.games;
                format!("{wins}–{losses}, too few games for an interval")
            }
            (elo, _) => plus_minus(elo),
        }
    }

    /// Returns [`Strength::elo_text`] with the confidence level of the interval and, in a test, the
    /// note that Elo is bias-corrected.
    pub fn elo_in_full(&self) -> String {
        let level = if self.elo.as_ref().is_some_and(is_significant) { " (95 %)" } else { "" };
        let allowance = if self.naive.is_some() { ", bias-corrected" } else { "" };
        format!("{}{level}{allowance}", self.elo_text())
    }

    /// Formats the LOS or the bound on the LOS, in per cent.
    pub fn los_text(&self) -> String {
        superiority(self.los, self.los_bound)
    }
}

/// Counts and strength from the point of view of the first engine.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StrengthFigures {
    #[serde(flatten)]
    pub(crate) games: GamesByResult,
    /// Number of counted pairs.
    pairs: u64,
    /// Number of pairs by points of the first engine (0, ½, 1, 1½, 2): LL, LD, DD and WL, WD, WW.
    pentanomial: [u64; 5],
    #[serde(flatten)]
    strength: EloFigures,
}

/// Elo, nElo and LOS, with 95 % intervals.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct EloFigures {
    /// Logistic Elo; in a test, corrected for the stopping rule.
    elo: Option<f64>,
    /// Lower end of the interval of `elo`.
    elo_low: Option<f64>,
    /// Upper end of the interval of `elo`.
    elo_high: Option<f64>,
    /// Reason for a missing interval of `elo`; absent if there is an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_interval_reason: Option<String>,
    /// Normalized Elo.
    nelo: Option<f64>,
    /// Lower end of the interval of `nelo`.
    nelo_low: Option<f64>,
    /// Upper end of the interval of `nelo`.
    nelo_high: Option<f64>,
    /// Likelihood of superiority, 0 to 1; in a test, corrected for the stopping rule.
    los: Option<f64>,
}

impl EloFigures {
    /// Converts the Elo, nElo and LOS of `strength` for JSON.
    pub fn of(strength: &Strength) -> EloFigures {
        let [elo, elo_low, elo_high] = ends(strength.elo);
        let [nelo, nelo_low, nelo_high] = ends(strength.nelo);
        let no_interval_reason = strength.no_interval_reason();
        let los = strength.los;
        EloFigures { elo, elo_low, elo_high, no_interval_reason, nelo, nelo_low, nelo_high, los }
    }
}

/// Elo of a test without correction for the stopping rule, biased towards the verdict.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NaiveElo {
    /// Logistic Elo, not corrected for the stopping rule.
    elo_naive: Option<f64>,
    /// Lower end of the interval of `elo_naive`.
    elo_naive_low: Option<f64>,
    /// Upper end of the interval of `elo_naive`.
    elo_naive_high: Option<f64>,
}

impl StrengthFigures {
    /// Converts the counts and the strength for JSON.
    pub(crate) fn of(strength: &Strength) -> StrengthFigures {
        StrengthFigures {
            games: strength.games.into(),
            pairs: strength.pairs.pairs(),
            pentanomial: strength.pairs.0,
            strength: EloFigures::of(strength),
        }
    }
}

impl NaiveElo {
    /// Converts the uncorrected Elo for JSON; `None` if the Elo is not corrected.
    pub(crate) fn of(strength: &Strength) -> Option<NaiveElo> {
        let [elo_naive, elo_naive_low, elo_naive_high] = ends(Some(strength.naive?));
        Some(NaiveElo { elo_naive, elo_naive_low, elo_naive_high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn significant_difference(pairs: [u64; 5]) -> Option<Ordering> {
        Strength::of(Encounter { pairs: Pentanomial(pairs), ..Encounter::default() })
            .significant_difference()
    }

    #[test]
    fn few_pairs_are_not_significant() {
        assert_eq!(
            [
                significant_difference([0, 0, 0, 1, 1]),
                significant_difference([0, 0, 0, 0, 3]),
                significant_difference([0; 5])
            ],
            [None; 3]
        );
        assert_eq!(significant_difference([0, 0, 0, 5, 5]), Some(Ordering::Greater));
        assert_eq!(significant_difference([9, 0, 0, 0, 0]), Some(Ordering::Less));
        assert_eq!(significant_difference([2, 1, 4, 2, 2]), None);
    }

    #[test]
    fn elo_without_an_interval_has_a_reason() {
        let shown = |pairs, [wins, losses]: [u64; 2]| {
            let (pairs, games) = (Pentanomial(pairs), Trinomial { wins, losses, draws: 0 });
            Strength::of(Encounter { pairs, games, ..Encounter::default() }).elo_in_full()
        };
        for (pairs, games, expected) in [
            ([0, 0, 15, 0, 0], [15, 15], "+0.0 (no interval: all pairs had the same result)"),
            ([0, 0, 0, 7, 0], [7, 0], "+190.8 (no interval: all pairs had the same result)"),
            ([0, 0, 0, 1, 0], [1, 0], "+190.8 (no interval: a single pair)"),
            ([1, 0, 0, 0, 1], [2, 2], "+0.0 (no interval: too few games)"),
            ([0, 0, 0, 0, 1], [2, 0], "2–0, too few games for an interval"),
            ([1, 0, 0, 0, 0], [0, 2], "0–2, too few games for an interval"),
            ([0; 5], [3, 0], "3–0, too few games for an interval"),
            ([0, 0, 0, 0, 9], [18, 0], "> +118 (95 %)"),
            ([0; 5], [0, 0], "–"),
        ] {
            assert_eq!(shown(pairs, games), expected, "{pairs:?}");
        }
    }
}
