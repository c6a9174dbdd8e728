//! UCI options of the puppet: declarations and current values.

/// Option declarations in the answer to `uci`: at least one option of each type, most with names
/// that real engines use.
pub const DECLARATIONS: [&str; 11] = [
    "option name Hash type spin default 16 min 1 max 4096",
    "option name Threads type spin default 1 min 1 max 64",
    "option name Move Overhead type spin default 10 min 0 max 5000",
    "option name Ponder type check default false",
    "option name UCI_Chess960 type check default false",
    "option name Style type combo default Normal var Solid var Normal var Risky",
    "option name SyzygyPath type string default <empty>",
    "option name EvalFile type string default <empty>",
    "option name Courage type spin default 50 min 0 max 100",
    "option name Patience type spin default 0 min -9 max 9",
    "option name Clear Hash type button",
];

/// Options that change the behaviour of the puppet.
#[derive(Debug, Default)]
pub struct Options {
    /// `true` if castling is sent and received as king takes rook.
    pub chess960: bool,
    /// Value of `Style`, 0 for `Normal`. The value is part of the seed of the moves, so a game
    /// shows whether the option was received.
    pub style: u64,
    /// Value of `Courage`, part of the seed of the moves.
    pub courage: u64,
    /// Value of `Patience` minus its minimum, part of the seed of the moves.
    pub patience: u64,
    /// Hash of the file that `EvalFile` names, part of the seed of the moves.
    pub weights: u64,
    /// `true` if the puppet sends a ponder move.
    pub ponder: bool,
}

impl Options {
    /// Returns the part of the seed of the moves that comes from the options.
    pub fn salt(&self) -> u64 {
        self.weights ^ (self.style << 32) ^ (self.courage << 40) ^ (self.patience << 48)
    }

    /// Parses the text after `setoption` and sets the option; an undeclared name or value is an
    /// error, because the harness must not send one.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let rest =
            text.strip_prefix("name ").ok_or_else(|| format!("setoption {text}: no name"))?;
        let (name, value) = match rest.split_once(" value ") {
            Some((name, value)) => (name, Some(value)),
            None => (rest, None),
        };
        let number = value.and_then(|value| value.parse::<i64>().ok());
        let refuse = || Err(format!("option {name} was given the value {value:?}"));
        match (name, value) {
            ("Hash", Some(value)) if within(value, 1, 4096) => {}
            ("Threads", Some(value)) if within(value, 1, 64) => {}
            ("Move Overhead", Some(value)) if within(value, 0, 5000) => {}
            ("Ponder", Some(value @ ("true" | "false"))) => self.ponder = value == "true",
            ("UCI_Chess960", Some(value @ ("true" | "false"))) => self.chess960 = value == "true",
            ("Style", Some("Normal")) => self.style = 0,
            ("Style", Some("Solid")) => self.style = 1,
            ("Style", Some("Risky")) => self.style = 2,
            ("Courage", Some(_)) if number.is_some_and(|n| (0..=100).contains(&n)) => {
                self.courage = number.map_or(0, i64::cast_unsigned);
            }
            ("Patience", Some(_)) if number.is_some_and(|n| (-9..=9).contains(&n)) => {
                self.patience = number.map_or(0, |n| (n + 9).cast_unsigned());
            }
            ("EvalFile", Some(path)) => {
                let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
                let mix =
                    |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                self.weights = bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, mix);
            }
            ("SyzygyPath", Some(_)) | ("Clear Hash", None) => {}
            _ => return refuse(),
        }
        Ok(())
    }
}

fn within(value: &str, min: u32, max: u32) -> bool {
    value.parse::<u32>().is_ok_and(|number| (min..=max).contains(&number))
}
