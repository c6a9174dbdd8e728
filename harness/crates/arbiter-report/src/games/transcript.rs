//! Transcript of a game as readable text.

use std::fmt::Write;

use shakmaty::ByColor;

use arbiter_game::text::printable;
use arbiter_game::transcript::{Entry, Mark, Transcript};
use arbiter_names::MAX_NAME;

/// Maximum number of characters shown per line.
const MAX_SHOWN: usize = 400;

/// Formats one line per entry: the time in milliseconds since the first move, the engine, a mark,
/// and the text. The mark is `<-` for a line sent to the engine, `->` for a line from the engine,
/// `!!` for another event, `==` for the start of a game, and `~~` where lines are omitted.
pub fn transcript_text(transcript: &Transcript, names: ByColor<&str>) -> String {
    let names = names.map(|name| printable(name, MAX_NAME));
    let width = names.white.chars().count().max(names.black.chars().count());
    let mut text = String::new();
    for Entry { at_ns, color, mark, text: line } in &transcript.entries {
        let name = &names[*color];
        let arrow = match mark {
            Mark::ToEngine => "<-",
            Mark::FromEngine => "->",
            Mark::Event => "!!",
            // The time of a flush is relevant only for the clocks.
            Mark::Flushed => continue,
            Mark::NewGame => "==",
            Mark::Cut => "~~",
        };
        let line = if *mark == Mark::NewGame { "gets ready for the game" } else { line };
        let shown = printable(line, MAX_SHOWN);
        let cut = if line.chars().count() > MAX_SHOWN { " ..." } else { "" };
        let ms = *at_ns as f64 / 1e6;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{ms:>12.3}  {name:<width$} {arrow} {shown}{cut}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_harmless() {
        let transcript =
            "-12000 W= \n1500000 B< go\n1500001 B. \n2750000 W> info \u{1b}[1m\n".parse().unwrap();
        let text = transcript_text(&transcript, ByColor { white: "A", black: "Long" });
        let expect = "      -0.012  A    == gets ready for the game\n       1.500  Long <- go\n       \
                      2.750  A    -> info \u{fffd}[1m\n";
        assert_eq!(text, expect);
        let long = "a\n".repeat(70_000);
        let text = transcript_text(&transcript, ByColor { white: &long, black: "" });
        assert!(text.lines().count() == 3 && text.len() < 2_000, "{text}");
    }
}
