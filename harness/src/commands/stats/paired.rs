//! `arbiter stats mcnemar`, `speed` and `workers`: comparisons that are not matches.

use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::numbers::shown;
use super::{Answer, ONE_ROW, numbers};
use crate::Rows;
use arbiter_process::read_text;
use arbiter_report::{Document, Table, percent, to_value};
use arbiter_schedule::seed::{below, seed_for};
use arbiter_stats::Pentanomial;
use arbiter_stats::paired::{self, Solved, Speeds};
use arbiter_stats::residuals::{self, Colour, Residuals};

/// Smallest and largest speed accepted: ratios of them stay finite.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-9..=1e18;

/// Most positions of one kind: of as many all figures are exact.
const MAX_POSITIONS: u64 = 1_000_000_000;

/// Flags of `arbiter stats mcnemar`.
#[derive(Debug, Args)]
pub(crate) struct McnemarArgs {
    /// Positions only the first run solved
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MAX_POSITIONS))]
    only_first: u64,
    /// Positions only the second run solved
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MAX_POSITIONS))]
    only_second: u64,
    /// Positions both solved
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MAX_POSITIONS))]
    both: u64,
    /// Positions neither solved
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MAX_POSITIONS))]
    neither: u64,
}

/// Flags of `arbiter stats speed`.
#[derive(Debug, Args)]
pub(crate) struct SpeedArgs {
    /// File with two speeds (nodes per second, or any other) in each line: first and second program
    /// at the same position
    file: PathBuf,
    /// Rounds of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    rounds: usize,
    /// Seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Flags of `arbiter stats workers`.
#[derive(Debug, Args)]
pub(crate) struct WorkersArgs {
    /// A worker and its pairs; repeat for each
    #[arg(long, value_name = "NAME=LL,LD,DD,WD,WW", required = true, value_parser = named_counts)]
    worker: Vec<(String, [u64; 5])>,
}

fn named_counts(text: &str) -> Result<(String, [u64; 5]), String> {
    let (name, counts) =
        text.rsplit_once('=').ok_or_else(|| format!("expected NAME=COUNTS, got '{text}'"))?;
    Ok((name.to_owned(), numbers::counts(counts)?))
}

/// McNemar's test of two runs over the same positions: `arbiter stats mcnemar`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.stats.mcnemar/1")]
pub(crate) struct McnemarFigures {
    #[serde(flatten)]
    solved: Solved,
    /// Exact p-value.
    p_exact: Option<f64>,
    /// Mid-p-value.
    p_mid: Option<f64>,
    /// Chi-squared with one degree of freedom.
    chi_squared: Option<f64>,
    /// Difference of the shares solved.
    difference: Option<f64>,
    /// Its standard error.
    difference_error: Option<f64>,
}

/// Ratio of two speeds: `arbiter stats speed`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.stats.speed/1")]
pub(crate) struct SpeedFigures {
    /// Pairs of speeds.
    items: usize,
    /// Rounds of the bootstrap.
    rounds: usize,
    /// Seed of the bootstrap.
    seed: u64,
    /// Speed of the first program over that of the second.
    ratio: f64,
    /// Lower end of its 95 % interval.
    ratio_low: Option<f64>,
    /// Upper end of its 95 % interval.
    ratio_high: Option<f64>,
    /// Probability that the first is faster, 0 to 1.
    faster_probability: Option<f64>,
}

/// Workers whose pairs are distributed unlike the others': `arbiter stats workers`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.stats.workers/1")]
pub(crate) struct WorkersFigures<'a> {
    /// Chi-squared of all workers.
    chi_squared: Option<f64>,
    /// Its degrees of freedom.
    degrees_of_freedom: Option<u64>,
    /// Its p-value.
    p: Option<f64>,
    /// Residual from which on a worker is yellow.
    residual_yellow: Option<f64>,
    /// Residual from which on a worker is red.
    residual_red: Option<f64>,
    /// The workers.
    workers: Vec<WorkerFigures<'a>>,
    /// The worker to be left out, if one should be.
    remove: Option<&'a str>,
}

/// A worker.
#[derive(Debug, Serialize, JsonSchema)]
struct WorkerFigures<'a> {
    /// Its name.
    worker: &'a str,
    /// Its pairs by points, from none to two.
    pentanomial: [u64; 5],
    /// How unlike the others it is, in standard deviations; `null` for too few pairs.
    residual: Option<f64>,
    /// `green`, `yellow` or `red`.
    color: Option<&'static str>,
}

/// Compares two runs over the same positions.
pub(crate) fn mcnemar(args: &McnemarArgs) -> Result<Answer, String> {
    let [both, only_first] = [args.both, args.only_first];
    let [only_second, neither] = [args.only_second, args.neither];
    let solved = Solved { both, only_first, only_second, neither };
    if [both, only_first, only_second, neither].into_iter().any(|count| count > 1 << 50) {
        return Err("expected counts of at most 2^50".to_owned());
    }
    let found = paired::mcnemar(&solved);
    let json = to_value(&McnemarFigures {
        solved,
        p_exact: found.map(|m| m.p_exact),
        p_mid: found.map(|m| m.p_mid),
        chi_squared: found.map(|m| m.chi_squared),
        difference: found.map(|m| m.difference.0),
        difference_error: found.map(|m| m.difference.1),
    });
    let mut document = Document::new("Two runs over the same positions".to_owned());
    match found {
        None => document.paragraph("No p-value: the runs solved the same positions."),
        Some(found) => {
            document.paragraph(format!(
                "Solved only by the first {}, only by the second {}.",
                solved.only_first, solved.only_second
            ));
            document.paragraph(format!(
                "Difference {:+.2} ± {:.2} % of the positions (95 %).",
                100.0 * found.difference.0,
                100.0 * paired::margin(found.difference.1)
            ));
            document.paragraph(format!(
                "p = {:.4} (exact), {:.4} (mid-p); chi-squared {:.3}.",
                found.p_exact, found.p_mid, found.chi_squared
            ));
        }
    }
    Ok(Answer { json, document, rows: ONE_ROW })
}

/// Compares speeds.
pub(crate) fn speed(args: &SpeedArgs) -> Result<Answer, String> {
    if !(40..=10_000_000).contains(&args.rounds) {
        return Err(format!("expected 40 to 10000000 rounds, got {}", args.rounds));
    }
    let items = read_speeds(&args.file)?;
    let mut rng = seed_for(args.seed, "stats.speed", 0);
    let found = paired::speed_ratio(&items, args.rounds, |n| below(&mut rng, n as u64) as usize)
        .ok_or("expected at least one line of two positive speeds")?;
    let json = to_value(&SpeedFigures {
        items: items.len(),
        rounds: args.rounds,
        seed: args.seed,
        ratio: found.ratio,
        ratio_low: found.interval.map(|(low, _)| low),
        ratio_high: found.interval.map(|(_, high)| high),
        faster_probability: found.faster,
    });
    let interval =
        found.interval.map_or("without an interval, of a single item".to_owned(), |(low, high)| {
            format!("[{low:.4}, {high:.4}] (95 %, {} rounds, seed {})", args.rounds, args.seed)
        });
    let (ratio, faster) = (format!("{:.4} {interval}", found.ratio), percent(found.faster));
    let mut document = Document::new("Speed of two programs".to_owned());
    let mut table = Table::new(["figure", "value"]);
    table.push([&"speed, first over second", &ratio]);
    table.push([&"the first is faster", &faster]);
    document.table(table);
    Ok(Answer { json, document, rows: ONE_ROW })
}

fn read_speeds(path: &Path) -> Result<Vec<Speeds>, String> {
    let name = path.display();
    let text = read_text(path).map_err(|error| format!("{name}: {error}"))?;
    let mut items = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> =
            line.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()).collect();
        let item = match words.as_slice() {
            [first, second] => first.parse().ok().zip(second.parse().ok()),
            _ => None,
        };
        let Some((first, second)) = item else {
            return Err(format!("{name}:{number}: expected two speeds, got '{line}'"));
        };
        if !(SPEEDS.contains(&first) && SPEEDS.contains(&second)) {
            let (low, high) = (SPEEDS.start(), SPEEDS.end());
            return Err(format!(
                "{name}:{number}: expected speeds from {low:e} to {high:e}, got '{line}'"
            ));
        }
        items.push(Speeds { first, second });
    }
    Ok(items)
}

/// Compares workers.
pub(crate) fn workers<'a>(args: &'a WorkersArgs) -> Result<Answer, String> {
    let pairs: Vec<Pentanomial> = args.worker.iter().map(|(_, p)| Pentanomial(*p)).collect();
    let found = residuals::compare(&pairs);
    let colour = |colour: Colour| match colour {
        Colour::Green => "green",
        Colour::Yellow => "yellow",
        Colour::Red => "red",
    };
    let of = |index: usize| found.as_ref().and_then(|f| f.sources[index]);
    let remove = found.as_ref().and_then(Residuals::to_remove);
    let worker = |(index, (worker, pentanomial)): (usize, &'a (String, [u64; 5]))| WorkerFigures {
        worker,
        pentanomial: *pentanomial,
        residual: of(index).map(|(z, _)| z),
        color: of(index).map(|(_, c)| colour(c)),
    };
    let json = to_value(&WorkersFigures {
        chi_squared: found.as_ref().map(|f| f.chi_squared),
        degrees_of_freedom: found.as_ref().map(|f| f.freedom),
        p: found.as_ref().map(|f| f.p),
        residual_yellow: found.as_ref().map(|f| f.limits.0),
        residual_red: found.as_ref().map(|f| f.limits.1),
        workers: args.worker.iter().enumerate().map(worker).collect(),
        remove: remove.map(|index| args.worker[index].0.as_str()),
    });
    let sum = match &found {
        None => "no test: fewer than two workers have enough pairs".to_owned(),
        Some(f) => format!(
            "chi-squared {:.3} with {} degrees of freedom, p = {:.4}",
            f.chi_squared, f.freedom, f.p
        ),
    };
    let mut document = Document::new("Workers whose pairs are unlike the others'".to_owned());
    document.paragraph(format!("{sum}."));
    let mut table = Table::new(["worker", "residual", "colour"]);
    for (index, (name, _)) in args.worker.iter().enumerate() {
        let word = of(index).map_or("too few pairs", |(_, c)| colour(c));
        let residual = shown(of(index).map(|(z, _)| z), 2);
        table.push([name, &residual, &word]);
    }
    document.table(table);
    if let Some(index) = remove {
        document.paragraph(format!("Leave out {} and look again.", args.worker[index].0));
    }
    let rows = Rows { list: Some("workers"), first: &["worker", "residual", "color"] };
    Ok(Answer { json, document, rows })
}
