//! A UCI engine that misbehaves on request.
//!
//! The end-to-end tests need engines that crash, hang, lie and flood at a
//! chosen moment, and one that behaves (`--mode good`) and plays the same game
//! whenever the seed is the same. Start with [`args`] for what can be asked of
//! it, then [`session`] for how a command is answered.
//!
//! It is also a strict listener: a GUI that breaks the protocol (an undeclared
//! option, `go` during a search, an illegal move in `position`) makes it exit
//! with [`PROTOCOL_VIOLATION`] and say why on stderr, so a fault of the harness
//! cannot pass for a fault of the engine.

#![expect(clippy::disallowed_methods, reason = "an engine has a clock")]
#![allow(
    unreachable_pub,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

mod args;
mod board;
mod greeting;
mod input;
mod limits;
mod misdeed;
mod options;
mod session;
mod xboard;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;

use crate::args::{Args, Mode, Proto};
use crate::session::Session;
use crate::xboard::Xboard;

/// Exit status when the other side broke the protocol.
const PROTOCOL_VIOLATION: u8 = 99;

/// Exit status when the process outlived `--lifetime-s`.
const OUTLIVED: i32 = 98;

fn main() -> ExitCode {
    let args = Args::parse();
    if args.ignore_term {
        return restart_ignoring_term();
    }
    end_after(Duration::from_secs(args.lifetime_s));
    match args.mode {
        Mode::ExitAtStart => {
            eprintln!("puppet: exiting at start, as asked");
            ExitCode::FAILURE
        }
        Mode::Mute => misdeed::sleep_for_ever(),
        _ => match talk(args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(violation) => {
                eprintln!("puppet: protocol violation: {violation}");
                ExitCode::from(PROTOCOL_VIOLATION)
            }
        },
    }
}

fn talk(args: Args) -> Result<(), String> {
    match args.proto {
        Proto::Console if !args.uci => console(),
        Proto::Uci | Proto::Console => Session::new(args)?.run(),
        Proto::Xboard => Xboard::new(args)?.run(),
    }
}

/// Takes each line for a move, as engines with a console of their own do.
fn console() -> Result<(), String> {
    for line in std::io::stdin().lines().map_while(Result::ok).filter(|line| line != "quit") {
        misdeed::say(&format!("White (1) : Invalid move: {line}"));
    }
    Ok(())
}

/// Replaces this process by one that ignores SIGTERM.
///
/// A signal that is ignored stays ignored across `exec`, and a shell can ignore
/// one without any unsafe code of ours.
fn restart_ignoring_term() -> ExitCode {
    let program = std::env::current_exe().expect("the path of the running program is known");
    let args = std::env::args_os().skip(1).filter(|arg| arg != "--ignore-term");
    let error = Command::new("/bin/sh")
        .args(["-c", r#"trap '' TERM; exec "$0" "$@""#])
        .arg(program)
        .args(args)
        .exec();
    eprintln!("puppet: cannot start /bin/sh: {error}");
    ExitCode::FAILURE
}

/// Ends the process after `lifetime`, so that a mode that can only be killed
/// does not haunt the machine when a test fails to kill it.
fn end_after(lifetime: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(lifetime);
        std::process::exit(OUTLIVED);
    });
}
