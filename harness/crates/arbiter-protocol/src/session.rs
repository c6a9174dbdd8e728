//! One engine's protocol state as a pure state machine.
//!
//! A caller feeds in lines with the time they were read and commands with the time they were
//! given; the session says what to send, what a line meant, and until when it will wait. It does
//! no I/O and reads no clock, so every way an engine can misbehave is a unit test. What goes out is
//! text with its line ends.

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

/// Options that an engine may declare; the richest real ones have some hundreds.
pub(crate) const MAX_OPTIONS: usize = 5_000;

/// What makes an engine of either protocol leave.
pub const QUIT: &str = "quit\n";

/// Which protocol an engine speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Universal Chess Interface.
    #[default]
    Uci,
    /// The Chess Engine Communication Protocol, version 2.
    Xboard,
}

/// Whether an engine plays its next game in the process of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Restart {
    /// Yes, unless the engine says that it cannot.
    #[default]
    Auto,
    /// Never: each game has a process of its own.
    On,
    /// Yes, even if the engine says that it cannot.
    Off,
}

arbiter_names::named!(Protocol, Restart);

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
    /// Whether options that the engine does not have or take are left out, and are no error.
    pub is_lenient: bool,
    /// Whether a bound of a score is taken for the score.
    pub takes_bounds: bool,
    /// All lines of a search are kept whose variations can be checked.
    pub keeps_variations: bool,
}

/// A game to be played.
#[derive(Debug, Clone, Copy)]
pub struct Game<'a> {
    /// Where it starts.
    pub start: &'a Chess,
    /// How castling is written and done.
    pub mode: CastlingMode,
    /// What bounds the engine's thinking.
    pub limits: Limits,
    /// Options to set for it; engines that speak UCI only.
    pub settings: &'a [(String, String)],
}

/// What an engine says of the game's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It has lost or gives up.
    Loss,
    /// It has won; the text is its line.
    Win(String),
    /// The game is drawn; the text is its line.
    Draw(String),
    /// It does not accept its opponent's move; the text is its line.
    Refusal(String),
}

/// What a line meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing to act on; keep reading.
    Continue,
    /// This text is due now.
    Send(String),
    /// The engine said something of its search; [`Session::info`] has it if it speaks UCI.
    Info,
    /// A line of the answer to a question outside the protocol.
    Answer(String),
    /// The search ended.
    Move {
        /// The move in UCI notation, or what the engine wrote in its place; empty if it named none.
        text: String,
        /// What the engine last said of the search.
        info: Info,
        /// The reply it expects, as it wrote it.
        ponder: Option<String>,
    },
    /// The engine ends the game.
    Claim(Claim),
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
    /// The engine lacks something that it needs here, or refuses what it is told.
    #[error("{0}")]
    Unfit(String),
}

/// The error of an engine that cannot play.
pub(crate) fn unfit(reason: &str) -> SessionError {
    SessionError::Unfit(reason.to_owned())
}

/// The error of an engine that would have to play Chess960.
pub(crate) fn no_chess960() -> SessionError {
    unfit("does not declare UCI_Chess960, which this opening needs")
}

/// What a session waits for.
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
    /// The engine was told to think, and perhaps to stop and answer.
    Thinking,
    /// `go ponder` was sent.
    Pondering,
    /// `stop` was sent to end pondering; the answer is no move.
    PonderMiss,
    /// A question outside the protocol was sent.
    Asked,
}

/// What sessions of both protocols have.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) setup: Setup,
    pub(crate) deadlines: Deadlines,
    pub(crate) phase: Phase,
    /// Until when the awaited answer may come, and the time it has.
    pub(crate) due: Option<(Instant, Duration)>,
    /// The deadline is the time of a clock.
    is_on_clock: bool,
    /// The name that the engine gives itself.
    pub(crate) name: Option<String>,
    /// The options that it has declared.
    pub(crate) options: Vec<OptionDeclaration>,
    /// Wished options that it does not have or take: name, value.
    pub(crate) left_out: Vec<(String, String)>,
    /// What it said of the search in progress.
    pub(crate) info: Info,
    /// The last move of its side in the position that it searches; another word if there is none.
    pub(crate) last_own_move: String,
    /// How castling is written and done in its last game.
    pub(crate) mode: CastlingMode,
}

impl State {
    pub(crate) fn wait(&mut self, phase: Phase, now: Instant, limit: Duration) {
        (self.phase, self.is_on_clock) = (phase, false);
        self.due = Some((now + limit, limit));
    }

    /// Nothing is awaited any more.
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

    /// Leaves out wished options that it does not have or take, if the setup allows it.
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

    /// A search begins, or goes on after pondering; without a budget the deadline for unbounded
    /// searches holds.
    fn search(&mut self, now: Instant, budget: Option<Duration>) {
        self.wait(Phase::Thinking, now, budget.unwrap_or(self.deadlines.bestmove));
        self.is_on_clock = budget.is_some();
    }
}

/// One engine's protocol state.
#[derive(Debug)]
pub struct Session {
    state: State,
    /// What is particular to an xboard engine; `None` if it speaks UCI.
    xboard: Option<Box<Xboard>>,
}

impl Session {
    /// A session that will set the options of `setup` once the engine declared its own.
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

    /// Whether the engine speaks UCI.
    pub fn is_uci(&self) -> bool {
        self.xboard.is_none()
    }

    /// Whether the engine has answered xboard's greeting, and not only kept silent.
    pub fn has_features(&self) -> bool {
        self.xboard.as_ref().is_some_and(|xboard| xboard.is_declared)
    }

    /// The name that the engine gives itself.
    pub fn engine_name(&self) -> Option<&str> {
        self.state.name.as_deref()
    }

    /// The options that the engine has.
    pub fn options(&self) -> &[OptionDeclaration] {
        &self.state.options
    }

    /// Wished options that were left out, as the setup allows: name, value.
    pub fn left_out(&self) -> &[(String, String)] {
        &self.state.left_out
    }

    /// Whether the engine plays Chess960.
    pub fn plays_chess960(&self) -> bool {
        match &self.xboard {
            None => check_option(self.options(), "UCI_Chess960", "true").is_ok(),
            Some(xboard) => xboard.features.chess960,
        }
    }

    /// Whether the engine can be told to play from `start`.
    pub fn can_set_up(&self, start: &Chess, mode: CastlingMode) -> bool {
        self.xboard.as_ref().is_none_or(|xboard| xboard.can_set_up(start, mode))
    }

    /// Whether the engine can play another game.
    pub fn is_reusable(&self) -> bool {
        self.xboard.as_ref().is_none_or(|xboard| !xboard.features.plays_once)
    }

    /// Whether nothing is awaited.
    pub fn is_ready(&self) -> bool {
        self.state.phase == Phase::Idle
    }

    /// Until when the awaited answer may come; `None` while nothing is awaited.
    pub fn deadline(&self) -> Option<Instant> {
        self.state.due.map(|(due, _)| due)
    }

    /// Returns whether the deadline is the time of a clock, which waits for nobody.
    pub fn is_on_clock(&self) -> bool {
        self.state.is_on_clock
    }

    /// Puts the deadline off.
    pub fn put_off(&mut self, more: Duration) {
        self.state.due = self.state.due.map(|(due, limit)| (due + more, limit));
    }

    /// No answer came by [`Session::deadline`].
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

    /// The process has started.
    pub fn open(&mut self, now: Instant) -> &'static str {
        let uciok = self.state.deadlines.uciok;
        let (greeting, limit) = match &self.xboard {
            None => ("uci\n", uciok),
            Some(_) => ("xboard\nprotover 2\n", Xboard::SILENCE.min(uciok)),
        };
        self.state.wait(Phase::Handshake, now, limit);
        greeting
    }

    /// A new game begins; afterwards the session gets ready.
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

    /// A search begins; `position` is a UCI line. `budget` is the time after which it is
    /// hopelessly late.
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

    /// What the engine said of the search in progress; `None` if the protocol keeps it to itself.
    pub fn info(&self) -> Option<&Info> {
        self.is_uci().then_some(&self.state.info)
    }

    /// A question outside the protocol, about the UCI line `position`. Its answer is whatever the
    /// engine says until the caller has seen the end of it and calls [`Session::settle`]. `None` if
    /// the engine does not speak UCI.
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

    /// The answer to a question is complete; the session gets ready.
    pub fn settle(&mut self, now: Instant) -> &'static str {
        self.state.wait(Phase::Preparing, now, self.state.deadlines.readyok);
        "isready\n"
    }

    /// The search took too long; ask for an end.
    pub fn halt(&mut self, now: Instant) -> &'static str {
        self.state.wait(Phase::Thinking, now, self.state.deadlines.stop);
        if self.is_uci() { "stop\n" } else { "?\n" }
    }

    /// The engine may think on its opponent's time, on the UCI line `position`; nothing is awaited
    /// meanwhile. Nothing is sent to an engine that does so by itself.
    pub fn ponder(&mut self, position: &str, go: Go) -> Option<String> {
        self.is_uci().then(|| {
            uci::dialect::set_position(&mut self.state, position);
            (self.state.phase, self.state.due) = (Phase::Pondering, None);
            text(format_args!("{position}\n{}\n", Go { ponder: true, ..go }))
        })
    }

    /// Whether the engine still thinks on its opponent's time because we asked it to.
    pub fn is_pondering(&self) -> bool {
        self.state.phase == Phase::Pondering
    }

    /// The opponent played the expected reply (`hit`), so that the search goes on as an ordinary
    /// one, or another one, or none any more, and the session gets ready. To be asked of an engine
    /// that is pondering.
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

    /// The game is over; `result` is a PGN result with a comment.
    pub fn game_over(&mut self, result: &str) -> Option<String> {
        Some(self.xboard.as_mut()?.game_over(result))
    }

    /// A claim made before a move that did not make it true.
    pub fn false_claim(&mut self) -> Option<Claim> {
        self.xboard.as_mut()?.draw_claim.take().map(Claim::Draw)
    }

    /// A line that was read while nothing was asked.
    pub fn overhear(&mut self, line: &str) -> Option<Claim> {
        self.xboard.as_ref()?.claim(&self.state, line.trim())
    }

    /// A line was read.
    pub fn receive(&mut self, at: Instant, line: &str) -> Result<Step, SessionError> {
        match &mut self.xboard {
            None => uci::dialect::receive(&mut self.state, at, line),
            Some(xboard) => xboard.receive(&mut self.state, at, line),
        }
    }
}

/// Room for what is said at once; a long game's `position` takes half of it.
const TEXT_BYTES: usize = 4096;

/// A text of one size for all, so that the threads that drop them do not each keep some of every
/// size.
fn text(told: fmt::Arguments<'_>) -> String {
    let mut text = String::with_capacity(TEXT_BYTES);
    // Writing to a string cannot fail.
    let _ = text.write_fmt(told);
    text
}
