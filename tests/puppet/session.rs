//! UCI session: reads commands and answers them; [`crate::misdeed`] changes the answers.

use std::time::{Duration, Instant};

use crate::args::{Args, Mode};
use crate::board::Board;
use crate::greeting;
use crate::input::{Inbox, Input};
use crate::limits::Limits;
use crate::misdeed::{self, Answer};
use crate::options::Options;

/// Regular end of a loop.
#[derive(Debug, PartialEq, Eq)]
pub enum Leave {
    /// `quit` was received, or the input ended.
    Session,
    /// The search is over.
    Search,
}

/// State of a UCI session.
pub struct Session {
    /// Arguments of the command line.
    pub args: Args,
    inbox: Inbox,
    options: Options,
    greeted: bool,
    /// Text of the last `position` command, and its board.
    position: Option<(String, Board)>,
    /// Number of `ucinewgame` commands received.
    games: u32,
    /// Number of `go` commands received.
    searches: u32,
}

impl Session {
    /// Opens a session on standard input and output.
    pub fn new(args: Args) -> Result<Session, String> {
        let inbox = Inbox::open(args.log.as_deref())?;
        Ok(Session {
            args,
            inbox,
            options: Options::default(),
            greeted: false,
            position: None,
            games: 0,
            searches: 0,
        })
    }

    /// Answers commands until `quit` or the end of the input; an error describes a protocol
    /// violation by the harness.
    pub fn run(mut self) -> Result<(), String> {
        loop {
            let end = match self.inbox.next() {
                Input::Line(line) => self.answer(&line)?,
                Input::Closed => self.quit(),
            };
            if end == Some(Leave::Session) {
                return Ok(());
            }
        }
    }

    /// Returns whether the puppet should misbehave now; `after` is the default of `--after`, in
    /// searches.
    pub fn due(&self, after: u32) -> bool {
        self.searches >= self.args.after.unwrap_or(after)
            && self.games >= self.args.in_game.unwrap_or(0)
    }

    /// Returns the number of `go` commands received.
    pub fn searches(&self) -> u32 {
        self.searches
    }

    /// Returns `--delay-ms`, or `default_ms` milliseconds if the argument is missing.
    pub fn delay(&self, default_ms: u64) -> Duration {
        Duration::from_millis(self.args.delay_ms.unwrap_or(default_ms))
    }

    fn answer(&mut self, line: &str) -> Result<Option<Leave>, String> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if !self.greeted && !matches!(command, "uci" | "quit" | "") {
            return Err(format!("{line} came before uci"));
        }
        match command {
            "" | "stop" | "debug" => {}
            // The harness may send `ponderhit` before it receives the move.
            "ponderhit" if self.args.mode == Mode::ImpatientPonder => {}
            "uci" => self.greet(),
            "isready" => self.report_ready(),
            "setoption" => self.options.set(rest.trim())?,
            "ucinewgame" => {
                if self.args.mode == Mode::ExitAfterGame && self.searches > 0 {
                    return Ok(Some(Leave::Session));
                }
                self.games += 1;
                self.position = None;
            }
            "position" => {
                self.set_position(rest)?;
                if self.args.mode == Mode::EarlyBestmove && self.due(0) {
                    misdeed::say("bestmove a1a1");
                }
            }
            "go" => return self.go(rest),
            "quit" => return Ok(self.quit()),
            _ => return Err(format!("unknown command {line}")),
        }
        Ok(None)
    }

    /// Sets the board. If the position continues the last one, only the new moves are played,
    /// because replaying a long game at every move takes too long.
    fn set_position(&mut self, text: &str) -> Result<(), String> {
        let board = match self.position.take() {
            Some((last, board)) if continues(text, &last) => board.play(&text[last.len()..])?,
            _ => Board::parse(text, self.options.chess960)?,
        };
        self.position = Some((text.to_owned(), board));
        Ok(())
    }

    fn greet(&mut self) {
        self.greeted = true;
        greeting::introduce(self.args.mode);
        misdeed::say(&format!("id name {}\nid author the Arbiter project", self.args.name));
        greeting::declare(self.args.mode);
        if self.args.mode == Mode::DoubleUciok {
            misdeed::say("uciok");
        }
        if self.args.mode != Mode::NoUciok {
            misdeed::say("uciok");
        }
    }

    fn report_ready(&self) {
        if self.args.mode == Mode::SlowReady {
            std::thread::sleep(self.delay(300));
        }
        if !(self.args.mode == Mode::NoReadyok && self.due(0)) {
            misdeed::say("readyok");
        }
    }

    fn quit(&self) -> Option<Leave> {
        if self.args.mode == Mode::IgnoreQuit {
            misdeed::sleep_for_ever();
        }
        Some(Leave::Session)
    }

    fn go(&mut self, rest: &str) -> Result<Option<Leave>, String> {
        self.searches += 1;
        let (_, board) = self.position.as_ref().ok_or("go came before position")?;
        if let Some(depth) = rest.strip_prefix("perft ") {
            let depth = depth.trim().parse().map_err(|_| format!("go {rest}: no depth"))?;
            misdeed::count(self, board, depth);
            return Ok(None);
        }
        let limits = Limits::parse(rest, board.white_to_move())?;
        let choice = board
            .choose(self.args.seed ^ self.options.salt(), self.args.skill)
            .ok_or("go in a position without legal moves")?;
        let asked_to_ponder = self.options.ponder || self.args.mode == Mode::UnaskedPonder;
        let expected = board.after(&choice.uci).filter(|_| asked_to_ponder);
        let expected = expected.and_then(|after| after.choose(self.args.seed, self.args.skill));
        let answer = Answer {
            limits,
            illegal: board.illegal(self.args.seed),
            other: board.other_notation(&choice.uci),
            another: board.another(self.args.seed, &choice.uci, &self.args.info),
            expected: expected.map(|choice| choice.uci),
            choice,
        };
        misdeed::search(self, &answer)
    }

    /// Thinks for `time`, or until `stop` if the search is endless, and answers `isready` during
    /// the search. With `deaf_to_stop`, the search ignores `stop`.
    pub fn think(
        &self,
        time: Duration,
        endless: bool,
        deaf_to_stop: bool,
    ) -> Result<Leave, String> {
        if time.is_zero() && !endless {
            return Ok(Leave::Search);
        }
        let mut deadline = (!endless).then(|| Instant::now() + time);
        loop {
            match self.inbox.next_until(deadline) {
                None => return Ok(Leave::Search),
                Some(Input::Closed) => return Ok(self.quit().unwrap_or(Leave::Session)),
                Some(Input::Line(line)) => match line.as_str() {
                    "" => {}
                    "isready" => self.report_ready(),
                    "stop" if deaf_to_stop => {}
                    "stop" => return Ok(Leave::Search),
                    "ponderhit" => deadline = Some(Instant::now() + time),
                    "quit" => return Ok(self.quit().unwrap_or(Leave::Session)),
                    _ => return Err(format!("{line} came during a search")),
                },
            }
        }
    }
}

/// Returns whether `text` is the position `last` with further moves.
fn continues(text: &str, last: &str) -> bool {
    last.contains(" moves ") && text.strip_prefix(last).is_some_and(|more| more.starts_with(' '))
}
