//! A run as lines of JSON on standard output, while it is played.

use serde_json::{Value, json};

use crate::emit;
use arbiter_plan::{Observer, ObserverError, Plan, RunEvent};

/// Prints a line for each pair when it counts, and one when a worker is excluded, after which only
/// the first of those pairs still count; the report follows as the last line.
#[derive(Debug)]
pub(super) struct Stream<'a>(pub(super) &'a Plan);

impl Observer for Stream<'_> {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        if let RunEvent::WorkerExcluded { excluded, counted, .. } = event {
            return print(&json!({
                "event": "set_aside",
                "worker": excluded.worker,
                "reason": excluded.reason,
                "pairs_discarded": excluded.pairs,
                "pairs_counted": counted,
            }));
        }
        let RunEvent::Counted { played, tally, sprt_status, elapsed } = event else {
            return Ok(());
        };
        let name = |engine: usize| &self.0.engines[engine].name;
        let [first, second] = tally.engines.map(name);
        let games = played.games.iter().map(|game| {
            json!({
                "white": name(game.engines.white),
                "black": name(game.engines.black),
                "result": game.outcome.result.as_str(),
                "termination": game.outcome.termination,
                "detail": game.outcome.detail,
                "plies": game.moves.len(),
                "duration_ms": game.duration.as_secs_f64() * 1e3,
            })
        });
        let line = json!({
            "event": "pair",
            "pair": tally.pair + 1,
            "first": first,
            "second": second,
            "games": games.collect::<Vec<_>>(),
            "llr": sprt_status.map(|sprt_status| sprt_status.llr),
            "llr_stop_lower": sprt_status.map(|sprt_status| sprt_status.lower),
            "llr_stop_upper": sprt_status.map(|sprt_status| sprt_status.upper),
            "elapsed_ms": elapsed.as_secs_f64() * 1e3,
        });
        print(&line)
    }
}

fn print(line: &Value) -> Result<(), ObserverError> {
    emit(&format!("{line}\n")).map_err(|failure| ObserverError(failure.message))
}
