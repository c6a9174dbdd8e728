//! Protocol session of one engine, as a state machine.
//!
//! The caller passes commands and the lines of the engine, each with its time. The session returns
//! the text to send, the meaning of a line, and the deadline of an answer. The session does no I/O
//! and reads no clock, so unit tests can cover every misbehaviour of engines. The text to send
//! includes line endings.

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

/// Maximum number of options that an engine may declare; real engines have at most a few hundred.
pub(crate) const MAX_OPTIONS: usize = 5_000;

/// Command that makes an engine exit, in both protocols.
pub const QUIT: &str = "quit\n";

/// Protocol of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Universal Chess Interface.
    #[default]
    Uci,
    /// Chess Engine Communication Protocol (CECP), version 2.
    Xboard,
}

/// Restart policy of an engine between games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Restart {
    /// Reuse the process, unless the engine declares that it can play only one game.
    #[default]
    Auto,
    /// Start a new process for each game.
    On,
    /// Reuse the process, even if the engine declares that it can play only one game.
    Off,
}

arbiter_names::named!(Protocol, Restart);

/// Configuration of an engine before its first game.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setup {
    /// Names and values of the options to set.
    pub options: Vec<(String, String)>,
    /// Lines to send unchanged after the options.
    pub init: Vec<String>,
    /// `true` if the engine ponders.
    pub ponder: bool,
    /// Number of nodes that count as one millisecond, sent to engines that have the option
    /// `nodestime`.
    pub nodestime: Option<u64>,
    /// `true` if options are omitted that the engine does not declare or whose value it does not
    /// accept. If `false`, such an option is an error.
    pub is_lenient: bool,
    /// `true` if `lowerbound` and `upperbound` scores count as scores.
    pub takes_bounds: bool,
    /// `true` if the lines of a search that have a score and a variation are kept.
    pub keeps_variations: bool,
}

/// Game to be played.
#[derive(Debug, Clone, Copy)]
pub struct Game<'a> {
    /// Starting position.
    pub start: &'a Chess,
    /// Rules and notation of castling.
    pub mode: CastlingMode,
    /// Limits of the engine's searches.
    pub limits: Limits,
    /// Names and values of options to set for this game; only sent to UCI engines.
    pub settings: &'a [(String, String)],
}

/// Claim of an engine about the result or the last move of the game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The engine resigns or claims that it has lost.
    Loss,
    /// The engine claims a win; the text is the line of the engine.
    Win(String),
    /// The engine claims a draw; the text is the line of the engine.
    Draw(String),
    /// The engine rejects its opponent's move; the text is the line of the engine.
    Refusal(String),
}

/// Meaning of a line, or the next action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// No action; continue to read.
    Continue,
    /// Text to send to the engine immediately.
    Send(String),
    /// New information about the search of a UCI engine, merged into [`Session::info`].
    Info,
    /// Line of the answer to [`Session::ask`].
    Answer(String),
    /// End of the search.
    Move {
        /// Move in UCI notation, or the engine's text if it is not a move; empty if the engine sent
        /// no text.
        text: String,
        /// Last information about the search.
        info: Info,
        /// Reply that the engine expects, as the engine wrote it.
        ponder: Option<String>,
    },
    /// Claim of the engine, which ends the game.
    Claim(Claim),
}

/// Reason why a session cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SessionError {
    /// The engine does not accept a requested option.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// An answer did not arrive in time.
    #[error("no '{awaited}' within {} ms", .limit.as_millis())]
    Late {
        /// Keyword of the awaited answer.
        awaited: &'static str,
        /// Timeout of the answer.
        limit: Duration,
    },
    /// The engine lacks a required feature, or refuses a command.
    #[error("{0}")]
    Unfit(String),
}

/// Returns a [`SessionError::Unfit`].
pub(crate) fn unfit(reason: &str) -> SessionError {
    SessionError::Unfit(reason.to_owned())
}

/// Returns the error of an engine that does not support Chess960.
pub(crate) fn no_chess960() -> SessionError {
    unfit("does not declare UCI_Chess960, which this opening requires")
}

/// Phase of a session, which determines the awaited answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// `uci` or `xboard` was sent, or will be sent first.
    Handshake,
    /// `isready` or `ping` was sent.
    Preparing,
    /// The engine is ready, and no answer is awaited.
    Idle,
    /// A search was started, and possibly stopped; the move is awaited.
    Thinking,
    /// `go ponder` was sent.
    Pondering,
    /// `stop` was sent to end pondering; the `bestmove` is ignored.
    PonderMiss,
    /// A command outside the protocol was sent.
    Asked,
}

/// Common state of sessions in both protocols.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) setup: Setup,
    pub(crate) deadlines: Deadlines,
    pub(crate) phase: Phase,
    /// Deadline of the awaited answer, and the timeout from which it was computed.
    pub(crate) due: Option<(Instant, Duration)>,
    /// `true` if the deadline follows from the time left on the clock.
    is_on_clock: bool,
    /// Name that the engine has reported.
    pub(crate) name: Option<String>,
    /// Options that the engine has declared.
    pub(crate) options: Vec<OptionDeclaration>,
    /// Names and values of requested options that were omitted because the engine does not accept
    /// them.
    pub(crate) left_out: Vec<(String, String)>,
    /// Information about the search in progress.
    pub(crate) info: Info,
    /// Last move of the engine's side in the `position` command; another word of the command if
    /// there is no such move.
    pub(crate) last_own_move: String,
    /// Rules and notation of castling in the last game.
    pub(crate) mode: CastlingMode,
}

impl State {
    pub(crate) fn wait(&mut self, phase: Phase, now: Instant, limit: Duration) {
        self.phase = phase;
        self.is_on_clock = false;
        self.due = Some((now + limit, limit));
    }

    /// Ends the wait for an answer.
    pub(crate) fn become_idle(&mut self) {
        self.phase = Phase::Idle;
        self.due = None;
    }

    pub(crate) fn declare(&mut self, option: OptionDeclaration) -> Result<(), SessionError> {
        if self.options.len() == MAX_OPTIONS {
            return Err(unfit(&format!("declares more than {MAX_OPTIONS} options")));
        }
        self.options.push(option);
        Ok(())
    }

    /// Omits requested options that the engine does not accept, if the setup is lenient.
    pub(crate) fn leave_out_unfit(&mut self) {
        if self.setup.is_lenient {
            let requested = std::mem::take(&mut self.setup.options);
            let declared = &self.options;
            (self.setup.options, self.left_out) = requested
                .into_iter()
                .partition(|(name, value)| check_option(declared, name, value).is_ok());
        }
    }

    pub(crate) fn late(&self, awaited: &'static str) -> SessionError {
        SessionError::Late { awaited, limit: self.due.map_or(Duration::ZERO, |(_, limit)| limit) }
    }

    /// Records the start of a search, or its continuation after a ponder hit. Without a budget, the
    /// timeout [`Deadlines::bestmove`] applies.
    fn search(&mut self, now: Instant, budget: Option<Duration>) {
        self.wait(Phase::Thinking, now, budget.unwrap_or(self.deadlines.bestmove));
        self.is_on_clock = budget.is_some();
    }
}

/// Protocol session of one engine.
#[derive(Debug)]
pub struct Session {
    state: State,
    /// State of a CECP engine; `None` for UCI.
    xboard: Option<Box<Xboard>>,
}

impl Session {
    /// Creates a session that sets the options of `setup` after the engine has declared its
    /// options.
    pub fn new(protocol: Protocol, setup: Setup, deadlines: Deadlines) -> Session {
        let state = State {
            setup,
            deadlines,
            phase: Phase::Handshake,
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

    /// Returns whether a CECP engine has sent a `feature` line.
    pub fn has_features(&self) -> bool {
        self.xboard.as_ref().is_some_and(|xboard| xboard.is_declared)
    }

    /// Returns the name that the engine reports.
    pub fn engine_name(&self) -> Option<&str> {
        self.state.name.as_deref()
    }

    /// Returns the options that the engine has declared.
    pub fn options(&self) -> &[OptionDeclaration] {
        &self.state.options
    }

    /// Returns the names and values of requested options that a lenient setup omitted.
    pub fn left_out(&self) -> &[(String, String)] {
        &self.state.left_out
    }

    /// Returns whether the engine supports Chess960.
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

    /// Returns whether the engine is ready and no answer is awaited.
    pub fn is_ready(&self) -> bool {
        self.state.phase == Phase::Idle
    }

    /// Returns the deadline of the awaited answer; `None` if there is no deadline.
    pub fn deadline(&self) -> Option<Instant> {
        self.state.due.map(|(due, _)| due)
    }

    /// Returns whether the deadline follows from a clock. Such a deadline must not be extended.
    pub fn is_on_clock(&self) -> bool {
        self.state.is_on_clock
    }

    /// Extends the deadline, if there is one, by `more`.
    pub fn extend_deadline(&mut self, more: Duration) {
        self.state.due = self.state.due.map(|(due, limit)| (due + more, limit));
    }

    /// Handles a missed [`Session::deadline`]. The error names the missing answer. If the handshake
    /// of a CECP engine times out and the engine has not sent `feature done=0`, the commands for
    /// its options are returned instead of an error.
    pub fn overdue(&mut self, now: Instant) -> Result<Step, SessionError> {
        match &mut self.xboard {
            None => Err(self.state.late(match self.state.phase {
                Phase::Handshake => "uciok",
                Phase::Preparing | Phase::Idle => "readyok",
                Phase::Asked => "end of the answer",
                _ => "bestmove",
            })),
            Some(xboard) => xboard.overdue(&mut self.state, now),
        }
    }

    /// Starts the handshake with a new process. Returns the text to send.
    pub fn open(&mut self, now: Instant) -> &'static str {
        let uciok = self.state.deadlines.uciok;
        let (greeting, limit) = match &self.xboard {
            None => ("uci\n", uciok),
            // The user's timeout may be shorter than the time to wait for old engines.
            Some(_) => ("xboard\nprotover 2\n", Xboard::SILENCE.min(uciok)),
        };
        self.state.wait(Phase::Handshake, now, limit);
        greeting
    }

    /// Prepares a new game. Returns the text to send; the engine is ready after it has answered.
    /// Fails if the engine cannot set up the position, does not support Chess960 although the game
    /// requires it, or does not accept an option.
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

    /// Starts a search. `position` is the `position` command of UCI, and `budget` is the time after
    /// which the engine loses on time. Returns the text to send.
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

    /// Returns the information about the search in progress.
    pub fn info(&self) -> &Info {
        &self.state.info
    }

    /// Starts a request outside the protocol; `position` is the UCI command that precedes
    /// `question`. All lines count as the answer until the caller calls [`Session::settle`].
    /// Returns the text to send; `None` for CECP engines.
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

    /// Ends the answer to [`Session::ask`]. Returns the text to send; the engine is ready after it
    /// has answered.
    pub fn settle(&mut self, now: Instant) -> &'static str {
        self.state.wait(Phase::Preparing, now, self.state.deadlines.readyok);
        "isready\n"
    }

    /// Stops a search. Returns the text to send.
    pub fn halt(&mut self, now: Instant) -> &'static str {
        self.state.wait(Phase::Thinking, now, self.state.deadlines.stop);
        if self.is_uci() { "stop\n" } else { "?\n" }
    }

    /// Lets the engine ponder; `position` is the `position` command of UCI. No answer is awaited
    /// while the engine ponders. Returns the text to send; `None` for CECP engines, which ponder on
    /// their own.
    pub fn ponder(&mut self, position: &str, go: Go) -> Option<String> {
        self.is_uci().then(|| {
            uci::dialect::set_position(&mut self.state, position);
            // No answer is awaited while the engine ponders, so there is no deadline.
            (self.state.phase, self.state.due) = (Phase::Pondering, None);
            text(format_args!("{position}\n{}\n", Go { ponder: true, ..go }))
        })
    }

    /// Returns whether the engine is pondering because of [`Session::ponder`].
    pub fn is_pondering(&self) -> bool {
        self.state.phase == Phase::Pondering
    }

    /// Ends pondering; must be called only while the engine is pondering. If the opponent played
    /// the expected reply (`hit`), the search continues as a normal search; otherwise the search is
    /// stopped. Returns the text to send.
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

    /// Takes the engine's draw claim, if there is one. The claim is false, because the game has
    /// continued after the engine's last move.
    pub fn false_claim(&mut self) -> Option<Claim> {
        self.xboard.as_mut()?.draw_claim.take().map(Claim::Draw)
    }

    /// Processes a line that was read before the last command. Returns the claim that the line
    /// contains, if any.
    pub fn receive_early(&mut self, line: &str) -> Option<Claim> {
        self.xboard.as_ref()?.claim(&self.state, line.trim())
    }

    /// Processes a line and returns its meaning. Fails if the engine cannot play, for example
    /// because it does not accept an option.
    pub fn receive(&mut self, at: Instant, line: &str) -> Result<Step, SessionError> {
        match &mut self.xboard {
            None => uci::dialect::receive(&mut self.state, at, line),
            Some(xboard) => xboard.receive(&mut self.state, at, line),
        }
    }
}

/// Capacity of the string for one command, in bytes. The `position` command of a long game needs
/// half of this capacity.
const TEXT_BYTES: usize = 4096;

/// Formats a string. All strings have the same capacity, to avoid heap fragmentation.
fn text(arguments: fmt::Arguments<'_>) -> String {
    let mut text = String::with_capacity(TEXT_BYTES);
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
    text
}
