//! State and setup of a session, common to both protocols.

use std::time::{Duration, Instant};

use shakmaty::{CastlingMode, Chess};
use thiserror::Error;

use crate::clock::Limits;
use crate::times::Deadlines;
use crate::uci::{Info, OptionDeclaration, OptionError, check_option};

/// Maximum number of options that an engine may declare; real engines have at most a few hundred.
pub(crate) const MAX_OPTIONS: usize = 5_000;

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
    /// `true` to omit options that the engine does not declare, or whose value the engine does not
    /// accept. If `false`, such an option is an error.
    pub is_lenient: bool,
    /// `true` if `lowerbound` and `upperbound` scores count as scores.
    pub takes_bounds: bool,
    /// `true` to keep the `info` lines with a score and a variation.
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
    /// Names and values of options to set for this game; sent only to UCI engines.
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

/// Meaning of a line from the engine, or the next action of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// No action; continue to read.
    Continue,
    /// Text to send to the engine immediately.
    Send(String),
    /// New information about the search of a UCI engine, merged into
    /// [`Session::info`](crate::Session::info).
    Info,
    /// Line of the answer to [`Session::ask`](crate::Session::ask).
    Answer(String),
    /// End of the search.
    Move {
        /// Move in UCI notation, or the engine's text if this text is not a move; empty if the
        /// engine sent no text.
        text: String,
        /// Last information about the search.
        info: Info,
    },
    /// Claim with which the engine ends the game.
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
        /// Timeout for the answer.
        limit: Duration,
    },
    /// The engine lacks a required feature, or refuses a command.
    #[error("{0}")]
    Unfit(String),
}

pub(crate) type Result<T, E = SessionError> = std::result::Result<T, E>;

/// Returns a [`SessionError::Unfit`].
pub(crate) fn unfit(reason: &str) -> SessionError {
    SessionError::Unfit(reason.to_owned())
}

/// Returns the error of an engine that does not support Chess960.
pub(crate) fn no_chess960() -> SessionError {
    unfit("does not declare UCI_Chess960, which this opening requires")
}

/// Phase of a session, which determines the awaited answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// `uci` or `xboard` was sent, or will be sent first.
    #[default]
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
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) setup: Setup,
    pub(crate) deadlines: Deadlines,
    pub(crate) phase: Phase,
    /// Deadline of the awaited answer, and the timeout from which the deadline was computed.
    pub(crate) due: Option<(Instant, Duration)>,
    /// `true` if the deadline follows from the time left on the clock.
    pub(crate) is_on_clock: bool,
    /// Name that the engine has reported.
    pub(crate) name: Option<String>,
    /// Options that the engine has declared.
    pub(crate) options: Vec<OptionDeclaration>,
    /// Names and values of requested options that were omitted because the engine does not accept
    /// them.
    pub(crate) left_out: Vec<(String, String)>,
    /// Information about the search in progress.
    pub(crate) info: Info,
    /// Last move of the engine's side in the `position` command; another word of the command if the
    /// command contains no move of this side.
    pub(crate) last_own_move: String,
    /// Reply that the engine expects to its last move, as the engine wrote it.
    pub(crate) expected: Option<String>,
    /// `position` command for the position on which the engine ponders.
    pub(crate) pondered: String,
    /// `true` if castling in the last game follows the rules and notation of Chess960.
    pub(crate) is_chess960: bool,
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

    pub(crate) fn declare(&mut self, option: OptionDeclaration) -> Result<()> {
        if self.options.len() == MAX_OPTIONS {
            return Err(unfit(&format!("declares more than {MAX_OPTIONS} options")));
        }
        self.options.push(option);
        Ok(())
    }

    /// Omits requested options that the engine does not accept, if the setup is lenient.
    pub(crate) fn leave_out_unfit(&mut self) {
        if self.setup.is_lenient {
            let is_unfit = |(name, value): &mut (String, String)| {
                check_option(&self.options, name, value).is_err()
            };
            self.left_out = self.setup.options.extract_if(.., is_unfit).collect();
        }
    }

    pub(crate) fn late(&self, awaited: &'static str) -> SessionError {
        SessionError::Late { awaited, limit: self.due.map_or(Duration::ZERO, |(_, limit)| limit) }
    }

    /// Records the start of a search, or its continuation after a ponder hit. Without a budget, the
    /// timeout [`Deadlines::bestmove`] applies.
    pub(crate) fn search(&mut self, now: Instant, budget: Option<Duration>) {
        self.wait(Phase::Thinking, now, budget.unwrap_or(self.deadlines.bestmove));
        self.is_on_clock = budget.is_some();
    }
}
