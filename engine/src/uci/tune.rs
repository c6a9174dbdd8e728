//! The command `tune` of the command line.

use std::fs;
use std::io::BufReader;
use std::str::FromStr;
use std::thread;

use super::cli::{CommandError, EXIT_ENVIRONMENT, EXIT_INPUT, EXIT_USAGE, exit_code};
use super::output::Output;
use crate::eval::palimpsest::trace::weights;
use crate::tune::samples::Split;
use crate::tune::{Progress, Settings, TuneResult, table, tune};

/// One in this many games is used for validation.
const ONE_IN: u64 = 10;

/// Parsed arguments.
struct Request<'a> {
    files: Vec<&'a str>,
    out: Option<&'a str>,
    settings: Settings,
}

/// Runs `tune` with the words that follow it and returns the exit code.
pub(super) fn run(words: &[&str], output: &Output, usage: &str) -> i32 {
    let done = Request::parse(words)
        .map_err(|reason| CommandError(EXIT_USAGE, format!("{reason}\n{usage}")))
        .and_then(|request| request.carry_out(output));
    exit_code(done)
}

impl<'a> Request<'a> {
    fn parse(words: &[&'a str]) -> Result<Request<'a>, String> {
        let threads = thread::available_parallelism().map_or(1, Into::into);
        let settings = Settings { threads, ..Settings::default() };
        let mut request = Request { files: Vec::new(), out: None, settings };
        let settings = &mut request.settings;
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word {
                "--out" => request.out = Some(value()?),
                "--epochs" => settings.epochs = number(word, value()?)?,
                "--batch" => settings.batch = number(word, value()?)?,
                "--rate" => settings.rate = number(word, value()?)?,
                "--pull" => settings.l2 = number(word, value()?)?,
                "--patience" => settings.patience = number(word, value()?)?,
                "--threads" => settings.threads = number(word, value()?)?,
                "--seed" => settings.seed = number(word, value()?)?,
                _ if word.starts_with('-') => return Err(format!("{word} is no option of tune")),
                _ => request.files.push(word),
            }
        }
        if request.files.is_empty() {
            return Err("tune needs a file of samples".to_owned());
        }
        Ok(request)
    }

    fn carry_out(&self, output: &Output) -> Result<(), CommandError> {
        let mut split = Split::default();
        for file in &self.files {
            let told = |error: String| CommandError(EXIT_INPUT, format!("{file}: {error}"));
            let source = super::open_input(file).map_err(|error| told(error.to_string()))?;
            let read = split.read(BufReader::new(source), ONE_IN, self.settings.seed);
            read.map_err(|error| told(error.to_string()))?;
        }
        let (training, validation) = (split.training.len(), split.validation.len());
        if training == 0 || validation == 0 {
            let told = format!("{training} samples to learn from and {validation} to validate");
            return Err(CommandError(EXIT_INPUT, format!("{told} are too few")));
        }
        output.line(&format!(
            "{training} samples to learn from, {validation} for validation, {} games, seed {}",
            split.games, self.settings.seed
        ));
        let mut report = |progress: Progress| output.line(&line(&progress));
        let tuned = tune(&split, &weights(), self.settings, &mut report);
        output.line(&summary(&tuned));
        if let Some(out) = self.out {
            fs::write(out, table::source(&tuned.weights))
                .map_err(|error| CommandError(EXIT_ENVIRONMENT, format!("{out}: {error}")))?;
        }
        Ok(())
    }
}

fn number<T: FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option} needs a number, not '{text}'"))
}

fn line(progress: &Progress) -> String {
    let Progress { epoch, training, validation, rate } = progress;
    format!("epoch {epoch:>3}  training {training:.7}  validation {validation:.7}  rate {rate:.3}")
}

fn summary(tuned: &TuneResult) -> String {
    let TuneResult { curve, before: [trained, validated], after, .. } = tuned;
    format!(
        "steepness {:.4}\ntraining error {trained:.7} before, {:.7} after\n\
         validation error {validated:.7} before, {:.7} after",
        curve.steepness, after[0], after[1]
    )
}
