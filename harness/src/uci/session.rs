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
const MAX_OPTIONS: usize = 5_000;

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
}

/// One engine's protocol state.
#[derive(Debug)]
pub struct Session {
    wishes: Vec<(String, String)>,
    deadlines: Deadlines,
    phase: Phase,
    due: Option<(Instant, Duration)>,
    identity: Identity,
    info: Info,
    chess960: bool,
}

impl Session {
    /// A session that will set `wishes` (option name, value) once the engine declared its options.
    pub fn new(wishes: Vec<(String, String)>, deadlines: Deadlines) -> Session {
        Session {
            wishes,
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
            Phase::Thinking | Phase::Halting => "bestmove",
            Phase::Asked => "end of the answer",
        };
        SessionError::Late { awaited, limit: self.due.map_or(Duration::ZERO, |(_, limit)| limit) }
    }

    /// The process has started.
    pub fn open(&mut self, now: Instant) -> Vec<Command> {
        self.wait(Phase::Handshake, now, self.deadlines.uciok);
        vec![Command::Uci]
    }

    /// A new game begins; ends with [`Step::Ready`].
    pub fn new_game(&mut self, now: Instant, chess960: bool) -> Result<Vec<Command>, SessionError> {
        let mut commands = Vec::new();
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
            (Phase::Thinking | Phase::Halting, Message::Info(info)) => {
                self.info.update(info);
                return Ok(Step::Info);
            }
            (Phase::Thinking | Phase::Halting, Message::BestMove(text)) => {
                self.phase = Phase::Idle;
                self.due = None;
                return Ok(Step::BestMove { text, info: std::mem::take(&mut self.info) });
            }
            _ => {}
        }
        Ok(Step::Continue)
    }

    fn configure(&self) -> Result<Vec<Command>, SessionError> {
        let mut commands = Vec::new();
        for (name, value) in &self.wishes {
            let name = check_option(&self.identity.options, name, value)?.to_owned();
            commands.push(Command::SetOption { name, value: value.clone() });
        }
        commands.push(Command::IsReady);
        Ok(commands)
    }

    fn wait(&mut self, phase: Phase, now: Instant, limit: Duration) {
        self.phase = phase;
        self.due = Some((now + limit, limit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(wishes: &[(&str, &str)]) -> (Session, Instant) {
        let wishes = wishes.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        let mut session = Session::new(wishes, Deadlines::default());
        let now = Instant::now();
        assert_eq!(session.open(now), [Command::Uci]);
        (session, now)
    }

    fn ready(session: &mut Session, now: Instant) {
        session.receive(now, "uciok").unwrap();
        assert_eq!(session.receive(now, "readyok"), Ok(Step::Ready));
    }

    #[test]
    fn the_handshake_sets_options_by_their_declared_names() {
        let (mut session, now) = opened(&[("hash", "32")]);
        session.receive(now, "Engine 1.0 by somebody").unwrap();
        session.receive(now, "id name Engine 1.0").unwrap();
        session.receive(now, "option name Hash type spin default 1 min 1 max 64").unwrap();
        let step = session.receive(now, "uciok").unwrap();
        let set = Command::SetOption { name: "Hash".into(), value: "32".into() };
        assert_eq!(step, Step::Send(vec![set, Command::IsReady]));
        assert_eq!(session.receive(now, "readyok"), Ok(Step::Ready));
        assert_eq!(session.identity().name.as_deref(), Some("Engine 1.0"));
        assert_eq!(session.deadline(), None);
    }

    #[test]
    fn an_undeclared_option_ends_the_handshake() {
        let (mut session, now) = opened(&[("Hash", "32")]);
        let error = session.receive(now, "uciok").unwrap_err();
        assert_eq!(error.to_string(), "has no option 'Hash'");
    }

    #[test]
    fn options_without_end_are_refused() {
        let (mut session, now) = opened(&[]);
        let line = "option name X type button";
        let refused = (0..=MAX_OPTIONS).find_map(|_| session.receive(now, line).err());
        assert_eq!(refused, Some(SessionError::TooManyOptions));
    }

    #[test]
    fn each_wait_has_its_deadline() {
        let (mut session, now) = opened(&[]);
        let limits = Deadlines::default();
        assert_eq!(session.deadline(), Some(now + limits.uciok));
        assert_eq!(session.late().to_string(), "no 'uciok' within 10000 ms");
        ready(&mut session, now);
        session.new_game(now, false).unwrap();
        assert_eq!(session.deadline(), Some(now + limits.readyok));
        session.receive(now, "readyok").unwrap();
        session.think(now, "position startpos".into(), Go::default(), None);
        assert_eq!(session.deadline(), Some(now + limits.bestmove));
        session.halt(now);
        assert_eq!(session.deadline(), Some(now + limits.stop));
    }

    #[test]
    fn a_search_ends_with_the_last_facts() {
        let (mut session, now) = opened(&[]);
        ready(&mut session, now);
        session.think(now, "position startpos".into(), Go::default(), None);
        session.receive(now, "info depth 1 score cp 10 nodes 20").unwrap();
        assert_eq!(session.receive(now, "info depth 2 nodes 40"), Ok(Step::Info));
        assert_eq!(session.info().nodes, Some(40));
        session.receive(now, "readyok").unwrap();
        let step = session.receive(now, "bestmove e2e4 ponder e7e5").unwrap();
        let Step::BestMove { text, info } = step else { panic!("{step:?}") };
        assert_eq!((text.as_str(), info.depth, info.nodes), ("e2e4", Some(2), Some(40)));
        // What comes after is noise.
        assert_eq!(session.receive(now, "bestmove a2a3"), Ok(Step::Continue));
    }

    #[test]
    fn a_question_is_answered_by_whatever_comes_until_it_is_settled() {
        let (mut session, now) = opened(&[]);
        ready(&mut session, now);
        let limit = Duration::from_secs(3);
        let sent = session.ask(now, "position startpos".into(), "go perft 1".into(), limit);
        assert_eq!(sent.map(|c| c.to_string()), ["position startpos", "go perft 1"]);
        assert_eq!(session.deadline(), Some(now + limit));
        assert_eq!(session.late().to_string(), "no 'end of the answer' within 3000 ms");
        for line in ["a2a3: 1", "readyok", "bestmove a2a3"] {
            assert_eq!(session.receive(now, line), Ok(Step::Answer(line.into())));
        }
        assert_eq!(session.settle(now), Command::IsReady);
        assert_eq!(session.receive(now, "h2h4: 1"), Ok(Step::Continue));
        assert_eq!(session.receive(now, "readyok"), Ok(Step::Ready));
    }

    #[test]
    fn chess960_is_switched_only_when_it_changes() {
        let (mut session, now) = opened(&[]);
        session.receive(now, "option name UCI_Chess960 type check default false").unwrap();
        ready(&mut session, now);
        let commands = session.new_game(now, true).unwrap();
        assert_eq!(commands[0].to_string(), "setoption name UCI_Chess960 value true");
        session.receive(now, "readyok").unwrap();
        assert_eq!(session.new_game(now, true).unwrap().len(), 2);
        let (mut plain, now) = opened(&[]);
        ready(&mut plain, now);
        assert_eq!(plain.new_game(now, true), Err(SessionError::NoChess960));
    }
}
