//! Whether the machine disturbed a game so much that its result says little of the engines. Pure.
//!
//! Games without a clock cannot be disturbed. In the others, each engine's clock runs on while its
//! threads, or the thread of ours that reads it, are ready to run and find no processor free.

use std::time::Duration;

use shakmaty::ByColor;

/// How often a disturbed pair is played again before it counts as it is.
const MAX_REPLAYS: u64 = 2;

/// What is lost below this share of the time that the clock gave a side harms nobody, however
/// little the side thought.
const HARMLESS: f64 = 0.01;

/// What a calm machine takes for a move, too: the engine's thread and the reader of ours are woken,
/// each of which may need 0.1 ms to find its processor. Where an engine thinks for half a
/// millisecond that is a large share of it, in every game and for either side.
const WAKING: Duration = Duration::from_micros(200);

/// How many pairs of a run the machine disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Disturbances {
    /// Times that a pair was void and played again.
    pub voided: u64,
    /// Pairs that count although they were disturbed, as they were each time.
    pub counted: u64,
}

/// What becomes of a disturbed pair that was void `times` times before: whether it is void again.
pub fn is_void_again(times: u64) -> bool {
    times < MAX_REPLAYS
}

/// One side in a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoiseSide {
    /// Index of its engine.
    pub engine: usize,
    /// Time for which its threads were ready to run and did not.
    pub lost: Duration,
    /// Time it spent on its moves.
    pub thought: Duration,
    /// Moves that it thought about.
    pub moves: u32,
    /// Time that the clock gave it for these moves; `None` if no clock decided anything.
    pub granted: Option<Duration>,
}

/// What was measured in a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoiseMeasurement {
    /// Both sides.
    pub sides: ByColor<NoiseSide>,
    /// Time that the host took from all processors together.
    pub stolen: Duration,
    /// Length of the game.
    pub elapsed: Duration,
    /// Processors of the machine; it matters only if time was stolen.
    pub processors: u32,
}

/// A disturbance, as a share from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// An engine waited for a processor: a share of its thinking time.
    Starved {
        /// Its index.
        engine: usize,
        /// The share.
        share: f64,
    },
    /// The host of this virtual machine used its processors: a share of their time.
    Stolen(f64),
}

/// The worst disturbance above `limit`, a share from 0 to 1.
pub fn judge_noise(limit: f64, measured: &NoiseMeasurement) -> Option<Noise> {
    let NoiseMeasurement { sides, stolen, elapsed, processors } = measured;
    if sides.iter().all(|side| side.granted.is_none()) {
        return None;
    }
    let machine = elapsed.saturating_mul(*processors);
    let noises = sides.iter().map(starved).chain([Noise::Stolen(share(*stolen, machine))]);
    let worst = noises.max_by(|a, b| a.share().total_cmp(&b.share()));
    worst.filter(|noise| noise.share() > limit)
}

fn starved(side: &NoiseSide) -> Noise {
    let engine = side.engine;
    let waking = WAKING.saturating_mul(side.moves);
    let harmless = side.granted.map_or(Duration::MAX, |granted| granted.mul_f64(HARMLESS) + waking);
    let share = if side.lost <= harmless { 0.0 } else { share(side.lost, side.thought) };
    Noise::Starved { engine, share }
}

fn share(part: Duration, whole: Duration) -> f64 {
    if part.is_zero() { 0.0 } else { (part.as_secs_f64() / whole.as_secs_f64()).min(1.0) }
}

impl Noise {
    /// The share that was lost, 0 to 1.
    pub fn share(&self) -> f64 {
        match self {
            Noise::Starved { share, .. } | Noise::Stolen(share) => *share,
        }
    }

    /// A sentence without its end; `name` tells the names of engines.
    pub fn words<'a>(&self, name: impl Fn(usize) -> &'a str) -> String {
        let percent = 100.0 * self.share();
        match self {
            Noise::Starved { engine, .. } => {
                let name = name(*engine);
                format!("{name} waited for a processor for {percent:.0} % of its thinking time")
            }
            Noise::Stolen(_) => {
                format!("the host took {percent:.0} % of the machine's processor time")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn side(engine: usize, lost_ms: u64, thought_ms: u64, granted: Option<u64>) -> NoiseSide {
        NoiseSide {
            engine,
            lost: Duration::from_millis(lost_ms),
            thought: Duration::from_millis(thought_ms),
            moves: 1,
            granted: granted.map(Duration::from_secs),
        }
    }

    fn game(white: NoiseSide, black: NoiseSide) -> NoiseMeasurement {
        let sides = ByColor { white, black };
        NoiseMeasurement { sides, stolen: Duration::ZERO, elapsed: 10 * SECOND, processors: 2 }
    }

    #[test]
    fn an_engine_that_waited_too_long_is_named() {
        let calm = side(4, 400, 4_000, Some(8));
        let starved = side(7, 2_000, 4_000, Some(8));
        assert_eq!(judge_noise(0.25, &game(calm, calm)), None);
        let noise = judge_noise(0.25, &game(calm, starved)).unwrap();
        assert_eq!(noise, Noise::Starved { engine: 7, share: 0.5 });
        let words = noise.words(|index| if index == 7 { "B" } else { "A" });
        assert_eq!(words, "B waited for a processor for 50 % of its thinking time");
        assert_eq!(judge_noise(0.5, &game(calm, starved)), None, "the limit itself is allowed");
    }

    #[test]
    fn without_a_clock_nothing_is_disturbed() {
        let starved = |granted| side(0, 9_000, 9_000, granted);
        let no_clock =
            NoiseMeasurement { stolen: 20 * SECOND, ..game(starved(None), starved(None)) };
        assert_eq!(judge_noise(0.25, &no_clock), None);
        // Of two sides only the one with a clock can suffer.
        let noise = judge_noise(0.25, &game(side(0, 0, 10, Some(8)), side(1, 9_000, 9_000, None)));
        assert_eq!(noise, None);
    }

    #[test]
    fn engines_that_hardly_think_lose_nothing_that_matters() {
        // Half of its time, but that is 50 ms of the 8 s that it had.
        assert_eq!(
            judge_noise(0.25, &game(side(0, 50, 100, Some(8)), side(1, 0, 1, Some(8)))),
            None
        );
        // The same of a clock of a second is a lot.
        let noise = judge_noise(0.25, &game(side(0, 50, 100, Some(1)), side(1, 0, 1, Some(1))));
        assert_eq!(noise.map(|noise| noise.share()), Some(0.5));
        // A side that never moved may have waited all the same.
        let noise = judge_noise(0.25, &game(side(0, 500, 0, Some(1)), side(1, 0, 1, Some(1))));
        assert_eq!(noise.map(|noise| noise.share()), Some(1.0));
    }

    #[test]
    fn waking_for_many_short_moves_is_no_disturbance() {
        let moves = |moves, lost_ms| {
            let short = side(0, lost_ms, 30, None);
            let granted = Some(Duration::from_millis(160));
            let side = NoiseSide { moves, granted, ..short };
            judge_noise(0.25, &game(side, side)).map(|noise| noise.share())
        };
        assert_eq!(moves(60, 13), None, "0.2 ms for each of 60 moves, and 1.6 ms");
        assert_eq!(moves(60, 15), Some(0.5));
        assert_eq!(moves(6, 15), Some(0.5), "few moves wake nobody so often");
    }

    #[test]
    fn a_host_that_takes_its_machine_back_is_noticed() {
        let calm = side(0, 0, 4_000, Some(8));
        let stolen = |seconds| NoiseMeasurement { stolen: seconds * SECOND, ..game(calm, calm) };
        assert_eq!(judge_noise(0.25, &stolen(5)), None);
        let noise = judge_noise(0.25, &stolen(8)).unwrap();
        assert_eq!(noise, Noise::Stolen(0.4));
        assert_eq!(noise.words(|_| ""), "the host took 40 % of the machine's processor time");
    }
}
