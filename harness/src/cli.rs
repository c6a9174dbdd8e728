//! The command line: all subcommands with their flags, and the functions that run them.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::console::{ConsoleArgs, LogFormat, help_colour};
use crate::exit_code::{self, ExitCode};
use crate::help::{arrange_help, with_hint};
use crate::{args::PlayArgs, bundled_engine, commands::*, failure::Failure};

const EXAMPLES: &str = "\
Examples:
  arbiter sprt                                      a demonstration that needs no files
  arbiter match stockfish ./mine --each tc=1+0.01   also: arbiter sprt HEAD main";

/// Test harness and tournament manager for chess engines.
///
/// Results go to standard output, progress to standard error.
#[derive(Debug, Parser)]
#[command(version, after_help = format!("{}\n\n{EXAMPLES}", exit_code::help()), max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    console: ConsoleArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Test whether one engine is stronger than another: play pairs until the SPRT decides.
    ///
    /// If no engines are given, play a demonstration: the bundled engine against a copy that lacks
    /// one feature of the hand-crafted evaluation.
    Sprt(play::SprtArgs),
    /// Play a fixed number of pairs between two or more engines.
    #[command(after_help = "\
Examples:
  arbiter match stockfish ./mine --each tc=1+0.01
  arbiter match ./mine,option.Hash=64 bundled:material,nodes=5000 --pairs 50 --pgn games.pgn
  arbiter match --resume match-20260101-120000")]
    Match(PlayArgs),
    /// Play a tournament: round robin, gauntlet, pyramid, knockout, Swiss or ladder.
    #[command(after_help = "\
The first argument may be a format: round-robin, gauntlet, pyramid, knockout, swiss or ladder.

Examples:
  arbiter tournament stockfish ./mine bundled --each tc=1+0.01
  arbiter tournament gauntlet ./mine stockfish bundled:material --pairs 50 --each nodes=5000")]
    Tournament(PlayArgs),
    /// Measure the Elo of each feature: play the engine against a copy without the feature.
    Ablate(ablate::AblateArgs),
    /// Tune parameters of an engine by SPSA.
    Tune(Box<tune::TuneArgs>),
    /// List, show, export and remove stored runs.
    Results(results::ResultsArgs),
    /// Write a report on runs, as an HTML page with charts and boards or in another format.
    Report(report::ReportArgs),
    /// Serve live web pages of the runs in the results folder.
    Serve(serve::ServeArgs),
    /// Print the transcript of a game, and judge the game again from the transcript.
    Replay(replay::ReplayArgs),
    /// Control a run in progress: pause, resume, drain, stop, concurrency, status.
    Ctl(ctl::CtlArgs),
    /// Run a fastchess or cutechess-cli command line, and imitate the output of the program.
    Compat(compat::CompatArgs),
    /// Compute ratings of the players in PGN files.
    Rate(rate::RateArgs),
    /// Compute the state of an SPRT from counts, plan an SPRT, or simulate SPRTs.
    Stats(stats::StatsArgs),
    /// Check whether an engine conforms to UCI: run more than 100 checks.
    Check(check::CheckArgs),
    /// Compare the perft counts of an engine with a suite, and find the first wrong position.
    Perft(perft::PerftArgs),
    /// Run engines on a suite of EPD positions, and compare the results.
    Epd(epd::EpdArgs),
    /// Compare the speed of two engines by running both benches repeatedly.
    Speed(speed::SpeedArgs),
    /// List the cached builds, and remove old ones.
    Builds(builds::BuildsArgs),
    /// Run the gates listed in [ci] of arbiter.toml on a commit.
    Ci(ci::CiArgs),
    /// Search games for positions with one clearly best move, and write a suite.
    Mine(mine::MineArgs),
    /// Extract quiet positions and results from games, to tune evaluations.
    Samples(samples::SamplesArgs),
    /// Play games to generate training positions for a network.
    Datagen(Box<datagen::DatagenArgs>),
    /// Play games for runs that other machines coordinate through a NATS server (--on).
    #[cfg(feature = "cluster")]
    Worker(worker::WorkerArgs),
    /// Set up a NATS server for workers, and show the workers and runs on the server.
    #[cfg(feature = "cluster")]
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    /// Register engines under your own names, and list or test the registered engines.
    #[command(subcommand)]
    Engines(engines::EnginesCommand),
    /// Write arbiter.toml for a repository, with a build recipe and CI gates.
    Init(init::InitArgs),
    /// Check whether this machine is suitable for timed games, and suggest remedies.
    Doctor(Box<doctor::DoctorArgs>),
    /// Generate opening books.
    #[command(subcommand)]
    Openings(openings::OpeningsCommand),
    /// Run Palimpsest, the bundled UCI engine.
    Engine {
        /// Arguments of `palimpsest`: none for UCI, or `bench`, `perft`, `eval`, `--help`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Print a completion script for a shell.
    Completions(manual::CompletionsArgs),
    /// Print the manual page, or write all manual pages.
    Man(manual::ManArgs),
}

impl Cli {
    /// Parses the command line of the process. After a usage error or the help, the process exits.
    pub fn read() -> Cli {
        let args = compat::by_name(std::env::args_os().collect());
        let is_short = args.len() == 1 || args.iter().any(|arg| arg == "-h");
        let command =
            arrange_help(Cli::command(), "", is_short, &|name| args.iter().any(|arg| arg == name));
        let command = command.color(help_colour(args.iter().cloned()));
        let matches = command.try_get_matches_from(&args);
        let matches =
            matches.unwrap_or_else(|error| with_hint(error, &args, &Cli::command()).exit());
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Returns the command with the help of all subcommands arranged: for `-h` if `is_short` is
    /// `true`, otherwise for `--help`.
    pub(crate) fn with_arranged_help(is_short: bool) -> clap::Command {
        arrange_help(Cli::command(), "", is_short, &|_| true)
    }

    /// Runs the command.
    pub fn run(self) -> ExitCode {
        let format = self.command.log_format();
        self.console.set_up(*format.as_ref().unwrap_or(&LogFormat::Text));
        format.and_then(|_| self.command.run()).unwrap_or_else(Failure::report)
    }
}

impl Command {
    /// Returns the format of messages; only `serve` and `worker` have a flag for the format.
    fn log_format(&self) -> Result<LogFormat, Failure> {
        match self {
            Command::Serve(args) => args.log.format(),
            #[cfg(feature = "cluster")]
            Command::Worker(args) => args.log.format(),
            _ => Ok(LogFormat::Text),
        }
    }

    fn run(self) -> Result<ExitCode, Failure> {
        let done = match self {
            Command::Sprt(args) => return play::sprt(args),
            Command::Match(args) => return play::play_match(args),
            Command::Tournament(args) => return play::tournament(args),
            Command::Ablate(args) => return ablate::run(args),
            Command::Tune(args) => return tune::run(*args),
            Command::Compat(args) => return compat::run(args),
            Command::Datagen(args) => return datagen::run(*args),
            Command::Replay(args) => return replay::run(&args),
            Command::Check(args) => return check::run(&args),
            Command::Perft(args) => return perft::run(args),
            Command::Epd(args) => return epd::run(args),
            Command::Speed(args) => return speed::run(args),
            Command::Ci(args) => return ci::run(args),
            Command::Doctor(args) => return doctor::run(*args),
            Command::Engine { args } => return Ok(bundled_engine::run(args)),
            Command::Engines(args) => return engines::run(&args),
            Command::Init(args) => init::run(args),
            Command::Results(args) => results::run(&args),
            Command::Report(args) => report::run(&args),
            Command::Serve(args) => serve::run(args),
            Command::Ctl(args) => ctl::run(&args),
            Command::Rate(args) => rate::run(&args),
            Command::Stats(args) => stats::run(args),
            Command::Builds(args) => builds::run(args),
            Command::Mine(args) => mine::run(&args),
            Command::Samples(args) => samples::run(&args),
            #[cfg(feature = "cluster")]
            Command::Worker(args) => worker::run(args),
            #[cfg(feature = "cluster")]
            Command::Cluster(command) => cluster::run(command),
            Command::Openings(args) => openings::run(args),
            Command::Completions(args) => {
                manual::completions(&args, Cli::with_arranged_help(false))
            }
            Command::Man(args) => manual::man(&args, Cli::with_arranged_help(false)),
        };
        done.map(|()| ExitCode::Passed)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use arbiter_plan::{Plan, RunKind};
    use arbiter_settings::command_line;

    fn plan(words: &[String]) -> Plan {
        let cli = Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{error}"));
        let (kind, requested) = match cli.command {
            Command::Ablate(args) => (RunKind::Ablate, ablate::resolve(args).unwrap()),
            Command::Match(args) => (RunKind::Match, args.resolve(None).unwrap()),
            Command::Sprt(args) => (RunKind::Sprt, args.play.resolve(Some(args.bounds)).unwrap()),
            other => panic!("{other:?} plays nothing"),
        };
        Plan::resolve(kind, requested.request).unwrap()
    }

    #[test]
    fn features_are_those_of_evaluation_and_search() {
        let features = |line: &str| {
            let words = shell_words::split(line).unwrap();
            plan(&words).ablation.expect("an ablation was asked for").features
        };
        let both = features("arbiter ablate --engine cmd=bundled,option.Personality=rdchess");
        let evaluation = features("arbiter ablate --eval rdchess");
        assert!(both.starts_with(&evaluation) && both.len() > evaluation.len() + 20, "{both:?}");
        assert!(both.iter().any(|name| name == "razoring"), "{both:?}");
        let mixed = features(
            "arbiter ablate --engine cmd=bundled,eval=material,option.personality=rdchess",
        );
        assert_eq!(mixed[0], "material");
        assert_eq!(mixed[1..], both[evaluation.len()..]);
    }

    #[test]
    fn the_command_in_a_report_plays_the_same_plan() {
        for line in [
            "arbiter ablate --eval Blunder",
            "arbiter ablate --eval rybka-2.3.2a --features seventh_rook,shelter --elo1 20 --alpha 0.1",
            "arbiter ablate --engine 'name=my sh,cmd=sh,depth=3' --option Off --features a,b",
            "arbiter match --engine cmd=bundled,eval=material,tc=40/60+0.6 --engine \
             'cmd=sh,args=\"-c x\",st=0.25,timemargin=50,option.Book=\"a,b c\"' --max-moves 90",
            "arbiter match --engine cmd=sh --engine name=b,cmd=sh --engine name=c,cmd=sh \
             --schedule gauntlet --each nodes=7 --openings order=sequential,plies=4 --draw score=3 \
             --resign twosided=true --deadlines move=2.5 --seed 9",
            "arbiter match --engine cmd=sh --engine name=b,cmd=sh --syzygy \
             '/a b:/c,pieces=5,ignore-50=true,adjudicate=wins'",
            "arbiter match --engine 'cmd=sh,proto=xboard,init=a b\\nc,restart=on,memory=64' \
             --engine name=b,cmd=sh,ponder=true,restart=off,tc=5+0.1,nodestime=600",
            "arbiter sprt --overshoot none --openings depth=3,strict=true",
            "arbiter sprt --model logistic --elo0 -3 --pairs 12 --concurrency 3 --fault-limit 0.2",
        ] {
            let words = shell_words::split(line).unwrap();
            let first = plan(&words);
            let again = plan(&shell_words::split(&command_line(&first)).unwrap());
            assert_eq!(format!("{again:?}"), format!("{first:?}"), "{line}");
        }
    }
}
