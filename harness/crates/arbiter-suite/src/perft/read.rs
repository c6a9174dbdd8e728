//! Parser of perft suites in three formats: EPD (`FEN ;D1 20 ;D2 400`), records (`id`, `epd`,
//! `perft 1 20`) and JSON.

use serde_json::Value;
use shakmaty::Chess;

use super::Case;
use super::walk::leaves;
use crate::Suite;
use arbiter_names::whole_number;
use arbiter_position::{Operation, Start, lines};

/// Maximum depth, in plies. A greater number is a count or a mistake, because no program can count
/// to such a depth.
const MAX_DEPTH: u64 = 64;

/// Reasons why a count cannot be used.
const NO_COUNT: &str = "is not a count";
const TOO_DEEP: &str = "has a depth above 64";
const TOO_GREAT: &str = "has a count above 2^64 - 1";

/// Chess variants with other rules, as named in files.
const VARIANTS: &str =
    "atomic,crazyhouse,horde,antichess,giveaway,suicide,racingkings,racing kings,threecheck,3check";

/// Returns the chess variant that occurs in the name of a suite or position.
pub fn variant_of(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    VARIANTS.split(',').find(|variant| name.contains(variant))
}

/// Parses a suite in any of the formats. If `is_chess960` is `true`, all positions get the castling
/// mode of Chess960. Otherwise, only positions that require this mode get the mode.
pub fn read(text: &str, is_chess960: bool) -> Suite<Case> {
    // A bracket alone does not show that the text is JSON, because a PGN tag also starts with a
    // bracket.
    let is_blank = |c: char| c.is_whitespace() || c == '[';
    let is_json = text.trim_start_matches(is_blank).starts_with('{');
    let entries = if is_json { json_entries(text) } else { text_entries(text) };
    let cases = entries
        .into_iter()
        .map(|(line, entry)| (line, entry.and_then(|entry| entry.case(line, is_chess960))));
    Suite::collect(cases, |case| &case.start)
}

/// Entry for one position before the position is parsed.
#[derive(Debug, Default)]
struct Entry {
    name: Option<String>,
    position: Option<String>,
    counts: Vec<(u32, u64)>,
}

/// Entry with its line number. The error is the reason why the entry cannot be used.
type NumberedEntry = (usize, Result<Entry, String>);

impl Entry {
    fn case(mut self, line: usize, is_chess960: bool) -> Result<Case, String> {
        // By the rules of standard chess, the counts would differ, and the suite or the engine
        // would seem to be wrong.
        if let Some(variant) = self.name.as_deref().and_then(variant_of) {
            return Err(format!("a position of {variant}, a chess variant"));
        }
        let position = self.position.take().ok_or("a record without a position")?;
        let (start, rest) = Start::split(&position, is_chess960)?;
        let rest = rest.trim();
        match bare_counts(rest, &start.position)? {
            Some(found) => self.counts.extend(found),
            None => self.operations(rest)?,
        }
        let Entry { name, mut counts, .. } = self;
        // The counts are sorted, because callers take the last count within the limits.
        counts.sort_unstable();
        counts.dedup();
        // At depth 0, the count is 1 in every position, so no search can be wrong.
        if counts.first() == Some(&(0, 1)) {
            counts.remove(0);
        }
        if let Some((0, count)) = counts.first() {
            return Err(format!("the count for depth 0 is 1, not {count}"));
        }
        if counts.is_empty() {
            return Err("no count (such as ;D1 20)".to_owned());
        }
        // One of the two counts must be wrong, but the wrong count is unknown.
        if counts.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err("two counts for the same depth".to_owned());
        }
        Ok(Case { line, name, start, counts })
    }

    /// Reads the counts and the name from the operations after a position.
    fn operations(&mut self, rest: &str) -> Result<(), String> {
        for Operation { opcode, operand } in arbiter_position::operations(rest) {
            if opcode == "id" {
                self.name = Some(operand);
                continue;
            }
            let operation = format!("{opcode} {operand}");
            // `depth` is tried before `d`, which is its first letter.
            let depth =
                ["perft", "depth", "d"].iter().find_map(|sign| operation.strip_prefix(sign));
            let depth = depth.map(str::trim_start);
            // Other operations, such as `dm`, start with the same letters.
            if let Some(depth) =
                depth.filter(|depth| depth.starts_with(|c: char| c.is_ascii_digit()))
            {
                self.counts.push(count(depth).map_err(|reason| format!("'{operation}' {reason}"))?);
            }
        }
        Ok(())
    }
}

/// Parses `| DEPTH | COUNT`, or a list of counts for depths 1, 2 and so on. The first count of a
/// list must be the number of legal moves. Returns `None` if the text contains anything but
/// numbers.
fn bare_counts(rest: &str, position: &Chess) -> Result<Option<Vec<(u32, u64)>>, String> {
    let words = rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '|'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    if words.is_empty() || !words.iter().all(is_number) {
        return Ok(None);
    }
    let numbers: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
    let numbers = numbers.ok_or_else(|| format!("'{rest}' {TOO_GREAT}"))?;
    // `| 20 | 400` may be a depth and a count, or the counts for depths 1 and 2. The numbers are
    // counts if the first number is the number of legal moves and the second is the count for depth
    // 2.
    let is_list = numbers[0] == leaves(position, 1);
    if let [depth @ 1..=MAX_DEPTH, count] = numbers[..]
        && rest.starts_with('|')
        && !(is_list && count == leaves(position, 2))
    {
        return Ok(Some(vec![(depth as u32, count)]));
    }
    if !is_list || numbers.len() as u64 > MAX_DEPTH {
        let moves = leaves(position, 1);
        return Err(format!("'{rest}' is not a list of counts from depth 1, which has {moves}"));
    }
    Ok(Some((1..).zip(numbers).collect()))
}

fn text_entries(text: &str) -> Vec<NumberedEntry> {
    let mut entries = Vec::new();
    // Multi-line record that is being read.
    let mut record: Option<(usize, Entry)> = None;
    for (line, text) in lines(text) {
        let mut refuse = |reason: &str| entries.push((line, Err(reason.to_owned())));
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match (word.trim_end_matches(':').to_ascii_lowercase().as_str(), &mut record) {
            // A fault is reported with the line of the position. This line may follow the line of
            // the `id`.
            ("epd" | "fen", Some((at, entry))) if entry.position.is_none() => {
                (*at, entry.position) = (line, Some(rest.to_owned()));
            }
            ("perft", None) => refuse("perft without a position before it"),
            ("perft", Some((_, entry))) => match count(rest) {
                Ok(count) => entry.counts.push(count),
                Err(reason) => refuse(&format!("'{text}' {reason}")),
            },
            (word, _) => {
                // Any other line ends the preceding record.
                entries.extend(record.take().map(|(line, entry)| (line, Ok(entry))));
                let mut entry = Entry::default();
                match word {
                    "id" => entry.name = Some(rest.trim().trim_matches('"').to_owned()),
                    "epd" | "fen" => entry.position = Some(rest.to_owned()),
                    _ => entry.position = Some(text.to_owned()),
                }
                record = Some((line, entry));
            }
        }
    }
    entries.extend(record.map(|(line, entry)| (line, Ok(entry))));
    entries
}

/// Parses JSON in two forms: a list of `{fen, depth, nodes}`, and `testCases` with a starting
/// position and the positions expected after each legal move.
fn json_entries(text: &str) -> Vec<NumberedEntry> {
    let file: Value = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(error) => return vec![(error.line(), Err(format!("invalid JSON: {error}")))],
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
            // Some files write numbers as strings.
            let text = format!("{} {}", case["depth"], case["nodes"]).replace('"', "");
            let read = || count(&text).map_err(|reason| format!("'{text}' {reason}"));
            let count = (text != "null null").then(read).transpose()?;
            (fen, count, &case["description"])
        }
        (None, Some(fen)) => {
            // The positions after each legal move are the leaves at depth 1.
            let moves = case["expected"].as_array().map(|moves| (1, moves.len() as u64));
            (fen, moves, &case["start"]["description"])
        }
        (None, None) => return Err("neither fen nor start.fen".to_owned()),
    };
    let name = about.as_str().map(str::to_owned);
    Ok(Entry { name, position: Some(fen.to_owned()), counts: count.into_iter().collect() })
}

/// Parses `DEPTH COUNT`. Also accepts an equals sign or a colon between the numbers, and grouped
/// digits. The error completes a sentence that begins with the text.
fn count(text: &str) -> Result<(u32, u64), &'static str> {
    let is_space = |c: char| c.is_whitespace() || matches!(c, '=' | ':');
    let words: Vec<&str> = text.split(is_space).filter(|word| !word.is_empty()).collect();
    // Further words may be the rest of a number with spaces, so the count would be uncertain.
    let [depth, nodes] = words[..] else { return Err(NO_COUNT) };
    let depth: u64 = depth.parse().map_err(|_| NO_COUNT)?;
    let nodes = nodes.trim_end_matches([',', '.']);
    let is_digit = |c: char| c.is_ascii_digit();
    let is_great = nodes.matches(is_digit).count() > 19 && nodes.ends_with(is_digit);
    let reason = if is_great { TOO_GREAT } else { NO_COUNT };
    let nodes = whole_number(nodes).ok_or(reason)?;
    if depth > MAX_DEPTH { Err(TOO_DEEP) } else { Ok((depth as u32, nodes)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LineFault;

    const KINGS: &str = "4k3/8/8/8/8/8/8/4K3 w - -";

    fn counts(text: &str) -> Vec<Vec<(u32, u64)>> {
        let suite = read(text, false);
        assert_eq!(suite.unusable, [], "{text}");
        suite.cases.into_iter().map(|case| case.counts).collect()
    }

    #[test]
    fn epd_lines_are_parsed() {
        let expect = [[(1, 5), (2, 25)]];
        assert_eq!(counts(&format!("{KINGS} 0 1 ;D1 5 ;D2 25\r\n\0")), expect);
        assert_eq!(counts(&format!("# kings\n\n{KINGS} 0 1; D1 5; D2 25;")), expect);
        assert_eq!(counts(&format!("{KINGS};d2 = 25;id \"kings\";d1 5")), expect);
        assert_eq!(counts(&format!("{KINGS} ;D3 1_700")), [[(3, 1700)]]);
        assert_eq!(counts(&format!("{KINGS} ;D0 1 ;D1 5 ;D2 25")), expect);
        for tail in [
            "0 1,5,25",
            ",5,25",
            ", 5, 25",
            "0 1;5;25",
            "0 1 5 25",
            "| 5 | 25",
            "D1 5; D2 25;",
            ";D1: 5 ;D2: 25",
            "; depth 1 5; depth 2 25",
            "; perft 1 = 5; perft 2 = 25",
            "d1 5; d2 25",
        ] {
            assert_eq!(counts(&format!("{KINGS} {tail}")), expect, "{tail}");
        }
        assert_eq!(counts(&format!("\"{KINGS} 0 1\",5,25")), expect);
        assert_eq!(counts(&format!("{KINGS} 0 1 | 3 | 170")), [[(3, 170)]]);
        assert_eq!(counts(&format!("{KINGS}|4|1156")), [[(4, 1156)]]);
        assert_eq!(counts(&format!("{KINGS} | 5 | 7000")), [[(5, 7000)]]);
    }

    #[test]
    fn all_comments_and_line_ends_are_recognized() {
        let text = format!("; a\n% b\n// c\n{KINGS} ;D1 5\u{2028}{KINGS} ;D2 25\u{85}\u{c}");
        assert_eq!(counts(&text), [[(1, 5)], [(2, 25)]]);
    }

    #[test]
    fn impossible_castling_rights_are_corrected() {
        let suite = read("4k3/8/8/8/8/8/8/4K3 w K e6 0 1 ;D1 5", false);
        let reason = "ignored as impossible: castling with h1, en passant on e6";
        assert_eq!(suite.corrected, [LineFault { line: 1, reason: reason.to_owned() }]);
        assert_eq!(suite.cases[0].start.fen(), format!("{KINGS} 0 1"));
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
        // Names are optional, and so is the word before the position.
        assert_eq!(counts(&format!("{KINGS} 0 1\nperft 1 5\n{KINGS} ;D2 25")).len(), 2);
        assert_eq!(counts(&format!("{KINGS} ;D1 5\nPERFT 2 25")), [[(1, 5), (2, 25)]]);
        assert_eq!(counts(&format!("epd {KINGS}\nperft 1 5\nepd {KINGS}\nperft 2 25")).len(), 2);
    }

    #[test]
    fn json() {
        let list = format!(r#"[{{"fen": "{KINGS} 0 1", "depth": 2, "nodes": 25}}]"#);
        assert_eq!(counts(&list), [[(2, 25)]]);
        assert_eq!(counts(&list.replace("25", "\"25\"")), [[(2, 25)]]);
        let moves = format!(
            r#"{{"testCases": [{{"start": {{"fen": "{KINGS} 0 1"}}, "expected":
               [{{"move": "Kd1"}}, {{"move": "Kf1"}}, {{"move": "Kd2"}}]}}]}}"#
        );
        assert_eq!(counts(&moves), [[(1, 3)]]);
        let broken = read("[{\n", false);
        assert_eq!(broken.unusable.len(), 1);
        assert!(broken.unusable[0].reason.starts_with("invalid JSON"), "{broken:?}");
    }

    #[test]
    fn unusable_lines_are_reported() {
        let reasons = |text: &str| -> Vec<(usize, String)> {
            let unusable = read(text, false).unusable.into_iter();
            unusable.map(|unusable| (unusable.line, unusable.reason)).collect()
        };
        let string = format!("{KINGS} id \"was; D3 8903;\"; D2 400;");
        assert_eq!(counts(&string), [[(2, 400)]]);
        assert_eq!(reasons(KINGS), [(1, "no count (such as ;D1 20)".to_owned())]);
        assert_eq!(reasons(&format!("\n{KINGS} ;D1 x")), [(2, "'d1 x' is not a count".to_owned())]);
        assert_eq!(reasons(&format!("{KINGS} ;D1 5 ;D1 6"))[0].1, "two counts for the same depth");
        assert_eq!(reasons("perft 1 20").len(), 1);
        let variant = "a position of atomic, a chess variant".to_owned();
        assert_eq!(reasons(&format!("id atomic-3\nepd {KINGS}\nperft 1 5")), [(2, variant)]);
        let moves =
            "expected a position, got a position and moves; give the position after the moves";
        for tail in ["0 1 moves e1e2 ;D1 5", "e1e2 e8e7;D1 8", "0 1 Ke2 ;D1 5"] {
            assert_eq!(reasons(&format!("{KINGS} {tail}")), [(1, moves.to_owned())], "{tail}");
        }
        let checks = reasons(&format!("id x\nepd {KINGS} 3+1\nperft 1 5"));
        assert_eq!(checks[0].1, format!("expected chess or Chess960, got `{KINGS} 3+1`"));
        for tail in [",6,25", ",3,170", "0 1 3 170", "| 3", "| 99 | 5", ";4;25"] {
            let reason = &reasons(&format!("{KINGS} {tail}"))[0].1;
            assert!(
                reason.ends_with("is not a list of counts from depth 1, which has 5"),
                "{reason}"
            );
        }
        for (reason, tails) in [
            (NO_COUNT, &[";D1 1.700", ";D1 5 6", ";D1 5k"][..]),
            (TOO_DEEP, &[";D65 1"]),
            (
                TOO_GREAT,
                &[
                    ";D9 18446744073709551616",
                    ";D9 18,446,744,073,709,551,616",
                    ",5,18446744073709551616",
                ],
            ),
            ("the count for depth 0 is 1, not 5", &[";D0 5"]),
        ] {
            for tail in tails {
                assert!(reasons(&format!("{KINGS} {tail}"))[0].1.ends_with(reason), "{tail}");
            }
        }
        for nodes in ["18446744073709551616", "1e30"] {
            let json = format!(r#"[{{"fen": "{KINGS}", "depth": 9, "nodes": {nodes}}}]"#);
            assert!(reasons(&json)[0].1.starts_with("'9 "), "{:?}", reasons(&json));
        }
        assert_eq!(reasons(&format!("epd {KINGS}\nperft 1 x"))[0].1, "'perft 1 x' is not a count");
        assert_eq!(variant_of("Perft-RacingKings.epd"), Some("racingkings"));
        assert_eq!(reasons("id x\nperft 1 20").len(), 1);
        assert_eq!(reasons("4k3/8/8/8/8/8/8 w - - ;D1 5").len(), 1);
    }

    #[test]
    fn the_deepest_count_within_the_limits_is_chosen() {
        let case = &read(&format!("{KINGS} ;D1 5 ;D2 25 ;D3 170"), false).cases[0];
        assert_eq!(case.within(9, 1000), Some((3, 170)));
        assert_eq!(case.within(2, 1000), Some((2, 25)));
        assert_eq!(case.within(9, 30), Some((2, 25)));
        assert_eq!(case.within(9, 4), None);
    }
}
