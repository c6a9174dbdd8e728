//! Tests that the misbehaving engine behaves as documented.
//!
//! The tests of the harness blame the harness for every failure, so the behaviour of the puppet
//! must be certain first.

mod modes;
mod play;

use std::process::Command;

use crate::support::programs::puppet;
use crate::support::talk::Talk;

/// Starts a puppet and completes the UCI handshake.
fn greeted(args: &str) -> Talk {
    let mut talk = started(args);
    talk.send("uci");
    talk.read_until("uciok");
    talk
}

/// Starts a puppet without sending anything.
fn started(args: &str) -> Talk {
    Talk::start(Command::new(puppet()).args(args.split_whitespace()))
}

/// Returns the output of `--help`.
fn help() -> String {
    let output = Command::new(puppet()).arg("--help").output().expect("the puppet can be started");
    String::from_utf8(output.stdout).expect("the help is UTF-8")
}

/// Returns the modes that the help lists.
pub fn mode_names() -> Vec<String> {
    let help = help();
    let values = help.split("Possible values:").nth(1).expect("modes are listed");
    let values = values.split("[default").next().expect("a list ends");
    values
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "))
        .map(|line| line.split_once(':').expect("each mode has a description").0.to_owned())
        .collect()
}
