//! The command line: one file per subcommand, and what they share.
//!
//! Results go to standard output, progress and errors to standard error.

mod ablate;
mod args;
mod book;
mod builds;
mod check;
mod ci;
mod cluster;
mod compat;
mod console;
mod ctl;
mod engine;
mod epd;
mod exit_code;
mod fingerprint;
mod form;
mod games_file;
mod keys;
mod manual;
mod mine;
mod openings;
mod perft;
mod play;
mod rate;
mod replay;
mod report;
mod results;
mod samples;
mod serve;
mod speed;
mod stats;
mod suites;
mod tournament_args;
mod tune;
mod versus;

pub use exit_code::ExitCode;

use std::io::Write;
use std::path::Path;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use arbiter_report::terminal::complain;

/// Most threads that a computation is given.
const MAX_THREADS: usize = 64;

/// Engine-testing and tournament harness for UCI chess engines.
///
/// Results go to standard output, progress to standard error.
#[derive(Debug, Parser)]
#[command(version, after_help = exit_code::HELP, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    console: console::ConsoleArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Is the first engine stronger than the second? Plays pairs until the SPRT can tell.
    ///
    /// Without any engine, plays a demonstration: two evaluations of the bundled engine.
    Sprt(versus::SprtArgs),
    /// Plays a fixed number of pairs between two or more engines.
    Match(versus::MatchArgs),
    /// Plays a tournament: round robin, gauntlet, pyramid, knockout, Swiss or ladder.
    Tournament(versus::TournamentCommand),
    /// What is each feature of an engine worth? Plays the engine against itself without each.
    Ablate(ablate::AblateArgs),
    /// Which values of its parameters make an engine stronger? Tunes them through games, by SPSA.
    Tune(Box<tune::TuneArgs>),
    /// Lists and shows the runs in the results folder.
    Results(results::ResultsArgs),
    /// Makes a report of runs to look at: a page with charts and boards, Markdown or JSON.
    Report(report::ReportArgs),
    /// Serves a live page of the runs in the results folder, for browsers.
    Serve(serve::ServeArgs),
    /// Shows what was said in a game, line by line, and lets the referee judge it again.
    Replay(replay::ReplayArgs),
    /// Steers a run that is being played: pause, resume, drain, stop, games at once, status.
    Ctl(ctl::CtlArgs),
    /// Plays a command line of fastchess or cutechess-cli, and reports in its form.
    Compat(compat::CompatArgs),
    /// Rates players by their games in any PGN.
    Rate(rate::RateArgs),
    /// Computes with counts from anywhere: the state of an SPRT, its plan, its simulation, and
    /// paired comparisons.
    Stats(stats::StatsArgs),
    /// Does an engine keep to UCI? More than a hundred checks with grades, and the conversation
    /// behind each failure.
    Check(check::CheckArgs),
    /// Does an engine know the rules? Compares its perft counts with a suite's, and finds the first
    /// wrong position.
    Perft(perft::PerftArgs),
    /// What does an engine find? Runs a suite of EPD positions, and compares engines on it.
    Epd(epd::EpdArgs),
    /// Which of two engines is faster? Runs their benches side by side until that can be told.
    Speed(speed::SpeedArgs),
    /// Lists the builds that are kept, and removes old ones.
    Builds(builds::BuildsArgs),
    /// Does a change pass all gates? Carries out the steps that [ci] of arbiter.toml lists.
    Ci(ci::CiArgs),
    /// Makes a suite: finds positions with one clearly best move in games, and proves them with an
    /// engine.
    Mine(mine::MineArgs),
    /// Takes quiet positions out of games, each with the result of its game, to tune evaluations on.
    Samples(samples::SamplesArgs),
    /// Plays for runs that other machines coordinate over a NATS server (--on).
    Worker(cluster::WorkerArgs),
    /// Shows the workers and runs on a NATS server, and the key that workers have to trust.
    Cluster(cluster::ClusterCommand),
    /// Makes opening books.
    Openings(openings::OpeningsArgs),
    /// Runs Palimpsest, the bundled UCI engine.
    Engine(engine::EngineArgs),
    /// Prints the script that completes arbiter's command lines in a shell.
    Completions(manual::CompletionsArgs),
    /// Prints the manual, or writes all its pages.
    Man(manual::ManArgs),
}

impl Cli {
    /// Reads the command line of the process; ends it if there is nothing to carry out.
    pub fn read() -> Cli {
        let command = Cli::command().color(console::help_colour(std::env::args_os()));
        let matches = command.get_matches();
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Carries out the command.
    pub fn run(self) -> ExitCode {
        self.console.set_up();
        match self.command {
            Command::Sprt(args) => versus::sprt(args),
            Command::Match(args) => versus::versus(args),
            Command::Tournament(args) => versus::tournament(args),
            Command::Ablate(args) => ablate::ablate(args),
            Command::Tune(args) => tune::tune(*args),
            Command::Results(args) => results::results(args),
            Command::Report(args) => report::report(&args),
            Command::Serve(args) => serve::serve(args),
            Command::Compat(args) => compat::compat(args),
            Command::Ctl(args) => ctl::ctl(&args),
            Command::Replay(args) => replay::run(&args),
            Command::Rate(args) => rate::run(&args),
            Command::Stats(args) => stats::stats(args),
            Command::Check(args) => check::check(&args),
            Command::Perft(args) => perft::perft(args),
            Command::Epd(args) => epd::epd(args),
            Command::Speed(args) => speed::speed(args),
            Command::Builds(args) => builds::builds(args),
            Command::Ci(args) => ci::ci(args),
            Command::Mine(args) => mine::mine(&args),
            Command::Samples(args) => samples::samples(&args),
            Command::Worker(args) => cluster::worker(args),
            Command::Cluster(command) => cluster::cluster(command),
            Command::Openings(args) => openings::openings(args),
            Command::Engine(args) => engine::engine(args),
            Command::Completions(args) => manual::completions(&args),
            Command::Man(args) => manual::man(&args),
        }
    }
}

/// Prints a result on standard output. A reader that has seen enough and closed the pipe, as
/// `head` does, is no error.
fn emit(text: &str) -> Result<(), Failure> {
    // Takes out the colours where they are not wanted.
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::environment(format!("cannot write the result: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a file as a whole or not at all.
fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let told = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "; make its folder first",
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                "; give a place that you may write to"
            }
            _ => "",
        };
        Failure::environment(format!("cannot write {}: {error}{hint}", path.display()))
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(told)?;
    file.write_all(text.as_bytes()).map_err(told)?;
    let readable = std::fs::Permissions::from_mode(0o644);
    file.as_file().set_permissions(readable).map_err(told)?;
    file.as_file().sync_all().map_err(told)?;
    file.persist(path).map_err(|error| told(error.error))?;
    Ok(())
}

/// The number of threads asked for, or one for each core up to a few.
fn threads(asked: Option<usize>) -> Result<usize, String> {
    match asked {
        Some(threads @ 1..=MAX_THREADS) => Ok(threads),
        Some(threads) => Err(format!("expected --threads from 1 to {MAX_THREADS}, got {threads}")),
        None => {
            let cores = std::thread::available_parallelism().map_or(1, Into::into);
            Ok(cores.min(MAX_THREADS))
        }
    }
}

/// Prints an error and gives its exit code back.
fn fail(code: ExitCode, error: impl std::fmt::Display) -> ExitCode {
    complain(error);
    code
}

/// An error as the user sees it, with the exit code it leads to.
pub struct Failure(ExitCode, String);

impl Failure {
    /// Any error with a code.
    fn new(code: ExitCode, error: impl std::fmt::Display) -> Failure {
        Failure(code, error.to_string())
    }

    /// The machine is to blame.
    fn environment(error: impl std::fmt::Display) -> Failure {
        Failure::new(ExitCode::Environment, error)
    }

    /// The input is to blame.
    fn invalid(error: impl std::fmt::Display) -> Failure {
        Failure::new(ExitCode::Invalid, error)
    }

    /// Prints the error and gives its exit code back.
    fn report(self) -> ExitCode {
        fail(self.0, self.1)
    }
}
