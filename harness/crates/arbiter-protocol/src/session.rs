//! One engine's protocol state as a pure state machine.
//!
//! A caller feeds in lines with the time they were read and commands with the time they were given;
//! the session returns the text to send, the meaning of a line, and the deadline of an answer. It
//! does no I/O and reads no clock, so every way an engine can misbehave is a unit test. Text to
//! send has its line ends.

use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Chess};
use thiserror::Error;

use crate::cecp::dialect::Xboard;
use crate::clock::Limits;
use crate::deadlines::Deadlines;
use crate::uci::{self, Go, Info, OptionDeclaration, OptionError, check_option};

/// Number of options that an engine may declare; the richest real ones have some hundreds.
pub(crate) const MAX_OPTIONS: usize = 5_000;

/// Command that ends an engine of either protocol.
pub const QUIT: &str = "quit\n";

/// Protocol of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Universal Chess Interface.
    #[default]
    Uci,
    /// The Chess Engine Communication Protocol, version 2.
    Xboard,
}

/// Policy for the process of an engine's next game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Restart {
    /// Reuse the process, unless the engine declares that it cannot play another game.
    #[default]
    Auto,
    /// Start a new process for each game.
    On,
    /// Reuse the process, even if the engine declares that it cannot play another game.
    Off,
}

arbiter_names::named!(Protocol, Restart);

/// Configuration of an engine before its first game.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setup {
    /// Options to set: name, value.
    pub options: Vec<(String, String)>,
    /// Lines to send as they are, after the options.
    pub init: Vec<String>,
    /// `true` if the engine thinks on its opponent's time.
    pub ponder: bool,
    /// Number of nodes that stand for a millisecond, sent to an engine that has the option
    /// `nodestime`.
    pub nodestime: Option<u64>,
    /// `true` to leave out options that the engine does not have or take, instead of failing.
    pub is_lenient: bool,
    /// `true` to take a bound of a score for the score.
    pub takes_bounds: bool,
    /// `true` to keep all lines of a search whose variations can be checked.
    pub keeps_variations: bool,
}

/// Game to be played.
#[derive(Debug, Clone, Copy)]
pub struct Game<'a> {
    /// Starting position.
    pub start: &'a Chess,
    /// Rules and notation of castling.
    pub mode: CastlingMode,
    /// Limits of the engine's thinking.
    pub limits: Limits,
    /// Options to set for this game; engines that speak UCI only.
    pub settings: &'a [(String, String)],
}

/// Claim of an engine about the game's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The engine has lost or resigns.
    Loss,
    /// The engine has won; the text is its line.
    Win(String),
    /// The game is drawn; the text is its line.
    Draw(String),
    /// The engine does not accept its opponent's move; the text is its line.
    Refusal(String),
}

/// Meaning of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing to act on; keep reading.
    Continue,
    /// This text is to be sent now.
    Send(String),
    /// Information about the search; [`Session::info`] has it if the engine speaks UCI.
    Info,
    /// A line of the answer to a question outside the protocol.
    Answer(String),
    /// The search ended.
    Move {
        /// The move in UCI notation, or what the engine wrote in its place; empty if it named none.
        text: String,
        /// Last information about the search.
        info: Info,
        /// Reply that the engine expects, as it wrote it.
        ponder: Option<String>,
    },
    /// The engine ends the game.
    Claim(Claim),
}

/// Reason why a session cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SessionError {
    /// A wished option does not fit.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// An answer did not come in time.
    #[error("no '{awaited}' within {} ms", .limit.as_millis())]
    Late {
        /// Keyword of the awaited answer.
        awaited: &'static str,
        /// Time limit of the answer.
        limit: Duration,
    },
    /// The engine lacks something that is needed here, or refuses a command.
    #[error("{0}")]
    Unfit(String),
}

/// Returns the error of an engine that cannot play.
pub(crate) fn unfit(reason: &str) -> SessionError {
    SessionError::Unfit(reason.to_owned())
}

/// Returns the error of an engine that would have to play Chess960.
pub(crate) fn no_chess960() -> SessionError {
    unfit("does not declare UCI_Chess960, which this opening requires")
}

/// State of a session, by the awaited answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was sent yet.
    Fresh,
    /// The greeting was sent.
    Handshake,
    /// The engine was asked whether it is ready.
    Preparing,
    /// The engine is ready and does nothing.
    Idle,
    /// The engine was sent the command to think, and perhaps to stop and answer.
    Thinking,
    /// `go ponder` was sent.
    Pondering,
    /// `stop` was sent to end pondering; the answer is not a move.
    PonderMiss,
    /// A question outside the protocol was sent.
    Asked,
}

/// Common part of sessions of both protocols.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) setup: Setup,
    pub(crate) deadlines: Deadlines,
    pub(crate) phase: Phase,
    /// Deadline of the awaited answer, and its time limit.
    pub(crate) due: Option<(Instant, Duration)>,
    /// `true` if the deadline is the time of a clock.
    is_on_clock: bool,
    /// Name of the engine, as it reports it.
    pub(crate) name: Option<String>,
    /// Options that the engine has declared.
    pub(crate) options: Vec<OptionDeclaration>,
    /// Wished options that the engine does not have or take: name, value.
    pub(crate) left_out: Vec<(String, String)>,
    /// Information about the search in progress.
    pub(crate) info: Info,
    /// Last move of the engine's side in the position of the search; another word if there is none.
    pub(crate) last_own_move: String,
    /// Rules and notation of castling in the last game.
    pub(crate) mode: CastlingMode,
}

impl State {
    pub(crate) fn wait(&mut self, phase: Phase, now: Instant, limit: Duration) {
        (self.phase, self.is_on_clock) = (phase, false);
        self.due = Some((now + limit, limit));
    }

    /// Ends the wait for an answer.
    pub(crate) fn rest(&mut self) {
        (self.phase, self.due) = (Phase::Idle, None);
    }

    pub(crate) fn declare(&mut self, option: OptionDeclaration) -> Result<(), SessionError> {
        if self.options.len() == MAX_OPTIONS {
            return Err(unfit(&format!("declares more than {MAX_OPTIONS} options")));
        }
        self.options.push(option);
        Ok(())
    }

    /// Leaves out wished options that the engine does not have or take, if the setup allows it.
    pub(crate) fn leave_out_unfit(&mut self) {
        if self.setup.is_lenient {
            let (wished, declared) = (std::mem::take(&mut self.setup.options), &self.options);
            (self.setup.options, self.left_out) = wished
                .into_iter()
                .partition(|(name, value)| check_option(declared, name, value).is_ok());
        }
    }

    pub(crate) fn late(&self, awaited: &'static str) -> SessionError {
        SessionError::Late { awaited, limit: self.due.map_or(Duration::ZERO, |(_, limit)| limit) }
    }

    /// Starts a search, or continues it after pondering; without a budget the deadline for
    /// unbounded searches applies.
    fn search(&mut self, now: Instant, budget: Option<Duration>) {
        self.wait(Phase::Thinking, now, budget.unwrap_or(self.deadlines.bestmove));
        self.is_on_clock = budget.is_some();
    }
}

/// Protocol state of one engine.
#[derive(Debug)]
pub struct Session {
    state: State,
    /// State of an xboard engine; `None` if the engine speaks UCI.
    xboard: Option<Box<Xboard>>,
}

impl Session {
    /// Creates a session that will set the options of `setup` once the engine has declared its own.
    pub fn new(protocol: Protocol, setup: Setup, deadlines: Deadlines) -> Session {
        let state = State {
            setup,
            deadlines,
            phase: Phase::Fresh,
            due: None,
            is_on_clock: false,
            name: None,
            options: Vec::new(),
            left_out: Vec::new(),
            info: Info::default(),
            last_own_move: String::new(),
            mode: CastlingMode::Standard,
        };
        Session { state, xboard: (protocol == Protocol::Xboard).then(Box::default) }
    }

    /// Returns whether the engine speaks UCI.
    pub fn is_uci(&self) -> bool {
        self.xboard.is_none()
    }

    /// Returns whether the engine has answered xboard's greeting, and not only kept silent.
    pub fn has_features(&self) -> bool {
        self.xboard.as_ref().is_some_and(|xboard| xboard.is_declared)
    }

    /// Returns the name of the engine, as it reports it.
    pub fn engine_name(&self) -> Option<&str> {
        self.state.name.as_deref()
    }

    /// Returns the options of the engine.
    pub fn options(&self) -> &[OptionDeclaration] {
        &self.state.options
    }

    /// Returns the wished options that were left out, as the setup allows: name, value.
    pub fn left_out(&self) -> &[(String, String)] {
        &self.state.left_out
    }

    /// Returns whether the engine plays Chess960.
    pub fn plays_chess960(&self) -> bool {
        match &self.xboard {
            None => check_option(self.options(), "UCI_Chess960", "true").is_ok(),
            Some(xboard) => xboard.features.chess960,
        }
    }

    /// Returns whether the engine can set up a game from `start`.
    pub fn can_set_up(&self, start: &Chess, mode: CastlingMode) -> bool {
        self.xboard.as_ref().is_none_or(|xboard| xboard.can_set_up(start, mode))
    }

    /// Returns whether the engine can play another game.
    pub fn is_reusable(&self) -> bool {
        self.xboard.as_ref().is_none_or(|xboard| !xboard.features.plays_once)
    }

    /// Returns whether nothing is awaited.
    pub fn is_ready(&self) -> bool {
        self.state.phase == Phase::Idle
    }

    /// Returns the deadline of the awaited answer; `None` while nothing is awaited.
    pub fn deadline(&self) -> Option<Instant> {
        self.state.due.map(|(due, _)| due)
    }

    /// Returns whether the deadline is the time of a clock, which cannot be extended.
    pub fn is_on_clock(&self) -> bool {
        self.state.is_on_clock
    }

    /// Extends the deadline.
    pub fn extend_deadline(&mut self, more: Duration) {
        self.state.due = self.state.due.map(|(due, limit)| (due + more, limit));
    }

    /// Handles a missing answer, after [`Session::deadline`]. The error names the missing answer;
    /// an xboard engine that is silent about its features gets its options instead.
    pub fn overdue(&mut self, now: Instant) -> Result<Step, SessionError> {
        match &mut self.xboard {
            None => Err(self.state.late(match self.state.phase {
                Phase::Fresh | Phase::Handshake => "uciok",
                Phase::Preparing | Phase::Idle => "readyok",
                Phase::Asked => "end of the answer",
                _ => "bestmove",
            })),
            Some(xboard) => xboard.overdue(&mut self.state, now),
        }
    }

    /// Starts the handshake of a process that was started. Returns the text to send.
    pub fn open(&mut self, now: Instant) -> &'static str {
        let uciok = self.state.deadlines.uciok;
        let (greeting, limit) = match &self.xboard {
            None => ("uci\n", uciok),
            // The user may allow less time for the handshake than old engines get to be silent.
            Some(_) => ("xboard\nprotover 2\n", Xboard::SILENCE.min(uciok)),
        };
        self.state.wait(Phase::Handshake, now, limit);
        greeting
    }

    /// Prepares a new game. Returns the text to send, whose answer shows that the engine is ready.
    /// Fails if the engine cannot set up the position, lacks Chess960, or does not take an option.
    pub fn new_game(&mut self, now: Instant, game: Game<'_>) -> Result<String, SessionError> {
        match &mut self.xboard {
            None => {
                let text = uci::dialect::new_game(&mut self.state, &game)?;
                self.state.wait(Phase::Preparing, now, self.state.deadlines.readyok);
                Ok(text)
            }
            Some(xboard) => xboard.new_game(&mut self.state, now, game),
        }
    }

    /// Starts a search; `position` is a UCI line. `budget` is the time after which the search is
    /// hopelessly late. Returns the text to send.
    pub fn think(
        &mut self,
        now: Instant,
        position: &str,
        go: &Go,
        budget: Option<Duration>,
    ) -> String {
        uci::dialect::set_position(&mut self.state, position);
        self.state.search(now, budget);
        match &mut self.xboard {
            None => text(format_args!("{position}\n{go}\n")),
            Some(xboard) => xboard.think(&self.state, position, go),
        }
    }

    /// Returns the information about the search in progress; `None` for xboard engines.
    pub fn info(&self) -> Option<&Info> {
        self.is_uci().then_some(&self.state.info)
    }

    /// Asks a question outside the protocol, about the UCI line `position`. All lines of the engine
    /// answer it until the caller has seen the end and calls [`Session::settle`]. `None` if the
    /// engine does not speak UCI.
    pub fn ask(
        &mut self,
        now: Instant,
        position: &str,
        question: &str,
        limit: Duration,
    ) -> Option<String> {
        self.is_uci().then(|| {
            self.state.wait(Phase::Asked, now, limit);
            format!("{position}\n{question}\n")
        })
    }

    /// Ends the answer to a question. Returns the text whose answer shows that the engine is ready.
    pub fn settle(&mut self, now: Instant) -> &'static str {
        self.state.wait(Phase::Preparing, now, self.state.deadlines.readyok);
        "isready\n"
    }

    /// Stops a search that takes too long. Returns the text to send.
    pub fn halt(&mut self, now: Instant) -> &'static str {
        self.state.wait(Phase::Thinking, now, self.state.deadlines.stop);
        if self.is_uci() { "stop\n" } else { "?\n" }
    }

    /// Lets the engine think on its opponent's time, on the UCI line `position`; nothing is awaited
    /// meanwhile. `None` for an engine that does so by itself.
    pub fn ponder(&mut self, position: &str, go: Go) -> Option<String> {
        self.is_uci().then(|| {
            uci::dialect::set_position(&mut self.state, position);
            // The engine owes nothing while it ponders, so that no deadline runs.
            (self.state.phase, self.state.due) = (Phase::Pondering, None);
            text(format_args!("{position}\n{}\n", Go { ponder: true, ..go }))
        })
    }

    /// Returns whether the engine still thinks on its opponent's time on our command.
    pub fn is_pondering(&self) -> bool {
        self.state.phase == Phase::Pondering
    }

    /// Ends pondering. If the opponent played the expected reply (`hit`), the search continues as
    /// an ordinary one; otherwise the session gets ready. For an engine that is pondering only.
    pub fn end_pondering(
        &mut self,
        now: Instant,
        hit: bool,
        budget: Option<Duration>,
    ) -> &'static str {
        if hit {
            self.state.search(now, budget);
            return "ponderhit\n";
        }
        self.state.wait(Phase::PonderMiss, now, self.state.deadlines.stop);
        "stop\n"
    }

    /// Ends a game; `result` is a PGN result with a comment. Returns the text to send, if any.
    pub fn game_over(&mut self, result: &str) -> Option<String> {
        Some(self.xboard.as_mut()?.game_over(result))
    }

    /// Takes a claim made before a move that did not make it true.
    pub fn false_claim(&mut self) -> Option<Claim> {
        self.xboard.as_mut()?.draw_claim.take().map(Claim::Draw)
    }

    /// Processes a line that was read before the question. Returns a claim in it, if any.
    pub fn receive_early(&mut self, line: &str) -> Option<Claim> {
        self.xboard.as_ref()?.claim(&self.state, line.trim())
    }

    /// Processes a line. Returns its meaning. An error means that the engine cannot play, such as
    /// by an option that it refuses.
    pub fn receive(&mut self, at: Instant, line: &str) -> Result<Step, SessionError> {
        match &mut self.xboard {
            None => uci::dialect::receive(&mut self.state, at, line),
            Some(xboard) => xboard.receive(&mut self.state, at, line),
        }
    }
}

/// Room for the text of one command, in bytes; a long game's `position` takes half of it.
const TEXT_BYTES: usize = 4096;

/// Formats a text in a buffer of one size for all, so that the threads that drop such texts do not
/// each keep some of every size.
fn text(told: fmt::Arguments<'_>) -> String {
    let mut text = String::with_capacity(TEXT_BYTES);
    // Writing to a string cannot fail.
    let _ = text.write_fmt(told);
    text
}
