//! The command `train` of the command line.

#![expect(clippy::disallowed_methods, reason = "speed is shown")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Instant;

use super::cli::{CommandError, EXIT_ENVIRONMENT, EXIT_INPUT, EXIT_USAGE, exit_code};
use super::options::network;
use super::output::Output;
use crate::eval::nnue::embedded;
use crate::train::{Data, EpochErrors, Settings, beside, replace, train};

/// Parsed arguments.
struct Request<'a> {
    files: Vec<&'a str>,
    out: &'a str,
    /// A network to begin with.
    from: Option<&'a str>,
    /// Path of the error curve, if it is to be drawn.
    loss: Option<&'a str>,
    settings: Settings,
}

/// Runs `train` with the words that follow it and returns the exit code.
pub(super) fn run(words: &[&str], output: &Output, usage: &str) -> i32 {
    let done = Request::parse(words)
        .map_err(|reason| CommandError(EXIT_USAGE, format!("{reason}\n{usage}")))
        .and_then(|request| request.carry_out(output));
    exit_code(done)
}

impl<'a> Request<'a> {
    fn parse(words: &[&'a str]) -> Result<Request<'a>, String> {
        let threads = thread::available_parallelism().map_or(1, Into::into);
        let mut settings = Settings { threads, ..Settings::default() };
        let (mut files, mut out, mut from, mut loss) = (Vec::new(), None, None, None);
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word {
                "--out" => out = Some(value()?),
                "--loss" => loss = Some(value()?),
                "--from" => from = Some(value()?),
                "--epochs" => settings.epochs = number(word, value()?, 1, 10_000)?,
                "--batch" => settings.batch = number(word, value()?, 1, 1 << 20)?,
                "--rate" => settings.rate = number(word, value()?, 0.0, 1.0)?,
                "--results" => settings.result_share = number(word, value()?, 0.0, 1.0)?,
                "--threads" => settings.threads = number(word, value()?, 1, 256)?,
                "--seed" => settings.seed = number(word, value()?, 0, u64::MAX)?,
                _ if word.starts_with('-') => return Err(format!("{word} is no option of train")),
                _ => files.push(word),
            }
        }
        let out = out.ok_or("train needs --out FILE for the network")?;
        if files.is_empty() {
            return Err("train needs a file of positions".to_owned());
        }
        Ok(Request { files, out, from, loss, settings })
    }

    fn carry_out(&self, output: &Output) -> Result<(), CommandError> {
        let begin_with = |file| network("--from", file).map(|known| known.unwrap_or_else(embedded));
        let start = self.from.map(begin_with).transpose();
        let start = start.map_err(|reason| CommandError(EXIT_INPUT, reason))?;
        let settings = Settings { start, ..self.settings };
        self.check_files().map_err(|reason| CommandError(EXIT_USAGE, reason))?;
        let mut data = Data::default();
        for file in &self.files {
            data.read(Path::new(file))
                .map_err(|error| CommandError(EXIT_INPUT, format!("{file}: {error}")))?;
        }
        let [training, validation, games] = data.counts();
        if training == 0 || validation == 0 {
            let told = format!("{training} positions to learn from, {validation} for validation");
            let files = self.files.join(", ");
            return Err(CommandError(EXIT_INPUT, format!("{files}: {told} are too few")));
        }
        output.line(&format!(
            "{training} positions to learn from, {validation} for validation, {games} games"
        ));
        let failed = |path: &Path, error: std::io::Error| {
            CommandError(EXIT_ENVIRONMENT, format!("{}: {error}", path.display()))
        };
        let checkpoint = PathBuf::from(format!("{}.checkpoint", self.out));
        let begun = Instant::now();
        let mut trained = 0;
        let mut all = Vec::new();
        let mut report = |errors: &[EpochErrors]| {
            trained += training;
            let speed = trained as f64 / begun.elapsed().as_secs_f64();
            output.line(&line(errors, speed));
            all = errors.to_vec();
        };
        let network = train(&data, settings, &checkpoint, &mut report)
            .map_err(|error| failed(&checkpoint, error))?;
        let out = Path::new(self.out);
        if let Some(loss) = self.loss.map(Path::new) {
            replace(loss, chart(&all).as_bytes()).map_err(|error| failed(loss, error))?;
        }
        replace(out, &network.to_bytes()).map_err(|error| failed(out, error))?;
        fs::remove_file(&checkpoint).map_err(|error| failed(&checkpoint, error))?;
        output.line(&format!("{} {network:?}", self.out));
        Ok(())
    }

    /// Checks that all files to read and write differ and that those to write are regular files.
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
        let out = Path::new(self.out);
        // The network to begin with may be replaced.
        let from = self.from.map(Path::new).filter(|&from| place(from) != place(out));
        self.files.iter().map(Path::new).chain(from).try_for_each(&mut add)?;
        let checkpoint = out.with_added_extension("checkpoint");
        for file in [out, &checkpoint].into_iter().chain(self.loss.map(Path::new)) {
            if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
                return Err(format!("{}: it is not a regular file", file.display()));
            }
            add(file)?;
            add(&beside(file))?;
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

fn number<T: FromStr + PartialOrd + std::fmt::Display>(
    option: &str,
    text: &str,
    min: T,
    max: T,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (&min..=&max).contains(&number));
    number.ok_or_else(|| format!("{option} needs a number from {min} to {max}, not '{text}'"))
}

fn line(errors: &[EpochErrors], speed: f64) -> String {
    let epoch = errors.len();
    let EpochErrors { training, validation } = errors[epoch - 1];
    format!(
        "epoch {epoch:>3}  training {training:.6}  validation {validation:.6}  {speed:.0} \
         positions/s"
    )
}

/// The errors by epoch, as SVG.
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
        let (left, right, height) = (MARGIN[0], SIZE[0] - 90.0, y(value));
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
