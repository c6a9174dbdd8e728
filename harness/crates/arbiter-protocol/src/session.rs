//! Protocol session of one engine, as a state machine.
//!
//! The caller passes commands and the lines of the engine, each with its time. The session returns
//! the text to send, the meaning of a line, and the deadline of an answer. The session does no I/O
//! and reads no clock, so unit tests can simulate any misbehaviour of an engine. The text to send
//! includes line endings.

use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Chess};

use crate::cecp::dialect::Xboard;
use crate::state::{Claim, Game, Phase, SessionError, Setup, State, Step};
use crate::times::Deadlines;
use crate::uci::{self, Go, Info, OptionDeclaration, check_option};

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
        let state = State { setup, deadlines, ..State::default() };
        Session { state, xboard: (protocol == Protocol::Xboard).then(Box::default) }
    }

    /// Returns whether the engine speaks UCI.
    pub fn is_uci(&self) -> bool {
        self.xboard.is_none()
    }

    /// Returns whether a UCI engine has sent `uciok`.
    pub fn has_uciok(&self) -> bool {
        self.is_uci() && self.state.phase != Phase::Handshake
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
    /// the requested options are returned instead of an error.
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
    /// Fails if the engine cannot set up the position, does not support Chess960 in a Chess960
    /// game, or does not accept an option.
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

    /// Starts a search, or continues pondering as a normal search. `position` is the `position`
    /// command of UCI, and `budget` is the time after which the engine loses on time. Returns the
    /// text to send. An engine that ponders on another position must be stopped first.
    pub fn think(
        &mut self,
        now: Instant,
        position: &str,
        go: &Go,
        budget: Option<Duration>,
    ) -> String {
        if self.is_pondering() {
            self.state.search(now, budget);
            return "ponderhit\n".to_owned();
        }
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
    pub fn ponder(&mut self, position: String, go: Go) -> Option<String> {
        self.is_uci().then(|| {
            uci::dialect::set_position(&mut self.state, &position);
            // No answer is awaited while the engine ponders, so there is no deadline.
            (self.state.phase, self.state.due) = (Phase::Pondering, None);
            self.state.pondered = position;
            text(format_args!("{}\n{}\n", self.state.pondered, Go { ponder: true, ..go }))
        })
    }

    /// Returns the reply that the engine expects to its last move, if the engine may ponder.
    pub fn expected_reply(&self) -> Option<&str> {
        self.state.expected.as_deref().filter(|_| self.state.setup.ponder)
    }

    /// Returns whether the engine is pondering because of [`Session::ponder`].
    pub fn is_pondering(&self) -> bool {
        self.state.phase == Phase::Pondering
    }

    /// Returns whether the engine is pondering on a position other than `position`.
    pub fn is_ponder_miss(&self, position: &str) -> bool {
        self.is_pondering() && self.state.pondered != position
    }

    /// Stops pondering; must be called only while the engine is pondering. Returns the text to
    /// send.
    pub fn end_pondering(&mut self, now: Instant) -> &'static str {
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

    /// Processes a line that was read before the last command was sent. Returns the claim that the
    /// line contains, if any.
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

/// Capacity, in bytes, of the string for one command. The `position` command of a long game needs
/// half of this capacity.
const TEXT_BYTES: usize = 4096;

/// Formats a string. All strings have the same capacity, to avoid heap fragmentation.
fn text(arguments: fmt::Arguments<'_>) -> String {
    let mut text = String::with_capacity(TEXT_BYTES);
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
    text
}
