//! Answer to `go`: the move and, in every mode except `good`, the misbehaviour.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::args::Mode;
use crate::board::{Board, Choice, Flaw};
use crate::limits::Limits;
use crate::session::{Leave, Session};

/// Number of bytes written to stderr: more than the capacity of a pipe, so the puppet blocks unless
/// stderr is read.
const STDERR_NOISE_BYTES: usize = 1 << 20;
const HUGE_LINE_BYTES: usize = 16 << 20;
const FLOOD_LINES: u32 = 30_000;

/// Moves and limits from which a correct or a misbehaving answer to `go` is made.
pub struct Answer {
    /// Limits of the `go`.
    pub limits: Limits,
    /// Move to play.
    pub choice: Choice,
    /// Well-formed but illegal move.
    pub illegal: String,
    /// Another legal move, or `choice` if there is no other move or `--info` does not need one.
    pub another: String,
    /// Move to play, with castling in the notation of the other mode, standard or Chess960.
    pub other: String,
    /// Ponder move; `None` if no ponder move is to be sent.
    pub expected: Option<String>,
}

/// Answers a `go`.
pub fn search(session: &mut Session, answer: &Answer) -> Result<Option<Leave>, String> {
    let mode = if session.due(1) { session.args.mode } else { Mode::Good };
    if mode.happens_once() {
        // The puppet misbehaves once; later answers are correct.
        session.args.mode = Mode::Good;
    }
    prelude(mode, session, &answer.illegal);
    let Choice { uci, score_cp } = &answer.choice;
    if mode != Mode::NoScore {
        say(&format!("info depth 1 seldepth 1 score cp {score_cp} nodes 1 time 0 pv {uci}"));
    }
    print_last_lines(mode, &answer.illegal);
    for line in session.args.info.split('|').filter(|line| !line.is_empty()) {
        let line = line.replace("{move}", uci).replace("{another}", &answer.another);
        let line = line.replace("{illegal}", &answer.illegal);
        let minus = if session.searches().is_multiple_of(2) { "-" } else { "" };
        say(&format!("info {}", line.replace("{minus}", minus)));
    }

    if think(mode, session, &answer.limits)? == Leave::Session {
        return Ok(Some(Leave::Session));
    }
    let expected = match (mode, &answer.expected) {
        (Mode::IllegalPonder, _) => format!(" ponder {}", answer.illegal),
        (_, Some(reply)) => format!(" ponder {reply}"),
        (_, None) => String::new(),
    };
    match mode {
        Mode::IllegalMove => say(&format!("bestmove {}", answer.illegal)),
        Mode::GarbageBestmove => say("bestmove knight-takes-everything"),
        Mode::NullMove => say("bestmove 0000"),
        Mode::BlankBestmove => say("bestmove"),
        Mode::NoneBestmove => say("bestmove (none)"),
        Mode::NullWord => say("bestmove NULL"),
        Mode::SameSquare => say("bestmove a1a1"),
        Mode::DoubleBestmove => say(&format!("bestmove {uci}\nbestmove {uci}")),
        Mode::RepeatedBestmove => {
            say(&format!("bestmove {uci}"));
            std::thread::sleep(session.delay(5));
            say(&format!("bestmove {uci}{expected}"));
        }
        Mode::PartialLine => print_in_pieces(&format!("bestmove {uci}\n"), session.delay(20)),
        Mode::NoNewline => write_or_leave(std::io::stdout(), format!("bestmove {uci}").as_bytes()),
        Mode::Crlf => say(&format!("bestmove {uci}{expected}\r")),
        Mode::Blanks => say(&format!(" \t bestmove   {uci} \t ")),
        Mode::UppercasePromotion => say(&format!("bestmove {}", with_capital(uci))),
        Mode::OtherCastling => say(&format!("bestmove {}", answer.other)),
        Mode::ExitAfterBestmove => {
            say(&format!("bestmove {uci}"));
            std::process::exit(0);
        }
        Mode::CloseStdin => close_stdin(session, &format!("bestmove {uci}")),
        _ => say(&format!("bestmove {uci}{expected}")),
    }
    Ok(None)
}

/// Returns a promotion with the piece in uppercase; any other move unchanged.
fn with_capital(uci: &str) -> String {
    match uci.char_indices().nth(4) {
        Some((at, piece)) => format!("{}{}", &uci[..at], piece.to_ascii_uppercase()),
        None => uci.to_owned(),
    }
}

/// Prints the last `info` lines before the move, in some modes.
fn print_last_lines(mode: Mode, illegal: &str) {
    match mode {
        Mode::MateZero => say("info depth 2 score mate 0 nodes 2"),
        Mode::BoundsLast => {
            say("info depth 9 score cp 9000 lowerbound nodes 9");
            say("info depth 9 score mate -1 upperbound nodes 9");
        }
        Mode::MultipvLast => say("info depth 9 multipv 2 score cp -9000 nodes 9 pv a1a1"),
        Mode::IllegalPv => say(&format!("info depth 9 score cp 1 pv {illegal} {illegal} e9e9 x")),
        Mode::HugeNumbers => {
            let huge = "9".repeat(400);
            say(&format!("info depth {huge} seldepth {huge} nodes {huge} score cp -{huge}"));
            say(&format!("info score mate {huge} multipv {huge} nps {huge} hashfull {huge}"));
        }
        _ => {}
    }
}

/// Answers `go perft` with the count of each move.
pub fn count(session: &Session, board: &Board, depth: u32) {
    let mode = if session.due(1) { session.args.mode } else { Mode::Good };
    prelude(mode, session, &board.illegal(session.args.seed));
    let flaw = match mode {
        Mode::NoEnPassant => Flaw::NoEnPassant,
        Mode::LeapingPawns => Flaw::LeapingPawns,
        _ => Flaw::None,
    };
    let counts = board.count(depth, flaw);
    counts.iter().for_each(|(uci, leaves)| say(&format!("{uci}: {leaves}")));
    let total: u64 = counts.iter().map(|(_, leaves)| leaves).sum();
    say(&format!("\nNodes searched: {total}\n"));
}

/// Waits for the time that the mode takes for a move.
fn think(mode: Mode, session: &Session, limits: &Limits) -> Result<Leave, String> {
    let honest = match session.args.mode {
        // In these modes, `--delay-ms` is the delay of the mode and not the thinking time.
        Mode::Slow | Mode::LateBestmove | Mode::PartialLine | Mode::SlowReady | Mode::Deaf => {
            Duration::ZERO
        }
        _ => session.delay(0),
    };
    match mode {
        Mode::Slow => session.think(session.delay(500), limits.endless, false),
        Mode::NoBestmoveAnswerStop => session.think(Duration::ZERO, true, true),
        Mode::ImpatientPonder => Ok(Leave::Search),
        Mode::ExactLimit => session.think(limits.time.unwrap_or_default(), limits.endless, true),
        Mode::Deaf => {
            std::thread::sleep(session.delay(300));
            Ok(Leave::Search)
        }
        Mode::LateBestmove => {
            std::thread::sleep(limits.time.unwrap_or_default() + session.delay(200));
            Ok(Leave::Search)
        }
        _ => session.think(honest, limits.endless, false),
    }
}

/// Prints the lines before the move or, in some modes, misbehaves instead of moving.
fn prelude(mode: Mode, session: &Session, illegal: &str) {
    match mode {
        Mode::Crash => {
            eprintln!("puppet: crashing, as asked");
            std::process::abort();
        }
        Mode::ExitInGame => {
            eprintln!("puppet: leaving, as asked");
            std::process::exit(3);
        }
        Mode::EndlessLine => loop {
            write_or_leave(std::io::stdout(), &[b'x'; 4096]);
        },
        Mode::EatMemory => eat_memory(),
        Mode::StderrFlood => {
            let noise = noise();
            std::thread::spawn(move || {
                loop {
                    write_or_leave(std::io::stderr(), &noise);
                }
            });
        }
        Mode::SpawnDaemon => spawn_daemon(session),
        Mode::Hang => sleep_for_ever(),
        Mode::Disconnect => close_stdout(session),
        Mode::SpawnGrandchild => spawn_grandchild(session),
        Mode::Flood => (0..FLOOD_LINES).for_each(|_| flood()),
        Mode::FloodForever => loop {
            flood();
        },
        Mode::StderrNoise => write_or_leave(std::io::stderr(), &noise()),
        Mode::NulBytes => {
            write_or_leave(std::io::stdout(), b"info string a\0b\0\n\0\n\xff\xfe\xc3\x28\n");
        }
        Mode::HugeLine => {
            say(&format!("info string {}", "x".repeat(HUGE_LINE_BYTES)));
        }
        Mode::LyingScore => {
            say("info depth 99 seldepth -3 score mate 1 nodes 0 nps 99999999999999999999 time 0");
            say(&format!("info depth 1 score cp 32767 wdl 2000 -5 7 pv {illegal} {illegal} 0000"));
            say("info depth score cp many lowerbound upperbound hashfull 5000 pv");
            say("info currmove currmovenumber score");
        }
        _ => {}
    }
}

fn flood() {
    say("info depth 1 seldepth 1 score cp 0 nodes 1 time 0 string one line of a flood");
}

/// Returns short lines, a long line, and bytes that are not UTF-8.
fn noise() -> Vec<u8> {
    let mut noise = b"puppet: noise \xfe\xff\n".repeat(1000);
    noise.resize(STDERR_NOISE_BYTES, b'n');
    noise
}

/// Writes a line to standard output.
pub fn say(line: &str) {
    write_or_leave(std::io::stdout(), format!("{line}\n").as_bytes());
}

fn print_in_pieces(line: &str, pause: Duration) {
    for piece in line.as_bytes().chunks(3) {
        write_or_leave(std::io::stdout(), piece);
        std::thread::sleep(pause);
    }
}

/// Writes and flushes; ends the process if the reader has closed the stream.
fn write_or_leave(mut stream: impl Write, bytes: &[u8]) {
    if stream.write_all(bytes).and_then(|()| stream.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Does nothing until the process is killed.
pub fn sleep_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

#[expect(clippy::zombie_processes, reason = "to be left behind is what this child is for")]
fn spawn_grandchild(session: &Session) {
    mute(session).spawn().expect("a second puppet can be started");
}

/// Starts a process that is neither in this process group nor a child of this process.
fn spawn_daemon(session: &Session) {
    let puppet = mute(session);
    let mut setsid = Command::new("setsid");
    setsid.arg("--fork").arg(puppet.get_program()).args(puppet.get_args());
    let status = setsid.status().expect("setsid is part of the system");
    assert!(status.success(), "setsid could not start the puppet");
}

/// Allocates and writes memory until an allocation fails, at most 2 GiB.
fn eat_memory() -> ! {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        eaten.push(vec![1; 16 << 20]);
        // A machine without a limit must survive the test.
        assert!(eaten.len() < 128, "2 GiB were given away");
    }
}

/// Replaces this process with a mute puppet without standard output.
fn close_stdout(session: &Session) -> ! {
    let error = mute(session).stdout(Stdio::null()).exec();
    panic!("cannot start the puppet again: {error}");
}

/// Prints `last_words` and replaces this process with a mute puppet without standard input.
fn close_stdin(session: &Session, last_words: &str) -> ! {
    let puppet = mute(session);
    let error = Command::new("/bin/sh")
        .args(["-c", r#"echo "$0"; exec "$@""#, last_words])
        .arg(puppet.get_program())
        .args(puppet.get_args())
        .stdin(Stdio::null())
        .exec();
    panic!("cannot start /bin/sh: {error}");
}

/// Returns the command of a puppet that does nothing, with the marker of this process.
fn mute(session: &Session) -> Command {
    let program = std::env::current_exe().expect("the path of the running program is known");
    let mut command = Command::new(program);
    command.args(["--mode", "mute", "--lifetime-s"]).arg(session.args.lifetime_s.to_string());
    if let Some(marker) = &session.args.marker {
        command.args(["--marker", marker]);
    }
    command
}
