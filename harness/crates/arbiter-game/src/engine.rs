//! Engine in a game: a process and its protocol session, driven asynchronously.

#![expect(clippy::disallowed_methods, reason = "the driver stamps what the session judges")]

mod error;
mod lines;
mod setup;
mod timer;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

pub use self::error::EngineError;
pub use self::setup::EngineSetup;
use self::timer::Timer;
use crate::annotation::LinePattern;
use crate::referee::{Fault, Forecast, Reply, Turn};
use crate::relay::ReaderHandoff;
use crate::transcript::{Mark, Recorder};
use arbiter_process::{Chunk, Delays, Process, SpawnError, Spawner, WriteError};
use arbiter_protocol::{Game, Info, Session, SessionError, Step};

/// Maximum number of unread chunks of output. At this number, the reader thread stops reading, so
/// that excessive output cannot fill the memory.
const CHUNKS_IN_FLIGHT: usize = 256;

/// Maximum wait for the exit of a process that has closed its output. The system may report the
/// closed pipe before the exit. If the process exits within this time, the engine counts as
/// crashed; otherwise, the engine counts as disconnected.
const EXIT_GRACE: Duration = Duration::from_millis(250);

/// Maximum wait for the last lines of an exited process. The lines are still in the pipe or in the
/// reader thread, and may describe the cause of the exit.
const LAST_LINES: Duration = Duration::from_millis(100);

/// Number of an exited process's last output lines that are searched for the cause of the exit.
const MAX_LAST: usize = 8;

/// Interval between checks whether a silent process has exited. After the exit, the pipe may stay
/// open because a child process inherited the pipe. Two checks fit into half a second: according to
/// `docs/guarantees.md`, Arbiter must notice a crash within this time.
const LOOK: Duration = Duration::from_millis(200);

/// Limit for the wait for a processor: after a longer wait, a missed deadline is excused.
const NO_WAITING: Duration = Duration::from_millis(1);

/// Running engine process with its protocol session.
#[derive(Debug)]
pub struct EngineProcess {
    process: Process,
    /// Protocol session. Large fields are boxed because engines move between futures, and each
    /// future reserves space for an engine.
    session: Box<Session>,
    chunks: mpsc::Receiver<Chunk>,
    /// State of the reader thread that hands the engine's output over.
    pub(super) handoff: Arc<ReaderHandoff>,
    /// Lines that have not been processed yet, each with the time at which it was read.
    lines: VecDeque<(Instant, String)>,
    /// Last processed lines that are not moves, at most [`MAX_LAST`].
    last_lines: VecDeque<String>,
    closed: bool,
    timer: Timer,
    /// Start of the current search. Lines read earlier belong to an earlier search.
    since: Instant,
    /// Time at which the last processed line was read.
    last_read: Instant,
    pattern: Option<LinePattern>,
    /// Output lines that the pattern has selected during the search in progress.
    chosen: Vec<String>,
    /// Recorded lines from the start of the engine and from the game in progress.
    pub(super) recorder: Box<Recorder>,
    /// Time immediately before the last commands were sent.
    sent_at: Instant,
    /// Time immediately after the last commands were written to the engine's pipe.
    flushed: Instant,
    /// Time that the engine took to get ready for its last game.
    pub(super) ready_time: Option<Duration>,
    /// Time and result of the last measurement of the engine's waits for a processor.
    measured: (Instant, Delays),
    /// `true` if an engine that does not answer `stop` loses on time, as in cutechess-cli and
    /// fastchess, instead of by a stall.
    silence_is_late: bool,
    /// Error of an engine that never sent its last move. This error is returned at the end of the
    /// game.
    deferred_error: Option<EngineError>,
}

impl EngineProcess {
    /// Starts the engine and completes the handshake, including options. Fails if the program
    /// cannot be started, exits, is silent for too long, or does not support the setup.
    pub async fn start(
        spawner: &Spawner,
        setup: &EngineSetup,
    ) -> Result<EngineProcess, EngineError> {
        EngineProcess::try_start(spawner, setup).await.map_err(|(error, _)| error)
    }

    /// Starts the engine as [`EngineProcess::start`] does. On failure, returns the error with the
    /// recorded lines.
    pub async fn try_start(
        spawner: &Spawner,
        setup: &EngineSetup,
    ) -> Result<EngineProcess, (EngineError, Option<Recorder>)> {
        let mut engine =
            EngineProcess::spawn(spawner, setup).map_err(|error| (error.into(), None))?;
        match engine.handshake().await {
            Ok(()) => Ok(engine),
            Err(error) => {
                engine.note_fault(&error.fault());
                Err((error, Some(engine.take_recorder())))
            }
        }
    }

    fn spawn(spawner: &Spawner, setup: &EngineSetup) -> Result<EngineProcess, SpawnError> {
        let (sender, chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
        let handoff = Arc::new(ReaderHandoff::default());
        let reader_handoff = handoff.clone();
        let sink = move |chunk| reader_handoff.hand_over(|| sender.blocking_send(chunk)).is_ok();
        // Starting a process blocks until the child process executes the program, and other games
        // need this thread.
        let process = tokio::task::block_in_place(|| spawner.spawn(&setup.launch, sink))?;
        let since = Instant::now();
        Ok(EngineProcess {
            process,
            session: Box::new(Session::new(setup.protocol, setup.setup.clone(), setup.deadlines)),
            chunks,
            handoff,
            lines: VecDeque::new(),
            last_lines: VecDeque::new(),
            closed: false,
            timer: Timer::new(since),
            since,
            last_read: since,
            pattern: setup.pattern.clone(),
            chosen: Vec::new(),
            recorder: Box::new(Recorder::new(since, setup.is_recorded)),
            sent_at: since,
            flushed: since,
            ready_time: None,
            measured: (since, Delays::default()),
            silence_is_late: setup.setup.is_lenient,
            deferred_error: None,
        })
    }

    async fn handshake(&mut self) -> Result<(), EngineError> {
        let text = self.session.open(self.since);
        self.send(text)?;
        self.until_ready().await.map_err(|error| match error {
            EngineError::Exited(_) | EngineError::Closed if self.session.has_uciok() => {
                EngineError::Configured(Box::new(error))
            }
            EngineError::Session(late @ SessionError::Late { .. }) => {
                EngineError::slow(late, &self.last_words())
            }
            error => error,
        })
    }

    fn note_fault(&mut self, fault: &Fault) {
        self.recorder.note(Instant::now(), Mark::Event, &fault.to_string());
    }

    /// Takes the recorded lines of an engine that is no longer used.
    pub fn take_recorder(&mut self) -> Recorder {
        std::mem::replace(&mut *self.recorder, Recorder::new(self.since, true))
    }

    /// Returns the protocol session, which contains the options and features of the engine.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the process, so that the caller can measure the process or pin the process to other
    /// processors.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Prepares the engine for a new game. Fails if the engine exits, is silent for too long, or
    /// does not support the variant of the game.
    pub async fn new_game(&mut self, game: Game<'_>) -> Result<(), EngineError> {
        self.since = Instant::now();
        self.ready_time = None;
        self.recorder.begin_game(self.since);
        let prepared = self.prepare(game).await;
        prepared.inspect_err(|error| self.note_fault(&error.fault()))
    }

    async fn prepare(&mut self, game: Game<'_>) -> Result<(), EngineError> {
        let text = self.session.new_game(self.since, game)?;
        self.send(&text)?;
        self.until_ready().await?;
        self.ready_time = Some(self.last_read.saturating_duration_since(self.flushed));
        Ok(())
    }

    /// Ends a game; `result` is a PGN result with a comment. Also ends pondering, so that late
    /// lines cannot be mistaken for lines of the next game. Fails if the engine cannot play another
    /// game.
    pub async fn game_over(&mut self, result: &str) -> Result<(), EngineError> {
        if let Some(error) = self.deferred_error.take() {
            return Err(error);
        }
        if let Some(text) = self.session.game_over(result) {
            self.send(&text)?;
        }
        self.cease_pondering().await.map(drop)
    }

    /// Lets the engine ponder. Fails if the engine no longer reads its input.
    pub fn ponder(&mut self, forecast: Forecast) -> Result<(), EngineError> {
        self.since = Instant::now();
        match self.session.ponder(forecast.position, forecast.go) {
            Some(text) => self.send(&text),
            None => Ok(()),
        }
    }

    /// Processes the lines of the engine while the engine ponders, so that its output pipe never
    /// fills. Never returns; the caller drops the future when the opponent has moved.
    pub async fn listen(&mut self) -> std::convert::Infallible {
        loop {
            // An error is ignored, because the error recurs on the engine's own turn and is judged
            // then.
            if self.closed || !self.session.is_pondering() || self.step().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Ends pondering and returns the time that the engine took to stop.
    async fn cease_pondering(&mut self) -> Result<Duration, EngineError> {
        self.catch_up().await?;
        if !self.session.is_pondering() {
            return Ok(Duration::ZERO);
        }
        let text = self.session.end_pondering(Instant::now());
        self.send(text)?;
        let sent_at = self.sent_at;
        self.until_ready().await?;
        Ok(self.last_read.saturating_duration_since(sent_at))
    }

    /// Lets the engine search for a move. If the engine exceeds its budget, `stop` is sent, and the
    /// answer to `stop` is returned as the move. Without a budget, the session's deadline is final.
    /// An engine that pondered on the wrong reply is also charged for the time taken to stop
    /// pondering.
    pub async fn think(&mut self, turn: Turn) -> Reply {
        self.watch(turn, |_, _| false).await
    }

    /// Lets the engine search as [`EngineProcess::think`] does. After each `info` line, `is_enough`
    /// gets the time since `go` and all information about the search; if `is_enough` returns
    /// `true`, the search is stopped.
    pub async fn watch(
        &mut self,
        turn: Turn,
        is_enough: impl FnMut(Duration, &Info) -> bool,
    ) -> Reply {
        self.search(turn, is_enough).await.unwrap_or_else(|error| {
            let mut fault = error.fault();
            if let Fault::Silent(how) = &mut fault
                && self.process.is_stopped()
            {
                how.push_str("; the process is stopped");
            }
            self.note_fault(&fault);
            Reply::Fault(fault)
        })
    }

    async fn search(
        &mut self,
        turn: Turn,
        mut is_enough: impl FnMut(Duration, &Info) -> bool,
    ) -> Result<Reply, EngineError> {
        let Turn { color, position, mut go, mut budget } = turn;
        self.chosen.clear();
        if let Some(claim) = self.session.false_claim() {
            return Ok(Reply::Claim(claim));
        }
        self.catch_up().await?;
        let mut lost = Duration::ZERO;
        // The time for stopping a search on the wrong move is charged to the engine's clock, so
        // `go` contains the time left after the stop.
        if self.session.is_ponder_miss(&position) {
            lost = self.cease_pondering().await?;
            go.take_from(color.is_white(), lost);
            budget = budget.map(|budget| budget.saturating_sub(lost));
        }
        let now = Instant::now();
        let has_pondered = self.session.is_pondering();
        if !has_pondered {
            // An engine may send unrequested lines, such as a second `bestmove`. Lines that were
            // read before this moment do not belong to this search.
            self.since = now;
        }
        let text = self.session.think(now, &position, &go, budget);
        self.send(&text)?;
        // The clock starts when the commands are in the engine's pipe: the engine is not
        // responsible for earlier delays.
        let flushed = self.flushed;
        // Without a budget, no clock runs, and the session's deadline is final.
        let mut may_halt = budget.is_some();
        let mut is_halted = false;
        loop {
            let must_stop = match self.step().await {
                Ok(Step::Move { text, mut info }) => {
                    info.lines = std::mem::take(&mut self.chosen);
                    // The engine reports the time since the start of pondering, not the time of
                    // this move.
                    info.time = info.time.filter(|_| !has_pondered);
                    info.has_pondered = has_pondered;
                    let stamp = self.lines.pop_front().map_or(flushed, |(at, _)| at);
                    // The reader thread may stamp an answer before this thread notes the flush; the
                    // elapsed time is then zero.
                    let elapsed = stamp.saturating_duration_since(flushed) + lost;
                    return Ok(Reply::Move { text, elapsed, info });
                }
                Ok(Step::Claim(claim)) => return Ok(Reply::Claim(claim)),
                Ok(Step::Info) => {
                    let elapsed = self.last_read.saturating_duration_since(flushed);
                    is_enough(elapsed, self.session.info())
                }
                Ok(_) => false,
                Err(EngineError::Session(SessionError::Late { .. })) if may_halt => true,
                Err(error @ EngineError::Session(SessionError::Late { .. }))
                    if self.silence_is_late && budget.is_some() =>
                {
                    self.deferred_error = Some(error);
                    let (text, info) = (String::new(), Info::default());
                    return Ok(Reply::Move { text, elapsed: flushed.elapsed() + lost, info });
                }
                Err(error) => return Err(error),
            };
            if must_stop && !is_halted {
                is_halted = true;
                may_halt = false;
                let stop = self.session.halt(Instant::now());
                self.send(stop)?;
            }
        }
    }

    /// Sends a command that is not part of the protocol, and calls `take` with each line of the
    /// engine's answer until `take` returns `Break`. Fails if the engine does not speak UCI, exits,
    /// or takes longer than `limit`.
    pub async fn ask(
        &mut self,
        position: &str,
        question: &str,
        limit: Duration,
        mut take: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.since = Instant::now();
        let commands = self.session.ask(self.since, position, question, limit);
        self.send(&commands.ok_or(EngineError::NotUci)?)?;
        loop {
            if let Step::Answer(line) = self.step().await?
                && take(&line).is_break()
            {
                break;
            }
        }
        let settle = self.session.settle(Instant::now());
        self.send(settle)?;
        self.until_ready().await
    }

    /// Terminates the process within a second: sends `quit`, then SIGTERM if the process has not
    /// exited after `grace`, and finally SIGKILL. `grace` is [`arbiter_process::QUIT_GRACE`], or
    /// zero for an engine at fault.
    pub async fn quit(mut self, grace: Duration) {
        // If the engine no longer reads its input, the signals terminate the engine.
        let _ = self.send(arbiter_protocol::QUIT);
        // The channel is dropped first; otherwise a reader thread that waits for room in the
        // channel would never read the end of the output.
        let EngineProcess { process, chunks, .. } = self;
        drop(chunks);
        // A join error means that the runtime is shutting down; dropping the process kills it.
        let _ = tokio::task::spawn_blocking(move || process.stop(grace)).await;
    }

    /// Handles a missed deadline of the session.
    fn overdue(&mut self) -> Result<Step, EngineError> {
        let step = self.session.overdue(Instant::now())?;
        self.obey(step)
    }

    /// Waits for output. Returns `false` if the session's deadline passes without output.
    async fn receive(&mut self) -> Result<bool, EngineError> {
        let mut has_exited = false;
        while !self.closed {
            let due = self.session.deadline();
            let look = Instant::now() + LOOK;
            let wake = due.map_or(look, |due| due.min(look));
            let received = poll_fn(|cx| match self.chunks.poll_recv(cx) {
                Poll::Ready(chunk) => Poll::Ready(Some(chunk)),
                Poll::Pending => self.timer.poll(wake, cx).map(|()| None),
            });
            match received.await {
                Some(Some(chunk)) => {
                    self.take(chunk);
                    return Ok(true);
                }
                Some(None) => self.closed = true,
                // An excused engine now has a later deadline, so the loop waits again.
                None if due.is_some_and(|due| due <= wake) => {
                    if !self.is_excused() {
                        return Ok(false);
                    }
                }
                // The process had already exited at the last check, so its last lines have had time
                // to arrive. A child process may keep the pipe open forever.
                None if has_exited => self.closed = true,
                None => {
                    has_exited = self.process.has_exited();
                    // Delays are measured only at the first check after a command, because most
                    // answers arrive earlier and then need no read of `/proc`.
                    if self.measured.0 < self.sent_at {
                        self.measured = (Instant::now(), self.process.delays());
                    }
                }
            }
        }
        Err(self.gone())
    }

    /// Extends the deadline by the time that the engine has waited for a processor since the last
    /// measurement. Returns whether this time exceeds [`NO_WAITING`]. The deadline of a move on the
    /// clock is never extended.
    fn is_excused(&mut self) -> bool {
        let (at, earlier) = &self.measured;
        if self.session.is_on_clock() || *at < self.sent_at {
            return false;
        }
        let now = self.process.delays();
        let waited = now.since(earlier, at.elapsed());
        self.measured = (Instant::now(), now);
        self.session.extend_deadline(waited);
        waited > NO_WAITING
    }

    fn gone(&mut self) -> EngineError {
        tokio::task::block_in_place(|| {
            let Some(how) = self.process.exit_within(EXIT_GRACE) else {
                return EngineError::Closed;
            };
            let give_up = Instant::now() + LAST_LINES;
            while !self.closed && Instant::now() < give_up {
                match self.chunks.try_recv() {
                    Ok(chunk) => self.take(chunk),
                    Err(TryRecvError::Disconnected) => break,
                    // This thread may sleep because the closure runs in `block_in_place`.
                    Err(TryRecvError::Empty) => std::thread::sleep(LAST_LINES / 20),
                }
            }
            EngineError::Exited(how + &self.last_words())
        })
    }

    /// Quotes the last lines of standard error and output that may explain a failure.
    fn last_words(&self) -> String {
        let unread = self.lines.iter().map(|(_, line)| line);
        let last: Vec<&str> = self.last_lines.iter().chain(unread).map(String::as_str).collect();
        let last = &last[last.len().saturating_sub(MAX_LAST)..];
        EngineError::last_words(&self.process.error_tail(), last)
    }

    fn send(&mut self, text: &str) -> Result<(), EngineError> {
        self.sent_at = Instant::now();
        match self.process.write(text.as_bytes()) {
            Ok(()) => {
                self.flushed = Instant::now();
                self.recorder.note(self.sent_at, Mark::ToEngine, text);
                self.recorder.note(self.flushed, Mark::Flushed, "");
                Ok(())
            }
            // A closed pipe usually means a crash, and the exit code is more informative than the
            // error.
            Err(WriteError::Closed) => Err(self.gone()),
            Err(error) => Err(error.into()),
        }
    }
}
