//! The misbehaving engine keeps its promises.
//!
//! The tests of the harness blame the harness for what they see, so what the
//! puppet does must be certain first.

mod modes;
mod play;

use std::process::Command;

use crate::support::programs::puppet;
use crate::support::talk::Talk;

/// A puppet that has been greeted.
fn greeted(args: &str) -> Talk {
    let mut talk = started(args);
    talk.send("uci");
    talk.read_until("uciok");
    talk
}

/// Starts a puppet and sends it nothing.
fn started(args: &str) -> Talk {
    Talk::start(Command::new(puppet()).args(args.split_whitespace()))
}

/// Returns the output of `--help`.
fn help() -> String {
    let output = Command::new(puppet()).arg("--help").output().expect("the puppet can be started");
    String::from_utf8(output.stdout).expect("the help is UTF-8")
}

/// The modes that the help lists, each with a description.
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
