//! One engine at the board: a process and its protocol session, driven asynchronously.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::sync::mpsc;
use tokio::time::timeout_at;

use crate::game::outcome::printable;
use crate::game::referee::{Fault, Reply};
use crate::process::{Chunk, Launch, Process, SpawnError, Spawner, WriteError};
use crate::uci::command::{Command, Go};
use crate::uci::info::Info;
use crate::uci::session::{Deadlines, Identity, Session, SessionError, Step};

/// Chunks of output that may wait for us; beyond that the engine waits, so that a flood of
/// output cannot fill the memory.
const CHUNKS_IN_FLIGHT: usize = 256;

/// How long a process that closed its output may take to exit and so count as crashed.
const EXIT_GRACE: Duration = Duration::from_millis(250);

/// How much of a dead engine's last line of error output is reported, in characters.
const LAST_WORDS: usize = 200;

/// What a player needs to know of its engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// The engine's name in the plan, for messages.
    pub name: String,
    /// What to start.
    pub launch: Launch,
    /// Options to set: name, value.
    pub options: Vec<(String, String)>,
    /// How long answers may take.
    pub deadlines: Deadlines,
}

/// Why an engine cannot be used. The text is made to follow the engine's name.
#[derive(Debug, Error)]
pub enum PlayerError {
    /// It could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It broke the protocol or was late.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Its process ended; the text says how.
    #[error("exited ({0})")]
    Exited(String),
    /// It closed its output but lives.
    #[error("closed its output")]
    Closed,
    /// It takes no more input.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl PlayerError {
    /// Whether the machine and not the engine is to blame.
    pub fn is_environment(&self) -> bool {
        matches!(self, PlayerError::Spawn(error) if error.is_environment())
    }

    /// What this error amounts to in a game.
    pub fn into_fault(self) -> Fault {
        match self {
            PlayerError::Exited(how) => Fault::Crashed(how),
            PlayerError::Spawn(error) => Fault::Crashed(error.to_string()),
            PlayerError::Closed | PlayerError::Write(WriteError::Closed) => {
                Fault::Disconnected(self.to_string())
            }
            PlayerError::Session(_) | PlayerError::Write(WriteError::Full) => {
                Fault::Silent(self.to_string())
            }
        }
    }
}

/// A running engine.
#[derive(Debug)]
pub struct Player {
    process: Process,
    session: Session,
    chunks: mpsc::Receiver<Chunk>,
    lines: VecDeque<(Instant, String)>,
    closed: bool,
    /// What was read before this moment belongs to an earlier search.
    since: Instant,
    /// When the last line that was taken in was read.
    heard: Instant,
}

impl Player {
    /// Starts the engine and completes the handshake, options included.
    pub async fn start(spawner: &Spawner, seat: &Seat) -> Result<Player, PlayerError> {
        let (sender, chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
        let sink = move |chunk| sender.blocking_send(chunk).is_ok();
        let process = spawner.spawn(&seat.launch, sink)?;
        let session = Session::new(seat.options.clone(), seat.deadlines);
        let since = Instant::now();
        let lines = VecDeque::new();
        let mut player =
            Player { process, session, chunks, lines, closed: false, since, heard: since };
        let commands = player.session.open(since);
        player.send(&commands)?;
        player.until_ready().await?;
        Ok(player)
    }

    /// What the engine said about itself.
    pub fn identity(&self) -> &Identity {
        self.session.identity()
    }

    /// Memory its process holds now; `None` where the system does not say.
    pub fn resident_bytes(&self) -> Option<u64> {
        self.process.resident_bytes()
    }

    /// Prepares for another game.
    pub async fn new_game(&mut self, chess960: bool) -> Result<(), PlayerError> {
        let commands = self.session.new_game(Instant::now(), chess960)?;
        self.send(&commands)?;
        self.until_ready().await
    }

    /// Lets the engine think. One that goes past `budget` is told to stop, and its answer to that
    /// still is its move, however late; without a budget the session's deadline is final.
    pub async fn think(&mut self, position: String, go: Go, budget: Option<Duration>) -> Reply {
        self.watch(position, go, budget, |_, _| ControlFlow::Continue(())).await
    }

    /// Lets the engine think as [`Player::think`] does. After each line about the search, `look` is
    /// told the time since `go` and all that is known of the search, and may stop it.
    pub async fn watch(
        &mut self,
        position: String,
        go: Go,
        budget: Option<Duration>,
        look: impl FnMut(Duration, &Info) -> ControlFlow<()>,
    ) -> Reply {
        let search = self.search(position, go, budget, look).await;
        search.unwrap_or_else(|error| Reply::Fault(error.into_fault()))
    }

    async fn search(
        &mut self,
        position: String,
        go: Go,
        budget: Option<Duration>,
        mut look: impl FnMut(Duration, &Info) -> ControlFlow<()>,
    ) -> Result<Reply, PlayerError> {
        // An engine may say more than it was asked, such as a second `bestmove`. What it said
        // before this search cannot answer it.
        self.since = Instant::now();
        let commands = self.session.think(self.since, position, go, budget);
        self.send(&commands)?;
        // The clock starts when the bytes are with the engine.
        let flushed = Instant::now();
        let mut may_halt = budget.is_some();
        let mut is_halted = false;
        loop {
            let is_enough = match self.step().await {
                Ok(Step::BestMove { text, info }) => {
                    let elapsed = self.stamp_since(flushed);
                    return Ok(Reply::Move { text, elapsed, info });
                }
                Ok(Step::Info) => {
                    let elapsed = self.heard.saturating_duration_since(flushed);
                    look(elapsed, self.session.info()).is_break()
                }
                Ok(_) => false,
                Err(PlayerError::Session(SessionError::Late { .. })) if may_halt => true,
                Err(error) => return Err(error),
            };
            if is_enough && !is_halted {
                is_halted = true;
                may_halt = false;
                let stop = self.session.halt(Instant::now());
                self.send(&[stop])?;
            }
        }
    }

    /// Asks a question that is no part of the protocol, and shows the answer line by line to
    /// `take` until that has seen its end.
    pub async fn ask(
        &mut self,
        position: String,
        question: String,
        limit: Duration,
        mut take: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), PlayerError> {
        self.since = Instant::now();
        let commands = self.session.ask(self.since, position, question, limit);
        self.send(&commands)?;
        loop {
            if let Step::Answer(line) = self.step().await?
                && take(&line).is_break()
            {
                break;
            }
        }
        let settle = self.session.settle(Instant::now());
        self.send(&[settle])?;
        self.until_ready().await
    }

    /// Ends the process politely, within `grace` and a moment.
    pub async fn quit(mut self, grace: Duration) {
        // An engine that takes no more input is ended all the same.
        let _ = self.send(&[Command::Quit]);
        let Player { process, chunks, .. } = self;
        drop(chunks);
        // A failure to join means that the runtime is shutting down, and dropping kills.
        let _ = tokio::task::spawn_blocking(move || process.stop(grace)).await;
    }

    async fn until_ready(&mut self) -> Result<(), PlayerError> {
        while self.step().await? != Step::Ready {}
        Ok(())
    }

    /// Takes in one line, waiting for it at most until the session's deadline.
    async fn step(&mut self) -> Result<Step, PlayerError> {
        if self.lines.front().is_none() {
            self.receive().await?;
        }
        let Some((at, line)) = self.lines.front() else { return Ok(Step::Continue) };
        if *at < self.since {
            self.lines.pop_front();
            return Ok(Step::Continue);
        }
        if self.session.deadline().is_some_and(|due| *at > due) {
            return Err(self.session.late().into());
        }
        self.heard = *at;
        let step = self.session.receive(*at, line)?;
        if !matches!(step, Step::BestMove { .. }) {
            // The line of a best move is kept until its stamp was asked for.
            self.lines.pop_front();
        }
        if let Step::Send(commands) = &step {
            self.send(commands)?;
        }
        Ok(step)
    }

    /// The time from `start` to the stamp of the line in hand, which is then done with.
    fn stamp_since(&mut self, start: Instant) -> Duration {
        let stamp = self.lines.pop_front().map(|(at, _)| at);
        // An answer that was read before the flush was noted took no time.
        stamp.map_or(Duration::ZERO, |at| at.saturating_duration_since(start))
    }

    async fn receive(&mut self) -> Result<(), PlayerError> {
        if self.closed {
            return Err(self.gone());
        }
        let chunk = match self.session.deadline() {
            Some(due) => match timeout_at(due.into(), self.chunks.recv()).await {
                Ok(chunk) => chunk,
                Err(_) => return Err(self.session.late().into()),
            },
            None => self.chunks.recv().await,
        };
        let Some(chunk) = chunk else {
            self.closed = true;
            return Err(self.gone());
        };
        self.closed = chunk.closed;
        self.lines.extend(chunk.lines.into_iter().map(|line| (chunk.at, line)));
        Ok(())
    }

    fn gone(&mut self) -> PlayerError {
        let exit = tokio::task::block_in_place(|| self.process.exit_within(EXIT_GRACE));
        let Some(how) = exit else { return PlayerError::Closed };
        let errors = self.process.error_tail();
        match errors.iter().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => {
                let words = printable(line.trim(), LAST_WORDS);
                PlayerError::Exited(format!("{how}, last words: {words}"))
            }
            None => PlayerError::Exited(how),
        }
    }

    fn send(&mut self, commands: &[Command]) -> Result<(), PlayerError> {
        let text: String = commands.iter().map(|command| format!("{command}\n")).collect();
        match self.process.write(text.as_bytes()) {
            Ok(()) => Ok(()),
            Err(WriteError::Closed) => Err(self.gone()),
            Err(error) => Err(error.into()),
        }
    }
}
