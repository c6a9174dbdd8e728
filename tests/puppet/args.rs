//! Command line of the puppet.

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
    /// Mode of behaviour
    #[arg(long, value_enum, default_value_t = Mode::Good)]
    pub mode: Mode,

    /// Protocol to speak; in that of xboard only the modes marked so, `good`, `illegal-move`,
    /// `garbage-bestmove`, `crash` and `hang` differ
    #[arg(long, value_enum, default_value_t = Proto::Uci)]
    pub proto: Proto,

    /// Speak UCI where --proto is console
    #[arg(long)]
    pub uci: bool,

    /// Misbehave from the Nth `go` of this process on
    #[arg(long, value_name = "N")]
    pub after: Option<u32>,

    /// Misbehave from the Nth `ucinewgame` of this process on
    #[arg(long, value_name = "N")]
    pub in_game: Option<u32>,

    /// Time to think about each move; with `slow`, `late-bestmove` and `partial-line`, the duration
    /// of the misdeed (they have their own defaults)
    #[arg(long, value_name = "MS")]
    pub delay_ms: Option<u64>,

    /// Chooses the moves: the same seed plays the same move in the same position
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// The name given in `id name`
    #[arg(long, default_value = "Puppet")]
    pub name: String,

    /// Say `info` and this before each move, several lines with `|` between them: {move} is the
    /// move, {another} another legal one, {illegal} one that is not legal, and {minus} a sign that
    /// every second search has
    #[arg(long, value_name = "LINES", default_value = "")]
    pub info: String,

    /// Skill of play
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

/// Mode of behaviour.
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
    /// Answers a `go` twice with the same move, --delay-ms (5 by default) apart
    RepeatedBestmove,
    /// Gives its name in answer to `uci`, and exits with status 1
    ExitAtHandshake,
    /// Exits with status 3 when it should be thinking
    ExitInGame,
    /// Exits with status 0 right after a move
    ExitAfterBestmove,
    /// Exits with status 0 when a game follows one that it has played
    ExitAfterGame,
    /// Writes a line that never ends, and never a move
    EndlessLine,
    /// Forgets the line end after its move, and waits
    NoNewline,
    /// Ends its lines as DOS does
    Crlf,
    /// Puts blanks before, after and between the words of its move
    Blanks,
    /// Introduces itself at length before it answers `uci`
    Banner,
    /// Answers `uci` with two `uciok`
    DoubleUciok,
    /// Declares options that make no sense, besides its own
    BadOptions,
    /// Has two threads unless `setoption` changes that
    TwoThreads,
    /// Declares no options
    NoOptions,
    /// Declares 500 options besides its own
    ManyOptions,
    /// Says `bestmove` and nothing else
    BlankBestmove,
    /// Says `bestmove (none)`
    NoneBestmove,
    /// Says `bestmove NULL`
    NullWord,
    /// Says `bestmove a1a1`
    SameSquare,
    /// Writes promotions with a capital letter
    UppercasePromotion,
    /// Writes castling as the other variant does
    OtherCastling,
    /// Says `bestmove a1a1` when it receives a position, before `go`
    EarlyBestmove,
    /// Expects an illegal reply
    IllegalPonder,
    /// Expects a reply though nobody asked it to ponder
    UnaskedPonder,
    /// Ends the search on its opponent's time by itself
    ImpatientPonder,
    /// Says nothing before its move
    NoScore,
    /// Claims `score mate 0` before each move
    MateZero,
    /// Ends with scores that are bounds
    BoundsLast,
    /// Ends with a line that is not its best
    MultipvLast,
    /// Shows variations of illegal moves
    IllegalPv,
    /// Claims numbers that fit nowhere
    HugeNumbers,
    /// Closes its input after a move, and stays
    CloseStdin,
    /// Starts a process in a session of its own whose parent is gone (once)
    SpawnDaemon,
    /// Writes to stderr without end
    StderrFlood,
    /// Answers when exactly its time is over
    ExactLimit,
    /// Takes --delay-ms (300 by default) before each `readyok`
    SlowReady,
    /// Thinks for --delay-ms (300 by default) and hears nothing meanwhile
    Deaf,
    /// Takes memory without end when it should be thinking
    EatMemory,
    /// Resigns (xboard)
    Resign,
    /// Claims to have won (xboard)
    FalseWin,
    /// Claims a draw after its move (xboard)
    FalseDraw,
    /// Calls its opponent's move illegal (xboard)
    RefuseMove,
    /// Offers a draw before each move (xboard)
    OfferDraw,
    /// Sends a line of 16 MiB before a move (once)
    HugeLine,
    /// Claims impossible scores and illegal variations before each move
    LyingScore,
    /// Leaves en passant out when it counts (`go perft`)
    NoEnPassant,
    /// Lets pawns leap over other men when it counts (`go perft`)
    LeapingPawns,
}

impl Mode {
    /// Returns whether the misdeed is too heavy to be committed at every move of a game.
    pub fn happens_once(self) -> bool {
        matches!(
            self,
            Mode::Flood
                | Mode::StderrNoise
                | Mode::StderrFlood
                | Mode::HugeLine
                | Mode::SpawnGrandchild
                | Mode::SpawnDaemon
        )
    }
}

/// The language that the puppet speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Proto {
    /// The Universal Chess Interface
    Uci,
    /// The Chess Engine Communication Protocol, version 2
    Xboard,
    /// None, but in a console of its own, unless --uci is given as well
    Console,
}

/// Skill of play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Skill {
    /// Any legal move
    Random,
    /// Takes what it can win, gives little away and mates: beats `random`
    /// nearly always
    Greedy,
}
