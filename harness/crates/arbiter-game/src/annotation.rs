//! Settings for comments, tags and notation of games.

use std::fmt;
use std::str::FromStr;

use regex_lite::Regex;
use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr};

use arbiter_names::variants;

/// Optional part of a move comment, besides score, depth and time. The names are the same as in
/// fastchess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// Time left on the clock of the moving side after the move.
    TimeLeft,
    /// Measured time of the move minus the last search time that the engine reported.
    Latency,
    /// Nodes searched.
    Nodes,
    /// Selective depth: length of the longest variation searched, in plies.
    Seldepth,
    /// Nodes per second, as reported by the engine.
    Nps,
    /// Share of the hash table in use, in per mille.
    Hashfull,
    /// Number of positions found in tablebases.
    Tbhits,
    /// Principal variation.
    Pv,
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
    /// UCI notation: `g1f3`.
    Uci,
}

/// Program whose PGN conventions are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// fastchess.
    #[default]
    Fastchess,
    /// cutechess-cli.
    Cutechess,
}

/// Pattern that selects lines of engine output.
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
        // Compiled patterns cannot be compared, but equal pattern texts select the same lines.
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
    /// Games that ended with an engine fault.
    #[default]
    Abnormal,
    /// All games.
    All,
    /// No games.
    None,
}

arbiter_names::named!(Dialect, Field, Notation, Keeping);

/// Settings for comments, tags and notation of games.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Annotation {
    /// Notation of moves.
    pub notation: Notation,
    /// Parts of move comments besides score, depth and time, in the order of the variants of
    /// [`Field`].
    pub fields: Vec<Field>,
    /// Pattern that selects the engine lines that are added to comments.
    #[serde(with = "As::<Option<DisplayFromStr>>")]
    pub pattern: Option<LinePattern>,
    /// `true` if comments and optional tags are omitted.
    #[serde(rename = "minimal")]
    pub is_minimal: bool,
    /// `true` if tags contain the seed, the programs and the opening.
    #[serde(rename = "origin")]
    pub has_origin: bool,
    /// Program whose wording and tags are used; `None` for Arbiter's own wording and tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Number of games per round, for the `Round` tag. If `None`, each pair is a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_games: Option<u64>,
    /// Value of the `Event` tag; the kind of run if `None`.
    pub event: Option<String>,
    /// Value of the `Site` tag; unknown if `None`.
    pub site: Option<String>,
}

/// Parses a comma-separated list of field names; `all` stands for every field. Fails if a name is
/// unknown.
pub fn parse_fields(text: &str) -> Result<Vec<Field>, String> {
    if text == "all" {
        return Ok(variants().collect());
    }
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let mut fields = words.map(str::parse).collect::<Result<Vec<Field>, _>>()?;
    // Comments list their fields in the order of declaration, regardless of the order in the text.
    fields.sort_unstable();
    fields.dedup();
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_names_are_rejected() {
        for field in variants::<Field>() {
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
        assert_eq!(parse_fields("all").unwrap().len(), variants::<Field>().count());
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
