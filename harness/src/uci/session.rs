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

    /// A line was read. Answers that nobody awaits are noise: engines differ in their manners, and
    /// a late `readyok` or a second `bestmove` does not spoil a game.
    pub fn receive(&mut self, at: Instant, line: &str) -> Result<Step, SessionError> {
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
            (Phase::Thinking | Phase::Halting | Phase::Pondering, Message::Info(info)) => {
                self.info.update(info);
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
mod tests {
    use super::*;

    fn opened(wishes: &[(&str, &str)]) -> (Session, Instant) {
        let options = wishes.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        opened_with(Setup { options, ..Setup::default() })
    }

    fn opened_with(setup: Setup) -> (Session, Instant) {
        let mut session = Session::new(setup, Deadlines::default());
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
        session.receive(now, "info depth 2 nodes 40").unwrap();
        session.receive(now, "readyok").unwrap();
        let step = session.receive(now, "bestmove e2e4 ponder e7e5").unwrap();
        let Step::BestMove { text, info, ponder } = step else { panic!("{step:?}") };
        assert_eq!((text.as_str(), info.depth, info.nodes), ("e2e4", Some(2), Some(40)));
        assert_eq!(ponder.as_deref(), Some("e7e5"));
        // What comes after is noise.
        assert_eq!(session.receive(now, "bestmove a2a3"), Ok(Step::Continue));
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

    fn pondering() -> (Session, Instant) {
        let setup = Setup { ponder: true, ..Setup::default() };
        let (mut session, now) = opened_with(setup);
        session.receive(now, "option name Ponder type check default false").unwrap();
        ready(&mut session, now);
        let told = session.ponder("position startpos moves e2e4 e7e5".into(), Go::default());
        assert_eq!(told.map(|c| c.to_string())[1], "go ponder");
        assert_eq!(session.deadline(), None, "nobody waits for a ponderer");
        (session, now)
    }

    #[test]
    fn a_ponderer_that_guessed_right_goes_on() {
        let (mut session, now) = pondering();
        session.receive(now, "info depth 9 nodes 99").unwrap();
        assert_eq!(session.ponder_hit(now, None), Command::PonderHit);
        let step = session.receive(now, "bestmove g1f3").unwrap();
        let Step::BestMove { info, .. } = step else { panic!("{step:?}") };
        assert_eq!(info.nodes, Some(99), "what it found before counts");
    }

    #[test]
    fn a_ponderer_that_guessed_wrong_is_stopped_and_its_move_is_none() {
        let (mut session, now) = pondering();
        assert_eq!(session.cease(now), Command::Stop);
        assert_eq!(session.deadline(), Some(now + Deadlines::default().stop));
        assert_eq!(session.receive(now, "bestmove g1f3"), Ok(Step::Ready));
        assert!(session.is_ready());
    }

    #[test]
    fn a_ponderer_that_does_not_wait_is_asked_again() {
        let (mut session, now) = pondering();
        assert_eq!(session.receive(now, "bestmove g1f3"), Ok(Step::Continue));
        assert!(!session.is_pondering() && session.is_ready());
    }

    #[test]
    fn pondering_needs_the_option() {
        let (mut session, now) = opened_with(Setup { ponder: true, ..Setup::default() });
        assert_eq!(session.receive(now, "uciok"), Err(SessionError::NoPonder));
    }

    #[test]
    fn what_a_user_adds_is_sent_after_the_options() {
        let setup = Setup {
            options: vec![("Hash".into(), "1".into())],
            init: vec!["book off".into()],
            nodestime: Some(600),
            ..Setup::default()
        };
        let (mut session, now) = opened_with(setup);
        session.receive(now, "option name Hash type spin").unwrap();
        session.receive(now, "option name NodesTime type spin min 0 max 10000").unwrap();
        let step = session.receive(now, "uciok").unwrap();
        let Step::Send(commands) = step else { panic!("{step:?}") };
        let lines: Vec<String> = commands.iter().map(Command::to_string).collect();
        let nodes = "setoption name NodesTime value 600";
        assert_eq!(lines, [nodes, "setoption name Hash value 1", "book off", "isready"]);
    }

    #[test]
    fn a_slow_machine_gets_more_time_to_start() {
        let scaled = Deadlines::default().with_start_scaled(2.5);
        assert_eq!((scaled.uciok.as_secs(), scaled.readyok.as_secs()), (25, 75));
        assert_eq!(scaled.stop, Deadlines::default().stop);
    }
}
