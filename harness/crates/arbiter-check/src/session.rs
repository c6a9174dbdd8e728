//! Sessions that run the scripts of checks. The functions block, and each function runs one process
//! at a time, so that Arbiter does not disturb the measured times.

#![expect(clippy::disallowed_methods, reason = "conversations are timed")]

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::engine_info::EngineInfo;
use super::script::{Script, Step};
use super::transcript::{Event, TimedEvent, Transcript};
use super::{Case, Check, Outcome, Verdict, judge};
use arbiter_process::{Chunk, Launch, Process, SpawnError, Spawner, WriteError};

/// Maximum number of chunks of output in the queue. If the queue is full, the reader waits and the
/// engine's pipe fills, so that excessive output cannot fill the memory.
const CHUNKS_IN_FLIGHT: usize = 256;

/// Maximum number of events in a session, so that the transcript cannot fill the memory. A check
/// with more events fails.
const MAX_LINES: usize = 20_000;

/// Maximum time for an engine to exit after `quit` at the end of a check.
const QUIT_GRACE: Duration = Duration::from_millis(200);

/// Maximum time for a process to exit after closing its output. The system may report the closed
/// pipe shortly before the exit, and the transcript must contain the exit status.
const EXIT_GRACE: Duration = Duration::from_millis(250);

/// Maximum number of attempts at a timed check. A failed attempt is repeated, because a busy
/// machine may delay the engine.
const TRIES: usize = 3;

/// Engine under test.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Spawner of the engine processes.
    pub spawner: Spawner,
    /// Program to start, with its launch settings.
    pub launch: Launch,
    /// Names and values of options to set in the handshake. An empty value presses a button.
    pub options: Vec<(String, String)>,
    /// Timeout for each answer.
    pub timeout: Duration,
    /// Time by which an answer may be late in timed checks.
    pub margin: Duration,
}

impl Engine {
    /// Starts the engine and returns its name, author and options. Fails only if the program cannot
    /// be started.
    pub fn introduce(&self) -> Result<EngineInfo, SpawnError> {
        let nothing = EngineInfo::default();
        let script = Script::new(&nothing).raw().greet().ready();
        Ok(EngineInfo::read(&self.run(script)?))
    }

    /// Runs one check. Fails only if the program cannot be started. Failures of the engine are part
    /// of the verdict.
    pub fn run_check(&self, engine: &EngineInfo, check: &Check) -> Result<Verdict, SpawnError> {
        let verdict = |outcome, transcript| Verdict { check: *check, outcome, transcript };
        let skipped = |reason| verdict(Outcome::Skipped(reason), Transcript::default());
        let script = match (check.script)(Script::new(engine)) {
            // Without `uciok`, the handshake of most scripts would fail, and every check would
            // report this one failure. Scripts without the handshake can still judge the incomplete
            // answer.
            Ok(script) if engine.is_complete || script.is_raw && engine.speaks_uci() => script,
            Ok(script) if check.name == "uciok" => script,
            Ok(_) => return Ok(skipped("the engine does not reply to uci".to_owned())),
            Err(reason) => return Ok(skipped(reason)),
        };
        let mut tries = if check.is_timed { TRIES } else { 1 };
        loop {
            tries -= 1;
            let transcript = self.run(script.clone())?;
            let case = Case { transcript: &transcript, engine, margin: self.margin };
            // A busy machine may cause the failure of a timed check, so an earlier failure is
            // ignored if a later attempt passes.
            let outcome = judge(check, &case);
            if outcome == Outcome::Passed || tries == 0 {
                return Ok(verdict(outcome, transcript));
            }
        }
    }

    /// Runs a script with a new process.
    fn run(&self, script: Script<'_>) -> Result<Transcript, SpawnError> {
        let mut launch = self.launch.clone();
        launch.args.extend(script.args);
        let (sender, chunks) = sync_channel(CHUNKS_IN_FLIGHT);
        let process = self.spawner.spawn(&launch, move |chunk| sender.send(chunk).is_ok())?;
        let mut session = Session {
            process: Some(process),
            chunks,
            unread: VecDeque::new(),
            early_moves: 0,
            is_closed: false,
            start: Instant::now(),
            transcript: Transcript::default(),
            timeout: self.timeout,
        };
        let mut handshake = Script::new(script.engine);
        if !script.is_raw {
            // A UCI button has no value.
            let lines = self.options.iter().map(|(name, value)| {
                let end = if value.is_empty() { String::new() } else { format!(" value {value}") };
                format!("setoption name {name}{end}")
            });
            handshake = lines.fold(handshake.greet(), |script, line| script.send(&line)).ready();
        }
        // A step fails if the session cannot continue. The transcript then contains the reason.
        let mut steps = handshake.steps.into_iter().chain(script.steps);
        let _ = steps.try_for_each(|step| session.take(step));
        Ok(session.end())
    }
}

/// Error of a session that cannot continue. The transcript contains the reason.
struct SessionAborted;

struct Session {
    /// Running process; `None` after its exit.
    process: Option<Process>,
    chunks: Receiver<Chunk>,
    /// Lines from the engine that no step has consumed yet.
    unread: VecDeque<String>,
    /// Number of `bestmove` lines that arrived after the last `go`, while a step waited for another
    /// answer.
    early_moves: usize,
    is_closed: bool,
    start: Instant,
    transcript: Transcript,
    timeout: Duration,
}

impl Session {
    fn take(&mut self, step: Step) -> Result<(), SessionAborted> {
        match step {
            Step::Send(bytes, lines) => self.send(&bytes, lines)?,
            Step::Finish => {
                if !self.receives_word("bestmove", self.timeout)? {
                    self.send(b"stop\n", vec!["stop".to_owned()])?;
                    self.expect("bestmove", self.timeout)?;
                }
            }
            Step::Expect(word, factor) => self.expect(word, self.timeout * factor)?,
            Step::Collect(time) => {
                let until = Instant::now() + time;
                while self.receive(until)? {}
            }
            Step::Close => {
                self.record(Event::Closed);
                if let Some(process) = &mut self.process {
                    process.close_input();
                }
            }
            Step::AwaitExit(factor) => self.await_exit(self.timeout * factor)?,
        }
        Ok(())
    }

    fn record(&mut self, event: Event) {
        self.transcript.0.push(TimedEvent { at: self.start.elapsed(), event });
    }

    fn send(&mut self, bytes: &[u8], lines: Vec<String>) -> Result<(), SessionAborted> {
        // A move that arrived before this `go` answers an earlier `go`.
        if lines.iter().any(|line| line.split_ascii_whitespace().next() == Some("go")) {
            self.early_moves = 0;
        }
        // The clock is read before the write, so that the time of an answer is never before the
        // time of its command.
        let at = self.start.elapsed();
        let events = lines.into_iter().map(Event::Sent);
        self.transcript.0.extend(events.map(|event| TimedEvent { at, event }));
        let Some(process) = &mut self.process else { return Err(SessionAborted) };
        process.write(bytes).map_err(|error| match error {
            WriteError::Closed => self.died(),
            // A full pipe means that the engine is running but does not read its input, so the
            // session does not wait for its exit.
            WriteError::Full => self.abort(Event::Died(error.to_string())),
        })
    }

    fn expect(&mut self, word: &str, limit: Duration) -> Result<(), SessionAborted> {
        if self.receives_word(word, limit)? { Ok(()) } else { Err(self.timed_out(word, limit)) }
    }

    /// Waits for a line that starts with `word`. Returns `false` after the timeout.
    fn receives_word(&mut self, word: &str, limit: Duration) -> Result<bool, SessionAborted> {
        if word == "bestmove" && self.early_moves > 0 {
            self.early_moves -= 1;
            return Ok(true);
        }
        let until = Instant::now() + limit;
        loop {
            while let Some(line) = self.unread.pop_front() {
                let first_word = line.split_ascii_whitespace().next();
                if first_word == Some(word) {
                    return Ok(true);
                }
                // A move that arrives while another answer is awaited still answers its `go`.
                // Without this count, the next wait would report a timeout instead of the actual
                // failure.
                self.early_moves += usize::from(first_word == Some("bestmove"));
            }
            if !self.receive(until)? {
                return Ok(false);
            }
        }
    }

    /// Waits for output of a process that must not exit. Returns `false` after the timeout.
    fn receive(&mut self, until: Instant) -> Result<bool, SessionAborted> {
        if self.is_closed {
            return Err(self.died());
        }
        let has_received = self.receive_chunk(until);
        if has_received && self.transcript.0.len() > MAX_LINES {
            return Err(self.abort(Event::Died(format!("more than {MAX_LINES} lines"))));
        }
        Ok(has_received)
    }

    /// Waits for output or for the end of the output. Returns `false` after the timeout.
    fn receive_chunk(&mut self, until: Instant) -> bool {
        match self.chunks.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => self.is_closed = true,
            Ok(chunk) => {
                self.is_closed = chunk.closed;
                // The reader thread recorded the time when the bytes arrived, so a busy session
                // does not distort the time.
                let at = chunk.at.saturating_duration_since(self.start);
                for line in chunk.lines {
                    self.unread.push_back(line.clone());
                    self.transcript.0.push(TimedEvent { at, event: Event::Received(line) });
                }
            }
        }
        true
    }

    fn await_exit(&mut self, limit: Duration) -> Result<(), SessionAborted> {
        let until = Instant::now() + limit;
        while !self.is_closed && self.receive_chunk(until) {}
        // An engine that closes its output immediately before the limit counts as having exited in
        // time, although the system may report the exit later.
        let remaining = until.saturating_duration_since(Instant::now()).max(EXIT_GRACE);
        let how =
            self.exit(remaining).ok_or_else(|| self.timed_out("end of the process", limit))?;
        self.record(Event::Exited(how));
        Ok(())
    }

    /// Records the event that prevents the session from continuing.
    fn abort(&mut self, event: Event) -> SessionAborted {
        self.record(event);
        SessionAborted
    }

    /// Records that an awaited answer did not arrive in time.
    fn timed_out(&mut self, awaited: &str, limit: Duration) -> SessionAborted {
        self.abort(Event::Timeout(format!("no {awaited} within {} ms", limit.as_millis())))
    }

    /// Records the exit of an engine that closed its output or input.
    fn died(&mut self) -> SessionAborted {
        let how = self.exit(EXIT_GRACE);
        self.abort(Event::Died(how.unwrap_or_else(|| "closed its input or output".to_owned())))
    }

    /// Waits for the exit of the process, for at most `limit`, and records the last lines on
    /// standard error. Returns a description of the exit; `None` if the process is still running.
    fn exit(&mut self, limit: Duration) -> Option<String> {
        let process = self.process.as_mut()?;
        let how = process.exit_within(limit)?;
        for line in process.error_tail() {
            self.record(Event::Error(line));
        }
        // The process has been reaped, so it must not be written to or stopped again.
        self.process = None;
        Some(how)
    }

    fn end(mut self) -> Transcript {
        if let Some(mut process) = self.process.take() {
            // The write fails if the engine no longer reads its input. Such a failure does not
            // matter, because the following `stop` ends every process.
            let _ = process.write(b"stop\nquit\n");
            // The queue is dropped first. Otherwise, a reader thread that waits for room in the
            // queue would never read the end of the pipe.
            drop(self.chunks);
            process.stop(QUIT_GRACE);
        }
        self.transcript
    }
}
