//! Transcript of a session with an engine, and the searches in the transcript.

use std::fmt;
use std::time::Duration;

use shakmaty::Chess;

use super::board;
use arbiter_protocol::info_words;

/// Event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Line sent to the engine.
    Sent(String),
    /// Line received from the engine.
    Received(String),
    /// Line from the engine's standard error, recorded only after the exit of the engine.
    Error(String),
    /// The engine's input was closed.
    Closed,
    /// An expected answer did not arrive in time; the text names the answer and the timeout.
    Timeout(String),
    /// The engine exited as requested; the text is the exit status.
    Exited(String),
    /// The engine exited unexpectedly, closed its output or could no longer be used; the text is
    /// the cause.
    Died(String),
}

/// Event with its time since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedEvent {
    /// Time since the start of the process.
    pub at: Duration,
    /// Event at this time.
    pub event: Event,
}

impl fmt::Display for TimedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:7.3} ", self.at.as_secs_f64())?;
        match &self.event {
            Event::Sent(line) => write!(f, "> {line}"),
            Event::Received(line) => write!(f, "< {line}"),
            Event::Error(line) => write!(f, "! {line}"),
            Event::Closed => f.write_str("> (end of input)"),
            Event::Timeout(what) => write!(f, "- {what}"),
            Event::Exited(how) | Event::Died(how) => write!(f, "- engine ended: {how}"),
        }
    }
}

/// Events of a session, in order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript(pub Vec<TimedEvent>);

/// Search with all output until the next search starts.
#[derive(Debug, Clone, Default)]
pub(super) struct Search<'a> {
    /// Position to search.
    pub(super) position: Chess,
    /// Arguments of the `go` command.
    pub(super) go: &'a str,
    /// Time from the start of the process to the `go` command.
    pub(super) at: Duration,
    /// Time from the start of the process to the first `stop` command.
    pub(super) stop: Option<Duration>,
    /// Time from the start of the process to the first `ponderhit` command.
    pub(super) hit: Option<Duration>,
    /// Arguments of all `info` lines.
    pub(super) infos: Vec<EngineLine<'a>>,
    /// Arguments of all `bestmove` lines.
    pub(super) answers: Vec<EngineLine<'a>>,
}

impl<'a> Search<'a> {
    /// Returns the move of the first answer; the empty string if there is no answer.
    pub(super) fn best(&self) -> &'a str {
        self.answers.first().map_or("", |answer| answer.first_word())
    }

    /// Returns the time from the start of the process to the first answer; zero if there is no
    /// answer.
    pub(super) fn answered_at(&self) -> Duration {
        self.answers.first().map_or(Duration::ZERO, |answer| answer.at)
    }

    /// Returns the time from `go` to the first answer; zero if there is no answer.
    pub(super) fn duration(&self) -> Duration {
        self.answered_at().saturating_sub(self.at)
    }

    /// Returns the integer values of the field `key` in all `info` lines, in order.
    pub(super) fn numbers(&self, key: &str) -> impl DoubleEndedIterator<Item = i64> {
        self.infos.iter().filter_map(move |info| info.number(key))
    }

    /// Returns the FEN of the searched position.
    pub(super) fn fen(&self) -> String {
        arbiter_position::fen(&self.position)
    }
}

/// Line from the engine, without its first word.
#[derive(Debug, Clone, Copy)]
pub(super) struct EngineLine<'a> {
    /// Time from the start of the process to the line.
    pub(super) at: Duration,
    /// Text of the line after its first word.
    pub(super) text: &'a str,
}

impl<'a> EngineLine<'a> {
    /// Returns the first word of the text; the empty string if the text contains no word.
    pub(super) fn first_word(&self) -> &'a str {
        split_word(self.text).0
    }

    /// Returns whether the line contains the field.
    pub(super) fn has(&self, field: &str) -> bool {
        info_words(self.text).any(|found| found.field == field)
    }

    /// Returns the value of the field as text.
    pub(super) fn field(&self, field: &str) -> Option<&'a str> {
        // The value is the first word after the name of the field.
        let value = info_words(self.text).find(|found| found.field == field && found.place == 1);
        value.map(|found| found.word)
    }

    /// Returns the value of the field `key`; `None` unless the value is an integer.
    pub(super) fn number(&self, key: &str) -> Option<i64> {
        self.field(key)?.parse().ok()
    }

    /// Returns the moves of the principal variation.
    pub(super) fn pv(&self) -> Vec<&'a str> {
        let words = info_words(self.text).filter(|found| found.field == "pv" && found.place > 0);
        words.map(|found| found.word).collect()
    }

    /// Returns whether the line contains the first variation of a MultiPV search; `true` for a line
    /// without a MultiPV number.
    pub(super) fn is_main_line(&self) -> bool {
        self.number("multipv").is_none_or(|line| line == 1)
    }

    /// Returns whether the score is a bound.
    pub(super) fn is_bound(&self) -> bool {
        self.has("lowerbound") || self.has("upperbound")
    }
}

/// Returns the first word and the rest of a line, both without surrounding white space.
pub(super) fn split_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(char::is_whitespace)
        .map_or((line, ""), |(word, rest)| (word, rest.trim_start()))
}

impl Transcript {
    /// Returns all lines from the engine, with their times.
    pub(super) fn received(&self) -> impl Iterator<Item = (Duration, &str)> {
        self.0.iter().filter_map(|entry| match &entry.event {
            Event::Received(line) => Some((entry.at, line.as_str())),
            _ => None,
        })
    }

    /// Returns the time at which `line` was last sent; zero if `line` was never sent.
    pub(super) fn sent_at(&self, line: &str) -> Duration {
        let is_it = |entry: &&TimedEvent| matches!(&entry.event, Event::Sent(sent) if sent == line);
        self.0.iter().rev().find(is_it).map_or(Duration::ZERO, |entry| entry.at)
    }

    /// Returns a description of the timeout or unexpected exit that ended the session, if any.
    pub(super) fn failure(&self) -> Option<String> {
        self.0.iter().find_map(|entry| match &entry.event {
            Event::Timeout(what) => Some(what.clone()),
            Event::Died(how) => Some(format!("the engine ended: {how}")),
            _ => None,
        })
    }

    /// Returns all searches, in order.
    pub(super) fn searches(&self) -> Vec<Search<'_>> {
        let mut searches: Vec<Search> = Vec::new();
        let mut position = Chess::default();
        let mut is_chess960 = false;
        for TimedEvent { at, event } in &self.0 {
            let (at, Event::Sent(line) | Event::Received(line)) = (*at, event) else { continue };
            let (word, text) = split_word(line);
            let is_sent = matches!(event, Event::Sent(_));
            match (is_sent, word, searches.last_mut()) {
                (true, "setoption", _) if text.contains("UCI_Chess960") => {
                    is_chess960 = text.ends_with("true");
                }
                (true, "position", _) => {
                    // Some checks send invalid positions deliberately. An engine that ignores such
                    // a position keeps the previous position.
                    position = board::set_up(text, is_chess960).unwrap_or(position);
                }
                (true, "go", _) => {
                    let position = position.clone();
                    searches.push(Search { position, go: text, at, ..Search::default() });
                }
                // Only the first `stop` is relevant, because it ends the search.
                (true, "stop", Some(search)) => drop(search.stop.get_or_insert(at)),
                (true, "ponderhit", Some(search)) => drop(search.hit.get_or_insert(at)),
                (false, "info", Some(search)) => search.infos.push(EngineLine { at, text }),
                (false, "bestmove", Some(search)) => search.answers.push(EngineLine { at, text }),
                _ => {}
            }
        }
        searches
    }

    /// Returns the lines of the transcript for a report. All lines sent are included. From each
    /// series of consecutive engine lines, at most `most` lines are included, from the start and
    /// the end of the series.
    pub fn lines(&self, most: usize) -> Vec<String> {
        let is_received = |entry: &TimedEvent| matches!(entry.event, Event::Received(_));
        let mut lines = Vec::new();
        for stretch in self.0.chunk_by(|a, b| is_received(a) == is_received(b)) {
            let mut shown = stretch.iter().map(|entry| printable(&entry.to_string()));
            // All lines sent are shown, because there are few of them, and because they are
            // necessary to reproduce the check by hand.
            if stretch.len() <= most || !is_received(&stretch[0]) {
                lines.extend(shown);
                continue;
            }
            lines.extend(shown.by_ref().take(most / 2));
            let omitted = stretch.len() - most;
            lines.push(format!("        … {omitted} lines …"));
            lines.extend(shown.skip(omitted));
        }
        lines
    }
}

/// Maximum number of characters shown per line.
const MAX_SHOWN: usize = 300;

fn printable(line: &str) -> String {
    let mut rest = line.chars();
    // Control characters could change the state of the user's terminal.
    let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let shown: String = rest.by_ref().take(MAX_SHOWN).map(visible).collect();
    if rest.next().is_some() { shown + "…" } else { shown }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Parses a transcript with one event per line: `> sent`, `< received`, `! stderr` or `-
    /// exited`. The events are 10 ms apart. A line such as `= 500` lets 500 ms pass.
    pub(crate) fn transcript(text: &str) -> Transcript {
        let mut at = Duration::ZERO;
        let mut transcript = Transcript::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (sign, rest) = line.split_at(1);
            let rest = rest.strip_prefix(' ').unwrap_or(rest).to_owned();
            if sign != "=" {
                at += Duration::from_millis(10);
            }
            let event = match sign {
                ">" => Event::Sent(rest),
                "<" => Event::Received(rest),
                "!" => Event::Error(rest),
                "-" => Event::Exited(rest),
                "=" => {
                    at += Duration::from_millis(rest.trim().parse().expect("milliseconds"));
                    continue;
                }
                _ => panic!("{line}"),
            };
            transcript.0.push(TimedEvent { at, event });
        }
        transcript
    }

    #[test]
    fn searches_have_position_and_answers() {
        let transcript = transcript(
            "> position startpos moves e2e4
             > go infinite
             < info depth 1 pv e7e5
             = 500
             > stop
             < bestmove e7e5 ponder g1f3
             < bestmove e7e5
             > go depth 1
             < bestmove a7a6",
        );
        let searches = transcript.searches();
        assert_eq!(searches.len(), 2);
        assert_eq!(searches[0].answers.len(), 2);
        assert_eq!(searches[0].best(), "e7e5");
        assert!(searches[0].stop.is_some() && searches[1].stop.is_none());
        assert_eq!(searches[0].infos[0].text, "depth 1 pv e7e5");
        assert_eq!(searches[0].position.turn(), shakmaty::Color::Black);
        use shakmaty::Position;
        assert_eq!(searches[0].duration(), Duration::from_millis(530));
    }

    #[test]
    fn long_transcripts_are_shortened_in_the_middle() {
        let text: String = (0..100).map(|n| format!("< {n}\n")).collect();
        let lines = transcript(&format!("> go\n{text}> stop\n< end")).lines(8);
        assert_eq!(lines.len(), 1 + 9 + 2, "{lines:#?}");
        assert!(lines[4].ends_with("< 3") && lines[6].ends_with("< 96"), "{lines:#?}");
        assert_eq!(lines[5], "        … 92 lines …");
        assert!(lines[11].ends_with("< end"), "{lines:#?}");
        assert!(transcript("< a\u{1b}b").lines(10)[0].ends_with("< a\u{fffd}b"));
    }
}
