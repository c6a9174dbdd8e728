//! Perft suites: positions with known leaf counts.
//!
//! Three common formats are supported:
//!
//! - one line per position: `FEN ;D1 20 ;D2 400`
//! - one block per position: `epd FEN`, then lines such as `perft 1 20`; `#` begins a comment
//! - a JSON object with test cases: each case has a starting position and all positions expected
//!   after one move

mod json;

use std::fmt;

use super::fen::{self, FenError};
use super::position::Position;

/// Position with its expected leaf counts.
#[derive(Clone, Debug)]
pub struct Case {
    /// FEN as written in the suite.
    pub fen: String,
    /// Position that the FEN describes.
    pub position: Position,
    /// Depths in plies, each with the expected number of leaves.
    pub counts: Vec<(u32, u64)>,
    /// All positions after one move, if the suite lists them.
    pub successors: Option<Vec<Position>>,
}

impl Case {
    /// Returns whether the positions after one move match the positions that the suite lists. The
    /// result is `true` if the suite lists no positions.
    pub fn successors_agree(&self) -> bool {
        let Some(expected) = &self.successors else {
            return true;
        };
        let moves = self.position.legal_moves();
        let mut found: Vec<u64> = moves.iter().map(|&mv| self.position.play(mv).key()).collect();
        let mut expected: Vec<u64> = expected.iter().map(Position::key).collect();
        found.sort_unstable();
        expected.sort_unstable();
        found == expected
    }
}

/// Reason why a suite cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteError {
    /// Line number, from 1.
    pub line: usize,
    /// Error in that line.
    pub reason: Reason,
}

/// Error in a line of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Invalid position.
    Fen(FenError),
    /// Invalid depth or count.
    Count(String),
    /// Count before the first position.
    NoPosition,
    /// Invalid JSON.
    Json(&'static str),
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.reason {
            Reason::Fen(error) => write!(f, "{error}"),
            Reason::Count(text) => write!(f, "expected a depth and a count, found \"{text}\""),
            Reason::Json(what) => write!(f, "{what}"),
            Reason::NoPosition => write!(f, "a count stands before the first position"),
        }
    }
}

impl std::error::Error for SuiteError {}

/// Reads a suite.
///
/// # Errors
///
/// Returns the number of the first line that cannot be parsed, and the reason.
pub fn parse(text: &str) -> Result<Vec<Case>, SuiteError> {
    if text.trim_start().starts_with('{') {
        return json::parse(text);
    }
    let mut cases = Vec::new();
    for (index, line) in text.lines().enumerate() {
        parse_line(line.trim(), &mut cases)
            .map_err(|reason| SuiteError { line: index + 1, reason })?;
    }
    Ok(cases)
}

fn parse_line(line: &str, cases: &mut Vec<Case>) -> Result<(), Reason> {
    if line.is_empty() || line.starts_with('#') || line.starts_with("id ") {
        return Ok(());
    }
    if let Some(count) = line.strip_prefix("perft ") {
        let case = cases.last_mut().ok_or(Reason::NoPosition)?;
        case.counts.push(parse_count(count)?);
        return Ok(());
    }
    let line = line.strip_prefix("epd ").unwrap_or(line);
    let mut parts = line.split(';').map(str::trim);
    let text = parts.next().unwrap_or_default();
    let position = fen::parse(text).map_err(Reason::Fen)?;
    let counts = parts
        .filter(|part| !part.is_empty())
        .map(|part| parse_count(part.strip_prefix('D').unwrap_or(part)))
        .collect::<Result<_, _>>()?;
    cases.push(Case { fen: text.to_owned(), position, counts, successors: None });
    Ok(())
}

fn parse_count(text: &str) -> Result<(u32, u64), Reason> {
    let bad = || Reason::Count(text.to_owned());
    let (depth, count) = text.split_once(' ').ok_or_else(bad)?;
    let depth = depth.parse().map_err(|_| bad())?;
    let count = count.trim().parse().map_err(|_| bad())?;
    Ok((depth, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_text_formats_are_parsed() {
        let lines = format!("# comment\n{} ;D1 20 ;D2 400\n", fen::STARTPOS);
        let block = format!("id one\nepd {}\nperft 1 20\nperft 2 400\n\n", fen::STARTPOS);
        for text in [lines, block] {
            let cases = parse(&text).unwrap();
            assert_eq!(cases.len(), 1);
            assert_eq!(cases[0].counts, [(1, 20), (2, 400)]);
        }
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(parse("\nperft 1 20").unwrap_err().line, 2);
        assert_eq!(parse(&format!("{} ;D1 x", fen::STARTPOS)).unwrap_err().line, 1);
        assert!(matches!(parse("hello").unwrap_err().reason, Reason::Fen(_)));
    }
}
