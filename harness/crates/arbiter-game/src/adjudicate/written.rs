//! Text form of adjudication rules: `movenumber=40,movecount=8,score=10`.

use std::fmt;
use std::str::FromStr;

use super::{DrawRule, ResignRule};

/// Parses a draw rule. Defaults: move 40, 8 consecutive moves, 10 centipawns.
impl FromStr for DrawRule {
    type Err = String;

    fn from_str(text: &str) -> Result<DrawRule, String> {
        let mut rule = DrawRule { move_number: 40, move_count: 8, score_cp: 10 };
        for field in fields(text)? {
            match field.split_once('=') {
                Some(("movenumber", value)) => rule.move_number = number(field, value)?,
                Some(("movecount", value)) => rule.move_count = number(field, value)?,
                Some(("score", value)) => rule.score_cp = number(field, value)?,
                other => return Err(unknown(field, other, "movenumber, movecount, score")),
            }
        }
        if rule.move_count == 0 { Err("movecount must be at least 1".to_owned()) } else { Ok(rule) }
    }
}

impl fmt::Display for DrawRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DrawRule { move_number, move_count, score_cp } = self;
        write!(f, "movenumber={move_number},movecount={move_count},score={score_cp}")
    }
}

/// Parses a resign rule. Defaults: 3 consecutive moves, 600 centipawns, one-sided.
impl FromStr for ResignRule {
    type Err = String;

    fn from_str(text: &str) -> Result<ResignRule, String> {
        let mut rule = ResignRule { move_count: 3, score_cp: 600, two_sided: false };
        for field in fields(text)? {
            match field.split_once('=') {
                Some(("movecount", value)) => rule.move_count = number(field, value)?,
                Some(("score", value)) => rule.score_cp = number(field, value)?,
                Some(("twosided", value)) => {
                    let truth = value.parse();
                    rule.two_sided =
                        truth.map_err(|_| format!("'{field}' is neither true nor false"))?;
                }
                other => return Err(unknown(field, other, "movecount, score, twosided")),
            }
        }
        if rule.move_count == 0 { Err("movecount must be at least 1".to_owned()) } else { Ok(rule) }
    }
}

impl fmt::Display for ResignRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ResignRule { move_count, score_cp, two_sided } = self;
        write!(f, "movecount={move_count},score={score_cp},twosided={two_sided}")
    }
}

fn fields(text: &str) -> Result<Vec<&str>, String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    match fields.iter().find(|field| field.contains([' ', ';'])) {
        Some(field) => Err(format!("'{field}' has no comma; separate keys by commas")),
        None => Ok(fields),
    }
}

fn number(field: &str, value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| format!("'{field}' is not KEY=NUMBER with a whole number"))
}

fn unknown(field: &str, split: Option<(&str, &str)>, expected: &'static str) -> String {
    match split {
        Some((key, _)) => format!("unknown key '{key}'; the keys are {expected}"),
        None => format!("'{field}' is not KEY=NUMBER"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_parsed() {
        assert_eq!(
            DrawRule::from_str("movenumber=34,movecount=6,score=20"),
            Ok(DrawRule { move_number: 34, move_count: 6, score_cp: 20 })
        );
        assert_eq!(
            ResignRule::from_str("score=400,twosided=true"),
            Ok(ResignRule { move_count: 3, score_cp: 400, two_sided: true })
        );
    }

    #[test]
    fn errors_quote_the_invalid_field() {
        let check = |error: String, expect: &str| assert!(error.contains(expect));
        check(DrawRule::from_str("score").unwrap_err(), "'score' is not");
        check(DrawRule::from_str("score=-3").unwrap_err(), "'score=-3' is not");
        check(DrawRule::from_str("moves=3").unwrap_err(), "unknown key 'moves'");
        check(DrawRule::from_str("movecount=0").unwrap_err(), "at least 1");
        check(
            ResignRule::from_str("twosided=yes").unwrap_err(),
            "'twosided=yes' is neither true nor false",
        );
        check(ResignRule::from_str("sides=2").unwrap_err(), "movecount, score, twosided");
    }
}
