//! Whether a machine short of processors can have decided a pair. Pure.
//!
//! An engine's clock runs on while its threads, or the thread of ours that reads it, are ready to run
//! and find no processor free. That both sides wait alike makes them play as with less time and
//! favours neither. So a pair is suspect only if an engine lost on time by no more than it had waited
//! for that move, or if one engine waited for a much larger share of its thinking time than the other.
//! Who won is never asked; `tests` shows by simulation what that does to results.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shakmaty::ByColor;

use crate::{Plan, PlayedPair, RunInput};
use arbiter_protocol::Conditions;

/// By how much the shares of thinking time may differ for which the engines of a pair waited.
pub(crate) const UNEQUAL: f64 = 0.25;

/// Waiting for less than this share of the time that the clock gave harms nobody, however little an
/// engine thought.
const HARMLESS: f64 = 0.01;

/// What is done about CPU contention in games under a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CpuContention {
    /// Pairs that it can have decided are void and played again, the second time at the end of the run with
    /// fewer games at once.
    #[default]
    Discard,
    /// They count, and are reported.
    Report,
    /// Nothing is measured.
    Off,
}

arbiter_names::named!(CpuContention);

/// How many pairs of a run CPU contention can have decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Disturbances {
    /// Times that a pair was void and played again.
    pub voided: u64,
    /// Pairs that count all the same.
    pub counted: u64,
}

/// Returns what becomes of a suspect pair that was void `times` times before: `None` if it counts as it is. The
/// machine has to be less busy to decide otherwise the third time, so the pair is put off where it can be.
pub fn voided_again(pair: u64, times: u64, can_put_off: bool) -> Option<RunInput> {
    match times {
        0 => Some(RunInput::Voided(pair)),
        1 if can_put_off => Some(RunInput::PutOff(pair)),
        1 => Some(RunInput::Voided(pair)),
        _ => None,
    }
}

/// How CPU contention can have decided a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contention {
    /// An engine lost on time and would not have, had it not waited.
    TimeLoss {
        /// Its index.
        engine: usize,
        /// How late its move was by the clock.
        over: Duration,
        /// How late it could have been.
        margin: Duration,
        /// For how long it had waited for this move; in the game, if that is not known.
        waited: Duration,
    },
    /// One engine waited for more of its thinking time than the other.
    Unequal {
        /// Index and share, 0 to 1, of the one that waited more.
        more: (usize, f64),
        /// Those of the other.
        less: (usize, f64),
    },
}

/// What the clocks of a pair say of one of its engines.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    engine: usize,
    waited: Duration,
    thought: Duration,
    /// Time that the clock gave; `None` if no clock decided anything.
    granted: Option<Duration>,
}

impl Waiting {
    fn share(&self) -> f64 {
        let harmless = self.granted.map(|granted| granted.mul_f64(HARMLESS));
        match harmless.is_some_and(|harmless| self.waited > harmless) {
            true => (self.waited.as_secs_f64() / self.thought.as_secs_f64()).min(1.0),
            false => 0.0,
        }
    }
}

/// Whether CPU contention can have decided a pair, if that was measured; `limit` is the difference of
/// shares beyond which waiting is unequal, and `conditions` tells those of an engine.
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
            // The move that was never made had its time, too.
            let granted = conditions(engine).limits.granted(moves + 1);
            Waiting { engine, waited, thought, granted }
        });
        if let (Some(winner), Some(late)) = (game.outcome.result.winner(), game.late) {
            let Waiting { engine, waited, .. } = *sides.get(winner.other());
            let waited = late.waited.unwrap_or(waited);
            let (over, margin) = (late.over, conditions(engine).margin);
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
    /// What is done about CPU contention.
    pub fn cpu_contention(&self) -> CpuContention {
        match (self.noise_limit, self.counts_disturbed) {
            (None, _) => CpuContention::Off,
            (Some(_), true) => CpuContention::Report,
            (Some(_), false) => CpuContention::Discard,
        }
    }

    /// How CPU contention can have decided a pair, in a sentence without its end, if it can.
    pub fn suspicion(&self, played: &PlayedPair) -> Option<String> {
        let conditions = |engine: usize| self.engines[engine].conditions;
        let contention = judge_contention(self.noise_limit?, played, conditions)?;
        Some(contention.words(|engine| &self.engines[engine].name))
    }
}

impl Contention {
    /// A sentence without its end; `name` tells the names of engines.
    pub fn words<'a>(&self, name: impl Fn(usize) -> &'a str) -> String {
        match self {
            Contention::TimeLoss { engine, over, margin, waited } => format!(
                "{} lost on time ({:.1} ms over, margin {} ms) and had waited {:.1} ms for a processor",
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
