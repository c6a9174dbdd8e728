//! Speed comparison as a document and as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::{Document, Table, UNDEFINED};
use arbiter_stats::speed::SpeedVerdict;

/// Speed comparison of two programs, printed by `arbiter speed`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.speed/1")]
pub struct SpeedReport<'a> {
    /// Names of the two programs.
    #[serde(borrow)]
    pub engines: [&'a str; 2],
    /// Node counts of both benches.
    pub bench_nodes: [u64; 2],
    /// Number of measured rounds.
    pub rounds: usize,
    /// Maximum number of rounds.
    pub rounds_max: usize,
    /// CPU on which both programs ran; `null` if chosen by the system.
    pub cpu: Option<usize>,
    /// Seed of the order of the programs in each round.
    pub seed: u64,
    /// Nodes per second of both programs in each round.
    pub nps: Vec<[f64; 2]>,
    /// Speed of the first program divided by speed of the second.
    pub ratio: Option<f64>,
    /// Lower end of the 95 % interval of `ratio`.
    pub ratio_low: Option<f64>,
    /// Upper end of the 95 % interval of `ratio`.
    pub ratio_high: Option<f64>,
    /// Maximum loss of speed of the first program, in per cent (--max-loss), if requested.
    pub max_loss_percent: Option<f64>,
    /// Verdict: `faster`, `slower` or `undecided`; with --max-loss, `passed`, `failed` or
    /// `undecided`.
    pub verdict: &'a str,
}

/// Verdicts that [`SpeedReport::sentence`] distinguishes.
const PASSED: &str = "passed";
const UNDECIDED: &str = "undecided";

/// Returns the verdict of a report as one word; `max_loss` is the maximum loss of speed, if
/// requested.
pub fn speed_verdict(max_loss: Option<f64>, answer: SpeedVerdict) -> &'static str {
    match (max_loss, answer) {
        (None, SpeedVerdict::Above) => "faster",
        (None, SpeedVerdict::Below) => "slower",
        (Some(_), SpeedVerdict::Above) => PASSED,
        (Some(_), SpeedVerdict::Below) => "failed",
        (_, SpeedVerdict::Open) => UNDECIDED,
    }
}

impl SpeedReport<'_> {
    /// Returns the report as a document.
    pub fn document(&self) -> Document {
        let [first, second] = self.engines;
        let mut document = Document::new(format!("Speed of {first} and {second}"));
        document.table(self.table());
        let cpu = self.cpu.map_or("any CPU".to_owned(), |cpu| format!("CPU {cpu}"));
        let ratio = match (self.ratio, self.ratio_low, self.ratio_high) {
            (None, ..) => UNDEFINED.to_owned(),
            (Some(ratio), Some(low), Some(high)) => {
                format!("{ratio:.4} [{low:.4}, {high:.4}] (95 %, valid at any stop)")
            }
            (Some(ratio), ..) => format!("{ratio:.4} (no interval)"),
        };
        document.paragraph(format!("Speed, first over second   {ratio}"));
        document.paragraph(format!(
            "{} rounds of both engines in random order (seed {}), on {cpu}",
            self.rounds, self.seed
        ));
        if self.bench_nodes[0] != self.bench_nodes[1] {
            document.paragraph("The bench signatures differ: the engines search different trees");
        }
        document.paragraph(self.sentence());
        document
    }

    /// Returns the verdict as a sentence.
    fn sentence(&self) -> String {
        let [first, second] = self.engines;
        match (self.verdict, self.max_loss_percent) {
            (UNDECIDED, None) => {
                "Undecided: the interval contains 1 (no difference). Try more --rounds.".to_owned()
            }
            (UNDECIDED, Some(loss)) => {
                format!("Undecided: {first} may be {loss} % slower. Try more --rounds.")
            }
            (faster_or_slower, None) => format!("{first} is {faster_or_slower} than {second}."),
            (verdict, Some(loss)) => {
                let is_passed = verdict == PASSED;
                let (word, sign) = if is_passed { ("Passed", "less") } else { ("Failed", "more") };
                format!("{word}: {first} is {sign} than {loss} % slower than {second}.")
            }
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(["engine", "bench", "nodes/s, mean"]);
        for (index, (name, nodes)) in self.engines.iter().zip(self.bench_nodes).enumerate() {
            let sum: f64 = self.nps.iter().map(|nps| nps[index]).sum();
            let mean = sum / (self.rounds as f64).max(1.0);
            table.push([name, &nodes, &format!("{mean:.0}")]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_stats::paired::Speeds;
    use arbiter_stats::speed::SpeedTest;

    #[test]
    fn the_verdict_depends_on_the_threshold() {
        let rounds: Vec<Speeds> =
            (0..8).map(|n| Speeds { first: 970.0 + f64::from(n % 3), second: 1000.0 }).collect();
        let report = |threshold, max_loss_percent| {
            let question = SpeedTest { rounds: 8, threshold };
            let answer = question.verdict(&question.ratio(&rounds).unwrap());
            SpeedReport {
                engines: ["new", "old"],
                bench_nodes: [7, 7],
                rounds: 8,
                rounds_max: 8,
                cpu: Some(1),
                seed: 1,
                nps: Vec::new(),
                ratio: None,
                ratio_low: None,
                ratio_high: None,
                max_loss_percent,
                verdict: speed_verdict(max_loss_percent, answer),
            }
            .sentence()
        };
        assert_eq!(report(1.0, None), "new is slower than old.");
        assert_eq!(report(0.95, Some(5.0)), "Passed: new is less than 5 % slower than old.");
        assert_eq!(report(0.98, Some(2.0)), "Failed: new is more than 2 % slower than old.");
        assert!(report(0.971, Some(2.9)).starts_with("Undecided"));
    }
}
