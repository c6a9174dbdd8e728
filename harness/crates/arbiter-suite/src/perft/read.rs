//! Reads perft suites: EPD (`FEN ;D1 20 ;D2 400`), records (`id`, `epd`, `perft 1 20`) and JSON.

use serde_json::Value;

use super::Case;
use crate::start::Start;
use crate::{Unusable, fields};

/// Deepest count that is taken seriously.
const MAX_DEPTH: u32 = 64;

/// Variants of chess with rules of their own, as they are named in files.
const VARIANTS: [&str; 10] = [
    "atomic",
    "crazyhouse",
    "horde",
    "antichess",
    "giveaway",
    "suicide",
    "racingkings",
    "racing kings",
    "threecheck",
    "3check",
];

/// The variant of chess after which a suite or a position is named.
pub fn variant_of(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    VARIANTS.into_iter().find(|variant| name.contains(variant))
}

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
    let is_json = text.trim_start().starts_with(['{', '[']);
    let entries = if is_json { json_entries(text) } else { text_entries(text) };
    let mut suite = Suite::default();
    for (line, entry) in entries {
        match entry.and_then(|entry| entry.case(line, is_chess960)) {
            Ok(case) => suite.cases.push(case),
            Err(reason) => suite.unusable.push(Unusable::new(line, &reason)),
        }
    }
    suite
}

/// What the file says of a position.
#[derive(Debug, Default)]
struct Entry {
    name: Option<String>,
    position: Option<String>,
    counts: Vec<(u32, u64)>,
}

/// An entry with the number of its line; an error says why it cannot be used.
type NumberedEntry = (usize, Result<Entry, String>);

impl Entry {
    fn case(self, line: usize, is_chess960: bool) -> Result<Case, String> {
        let Entry { name, position, mut counts } = self;
        if let Some(variant) = name.as_deref().and_then(variant_of) {
            return Err(format!("a position of {variant}, a chess variant"));
        }
        let position = position.ok_or("a record without a position")?;
        let (fen, rest) = fields::split(&position)?;
        // Three-check chess has the checks given behind the counters.
        if rest.starts_with('+') {
            return Err("a position of a chess variant".to_owned());
        }
        counts.sort_unstable();
        if counts.is_empty() {
            return Err("no count, such as ;D1 20".to_owned());
        }
        if counts.windows(2).any(|two| two[0].0 == two[1].0 && two[0].1 != two[1].1) {
            return Err("two counts for the same depth".to_owned());
        }
        Ok(Case { line, name, start: Start::read(&fen, is_chess960)?, counts })
    }
}

fn text_entries(text: &str) -> Vec<NumberedEntry> {
    let mut entries = Vec::new();
    // A record of several lines, so far.
    let mut record: Option<(usize, Entry)> = None;
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        if text.is_empty() || text.starts_with('#') || text.starts_with("//") {
            continue;
        }
        let mut refuse = |reason: &str| entries.push((line, Err(reason.to_owned())));
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match (word.trim_end_matches(':'), &mut record) {
            ("epd" | "fen", Some((at, entry))) if entry.position.is_none() => {
                (*at, entry.position) = (line, Some(rest.to_owned()));
            }
            ("perft", None) => refuse("perft without a position before it"),
            ("perft", Some((_, entry))) => match count(rest) {
                Some(count) => entry.counts.push(count),
                None => refuse("expected perft DEPTH COUNT"),
            },
            (word, _) => {
                entries.extend(record.take().map(|(line, entry)| (line, Ok(entry))));
                let unquoted = || Some(rest.trim().trim_matches('"').to_owned());
                match word {
                    "id" => record = Some((line, Entry { name: unquoted(), ..Entry::default() })),
                    "epd" | "fen" => {
                        let position = Some(rest.to_owned());
                        record = Some((line, Entry { position, ..Entry::default() }));
                    }
                    _ => entries.push((line, epd_entry(text))),
                }
            }
        }
    }
    entries.extend(record.map(|(line, entry)| (line, Ok(entry))));
    entries
}

/// A position and its counts on one line.
fn epd_entry(text: &str) -> Result<Entry, String> {
    let (fen, rest) = fields::split(text)?;
    let mut entry = Entry { position: Some(fen), ..Entry::default() };
    for operation in rest.split(';').map(str::trim) {
        let depth = operation.strip_prefix(['D', 'd']);
        if let Some(depth) = depth.filter(|depth| depth.starts_with(|c: char| c.is_ascii_digit())) {
            let count = count(depth).ok_or_else(|| format!("'{operation}' is no count"))?;
            entry.counts.push(count);
        } else if let Some(id) = operation.strip_prefix("id ") {
            entry.name = Some(id.trim().trim_matches('"').to_owned());
        }
    }
    Ok(entry)
}

/// JSON comes in two forms: a list of `{fen, depth, nodes}`, and `testCases` with a start and the
/// positions expected after each move.
fn json_entries(text: &str) -> Vec<NumberedEntry> {
    let file: Value = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(error) => return vec![(error.line(), Err(format!("no JSON: {error}")))],
    };
    let Some(cases) = file.as_array().or_else(|| file["testCases"].as_array()) else {
        let reason = "expected a list, or an object with the list testCases";
        return vec![(1, Err(reason.to_owned()))];
    };
    (1..).zip(cases.iter().map(json_entry)).collect()
}

fn json_entry(case: &Value) -> Result<Entry, String> {
    let (fen, count, about) = match (case["fen"].as_str(), case["start"]["fen"].as_str()) {
        (Some(fen), _) => {
            let depth = case["depth"].as_u64().and_then(|depth| u32::try_from(depth).ok());
            let depth = depth.filter(|depth| *depth <= MAX_DEPTH);
            (fen, depth.zip(case["nodes"].as_u64()), &case["description"])
        }
        (None, Some(fen)) => {
            let moves = case["expected"].as_array().map(|moves| (1, moves.len() as u64));
            (fen, moves, &case["start"]["description"])
        }
        (None, None) => return Err("neither fen nor start.fen".to_owned()),
    };
    let name = about.as_str().map(str::to_owned);
    Ok(Entry { name, position: Some(fen.to_owned()), counts: count.into_iter().collect() })
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
        let variant = "a position of atomic, a chess variant".to_owned();
        assert_eq!(reasons(&format!("id atomic-3\nepd {KINGS}\nperft 1 5")), [(2, variant)]);
        let checks = reasons(&format!("id x\nepd {KINGS} 3+1\nperft 1 5"));
        assert_eq!(checks[0].1, "a position of a chess variant");
        assert_eq!(variant_of("Perft-RacingKings.epd"), Some("racingkings"));
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
