//! Output of a run as JSON lines while the run is played.

use schemars::JsonSchema;
use serde::Serialize;

use arbiter_game::outcome::Termination;
use arbiter_plan::Plan;
use arbiter_report::{print_result, to_value};
use arbiter_run::{ExcludedWorker, Observer, ObserverError, RunEvent};

/// Observer that prints a line of JSON for each counted pair and for each excluded worker.
#[derive(Debug)]
pub(super) struct Stream<'a>(pub(super) &'a Plan);

/// A line of the output of a run with --format ndjson; the last line is the report of the run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[schemars(title = "arbiter.events")]
pub(crate) enum Line<'a> {
    /// A counted pair.
    Pair {
        /// Number of the pair, from 1.
        pair: u64,
        /// Name of the first engine.
        first: &'a str,
        /// Name of the second engine.
        second: &'a str,
        /// Games of the pair.
        games: Vec<Game<'a>>,
        /// Log-likelihood ratio of the SPRT.
        llr: Option<f64>,
        /// Bound of the LLR at or below which H0 is accepted.
        llr_stop_lower: Option<f64>,
        /// Bound of the LLR at or above which H1 is accepted.
        llr_stop_upper: Option<f64>,
        /// Milliseconds since the start or resumption of the run.
        elapsed_ms: f64,
    },
    /// The exclusion of a worker: only the first `pairs_counted` pairs before this line still
    /// count.
    WorkerExcluded {
        #[serde(flatten)]
        excluded: &'a ExcludedWorker,
        /// Number of pairs that still count.
        pairs_counted: u64,
    },
}

/// A game.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Game<'a> {
    /// Name of the engine with White.
    white: &'a str,
    /// Name of the engine with Black.
    black: &'a str,
    /// Result: `1-0`, `0-1`, `1/2-1/2` or `*`.
    result: &'static str,
    /// Reason for the end of the game.
    termination: Termination,
    /// Details of the termination, as text.
    detail: &'a str,
    /// Number of plies, including book moves.
    plies: usize,
    /// Duration of the game, in milliseconds.
    duration_ms: f64,
}

impl Observer for Stream<'_> {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        let name = |engine: usize| self.0.engines[engine].name.as_str();
        let line = match event {
            RunEvent::WorkerExcluded { excluded, state } => {
                let pairs_counted = state.counted_pairs().count() as u64;
                Line::WorkerExcluded { excluded, pairs_counted }
            }
            RunEvent::Counted { played, tally, sprt_status, elapsed } => Line::Pair {
                pair: tally.pair + 1,
                first: name(tally.engines[0]),
                second: name(tally.engines[1]),
                games: (played.games.iter())
                    .map(|game| Game {
                        white: name(game.engines.white),
                        black: name(game.engines.black),
                        result: game.outcome.result.as_str(),
                        termination: game.outcome.termination,
                        detail: &game.outcome.detail,
                        plies: game.moves.len(),
                        duration_ms: game.duration.as_secs_f64() * 1e3,
                    })
                    .collect(),
                llr: sprt_status.map(|status| status.llr),
                llr_stop_lower: sprt_status.map(|status| status.lower),
                llr_stop_upper: sprt_status.map(|status| status.upper),
                elapsed_ms: elapsed.as_secs_f64() * 1e3,
            },
            _ => return Ok(()),
        };
        let line = to_value(&line);
        print_result(&format!("{line}\n")).map_err(ObserverError)
    }
}
