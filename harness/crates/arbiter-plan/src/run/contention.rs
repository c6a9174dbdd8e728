//! Pairs that a lack of processors may have decided. Pure.
//!
//! An engine's clock also runs while its threads, or our thread that reads its output, are ready to
//! run and find no processor free. If both sides wait alike, they play as with less time, which
//! favours neither. So a pair is suspect only if an engine lost on time by no more than it had
//! waited for that move, or if one engine waited for a much larger share of its thinking time than
//! the other. The winner is never considered; `tests` shows the effect on results by simulation.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shakmaty::ByColor;

use crate::{Plan, PlayedPair, RunInput};
use arbiter_protocol::Conditions;

/// Maximum difference of the shares of thinking time for which the engines of a pair waited.
/// `docs/guarantees.md` has the effect on results, by simulation.
pub(crate) const UNEQUAL: f64 = 0.25;

/// Share of the granted time up to which waiting is harmless, however little an engine thought.
const HARMLESS: f64 = 0.01;

/// Treatment of CPU contention in games under a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CpuContention {
    /// Pairs that it may have decided are void and played again, the second time at the end of the
    /// run with fewer concurrent games.
    #[default]
    Discard,
    /// Such pairs count, and are reported.
    Report,
    /// Nothing is measured.
    Off,
}

arbiter_names::named!(CpuContention);

/// Numbers of pairs of a run that CPU contention may have decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Disturbances {
    /// Number of replays of void pairs.
    pub voided: u64,
    /// Number of such pairs that count all the same.
    pub counted: u64,
}

/// Returns the input for a suspect pair that was void `times` times before: `None` if it counts.
/// The third time can only differ on a less busy machine, so the pair is put off where possible.
pub fn voided_again(pair: u64, times: u64, can_put_off: bool) -> Option<RunInput> {
    match times {
        0 => Some(RunInput::Voided(pair)),
        1 if can_put_off => Some(RunInput::PutOff(pair)),
        1 => Some(RunInput::Voided(pair)),
        _ => None,
    }
}

/// Way in which CPU contention may have decided a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contention {
    /// A loss on time that would not have happened without waiting.
    TimeLoss {
        /// Index of the engine.
        engine: usize,
        /// Time of the move past the end of the clock.
        over: Duration,
        /// Time margin of the engine.
        margin: Duration,
        /// Time for which the engine waited during this move, or in the game if that is not known.
        waited: Duration,
    },
    /// Waiting of one engine for a larger share of its thinking time than the other.
    Unequal {
        /// Index and share, 0 to 1, of the engine that waited more.
        more: (usize, f64),
        /// Index and share of the other engine.
        less: (usize, f64),
    },
}

/// Times of one engine in a pair.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    engine: usize,
    waited: Duration,
    thought: Duration,
    /// Time that the clock granted; `None` if no clock decided anything.
    granted: Option<Duration>,
}

impl Waiting {
    fn share(&self) -> f64 {
        let harmless = self.granted.map(|granted| granted.mul_f64(HARMLESS));
        if harmless.is_some_and(|harmless| self.waited > harmless) {
            (self.waited.as_secs_f64() / self.thought.as_secs_f64()).min(1.0)
        } else {
            0.0
        }
    }
}

/// Returns how CPU contention may have decided a pair, if it was measured; `limit` is the
/// difference of shares beyond which waiting is unequal, and `conditions` returns those of an
/// engine.
pub fn judge_contention(
    limit: f64,
    played: &PlayedPair,
    conditions: impl Fn(usize) -> Conditions,
) -> Option<Contention> {
    let mut pair = played.pairing.engines.map(|engine| Waiting { engine, ..Waiting::default() });
    for game in played.games.iter() {
        let ByColor { white: Some(white), black: Some(black) } = game.waited else { return None };
        let thinking = game.thinking_times();
        let sides = game.engines.zip(ByColor { white, black }).zip(thinking);
        let sides = sides.map(|((engine, waited), (moves, thought))| {
            // The clock has also granted the time of the move that was never made.
            let granted = conditions(engine).limits.granted(moves + 1);
            Waiting { engine, waited, thought, granted }
        });
        if let (Some(winner), Some(late)) = (game.outcome.result.winner(), game.late) {
            let Waiting { engine, waited, .. } = *sides.get(winner.other());
            // The wait during the late move counts. If it was not measured, the game's waiting
            // bounds it.
            let waited = late.waited.unwrap_or(waited);
            let (over, margin) = (late.over, conditions(engine).margin);
            // Without the wait the engine would have been in time, as the margin forgives the rest.
            if over.saturating_sub(margin) <= waited {
                return Some(Contention::TimeLoss { engine, over, margin, waited });
            }
        }
        for own in sides {
            for sum in pair.iter_mut().filter(|sum| sum.engine == own.engine) {
                sum.waited += own.waited;
                sum.thought += own.thought;
                sum.granted = sum.granted.into_iter().chain(own.granted).reduce(|a, b| a + b);
            }
        }
    }
    let mut shares = pair.map(|waiting| (waiting.engine, waiting.share()));
    shares.sort_by(|a, b| a.1.total_cmp(&b.1));
    let [less, more] = shares;
    (more.1 - less.1 > limit).then_some(Contention::Unequal { more, less })
}

impl Plan {
    /// Returns the treatment of CPU contention.
    pub fn cpu_contention(&self) -> CpuContention {
        match (self.noise_limit, self.counts_disturbed) {
            (None, _) => CpuContention::Off,
            (Some(_), true) => CpuContention::Report,
            (Some(_), false) => CpuContention::Discard,
        }
    }

    /// Returns how CPU contention may have decided a pair, as a sentence without its end.
    pub fn suspicion(&self, played: &PlayedPair) -> Option<String> {
        let conditions = |engine: usize| self.engines[engine].conditions;
        let contention = judge_contention(self.noise_limit?, played, conditions)?;
        Some(contention.describe(|engine| &self.engines[engine].name))
    }
}

impl Contention {
    /// Returns a sentence without its end; `name` returns the names of engines.
    pub fn describe<'a>(&self, name: impl Fn(usize) -> &'a str) -> String {
        match self {
            Contention::TimeLoss { engine, over, margin, waited } => format!(
                "{} lost on time ({:.1} ms over, margin {} ms) after {:.1} ms of CPU contention",
                name(*engine),
                over.as_secs_f64() * 1e3,
                margin.as_millis(),
                waited.as_secs_f64() * 1e3
            ),
            Contention::Unequal { more: (engine, share), less: (other, other_share) } => format!(
                "{} waited for a processor for {:.0} % of its thinking time, {} for {:.0} %",
                name(*engine),
                100.0 * share,
                name(*other),
                100.0 * other_share
            ),
        }
    }
}

#[cfg(test)]
mod tests;
