//! The command `eval`: the static evaluation, term by term.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use super::Output;
use crate::chess::{Position, fen};
use crate::eval::feature::Feature;
use crate::eval::pair::Pair;
use crate::eval::report::{Report, Term};
use crate::failure::Failure;
use crate::input;
use crate::search::Configuration;
use crate::uci::explain;
use crate::uci::options::{personality, variant};

/// Print the static evaluation of a position, term by term
#[derive(Args)]
pub(super) struct EvalArgs {
    /// Evaluation; by default the hand-written one, because a network has no terms
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Search; --features also lists its features, and its evaluation is the default
    #[arg(long, value_name = "NAME")]
    personality: Option<String>,
    /// Features to disable, separated by commas
    #[arg(long, value_name = "FEATURES", default_value = "", hide_default_value = true)]
    disable: String,
    /// Experiments to enable, separated by commas
    #[arg(long, value_name = "EXPERIMENTS", default_value = "", hide_default_value = true)]
    enable: String,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
    /// List the features that --disable can name
    #[arg(long)]
    features: bool,
    /// List the experiments that --enable can name
    #[arg(long)]
    experiments: bool,
    /// File with positions, one FEN or EPD per line
    #[arg(long, value_name = "FILE", conflicts_with = "fen")]
    positions: Option<PathBuf>,
    /// The position; by default the starting position
    fen: Vec<String>,
}

impl EvalArgs {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let configuration = self.configuration()?;
        if self.features || self.experiments {
            self.list(&configuration, output);
            return Ok(());
        }
        for (index, position) in self.positions()?.iter().enumerate() {
            let report = configuration.eval.explain(position);
            if self.json {
                output.line(&object(&report, position, self.positions.is_none()).to_string());
            } else {
                let gap = if index == 0 { "" } else { "\n" };
                output.line(&format!("{gap}{}", explain::table(&report, position)));
            }
        }
        Ok(())
    }

    fn configuration(&self) -> Result<Configuration, Failure> {
        let personality = self.personality.as_deref().map(personality).transpose();
        let variant = self.variant.as_deref().map(variant).transpose();
        let personality = personality.map_err(Failure::input)?.unwrap_or_default();
        Configuration::with_features(personality, variant.map_err(Failure::input)?)
            .without(&self.disable)
            .and_then(|configuration| configuration.trying(&self.enable))
            .map_err(Failure::input)
    }

    /// Prints the names of features or experiments.
    fn list(&self, configuration: &Configuration, output: &Output) {
        let variant = configuration.eval.variant;
        let all = if self.features { configuration.features() } else { variant.experiments() };
        if self.json {
            let about = |one: &Feature| json!({"name": one.name, "about": one.about});
            let features: Vec<Value> = all.iter().map(about).collect();
            let object = json!({"variant": variant.name(), "features": features});
            output.line(&object.to_string());
            return;
        }
        for feature in &all {
            output.line(&format!("{:<23}{}", feature.name, feature.about));
        }
        if all.is_empty() {
            output.line(&format!("{} has none.", variant.name()));
        }
    }

    fn positions(&self) -> Result<Vec<Position>, Failure> {
        if let Some(file) = &self.positions {
            read_positions(file)
        } else if self.fen.is_empty() {
            Ok(vec![Position::startpos()])
        } else {
            Ok(vec![fen::parse(&self.fen.join(" ")).map_err(Failure::input)?])
        }
    }
}

/// Returns an object with `fen`, `variant`, `value` (centipawns for the side to move), `phase`,
/// `terms` (White minus Black, without zeros) and `steps` (changes of the blended score, in
/// centipawns from White's point of view). With `full` also each side's terms and their final
/// values.
fn object(report: &Report, position: &Position, full: bool) -> Value {
    let terms = |score: fn(&Term) -> Pair| -> Map<String, Value> {
        let scores = report.terms.iter().map(|term| (term.feature.name.to_owned(), score(term)));
        let scores = scores.filter(|(_, score)| *score != Pair::ZERO);
        scores.map(|(name, pair)| (name, json!([pair.opening(), pair.endgame()]))).collect()
    };
    let steps = report.terms.iter().filter(|term| term.step != 0);
    let steps: Map<String, Value> =
        steps.map(|term| (term.feature.name.to_owned(), term.step.into())).collect();
    let mut object = json!({
        "fen": position.to_string(),
        "variant": report.variant.name(),
        "value": report.value,
        "phase": report.phase,
        "terms": terms(Term::net),
        "steps": steps,
    });
    if full {
        let worth = report.terms.iter().filter(|term| term.is_nonzero()).map(|term| {
            let centipawns = (report.centipawns(term) * 100.0).round() / 100.0;
            (term.feature.name.to_owned(), centipawns.into())
        });
        object["white"] = terms(|term| term.sides[0]).into();
        object["black"] = terms(|term| term.sides[1]).into();
        object["final_cp"] = worth.collect::<Map<String, Value>>().into();
        object["unit"] = report.variant.unit().into();
    }
    object
}

/// Reads one position per line, as FEN or EPD; empty lines and lines that begin with `#` are
/// skipped.
pub(super) fn read_positions(file: &Path) -> Result<Vec<Position>, Failure> {
    let name = file.display();
    let bytes = input::read(file)
        .map_err(|error| Failure::input(format!("cannot read {name}: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut positions = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let position = fen::parse(&position_fields(line))
            .map_err(|error| Failure::input(format!("{name}, line {}: {error}", index + 1)))?;
        positions.push(position);
    }
    Ok(positions)
}

/// Returns the fields of the position, without the operations of an EPD.
fn position_fields(line: &str) -> String {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let counters = fields.iter().skip(4).take(2).take_while(|field| field.parse::<u32>().is_ok());
    fields[..(4 + counters.count()).min(fields.len())].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_omitted() {
        for (line, expected) in [
            ("8/8 w - - 0 1", "8/8 w - - 0 1"),
            ("8/8 w - -", "8/8 w - -"),
            ("8/8 w - - bm Kd2; id \"1\";", "8/8 w - -"),
            ("8/8 w - - 3 9 ; D1 20", "8/8 w - - 3 9"),
            ("8/8", "8/8"),
        ] {
            assert_eq!(position_fields(line), expected, "{line}");
        }
    }
}
