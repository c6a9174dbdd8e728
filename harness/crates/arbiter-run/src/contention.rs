//! Detection of pairs whose result may have been decided by CPU contention (a lack of free
//! processors), and of engine faults caused by an overloaded machine. This module does no I/O.
//!
//! The clock of an engine also runs while the engine's threads, or the Arbiter thread that reads
//! the engine's output, wait for a free processor. If both engines wait equally, both engines play
//! as if they had less time, and neither engine has an advantage. A pair is therefore suspect only
//! in two cases: an engine lost on time and would not have lost without waiting, or one engine
//! waited for a much larger share of its thinking time than the other engine. Apart from losses on
//! time, the result of the pair is not considered. Simulations in `tests` show how this rule
//! affects results.

use std::time::Duration;

use shakmaty::ByColor;

use crate::{Latencies, PlayedPair, RunCounts, RunInput};
use arbiter_game::outcome::Termination;
use arbiter_names::quantity;
use arbiter_plan::Plan;
use arbiter_protocol::Conditions;

/// Maximum share of the granted time, 0 to 1, for which waiting is harmless, even if the engine
/// thought only briefly.
const HARMLESS: f64 = 0.01;

/// Share of thinking time, 0 to 1, above which waiting for a processor counts as the cause of late
/// moves.
const OVERLOADED: f64 = 0.25;

/// Numbers of suspect pairs of a run: pairs that may have been decided by CPU contention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Disturbances {
    /// Number of times that suspect pairs were voided and played again.
    pub voided: u64,
    /// Number of suspect pairs that count.
    pub counted: u64,
}

/// Returns the input for a suspect pair that has already been voided `times` times; `None` if the
/// pair counts. A third attempt is useful only on a less busy machine, so the pair is put off to
/// the end of the run if `can_put_off` is `true`.
pub fn voided_again(pair: u64, times: u64, can_put_off: bool) -> Option<RunInput> {
    let is_put_off = times == 1 && can_put_off;
    let input = if is_put_off { RunInput::PutOff(pair) } else { RunInput::Voided(pair) };
    (times < 2).then_some(input)
}

/// Waiting and thinking times of one engine in a pair.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    engine: usize,
    waited: Duration,
    search: Duration,
    /// Time granted by the time control; `None` without time limits.
    granted: Option<Duration>,
}

impl Waiting {
    fn share(&self) -> f64 {
        let harmless = self.granted.map(|granted| granted.mul_f64(HARMLESS));
        if harmless.is_some_and(|harmless| self.waited > harmless) {
            (self.waited.as_secs_f64() / self.search.as_secs_f64()).min(1.0)
        } else {
            0.0
        }
    }
}

/// Returns a sentence (without a full stop) that explains how CPU contention may have decided a
/// pair; `None` if the pair is not suspect or contention was not measured. Waiting is unequal if
/// the shares of thinking time, 0 to 1, that the two engines spent waiting differ by more than
/// `limit`. `name` and `conditions` return the name and the conditions of an engine.
pub fn judge_contention<'a>(
    limit: f64,
    played: &PlayedPair,
    name: impl Fn(usize) -> &'a str,
    conditions: impl Fn(usize) -> Conditions,
) -> Option<String> {
    let mut pair = played.pairing.engines.map(|engine| Waiting { engine, ..Waiting::default() });
    for game in played.games.iter() {
        let ByColor { white: Some(white), black: Some(black) } = game.waited else { return None };
        let thinking = game.thinking_times();
        let sides = game.engines.zip(ByColor { white, black }).zip(thinking);
        let sides = sides.map(|((engine, waited), (moves, search))| {
            // The clock also granted time for one more move, which the side did not complete.
            let granted = conditions(engine).limits.granted(moves + 1);
            Waiting { engine, waited, search, granted }
        });
        if let (Some(winner), Some(late)) = (game.outcome.result.winner(), game.late) {
            let Waiting { engine, waited, .. } = *sides.get(winner.other());
            // The waiting time of the late move counts. If this time was not measured, the waiting
            // time during the whole game is an upper bound.
            let waited = late.waited.unwrap_or(waited);
            let over = late.over;
            let margin = conditions(engine).margin;
            // Without waiting, the engine would have moved within the margin.
            if over.saturating_sub(margin) <= waited {
                return Some(format!(
                    "{} lost on time ({:.1} ms over, margin {} ms) after {:.1} ms of CPU contention",
                    name(engine),
                    over.as_secs_f64() * 1e3,
                    margin.as_millis(),
                    waited.as_secs_f64() * 1e3
                ));
            }
        }
        for side in sides {
            for sum in pair.iter_mut().filter(|sum| sum.engine == side.engine) {
                sum.waited += side.waited;
                sum.search += side.search;
                sum.granted = sum.granted.into_iter().chain(side.granted).reduce(|a, b| a + b);
            }
        }
    }
    let mut shares = pair.map(|waiting| (waiting.engine, waiting.share()));
    shares.sort_by(|a, b| a.1.total_cmp(&b.1));
    let [(other, other_share), (engine, share)] = shares;
    (share - other_share > limit).then(|| {
        format!(
            "{} waited for a processor for {:.0} % of its thinking time, {} for {:.0} %",
            name(engine),
            100.0 * share,
            name(other),
            100.0 * other_share
        )
    })
}

/// Returns the finding of [`judge_contention`] for a pair of a plan.
pub fn suspicion(plan: &Plan, played: &PlayedPair) -> Option<String> {
    let engine = |engine: usize| &plan.engines[engine];
    judge_contention(plan.noise_limit?, played, |e| &engine(e).name, |e| engine(e).conditions)
}

/// Returns a description of the overload, as a sentence without a full stop, if the machine has too
/// few processors for the concurrent games of a run. Returns `None` unless most engine faults are
/// late moves and the engines waited for a large share of their thinking time.
pub fn overload(plan: &Plan, counts: &RunCounts, latencies: &Latencies) -> Option<String> {
    let is_of_time = |kind| matches!(kind, Termination::TimeForfeit | Termination::Stall);
    let faults = counts.faults.iter();
    let of_time: u64 = faults.clone().filter(|((_, kind), _)| is_of_time(*kind)).map(|f| f.1).sum();
    // An overload can delay engines, but does not cause crashes or illegal moves.
    if 2 * of_time <= faults.map(|(_, count)| count).sum() {
        return None;
    }
    let share = latencies.waiting_share(..).filter(|share| *share > OVERLOADED)?;
    // The engines ran only for the remaining share of their thinking time, so the processors
    // suffice for this share of the games.
    let games = (plan.concurrency as f64 * (1.0 - share)).round().max(1.0) as usize;
    Some(format!(
        "the machine is overloaded: engines waited for a processor for {:.0} % of their thinking \
         time; this machine can play {} in parallel (--concurrency {games})",
        100.0 * share,
        quantity(games, "game")
    ))
}

#[cfg(test)]
mod tests;
