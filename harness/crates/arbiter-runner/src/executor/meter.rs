//! Measures the time for which the engines of a game had to wait for a processor.

use std::sync::Arc;
use std::time::Duration;

use shakmaty::{ByColor, Color};

use arbiter_game::driver::{self, GameSetup};
use arbiter_game::engine::EngineProcess;
use arbiter_game::live_game::LiveGame;
use arbiter_game::record::GameRecord;
use arbiter_process::Delays;

/// Delay of a move on a calm machine, too, which is no waiting: the engine's thread and our reader
/// are woken, each of which may need 0.1 ms to find its processor.
const WAKING: Duration = Duration::from_micros(200);

/// Plays a game between engines that are ready for it, and returns them. The record has their
/// waiting times if `is_measured` and the game has a clock.
pub(super) async fn play(
    setup: &GameSetup,
    engines: ByColor<EngineProcess>,
    is_measured: bool,
    live_game: Arc<LiveGame>,
) -> (GameRecord, ByColor<EngineProcess>) {
    let is_timed = setup.conditions.iter().any(|conditions| conditions.limits.is_timed());
    let meter = (is_measured && is_timed).then(|| Meter::start(&engines));
    let (mut record, engines) =
        driver::play(setup.clone(), engines, live_game, meter.is_some()).await;
    if let Some(meter) = meter {
        record.waited = meter.stop(&engines, &record);
    }
    (record, engines)
}

/// Readings at the start of a game.
struct Meter {
    delays: ByColor<Delays>,
    stolen: Duration,
}

impl Meter {
    /// Reads the meters before the first move.
    fn start(engines: &ByColor<EngineProcess>) -> Meter {
        let delays = engines.as_ref().map(|engine| engine.process().delays());
        Meter { delays, stolen: arbiter_process::stolen() }
    }

    /// Reads the meters again after the last move. An engine that has exited by now has lost no
    /// time that could be measured. Time that the host of a virtual machine took from all
    /// processors is shared between the engines by their thinking times.
    fn stop(
        &self,
        engines: &ByColor<EngineProcess>,
        record: &GameRecord,
    ) -> ByColor<Option<Duration>> {
        let stolen = arbiter_process::stolen().saturating_sub(self.stolen);
        // The number of processors matters only if time was stolen, and the system reads several
        // files for it.
        let processors = (!stolen.is_zero()).then(std::thread::available_parallelism);
        let processors = processors.and_then(Result::ok).map_or(1, |count| count.get());
        // Stolen time is a sum over all processors, and so is the time of the machine that it is
        // compared with.
        let machine = record.duration.as_secs_f64() * processors as f64;
        let share = if stolen.is_zero() { 0.0 } else { stolen.as_secs_f64() / machine };
        let thinking = record.thinking_times();
        ByColor::new_with(|color: Color| {
            let (moves, thought) = *thinking.get(color);
            let delays = engines.get(color).process().delays();
            let lost = delays.since(self.delays.get(color), thought);
            // An engine that thinks for half a millisecond a move would otherwise lose a fifth of
            // its pairs on an idle machine.
            let lost = lost.saturating_sub(WAKING.saturating_mul(moves));
            Some((lost + thought.mul_f64(share.min(1.0))).min(thought))
        })
    }
}
