//! Reads perft suites: EPD (`FEN ;D1 20 ;D2 400`), records (`id`, `epd`, `perft 1 20`) and JSON.

use serde_json::Value;

use super::Case;
use crate::start::Start;
use crate::{Unusable, fields};

/// Deepest count that is taken seriously.
const MAX_DEPTH: u32 = 64;

/// A suite as read.
#[derive(Debug, Default)]
pub struct Suite {
    /// Its positions, in the order of the file.
    pub cases: Vec<Case>,
    /// What could not be used.
    pub unusable: Vec<Unusable>,
}

/// Reads a suite in any of the formats; all positions are Chess960 if `is_chess960`, else those
/// that need it.
pub fn read(text: &str, is_chess960: bool) -> Suite {
    let mut reader = Reader { is_chess960, suite: Suite::default(), record: None };
    if text.trim_start().starts_with(['{', '[']) {
        reader.json(text);
    } else {
        for (line, text) in (1..).zip(text.lines()) {
            reader.line(line, text.trim_matches(|c: char| c.is_whitespace() || c == '\0'));
        }
        reader.end_record();
    }
    reader.suite
}

/// A record of several lines, so far.
#[derive(Debug, Default)]
struct Record {
    line: usize,
    name: Option<String>,
    position: Option<String>,
    counts: Vec<(u32, u64)>,
}

struct Reader {
    is_chess960: bool,
    suite: Suite,
    record: Option<Record>,
}

impl Reader {
    fn line(&mut self, line: usize, text: &str) {
        if text.is_empty() || text.starts_with('#') || text.starts_with("//") {
            return;
        }
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word.trim_end_matches(':') {
            "id" => {
                self.end_record();
                let name = rest.trim().trim_matches('"').to_owned();
                self.record = Some(Record { line, name: Some(name), ..Record::default() });
            }
            "epd" | "fen" => {
                if self.record.as_ref().is_none_or(|record| record.position.is_some()) {
                    self.end_record();
                    self.record = Some(Record::default());
                }
                let record = self.record.get_or_insert_default();
                (record.line, record.position) = (line, Some(rest.to_owned()));
            }
            "perft" => match (&mut self.record, count(rest)) {
                (Some(record), Some(count)) => record.counts.push(count),
                (None, _) => self.refuse(line, "perft without a position before it"),
                (_, None) => self.refuse(line, "expected perft DEPTH COUNT"),
            },
            _ => {
                self.end_record();
                self.epd(line, text);
            }
        }
    }

    fn epd(&mut self, line: usize, text: &str) {
        let (fen, rest) = match fields::split(text) {
            Ok(split) => split,
            Err(reason) => return self.refuse(line, &reason),
        };
        let mut counts = Vec::new();
        let mut name = None;
        for operation in rest.split(';').map(str::trim) {
            if let Some(depth) = operation.strip_prefix(['D', 'd'])
                && depth.starts_with(|c: char| c.is_ascii_digit())
            {
                match count(depth) {
                    Some(count) => counts.push(count),
                    None => return self.refuse(line, &format!("'{operation}' is no count")),
                }
            } else if let Some(id) = operation.strip_prefix("id ") {
                name = Some(id.trim().trim_matches('"').to_owned());
            }
        }
        self.add(line, name, &fen, counts);
    }

    fn end_record(&mut self) {
        let Some(record) = self.record.take() else { return };
        let Record { line, name, position, counts } = record;
        let Some(position) = position else {
            return self.refuse(line, "a record without a position");
        };
        match fields::split(&position) {
            Ok((fen, _)) => self.add(line, name, &fen, counts),
            Err(reason) => self.refuse(line, &reason),
        }
    }

    /// JSON comes in two forms: a list of `{fen, depth, nodes}`, and `testCases` with a start and
    /// the positions expected after each move.
    fn json(&mut self, text: &str) {
        let file: Value = match serde_json::from_str(text) {
            Ok(file) => file,
            Err(error) => return self.refuse(error.line(), &format!("no JSON: {error}")),
        };
        let Some(cases) = file.as_array().or_else(|| file["testCases"].as_array()) else {
            return self.refuse(1, "expected a list, or an object with the list testCases");
        };
        for (number, case) in (1..).zip(cases) {
            let (fen, counts, about) = match (case["fen"].as_str(), case["start"]["fen"].as_str()) {
                (Some(fen), _) => {
                    let depth = case["depth"].as_u64().and_then(|depth| u32::try_from(depth).ok());
                    let nodes = case["nodes"].as_u64();
                    let counts = depth.zip(nodes).filter(|(depth, _)| *depth <= MAX_DEPTH);
                    (fen, counts.into_iter().collect(), &case["description"])
                }
                (None, Some(fen)) => {
                    let moves = case["expected"].as_array().map(|moves| (1, moves.len() as u64));
                    (fen, moves.into_iter().collect(), &case["start"]["description"])
                }
                (None, None) => {
                    self.refuse(number, "neither fen nor start.fen");
                    continue;
                }
            };
            match fields::split(fen) {
                Ok((fen, _)) => self.add(number, about.as_str().map(str::to_owned), &fen, counts),
                Err(reason) => self.refuse(number, &reason),
            }
        }
    }

    fn add(&mut self, line: usize, name: Option<String>, fen: &str, mut counts: Vec<(u32, u64)>) {
        counts.sort_unstable();
        if counts.is_empty() {
            return self.refuse(line, "no count, such as ;D1 20");
        }
        if counts.windows(2).any(|two| two[0].0 == two[1].0 && two[0].1 != two[1].1) {
            return self.refuse(line, "two counts for the same depth");
        }
        match Start::read(fen, self.is_chess960) {
            Ok(start) => self.suite.cases.push(Case { line, name, start, counts }),
            Err(reason) => self.refuse(line, &reason),
        }
    }

    fn refuse(&mut self, line: usize, reason: &str) {
        self.suite.unusable.push(Unusable::new(line, reason));
    }
}

/// `DEPTH COUNT`, also with a sign of equality, and with digits in groups.
fn count(text: &str) -> Option<(u32, u64)> {
    let is_space = |c: char| c.is_whitespace() || matches!(c, '=' | ':');
    let mut words = text.split(is_space).filter(|word| !word.is_empty());
    let depth = words.next()?.parse().ok().filter(|depth| (1..=MAX_DEPTH).contains(depth))?;
    let digits: String = words.next()?.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let nodes = digits.parse().ok()?;
    words.next().is_none().then_some((depth, nodes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINGS: &str = "4k3/8/8/8/8/8/8/4K3 w - -";

    fn counts(text: &str) -> Vec<Vec<(u32, u64)>> {
        let suite = read(text, false);
        assert_eq!(suite.unusable, [], "{text}");
        suite.cases.into_iter().map(|case| case.counts).collect()
    }

    #[test]
    fn epd_lines() {
        let expect = [[(1, 5), (2, 25)]];
        assert_eq!(counts(&format!("{KINGS} 0 1 ;D1 5 ;D2 25\r\n\0")), expect);
        assert_eq!(counts(&format!("# kings\n\n{KINGS} 0 1; D1 5; D2 25;")), expect);
        assert_eq!(counts(&format!("{KINGS};d2 = 25;id \"kings\";d1 5")), expect);
        assert_eq!(counts(&format!("{KINGS} ;D3 1_700")), [[(3, 1700)]]);
    }

    #[test]
    fn records() {
        let text = format!(
            "# two\n\nid one\nepd {KINGS}\nperft 1 5\nperft 2 25\n\nid two\nepd {KINGS}\nperft 1 5\n"
        );
        assert_eq!(counts(&text), [vec![(1, 5), (2, 25)], vec![(1, 5)]]);
        let suite = read(&text, false);
        assert_eq!(suite.cases[1].name.as_deref(), Some("two"));
        assert_eq!(suite.cases[1].line, 9);
        // Names are no must.
        assert_eq!(counts(&format!("epd {KINGS}\nperft 1 5\nepd {KINGS}\nperft 2 25")).len(), 2);
    }

    #[test]
    fn json() {
        let list = format!(r#"[{{"fen": "{KINGS} 0 1", "depth": 2, "nodes": 25}}]"#);
        assert_eq!(counts(&list), [[(2, 25)]]);
        let moves = format!(
            r#"{{"testCases": [{{"start": {{"fen": "{KINGS} 0 1"}}, "expected":
               [{{"move": "Kd1"}}, {{"move": "Kf1"}}, {{"move": "Kd2"}}]}}]}}"#
        );
        assert_eq!(counts(&moves), [[(1, 3)]]);
        let broken = read("[{\n", false);
        assert_eq!(broken.unusable.len(), 1);
        assert!(broken.unusable[0].reason.starts_with("no JSON"), "{broken:?}");
    }

    #[test]
    fn unusable_lines_are_named() {
        let reasons = |text: &str| -> Vec<(usize, String)> {
            let unusable = read(text, false).unusable.into_iter();
            unusable.map(|unusable| (unusable.line, unusable.reason)).collect()
        };
        assert_eq!(reasons(KINGS), [(1, "no count, such as ;D1 20".to_owned())]);
        assert_eq!(reasons(&format!("\n{KINGS} ;D1 x")), [(2, "'D1 x' is no count".to_owned())]);
        assert_eq!(reasons(&format!("{KINGS} ;D1 5 ;D1 6"))[0].1, "two counts for the same depth");
        assert_eq!(reasons("perft 1 20").len(), 1);
        assert_eq!(reasons("id x\nperft 1 20").len(), 1);
        assert_eq!(reasons("4k3/8/8/8/8/8/8 w - - ;D1 5").len(), 1);
    }

    #[test]
    fn the_deepest_count_within_the_limits() {
        let case = &read(&format!("{KINGS} ;D1 5 ;D2 25 ;D3 170"), false).cases[0];
        let limits = |depth, nodes| super::super::Limits { depth, nodes };
        assert_eq!(case.within(limits(9, 1000)), Some((3, 170)));
        assert_eq!(case.within(limits(2, 1000)), Some((2, 25)));
        assert_eq!(case.within(limits(9, 30)), Some((2, 25)));
        assert_eq!(case.within(limits(9, 4)), None);
    }
}
