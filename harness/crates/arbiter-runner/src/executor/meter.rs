//! Measures what the machine does to a game.

use std::sync::Arc;
use std::time::Duration;

use shakmaty::{ByColor, Color, Position};

use arbiter_game::driver::{self, GameSetup};
use arbiter_game::engine::EngineProcess;
use arbiter_game::live_game::LiveGame;
use arbiter_game::record::GameRecord;
use arbiter_plan::{Noise, NoiseMeasurement, NoiseSide, judge_noise};
use arbiter_process::Delays;

/// Plays a game between engines that are ready for it, gives them back, and says whether the game
/// lost more than `limit` to the machine. Without a limit, or a clock, nothing is measured.
pub(super) async fn play(
    setup: &GameSetup,
    engines: ByColor<EngineProcess>,
    limit: Option<f64>,
    live_game: Arc<LiveGame>,
) -> (GameRecord, ByColor<EngineProcess>, Option<Noise>) {
    let is_timed = setup.conditions.iter().any(|conditions| conditions.limits.is_timed());
    let limit = limit.filter(|_| is_timed);
    let meter = limit.map(|limit| (limit, Meter::start(&engines)));
    let (record, engines) = driver::play(setup.clone(), engines, live_game).await;
    let noise =
        meter.and_then(|(limit, meter)| judge_noise(limit, &meter.stop(&engines, setup, &record)));
    (record, engines, noise)
}

/// What was read at the start of a game.
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

    /// Reads them again after the last move. An engine that is gone by now has lost nothing that
    /// could be measured.
    fn stop(
        &self,
        engines: &ByColor<EngineProcess>,
        setup: &GameSetup,
        record: &GameRecord,
    ) -> NoiseMeasurement {
        let thought = thinking(setup.start.turn(), record);
        let side = |color: Color| {
            let (moves, thought) = *thought.get(color);
            NoiseSide {
                engine: *setup.engines.get(color),
                lost: engines.get(color).process().delays().since(self.delays.get(color), thought),
                thought,
                moves,
                // The move that was never made had its time, too.
                granted: setup.conditions.get(color).limits.granted(moves + 1),
            }
        };
        let stolen = arbiter_process::stolen().saturating_sub(self.stolen);
        // How many there are matters only then, and takes several files to tell.
        let processors = (!stolen.is_zero()).then(std::thread::available_parallelism);
        let processors = processors.and_then(Result::ok).map_or(1, |count| count.get());
        NoiseMeasurement {
            sides: ByColor { white: side(Color::White), black: side(Color::Black) },
            stolen,
            elapsed: record.duration,
            processors: u32::try_from(processors).unwrap_or(u32::MAX),
        }
    }
}

/// How many moves each side thought about, and how long, if `first` moves first.
fn thinking(first: Color, record: &GameRecord) -> ByColor<(u32, Duration)> {
    let mut sum = ByColor::new_with(|_| (0, Duration::ZERO));
    let mut color = first;
    for played in &record.moves {
        if let Some(thought) = &played.thought {
            let (moves, time) = sum.get_mut(color);
            *moves += 1;
            *time += thought.elapsed;
        }
        color = !color;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::outcome::{Outcome, Termination};
    use arbiter_game::record::{MoveRecord, Thought};

    #[test]
    fn each_side_has_its_own_time() {
        let thought =
            |ms| Some(Thought { elapsed: Duration::from_millis(ms), ..Thought::default() });
        let moves = [None, None, thought(5), thought(70), thought(6)];
        let record = GameRecord {
            engines: ByColor { white: 0, black: 1 },
            fen: String::new(),
            chess960: false,
            moves: moves.map(|thought| MoveRecord { uci: "e2e4".parse().unwrap(), thought }).into(),
            outcome: Outcome::lost(Color::White, Termination::Crash, ""),
            duration: Duration::ZERO,
            ready: ByColor::default(),
            movetime: ByColor::default(),
            late: None,
            begun_ms: None,
            transcript: None,
        };
        let time = Duration::from_millis;
        let sum = thinking(Color::Black, &record);
        assert_eq!((sum.black, sum.white), ((2, time(11)), (1, time(70))));
    }
}
