//! What can be asked of the puppet on its command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// A UCI engine that plays fixed, seeded moves and misbehaves on request.
///
/// A misdeed is committed at the first `go` unless --after or --in-game say
/// otherwise, and from then on each time the occasion comes up again; those
/// marked (once) are committed once in the life of the process.
#[derive(Debug, Parser)]
#[command(name = "puppet")]
pub struct Args {
    /// How to behave
    #[arg(long, value_enum, default_value_t = Mode::Good)]
    pub mode: Mode,

    /// Misbehave from the Nth `go` of this process on
    #[arg(long, value_name = "N")]
    pub after: Option<u32>,

    /// Misbehave from the Nth `ucinewgame` of this process on
    #[arg(long, value_name = "N")]
    pub in_game: Option<u32>,

    /// How long to think about each move; with `slow`, `late-bestmove` and
    /// `partial-line`, how long the misdeed takes (they have their own defaults)
    #[arg(long, value_name = "MS")]
    pub delay_ms: Option<u64>,

    /// Chooses the moves: the same seed plays the same move in the same position
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// The name given in `id name`
    #[arg(long, default_value = "Puppet")]
    pub name: String,

    /// How well to play
    #[arg(long, value_enum, default_value_t = Skill::Random)]
    pub skill: Skill,

    /// Ignored; makes the process easy to find by its command line
    #[arg(long, value_name = "TEXT")]
    pub marker: Option<String>,

    /// Ignore SIGTERM, in any mode: only SIGKILL ends the process early
    #[arg(long)]
    pub ignore_term: bool,

    /// Append what is received to DIR/PID.log
    #[arg(long, value_name = "DIR")]
    pub log: Option<PathBuf>,

    /// Exit with status 98 after this long, whatever the mode
    #[arg(long, value_name = "S", default_value_t = 600)]
    pub lifetime_s: u64,
}

/// How the puppet behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Follows the protocol
    Good,
    /// Plays a well-formed move that is not legal
    IllegalMove,
    /// Says `bestmove` with a word that is no move
    GarbageBestmove,
    /// Says `bestmove 0000`
    NullMove,
    /// Aborts while it should be thinking
    Crash,
    /// Exits with status 1 before it says anything
    ExitAtStart,
    /// Says and reads nothing from the start, and stays
    Mute,
    /// Answers `uci` with its options but never with `uciok`
    NoUciok,
    /// Does not answer `isready`; from the start unless --after or --in-game
    NoReadyok,
    /// Answers nothing any more once it should be thinking
    Hang,
    /// Thinks for --delay-ms (500 by default) whatever the clock says, but
    /// heeds `stop`
    Slow,
    /// Answers --delay-ms (200 by default) after its time is over, deaf to
    /// `stop`
    LateBestmove,
    /// Thinks on and on: answers `isready`, but neither `go` nor `stop`
    NoBestmoveAnswerStop,
    /// Sends 100000 `info` lines before a move (once)
    Flood,
    /// Sends `info` lines without end and never a move
    FloodForever,
    /// Closes its end of the pipe while it should be thinking, and stays
    Disconnect,
    /// Writes a megabyte to stderr before a move (once)
    StderrNoise,
    /// Neither `quit` nor the end of its input makes it leave
    IgnoreQuit,
    /// Starts a process that holds the same pipe and outlives it (once)
    SpawnGrandchild,
    /// Writes its move in pieces, --delay-ms (20 by default) apart
    PartialLine,
    /// Sends zero bytes and invalid UTF-8 before each move
    NulBytes,
    /// Answers a `go` twice with the same move.
    DoubleBestmove,
    /// Sends a line of 16 MiB before a move (once)
    HugeLine,
    /// Claims impossible scores and illegal variations before each move
    LyingScore,
    /// Leaves en passant out when it counts (`go perft`)
    NoEnPassant,
}

impl Mode {
    /// Whether the misdeed is too heavy to be committed at every move of a game.
    pub fn happens_once(self) -> bool {
        matches!(self, Mode::Flood | Mode::StderrNoise | Mode::HugeLine | Mode::SpawnGrandchild)
    }
}

/// How well the puppet plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Skill {
    /// Any legal move
    Random,
    /// Takes what it can win, gives little away and mates: beats `random`
    /// nearly always
    Greedy,
}
