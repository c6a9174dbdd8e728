//! JSON format of a suite: `{"testCases": [{"start": {"fen": F}, "expected": [{"fen": F}, ...]}]}`.
//!
//! Only strings with the key `fen` and lists with the key `expected` are used. The reader skips all
//! other content and builds no document tree.

use super::{Case, Reason, SuiteError};
use crate::chess::fen;

/// Returns the cases of a JSON document.
pub(super) fn parse(text: &str) -> Result<Vec<Case>, SuiteError> {
    let mut cases: Vec<Case> = Vec::new();
    let mut reader = Reader { rest: text, line: 1 };
    // Nesting depth of the list after the key "expected", while this list is being read.
    let mut expected_depth = None;
    let mut depth = 0usize;
    // Expected positions are collected separately, so that a list before the starting position of
    // its case can be rejected.
    let mut pending = Vec::new();
    let mut last_key = String::new();
    let mut starts = 0usize;
    while let Some(token) = reader.next_token()? {
        match token {
            Token::Open => depth += 1,
            Token::Close => {
                depth = depth.saturating_sub(1);
                if expected_depth == Some(depth) {
                    expected_depth = None;
                }
            }
            Token::Key(key) => {
                if key == "expected" {
                    expected_depth = Some(depth);
                    pending.push((starts, Vec::new()));
                }
                last_key = key;
            }
            Token::Text(value) if last_key == "fen" => {
                let error = |error| SuiteError { line: reader.line, reason: Reason::Fen(error) };
                let position = fen::parse(&value).map_err(error)?;
                match (expected_depth, pending.last_mut()) {
                    (Some(_), Some((_, list))) => list.push(position),
                    _ => {
                        starts += 1;
                        cases.push(Case {
                            fen: value,
                            position,
                            counts: Vec::new(),
                            successors: None,
                        });
                    }
                }
            }
            Token::Text(_) => {}
        }
    }
    attach(cases, pending).ok_or(SuiteError {
        line: reader.line,
        reason: Reason::Json("each case needs a start and what is expected after it"),
    })
}

type Expected = Vec<(usize, Vec<crate::chess::Position>)>;

/// Assigns the lists of expected positions to the cases. Returns `None` if a list does not follow
/// the starting position of its case.
fn attach(mut cases: Vec<Case>, expected: Expected) -> Option<Vec<Case>> {
    if cases.len() != expected.len() {
        return None;
    }
    for (index, (case, (starts, successors))) in cases.iter_mut().zip(expected).enumerate() {
        if starts != index + 1 {
            return None;
        }
        case.counts.push((1, successors.len() as u64));
        case.successors = Some(successors);
    }
    Some(cases)
}

enum Token {
    /// `{` or `[`.
    Open,
    /// `}` or `]`.
    Close,
    /// A string before a colon.
    Key(String),
    /// Any other string.
    Text(String),
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl Reader<'_> {
    /// Returns the next bracket or string; `None` at the end of the text.
    fn next_token(&mut self) -> Result<Option<Token>, SuiteError> {
        while let Some(letter) = self.rest.chars().next() {
            self.rest = &self.rest[letter.len_utf8()..];
            match letter {
                '{' | '[' => return Ok(Some(Token::Open)),
                '}' | ']' => return Ok(Some(Token::Close)),
                '\n' => self.line += 1,
                '"' => {
                    let text = self.string()?;
                    let is_key = self.rest.trim_start().starts_with(':');
                    return Ok(Some(if is_key { Token::Key(text) } else { Token::Text(text) }));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Returns the string whose opening quote has been read. A FEN contains no escape sequences, so
    /// the character after a backslash is taken literally.
    fn string(&mut self) -> Result<String, SuiteError> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((index, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[index + 1..];
                    return Ok(text);
                }
                '\\' => text.extend(letters.next().map(|(_, escaped)| escaped)),
                _ => text.push(letter),
            }
        }
        let reason = Reason::Json("a string is not closed");
        Err(SuiteError { line: self.line, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_and_successors_are_found() {
        let text = r#"{"description": "a \"fen\"", "testCases": [
            {"start": {"description": "x", "fen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}, "expected": []},
            {"start": {"fen": "k7/8/1K6/8/8/8/8/7R b - - 0 1"}, "expected": [
                {"move": "Kb8", "fen": "1k6/8/1K6/8/8/8/8/7R w - - 1 2"}]}]}"#;
        let cases = parse(text).unwrap();
        assert_eq!(cases.len(), 2);
        assert_eq!((&cases[0].counts[..], &cases[1].counts[..]), (&[(1, 0)][..], &[(1, 1)][..]));
        assert!(cases.iter().all(Case::successors_agree));
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(parse("{\n\"fen").unwrap_err().line, 2);
        assert!(parse(r#"{"expected": [], "fen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}"#).is_err());
        assert!(parse(r#"{"fen": "x"}"#).is_err());
    }
}
