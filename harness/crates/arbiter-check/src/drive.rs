//! Carries out the scripts of checks. It blocks: one process at a time, so that nothing of ours
//! disturbs the times that are judged.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::engine_info::EngineInfo;
use super::script::{Script, Step, Wait};
use super::transcript::{Event, TimedEvent, Transcript};
use super::{Case, Check, Outcome, Verdict, judge};
use arbiter_process::{Chunk, Launch, Process, SpawnError, Spawner, WriteError};

/// Chunks of output that may wait for us.
const CHUNKS_IN_FLIGHT: usize = 256;

/// Lines of a conversation that are kept; an engine that says more is cut short.
const MAX_LINES: usize = 20_000;

/// How long an engine may take to leave after its last check.
const QUIT_GRACE: Duration = Duration::from_millis(200);

/// How long a process that closed its output may take to exit.
const EXIT_GRACE: Duration = Duration::from_millis(250);

/// How often a check that depends on time is tried: a busy machine delays, and never hurries.
const TRIES: usize = 3;

/// The engine under test.
#[derive(Debug, Clone)]
pub struct Engine {
    /// What to start.
    pub launch: Launch,
    /// Options to set before everything else.
    pub options: Vec<(String, String)>,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// What an answer may be late.
    pub margin: Duration,
}

/// Asks the engine for its name and options.
pub fn introduce(
    spawner: &Spawner,
    under_test: &Engine,
) -> Result<(EngineInfo, Transcript), SpawnError> {
    let script = Script::raw().send("uci").expect_within("uciok", HANDSHAKE).ready();
    let transcript = run(spawner, under_test, &script)?;
    Ok((EngineInfo::read(&transcript), transcript))
}

/// How much longer than usual an engine may take to start.
const HANDSHAKE: Wait = Wait::Times(2);

/// Carries out one check.
pub fn carry_out(
    spawner: &Spawner,
    under_test: &Engine,
    engine: &EngineInfo,
    check: &Check,
) -> Result<Verdict, SpawnError> {
    let script = match (check.script)(engine) {
        Ok(script) if engine.is_complete || script.is_raw => script,
        Ok(_) => return Ok(skipped(check, "the engine does not answer uci".to_owned())),
        Err(reason) => return Ok(skipped(check, reason)),
    };
    let mut tries = if check.is_timed { TRIES } else { 1 };
    loop {
        tries -= 1;
        let transcript = run(spawner, under_test, &script)?;
        let outcome =
            judge(check, &Case { transcript: &transcript, engine, margin: under_test.margin });
        if outcome == Outcome::Passed || tries == 0 {
            return Ok(Verdict { check: *check, outcome, transcript });
        }
    }
}

fn skipped(check: &Check, reason: String) -> Verdict {
    Verdict { check: *check, outcome: Outcome::Skipped(reason), transcript: Transcript::default() }
}

/// Runs a script with a new process.
fn run(spawner: &Spawner, under_test: &Engine, script: &Script) -> Result<Transcript, SpawnError> {
    let mut launch = under_test.launch.clone();
    launch.args.extend(script.args.iter().cloned());
    let (sender, chunks) = sync_channel(CHUNKS_IN_FLIGHT);
    let process = spawner.spawn(&launch, sink(sender))?;
    let start = Instant::now();
    let mut session = Session {
        process: Some(process),
        chunks,
        unread: VecDeque::new(),
        is_closed: false,
        start,
        transcript: Transcript::default(),
        timeout: under_test.timeout,
    };
    let mut steps = Vec::new();
    if !script.is_raw {
        let greeting = Script::raw().send("uci").expect_within("uciok", HANDSHAKE);
        let told = |(name, value): &(String, String)| match value.is_empty() {
            true => format!("setoption name {name}"),
            false => format!("setoption name {name} value {value}"),
        };
        let set = under_test.options.iter().map(told);
        steps = set.fold(greeting, |script, line| script.send(&line)).ready().steps;
    }
    steps.extend(script.steps.iter().cloned());
    for step in &steps {
        if session.take(step).is_err() {
            break;
        }
    }
    Ok(session.end())
}

fn sink(sender: SyncSender<Chunk>) -> impl FnMut(Chunk) -> bool + Send + 'static {
    move |chunk| sender.send(chunk).is_ok()
}

/// The session cannot go on; the transcript says why.
struct Aborted;

struct Session {
    /// `None` once it has left.
    process: Option<Process>,
    chunks: Receiver<Chunk>,
    /// Lines that no step has waited for yet.
    unread: VecDeque<String>,
    is_closed: bool,
    start: Instant,
    transcript: Transcript,
    timeout: Duration,
}

impl Session {
    fn take(&mut self, step: &Step) -> Result<(), Aborted> {
        match step {
            Step::Send(lines) => {
                let at = self.start.elapsed();
                let events = lines.iter().map(|line| Event::Sent(line.clone()));
                self.transcript.0.extend(events.map(|event| TimedEvent { at, event }));
                let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
                self.write(text.as_bytes())
            }
            Step::Bytes(bytes, shown) => {
                self.note(Event::Sent(shown.clone()));
                self.write(bytes)
            }
            Step::Expect(word, wait) => self.expect(word, self.limit(*wait)),
            Step::Collect(time) => {
                let until = Instant::now() + *time;
                while self.receive(until)? {}
                Ok(())
            }
            Step::Close => {
                self.note(Event::Closed);
                if let Some(process) = &mut self.process {
                    process.close_input();
                }
                Ok(())
            }
            Step::AwaitExit(wait) => self.await_exit(self.limit(*wait)),
        }
    }

    fn limit(&self, wait: Wait) -> Duration {
        match wait {
            Wait::Default => self.timeout,
            Wait::Times(factor) => self.timeout * factor,
        }
    }

    fn note(&mut self, event: Event) {
        self.transcript.0.push(TimedEvent { at: self.start.elapsed(), event });
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Aborted> {
        let Some(process) = &mut self.process else { return Err(Aborted) };
        match process.write(bytes) {
            Ok(()) => Ok(()),
            Err(WriteError::Closed) => Err(self.died()),
            Err(error @ WriteError::Full) => {
                self.note(Event::Died(error.to_string()));
                Err(Aborted)
            }
        }
    }

    fn expect(&mut self, word: &'static str, limit: Duration) -> Result<(), Aborted> {
        let until = Instant::now() + limit;
        loop {
            while let Some(line) = self.unread.pop_front() {
                if line.split_ascii_whitespace().next() == Some(word) {
                    return Ok(());
                }
            }
            if !self.receive(until)? {
                self.note(Event::Timeout { awaited: word, limit });
                return Err(Aborted);
            }
        }
    }

    /// Waits for output; `false` if there was none in time.
    fn receive(&mut self, until: Instant) -> Result<bool, Aborted> {
        if self.is_closed {
            return Err(self.died());
        }
        let chunk = self.chunks.recv_timeout(until.saturating_duration_since(Instant::now()));
        match chunk {
            Ok(chunk) => {
                self.keep(chunk);
                match self.transcript.0.len() > MAX_LINES {
                    true => {
                        self.note(Event::Died(format!("more than {MAX_LINES} lines")));
                        Err(Aborted)
                    }
                    false => Ok(true),
                }
            }
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => Err(self.died()),
        }
    }

    fn keep(&mut self, chunk: Chunk) {
        self.is_closed = chunk.closed;
        let at = chunk.at.saturating_duration_since(self.start);
        for line in chunk.lines {
            self.unread.push_back(line.clone());
            self.transcript.0.push(TimedEvent { at, event: Event::Received(line) });
        }
    }

    fn await_exit(&mut self, limit: Duration) -> Result<(), Aborted> {
        let until = Instant::now() + limit;
        while !self.is_closed {
            match self.chunks.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(chunk) => self.keep(chunk),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => self.is_closed = true,
            }
        }
        match self.exit(until.saturating_duration_since(Instant::now()).max(EXIT_GRACE)) {
            Some(how) => {
                self.note(Event::Exited(how));
                Ok(())
            }
            None => {
                self.note(Event::Timeout { awaited: "end of the process", limit });
                Err(Aborted)
            }
        }
    }

    /// The engine closed its output: notes how it exited.
    fn died(&mut self) -> Aborted {
        let how = self.exit(EXIT_GRACE);
        self.note(Event::Died(how.unwrap_or_else(|| "closed its input or output".to_owned())));
        Aborted
    }

    /// How the process exits within `limit`, if it does; with the end of its error output.
    fn exit(&mut self, limit: Duration) -> Option<String> {
        let process = self.process.as_mut()?;
        let how = process.exit_within(limit)?;
        for line in process.error_tail() {
            self.note(Event::Error(line));
        }
        self.process = None;
        Some(how)
    }

    fn end(mut self) -> Transcript {
        if let Some(mut process) = self.process.take() {
            // An engine that takes no more input is ended all the same.
            let _ = process.write(b"stop\nquit\n");
            drop(self.chunks);
            process.stop(QUIT_GRACE);
        }
        self.transcript
    }
}
