//! JSON report of a run, checked for consistency when it is read.

use std::collections::BTreeMap;

use serde_json::Value;

/// Result of a run, from the first engine's point of view.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Name of the run.
    pub run: String,
    /// Number of finished games.
    pub games: u64,
    /// Number of games won by the first engine.
    pub wins: u64,
    /// Number of drawn games.
    pub draws: u64,
    /// Number of games lost by the first engine.
    pub losses: u64,
    /// Numbers of pairs by the score of the first engine, from 0 to 2 points.
    pub pentanomial: [u64; 5],
    /// Log-likelihood ratio of the SPRT, if there is one.
    pub llr: Option<f64>,
    /// Bounds of the SPRT: H0 below the first, H1 above the second.
    pub llr_bounds: Option<(f64, f64)>,
    /// Verdict: `H1`, `H0`, `inconclusive` or `none`.
    pub verdict: String,
    /// Numbers of games by termination.
    pub terminations: BTreeMap<String, u64>,
}

/// Keys of numbers that may be null in a run without games or without a test.
const ESTIMATES: [&str; 10] = [
    "elo",
    "elo_low",
    "elo_high",
    "nelo",
    "nelo_low",
    "nelo_high",
    "los",
    "llr",
    "llr_lower",
    "llr_upper",
];

impl Report {
    /// Reads a report; asserts that all keys exist and are consistent.
    #[track_caller]
    pub fn read(json: &Value) -> Report {
        for key in ESTIMATES {
            let value = json.get(key).unwrap_or_else(|| panic!("no key {key} in {json:#}"));
            assert!(value.is_null() || value.is_f64() || value.is_i64(), "{key} is {value}");
        }
        let number = |value: &Value, key: &str| {
            value.as_u64().unwrap_or_else(|| panic!("{key} is not a count in {json:#}"))
        };
        let count = |key: &str| number(&json[key], key);
        let text = |key: &str| {
            let text = json[key].as_str().unwrap_or_else(|| panic!("no text {key} in {json:#}"));
            text.to_owned()
        };
        let pentanomial: Vec<u64> = json["pentanomial"]
            .as_array()
            .map(|counts| counts.iter().map(|value| number(value, "pentanomial")).collect())
            .unwrap_or_default();
        let terminations = json["terminations"].as_object().expect("terminations is an object");
        let bounds = json["llr_lower"].as_f64().zip(json["llr_upper"].as_f64());
        let report = Report {
            run: text("run"),
            games: count("games"),
            wins: count("wins"),
            draws: count("draws"),
            losses: count("losses"),
            pentanomial: pentanomial.try_into().expect("pentanomial has five counts"),
            llr: json["llr"].as_f64(),
            llr_bounds: bounds,
            verdict: text("verdict"),
            terminations: terminations
                .iter()
                .map(|(reason, value)| (reason.clone(), number(value, reason)))
                .filter(|(_, count)| *count > 0)
                .collect(),
        };
        report.assert_consistent();
        report
    }

    /// Returns the number of games that ended for `reason`.
    pub fn ended_by(&self, reason: &str) -> u64 {
        self.terminations.get(reason).copied().unwrap_or(0)
    }

    #[track_caller]
    fn assert_consistent(&self) {
        assert_eq!(self.wins + self.draws + self.losses, self.games, "{self:#?}");
        assert_eq!(2 * self.pentanomial.iter().sum::<u64>(), self.games, "{self:#?}");
        assert_eq!(self.terminations.values().sum::<u64>(), self.games, "{self:#?}");
        let half_points: u64 = (0..).zip(self.pentanomial).map(|(points, n)| points * n).sum();
        assert_eq!(2 * self.wins + self.draws, half_points, "{self:#?}");
        assert!(
            matches!(self.verdict.as_str(), "H1" | "H0" | "inconclusive" | "none"),
            "{self:#?}"
        );
    }
}
