//! One place at which pairs are played, one after another, and the engines that sit there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::{ByColor, Color};
use tokio::task::JoinSet;

use super::local::Room;
use super::meter;
use super::rest::Rest;
use crate::gallery::Gallery;
use arbiter_game::driver::{self, GameSetup};
use arbiter_game::outcome::Termination;
use arbiter_game::pane::Pane;
use arbiter_game::player::{Player, PlayerError, Seat};
use arbiter_game::record::GameRecord;
use arbiter_game::transcript::Tape;
use arbiter_plan::run::job::{Games, PairJob, PlayedPair};
use arbiter_process::{QUIT_GRACE, Spawner};
use arbiter_protocol::Restart;

/// What an engine is taken to hold whose memory cannot be measured.
const UNKNOWN_BYTES: u64 = 256 << 20;

/// A table with its engines; they stay from game to game as long as they behave.
#[derive(Debug)]
pub(super) struct Slot {
    /// Its number among those at work.
    pub(super) number: usize,
    spawner: Spawner,
    seats: Arc<Vec<Seat>>,
    players: BTreeMap<usize, Player>,
    /// Where engines wait that play elsewhere or later.
    rest: Arc<Rest<Player>>,
    /// Where its games are seen.
    gallery: Gallery,
    /// Pause between two games.
    wait: Duration,
    /// Share of time that a game may lose to the machine; `None` does not measure.
    noise_limit: Option<f64>,
    /// How the machine disturbed games of the pair in hand.
    noises: Vec<String>,
    has_played: bool,
}

impl Slot {
    pub(super) fn new(
        number: usize,
        spawner: Spawner,
        seats: Arc<Vec<Seat>>,
        rest: Arc<Rest<Player>>,
        gallery: Gallery,
        room: &Room,
    ) -> Slot {
        Slot {
            number,
            spawner,
            seats,
            players: BTreeMap::new(),
            rest,
            gallery,
            wait: room.wait,
            noise_limit: room.noise_limit,
            noises: Vec::new(),
            has_played: false,
        }
    }

    /// Plays the games, and says how the machine disturbed them if it did. `started` is told which
    /// of the games begins. An error is the machine's, never an engine's.
    pub(super) async fn play(
        &mut self,
        job: PairJob,
        started: impl Fn(usize),
    ) -> Result<(PlayedPair, Option<String>), String> {
        self.noises.clear();
        self.release_others(job.pairing.engines).await;
        self.call_rested(job.pairing.engines);
        self.pause().await;
        let pair = job.pairing.pair;
        started(0);
        let hung = self.gallery.hang((pair, 0));
        let first = self.play_game(&job.games.first, hung.pane()).await?;
        drop(hung);
        let second = match &job.games.second {
            Some(setup) => {
                self.pause().await;
                started(1);
                let hung = self.gallery.hang((pair, 1));
                Some(self.play_game(setup, hung.pane()).await?)
            }
            None => None,
        };
        let noise = (!self.noises.is_empty()).then(|| self.noises.join("; "));
        Ok((PlayedPair { pairing: job.pairing, games: Games { first, second } }, noise))
    }

    /// Waits between two games; not before the first.
    async fn pause(&mut self) {
        if std::mem::replace(&mut self.has_played, true) && !self.wait.is_zero() {
            tokio::time::sleep(self.wait).await;
        }
    }

    /// Ends all engines, together.
    pub(super) async fn clear(&mut self) {
        let mut leaving = JoinSet::new();
        while let Some((_, player)) = self.players.pop_first() {
            leaving.spawn(player.quit(QUIT_GRACE));
        }
        while leaving.join_next().await.is_some() {}
    }

    /// Engines that do not play now rest, if there is room.
    async fn release_others(&mut self, engines: [usize; 2]) {
        for index in self.players.keys().copied().collect::<Vec<_>>() {
            if !engines.contains(&index)
                && let Some(player) = self.players.remove(&index)
            {
                let bytes = player.resident_bytes().unwrap_or(UNKNOWN_BYTES);
                if let Err(player) = self.rest.enter(index, player, bytes) {
                    player.quit(QUIT_GRACE).await;
                }
            }
        }
    }

    fn call_rested(&mut self, engines: [usize; 2]) {
        for index in engines {
            if !self.players.contains_key(&index)
                && let Some(player) = self.rest.call(index)
            {
                let cpus = &self.seats[index].launch.cpus;
                if !cpus.is_empty() {
                    // It may have played elsewhere.
                    player.process().move_to(cpus);
                }
                self.players.insert(index, player);
            }
        }
    }

    async fn play_game(
        &mut self,
        setup: &GameSetup,
        pane: Arc<Pane>,
    ) -> Result<GameRecord, String> {
        let mut seated = Vec::new();
        for color in Color::ALL {
            match self.sit_down(setup, color).await {
                Ok(player) => seated.push((color, player)),
                // It could be started before the run, so something was taken away from under us.
                Err((error @ PlayerError::Spawn(_), _)) => {
                    let index = *setup.engines.get(color);
                    return Err(format!("engine '{}': {error}", self.seats[index].name));
                }
                Err((error, tape)) => {
                    // Whoever sits by now is ready for any game.
                    for (color, player) in seated {
                        self.players.insert(*setup.engines.get(color), player);
                    }
                    return Ok(driver::forfeited(setup, color, error.fault(), tape.as_ref()));
                }
            }
        }
        let mut seated = seated.into_iter().map(|(_, player)| player);
        let (Some(white), Some(black)) = (seated.next(), seated.next()) else {
            return Err("a game needs two players".to_owned());
        };
        let players = ByColor { white, black };
        let (record, players, noise) = meter::play(setup, players, self.noise_limit, pane).await;
        self.noises.extend(noise.map(|noise| noise.words(|index| self.seats[index].name.as_str())));
        let result = format!("{} {{{}}}", record.outcome.result.as_str(), record.outcome.detail);
        for (color, mut player) in Color::ALL.into_iter().zip(players) {
            let index = *setup.engines.get(color);
            let stays = match self.seats[index].restart {
                Restart::Auto => player.is_reusable(),
                Restart::On => false,
                Restart::Off => true,
            };
            if is_broken(&record, color) || player.game_over(&result).await.is_err() {
                player.quit(Duration::ZERO).await;
            } else if stays {
                self.players.insert(index, player);
            } else {
                player.quit(QUIT_GRACE).await;
            }
        }
        Ok(record)
    }

    /// The engine of `color`, ready for the game. One that left after its last game is started
    /// again, because to leave between games is no fault; one that leaves at once is at fault.
    /// What an engine that fails has said comes with the error.
    async fn sit_down(
        &mut self,
        setup: &GameSetup,
        color: Color,
    ) -> Result<Player, (PlayerError, Option<Tape>)> {
        let index = *setup.engines.get(color);
        let game = driver::game(setup, color);
        if let Some(mut player) = self.players.remove(&index)
            && !tokio::task::block_in_place(|| player.has_left())
        {
            match player.new_game(game).await {
                Ok(()) => return Ok(player),
                Err(PlayerError::Exited(_)) => {}
                Err(error) => {
                    let tape = player.take_tape();
                    player.quit(Duration::ZERO).await;
                    return Err((error, Some(tape)));
                }
            }
        }
        let mut player = Player::try_start(&self.spawner, &self.seats[index]).await?;
        match player.new_game(game).await {
            Ok(()) => Ok(player),
            Err(error) => {
                let tape = player.take_tape();
                player.quit(Duration::ZERO).await;
                Err((error, Some(tape)))
            }
        }
    }
}

/// Whether the engine of `color` can play no other game.
fn is_broken(record: &GameRecord, color: Color) -> bool {
    let lost = record.outcome.result.winner() == Some(color.other());
    let broken = matches!(
        record.outcome.termination,
        Termination::Crash
            | Termination::Disconnect
            | Termination::Stall
            | Termination::ProtocolError
    );
    lost && broken
}
