//! How much of a game the machine may spoil, as typed: a share, or `off`.

use std::fmt;
use std::str::FromStr;

/// Share unless the user sets one. Games at once that take turns on all processors stay well below;
/// two engines that have to share one processor all the time do not.
const DEFAULT: f64 = 0.25;

/// Share of an engine's thinking time, 0 to 1, for which it may have to wait for a processor; with
/// `None` nothing is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseLimit(pub Option<f64>);

impl Default for NoiseLimit {
    fn default() -> NoiseLimit {
        NoiseLimit(Some(DEFAULT))
    }
}

impl FromStr for NoiseLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<NoiseLimit, String> {
        if text == "off" {
            return Ok(NoiseLimit(None));
        }
        let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        let malformed = || format!("'{text}' is neither a share between 0 and 1 nor \"off\"");
        share.map(|share| NoiseLimit(Some(share))).ok_or_else(malformed)
    }
}

impl fmt::Display for NoiseLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(share) => share.fmt(f),
            None => f.write_str("off"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_are_shown() {
        for text in ["0.25", "0", "1", "off"] {
            assert_eq!(text.parse::<NoiseLimit>().unwrap().to_string(), text);
        }
        for text in ["-0.1", "1.5", "NaN", "on", ""] {
            let error = text.parse::<NoiseLimit>().unwrap_err().to_string();
            assert!(error.contains("between 0 and 1"), "{error}");
        }
    }
}
