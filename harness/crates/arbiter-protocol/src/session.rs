//! The protocols that engines speak, behind one face.
//!
//! Pure: what goes out is text with its line ends, what comes in is a line and its time. The
//! protocols themselves are in [`crate::uci`] and [`crate::cecp`].

use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Chess};

use crate::cecp::session as xboard;
pub use crate::cecp::session::{Claim, Game};
use crate::uci::command::{Command, Go};
use crate::uci::info::Info;
use crate::uci::option::{OptionDeclaration, check_option};
use crate::uci::session as uci;
use crate::uci::session::{Deadlines, SessionError, Setup};

/// Which protocol an engine speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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

crate::named!(Protocol, Restart);

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
        /// The move in UCI notation, or what the engine wrote in its place.
        text: String,
        /// What the engine last said of the search.
        info: Info,
        /// The reply it expects.
        ponder: Option<String>,
    },
    /// The engine ends the game.
    Claim(Claim),
}

/// One engine's protocol state.
#[derive(Debug)]
pub enum Session {
    /// Of an engine that speaks UCI.
    Uci(Box<uci::Session>),
    /// Of an engine that speaks the protocol of xboard.
    Xboard(Box<xboard::Session>),
}

impl Session {
    /// A session that will set the options of `setup` once the engine declared its own.
    pub fn new(protocol: Protocol, setup: Setup, deadlines: Deadlines) -> Session {
        match protocol {
            Protocol::Uci => Session::Uci(Box::new(uci::Session::new(setup, deadlines))),
            Protocol::Xboard => Session::Xboard(Box::new(xboard::Session::new(setup, deadlines))),
        }
    }

    /// The name that the engine gives itself.
    pub fn engine_name(&self) -> Option<&str> {
        let identity = match self {
            Session::Uci(session) => session.identity(),
            Session::Xboard(session) => session.identity(),
        };
        identity.name.as_deref()
    }

    /// The options that the engine has.
    pub fn options(&self) -> &[OptionDeclaration] {
        match self {
            Session::Uci(session) => &session.identity().options,
            Session::Xboard(session) => &session.identity().options,
        }
    }

    /// Whether the engine plays Chess960.
    pub fn plays_chess960(&self) -> bool {
        match self {
            Session::Uci(session) => {
                check_option(&session.identity().options, "UCI_Chess960", "true").is_ok()
            }
            Session::Xboard(session) => session.plays_chess960(),
        }
    }

    /// Whether the engine can be told to play from `start`.
    pub fn can_set_up(&self, start: &Chess, mode: CastlingMode) -> bool {
        match self {
            Session::Uci(_) => true,
            Session::Xboard(session) => session.can_set_up(start, mode),
        }
    }

    /// Whether the engine can play another game.
    pub fn is_reusable(&self) -> bool {
        match self {
            Session::Uci(_) => true,
            Session::Xboard(session) => session.is_reusable(),
        }
    }

    /// Whether nothing is awaited.
    pub fn is_ready(&self) -> bool {
        match self {
            Session::Uci(session) => session.is_ready(),
            Session::Xboard(session) => session.is_ready(),
        }
    }

    /// Until when the awaited answer may come; `None` while nothing is awaited.
    pub fn deadline(&self) -> Option<Instant> {
        match self {
            Session::Uci(session) => session.deadline(),
            Session::Xboard(session) => session.deadline(),
        }
    }

    /// No answer came by [`Session::deadline`].
    pub fn overdue(&mut self, now: Instant) -> Result<Step, SessionError> {
        match self {
            Session::Uci(session) => Err(session.late()),
            Session::Xboard(session) => session.overdue(now).map(Step::from),
        }
    }

    /// The process has started.
    pub fn open(&mut self, now: Instant) -> String {
        match self {
            Session::Uci(session) => text(session.open(now)),
            Session::Xboard(session) => text(session.open(now)),
        }
    }

    /// A new game begins; afterwards the session gets ready.
    pub fn new_game(&mut self, now: Instant, game: Game<'_>) -> Result<String, SessionError> {
        match self {
            Session::Uci(session) => {
                let chess960 = game.mode == CastlingMode::Chess960;
                session.new_game(now, chess960, game.settings).map(text)
            }
            Session::Xboard(session) => session.new_game(now, game).map(text),
        }
    }

    /// A search begins; `position` is a UCI line. `budget` is the time after which it is
    /// hopelessly late.
    pub fn think(
        &mut self,
        now: Instant,
        position: String,
        go: Go,
        budget: Option<Duration>,
    ) -> String {
        match self {
            Session::Uci(session) => text(session.think(now, position, go, budget)),
            Session::Xboard(session) => text(session.think(now, &position, &go, budget)),
        }
    }

    /// What the engine said of the search in progress; `None` if the protocol keeps it to itself.
    pub fn info(&self) -> Option<&Info> {
        match self {
            Session::Uci(session) => Some(session.info()),
            Session::Xboard(_) => None,
        }
    }

    /// A question outside the protocol, about the UCI line `position`; [`Session::settle`] ends
    /// the answer. `None` if the engine does not speak UCI.
    pub fn ask(
        &mut self,
        now: Instant,
        position: String,
        question: String,
        limit: Duration,
    ) -> Option<String> {
        match self {
            Session::Uci(session) => Some(text(session.ask(now, position, question, limit))),
            Session::Xboard(_) => None,
        }
    }

    /// The answer to a question is complete; the session gets ready.
    pub fn settle(&mut self, now: Instant) -> String {
        match self {
            Session::Uci(session) => text([session.settle(now)]),
            Session::Xboard(_) => String::new(),
        }
    }

    /// The search took too long; ask for an end.
    pub fn halt(&mut self, now: Instant) -> String {
        match self {
            Session::Uci(session) => text([session.halt(now)]),
            Session::Xboard(session) => text(session.halt(now)),
        }
    }

    /// The engine may think on its opponent's time, on the UCI line `position`. Nothing is sent
    /// to an engine that does so by itself.
    pub fn ponder(&mut self, position: String, go: Go) -> Option<String> {
        match self {
            Session::Uci(session) => Some(text(session.ponder(position, go))),
            Session::Xboard(_) => None,
        }
    }

    /// Whether the engine still thinks on its opponent's time because we asked it to.
    pub fn is_pondering(&self) -> bool {
        match self {
            Session::Uci(session) => session.is_pondering(),
            Session::Xboard(_) => false,
        }
    }

    /// The opponent played the expected reply, or another one, or none any more. To be asked of
    /// an engine that is pondering; after another reply the session gets ready.
    pub fn end_pondering(&mut self, now: Instant, hit: bool, budget: Option<Duration>) -> String {
        match self {
            Session::Uci(session) if hit => text([session.ponder_hit(now, budget)]),
            Session::Uci(session) => text([session.cease(now)]),
            Session::Xboard(_) => String::new(),
        }
    }

    /// The game is over; `result` is a PGN result with a comment.
    pub fn game_over(&mut self, result: &str) -> Option<String> {
        match self {
            Session::Uci(_) => None,
            Session::Xboard(session) => Some(text(session.game_over(result))),
        }
    }

    /// A claim made before a move that did not make it true.
    pub fn false_claim(&mut self) -> Option<Claim> {
        match self {
            Session::Uci(_) => None,
            Session::Xboard(session) => session.false_draw_claim(),
        }
    }

    /// A line that was read while nothing was asked.
    pub fn overhear(&mut self, line: &str) -> Option<Claim> {
        match self {
            Session::Uci(_) => None,
            Session::Xboard(session) => session.overhear(line),
        }
    }

    /// A line was read.
    pub fn receive(&mut self, at: Instant, line: &str) -> Result<Step, SessionError> {
        match self {
            Session::Uci(session) => session.receive(at, line).map(Step::from),
            Session::Xboard(session) => session.receive(at, line).map(Step::from),
        }
    }
}

/// What makes an engine of either protocol leave.
pub fn farewell() -> String {
    text([Command::Quit])
}

/// Room for what is said at once; a long game's `position` takes half of it.
const TEXT_BYTES: usize = 4096;

fn text<T: fmt::Display>(lines: impl IntoIterator<Item = T>) -> String {
    // One size for all, so that the threads that drop them do not each keep some of every size.
    let mut text = String::with_capacity(TEXT_BYTES);
    for line in lines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    }
    text
}

impl From<uci::Step> for Step {
    fn from(step: uci::Step) -> Step {
        match step {
            uci::Step::Continue | uci::Step::Ready => Step::Continue,
            uci::Step::Info => Step::Info,
            uci::Step::Answer(line) => Step::Answer(line),
            uci::Step::Send(commands) => Step::Send(text(commands)),
            uci::Step::BestMove { text, info, ponder } => Step::Move { text, info, ponder },
        }
    }
}

impl From<xboard::Step> for Step {
    fn from(step: xboard::Step) -> Step {
        match step {
            xboard::Step::Continue => Step::Continue,
            xboard::Step::Send(lines) => Step::Send(text(lines)),
            xboard::Step::Move { text, info } => Step::Move { text, info, ponder: None },
            xboard::Step::Claim(claim) => Step::Claim(claim),
        }
    }
}
