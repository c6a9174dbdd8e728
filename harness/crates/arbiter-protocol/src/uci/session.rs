//! The life of one engine as a pure state machine.
//!
//! A caller feeds in lines with the time they were read and commands with the time they were
//! given; the session says what to send, what a line meant, and until when it will wait. It does
//! no I/O and reads no clock, so every way an engine can misbehave is a unit test.

use std::time::{Duration, Instant};

use thiserror::Error;

use super::command::{Command, Go};
use super::info::Info;
use super::message::Message;
use super::option::{OptionDeclaration, OptionError, check_option};

/// Options that an engine may declare; the richest real ones have some hundreds.
pub const MAX_OPTIONS: usize = 5_000;

/// How long each kind of answer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// From the start of the process to `uciok`.
    pub uciok: Duration,
    /// From `isready` to `readyok`; engines allocate and clear their hash tables here.
    pub readyok: Duration,
    /// From `go` to `bestmove` when no clock bounds the move.
    pub bestmove: Duration,
    /// From `stop` to `bestmove`.
    pub stop: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Deadlines {
            uciok: Duration::from_secs(10),
            readyok: Duration::from_secs(30),
            bestmove: Duration::from_secs(60),
            stop: Duration::from_secs(2),
        }
    }
}

impl Deadlines {
    /// The same with the deadlines of the start, `uciok` and `readyok`, times `factor`, for
    /// machines or engines on which everything takes longer. The factor must be positive.
    pub fn with_start_scaled(self, factor: f64) -> Deadlines {
        let scaled = |limit: Duration| {
            Duration::try_from_secs_f64(limit.as_secs_f64() * factor).unwrap_or(limit)
        };
        Deadlines { uciok: scaled(self.uciok), readyok: scaled(self.readyok), ..self }
    }
}

/// What an engine is told before its first game.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setup {
    /// Options to set: name, value.
    pub options: Vec<(String, String)>,
    /// Lines to send as they are, after the options.
    pub init: Vec<String>,
    /// Whether the engine thinks on its opponent's time.
    pub ponder: bool,
    /// Nodes that stand for a millisecond, told to an engine that has the option `nodestime`.
    pub nodestime: Option<u64>,
}

/// What an engine said about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// `id name`.
    pub name: Option<String>,
    /// `id author`.
    pub author: Option<String>,
    /// Declared options.
    pub options: Vec<OptionDeclaration>,
}

/// What the session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing was sent yet.
    Fresh,
    /// `uci` was sent.
    Handshake,
    /// `isready` was sent.
    Preparing,
    /// The engine is ready and does nothing.
    Idle,
    /// `go` was sent.
    Thinking,
    /// `stop` was sent.
    Halting,
    /// `go ponder` was sent.
    Pondering,
    /// `stop` was sent to end pondering; the answer is no move.
    Ceasing,
    /// A question outside the protocol was sent.
    Asked,
}

/// What a line meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing to act on; keep reading.
    Continue,
    /// These commands are due now.
    Send(Vec<Command>),
    /// The engine is ready for a position.
    Ready,
    /// The engine said something of its search; [`Session::info`] has it.
    Info,
    /// A line of the answer to a question outside the protocol.
    Answer(String),
    /// The search ended.
    BestMove {
        /// The move as the engine wrote it; empty if it named none.
        text: String,
        /// What the engine last said of the search.
        info: Info,
        /// The reply it expects, as it wrote it.
        ponder: Option<String>,
    },
}

/// Why a session cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SessionError {
    /// A wished option does not fit.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// An answer did not come in time.
    #[error("no '{awaited}' within {} ms", .limit.as_millis())]
    Late {
        /// The word that was awaited.
        awaited: &'static str,
        /// The time it had.
        limit: Duration,
    },
    /// The engine declares options without end.
    #[error("declares more than {MAX_OPTIONS} options")]
    TooManyOptions,
    /// The engine must play Chess960 and has no option for it.
    #[error("does not declare UCI_Chess960, which this opening needs")]
    NoChess960,
    /// The engine is to ponder and has no option for it.
    #[error("does not declare Ponder, which ponder=true needs")]
    NoPonder,
    /// The engine cannot be told a position.
    #[error("cannot set up this opening: it has no setboard, and edit cannot express the position")]
    NoSetboard,
    /// The engine does not take what it is told before a game; the text is its own.
    #[error("refused: {}", .0.escape_debug())]
    Refused(String),
}

/// One engine's protocol state.
#[derive(Debug)]
pub struct Session {
    setup: Setup,
    deadlines: Deadlines,
    phase: Phase,
    due: Option<(Instant, Duration)>,
    identity: Identity,
    info: Info,
    chess960: bool,
}

impl Session {
    /// A session that will set the options of `setup` once the engine declared its own.
    pub fn new(setup: Setup, deadlines: Deadlines) -> Session {
        Session {
            setup,
            deadlines,
            phase: Phase::Fresh,
            due: None,
            identity: Identity::default(),
            info: Info::default(),
            chess960: false,
        }
    }

    /// What the engine said about itself so far.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What the engine said of the search in progress, so far.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// Until when the awaited answer may come; `None` while nothing is awaited.
    pub fn deadline(&self) -> Option<Instant> {
        self.due.map(|(due, _)| due)
    }

    /// The error of an answer that did not come by [`Session::deadline`].
    pub fn late(&self) -> SessionError {
        let awaited = match self.phase {
            Phase::Fresh | Phase::Handshake => "uciok",
            Phase::Preparing | Phase::Idle => "readyok",
            Phase::Thinking | Phase::Halting | Phase::Pondering | Phase::Ceasing => "bestmove",
            Phase::Asked => "end of the answer",
        };
        SessionError::Late { awaited, limit: self.due.map_or(Duration::ZERO, |(_, limit)| limit) }
    }

    /// The process has started.
    pub fn open(&mut self, now: Instant) -> Vec<Command> {
        self.wait(Phase::Handshake, now, self.deadlines.uciok);
        vec![Command::Uci]
    }

    /// A new game begins; ends with [`Step::Ready`]. `settings` are options to set for it; all of
    /// them are told, whatever was told before.
    pub fn new_game(
        &mut self,
        now: Instant,
        chess960: bool,
        settings: &[(String, String)],
    ) -> Result<Vec<Command>, SessionError> {
        let mut commands = Vec::new();
        for (name, value) in settings {
            let name = check_option(&self.identity.options, name, value)?.to_owned();
            commands.push(Command::SetOption { name, value: value.clone() });
        }
        if chess960 != self.chess960 {
            let declared = &self.identity.options;
            let name = check_option(declared, "UCI_Chess960", "true")
                .map_err(|_| SessionError::NoChess960)?;
            commands
                .push(Command::SetOption { name: name.to_owned(), value: chess960.to_string() });
            self.chess960 = chess960;
        }
        commands.extend([Command::UciNewGame, Command::IsReady]);
        self.wait(Phase::Preparing, now, self.deadlines.readyok);
        Ok(commands)
    }

    /// A search begins. `budget` is the time after which it is hopelessly late; without one the
    /// deadline for unbounded searches holds.
    pub fn think(
        &mut self,
        now: Instant,
        position: String,
        go: Go,
        budget: Option<Duration>,
    ) -> [Command; 2] {
        self.info = Info::default();
        self.wait(Phase::Thinking, now, budget.unwrap_or(self.deadlines.bestmove));
        [Command::Position(position), Command::Go(go)]
    }

    /// The engine thinks on its opponent's time, on a position with the expected reply. Nothing is
    /// awaited meanwhile.
    pub fn ponder(&mut self, position: String, go: Go) -> [Command; 2] {
        self.info = Info::default();
        (self.phase, self.due) = (Phase::Pondering, None);
        [Command::Position(position), Command::Go(Go { ponder: true, ..go })]
    }

    /// Whether the engine still thinks on its opponent's time.
    pub fn is_pondering(&self) -> bool {
        self.phase == Phase::Pondering
    }

    /// The opponent played the expected reply, so that the search goes on as an ordinary one.
    pub fn ponder_hit(&mut self, now: Instant, budget: Option<Duration>) -> Command {
        self.wait(Phase::Thinking, now, budget.unwrap_or(self.deadlines.bestmove));
        Command::PonderHit
    }

    /// The opponent played something else, or the game is over; ends with [`Step::Ready`].
    pub fn cease(&mut self, now: Instant) -> Command {
        self.wait(Phase::Ceasing, now, self.deadlines.stop);
        Command::Stop
    }

    /// Whether nothing is awaited.
    pub fn is_ready(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// The search took too long; ask for an end.
    pub fn halt(&mut self, now: Instant) -> Command {
        self.wait(Phase::Halting, now, self.deadlines.stop);
        Command::Stop
    }

    /// A question outside the protocol, about a position. Its answer is whatever the engine says
    /// until the caller has seen the end of it and calls [`Session::settle`].
    pub fn ask(
        &mut self,
        now: Instant,
        position: String,
        question: String,
        limit: Duration,
    ) -> [Command; 2] {
        self.wait(Phase::Asked, now, limit);
        [Command::Position(position), Command::Question(question)]
    }

    /// The answer to a question is complete; ends with [`Step::Ready`].
    pub fn settle(&mut self, now: Instant) -> Command {
        self.wait(Phase::Preparing, now, self.deadlines.readyok);
        Command::IsReady
    }

    /// A line was read. Answers that nobody awaits are noise: engines differ in their manners, and
    /// a late `readyok` or a second `bestmove` does not spoil a game.
    pub fn receive(&mut self, at: Instant, line: &str) -> Result<Step, SessionError> {
        if self.phase == Phase::Asked {
            return Ok(Step::Answer(line.to_owned()));
        }
        match (self.phase, Message::parse(line)) {
            (Phase::Handshake, Message::Name(name)) => self.identity.name = Some(name),
            (Phase::Handshake, Message::Author(author)) => self.identity.author = Some(author),
            (Phase::Handshake, Message::Option(option)) => {
                if self.identity.options.len() == MAX_OPTIONS {
                    return Err(SessionError::TooManyOptions);
                }
                self.identity.options.push(option);
            }
            (Phase::Handshake, Message::UciOk) => {
                let commands = self.configure()?;
                self.wait(Phase::Preparing, at, self.deadlines.readyok);
                return Ok(Step::Send(commands));
            }
            (Phase::Preparing, Message::ReadyOk) => {
                self.phase = Phase::Idle;
                self.due = None;
                return Ok(Step::Ready);
            }
            (Phase::Pondering, Message::Info(info)) => self.info.update(info),
            (Phase::Thinking | Phase::Halting, Message::Info(info)) => {
                self.info.update(info);
                return Ok(Step::Info);
            }
            (Phase::Thinking | Phase::Halting, Message::BestMove { text, ponder }) => {
                self.phase = Phase::Idle;
                self.due = None;
                let info = std::mem::take(&mut self.info);
                return Ok(Step::BestMove { text, info, ponder });
            }
            // A search that was to wait for us has ended by itself: it will be asked again.
            (Phase::Pondering, Message::BestMove { .. }) => self.phase = Phase::Idle,
            (Phase::Ceasing, Message::BestMove { .. }) => {
                self.phase = Phase::Idle;
                self.due = None;
                return Ok(Step::Ready);
            }
            _ => {}
        }
        Ok(Step::Continue)
    }

    fn configure(&self) -> Result<Vec<Command>, SessionError> {
        let declared = &self.identity.options;
        let Setup { options, init, ponder, nodestime } = &self.setup;
        let mut commands = Vec::new();
        if *ponder {
            let name =
                check_option(declared, "Ponder", "true").map_err(|_| SessionError::NoPonder)?;
            commands.push(Command::SetOption { name: name.to_owned(), value: "true".to_owned() });
        }
        if let Some(value) = nodestime.map(|nodes| nodes.to_string())
            && let Ok(name) = check_option(declared, "nodestime", &value)
        {
            commands.push(Command::SetOption { name: name.to_owned(), value });
        }
        for (name, value) in options {
            let name = check_option(declared, name, value)?.to_owned();
            commands.push(Command::SetOption { name, value: value.clone() });
        }
        commands.extend(init.iter().cloned().map(Command::Raw));
        commands.push(Command::IsReady);
        Ok(commands)
    }

    fn wait(&mut self, phase: Phase, now: Instant, limit: Duration) {
        self.phase = phase;
        self.due = Some((now + limit, limit));
    }
}

#[cfg(test)]
mod tests;
