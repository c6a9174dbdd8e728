//! `arbiter stats simulate`: complete tests with simulated pairs.

use std::thread;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{BIASES, TestArgs, format_number, list, no_variance};
use crate::args::threads;
use crate::output::{OutputFormat, Rows};
use arbiter_report::{Document, Table, progress_bar, to_value};
use arbiter_schedule::seed::{seed_for, uniform};
use arbiter_settings::{CORRECTIONS, one_of};
use arbiter_stats::simulate::{Simulation, pair_model, shifted, strengths};
use arbiter_stats::{Correction, Decision, Sprt};

/// Number of runs between two updates of the progress bar.
const BAR_STEP: u64 = 16;

/// Flags of `arbiter stats simulate`.
#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    test: TestArgs,
    /// Number of tests for each strength
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    runs: u64,
    /// True strengths, on the scale of the bounds [default: elo0, the middle, elo1]
    #[arg(long, value_name = "ELO,…", value_delimiter = ',', allow_hyphen_values = true)]
    elo: Vec<f64>,
    /// Share of draws between equal engines, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    draw_ratio: f64,
    /// Bias of each opening for one side, in Elo
    #[arg(long, value_name = "ELO", default_value_t = 0.0)]
    bias: f64,
    /// Probabilities of the five pair scores; they determine the true strength
    #[arg(long, value_name = "LL,LD,DD,WD,WW", value_parser = list::<f64, 5>,
        conflicts_with_all = ["elo", "draw_ratio", "bias"])]
    probabilities: Option<[f64; 5]>,
    /// Number of pairs between two evaluations of the LLR
    #[arg(long, value_name = "N", default_value_t = 1)]
    batch: u64,
    /// Maximum number of pairs, after which a test ends without a verdict
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    cap: u64,
    /// Correction of the LLR bounds for overshoot [default: as in arbiter sprt]
    #[arg(long, value_parser = one_of(CORRECTIONS))]
    overshoot: Option<Correction>,
    /// Seed of the simulated results
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads [default: one per processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// Sums over the tests at one strength. The sums are integers, so the order of addition does not
/// matter.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    /// Number of tests that accepted H1.
    passed: u64,
    /// Number of tests that accepted H0.
    failed: u64,
    /// Number of tests that ended without a verdict.
    capped: u64,
    /// Sum of the numbers of pairs.
    pairs: u128,
    /// Sum of the squared numbers of pairs.
    squares: u128,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.capped += other.capped;
        self.pairs += other.pairs;
        self.squares += other.squares;
    }

    fn runs(&self) -> f64 {
        (self.passed + self.failed + self.capped) as f64
    }

    /// Returns `part` as a share of the runs, with its standard error. The error is computed with
    /// two more runs of each kind, so that it is never 0 (A. Agresti, B. Coull, 1998).
    fn share(&self, part: u64) -> (f64, f64) {
        let runs = self.runs() + 4.0;
        let p = (part as f64 + 2.0) / runs;
        (part as f64 / self.runs(), (p * (1.0 - p) / runs).sqrt())
    }

    /// Returns the mean number of games per run, with its standard error.
    fn games(&self) -> (f64, f64) {
        let mean = self.pairs as f64 / self.runs();
        // Rounding may make the difference of two large numbers negative.
        let variance = (self.squares as f64 / self.runs() - mean * mean).max(0.0);
        (2.0 * mean, 2.0 * (variance / (self.runs() - 1.0)).sqrt())
    }
}

/// Error rates and lengths of simulated tests: `arbiter stats simulate`. The `error` fields are
/// standard errors.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.stats.simulate/1")]
pub(crate) struct SimulationFigures {
    #[serde(flatten)]
    test: Sprt,
    /// Number of tests for each strength.
    runs: u64,
    /// Seed of the simulated results.
    seed: u64,
    /// Number of pairs between two evaluations of the log-likelihood ratio.
    batch: u64,
    /// Maximum number of pairs of a test.
    cap_pairs: u64,
    /// Results by true strength.
    points: Vec<PointFigures>,
}

/// Results of the tests at one strength.
#[derive(Debug, Serialize, JsonSchema)]
struct PointFigures {
    /// Requested strength, on the Elo scale of the bounds; `null` with --probabilities.
    elo_true: Option<f64>,
    /// True strength in normalized Elo.
    nelo: Option<f64>,
    /// True strength in logistic Elo.
    elo: Option<f64>,
    /// Probabilities of the pair scores 0, ½, 1, 1½ and 2.
    probabilities: [f64; 5],
    /// Share of tests that accepted H1, 0 to 1.
    pass_rate: f64,
    /// Standard error of `pass_rate`.
    pass_rate_error: f64,
    /// Share of tests that accepted H0, 0 to 1.
    fail_rate: f64,
    /// Standard error of `fail_rate`.
    fail_rate_error: f64,
    /// Number of tests that ended without a verdict.
    capped: u64,
    /// Mean number of games of a test.
    mean_games: f64,
    /// Standard error of `mean_games`.
    mean_games_error: f64,
}

/// Simulates the tests, and returns the results in the given format.
pub(crate) fn run(args: &SimulateArgs, format: OutputFormat) -> Result<String, String> {
    let test = args.test.test(args.overshoot)?;
    let threads = threads(args.threads)?;
    let cases = cases(args, &test)?;
    let bar = progress_bar(args.runs * cases.len() as u64);
    let mut points = Vec::new();
    for (case, (elo, probabilities)) in (0u64..).zip(cases) {
        let simulation = Simulation { test, probabilities, batch: args.batch, cap: args.cap };
        // Each run has a separate random generator, so the result does not depend on the number of
        // threads.
        let work = |first: usize| {
            let mut tally = Tally::default();
            for run in (first as u64..args.runs).step_by(threads) {
                tally.add(play_one(args.seed, case, run, &simulation));
                if run.is_multiple_of(BAR_STEP) {
                    bar.inc(BAR_STEP);
                }
            }
            tally
        };
        let mut tally = Tally::default();
        thread::scope(|scope| {
            let workers: Vec<_> =
                (0..threads).map(|first| scope.spawn(move || work(first))).collect();
            for worker in workers {
                tally.add(worker.join().expect("a worker only computes"));
            }
        });
        points.push(PointFigures::of(elo, probabilities, &tally));
    }
    bar.finish_and_clear();
    let (runs, seed, batch, cap_pairs) = (args.runs, args.seed, args.batch, args.cap);
    let figures = SimulationFigures { test, runs, seed, batch, cap_pairs, points };
    let rows = Rows { list: Some("points"), first: &["elo_true", "nelo", "elo"] };
    Ok(format.of_document(&document(&figures), || to_value(&figures), rows))
}

impl PointFigures {
    fn of(elo_true: Option<f64>, probabilities: [f64; 5], tally: &Tally) -> PointFigures {
        let (pass_rate, pass_rate_error) = tally.share(tally.passed);
        let (fail_rate, fail_rate_error) = tally.share(tally.failed);
        let (mean_games, mean_games_error) = tally.games();
        let strengths = strengths(&probabilities);
        PointFigures {
            elo_true,
            nelo: strengths.map(|(nelo, _)| nelo),
            elo: strengths.map(|(_, elo)| elo),
            probabilities,
            pass_rate,
            pass_rate_error,
            fail_rate,
            fail_rate_error,
            capped: tally.capped,
            mean_games,
            mean_games_error,
        }
    }
}

/// Requested strength (`None` with `--probabilities`), and the probability of each pair score.
type Case = (Option<f64>, [f64; 5]);

/// Returns the cases to simulate; fails if a flag is out of range.
fn cases(args: &SimulateArgs, test: &Sprt) -> Result<Vec<Case>, String> {
    if args.runs < 2 || args.batch == 0 || args.cap == 0 {
        return Err("expected --runs of at least 2, and --batch and --cap of at least 1".to_owned());
    }
    if let Some(given) = args.probabilities {
        let sum: f64 = given.iter().sum();
        if given.iter().any(|p| !(*p >= 0.0 && p.is_finite())) || (sum - 1.0).abs() > 1e-6 {
            return Err(format!("expected five probabilities adding up to 1, got {given:?}"));
        }
        return Ok(vec![(None, given.map(|p| p / sum))]);
    }
    if !(0.01..=0.99).contains(&args.draw_ratio) || !BIASES.contains(&args.bias) {
        return Err("expected --draw-ratio from 0.01 to 0.99 and --bias from 0 to 400".to_owned());
    }
    let (elo0, elo1) = (test.elo0, test.elo1);
    let elos =
        if args.elo.is_empty() { vec![elo0, 0.5 * (elo0 + elo1), elo1] } else { args.elo.clone() };
    let limit = test.model.max_elo();
    if let Some(elo) = elos.iter().find(|elo| elo.is_nan() || elo.abs() > limit) {
        return Err(format!("expected true strengths between -{limit} and {limit}, got {elo}"));
    }
    let base = pair_model(args.draw_ratio, args.bias);
    let base = base.ok_or_else(|| no_variance(args.bias, args.draw_ratio))?;
    Ok(elos.into_iter().map(|elo| (Some(elo), shifted(&base, elo, test.model))).collect())
}

fn play_one(seed: u64, case: u64, run: u64, simulation: &Simulation) -> Tally {
    let mut rng = seed_for(seed, "stats.simulate", (case << 40) | run);
    let played = simulation.play(|| uniform(&mut rng));
    let pairs = u128::from(played.pairs.pairs());
    let mut tally = Tally { pairs, squares: pairs * pairs, ..Tally::default() };
    match played.decision {
        Decision::AcceptH1 => tally.passed = 1,
        Decision::AcceptH0 => tally.failed = 1,
        Decision::Continue => tally.capped = 1,
    }
    tally
}

fn document(figures: &SimulationFigures) -> Document {
    let SimulationFigures { test, runs, seed, batch, points, .. } = figures;
    let correction = match test.correction {
        Correction::Dynamic => "corrected for overshoot",
        Correction::None => "Wald's bounds",
    };
    let mut document = Document::new("Error rates of simulated tests".to_owned());
    document.paragraph(format!(
        "{runs} tests each of {} Elo {} against {}, alpha {}, beta {}, {correction}, evaluated \
         every {batch} pairs, seed {seed}. Errors are standard errors.",
        test.model, test.elo0, test.elo1, test.alpha, test.beta
    ));
    let mut table = Table::new(["true", "nElo", "Elo", "passed", "capped", "games"]);
    for point in points {
        table.push([
            &format_number(point.elo_true, 2),
            &format_number(point.nelo, 3),
            &format_number(point.elo, 3),
            &format!("{:.2} ± {:.2} %", 100.0 * point.pass_rate, 100.0 * point.pass_rate_error),
            &point.capped,
            &format!("{:.0} ± {:.0}", point.mean_games, point.mean_games_error),
        ]);
    }
    document.table(table);
    // The error rates can be compared with alpha and beta only if a true strength equals a
    // hypothesis.
    for point in points {
        let (name, promised, rate, error) = match point.elo_true {
            Some(elo) if elo == test.elo0 => {
                ("alpha", test.alpha, point.pass_rate, point.pass_rate_error)
            }
            Some(elo) if elo == test.elo1 => {
                ("beta", test.beta, point.fail_rate, point.fail_rate_error)
            }
            _ => continue,
        };
        if point.capped == *runs {
            document.paragraph(format!("Not measured: {name}, because all tests reached the cap."));
            continue;
        }
        // The tolerance is four standard errors. A test with the promised error rate very rarely
        // exceeds this tolerance by chance.
        let word = if rate <= promised + 4.0 * error { "holds" } else { "VIOLATED" };
        document.paragraph(format!(
            "Measured {name} {:.3} ± {:.3} %: {:.3} % {word}.",
            100.0 * rate,
            100.0 * error,
            100.0 * promised
        ));
    }
    document
}
