//! CECP part of a session. This part keeps track of the position of the game, because CECP sends
//! individual moves, and engines may answer in SAN.

use std::time::{Duration, Instant};

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Position};

use super::feature::{self, Features};
use super::{notation, setup, thinking};
use crate::clock::{Limits, Period, TimeControl};
use crate::state::{Claim, Game, Phase, Result, State, Step, no_chess960, unfit};
use crate::uci::{Go, OptionDeclaration, OptionKind, check_option};

/// Error text for an engine that cannot set up a position.
const NO_SETBOARD: &str =
    "cannot set up this opening: the engine has no setboard, and edit cannot express the position";

/// Session data of a CECP engine, in addition to [`State`].
#[derive(Debug, Default)]
pub(crate) struct Xboard {
    pub(crate) features: Features,
    /// `true` if the engine has sent a `feature` line.
    pub(crate) is_declared: bool,
    /// Deadline of the handshake; `None` until the engine has sent `feature done=0`.
    done_deadline: Option<Instant>,
    pings: u32,
    position: Chess,
    /// Number of plies of the game that were sent to the engine or played by the engine.
    played: usize,
    /// Number of moves requested from the engine in this game.
    requested_moves: u32,
    clock: Option<TimeControl>,
    /// `true` if the engine starts to search when it receives a move; `false` in force mode.
    plays: bool,
    /// Last move of the opponent, as sent to the engine.
    sent: String,
    /// Draw claim that may become valid with the engine's next move.
    pub(crate) draw_claim: Option<String>,
}

impl Xboard {
    /// Time to wait for `feature done`. After this time, the engine is assumed to have no further
    /// features. The protocol specifies two seconds; a busy machine may need more.
    pub(crate) const SILENCE: Duration = Duration::from_secs(5);

    /// Returns whether the engine can start a game from the position `start`.
    pub(crate) fn can_set_up(&self, start: &Chess, mode: CastlingMode) -> bool {
        setup::commands(start, mode, self.features.setboard).is_some()
    }

    /// Handles a missed deadline. If the engine has not asked for more time with `feature done=0`,
    /// the handshake is complete; old engines send no `feature` line at all.
    pub(crate) fn overdue(&mut self, state: &mut State, now: Instant) -> Result<Step> {
        Err(state.late(match state.phase {
            Phase::Handshake if self.done_deadline.is_none() => {
                return Ok(Step::Send(self.configure(state, now)?));
            }
            Phase::Handshake => "feature done=1",
            Phase::Preparing | Phase::Idle => "pong",
            _ => "move",
        }))
    }

    /// Prepares a new game; afterwards the engine stays in force mode until [`Xboard::think`].
    pub(crate) fn new_game(
        &mut self,
        state: &mut State,
        now: Instant,
        game: Game<'_>,
    ) -> Result<String> {
        let mut text = "new\n".to_owned();
        if game.mode.is_chess960() {
            if !self.features.chess960 {
                return Err(no_chess960());
            }
            text += "variant fischerandom\n";
        }
        let ponder = if state.setup.ponder { "hard" } else { "easy" };
        text += &format!("force\n{ponder}\npost\n");
        text += &limits(&game.limits);
        if self.features.name {
            text += "computer\n";
        }
        let position = setup::commands(game.start, game.mode, self.features.setboard);
        text += &position.ok_or_else(|| unfit(NO_SETBOARD))?;
        self.position = game.start.clone();
        state.is_chess960 = game.mode.is_chess960();
        (self.played, self.plays, self.draw_claim) = (0, false, None);
        self.requested_moves = 0;
        self.clock = game.limits.clock;
        Ok(text + &self.ask_ready(state, now))
    }

    /// Returns the commands for the engine's turn. `position` is the `position` command of UCI.
    pub(crate) fn think(&mut self, state: &State, position: &str, go: &Go) -> String {
        let mode = CastlingMode::from_chess960(state.is_chess960);
        let moves = self.follow(mode, position);
        let clocks = self.new_period() + &self.clocks(go);
        self.requested_moves += 1;
        // Outside force mode the engine starts to search when it receives a move, so the clocks are
        // sent before the move. In force mode the engine starts to search only after `go`.
        if std::mem::replace(&mut self.plays, true) {
            clocks + &moves
        } else {
            moves + &clocks + "go\n"
        }
    }

    /// Returns the commands that end a game; `result` is a PGN result with a comment.
    pub(crate) fn game_over(&mut self, result: &str) -> String {
        self.plays = false;
        format!("force\nresult {result}\n")
    }

    /// Processes a line. Unexpected lines are ignored, because engines differ in their output.
    pub(crate) fn receive(&mut self, state: &mut State, at: Instant, line: &str) -> Result<Step> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match (state.phase, word) {
            (_, "feature") => return self.declare(state, at, rest),
            (Phase::Preparing, "pong") if rest == self.pings.to_string() => state.become_idle(),
            // Engines send `tellusererror` for many reasons; only this text answers `setboard`.
            (Phase::Preparing, "tellusererror")
                if rest.to_ascii_lowercase().starts_with("illegal position") =>
            {
                return Err(unfit(&format!("refused: {}", rest.escape_debug())));
            }
            (Phase::Thinking, word) if let Some(text) = announced(word, rest) => {
                return Ok(self.moved(state, text));
            }
            (Phase::Thinking, "Illegal" | "Error") if self.names_last_move(rest) => {
                return Ok(Step::Claim(Claim::Refusal(line.to_owned())));
            }
            (Phase::Thinking, _) => match (self.claim(state, line), thinking::parse(line)) {
                // The claim may refer to the engine's next move, so the claim is judged after that
                // move.
                (Some(Claim::Draw(text)), _) => self.draw_claim = Some(text),
                (Some(claim), _) => return Ok(Step::Claim(claim)),
                (None, Some(info)) => state.info.update(info),
                (None, None) => {}
            },
            _ => {}
        }
        Ok(Step::Continue)
    }

    /// Returns the claim that a line from the engine contains, if any.
    pub(crate) fn claim(&self, state: &State, line: &str) -> Option<Claim> {
        let ours = self.position.turn();
        // The engine has already moved, so its side is no longer the side to move.
        let ours = if state.phase == Phase::Thinking { ours } else { ours.other() };
        let line = line.strip_prefix("result ").unwrap_or(line);
        let mut words = line.split_whitespace();
        let winner = match (words.next()?, words.next()) {
            ("resign", _) | ("computer" | "Computer", Some("resigns")) => return Some(Claim::Loss),
            ("1-0", _) | ("Black", Some("resigns")) => Color::White,
            ("0-1", _) | ("White", Some("resigns")) => Color::Black,
            ("1/2-1/2", _) => return Some(Claim::Draw(line.to_owned())),
            _ => return None,
        };
        Some(if winner == ours { Claim::Win(line.to_owned()) } else { Claim::Loss })
    }

    fn names_last_move(&self, text: &str) -> bool {
        let mut words = text.split(|c: char| c.is_whitespace() || ":()".contains(c));
        !self.sent.is_empty() && words.any(|word| word == self.sent)
    }

    fn moved(&mut self, state: &mut State, text: &str) -> Step {
        state.become_idle();
        let info = std::mem::take(&mut state.info);
        let mut text = text.to_owned();
        // An illegal or unreadable move is passed on unchanged, because the referee judges it.
        if let Some(m) = notation::read(&self.position, &text) {
            text = m.to_uci(CastlingMode::from_chess960(state.is_chess960)).to_string();
            self.position.play_unchecked(m);
            self.played += 1;
        }
        Step::Move { text, info }
    }

    /// Plays the moves that the engine has not received yet, and returns the commands for them.
    fn follow(&mut self, mode: CastlingMode, position: &str) -> String {
        let moves = position.split_once(" moves ").map_or("", |(_, moves)| moves);
        let mut text = String::new();
        for word in moves.split_whitespace().skip(self.played) {
            let parsed = word.parse::<UciMove>().ok();
            // The referee has already judged these moves, so each is legal.
            let Some(m) = parsed.and_then(|uci| uci.to_move(&self.position).ok()) else { break };
            self.sent = notation::write(&self.position, m, mode, self.features.san);
            let prefix = if self.features.usermove { "usermove " } else { "" };
            text.extend([prefix, &self.sent, "\n"]);
            self.position.play_unchecked(m);
            self.played += 1;
        }
        text
    }

    /// Returns the `level` command of the period that begins with this move; an empty string if no
    /// period begins or if the period equals the previous period. The first period is sent before
    /// the game. Engines repeat the last period without a command.
    fn new_period(&self) -> String {
        let mut begin = 0;
        for pair in self.clock.as_ref().map_or(&[][..], TimeControl::periods).windows(2) {
            begin += pair[0].moves.unwrap_or(0);
            if begin == self.requested_moves && pair[0] != pair[1] {
                return level(pair[1]);
            }
        }
        String::new()
    }

    fn clocks(&self, go: &Go) -> String {
        if self.features.is_untimed {
            return String::new();
        }
        let (own, other) = match self.position.turn() {
            Color::White => (go.white, go.black),
            Color::Black => (go.black, go.white),
        };
        let shown = |word, clock: Option<(Duration, Duration)>| {
            // CECP clocks are in centiseconds. Zero is never sent, because the engine has to move
            // even with an empty clock.
            clock.map(|(left, _)| format!("{word} {}\n", (left.as_millis() / 10).max(1)))
        };
        shown("time", own).into_iter().chain(shown("otim", other)).collect()
    }

    fn declare(&mut self, state: &mut State, at: Instant, text: &str) -> Result<Step> {
        self.is_declared = true;
        let mut answers = String::new();
        let mut done = false;
        for (name, value) in feature::parse(text) {
            let mut accepted = true;
            match (name, value) {
                ("done", "0") => {
                    let limit = state.deadlines.uciok;
                    // Only the first `done=0` sets the deadline, so that an engine cannot extend
                    // the deadline forever.
                    let due = *self.done_deadline.get_or_insert(at + limit);
                    if state.phase == Phase::Handshake {
                        state.due = Some((due, limit));
                    }
                }
                ("done", _) => done = state.phase == Phase::Handshake,
                ("myname", _) => state.name = Some(value.to_owned()),
                ("option", text) => match feature::option(text) {
                    Some(option) => state.declare(option)?,
                    None => accepted = false,
                },
                _ => accepted = self.features.set(name, value),
            }
            let answer = if accepted { "accepted" } else { "rejected" };
            answers.extend([answer, " ", name, "\n"]);
        }
        if done {
            answers += &self.configure(state, at)?;
        }
        Ok(Step::Send(answers))
    }

    /// Ends the handshake: returns the commands for the requested options.
    fn configure(&mut self, state: &mut State, now: Instant) -> Result<String> {
        // Memory and cores have separate commands in CECP, but are ordinary options for the user.
        for (name, present) in [("memory", self.features.memory), ("cores", self.features.smp)] {
            if present {
                let kind = OptionKind::Spin { min: 1, max: i64::from(i32::MAX) };
                let option = OptionDeclaration { name: name.to_owned(), kind, default: None };
                state.options.push(option);
            }
        }
        state.leave_out_unfit();
        let mut text = String::new();
        for (name, value) in &state.setup.options {
            let (OptionDeclaration { name, .. }, value) =
                check_option(&state.options, name, value)?;
            text += &match (name.as_str(), value.as_str()) {
                ("memory" | "cores", value) => format!("{name} {value}\n"),
                (name, "") => format!("option {name}\n"),
                (name, "true") => format!("option {name}=1\n"),
                (name, "false") => format!("option {name}=0\n"),
                (name, value) => format!("option {name}={value}\n"),
            };
        }
        for line in &state.setup.init {
            text.extend([line, "\n"]);
        }
        Ok(text + &self.ask_ready(state, now))
    }

    /// Returns the `ping` that asks whether the engine is ready. An engine without `ping` counts as
    /// ready.
    fn ask_ready(&mut self, state: &mut State, now: Instant) -> String {
        if !self.features.ping {
            state.become_idle();
            return String::new();
        }
        self.pings += 1;
        state.wait(Phase::Preparing, now, state.deadlines.readyok);
        format!("ping {}\n", self.pings)
    }
}

/// Returns the move that a line announces, either as the protocol requires (`move e2e4`) or in a
/// form that old engines use.
fn announced<'a>(word: &str, rest: &'a str) -> Option<&'a str> {
    match word {
        // Other words may follow, for example the source of a book move.
        "move" => Some(rest.split_whitespace().next().unwrap_or_default()),
        "My" => Some(rest.strip_prefix("move is")?.trim_start_matches([' ', ':'])),
        // `7. ... e2e4` is a move of the engine, with either colour; `7. e2e4` repeats a move of
        // its opponent.
        _ => {
            word.trim_end_matches('.').parse::<u32>().ok()?;
            Some(rest.strip_prefix("... ")?.trim_start())
        }
    }
}

/// Returns the commands for the limits of a game.
fn limits(limits: &Limits) -> String {
    let clock = limits.clock.map(|control| level(control.get(0)));
    // `st` takes whole seconds; plans with other times are rejected.
    let movetime = limits.movetime.map(|time| format!("st {}\n", time.as_secs().max(1)));
    let depth = limits.depth.map(|depth| format!("sd {depth}\n"));
    [clock, movetime, depth].into_iter().flatten().collect()
}

/// Returns the `level` command of a period, with its base time in whole seconds. The exact clock is
/// sent before each move.
fn level(Period { moves, base, increment }: Period) -> String {
    // In `level`, 0 moves stand for the whole game.
    let moves = moves.unwrap_or(0);
    let base = base.as_secs().max(1);
    format!("level {moves} {}:{:02} {}\n", base / 60, base % 60, increment.as_secs_f64())
}

#[cfg(test)]
mod tests;
