//! Engine at the board: a process and its protocol session, driven asynchronously.

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

/// Number of chunks of output that may wait to be read; beyond that the engine waits, so that a
/// flood of output cannot fill the memory.
const CHUNKS_IN_FLIGHT: usize = 256;

/// Time within which a process that closed its output has to exit to count as crashed. The system
/// may report the closed pipe before the exit; a process that still runs after this time counts as
/// disconnected.
const EXIT_GRACE: Duration = Duration::from_millis(250);

/// Longest time that the last lines of a process that has exited may take to arrive. They are in
/// the pipe or with the reader thread, and may name the cause of the end.
const LAST_LINES: Duration = Duration::from_millis(100);

/// Time between two checks of a silent process, which may have left its output to a child process.
/// Two checks fit into the half second within which `docs/guarantees.md` promises to notice a
/// crash.
const LOOK: Duration = Duration::from_millis(200);

/// Longest wait for a processor that is too short to excuse anything.
const NO_WAITING: Duration = Duration::from_millis(1);

/// A running engine.
#[derive(Debug)]
pub struct EngineProcess {
    process: Process,
    /// The session, boxed like all that is large: engines move from future to future, each with
    /// room for them.
    session: Box<Session>,
    chunks: mpsc::Receiver<Chunk>,
    /// Hand-over of the engine's output.
    handoff: Arc<ReaderHandoff>,
    lines: VecDeque<(Instant, String)>,
    /// Last line that was processed, except for those with moves.
    last_line: String,
    closed: bool,
    timer: Timer,
    /// Start of the search: lines read before belong to an earlier one.
    since: Instant,
    /// Time at which the last processed line was read.
    heard: Instant,
    /// `true` if the engine thinks on its opponent's time.
    ponders: bool,
    /// Expected reply, as the engine reported it last.
    expected: Option<String>,
    /// The `position` line that the engine ponders.
    pondered: String,
    pattern: Option<LinePattern>,
    /// Lines of the search in progress that the pattern selected.
    chosen: Vec<String>,
    /// Recorder of the lines to and from the engine.
    recorder: Box<Recorder>,
    /// Time just before the last text was sent.
    asked: Instant,
    /// Time at which the last text was handed over.
    flushed: Instant,
    /// Time that the engine took to get ready for its last game.
    ready_time: Option<Duration>,
    /// Time and result of the last look at the waits for processors.
    looked: (Instant, Delays),
    /// `true` if silence past the time of a search loses on time, as in the programs whose command
    /// lines are lenient.
    silence_is_late: bool,
    /// Error of an engine that owes the move of a game that is over.
    owed: Option<EngineError>,
}

impl EngineProcess {
    /// Starts the engine and completes the handshake, options included. Fails if the program cannot
    /// be started, exits, is silent for too long, or cannot be used as the setup wants.
    pub async fn start(
        spawner: &Spawner,
        setup: &EngineSetup,
    ) -> Result<EngineProcess, EngineError> {
        EngineProcess::try_start(spawner, setup).await.map_err(|(error, _)| error)
    }

    /// Starts the engine as [`EngineProcess::start`] does; an error comes with the recorded lines.
    pub async fn try_start(
        spawner: &Spawner,
        setup: &EngineSetup,
    ) -> Result<EngineProcess, (EngineError, Option<Recorder>)> {
        let mut engine =
            EngineProcess::spawn(spawner, setup).map_err(|error| (error.into(), None))?;
        match engine.handshake().await {
            Ok(()) => Ok(engine),
            Err(error) => Err((error, Some(engine.take_recorder()))),
        }
    }

    fn spawn(spawner: &Spawner, setup: &EngineSetup) -> Result<EngineProcess, SpawnError> {
        let (sender, chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
        let handoff = Arc::new(ReaderHandoff::default());
        let heard = handoff.clone();
        let sink = move |chunk| heard.hand_over(|| sender.blocking_send(chunk)).is_ok();
        // Starting a process blocks until the child has been executed, and other games need this
        // thread.
        let process = tokio::task::block_in_place(|| spawner.spawn(&setup.launch, sink))?;
        let since = Instant::now();
        Ok(EngineProcess {
            process,
            session: Box::new(Session::new(setup.protocol, setup.setup.clone(), setup.deadlines)),
            chunks,
            handoff,
            lines: VecDeque::new(),
            last_line: String::new(),
            closed: false,
            timer: Timer::new(since),
            since,
            heard: since,
            ponders: setup.setup.ponder,
            expected: None,
            pondered: String::new(),
            pattern: setup.pattern.clone(),
            chosen: Vec::new(),
            recorder: Box::new(Recorder::new(since, setup.is_recorded)),
            asked: since,
            flushed: since,
            ready_time: None,
            looked: (since, Delays::default()),
            silence_is_late: setup.setup.is_lenient,
            owed: None,
        })
    }

    async fn handshake(&mut self) -> Result<(), EngineError> {
        let text = self.session.open(self.since);
        let sent = self.send(text);
        let shaken = match sent {
            Ok(()) => self.until_ready().await,
            error => error,
        };
        shaken.inspect_err(|error| self.note_fault(&error.fault()))
    }

    fn note_fault(&mut self, fault: &Fault) {
        self.recorder.note(Instant::now(), Mark::Event, &fault.to_string());
    }

    /// Returns the recorded lines of the start and of the game in progress.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Takes the recorded lines, from an engine that is of no use any more.
    pub fn take_recorder(&mut self) -> Recorder {
        std::mem::replace(&mut *self.recorder, Recorder::new(self.since, true))
    }

    /// Returns the time that the engine took to get ready for its last game, from the question to
    /// the answer.
    pub fn ready_time(&self) -> Option<Duration> {
        self.ready_time
    }

    /// Returns the hand-over of the engine's output.
    pub(super) fn handoff(&self) -> Arc<ReaderHandoff> {
        self.handoff.clone()
    }

    /// Returns the protocol session, which has the features of the engine.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the process, to be measured or moved to other processors.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Prepares for another game. Fails if the engine exits, is silent for too long, or cannot play
    /// the game's variant.
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
        self.ready_time = Some(self.heard.saturating_duration_since(self.flushed));
        Ok(())
    }

    /// Ends a game; `result` is a PGN result with a comment. Ends whatever the engine still does,
    /// so that nothing of it can be taken for part of the next game. Fails if the engine cannot
    /// play that.
    pub async fn game_over(&mut self, result: &str) -> Result<(), EngineError> {
        if let Some(error) = self.owed.take() {
            return Err(error);
        }
        if let Some(text) = self.session.game_over(result) {
            self.send(&text)?;
        }
        self.cease_pondering().await.map(drop)
    }

    /// Returns the reply that the engine expects to its last move, if it may think about it.
    pub fn expected_reply(&self) -> Option<&str> {
        self.expected.as_deref().filter(|_| self.ponders)
    }

    /// Lets the engine think on its opponent's time. Fails if the engine no longer reads its input.
    pub fn ponder(&mut self, forecast: Forecast) -> Result<(), EngineError> {
        self.pondered = forecast.position;
        self.since = Instant::now();
        match self.session.ponder(&self.pondered, forecast.go) {
            Some(text) => self.send(&text),
            None => Ok(()),
        }
    }

    /// Processes the lines of the engine on its opponent's time, so that it never waits to be read.
    /// Never returns; to be dropped when the opponent has moved.
    pub async fn listen(&mut self) -> std::convert::Infallible {
        loop {
            // An error here is found again on the engine's own turn, which has a verdict for it.
            if self.closed || !self.session.is_pondering() || self.step().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Ends the engine's thinking on its opponent's time. Returns how long that took.
    async fn cease_pondering(&mut self) -> Result<Duration, EngineError> {
        self.catch_up().await?;
        if !self.session.is_pondering() {
            return Ok(Duration::ZERO);
        }
        let text = self.session.end_pondering(Instant::now(), false, None);
        self.send(text)?;
        let asked = self.asked;
        self.until_ready().await?;
        Ok(self.heard.saturating_duration_since(asked))
    }

    /// Lets the engine think. One that goes past its budget is sent `stop`, and its answer to that
    /// still is its move, however late; without a budget the session's deadline is final. An engine
    /// that pondered the wrong reply is charged for the end of that, too.
    pub async fn think(&mut self, turn: Turn) -> Reply {
        self.watch(turn, |_, _| ControlFlow::Continue(())).await
    }

    /// Lets the engine think as [`EngineProcess::think`] does. After each line about the search,
    /// `look` gets the time since `go` and all that is known of the search, and may stop it.
    pub async fn watch(
        &mut self,
        turn: Turn,
        look: impl FnMut(Duration, &Info) -> ControlFlow<()>,
    ) -> Reply {
        self.search(turn, look).await.unwrap_or_else(|error| {
            let fault = error.fault();
            self.note_fault(&fault);
            Reply::Fault(fault)
        })
    }

    async fn search(
        &mut self,
        turn: Turn,
        mut look: impl FnMut(Duration, &Info) -> ControlFlow<()>,
    ) -> Result<Reply, EngineError> {
        let Turn { color, position, mut go, mut budget } = turn;
        self.expected = None;
        self.chosen.clear();
        if let Some(claim) = self.session.false_claim() {
            return Ok(Reply::Claim(claim));
        }
        self.catch_up().await?;
        let mut lost = Duration::ZERO;
        // A search on the wrong move ends on the engine's clock, so `go` tells the time that is
        // left after it.
        if self.session.is_pondering() && self.pondered != position {
            lost = self.cease_pondering().await?;
            go.take_from(color.is_white(), lost);
            budget = budget.map(|budget| budget.saturating_sub(lost));
        }
        let has_pondered = self.session.is_pondering();
        if has_pondered {
            let text = self.session.end_pondering(Instant::now(), true, budget);
            self.send(text)?;
        } else {
            // An engine may say more than it was asked, such as a second `bestmove`. Lines that
            // were read before this moment cannot answer this search.
            self.since = Instant::now();
            let text = self.session.think(self.since, &position, &go, budget);
            self.send(&text)?;
        }
        // The clock starts when the bytes are in the engine's pipe: time before that is Arbiter's.
        let flushed = self.flushed;
        // Without a budget no clock runs, and the session's deadline is final.
        let mut may_halt = budget.is_some();
        let mut is_halted = false;
        loop {
            let is_enough = match self.step().await {
                Ok(Step::Move { text, mut info, ponder }) => {
                    info.lines = std::mem::take(&mut self.chosen);
                    // The engine's clock has run since it began to ponder, so that its time says
                    // nothing about this move.
                    info.time = info.time.filter(|_| !has_pondered);
                    info.has_pondered = has_pondered;
                    self.expected = ponder;
                    let stamp = self.lines.pop_front().map_or(flushed, |(at, _)| at);
                    // The reader thread may stamp an answer before this thread notes the flush; the
                    // difference then is zero.
                    let elapsed = stamp.saturating_duration_since(flushed) + lost;
                    return Ok(Reply::Move { text, elapsed, info });
                }
                Ok(Step::Claim(claim)) => return Ok(Reply::Claim(claim)),
                Ok(Step::Info) => {
                    let elapsed = self.heard.saturating_duration_since(flushed);
                    self.session.info().is_some_and(|info| look(elapsed, info).is_break())
                }
                Ok(_) => false,
                Err(EngineError::Session(SessionError::Late { .. })) if may_halt => true,
                Err(error @ EngineError::Session(SessionError::Late { .. }))
                    if self.silence_is_late && budget.is_some() =>
                {
                    self.owed = Some(error);
                    let (text, info) = (String::new(), Info::default());
                    return Ok(Reply::Move { text, elapsed: flushed.elapsed() + lost, info });
                }
                Err(error) => return Err(error),
            };
            if is_enough && !is_halted {
                is_halted = true;
                may_halt = false;
                let stop = self.session.halt(Instant::now());
                self.send(stop)?;
            }
        }
    }

    /// Asks a question that is not part of the protocol, and passes the answer line by line to
    /// `take` until that has seen its end. Fails for an engine that does not speak UCI, and if the
    /// engine exits or needs more than `limit`.
    pub async fn ask(
        &mut self,
        position: &str,
        question: &str,
        limit: Duration,
        mut take: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.since = Instant::now();
        let asked = self.session.ask(self.since, position, question, limit);
        self.send(&asked.ok_or(EngineError::NotUci)?)?;
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

    /// Ends the process, within a second: sends `quit`, then a signal if the process has not exited
    /// after `grace` ([`arbiter_process::QUIT_GRACE`] unless it is at fault), and finally kills it.
    pub async fn quit(mut self, grace: Duration) {
        // An engine that takes no more input is ended all the same.
        let _ = self.send(arbiter_protocol::QUIT);
        // The channel is dropped first: a reader thread that waits for room in it would never see
        // the end of the output.
        let EngineProcess { process, chunks, .. } = self;
        drop(chunks);
        // A failure to join means that the runtime is shutting down, and dropping kills.
        let _ = tokio::task::spawn_blocking(move || process.stop(grace)).await;
    }

    /// Handles a missed deadline of the session.
    fn overdue(&mut self) -> Result<Step, EngineError> {
        let step = self.session.overdue(Instant::now())?;
        self.obey(step)
    }

    /// Waits for output. Returns `false` if there was none by the session's deadline.
    async fn receive(&mut self) -> Result<bool, EngineError> {
        let mut has_left = false;
        while !self.closed {
            let due = self.session.deadline();
            let look = Instant::now() + LOOK;
            let wake = due.map_or(look, |due| due.min(look));
            let heard = poll_fn(|cx| match self.chunks.poll_recv(cx) {
                Poll::Ready(chunk) => Poll::Ready(Some(chunk)),
                Poll::Pending => self.timer.poll(wake, cx).map(|()| None),
            });
            match heard.await {
                Some(Some(chunk)) => {
                    self.take(chunk);
                    return Ok(true);
                }
                Some(None) => self.closed = true,
                // An excused engine has a later deadline now, so that the loop waits again.
                None if due.is_some_and(|due| due <= wake) => {
                    if !self.is_excused() {
                        return Ok(false);
                    }
                }
                // The process had exited at the last check, so its last lines had the time between
                // two checks to arrive. A child process of it may keep the pipe open forever.
                None if has_left => self.closed = true,
                None => {
                    has_left = self.process.has_exited();
                    // The delays are read at the first check after a question, so that the many
                    // answers that come before it cost no reads of `/proc`.
                    if self.looked.0 < self.asked {
                        self.looked = (Instant::now(), self.process.delays());
                    }
                }
            }
        }
        Err(self.gone())
    }

    /// Returns whether the deadline was extended, because the engine had to wait for a processor
    /// since it was asked. That of a clock is not extended: the clock runs on.
    fn is_excused(&mut self) -> bool {
        let (at, earlier) = &self.looked;
        if self.session.is_on_clock() || *at < self.asked {
            return false;
        }
        let now = self.process.delays();
        let waited = now.since(earlier, at.elapsed());
        self.looked = (Instant::now(), now);
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
                    // This thread may block, as the function runs in `block_in_place`, and the
                    // lines are about to arrive.
                    Err(TryRecvError::Empty) => std::thread::sleep(LAST_LINES / 20),
                }
            }
            let last = self.lines.back().map_or(&self.last_line, |(_, line)| line);
            EngineError::exited(how, &self.process.error_tail(), last)
        })
    }

    fn send(&mut self, text: &str) -> Result<(), EngineError> {
        self.asked = Instant::now();
        match self.process.write(text.as_bytes()) {
            Ok(()) => {
                self.flushed = Instant::now();
                self.recorder.note(self.asked, Mark::ToEngine, text);
                self.recorder.note(self.flushed, Mark::Flushed, "");
                Ok(())
            }
            // A closed pipe is what a crash looks like from here, and the exit code says more.
            Err(WriteError::Closed) => Err(self.gone()),
            Err(error) => Err(error.into()),
        }
    }
}
