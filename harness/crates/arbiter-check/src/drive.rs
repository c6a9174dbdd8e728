//! Holds the conversations. It blocks: one engine at a time is asked one thing at a time, so that
//! nothing of ours disturbs the times that are judged.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::facts::Facts;
use super::script::{Patience, Script, Step};
use super::talk::{Event, Moment, Talk};
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

/// An engine and how it is treated.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What to start.
    pub launch: Launch,
    /// Options to set before everything else.
    pub options: Vec<(String, String)>,
    /// How long to wait for an answer.
    pub patience: Duration,
    /// What an answer may be late.
    pub margin: Duration,
}

/// Lets the engine introduce itself.
pub fn introduce(spawner: &Spawner, subject: &Subject) -> Result<(Facts, Talk), SpawnError> {
    let script = Script::raw().say("uci").hear_within("uciok", HANDSHAKE).ready();
    let talk = converse(spawner, subject, &script)?;
    Ok((Facts::read(&talk), talk))
}

/// How much longer than usual an engine may take to start.
const HANDSHAKE: Patience = Patience::Times(2);

/// Carries out one check.
pub fn carry_out(
    spawner: &Spawner,
    subject: &Subject,
    facts: &Facts,
    check: &Check,
) -> Result<Verdict, SpawnError> {
    let script = match (check.script)(facts) {
        Ok(script) if facts.is_complete || script.is_raw => script,
        Ok(_) => return Ok(skipped(check, "the engine does not answer uci".to_owned())),
        Err(reason) => return Ok(skipped(check, reason)),
    };
    let mut tries = if check.is_timed { TRIES } else { 1 };
    loop {
        tries -= 1;
        let talk = converse(spawner, subject, &script)?;
        let outcome = judge(check, &Case { talk: &talk, facts, margin: subject.margin });
        if outcome == Outcome::Passed || tries == 0 {
            return Ok(Verdict { check: *check, outcome, talk });
        }
    }
}

fn skipped(check: &Check, reason: String) -> Verdict {
    Verdict { check: *check, outcome: Outcome::Skipped(reason), talk: Talk::default() }
}

/// Holds one conversation with a new process.
fn converse(spawner: &Spawner, subject: &Subject, script: &Script) -> Result<Talk, SpawnError> {
    let mut launch = subject.launch.clone();
    launch.args.extend(script.args.iter().cloned());
    let (sender, chunks) = sync_channel(CHUNKS_IN_FLIGHT);
    let process = spawner.spawn(&launch, sink(sender))?;
    let start = Instant::now();
    let mut probe = Probe {
        process: Some(process),
        chunks,
        unread: VecDeque::new(),
        is_closed: false,
        start,
        talk: Talk::default(),
        patience: subject.patience,
    };
    let mut steps = Vec::new();
    if !script.is_raw {
        let greeting = Script::raw().say("uci").hear_within("uciok", HANDSHAKE);
        let told = |(name, value): &(String, String)| match value.is_empty() {
            true => format!("setoption name {name}"),
            false => format!("setoption name {name} value {value}"),
        };
        let set = subject.options.iter().map(told);
        steps = set.fold(greeting, |script, line| script.say(&line)).ready().steps;
    }
    steps.extend(script.steps.iter().cloned());
    for step in &steps {
        if probe.take(step).is_err() {
            break;
        }
    }
    Ok(probe.end())
}

fn sink(sender: SyncSender<Chunk>) -> impl FnMut(Chunk) -> bool + Send + 'static {
    move |chunk| sender.send(chunk).is_ok()
}

/// The conversation cannot go on; why is written down.
struct Over;

struct Probe {
    /// `None` once it has left.
    process: Option<Process>,
    chunks: Receiver<Chunk>,
    /// Lines that nobody has waited for yet.
    unread: VecDeque<String>,
    is_closed: bool,
    start: Instant,
    talk: Talk,
    patience: Duration,
}

impl Probe {
    fn take(&mut self, step: &Step) -> Result<(), Over> {
        match step {
            Step::Say(lines) => {
                let at = self.start.elapsed();
                let events = lines.iter().map(|line| Event::Sent(line.clone()));
                self.talk.0.extend(events.map(|event| Moment { at, event }));
                let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
                self.write(text.as_bytes())
            }
            Step::Bytes(bytes, shown) => {
                self.note(Event::Sent(shown.clone()));
                self.write(bytes)
            }
            Step::Hear(word, patience) => self.hear(word, self.limit(*patience)),
            Step::Listen(time) => {
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
            Step::Leave(patience) => self.leave(self.limit(*patience)),
        }
    }

    fn limit(&self, patience: Patience) -> Duration {
        match patience {
            Patience::Usual => self.patience,
            Patience::Times(factor) => self.patience * factor,
        }
    }

    fn note(&mut self, event: Event) {
        self.talk.0.push(Moment { at: self.start.elapsed(), event });
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Over> {
        let Some(process) = &mut self.process else { return Err(Over) };
        match process.write(bytes) {
            Ok(()) => Ok(()),
            Err(WriteError::Closed) => Err(self.gone()),
            Err(error @ WriteError::Full) => {
                self.note(Event::Died(error.to_string()));
                Err(Over)
            }
        }
    }

    fn hear(&mut self, word: &'static str, limit: Duration) -> Result<(), Over> {
        let until = Instant::now() + limit;
        loop {
            while let Some(line) = self.unread.pop_front() {
                if line.split_ascii_whitespace().next() == Some(word) {
                    return Ok(());
                }
            }
            if !self.receive(until)? {
                self.note(Event::Silence { awaited: word, limit });
                return Err(Over);
            }
        }
    }

    /// Waits for output; `false` if there was none in time.
    fn receive(&mut self, until: Instant) -> Result<bool, Over> {
        if self.is_closed {
            return Err(self.gone());
        }
        let chunk = self.chunks.recv_timeout(until.saturating_duration_since(Instant::now()));
        match chunk {
            Ok(chunk) => {
                self.keep(chunk);
                match self.talk.0.len() > MAX_LINES {
                    true => {
                        self.note(Event::Died(format!("more than {MAX_LINES} lines")));
                        Err(Over)
                    }
                    false => Ok(true),
                }
            }
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => Err(self.gone()),
        }
    }

    fn keep(&mut self, chunk: Chunk) {
        self.is_closed = chunk.closed;
        let at = chunk.at.saturating_duration_since(self.start);
        for line in chunk.lines {
            self.unread.push_back(line.clone());
            self.talk.0.push(Moment { at, event: Event::Heard(line) });
        }
    }

    fn leave(&mut self, limit: Duration) -> Result<(), Over> {
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
                self.note(Event::Left(how));
                Ok(())
            }
            None => {
                self.note(Event::Silence { awaited: "end of the process", limit });
                Err(Over)
            }
        }
    }

    /// The engine closed its output: writes down how it left.
    fn gone(&mut self) -> Over {
        let how = self.exit(EXIT_GRACE);
        self.note(Event::Died(how.unwrap_or_else(|| "closed its input or output".to_owned())));
        Over
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

    fn end(mut self) -> Talk {
        if let Some(mut process) = self.process.take() {
            // An engine that takes no more input is ended all the same.
            let _ = process.write(b"stop\nquit\n");
            drop(self.chunks);
            process.stop(QUIT_GRACE);
        }
        self.talk
    }
}
