//! The command `datagen` of the command line.

#![expect(clippy::disallowed_methods, reason = "speed is shown")]

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::cli::{CommandError, EXIT_ENVIRONMENT, EXIT_USAGE, exit_code};
use super::options;
use super::output::Output;
use crate::datagen::{Progress, Settings, generate};
use crate::eval::Variant;

/// Time between two lines of progress.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Parsed arguments.
struct Request<'a> {
    file: &'a str,
    positions: u64,
    threads: usize,
    settings: Settings,
}

/// Runs `datagen` with the words that follow it and returns the exit code.
pub(super) fn run(words: &[&str], output: &Output, usage: &str) -> i32 {
    let done = parse(words)
        .map_err(|reason| CommandError(EXIT_USAGE, format!("{reason}\n{usage}")))
        .and_then(|request| carry_out(request, output));
    exit_code(done)
}

fn carry_out(request: Request<'_>, output: &Output) -> Result<(), CommandError> {
    let Request { file, positions, threads, settings } = request;
    let mut meter = Meter { start: Instant::now(), told: None, first: None, output };
    let mut report = |progress| meter.report(progress);
    let progress = generate(Path::new(file), settings, positions, threads, &mut report)
        .map_err(|error| CommandError(EXIT_ENVIRONMENT, format!("{file}: {error}")))?;
    meter.tell(progress);
    Ok(())
}

fn parse<'a>(words: &[&'a str]) -> Result<Request<'a>, String> {
    let threads = thread::available_parallelism().map_or(1, Into::into);
    let (mut file, mut positions) = (None, 1_000_000);
    let (mut threads, mut settings) = (threads, Settings::default());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word {
            "--positions" => positions = number(word, value()?, u64::MAX)?,
            "--threads" => threads = number(word, value()?, 256)? as usize,
            "--seed" => settings.seed = number(word, value()?, u64::MAX)?,
            "--nodes" => settings.nodes = number(word, value()?, 1 << 40)?,
            "--walks" => settings.walks = number(word, value()?, 1_000)? as usize,
            "--plies" => settings.random_plies = number(word, value()?, 40)? as usize,
            "--variant" => settings.eval = options::variant(value()?)?,
            _ if word.starts_with('-') || file.is_some() => {
                return Err(format!("datagen does not know '{word}'"));
            }
            _ => file = Some(word),
        }
    }
    let file = file.ok_or("datagen needs a file to write")?;
    if settings.walks > 0 && settings.eval == Variant::Micromax {
        return Err(
            "--walks cannot use micromax: its scores depend on the way to a position".into()
        );
    }
    Ok(Request { file, positions, threads, settings })
}

fn number(option: &str, text: &str, max: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (1..=max).contains(number));
    number.ok_or_else(|| format!("{option} needs a number from 1 to {max}, not '{text}'"))
}

/// Reports the progress from time to time.
struct Meter<'a> {
    start: Instant,
    told: Option<Instant>,
    /// Games and positions in the file at the start.
    first: Option<Progress>,
    output: &'a Output,
}

impl Meter<'_> {
    fn report(&mut self, progress: Progress) {
        if self.first.is_none() {
            (self.first, self.start) = (Some(progress), Instant::now());
        } else if self.told.is_none_or(|told| told.elapsed() >= REPORT_EVERY) {
            self.tell(progress);
        }
    }

    fn tell(&mut self, progress: Progress) {
        self.told = Some(Instant::now());
        let Progress { games, positions } = progress;
        let new = positions - self.first.map_or(0, |first| first.positions);
        let speed = new as f64 / self.start.elapsed().as_secs_f64().max(1e-3);
        self.output.line(&format!("{games} games, {positions} positions, {speed:.0} positions/s"));
    }
}
