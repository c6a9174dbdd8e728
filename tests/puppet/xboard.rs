//! The puppet with the xboard protocol, including the modes that exist only in this protocol.

use crate::args::{Args, Mode};
use crate::board::{Board, Choice};
use crate::input::{Inbox, Input};
use crate::misdeed::{say, sleep_for_ever};

const FEATURES: &str = "feature ping=1 setboard=1 usermove=1 colors=0 sigint=0 sigterm=0 san=0 \
                        variants=\"normal\" option=\"Style -combo Normal /// Risky\" done=1";

/// State of an xboard session.
pub struct Xboard {
    args: Args,
    inbox: Inbox,
    board: Board,
    /// `true` if the puppet plays no moves (`force`).
    forced: bool,
    /// Last move of the opponent.
    opponent_move: String,
    games: u32,
    searches: u32,
}

impl Xboard {
    /// Opens a session on standard input and output.
    pub fn new(args: Args) -> Result<Xboard, String> {
        let inbox = Inbox::open(args.log.as_deref())?;
        let board = Board::parse("startpos", false)?;
        let opponent_move = String::new();
        Ok(Xboard { args, inbox, board, forced: true, opponent_move, games: 0, searches: 0 })
    }

    /// Answers commands until `quit` or the end of the input; an error describes a protocol
    /// violation by the harness.
    pub fn run(mut self) -> Result<(), String> {
        while let Input::Line(line) = self.inbox.next() {
            let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match command {
                "xboard" | "accepted" | "rejected" | "easy" | "hard" | "post" | "level" | "st"
                | "sd" | "time" | "otim" | "result" | "option" | "?" => {}
                "protover" => say(&format!("feature myname=\"{}\"\n{FEATURES}", self.args.name)),
                "new" => {
                    self.board = Board::parse("startpos", false)?;
                    self.forced = false;
                    self.games += 1;
                }
                "force" => self.forced = true,
                "setboard" => self.board = Board::parse(&format!("fen {rest}"), false)?,
                "ping" => say(&format!("pong {rest}")),
                "usermove" => {
                    self.follow(rest)?;
                    rest.clone_into(&mut self.opponent_move);
                    if !self.forced {
                        self.play()?;
                    }
                }
                "go" => {
                    self.forced = false;
                    self.play()?;
                }
                "quit" => return Ok(()),
                _ => return Err(format!("unknown command {line}")),
            }
        }
        Ok(())
    }

    fn follow(&mut self, uci: &str) -> Result<(), String> {
        self.board = self.board.after(uci).ok_or_else(|| format!("the move {uci} is illegal"))?;
        Ok(())
    }

    fn play(&mut self) -> Result<(), String> {
        self.searches += 1;
        let choice = self.board.choose(self.args.seed, self.args.skill);
        let Choice { uci, score_cp } = choice.ok_or("a move is wanted where there is none")?;
        say(&format!("1 {score_cp} 0 1 {uci}"));
        let due = self.searches >= self.args.after.unwrap_or(1)
            && self.games >= self.args.in_game.unwrap_or(0);
        let opponent_move = &self.opponent_move;
        match if due { self.args.mode } else { Mode::Good } {
            Mode::Resign => say("resign"),
            Mode::FalseWin if self.board.white_to_move() => say("1-0 {White mates}"),
            Mode::FalseWin => say("0-1 {Black mates}"),
            Mode::FalseDraw => say(&format!("move {uci}\n1/2-1/2 {{Draw by repetition}}")),
            Mode::RefuseMove => say(&format!("Illegal move (I do not like it): {opponent_move}")),
            Mode::OfferDraw => say(&format!("offer draw\nmove {uci}")),
            Mode::IllegalMove => say(&format!("move {}", self.board.illegal(self.args.seed))),
            Mode::GarbageBestmove => say("move knight-takes-everything"),
            Mode::Crash => std::process::abort(),
            Mode::Hang => sleep_for_ever(),
            _ => say(&format!("move {uci}")),
        }
        self.follow(&uci)
    }
}
