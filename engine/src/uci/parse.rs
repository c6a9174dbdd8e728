//! Parser for input lines. Each line becomes a command, which may be [`Command::Invalid`].

use std::str::SplitAsciiWhitespace;

use crate::chess::perft::DEPTH_MAX;

/// A UCI command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Identify the engine and list the options.
    Uci,
    /// Reply when ready.
    IsReady,
    /// Change an option.
    SetOption { name: String, value: String },
    /// Begin a new game.
    NewGame,
    /// Set up a game from a FEN (or the starting position) and moves.
    Position { fen: Option<String>, moves: Vec<String> },
    /// Search.
    Go(Go),
    /// Run perft to this depth, in plies.
    Perft(u32),
    /// End the search.
    Stop,
    /// The opponent played the expected move.
    PonderHit,
    /// Show the board.
    Display,
    /// Show the static evaluation.
    Evaluate,
    /// Run the bench to this depth, in plies, or to the default depth.
    Bench(Option<u32>),
    /// End the session.
    Quit,
    /// Command without effect.
    Nothing,
    /// Invalid command, with the reason.
    Invalid(String),
}

/// Parameters of `go`. Times are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Go {
    /// Remaining time, White's first.
    pub(super) time: [Option<u64>; 2],
    /// Increment per move, White's first.
    pub(super) increment: [Option<u64>; 2],
    /// Number of moves to the next time control.
    pub(super) moves_to_go: Option<u32>,
    /// Fixed time for the move.
    pub(super) move_time: Option<u64>,
    /// Depth of the last iteration, in plies.
    pub(super) depth: Option<u32>,
    /// Number of nodes to visit.
    pub(super) nodes: Option<u64>,
    /// Maximum number of moves to the requested mate.
    pub(super) mate: Option<u32>,
    /// Search until `stop`.
    pub(super) infinite: bool,
    /// Search on the opponent's time.
    pub(super) ponder: bool,
    /// Moves to search at the root; empty for all moves.
    pub(super) search_moves: Vec<String>,
}

/// Parses one line. As the protocol requires, unknown words before a command are skipped.
pub(super) fn parse(line: &str) -> Command {
    let mut words = line.split_ascii_whitespace();
    let Some(first) = words.clone().next() else {
        return Command::Nothing;
    };
    while let Some(word) = words.next() {
        if let Some(command) = command(word, words.clone()) {
            return command;
        }
    }
    Command::Invalid(format!("unknown command \"{}\"", shortened(first)))
}

/// Returns the command that begins with `word` and continues with the words `rest`; `None` if
/// `word` is unknown.
fn command(word: &str, mut rest: SplitAsciiWhitespace<'_>) -> Option<Command> {
    Some(match word {
        "uci" => Command::Uci,
        "isready" => Command::IsReady,
        "setoption" => parse_option(rest),
        "ucinewgame" => Command::NewGame,
        "position" => parse_position(rest),
        "go" => parse_go(rest),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit,
        "d" => Command::Display,
        "eval" => Command::Evaluate,
        "bench" => match rest.next().map(str::parse) {
            None => Command::Bench(None),
            Some(Ok(depth)) => Command::Bench(Some(depth)),
            Some(Err(_)) => Command::Invalid("bench takes a depth in plies".to_owned()),
        },
        "quit" => Command::Quit,
        "debug" | "register" => Command::Nothing,
        _ => return None,
    })
}

/// Shortens input text for a quotation in a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn parse_option(words: SplitAsciiWhitespace<'_>) -> Command {
    let words: Vec<&str> = words.collect();
    if words.first() != Some(&"name") {
        return Command::Invalid("setoption must be followed by \"name\"".to_owned());
    }
    // Both names and values may contain spaces, so the word `value` separates them.
    let value_at = words.iter().position(|&word| word == "value").unwrap_or(words.len());
    let name = words[1..value_at].join(" ");
    let value = words.get(value_at + 1..).unwrap_or_default().join(" ");
    Command::SetOption { name, value }
}

fn parse_position(mut words: SplitAsciiWhitespace<'_>) -> Command {
    let fen = match words.next() {
        Some("startpos") => None,
        Some("fen") => {
            let fields: Vec<&str> = words.by_ref().take_while(|&word| word != "moves").collect();
            let moves = words.map(str::to_owned).collect();
            return Command::Position { fen: Some(fields.join(" ")), moves };
        }
        _ => {
            return Command::Invalid("position must be followed by startpos or fen".to_owned());
        }
    };
    match words.next() {
        None => Command::Position { fen, moves: Vec::new() },
        Some("moves") => Command::Position { fen, moves: words.map(str::to_owned).collect() },
        Some(other) => {
            let other = shortened(other);
            Command::Invalid(format!("expected moves after startpos, found \"{other}\""))
        }
    }
}

const GO_WORDS: [&str; 13] = [
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "movetime",
    "depth",
    "nodes",
    "mate",
    "infinite",
    "ponder",
    "searchmoves",
    "perft",
];

fn parse_go(words: SplitAsciiWhitespace<'_>) -> Command {
    let mut go = Go::default();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        match word {
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "searchmoves" => {
                while let Some(mv) = words.next_if(|word| !GO_WORDS.contains(word)) {
                    go.search_moves.push(mv.to_owned());
                }
            }
            _ if !GO_WORDS.contains(&word) => {
                let word = shortened(word);
                return Command::Invalid(format!("go does not know \"{word}\""));
            }
            _ => {
                let Some(number) = words.next().and_then(|word| word.parse::<i64>().ok()) else {
                    return Command::Invalid(format!("go {word} must be followed by a number"));
                };
                // A GUI may send a negative number if the clock has run out. A negative number is
                // treated as 0.
                let number = number.max(0) as u64;
                if word == "perft" {
                    return match clipped(number) {
                        depth @ 0..=DEPTH_MAX => Command::Perft(depth),
                        _ => {
                            Command::Invalid(format!("perft goes no deeper than {DEPTH_MAX} plies"))
                        }
                    };
                }
                go.set(word, number);
            }
        }
    }
    Command::Go(go)
}

fn clipped(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Go {
    fn set(&mut self, word: &str, number: u64) {
        match word {
            "wtime" => self.time[0] = Some(number),
            "btime" => self.time[1] = Some(number),
            "winc" => self.increment[0] = Some(number),
            "binc" => self.increment[1] = Some(number),
            "movestogo" => self.moves_to_go = Some(clipped(number)),
            "movetime" => self.move_time = Some(number),
            "depth" => self.depth = Some(clipped(number)),
            "nodes" => self.nodes = Some(number),
            _ => self.mate = Some(clipped(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_parsed() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (line, expected) in [
            ("", Command::Nothing),
            (" \t", Command::Nothing),
            ("uci", Command::Uci),
            ("  isready  ", Command::IsReady),
            ("debug on", Command::Nothing),
            ("joho debug on", Command::Nothing),
            ("hm hm isready", Command::IsReady),
            ("bench 7", Command::Bench(Some(7))),
            ("go perft 3", Command::Perft(3)),
            (
                "setoption name Clear Hash",
                Command::SetOption { name: "Clear Hash".to_owned(), value: String::new() },
            ),
            (
                "setoption name Some Thing value a b",
                Command::SetOption { name: "Some Thing".to_owned(), value: "a b".to_owned() },
            ),
            (
                "position startpos moves e2e4 e7e5",
                Command::Position { fen: None, moves: words("e2e4 e7e5") },
            ),
            (
                "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
                Command::Position {
                    fen: Some("8/8/8/8/8/8/8/8 w - - 0 1".to_owned()),
                    moves: vec![],
                },
            ),
        ] {
            assert_eq!(parse(line), expected, "{line}");
        }
    }

    #[test]
    fn go_parameters_are_parsed() {
        let text = "go searchmoves e2e4 d2d4 wtime -5 btime 300 winc 1 binc 2 movestogo 9 depth 6 \
                    nodes 70 mate 3 movetime 8 ponder infinite";
        let expected = Go {
            time: [Some(0), Some(300)],
            increment: [Some(1), Some(2)],
            moves_to_go: Some(9),
            move_time: Some(8),
            depth: Some(6),
            nodes: Some(70),
            mate: Some(3),
            infinite: true,
            ponder: true,
            search_moves: vec!["e2e4".to_owned(), "d2d4".to_owned()],
        };
        assert_eq!(parse(text), Command::Go(expected));
        assert_eq!(parse("go"), Command::Go(Go::default()));
    }

    #[test]
    fn nonsense_is_invalid() {
        for line in [
            "xyzzy",
            "position",
            "position e4",
            "position startpos e2e4",
            "go depth",
            "go depth x",
            "go perft 65",
            "go perft 4294967296",
            "go wtime 99999999999999999999",
            "go sideways",
            "bench x",
            "setoption",
            "setoption Hash 1",
            "éééééééééééééééééééééééééééééééééééééééééééééééééé",
        ] {
            assert!(matches!(parse(line), Command::Invalid(_)), "{line}");
        }
    }
}
