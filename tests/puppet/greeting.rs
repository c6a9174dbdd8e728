//! Answer to `uci`, except for the name.

use crate::args::Mode;
use crate::misdeed::say;
use crate::options::DECLARATIONS;

const MANY_OPTIONS: u32 = 500;

/// Prints the lines before `id name`, in some modes.
pub fn introduce(mode: Mode) {
    match mode {
        Mode::Banner => {
            for line in 1..=40 {
                say(&format!("*** Welcome, line {line}: uciok is what I will say in a moment ***"));
            }
        }
        Mode::ExitAtHandshake => {
            say("id name Puppet");
            std::process::exit(1);
        }
        _ => {}
    }
}

/// Prints the option declarations.
pub fn declare(mode: Mode) {
    match mode {
        Mode::NoOptions => return,
        Mode::BadOptions => {
            for line in [
                "option",
                "option name",
                "option name type spin",
                "option name Wheel type wheel default round",
                "option name Upside Down type spin default 5 min 9 max 1",
                "option name Huge type spin default 1 min -99999999999999999999 max x",
                "option name Empty type combo",
                "option type spin name Late default 1",
                "option name Hash",
            ] {
                say(line);
            }
        }
        Mode::ManyOptions => {
            for number in 1..=MANY_OPTIONS {
                say(&format!("option name Parameter {number} type spin default 0 min -9 max 9"));
            }
        }
        _ => {}
    }
    for declaration in DECLARATIONS {
        if mode == Mode::TwoThreads && declaration.contains("Threads") {
            say(&declaration.replace("default 1", "default 2"))
        } else {
            say(declaration)
        }
    }
}
