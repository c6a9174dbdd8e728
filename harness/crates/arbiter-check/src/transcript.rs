//! The transcript of a session with an engine, and the searches in it.

use std::fmt;
use std::time::Duration;

use shakmaty::Chess;

use super::board;

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A line that we sent.
    Sent(String),
    /// A line from the engine.
    Received(String),
    /// A line of its error output; known only when it has exited.
    Error(String),
    /// We closed its input.
    Closed,
    /// What was waited for did not come in time.
    Timeout {
        /// What was waited for.
        awaited: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The engine exited as it was told; the text says how.
    Exited(String),
    /// The engine exited, or closed its output, when it should not have.
    Died(String),
}

/// An event with its time since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedEvent {
    /// The time.
    pub at: Duration,
    /// The event.
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
            Event::Timeout { awaited, limit } => {
                write!(f, "- no {awaited} within {} ms", limit.as_millis())
            }
            Event::Exited(how) | Event::Died(how) => write!(f, "- engine left: {how}"),
        }
    }
}

/// The events of a session in the order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript(pub Vec<TimedEvent>);

/// A search and what was said about it, until the next one began.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    /// The position searched.
    pub position: Chess,
    /// What followed `go`.
    pub go: &'a str,
    /// When it began.
    pub at: Duration,
    /// When it was told to stop.
    pub stop: Option<Duration>,
    /// When the move it pondered on was played.
    pub hit: Option<Duration>,
    /// What followed `info`, with the time.
    pub infos: Vec<(Duration, &'a str)>,
    /// What followed `bestmove`, with the time.
    pub answers: Vec<(Duration, &'a str)>,
}

impl Search<'_> {
    /// The move of its first answer.
    pub fn best(&self) -> Option<&str> {
        self.answers.first().map(|(_, text)| text.split_ascii_whitespace().next().unwrap_or(""))
    }

    /// The time from the beginning to the first answer.
    pub fn duration(&self) -> Option<Duration> {
        self.answers.first().map(|(at, _)| at.saturating_sub(self.at))
    }
}

impl Transcript {
    /// All lines from the engine, with the time.
    pub fn received(&self) -> impl Iterator<Item = (Duration, &str)> {
        self.0.iter().filter_map(|entry| match &entry.event {
            Event::Received(line) => Some((entry.at, line.as_str())),
            _ => None,
        })
    }

    /// The lines that the engine said after we said `line` for the first time.
    pub fn received_after<'a>(&'a self, line: &'a str) -> impl Iterator<Item = &'a str> {
        let said =
            move |entry: &&TimedEvent| !matches!(&entry.event, Event::Sent(sent) if sent == line);
        self.0.iter().skip_while(said).filter_map(|entry| match &entry.event {
            Event::Received(line) => Some(line.as_str()),
            _ => None,
        })
    }

    /// When we said `line` for the last time.
    pub fn sent_at(&self, line: &str) -> Option<Duration> {
        let is_it = |entry: &&TimedEvent| matches!(&entry.event, Event::Sent(sent) if sent == line);
        self.0.iter().rev().find(is_it).map(|entry| entry.at)
    }

    /// A timeout or crash, after which nothing else can be judged.
    pub fn failure(&self) -> Option<String> {
        self.0.iter().find_map(|entry| match &entry.event {
            Event::Timeout { awaited, limit } => {
                Some(format!("no {awaited} within {} ms", limit.as_millis()))
            }
            Event::Died(how) => Some(format!("the engine left: {how}")),
            _ => None,
        })
    }

    /// The searches that were asked for, in their order.
    pub fn searches(&self) -> Vec<Search<'_>> {
        let mut searches: Vec<Search> = Vec::new();
        let mut position = Chess::default();
        let mut is_chess960 = false;
        for TimedEvent { at, event } in &self.0 {
            match event {
                Event::Sent(line) => {
                    let line = line.trim();
                    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                    match word {
                        "setoption" if rest.contains("UCI_Chess960") => {
                            is_chess960 = rest.ends_with("true");
                        }
                        "position" => {
                            position = board::set_up(rest, is_chess960).unwrap_or(position);
                        }
                        "go" => searches.push(Search {
                            position: position.clone(),
                            go: rest,
                            at: *at,
                            stop: None,
                            hit: None,
                            infos: Vec::new(),
                            answers: Vec::new(),
                        }),
                        "stop" | "ponderhit" => {
                            let Some(search) = searches.last_mut() else { continue };
                            let when = match word {
                                "stop" => &mut search.stop,
                                _ => &mut search.hit,
                            };
                            when.get_or_insert(*at);
                        }
                        _ => {}
                    }
                }
                Event::Received(line) => {
                    let Some(search) = searches.last_mut() else { continue };
                    let line = line.trim();
                    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                    match word {
                        "info" => search.infos.push((*at, rest.trim())),
                        "bestmove" => search.answers.push((*at, rest.trim())),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        searches
    }

    /// The transcript as lines for a report. What the engine says at a stretch is cut to `most`
    /// lines, from its beginning and its end; what we said is always there.
    pub fn lines(&self, most: usize) -> Vec<String> {
        let is_heard = |entry: &TimedEvent| matches!(entry.event, Event::Received(_));
        let mut lines = Vec::new();
        for stretch in self.0.chunk_by(|a, b| is_heard(a) == is_heard(b)) {
            let mut shown = stretch.iter().map(|entry| printable(&entry.to_string()));
            if stretch.len() <= most || !is_heard(&stretch[0]) {
                lines.extend(shown);
                continue;
            }
            lines.extend(shown.by_ref().take(most / 2));
            let left_out = stretch.len() - most;
            lines.push(format!("        … {left_out} lines …"));
            lines.extend(shown.skip(left_out));
        }
        lines
    }
}

/// Characters of a line that are shown.
const MAX_SHOWN: usize = 300;

fn printable(line: &str) -> String {
    let shown: String = line
        .chars()
        .take(MAX_SHOWN)
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    if shown.len() < line.len() && line.chars().count() > MAX_SHOWN { shown + "…" } else { shown }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A conversation, one line for each event, 10 ms apart: `> sent`, `< heard`, `- left`,
    /// `= 500` to let milliseconds pass.
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
        assert_eq!(searches[0].best(), Some("e7e5"));
        assert!(searches[0].stop.is_some() && searches[1].stop.is_none());
        assert_eq!(searches[0].infos[0].1, "depth 1 pv e7e5");
        assert_eq!(searches[0].position.turn(), shakmaty::Color::Black);
        use shakmaty::Position;
        assert_eq!(searches[0].duration(), Some(Duration::from_millis(530)));
    }

    #[test]
    fn a_long_speech_is_shown_by_its_ends() {
        let text: String = (0..100).map(|n| format!("< {n}\n")).collect();
        let lines = transcript(&format!("> go\n{text}> stop\n< end")).lines(8);
        assert_eq!(lines.len(), 1 + 9 + 2, "{lines:#?}");
        assert!(lines[4].ends_with("< 3") && lines[6].ends_with("< 96"), "{lines:#?}");
        assert_eq!(lines[5], "        … 92 lines …");
        assert!(lines[11].ends_with("< end"), "{lines:#?}");
        assert!(transcript("< a\u{1b}b").lines(10)[0].ends_with("< a\u{fffd}b"));
    }
}
