//! The life of one xboard engine as a pure state machine.
//!
//! The counterpart of the UCI session: lines and commands come in with their times, what to send
//! and what a line meant comes out. It keeps the game's position, because the engine is told
//! single moves and answers in its own notation.

use std::time::{Duration, Instant};

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Position};

use super::feature::{self, Features};
use super::{notation, setup, thinking};
use crate::clock::{Limits, Period, TimeControl};
use crate::uci::command::Go;
use crate::uci::info::Info;
use crate::uci::option::{OptionDeclaration, OptionKind, check_option};
use crate::uci::session::{Deadlines, Identity, MAX_OPTIONS, SessionError, Setup};

/// How long an engine may be silent about its features before it counts as one that has none.
/// The protocol says two seconds; a busy machine may need more.
const SILENCE: Duration = Duration::from_secs(5);

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
    /// These lines are due now.
    Send(Vec<String>),
    /// The engine has moved.
    Move {
        /// The move in UCI notation; as the engine wrote it if it is not legal.
        text: String,
        /// What the engine last said of the search.
        info: Info,
    },
    /// The engine ends the game.
    Claim(Claim),
}

/// What the session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    Handshake,
    Preparing,
    Idle,
    Thinking,
}

/// One engine's protocol state.
#[derive(Debug)]
pub struct Session {
    setup: Setup,
    deadlines: Deadlines,
    phase: Phase,
    due: Option<(Instant, Duration)>,
    identity: Identity,
    features: Features,
    /// Until when a handshake may last that the engine has announced to be long.
    patience: Option<Instant>,
    pings: u32,
    position: Chess,
    mode: CastlingMode,
    /// Moves of the game that the engine knows.
    played: usize,
    /// Moves that it was asked for.
    asked: u32,
    clock: Option<TimeControl>,
    /// Whether the engine only follows the game, so that a move does not make it think.
    forced: bool,
    /// The opponent's last move, as it was sent.
    sent: String,
    info: Info,
    draw_claim: Option<String>,
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
            features: Features::default(),
            patience: None,
            pings: 0,
            position: Chess::default(),
            mode: CastlingMode::Standard,
            played: 0,
            asked: 0,
            clock: None,
            forced: true,
            sent: String::new(),
            info: Info::default(),
            draw_claim: None,
        }
    }

    /// What the engine said about itself so far.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Whether the engine plays Chess960.
    pub fn plays_chess960(&self) -> bool {
        self.features.chess960
    }

    /// Whether the engine can be told to play from `start`.
    pub fn can_set_up(&self, start: &Chess, mode: CastlingMode) -> bool {
        is_initial(start, mode) || setup::lines(start, mode, self.features.setboard).is_some()
    }

    /// Whether the engine can play another game.
    pub fn is_reusable(&self) -> bool {
        self.features.reuse
    }

    /// Whether nothing is awaited.
    pub fn is_ready(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Until when the awaited answer may come; `None` while nothing is awaited.
    pub fn deadline(&self) -> Option<Instant> {
        self.due.map(|(due, _)| due)
    }

    /// No answer came by [`Session::deadline`]. An engine that declares no features is an old one
    /// and ready.
    pub fn overdue(&mut self, now: Instant) -> Result<Step, SessionError> {
        let awaited = match self.phase {
            Phase::Handshake if self.patience.is_none() => {
                return self.configure(now).map(Step::Send);
            }
            Phase::Fresh | Phase::Handshake => "feature done=1",
            Phase::Preparing | Phase::Idle => "pong",
            Phase::Thinking => "move",
        };
        Err(SessionError::Late { awaited, limit: self.due.map_or(Duration::ZERO, |(_, l)| l) })
    }

    /// The process has started.
    pub fn open(&mut self, now: Instant) -> Vec<String> {
        self.wait(Phase::Handshake, now, SILENCE.min(self.deadlines.uciok));
        lines(["xboard", "protover 2"])
    }

    /// A new game begins; afterwards the engine only follows until [`Session::think`].
    pub fn new_game(&mut self, now: Instant, game: Game<'_>) -> Result<Vec<String>, SessionError> {
        let mut told = lines(["new"]);
        if game.mode == CastlingMode::Chess960 {
            if !self.features.chess960 {
                return Err(SessionError::NoChess960);
            }
            told.push("variant fischerandom".to_owned());
        }
        told.extend(lines(["force", if self.setup.ponder { "hard" } else { "easy" }, "post"]));
        told.extend(limits(&game.limits));
        if self.features.name {
            told.push("computer".to_owned());
        }
        if !is_initial(game.start, game.mode) {
            let position = setup::lines(game.start, game.mode, self.features.setboard);
            told.extend(position.ok_or(SessionError::NoSetboard)?);
        }
        self.position = game.start.clone();
        self.mode = game.mode;
        (self.played, self.forced, self.draw_claim) = (0, true, None);
        (self.asked, self.clock) = (0, game.limits.clock);
        told.extend(self.ask_ready(now));
        Ok(told)
    }

    /// The engine's turn, in the game that the UCI line `position` tells. `budget` is the time
    /// after which it is hopelessly late.
    pub fn think(
        &mut self,
        now: Instant,
        position: &str,
        go: &Go,
        budget: Option<Duration>,
    ) -> Vec<String> {
        self.info = Info::default();
        self.wait(Phase::Thinking, now, budget.unwrap_or(self.deadlines.bestmove));
        let news = self.follow(position);
        let clocks = [self.new_period(), self.clocks(go)].concat();
        self.asked += 1;
        if std::mem::replace(&mut self.forced, false) {
            [news, clocks, lines(["go"])].concat()
        } else {
            [clocks, news].concat()
        }
    }

    /// The search took too long; ask for an end.
    pub fn halt(&mut self, now: Instant) -> Vec<String> {
        self.wait(Phase::Thinking, now, self.deadlines.stop);
        lines(["?"])
    }

    /// The game is over; `result` is a PGN result with a comment.
    pub fn game_over(&mut self, result: &str) -> Vec<String> {
        self.forced = true;
        vec!["force".to_owned(), format!("result {result}")]
    }

    /// A draw that was claimed before a move which did not bring it about.
    pub fn false_draw_claim(&mut self) -> Option<Claim> {
        self.draw_claim.take().map(Claim::Draw)
    }

    /// A line that was read while nothing was asked.
    pub fn overhear(&mut self, line: &str) -> Option<Claim> {
        self.claim(line.trim())
    }

    /// A line was read. What nobody awaits is noise: engines differ in their manners.
    pub fn receive(&mut self, at: Instant, line: &str) -> Result<Step, SessionError> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match (self.phase, word) {
            (_, "feature") => return self.declare(at, rest),
            (Phase::Preparing, "pong") if rest == self.pings.to_string() => {
                (self.phase, self.due) = (Phase::Idle, None);
            }
            // Engines tell their users many things; this one is about what we said.
            (Phase::Preparing, "tellusererror") if is_about_position(rest) => {
                return Err(SessionError::Refused(rest.to_owned()));
            }
            (Phase::Thinking, "move") => return Ok(self.moved(rest)),
            (Phase::Thinking, "My") => {
                if let Some(text) = rest.strip_prefix("move is") {
                    return Ok(self.moved(text.trim_start_matches([' ', ':'])));
                }
            }
            (Phase::Thinking, "Illegal" | "Error") if self.names_last_move(rest) => {
                return Ok(Step::Claim(Claim::Refusal(line.to_owned())));
            }
            (Phase::Thinking, _) => match (self.claim(line), thinking::parse(line)) {
                // It may be the move to come that draws.
                (Some(Claim::Draw(text)), _) => self.draw_claim = Some(text),
                (Some(claim), _) => return Ok(Step::Claim(claim)),
                (None, Some(info)) => self.info.update(info),
                (None, None) => {}
            },
            _ => {}
        }
        Ok(Step::Continue)
    }

    fn claim(&self, line: &str) -> Option<Claim> {
        let ours = self.position.turn();
        // After its own move it is the opponent's turn.
        let ours = if self.phase == Phase::Thinking { ours } else { ours.other() };
        let line = line.strip_prefix("result ").unwrap_or(line);
        let winner = match line.split_whitespace().next()? {
            "resign" => return Some(Claim::Loss),
            "1-0" => Color::White,
            "0-1" => Color::Black,
            "1/2-1/2" => return Some(Claim::Draw(line.to_owned())),
            _ => return None,
        };
        Some(if winner == ours { Claim::Win(line.to_owned()) } else { Claim::Loss })
    }

    fn names_last_move(&self, text: &str) -> bool {
        let mut words = text.split(|c: char| c.is_whitespace() || ":()".contains(c));
        !self.sent.is_empty() && words.any(|word| word == self.sent)
    }

    fn moved(&mut self, text: &str) -> Step {
        (self.phase, self.due) = (Phase::Idle, None);
        let info = std::mem::take(&mut self.info);
        let Some(m) = notation::read(&self.position, text) else {
            return Step::Move { text: text.to_owned(), info };
        };
        let text = m.to_uci(self.mode).to_string();
        self.position.play_unchecked(m);
        self.played += 1;
        Step::Move { text, info }
    }

    /// Takes over the moves that the engine does not know yet, and says how to tell them.
    fn follow(&mut self, position: &str) -> Vec<String> {
        let moves = position.split_once(" moves ").map_or("", |(_, moves)| moves);
        let mut told = Vec::new();
        for word in moves.split_whitespace().skip(self.played) {
            let parsed = word.parse::<UciMove>().ok();
            // The referee has judged these moves before.
            let Some(m) = parsed.and_then(|uci| uci.to_move(&self.position).ok()) else { break };
            self.sent = notation::write(&self.position, m, self.mode, self.features.san);
            let prefix = if self.features.usermove { "usermove " } else { "" };
            told.push(format!("{prefix}{}", self.sent));
            self.position.play_unchecked(m);
            self.played += 1;
        }
        told
    }

    /// Tells the period that begins with this move, if it is unlike the last one. The engine was
    /// told the first one before the game, and repeats it by itself.
    fn new_period(&self) -> Vec<String> {
        let Some(TimeControl::Periods(periods)) = self.clock else { return Vec::new() };
        let mut begin = 0;
        for pair in periods.as_slice().windows(2) {
            begin += pair[0].moves.unwrap_or(0);
            if begin == self.asked && pair[0] != pair[1] {
                return vec![level(pair[1])];
            }
        }
        Vec::new()
    }

    fn clocks(&self, go: &Go) -> Vec<String> {
        let (own, other) = match self.position.turn() {
            Color::White => (go.white, go.black),
            Color::Black => (go.black, go.white),
        };
        let shown = |word, clock: Option<(Duration, Duration)>| {
            clock.map(|(left, _)| format!("{word} {}", (left.as_millis() / 10).max(1)))
        };
        let shown = [shown("time", own), shown("otim", other)];
        shown.into_iter().flatten().filter(|_| self.features.time).collect()
    }

    fn declare(&mut self, at: Instant, text: &str) -> Result<Step, SessionError> {
        let mut told = Vec::new();
        let mut done = false;
        for (name, value) in feature::parse(text) {
            let accepted = match (name.as_str(), value.as_str()) {
                ("done", "0") => {
                    let limit = self.deadlines.uciok;
                    // What is announced to be long may still not be endless.
                    let due = *self.patience.get_or_insert(at + limit);
                    if self.phase == Phase::Handshake {
                        self.due = Some((due, limit));
                    }
                    true
                }
                ("done", _) => {
                    done = self.phase == Phase::Handshake;
                    true
                }
                ("myname", _) => {
                    self.identity.name = Some(value.clone());
                    true
                }
                ("option", text) => self.declare_option(feature::option(text))?,
                _ => self.features.set(&name, &value),
            };
            let answer = if accepted { "accepted" } else { "rejected" };
            told.push(format!("{answer} {name}"));
        }
        if done {
            told.extend(self.configure(at)?);
        }
        Ok(Step::Send(told))
    }

    fn declare_option(&mut self, option: Option<OptionDeclaration>) -> Result<bool, SessionError> {
        let Some(option) = option else { return Ok(false) };
        if self.identity.options.len() == MAX_OPTIONS {
            return Err(SessionError::TooManyOptions);
        }
        self.identity.options.push(option);
        Ok(true)
    }

    /// The handshake is over: sets the wished options.
    fn configure(&mut self, now: Instant) -> Result<Vec<String>, SessionError> {
        // These two have commands of their own and are options to a user all the same.
        let positive = || OptionKind::Spin { min: 1, max: i64::from(i32::MAX) };
        for (name, present) in [("memory", self.features.memory), ("cores", self.features.smp)] {
            if present {
                let (name, kind) = (name.to_owned(), positive());
                let option = OptionDeclaration { name, kind, default: None };
                self.identity.options.push(option);
            }
        }
        let mut told = Vec::new();
        for (name, value) in &self.setup.options {
            let name = check_option(&self.identity.options, name, value)?;
            told.push(match (name, value.as_str()) {
                ("memory" | "cores", value) => format!("{name} {value}"),
                (name, "") => format!("option {name}"),
                (name, "true") => format!("option {name}=1"),
                (name, "false") => format!("option {name}=0"),
                (name, value) => format!("option {name}={value}"),
            });
        }
        told.extend(self.setup.init.iter().cloned());
        told.extend(self.ask_ready(now));
        Ok(told)
    }

    /// An engine that cannot be asked counts as ready.
    fn ask_ready(&mut self, now: Instant) -> Option<String> {
        if !self.features.ping {
            (self.phase, self.due) = (Phase::Idle, None);
            return None;
        }
        self.pings += 1;
        self.wait(Phase::Preparing, now, self.deadlines.readyok);
        Some(format!("ping {}", self.pings))
    }

    fn wait(&mut self, phase: Phase, now: Instant, limit: Duration) {
        self.phase = phase;
        self.due = Some((now + limit, limit));
    }
}

/// Whether a game from `start` needs no set-up.
fn is_initial(start: &Chess, mode: CastlingMode) -> bool {
    *start == Chess::default() && mode == CastlingMode::Standard
}

fn is_about_position(error: &str) -> bool {
    error.to_ascii_lowercase().starts_with("illegal position")
}

fn lines<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).into()
}

/// How the bounds of a game are told.
fn limits(limits: &Limits) -> Vec<String> {
    let mut told = Vec::new();
    told.extend(limits.clock.map(|control| level(control.first())));
    told.extend(limits.movetime.map(|time| format!("st {}", time.as_secs().max(1))));
    told.extend(limits.depth.map(|depth| format!("sd {depth}")));
    told
}

/// A period is told in whole seconds only; what matters is told before each move.
fn level(Period { moves, base, increment }: Period) -> String {
    let (moves, seconds) = (moves.unwrap_or(0), base.as_secs().max(1));
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    format!("level {moves} {minutes}:{seconds:02} {}", increment.as_secs_f64())
}

#[cfg(test)]
mod tests;
