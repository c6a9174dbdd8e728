//! Measurement of the time that the engines of a game waited for a processor.

use std::time::Duration;

use shakmaty::{ByColor, Color};

use arbiter_game::engine::EngineProcess;
use arbiter_game::record::GameRecord;
use arbiter_process::Delays;

/// Delay of each move on an idle machine. This delay does not count as waiting: waking the engine's
/// thread and waking the reader thread take up to 0.1 ms each.
const WAKING: Duration = Duration::from_micros(200);

/// Measurements at the start of a game.
pub(super) struct Meter {
    delays: ByColor<Delays>,
    stolen: Duration,
}

impl Meter {
    /// Takes the measurements before the first move.
    pub(super) fn start(engines: &ByColor<EngineProcess>) -> Meter {
        let delays = engines.as_ref().map(|engine| engine.process().delays());
        Meter { delays, stolen: arbiter_process::stolen() }
    }

    /// Takes the measurements after the last move, and returns the time that each engine lost. If
    /// an engine has already exited, the time for which its threads waited is missing. Time that
    /// the host of a virtual machine took from all processors is divided between the engines in
    /// proportion to their thinking times.
    pub(super) fn stop(
        &self,
        engines: &ByColor<EngineProcess>,
        record: &GameRecord,
    ) -> ByColor<Option<Duration>> {
        let stolen = arbiter_process::stolen().saturating_sub(self.stolen);
        let mut share = 0.0;
        // The number of processors is only needed if time was stolen; determining the number
        // requires reading several files.
        if !stolen.is_zero() {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            // Stolen time is a sum over all processors, so the stolen time is compared with the
            // time of all processors.
            share = stolen.as_secs_f64() / (record.duration.as_secs_f64() * processors as f64);
        }
        let thinking = record.thinking_times();
        ByColor::new_with(|color: Color| {
            let (moves, search) = *thinking.get(color);
            let delays = engines.get(color).process().delays();
            let lost = delays.since(self.delays.get(color), search);
            // Without this correction, a fifth of the pairs at 0.5 ms per move would be voided even
            // on an idle machine.
            let lost = lost.saturating_sub(WAKING.saturating_mul(moves));
            Some((lost + search.mul_f64(share.min(1.0))).min(search))
        })
    }
}
