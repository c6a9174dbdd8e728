//! The command `train`.

#![expect(clippy::disallowed_methods, reason = "speed is shown")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use super::{Output, THREADS_MAX, number, processors};
use crate::eval::nnue::embedded;
use crate::eval::nnue::network::Network;
use crate::failure::Failure;
use crate::train::{Data, EpochErrors, Settings, replace, temporary_path, train};
use crate::uci::options::network;

/// Train a network for Eval nnue on positions of datagen, or continue a stopped training
#[derive(Args)]
pub(super) struct TrainArgs {
    /// Files with positions
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// File for the network
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Network to start from, or <embedded>; by default random weights
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
    /// Number of passes through the positions
    #[arg(
        long,
        default_value_t = Settings::default().epochs,
        value_parser = number::<usize>(1, 10_000),
    )]
    epochs: usize,
    /// Positions per step
    #[arg(
        long,
        default_value_t = Settings::default().batch,
        value_parser = number::<usize>(1, 1 << 20),
    )]
    batch: usize,
    /// Learning rate at the start; it falls to a hundredth
    #[arg(long, default_value_t = Settings::default().rate, value_parser = number::<f32>(0.0, 1.0))]
    rate: f32,
    /// Share of the game's result in the target, 0 to 1; the rest is the score
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = Settings::default().result_share,
        value_parser = number::<f32>(0.0, 1.0),
    )]
    results: f32,
    /// Seed of random weights and of the order of the positions
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Number of threads
    #[arg(long, default_value_t = processors(), value_parser = number(1, THREADS_MAX))]
    threads: usize,
    /// Draw the error by epoch (SVG)
    #[arg(long, value_name = "FILE.svg")]
    loss: Option<PathBuf>,
}

impl TrainArgs {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let start = self.start().map_err(Failure::input)?;
        self.check_files().map_err(Failure::usage)?;
        let data = self.data()?;
        let [training, validation, games] = data.counts();
        output.line(&format!(
            "{training} positions to learn from, {validation} for validation, {games} games"
        ));
        let failed = |path: &Path, error: std::io::Error| {
            Failure::environment(format!("{}: {error}", path.display()))
        };
        let checkpoint = self.out.with_added_extension("checkpoint");
        let started = Instant::now();
        let mut trained = 0;
        let mut all = Vec::new();
        let mut report = |errors: &[EpochErrors]| {
            trained += training;
            let speed = trained as f64 / started.elapsed().as_secs_f64();
            output.line(&line(errors, speed));
            all = errors.to_vec();
        };
        let network = train(&data, self.settings(start), &checkpoint, &mut report)
            .map_err(|error| failed(&checkpoint, error))?;
        if let Some(loss) = &self.loss {
            replace(loss, chart(&all).as_bytes()).map_err(|error| failed(loss, error))?;
        }
        replace(&self.out, &network.to_bytes()).map_err(|error| failed(&self.out, error))?;
        fs::remove_file(&checkpoint).map_err(|error| failed(&checkpoint, error))?;
        output.line(&format!("{} {network:?}", self.out.display()));
        Ok(())
    }

    /// Returns the network to start from; `None` for random weights.
    fn start(&self) -> Result<Option<&'static Network>, String> {
        let Some(file) = &self.from else { return Ok(None) };
        Ok(Some(network("--from", file)?.unwrap_or_else(embedded)))
    }

    fn settings(&self, start: Option<&'static Network>) -> Settings {
        let &TrainArgs { epochs, batch, rate, results, seed, threads, .. } = self;
        Settings { epochs, batch, rate, result_share: results, seed, threads, start }
    }

    fn data(&self) -> Result<Data, Failure> {
        let mut data = Data::default();
        for file in &self.files {
            data.read(file)
                .map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
        }
        let [training, validation, _] = data.counts();
        if training == 0 || validation == 0 {
            let files: Vec<_> = self.files.iter().map(|file| file.to_string_lossy()).collect();
            let counts = format!("{training} positions to learn from, {validation} for validation");
            return Err(Failure::input(format!("{}: {counts} are too few", files.join(", "))));
        }
        Ok(data)
    }

    /// Checks that all input and output files differ, and that existing output files are regular
    /// files.
    fn check_files(&self) -> Result<(), String> {
        let mut paths = Vec::new();
        let mut add = |file: &Path| {
            let place =
                place(file).ok_or(format!("{}: its folder is not there", file.display()))?;
            if paths.contains(&place) {
                return Err(format!("{}: two of the files would be this one", file.display()));
            }
            paths.push(place);
            Ok(())
        };
        let out = self.out.as_path();
        // The output file may be the initial network, because the network is read before the output
        // is written.
        let from = self.from.as_ref().map(Path::new).filter(|&from| place(from) != place(out));
        self.files.iter().map(PathBuf::as_path).chain(from).try_for_each(&mut add)?;
        let checkpoint = out.with_added_extension("checkpoint");
        for file in [out, &checkpoint].into_iter().chain(self.loss.as_deref()) {
            if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
                return Err(format!("{}: it is not a regular file", file.display()));
            }
            add(file)?;
            add(&temporary_path(file))?;
        }
        Ok(())
    }
}

/// Returns the canonical path of a file; `None` if the folder of the file does not exist. The file
/// need not exist.
fn place(file: &Path) -> Option<PathBuf> {
    fs::canonicalize(file).ok().or_else(|| {
        let folder = fs::canonicalize(Path::new(".").join(file.parent()?)).ok()?;
        Some(folder.join(file.file_name()?))
    })
}

fn line(errors: &[EpochErrors], speed: f64) -> String {
    let epoch = errors.len();
    let EpochErrors { training, validation } = errors[epoch - 1];
    format!(
        "epoch {epoch:>3}  training {training:.6}  validation {validation:.6}  {speed:.0} \
         positions/s"
    )
}

/// Returns a chart of the errors by epoch, as SVG.
fn chart(errors: &[EpochErrors]) -> String {
    type Error = fn(&EpochErrors) -> f64;
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 320.0;
    const LEFT: f64 = 70.0;
    const RIGHT: f64 = WIDTH - 90.0;
    const TOP: f64 = 30.0;
    const LABELS: f64 = WIDTH - 85.0;
    let values = errors.iter().flat_map(|errors| [errors.training, errors.validation]);
    let least = values.clone().fold(f64::MAX, f64::min);
    let most = values.fold(0.0, f64::max);
    let x = |epoch: usize| {
        let share = epoch as f64 / (errors.len() - 1).max(1) as f64;
        LEFT + share * (RIGHT - LEFT)
    };
    let y = |value: f64| {
        let share = (most - value) / (most - least).max(1e-12);
        TOP + share * (HEIGHT - 2.0 * TOP)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"{LEFT}\" y=\"18\">mean squared error by epoch (1 to {})</text>\n",
        errors.len()
    );
    for value in [least, (least + most) / 2.0, most] {
        let height = y(value);
        let _infallible = writeln!(
            svg,
            "<path d=\"M{LEFT} {height:.1}H{RIGHT}\" stroke=\"#ccc\"/>\
             <text x=\"8\" y=\"{:.1}\">{value:.5}</text>",
            height + 4.0
        );
    }
    let lines: [(&str, &str, Error); 2] = [
        ("training", "#0550ae", |one| one.training),
        ("validation", "#953800", |one| one.validation),
    ];
    for (row, (label, color, value)) in lines.into_iter().enumerate() {
        let point = |(epoch, one)| format!("{:.1},{:.1}", x(epoch), y(value(one)));
        let points: Vec<String> = errors.iter().enumerate().map(point).collect();
        let height = HEIGHT - 50.0 + 18.0 * row as f64;
        let _infallible = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\
             <text x=\"{LABELS}\" y=\"{height}\" fill=\"{color}\">{label}</text>",
            points.join(" ")
        );
    }
    svg + "</svg>\n"
}
