//! Annotations of games besides their moves, as the user wants them.

use std::fmt;
use std::str::FromStr;

use regex_lite::Regex;
use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr};

use arbiter_names::UnknownName;

/// Fact about a move that its comment can have, besides score, depth and time. The names are those
/// of fastchess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// Time left on the mover's clock after the move.
    TimeLeft,
    /// Measured time less the time that the engine reported last.
    Latency,
    /// Nodes searched.
    Nodes,
    /// Selective depth: deepest line, in plies.
    Seldepth,
    /// Nodes per second, as reported by the engine.
    Nps,
    /// Fill of the hash table, in permill.
    Hashfull,
    /// Positions found in endgame tables.
    Tbhits,
    /// Principal variation.
    Pv,
}

impl Field {
    /// All fields, in the order in which they are written.
    pub const ALL: [Field; 8] = [
        Field::TimeLeft,
        Field::Latency,
        Field::Nodes,
        Field::Seldepth,
        Field::Nps,
        Field::Hashfull,
        Field::Tbhits,
        Field::Pv,
    ];
}

/// Notation of moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Notation {
    /// Standard algebraic: `Nf3`.
    #[default]
    San,
    /// Long algebraic: `Ng1f3`.
    Lan,
    /// Notation of UCI: `g1f3`.
    Uci,
}

/// Another program, whose forms a text follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// fastchess.
    Fastchess,
    /// cutechess-cli.
    Cutechess,
}

/// Pattern that selects lines of engines.
#[derive(Debug, Clone)]
pub struct LinePattern(Regex);

impl LinePattern {
    /// Returns whether `line` is selected.
    pub fn matches(&self, line: &str) -> bool {
        self.0.is_match(line)
    }
}

impl PartialEq for LinePattern {
    fn eq(&self, other: &LinePattern) -> bool {
        // Compiled patterns cannot be compared, and equal texts select equal lines.
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for LinePattern {}

impl fmt::Display for LinePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl FromStr for LinePattern {
    type Err = regex_lite::Error;

    fn from_str(text: &str) -> Result<LinePattern, regex_lite::Error> {
        Regex::new(text).map(LinePattern)
    }
}

/// Selection of the games whose transcripts are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keeping {
    /// Games that ended by an engine's fault.
    #[default]
    Abnormal,
    /// All games.
    All,
    /// No games.
    None,
}

arbiter_names::named!(Dialect, Field, Notation, Keeping);

/// Annotation of games.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Annotation {
    /// Notation of moves.
    pub notation: Notation,
    /// Contents of comments besides score, depth and time; in the order of [`Field::ALL`].
    pub fields: Vec<Field>,
    /// Pattern of the engine lines that go into comments.
    #[serde(with = "As::<Option<DisplayFromStr>>")]
    pub pattern: Option<LinePattern>,
    /// `true` to leave out comments, and all tags but those that every game must have.
    #[serde(rename = "minimal")]
    pub is_minimal: bool,
    /// `true` if tags name seed, programs and opening.
    #[serde(rename = "origin")]
    pub has_origin: bool,
    /// Program whose wording and tags games have, if not Arbiter's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Number of games of a round in another program, by which rounds are counted; each pair is a
    /// round if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_games: Option<u64>,
    /// The `Event` tag; the kind of run if `None`.
    pub event: Option<String>,
    /// The `Site` tag; unknown if `None`.
    pub site: Option<String>,
}

impl Annotation {
    /// Returns whether comments have `field`.
    pub fn has(&self, field: Field) -> bool {
        self.fields.contains(&field)
    }
}

/// Parses field names separated by commas; `all` stands for all of them. Fails at the first unknown
/// name.
pub fn parse_fields(text: &str) -> Result<Vec<Field>, UnknownName> {
    if text == "all" {
        return Ok(Field::ALL.to_vec());
    }
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let mut fields = words.map(str::parse).collect::<Result<Vec<Field>, _>>()?;
    // Comments have their fields in the order of `Field::ALL`, whatever order the user has written.
    fields.sort_unstable();
    fields.dedup();
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_others_are_refused() {
        for field in Field::ALL {
            assert_eq!(field.to_string().parse(), Ok(field));
        }
        for notation in [Notation::San, Notation::Lan, Notation::Uci] {
            assert_eq!(notation.to_string().parse(), Ok(notation));
        }
        for keeping in [Keeping::Abnormal, Keeping::All, Keeping::None] {
            assert_eq!(keeping.to_string().parse(), Ok(keeping));
        }
        let error = "figurine".parse::<Notation>().unwrap_err().to_string();
        assert_eq!(error, "'figurine' is not one of san, lan, uci");
    }

    #[test]
    fn fields_are_put_in_order() {
        assert_eq!(parse_fields("pv, nodes,pv"), Ok(vec![Field::Nodes, Field::Pv]));
        assert_eq!(parse_fields("all").unwrap().len(), Field::ALL.len());
        assert_eq!(parse_fields(""), Ok(Vec::new()));
        assert!(parse_fields("nodes,luck").is_err());
    }

    #[test]
    fn patterns_are_regular_expressions() {
        let pattern: LinePattern = "^info string .*net".parse().unwrap();
        assert!(pattern.matches("info string the net is new"));
        assert!(!pattern.matches("info depth 1"));
        assert!("(".parse::<LinePattern>().is_err());
    }
}
