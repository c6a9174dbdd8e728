//! Slots, which play pairs one after another and reuse their engines.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::Color;
use tokio::sync::{Semaphore, mpsc};

use super::JobEvent;
use super::engine_pool::EnginePool;
use super::meter::Meter;
use crate::dispatch::unix_time_ms;
use crate::live_games::LiveGames;
use arbiter_game::driver::{self, GameSetup};
use arbiter_game::engine::{EngineError, EngineProcess, EngineSetup};
use arbiter_game::live_game::LiveGame;
use arbiter_game::outcome::Termination;
use arbiter_game::record::GameRecord;
use arbiter_game::transcript::Recorder;
use arbiter_process::{Pulse, QUIT_GRACE, Spawner};
use arbiter_protocol::Restart;
use arbiter_run::{Games, PairJob, PlayedPair};
use arbiter_schedule::Pairing;

/// Assumed memory use, in bytes, of an engine whose memory use cannot be measured.
const UNKNOWN_BYTES: u64 = 256 << 20;

/// Interval between checks while the next beat of the pulse is late.
const PULSE_CHECK: Duration = Duration::from_millis(20);

/// Settings for games on this machine.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// Number of concurrent games.
    pub slots: usize,
    /// Pause between two games of a slot.
    pub wait: Duration,
    /// `true` if the time that engines wait for a processor is measured in timed games.
    pub measures_waiting: bool,
    /// `true` if each game is reported when it ends, before its pair is complete.
    pub tells_games: bool,
    /// Processors of each slot; if empty, the operating system assigns processors.
    pub cpu_sets: Vec<Vec<usize>>,
}

/// Resources shared by all slots.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) spawner: Spawner,
    /// Permits that limit parallel starts of engines.
    pub(super) starts: Arc<Semaphore>,
    pub(super) pulse: Pulse,
    pub(super) setups: Arc<Vec<EngineSetup>>,
    /// Idle engines that belong to no slot.
    pub(super) pool: Arc<EnginePool<EngineProcess>>,
    /// List of the games in progress.
    pub(super) live_games: LiveGames,
    pub(super) options: LocalOptions,
    /// Channel of events. The event that ends a job is sent together with the slot of the job.
    pub(super) events: mpsc::UnboundedSender<(Option<Slot>, JobEvent)>,
}

/// Slot that plays one game at a time. Engines that have not failed stay in the slot between games.
#[derive(Debug)]
pub(super) struct Slot {
    /// Number of the slot among the slots in use.
    pub(super) number: usize,
    shared: Shared,
    /// Engines of the slot, by index of their setup.
    pub(super) engines: BTreeMap<usize, EngineProcess>,
    /// `true` after the start of the first game.
    has_played: bool,
}

impl Slot {
    pub(super) fn new(number: usize, shared: Shared) -> Slot {
        Slot { number, shared, engines: BTreeMap::new(), has_played: false }
    }

    /// Plays the games of a pair. Sends an event when a game starts, and when a game ends if the
    /// settings request this event or an engine fault ended the game. Fails if the machine has a
    /// problem; an engine fault is not an error.
    pub(super) async fn play(&mut self, job: PairJob) -> Result<PlayedPair, String> {
        // Engines that this pair does not need go to the pool first, so that other slots can take
        // these engines.
        let PairJob { pairing, games } = job;
        self.pool_others(pairing.engines).await;
        self.take_from_pool(pairing.engines);
        // A pair is played again if this process was suspended during a game.
        loop {
            let pauses = self.pauses().await;
            let first = self.play_and_report(pairing, 0, &games.first, pauses).await?;
            let Some(first) = first else { continue };
            let mut second = None;
            if let Some(setup) = &games.second {
                second = self.play_and_report(pairing, 1, setup, pauses).await?;
                if second.is_none() {
                    continue;
                }
            }
            return Ok(PlayedPair { pairing, games: Games { first, second } });
        }
    }

    /// Returns the number of times that this process has been suspended.
    async fn pauses(&self) -> u64 {
        loop {
            match self.shared.pulse.pauses() {
                Some(pauses) => return pauses,
                // The late beat will show whether there was a pause.
                None => tokio::time::sleep(PULSE_CHECK).await,
            }
        }
    }

    fn send(&self, event: JobEvent) {
        // If the channel is closed, the run has ended and the event is not needed.
        let _ = self.shared.events.send((None, event));
    }

    /// Plays a game, and sends its events; returns `None` if a suspension of this process since
    /// `pauses` suspensions invalidated the game.
    async fn play_and_report(
        &mut self,
        pairing: Pairing,
        game_index: usize,
        setup: &GameSetup,
        pauses: u64,
    ) -> Result<Option<GameRecord>, String> {
        // The pause is between two games, so the first game starts without a pause.
        if std::mem::replace(&mut self.has_played, true) && !self.shared.options.wait.is_zero() {
            tokio::time::sleep(self.shared.options.wait).await;
        }
        self.send(JobEvent::Started { pairing, game_index });
        let listed = self.shared.live_games.add((pairing.pair, game_index));
        let game = self.play_game(setup, listed.live_game.clone()).await?;
        // A clock or a timeout may have expired while this process was suspended and could read no
        // answer. Searches with node limits are not affected.
        let is_affected = is_timed(setup) || game.outcome.termination == Termination::Stall;
        if self.pauses().await != pauses && is_affected {
            return Ok(None);
        }
        // A fault is reported immediately, because the second game of the pair may take a long
        // time.
        if self.shared.options.tells_games || game.outcome.termination.is_fault() {
            self.send(JobEvent::Ended { pairing, game_index, game: Box::new(game.clone()) });
        }
        Ok(Some(game))
    }

    /// Moves each engine that is not in `engines` to the pool, or terminates the engine if the pool
    /// is full.
    async fn pool_others(&mut self, engines: [usize; 2]) {
        for (index, engine) in self.engines.extract_if(.., |index, _| !engines.contains(index)) {
            let bytes = engine.process().resident_bytes().unwrap_or(UNKNOWN_BYTES);
            if let Err(engine) = self.shared.pool.put(index, engine, bytes) {
                engine.quit(QUIT_GRACE).await;
            }
        }
    }

    fn take_from_pool(&mut self, engines: [usize; 2]) {
        for index in engines {
            if !self.engines.contains_key(&index)
                && let Some(engine) = self.shared.pool.take(index)
            {
                let cpus = &self.shared.setups[index].launch.cpus;
                if !cpus.is_empty() {
                    // The engine may have played on the processors of another slot.
                    engine.process().move_to(cpus);
                }
                self.engines.insert(index, engine);
            }
        }
    }

    async fn play_game(
        &mut self,
        setup: &GameSetup,
        live_game: Arc<LiveGame>,
    ) -> Result<GameRecord, String> {
        for color in Color::ALL {
            match self.ready_engine(setup, color).await {
                // If its opponent fails, this engine can play the next game.
                Ok(engine) => drop(self.engines.insert(*setup.engines.get(color), engine)),
                // The engine was started successfully before the run, so the machine is the cause
                // of this failure. For example, the program was removed, or the machine has run out
                // of memory or processes.
                Err((error @ EngineError::Spawn(_), _)) => {
                    let index = *setup.engines.get(color);
                    return Err(format!("engine '{}': {error}", self.shared.setups[index].name));
                }
                Err((error, recorder)) => {
                    return Ok(driver::forfeited(setup, color, error.fault(), recorder.as_ref()));
                }
            }
        }
        let ready = |index| self.engines.remove(&index).expect("both engines are ready now");
        let engines = setup.engines.map(ready);
        let begun_ms = unix_time_ms();
        let is_measured = self.shared.options.measures_waiting && is_timed(setup);
        let meter = is_measured.then(|| Meter::start(&engines));
        let (mut record, engines) =
            driver::play(setup.clone(), engines, live_game, is_measured).await;
        if let Some(meter) = meter {
            record.waited = meter.stop(&engines, &record);
        }
        record.begun_ms = Some(begun_ms);
        let result = format!("{} {{{}}}", record.outcome.result.as_str(), record.outcome.detail);
        for (color, mut engine) in Color::ALL.into_iter().zip(engines) {
            let index = *setup.engines.get(color);
            let stays = match self.shared.setups[index].restart {
                Restart::Auto => engine.session().is_reusable(),
                Restart::On => false,
                Restart::Off => true,
            };
            if is_broken(&record, color) || engine.game_over(&result).await.is_err() {
                engine.quit(Duration::ZERO).await;
            } else if stays {
                self.engines.insert(index, engine);
            } else {
                engine.quit(QUIT_GRACE).await;
            }
        }
        Ok(record)
    }

    /// Returns the engine of `color`, ready for the game. An engine that exited between games is
    /// started again, because this exit is not a fault; an exit during the start is a fault. The
    /// error contains the transcript of the failed engine, if any.
    async fn ready_engine(
        &mut self,
        setup: &GameSetup,
        color: Color,
    ) -> Result<EngineProcess, (EngineError, Option<Recorder>)> {
        let index = *setup.engines.get(color);
        let game = driver::game(setup, color);
        match self.engines.remove(&index) {
            // The engine may have left child processes, which `quit` kills in a different thread.
            Some(engine) if engine.process().has_exited() => engine.quit(Duration::ZERO).await,
            Some(mut engine) => match engine.new_game(game).await {
                Ok(()) => return Ok(engine),
                // An exit between games is not a fault, even if the exit is noticed only now. The
                // code below starts the engine again.
                Err(EngineError::Exited(_)) => {}
                Err(error) => return Err(give_up(engine, error).await),
            },
            None => {}
        }
        // The permit is acquired before the start, because the timeouts begin when the engine
        // starts. Acquiring never fails, because the semaphore is never closed.
        let _permit = self.shared.starts.acquire().await;
        let mut engine =
            EngineProcess::try_start(&self.shared.spawner, &self.shared.setups[index]).await?;
        match engine.new_game(game).await {
            Ok(()) => Ok(engine),
            Err(error) => Err(give_up(engine, error).await),
        }
    }
}

/// Terminates an engine that has failed, and returns `error` and the engine's transcript.
async fn give_up(mut engine: EngineProcess, error: EngineError) -> (EngineError, Option<Recorder>) {
    let recorder = engine.take_recorder();
    engine.quit(Duration::ZERO).await;
    (error, Some(recorder))
}

fn is_timed(setup: &GameSetup) -> bool {
    setup.conditions.iter().any(|conditions| conditions.limits.is_timed())
}

/// Returns whether the engine of `color` lost because of a fault after which the process of the
/// engine cannot play another game.
fn is_broken(record: &GameRecord, color: Color) -> bool {
    use Termination::{Crash, Disconnect, ProtocolError, Stall};
    let lost = record.outcome.result.winner() == Some(color.other());
    lost && matches!(record.outcome.termination, Crash | Disconnect | Stall | ProtocolError)
}
