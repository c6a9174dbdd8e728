//! UCI engine that misbehaves on request.
//!
//! The end-to-end tests need engines that crash, hang, lie and flood at a chosen moment, and a
//! correct engine (`--mode good`) whose games depend only on the seed. [`args`] lists the modes,
//! and [`session`] answers the commands.
//!
//! The puppet also checks its input: if the harness breaks the protocol (an undeclared option, `go`
//! during a search, an illegal move in `position`), the puppet prints the reason to stderr and
//! exits with [`PROTOCOL_VIOLATION`], so an error of the harness cannot look like a fault of the
//! engine.

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

use std::hash::{BuildHasher, RandomState};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;

use crate::args::{Args, Mode, Proto};
use crate::session::Session;
use crate::xboard::Xboard;

/// Exit status after a protocol violation by the harness.
const PROTOCOL_VIOLATION: u8 = 99;

/// Exit status at the end of `--lifetime-s`.
const OUTLIVED: i32 = 98;

fn main() -> ExitCode {
    let mut args = Args::parse();
    if args.vary {
        args.seed = RandomState::new().hash_one(args.seed);
    }
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

/// Treats each line as a move, like an engine with a console interface.
fn console() -> Result<(), String> {
    for line in std::io::stdin().lines().map_while(Result::ok).filter(|line| line != "quit") {
        misdeed::say(&format!("White (1) : Invalid move: {line}"));
    }
    Ok(())
}

/// Replaces this process with a process that ignores SIGTERM.
///
/// An ignored signal stays ignored across `exec`, and a shell can ignore a signal without unsafe
/// code in the puppet.
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

/// Ends the process after `lifetime`, because a test may fail to kill a puppet that does not exit
/// by itself.
fn end_after(lifetime: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(lifetime);
        std::process::exit(OUTLIVED);
    });
}
