//! Command line of the puppet.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// UCI engine that plays the moves of a seed and misbehaves on request.
///
/// A mode misbehaves at the first `go`, or from the `go` or `ucinewgame` that --after or --in-game
/// names, and then on each later occasion; modes marked (once) misbehave once per process.
#[derive(Debug, Parser)]
#[command(name = "puppet")]
pub struct Args {
    /// Mode of behaviour
    #[arg(long, value_enum, default_value_t = Mode::Good)]
    pub mode: Mode,

    /// Protocol to speak; with `xboard`, all modes behave like `good`, except those marked
    /// (xboard), `illegal-move`, `garbage-bestmove`, `crash`, `hang`, `mute` and `exit-at-start`
    #[arg(long, value_enum, default_value_t = Proto::Uci)]
    pub proto: Proto,

    /// Speak UCI in spite of `--proto console`
    #[arg(long)]
    pub uci: bool,

    /// Misbehave from the Nth `go` of the process onwards
    #[arg(long, value_name = "N")]
    pub after: Option<u32>,

    /// Misbehave from the Nth `ucinewgame` of the process onwards
    #[arg(long, value_name = "N")]
    pub in_game: Option<u32>,

    /// Thinking time per move; in the modes that name --delay-ms, the delay of the mode
    #[arg(long, value_name = "MS")]
    pub delay_ms: Option<u64>,

    /// Seed of the moves: with equal seeds, the puppet plays the same move in the same position
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Play other moves in each process, like an engine with several threads
    #[arg(long)]
    pub vary: bool,

    /// Name to send in `id name`
    #[arg(long, default_value = "Puppet")]
    pub name: String,

    /// Text of `info` lines to send before each move, separated by `|`: {move} is the move,
    /// {another} another legal move, {illegal} an illegal move, and {minus} a minus sign in every
    /// second search
    #[arg(long, value_name = "LINES", default_value = "")]
    pub info: String,

    /// Skill of play
    #[arg(long, value_enum, default_value_t = Skill::Random)]
    pub skill: Skill,

    /// Ignored; makes the process easy to find by its command line
    #[arg(long, value_name = "TEXT")]
    pub marker: Option<String>,

    /// Ignore SIGTERM in every mode; only SIGKILL ends the process early
    #[arg(long)]
    pub ignore_term: bool,

    /// Append the received lines to DIR/PID.log
    #[arg(long, value_name = "DIR")]
    pub log: Option<PathBuf>,

    /// Exit with status 98 after S seconds, in every mode
    #[arg(long, value_name = "S", default_value_t = 600)]
    pub lifetime_s: u64,
}

/// Mode of behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Follows the protocol
    Good,
    /// Plays a well-formed but illegal move
    IllegalMove,
    /// Sends `bestmove` with a word that is not a move
    GarbageBestmove,
    /// Sends `bestmove 0000`
    NullMove,
    /// Aborts while it should be thinking
    Crash,
    /// Exits with status 1 before it sends anything
    ExitAtStart,
    /// Neither reads nor writes, and does not exit
    Mute,
    /// Answers `uci` with its options but never with `uciok`
    NoUciok,
    /// Does not answer `isready`, from the start unless --after or --in-game is given
    NoReadyok,
    /// Stops responding when it should be thinking
    Hang,
    /// Thinks for --delay-ms (500 by default) in spite of the clock, but obeys `stop`
    Slow,
    /// Answers --delay-ms (200 by default) after its time has run out, and ignores `stop`
    LateBestmove,
    /// Thinks for ever: answers `isready`, but sends no move, even after `stop`
    NoBestmoveAnswerStop,
    /// Sends 30000 `info` lines before a move (once)
    Flood,
    /// Sends `info` lines without end and no move
    FloodForever,
    /// Closes its standard output when it should be thinking, and does not exit
    Disconnect,
    /// Writes a megabyte to stderr before a move (once)
    StderrNoise,
    /// Does not exit at `quit` or at the end of its input
    IgnoreQuit,
    /// Starts a process that keeps the pipe open and outlives the puppet (once)
    SpawnGrandchild,
    /// Writes its move in pieces of 3 bytes, --delay-ms (20 by default) apart
    PartialLine,
    /// Sends zero bytes and invalid UTF-8 before each move
    NulBytes,
    /// Answers a `go` twice with the same move
    DoubleBestmove,
    /// Answers a `go` twice with the same move, --delay-ms (5 by default) apart
    RepeatedBestmove,
    /// Answers `uci` with its name only, and exits with status 1
    ExitAtHandshake,
    /// Exits with status 3 when it should be thinking
    ExitInGame,
    /// Exits with status 0 right after a move
    ExitAfterBestmove,
    /// Exits with status 0 at the first `ucinewgame` after a search
    ExitAfterGame,
    /// Writes a line without end and no move
    EndlessLine,
    /// Omits the line ending after its move, and waits
    NoNewline,
    /// Ends the line of its move with CR LF
    Crlf,
    /// Puts blanks before, between and after the words of `bestmove`
    Blanks,
    /// Prints 40 lines of text before it answers `uci`
    Banner,
    /// Answers `uci` with two `uciok`
    DoubleUciok,
    /// Declares malformed options in addition to the usual ones
    BadOptions,
    /// Declares `Threads` with default 2
    TwoThreads,
    /// Declares no options
    NoOptions,
    /// Declares 500 options in addition to the usual ones
    ManyOptions,
    /// Sends `bestmove` without a move
    BlankBestmove,
    /// Sends `bestmove (none)`
    NoneBestmove,
    /// Sends `bestmove NULL`
    NullWord,
    /// Sends `bestmove a1a1`
    SameSquare,
    /// Writes the piece of a promotion in uppercase
    UppercasePromotion,
    /// Writes castling as in Chess960 in a standard game, and vice versa
    OtherCastling,
    /// Sends `bestmove a1a1` when it receives a position, before `go`
    EarlyBestmove,
    /// Names an illegal ponder move
    IllegalPonder,
    /// Names a ponder move although `Ponder` is off
    UnaskedPonder,
    /// Ends a ponder search without `ponderhit` or `stop`
    ImpatientPonder,
    /// Sends no score before its move
    NoScore,
    /// Sends `score mate 0` before each move
    MateZero,
    /// Sends bounds as the last scores of a search
    BoundsLast,
    /// Sends its second-best line last (`multipv 2`)
    MultipvLast,
    /// Sends a variation with illegal moves
    IllegalPv,
    /// Sends numbers that exceed every integer type
    HugeNumbers,
    /// Closes its standard input after a move, and does not exit
    CloseStdin,
    /// Starts a process in a new session whose parent has exited (once)
    SpawnDaemon,
    /// Writes to stderr without end
    StderrFlood,
    /// Answers exactly when its time runs out, and ignores `stop`
    ExactLimit,
    /// Waits --delay-ms (300 by default) before each `readyok`
    SlowReady,
    /// Thinks for --delay-ms (300 by default) and ignores its input during this time
    Deaf,
    /// Allocates memory when it should be thinking, until it fails or has 2 GiB
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
    /// Omits en passant captures from `go perft`
    NoEnPassant,
    /// Lets the double step of a pawn jump over a piece in `go perft`
    LeapingPawns,
}

impl Mode {
    /// Returns whether the mode misbehaves only once per process, because every move would take too
    /// long.
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

/// Protocol that the puppet speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Proto {
    /// The Universal Chess Interface
    Uci,
    /// The Chess Engine Communication Protocol, version 2
    Xboard,
    /// No protocol but lines of text, as in an engine with a console interface, unless --uci is
    /// given
    Console,
}

/// Skill of play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Skill {
    /// Any legal move
    Random,
    /// Wins material, loses little and mates; beats `random` nearly always
    Greedy,
}
