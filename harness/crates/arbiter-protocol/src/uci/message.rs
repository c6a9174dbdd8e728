//! What engines say: one line in, one meaning out. Total: no line is an error.

use super::info::Info;
use super::option::OptionDeclaration;

/// The meaning of one line of engine output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// `id name …`
    Name(String),
    /// `id author …`
    Author(String),
    /// `option name …`
    Option(OptionDeclaration),
    /// `uciok`
    UciOk,
    /// `readyok`
    ReadyOk,
    /// `bestmove … [ponder …]`
    BestMove {
        /// The move; empty if the engine named none.
        text: String,
        /// The reply it expects.
        ponder: Option<String>,
    },
    /// `info …`
    Info(Info),
    /// Anything else; engines print greetings and debug text, which is no fault.
    Unknown,
}

impl Message {
    /// Reads one line, without its line end.
    pub fn parse(line: &str) -> Message {
        let line = line.trim();
        let (word, rest) = split_word(line);
        match word {
            "info" => Message::Info(Info::parse(rest)),
            "bestmove" => {
                let (text, rest) = split_word(rest);
                let ponder = match split_word(rest) {
                    ("ponder", reply) => Some(split_word(reply).0.to_owned()),
                    _ => None,
                };
                Message::BestMove { text: text.to_owned(), ponder }
            }
            "readyok" => Message::ReadyOk,
            "uciok" => Message::UciOk,
            "id" => match split_word(rest) {
                ("name", name) => Message::Name(name.to_owned()),
                ("author", author) => Message::Author(author.to_owned()),
                _ => Message::Unknown,
            },
            "option" => OptionDeclaration::parse(rest).map_or(Message::Unknown, Message::Option),
            _ => Message::Unknown,
        }
    }
}

fn split_word(text: &str) -> (&str, &str) {
    match text.split_once(|c: char| c.is_ascii_whitespace()) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_mean_what_they_say() {
        let check = |line: &str, expect: Message| assert_eq!(Message::parse(line), expect);
        check("uciok", Message::UciOk);
        check("  readyok\t", Message::ReadyOk);
        check("id name Deep Thing 1.0", Message::Name("Deep Thing 1.0".into()));
        check("id author A. B.", Message::Author("A. B.".into()));
        let best = |text: &str, ponder: Option<&str>| Message::BestMove {
            text: text.into(),
            ponder: ponder.map(str::to_owned),
        };
        check("bestmove e2e4 ponder e7e5", best("e2e4", Some("e7e5")));
        check("bestmove e2e4  ponder", best("e2e4", Some("")));
        check("bestmove e2e4 e7e5", best("e2e4", None));
        check("bestmove", best("", None));
        check("hello", Message::Unknown);
        check("", Message::Unknown);
        check("id", Message::Unknown);
        check("option nonsense", Message::Unknown);
    }
}
