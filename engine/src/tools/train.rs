//! The command `train` of the command line.

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
        let begun = Instant::now();
        let mut trained = 0;
        let mut all = Vec::new();
        let mut report = |errors: &[EpochErrors]| {
            trained += training;
            let speed = trained as f64 / begun.elapsed().as_secs_f64();
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

    /// Checks that all input and output files differ and that output files are regular files.
    fn check_files(&self) -> Result<(), String> {
        let mut known = Vec::new();
        let mut add = |file: &Path| {
            let place =
                place(file).ok_or(format!("{}: its folder is not there", file.display()))?;
            if known.contains(&place) {
                return Err(format!("{}: two of the files would be this one", file.display()));
            }
            known.push(place);
            Ok(())
        };
        let out = self.out.as_path();
        // The output file may be the initial network, because the network is read first.
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

/// Returns the canonical path of a file that may not exist; `None` if its folder does not exist.
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

/// Returns the errors by epoch, as SVG.
fn chart(errors: &[EpochErrors]) -> String {
    const SIZE: [f64; 2] = [640.0, 320.0];
    const MARGIN: [f64; 2] = [70.0, 30.0];
    let values = || errors.iter().flat_map(|errors| [errors.training, errors.validation]);
    let (least, most) =
        values().fold((f64::MAX, 0.0), |(least, most), value| (value.min(least), value.max(most)));
    let x = |epoch: usize| {
        let share = epoch as f64 / (errors.len() - 1).max(1) as f64;
        MARGIN[0] + share * (SIZE[0] - MARGIN[0] - 90.0)
    };
    let y = |value: f64| {
        let share = (most - value) / (most - least).max(1e-12);
        MARGIN[1] + share * (SIZE[1] - 2.0 * MARGIN[1])
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" \
         font-size=\"12\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"{}\" y=\"18\">mean squared error by epoch (1 to {})</text>\n",
        SIZE[0],
        SIZE[1],
        MARGIN[0],
        errors.len()
    );
    for value in [least, (least + most) / 2.0, most] {
        let left = MARGIN[0];
        let right = SIZE[0] - 90.0;
        let height = y(value);
        let _infallible = writeln!(
            svg,
            "<path d=\"M{left} {height:.1}H{right}\" stroke=\"#ccc\"/>\
             <text x=\"8\" y=\"{:.1}\">{value:.5}</text>",
            height + 4.0
        );
    }
    let training: Vec<f64> = errors.iter().map(|one| one.training).collect();
    let validation: Vec<f64> = errors.iter().map(|one| one.validation).collect();
    let lines = [("training", "#0550ae", training), ("validation", "#953800", validation)];
    for (at, (label, color, values)) in lines.into_iter().enumerate() {
        let points = values.iter().enumerate();
        let points = points.map(|(at, &value)| format!("{:.1},{:.1}", x(at), y(value)));
        let points = points.collect::<Vec<_>>().join(" ");
        let (label_x, label_y) = (SIZE[0] - 85.0, SIZE[1] - 50.0 + 18.0 * at as f64);
        let _infallible = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\
             <text x=\"{label_x}\" y=\"{label_y}\" fill=\"{color}\">{label}</text>"
        );
    }
    svg + "</svg>\n"
}
