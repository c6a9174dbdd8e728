//! What we say to engines.

use std::fmt;
use std::time::Duration;

/// A command to an engine; its `Display` is the line to send, without the line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Asks for identity and options; the answer ends with `uciok`.
    Uci,
    /// Sets an option.
    SetOption {
        /// Name as the engine declared it.
        name: String,
        /// Value; empty for a button.
        value: String,
    },
    /// Asks for `readyok`.
    IsReady,
    /// The next position belongs to another game.
    UciNewGame,
    /// The position to think about: a complete `position` line.
    Position(String),
    /// Start thinking.
    Go(Go),
    /// A question that is no part of the protocol, such as `go perft 5`.
    Question(String),
    /// Stop thinking and answer.
    Stop,
    /// The opponent played the move that the search has assumed.
    PonderHit,
    /// A line of the user's own.
    Raw(String),
    /// Leave.
    Quit,
}

/// The bounds sent with `go`. Times in milliseconds, rounded down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Go {
    /// White's clock and increment.
    pub white: Option<(Duration, Duration)>,
    /// Black's clock and increment.
    pub black: Option<(Duration, Duration)>,
    /// Moves to the next period of the side to move.
    pub moves_to_go: Option<u32>,
    /// Fixed time for this move.
    pub movetime: Option<Duration>,
    /// Nodes for this move.
    pub nodes: Option<u64>,
    /// Plies for this move.
    pub depth: Option<u32>,
    /// Think on the opponent's time, until told otherwise.
    pub ponder: bool,
}

impl Go {
    /// Takes time that has passed since the clocks were read from that of one side.
    pub fn take_from(&mut self, white: bool, lost: Duration) {
        let clock = if white { &mut self.white } else { &mut self.black };
        if let Some((left, _)) = clock {
            *left = left.saturating_sub(lost);
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Uci => f.write_str("uci"),
            Command::SetOption { name, value } if value.is_empty() => {
                write!(f, "setoption name {name}")
            }
            Command::SetOption { name, value } => write!(f, "setoption name {name} value {value}"),
            Command::IsReady => f.write_str("isready"),
            Command::UciNewGame => f.write_str("ucinewgame"),
            Command::Position(line) | Command::Question(line) => f.write_str(line),
            Command::Go(go) => go.fmt(f),
            Command::PonderHit => f.write_str("ponderhit"),
            Command::Raw(line) => f.write_str(line),
            Command::Stop => f.write_str("stop"),
            Command::Quit => f.write_str("quit"),
        }
    }
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ponder { "go ponder" } else { "go" })?;
        // An engine with an empty clock still has to move; zero would read as "no clock" to some.
        let told = |time: Duration| time.as_millis().max(1);
        if let Some((left, _)) = self.white {
            write!(f, " wtime {}", told(left))?;
        }
        if let Some((left, _)) = self.black {
            write!(f, " btime {}", told(left))?;
        }
        if let Some((_, inc)) = self.white.filter(|(_, inc)| !inc.is_zero()) {
            write!(f, " winc {}", inc.as_millis())?;
        }
        if let Some((_, inc)) = self.black.filter(|(_, inc)| !inc.is_zero()) {
            write!(f, " binc {}", inc.as_millis())?;
        }
        if let Some(moves) = self.moves_to_go {
            write!(f, " movestogo {moves}")?;
        }
        if let Some(time) = self.movetime {
            write!(f, " movetime {}", told(time))?;
        }
        if let Some(nodes) = self.nodes {
            write!(f, " nodes {nodes}")?;
        }
        if let Some(depth) = self.depth {
            write!(f, " depth {depth}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_protocol_lines() {
        let ms = Duration::from_millis;
        let check = |command: Command, line: &str| assert_eq!(command.to_string(), line);
        check(
            Command::SetOption { name: "Clear Hash".into(), value: String::new() },
            "setoption name Clear Hash",
        );
        check(
            Command::Go(Go {
                white: Some((Duration::from_micros(999), ms(10))),
                black: Some((Duration::from_micros(2_999), ms(0))),
                moves_to_go: Some(40),
                ..Go::default()
            }),
            "go wtime 1 btime 2 winc 10 movestogo 40",
        );
        check(
            Command::Go(Go {
                movetime: Some(ms(50)),
                nodes: Some(7),
                depth: Some(3),
                ..Go::default()
            }),
            "go movetime 50 nodes 7 depth 3",
        );
    }
}
