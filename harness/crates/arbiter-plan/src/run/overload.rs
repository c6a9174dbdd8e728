//! Failures of engines that are due to an overloaded machine. Pure.

use std::fmt;

use crate::{Latencies, Plan, RunCounts};
use arbiter_game::outcome::Termination;

/// Share of thinking time beyond which waiting is to blame for late engines.
const OVERLOADED: f64 = 0.25;

/// A machine with too few processors for the concurrent games of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overload {
    /// Share of their thinking time, 0 to 1, for which engines waited for a processor.
    share: f64,
    /// Number of concurrent games that the machine carries.
    games: usize,
}

impl Overload {
    /// Returns the overload that caused most of the faults of a run, if one did.
    pub fn of(plan: &Plan, counts: &RunCounts, latencies: &Latencies) -> Option<Overload> {
        let is_of_time = |kind| matches!(kind, Termination::TimeForfeit | Termination::Stall);
        let faults = counts.faults.iter();
        let of_time: u64 =
            faults.clone().filter(|((_, kind), _)| is_of_time(*kind)).map(|f| f.1).sum();
        let share = latencies.total_waiting_share().filter(|share| *share > OVERLOADED)?;
        // Engines ran for the rest of their time, so that the processors carry this share of the
        // games.
        let games = (plan.concurrency as f64 * (1.0 - share)).round().max(1.0) as usize;
        // A machine can delay engines, but crashes and illegal moves are their own.
        let is_to_blame = 2 * of_time > faults.map(|(_, count)| count).sum();
        is_to_blame.then_some(Overload { share, games })
    }
}

/// Writes a sentence without its end.
impl fmt::Display for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overload { share, games } = self;
        let carried = if *games == 1 { "1 game".to_owned() } else { format!("{games} games") };
        write!(
            f,
            "the machine is overloaded: engines waited for a processor for {:.0} % of their \
             thinking time; it can play {carried} in parallel (--concurrency {games})",
            100.0 * share
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LatencyKind, Request, RunKind};

    #[test]
    fn overload_is_reported_if_late_engines_waited_for_a_processor() {
        let request = Request { concurrency: Some(20), ..Request::default() };
        let plan = Plan::resolve(RunKind::Sprt, request).expect("the defaults are a plan");
        let check = |kind, waited: u64| {
            let mut counts = RunCounts::default();
            counts.faults.insert((0, kind), 9);
            let mut latencies = Latencies::default();
            for engine in 0..2 {
                latencies.add(engine, LatencyKind::Thinking, 100_000, 9);
                latencies.add(engine, LatencyKind::Waiting, waited, 9);
            }
            Overload::of(&plan, &counts, &latencies).map(|overload| overload.to_string())
        };
        let words = "the machine is overloaded: engines waited for a processor for 80 % of their \
                     thinking time; it can play 4 games in parallel (--concurrency 4)";
        assert_eq!(check(Termination::TimeForfeit, 80_000).as_deref(), Some(words));
        assert!(check(Termination::Stall, 99_000).is_some_and(|words| words.contains("1 game in")));
        assert_eq!(check(Termination::TimeForfeit, 20_000), None);
        assert_eq!(check(Termination::IllegalMove, 80_000), None);
    }
}
