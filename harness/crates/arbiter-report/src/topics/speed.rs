//! Speed comparison as a document and as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parts::{Document, Table, UNDEFINED, to_value};
use arbiter_stats::paired::Speeds;
use arbiter_stats::speed::{Ratio, SpeedTest, SpeedVerdict};

/// Settings and measurements of a speed comparison.
#[derive(Debug)]
pub struct SpeedReport<'a> {
    /// Names of both programs.
    pub names: [&'a str; 2],
    /// Node counts of both benches.
    pub nodes: [u64; 2],
    /// Nodes per second of both programs in each round.
    pub rounds: &'a [Speeds],
    /// CPU on which both programs ran; `None` if the system chose the CPUs.
    pub cpu: Option<usize>,
    /// Seed of the random order of the programs in each round.
    pub seed: u64,
    /// Test of the speed ratio.
    pub question: SpeedTest,
    /// Maximum speed loss of the first program, in per cent; `None` if no maximum is set.
    pub max_loss_percent: Option<f64>,
    /// Speed of the first program divided by the speed of the second, after the last round; `None`
    /// if there are too few rounds.
    pub ratio: Option<Ratio>,
}

/// Speed comparison of two programs, printed by `arbiter speed`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.speed/1")]
pub(crate) struct SpeedFigures<'a> {
    /// Names of the two programs.
    #[serde(borrow)]
    engines: [&'a str; 2],
    /// Node counts of both benches.
    bench_nodes: [u64; 2],
    /// Number of measured rounds.
    rounds: usize,
    /// Maximum number of rounds.
    rounds_max: usize,
    /// CPU on which both programs ran; `null` if chosen by the system.
    cpu: Option<usize>,
    /// Seed of the order of the programs in each round.
    seed: u64,
    /// Nodes per second of both programs in each round.
    nps: Vec<[f64; 2]>,
    /// Speed of the first program divided by speed of the second.
    pub(crate) ratio: Option<f64>,
    /// Lower end of the 95 % interval of `ratio`.
    pub(crate) ratio_low: Option<f64>,
    /// Upper end of the 95 % interval of `ratio`.
    pub(crate) ratio_high: Option<f64>,
    /// Maximum loss of speed of the first program, in per cent (--max-loss), if requested.
    max_loss_percent: Option<f64>,
    /// Verdict: `faster`, `slower` or `undecided`; with --max-loss, `passed`, `failed` or
    /// `undecided`.
    pub(crate) verdict: &'a str,
}

impl SpeedReport<'_> {
    /// Returns the verdict of the test after the last round.
    pub fn answer(&self) -> SpeedVerdict {
        self.ratio.map_or(SpeedVerdict::Open, |ratio| self.question.verdict(&ratio))
    }

    /// Returns the report as a document.
    pub fn document(&self) -> Document {
        let mut document =
            Document::new(format!("Speed of {} and {}", self.names[0], self.names[1]));
        document.table(self.table());
        let cpu = self.cpu.map_or("any CPU".to_owned(), |cpu| format!("CPU {cpu}"));
        let ratio = match self.ratio {
            None => UNDEFINED.to_owned(),
            Some(Ratio { ratio, interval: None }) => format!("{ratio:.4} (no interval)"),
            Some(Ratio { ratio, interval: Some((low, high)) }) => {
                format!("{ratio:.4} [{low:.4}, {high:.4}] (95 %, valid at any stop)")
            }
        };
        document.paragraph(format!("Speed, first over second   {ratio}"));
        document.paragraph(format!(
            "{} rounds of both engines in random order (seed {}), on {cpu}",
            self.rounds.len(),
            self.seed
        ));
        if self.nodes[0] != self.nodes[1] {
            document.paragraph("The bench signatures differ: the engines search different trees");
        }
        document.paragraph(self.sentence());
        document
    }

    /// Returns the report as a JSON object.
    pub fn json(&self) -> Value {
        let interval = self.ratio.and_then(|ratio| ratio.interval);
        to_value(&SpeedFigures {
            engines: self.names,
            bench_nodes: self.nodes,
            rounds: self.rounds.len(),
            rounds_max: self.question.rounds,
            cpu: self.cpu,
            seed: self.seed,
            nps: self.rounds.iter().map(|speeds| [speeds.first, speeds.second]).collect(),
            ratio: self.ratio.map(|ratio| ratio.ratio),
            ratio_low: interval.map(|(low, _)| low),
            ratio_high: interval.map(|(_, high)| high),
            max_loss_percent: self.max_loss_percent,
            verdict: self.verdict(),
        })
    }

    /// Returns the verdict as one word, for JSON.
    pub fn verdict(&self) -> &'static str {
        match (self.max_loss_percent, self.answer()) {
            (None, SpeedVerdict::Above) => "faster",
            (None, SpeedVerdict::Below) => "slower",
            (Some(_), SpeedVerdict::Above) => "passed",
            (Some(_), SpeedVerdict::Below) => "failed",
            (_, SpeedVerdict::Open) => "undecided",
        }
    }

    /// Returns the verdict as a sentence.
    pub fn sentence(&self) -> String {
        let [first, second] = self.names;
        match (self.max_loss_percent, self.answer()) {
            (None, SpeedVerdict::Above) => format!("{first} is faster than {second}."),
            (None, SpeedVerdict::Below) => format!("{first} is slower than {second}."),
            (None, SpeedVerdict::Open) => {
                "Undecided: the interval contains 1 (no difference). Try more --rounds.".to_owned()
            }
            (Some(loss), SpeedVerdict::Open) => {
                format!("Undecided: {first} may be {loss} % slower. Try more --rounds.")
            }
            (Some(loss), answer) => {
                let is_passed = answer == SpeedVerdict::Above;
                let (word, sign) = if is_passed { ("Passed", "less") } else { ("Failed", "more") };
                format!("{word}: {first} is {sign} than {loss} % slower than {second}.")
            }
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(["engine", "bench", "nodes/s, mean"]);
        let mean = |of: fn(&Speeds) -> f64| {
            self.rounds.iter().map(of).sum::<f64>() / (self.rounds.len() as f64).max(1.0)
        };
        let means = [mean(|s| s.first), mean(|s| s.second)];
        for ((name, nodes), mean) in self.names.iter().zip(self.nodes).zip(means) {
            table.push([name, &nodes, &format!("{mean:.0}")]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_depends_on_the_threshold() {
        let rounds: Vec<Speeds> =
            (0..8).map(|n| Speeds { first: 970.0 + f64::from(n % 3), second: 1000.0 }).collect();
        let report = |threshold, max_loss_percent| {
            let question = SpeedTest { rounds: 8, threshold };
            let ratio = question.ratio(&rounds);
            let names = ["new", "old"];
            SpeedReport {
                names,
                nodes: [7, 7],
                rounds: &rounds,
                cpu: Some(1),
                seed: 1,
                question,
                max_loss_percent,
                ratio,
            }
            .sentence()
        };
        assert_eq!(report(1.0, None), "new is slower than old.");
        assert_eq!(report(0.95, Some(5.0)), "Passed: new is less than 5 % slower than old.");
        assert_eq!(report(0.98, Some(2.0)), "Failed: new is more than 2 % slower than old.");
        assert!(report(0.971, Some(2.9)).starts_with("Undecided"));
    }
}
