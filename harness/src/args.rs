//! Flags that `sprt`, `match` and `tournament` share, and how they merge with `arbiter.toml`.

mod adjudication;
mod deadlines;
mod output;
mod tournament;
mod words;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use log::LevelFilter;

use self::adjudication::AdjudicationArgs;
use self::deadlines::DeadlineArgs;
use self::output::OutputArgs;
use self::tournament::TournamentArgs;
pub(crate) use self::words::{CORRECTIONS, FORMATS, MODELS, SANDBOXES, Words};
use self::words::{ORDERS, merged};
pub(crate) use self::words::{at_least_one, one_line, usual};
use crate::project::{results_folder, settings};
use crate::{
    BuildArgs, ClusterArgs, ExitCode, Failure, MetricsArgs, OtherFiles, OutputFormat, Style,
};
use arbiter_openings::Order;
use arbiter_plan::{
    Affinity, ConfigFile, CpuContention, EngineSpec, Request, SandboxMode, SprtRequest, plain,
};
use arbiter_report::note;
use arbiter_stats::{Correction, DEFAULT_ELO0, DEFAULT_ELO1, DEFAULT_ERROR, Model};

/// Most threads of a computation.
const MAX_THREADS: usize = 64;

/// Flags of every command that plays games.
#[derive(Debug, Args)]
pub(crate) struct PlayArgs {
    /// The engines, as described below; figures are from the first one's point of view
    #[arg(help_heading = None::<&str>, value_name = "ENGINE", conflicts_with_all = ["test", "base"])]
    pub engines: Vec<String>,
    /// An engine, after those without a flag: comma separated KEY=VALUE with the keys engine (a name,
    /// which may also come first without its key), name (in reports), cmd (a program, or "bundled"),
    /// rev (a git revision to build instead, or "." for the working tree), repo (its repository),
    /// args, dir, eval (bundled only), proto (uci or xboard), option.NAME, init (lines to send
    /// after the options, "\n" between them), restart (on, off or auto: a new process for each
    /// game, never, or when the engine asks for it), ponder (true: think on the opponent's time),
    /// whitepov (true: its scores are White's),
    /// stderr (file for its error output), memory (MiB of address space), sandbox (as --sandbox), and the limits tc
    /// ([MOVES/]SEC[+INC], several periods with ":" between them, hg/SEC for an hourglass, or
    /// inf), st (seconds a move), nodes, depth, nodestime (nodes that count as a millisecond),
    /// timemargin (ms). Double quotes protect commas and spaces. Repeat for each engine
    #[arg(help_heading = "Engines", long, value_name = "SPEC", conflicts_with_all = ["test", "base"])]
    pub engine: Vec<String>,
    /// Settings for all engines, in the same form; an engine's own settings win
    #[arg(help_heading = "Engines", long, value_name = "SPEC")]
    each: Option<String>,
    /// What holds engines on this machine: each has an empty home and folder of its own, may write
    /// nowhere else, reaches neither network nor other processes, and reads the system's programs and
    /// libraries, the folder of its program, dir=, and what its options name by absolute paths. A build of
    /// a revision has its checkout, the toolchains and the network [default: off]
    #[arg(help_heading = "Engines", long, value_parser = SANDBOXES.parser())]
    sandbox: Option<SandboxMode>,
    /// File with settings [default: arbiter.toml, here or in a folder above this one in the repository]
    #[arg(help_heading = "Run", long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Opening book: EPD, FEN list, PGN or Polyglot (.bin); plain, .gz, .zst or .zip. Bad lines are
    /// left out [default: the bundled book]
    #[arg(help_heading = "Openings", long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Take only so many plies of each PGN opening
    #[arg(help_heading = "Openings", long, value_name = "N")]
    plies: Option<u32>,
    /// Follow a Polyglot book for so many plies [default: 8]
    #[arg(help_heading = "Openings", long, value_name = "PLIES")]
    book_depth: Option<u32>,
    /// Refuse a book with a bad line instead of leaving that line out
    #[arg(help_heading = "Openings", long)]
    strict_book: bool,
    /// Order of the openings [default: random]
    #[arg(help_heading = "Openings", long, value_parser = ORDERS.parser())]
    order: Option<Order>,
    /// Seed from which every random choice derives [default: 1]
    #[arg(help_heading = "Run", long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    pub tournament: TournamentArgs,
    /// Concurrent games [default: one for each core; under a clock one less, but at least 1]
    #[arg(help_heading = "Run", long, value_name = "N", value_parser = at_least_one)]
    concurrency: Option<usize>,
    /// Processors for the games: auto (each game its own, different physical cores first), a list
    /// such as 0-3,8 (taken in this order), or none. A game gets as many as its engines have
    /// Threads, of both if they may ponder [default: none]
    #[arg(help_heading = "Run", long, value_name = "CPUS")]
    #[cfg_attr(feature = "cluster", arg(conflicts_with = "on"))]
    affinity: Option<Affinity>,
    /// Folder of the results store [default: results, beside the settings or where a store is already]
    #[arg(help_heading = "Run", long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Name of the run [default: kind and time]
    #[arg(help_heading = "Run", long, value_name = "RUN")]
    name: Option<String>,
    /// What the run tries, in one line, for reports and `arbiter results log`
    #[arg(help_heading = "Run", long, value_name = "TEXT", value_parser = one_line)]
    about: Option<String>,
    /// Append the games to this file, in schedule order
    #[arg(help_heading = "Games", long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Go on with a run that was interrupted or killed, by its name or latest; takes its settings from the
    /// store. Flags that are given as well must say the same
    #[arg(help_heading = "Run", long, value_name = "RUN", conflicts_with = "name")]
    resume: Option<String>,
    /// Go on with the run of --name if there is one, as --resume does, and else start it
    #[arg(help_heading = "Run", id = "or_start", long = "resume-or-start", requires = "name")]
    resume_or_start: bool,
    /// Print the resolved plan and play nothing: the engines are tried out, but revisions are not built,
    /// the book is read, and nothing is written down
    #[arg(help_heading = "Run", long, conflicts_with_all = ["resume", "or_start"])]
    dry_run: bool,
    /// Format of the result
    #[arg(help_heading = "Output", long, value_enum, default_value = "text")]
    format: OutputFormat,
    /// Share of games, 0 to 1, that may end by a fault of an engine (crash, stall, disconnect,
    /// illegal move, time loss) before the run counts as invalid [default: 0.05]
    #[arg(help_heading = "Faults and noise", long, value_name = "SHARE")]
    fault_limit: Option<f64>,
    /// What to do about engines that wait for a processor in games under a clock. "discard" plays a
    /// pair again, twice at most, if that can have decided it: an engine lost on time by no more than
    /// it had waited in that game, or one waited for a share of its thinking time that is more than
    /// 0.25 above the other's. All other pairs count, and the result says how much engines waited.
    /// "report" counts all, "off" does not measure [default: discard]
    #[arg(help_heading = "Faults and noise", long, value_name = "WHAT")]
    cpu_contention: Option<CpuContention>,
    /// Say more: each game as it ends
    #[arg(help_heading = "Output", short, long, conflicts_with = "quiet")]
    verbose: bool,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    adjudication: AdjudicationArgs,
    #[command(flatten)]
    deadlines: DeadlineArgs,
    #[command(flatten)]
    scaling: ScaleArgs,
    #[command(flatten)]
    build: BuildArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Flags that make machines comparable.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scaled times")]
struct ScaleArgs {
    /// Multiply all times by how much slower than the reference this machine is, by the bench of
    /// the last engine with as many copies at once as games; needs --reference-nps. With --on
    /// (Cargo feature cluster) each worker does so by its own speed
    #[arg(long)]
    scale: bool,
    /// Nodes per second for which times are meant, of one of so many copies at once
    #[arg(long, value_name = "NPS")]
    reference_nps: Option<f64>,
}

impl ScaleArgs {
    /// The speed of reference, if times are to be scaled.
    fn reference(&self, file: &ConfigFile) -> Result<Option<f64>, Failure> {
        let reference = self.reference_nps.or(file.reference_nps);
        match (self.scale || file.scale.unwrap_or(false), reference) {
            (false, _) => Ok(None),
            (true, Some(nps)) if (1.0..=1e12).contains(&nps) => Ok(Some(nps)),
            (true, reference) => {
                let found = reference.map_or("none".to_owned(), |nps| nps.to_string());
                Err(Failure::invalid(format!(
                    "scaled times need the nodes per second of the reference, 1 to 10^12, as \
                     reference-nps; got {found}"
                )))
            }
        }
    }
}

/// Flags of the stopping rule.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct SprtBounds {
    #[arg(help = usual("Elo of the null hypothesis", DEFAULT_ELO0), long, value_name = "ELO", allow_negative_numbers = true)]
    elo0: Option<f64>,
    #[arg(help = usual("Elo of the alternative", DEFAULT_ELO1), long, value_name = "ELO", allow_negative_numbers = true)]
    elo1: Option<f64>,
    #[arg(long, value_name = "P",
        help = usual("Chance to accept the alternative if the null hypothesis holds", DEFAULT_ERROR))]
    alpha: Option<f64>,
    #[arg(long, value_name = "P",
        help = usual("Chance to accept the null hypothesis if the alternative holds", DEFAULT_ERROR))]
    beta: Option<f64>,
    /// What the Elo bounds mean [default: normalized]
    #[arg(long, value_parser = MODELS.parser())]
    model: Option<Model>,
    /// How the bounds of the ratio allow for its jumps [default: dynamic for Elo bounds at most 20
    /// apart, else none]
    #[arg(long, value_parser = CORRECTIONS.parser())]
    overshoot: Option<Correction>,
}

impl SprtBounds {
    /// Whether any of them was given.
    pub(crate) fn is_given(&self) -> bool {
        let SprtBounds { elo0, elo1, alpha, beta, model, overshoot } = self;
        [elo0, elo1, alpha, beta].iter().any(|bound| bound.is_some())
            || model.is_some()
            || overshoot.is_some()
    }
}

/// The names of the flags on the command line, which must be UTF-8, as what is stored of it is.
fn given_flags() -> Result<BTreeSet<String>, Failure> {
    let flag = |word: OsString| match word.to_str() {
        Some(word) => {
            Ok(word.strip_prefix("--").and_then(|flag| flag.split('=').next()).map(str::to_owned))
        }
        None => {
            let message =
                format!("{} is not UTF-8; rename the file, or make a link to it", word.display());
            Err(Failure::new(ExitCode::Usage, message))
        }
    };
    let flags: Result<BTreeSet<Option<String>>, Failure> = std::env::args_os().map(flag).collect();
    Ok(flags?.into_iter().flatten().filter(|flag| !flag.is_empty()).collect())
}

/// The requested number of threads, or one for each core up to a few.
pub(crate) fn threads(requested: Option<usize>) -> Result<usize, String> {
    match requested {
        Some(threads @ 1..=MAX_THREADS) => Ok(threads),
        Some(threads) => Err(format!("expected --threads from 1 to {MAX_THREADS}, got {threads}")),
        None => {
            let cores = std::thread::available_parallelism().map_or(1, Into::into);
            Ok(cores.min(MAX_THREADS))
        }
    }
}

/// The engine, or the settings of all, that a flag describes.
pub(crate) fn engine_spec(flag: &str, text: &str) -> Result<EngineSpec, Failure> {
    EngineSpec::parse(text).map_err(|error| Failure::invalid(format!("{flag} '{text}': {error}")))
}

/// A run to go on with, and what little of it may be changed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resume {
    /// Its name.
    pub run: String,
    /// Another PGN file.
    pub pgn: Option<PathBuf>,
    /// Another concurrency.
    pub concurrency: Option<usize>,
    /// Other processors.
    pub affinity: Option<Affinity>,
}

/// A run as flags and file request it, and how its result is shown.
#[derive(Debug, Default)]
pub(crate) struct RequestedRun {
    /// The request for a new run.
    pub request: Request,
    /// Results folder.
    pub results: PathBuf,
    /// Name of the new run.
    pub name: Option<String>,
    /// What it tries, in one line.
    pub about: Option<String>,
    /// The run to go on with, instead of a new one.
    pub resume: Option<Resume>,
    /// Whether a new one is started if there is no run to go on with.
    pub may_start: bool,
    /// The flags that the command line gives, as they are written there.
    pub given: BTreeSet<String>,
    /// Whether nothing is to be played.
    pub is_dry_run: bool,
    /// Format of the result.
    pub format: OutputFormat,
    /// Files that are emptied before the run writes to them.
    pub replaces: Vec<PathBuf>,
    /// Files that it has in use besides those of its plan.
    pub files: OtherFiles,
    /// Show the run as another program does, instead of the live view and the result.
    pub compat: Option<Style>,
    /// What is built.
    pub build: BuildArgs,
    /// The file of settings that was named.
    pub config: Option<PathBuf>,
    /// Nodes per second for which times are meant, if they are scaled.
    pub reference_nps: Option<f64>,
    /// Whether it is tried first if an engine can be tuned.
    pub is_probed: bool,
    /// Who else is to play.
    pub cluster: ClusterArgs,
    /// Where figures are served, if they are.
    pub metrics: MetricsArgs,
    /// Concurrency of games, or of pairs if workers play, if the command line gives it.
    pub concurrency: Option<usize>,
}

impl PlayArgs {
    /// Whether a run is to go on.
    pub(crate) fn is_resuming(&self) -> bool {
        self.resume.is_some()
    }

    /// The run to go on with, if there may be one.
    fn to_resume(&self) -> Option<Resume> {
        let run = self.resume.as_ref().or(self.name.as_ref().filter(|_| self.resume_or_start));
        Some(Resume {
            run: run?.clone(),
            pgn: self.pgn.clone(),
            concurrency: self.concurrency,
            affinity: self.affinity.clone(),
        })
    }

    /// The settings that are taken: none for a run that goes on, whose settings the store knows, whatever
    /// the file says by now.
    fn of_new_run(&self, settings: ConfigFile) -> ConfigFile {
        if self.resume.is_some() {
            return ConfigFile::default();
        }
        if settings.file().is_some() {
            note(&format!("settings of {}", settings.name()));
        }
        settings
    }

    /// Merges flags and file; flags win.
    pub(crate) fn resolve(self, bounds: Option<SprtBounds>) -> Result<RequestedRun, Failure> {
        if self.verbose {
            log::set_max_level(LevelFilter::Debug);
        }
        let found = self.settings()?;
        let read: Vec<PathBuf> = found.file().map(Path::to_owned).into_iter().collect();
        let results = results_folder(self.results.clone(), self.config.as_deref(), &found)?;
        let settings = &self.of_new_run(found);
        let resume = self.to_resume();
        let (engines, each) = self.engines(settings)?;
        let (names_engines, concurrency) = (!self.engines.is_empty(), self.concurrency);
        let mut given = given_flags()?;
        given.extend(names_engines.then(|| "engine".to_owned()));
        given.extend(self.tournament.has_format().then(|| "schedule".to_owned()));
        let affinity = settings.affinity.as_ref().map(plain);
        let mut request = Request {
            engines,
            each,
            openings: self.openings.or_else(|| settings.openings.clone()),
            plies: self.plies.or(settings.plies),
            book_depth: self.book_depth.or(settings.book_depth),
            strict_book: self.strict_book || settings.strict_book.unwrap_or(false),
            order: merged(self.order, settings, "order", &settings.order, |word| {
                ORDERS.read(word)
            })?,
            seed: self.seed.or(settings.seed),
            tournament: self.tournament.resolve(settings)?,
            concurrency: concurrency.or(settings.concurrency),
            affinity: merged(self.affinity, settings, "affinity", &affinity, |text| {
                let expected = "expected auto, none or a list such as \"0-3,8\"";
                text.parse().map_err(|_| expected)
            })?
            .unwrap_or_default(),
            pgn: self.pgn.or_else(|| settings.pgn.clone()),
            fault_limit: self.fault_limit.or(settings.fault_limit),
            cpu_contention: merged(
                self.cpu_contention,
                settings,
                "cpu-contention",
                &settings.cpu_contention,
                |word| word.parse().map_err(|_| "expected discard, report or off"),
            )?
            .unwrap_or_default(),
            deadlines: self.deadlines.resolve(settings)?,
            sprt: sprt_request(bounds, settings)?,
            ..Request::default()
        };
        self.output.resolve(settings, &mut request)?;
        self.adjudication.resolve(settings, &mut request)?;
        Ok(RequestedRun {
            request,
            results,
            name: self.name,
            about: self.about,
            resume,
            may_start: self.resume_or_start,
            given,
            is_dry_run: self.dry_run,
            format: self.format,
            build: self.build,
            reference_nps: self.scaling.reference(settings)?,
            files: OtherFiles { read, ..OtherFiles::default() },
            config: self.config,
            cluster: self.cluster,
            metrics: self.metrics,
            concurrency,
            ..RequestedRun::default()
        })
    }

    /// The engines of the flags, or of the file if there are none, and what holds for all.
    fn engines(&self, file: &ConfigFile) -> Result<(Vec<EngineSpec>, EngineSpec), Failure> {
        let named = self.engines.iter().map(|text| engine_spec("engine", text));
        let own = named.chain(self.engine.iter().map(|text| engine_spec("--engine", text)));
        let own = own.collect::<Result<Vec<_>, _>>()?;
        self.check_no_format()?;
        let own = if own.is_empty() { file.engines.clone() } else { own };
        let own = own.into_iter().map(|spec| self.build.look_up(spec));
        let own = own.collect::<Result<_, Failure>>()?;
        let mut each = match &self.each {
            Some(text) => match engine_spec("--each", text)? {
                EngineSpec { engine: Some(word), .. } => {
                    let expected = "expected KEY=VALUE, such as tc=8+0.08";
                    return Err(Failure::invalid(format!("--each '{word}': {expected}")));
                }
                each => each.or(&file.each),
            },
            None => file.each.clone(),
        };
        each.sandbox = self.sandbox.or(each.sandbox);
        Ok((own, each))
    }

    /// An error if the name of an engine is a format of tournaments.
    fn check_no_format(&self) -> Result<(), Failure> {
        let is_format = |word: &&String| FORMATS.read(word).is_ok();
        let Some(format) = self.engines.iter().find(is_format) else { return Ok(()) };
        let others = self.engines.iter().filter(|word| !is_format(word));
        let right = shell_words::join(
            ["arbiter", "tournament", format].into_iter().chain(others.map(String::as_str)),
        );
        let message = format!("'{format}' is a format and no engine; try `{right}`");
        Err(Failure::new(ExitCode::Usage, message))
    }

    /// What the file of settings says; nothing if there is none.
    pub(crate) fn settings(&self) -> Result<ConfigFile, Failure> {
        settings(self.config.as_deref()).map(Option::unwrap_or_default)
    }
}

/// The bounds of a test; none of the file's if the command plays no test.
fn sprt_request(bounds: Option<SprtBounds>, file: &ConfigFile) -> Result<SprtRequest, Failure> {
    let (table, is_test) = (&file.sprt, bounds.is_some());
    let SprtBounds { elo0, elo1, alpha, beta, model, overshoot } = bounds.unwrap_or_default();
    let request = SprtRequest {
        elo0: elo0.or(table.elo0),
        elo1: elo1.or(table.elo1),
        alpha: alpha.or(table.alpha),
        beta: beta.or(table.beta),
        model: merged(model, file, "model", &table.model, |word| MODELS.read(word))?,
        correction: merged(overshoot, file, "overshoot", &table.overshoot, |word| {
            CORRECTIONS.read(word)
        })?,
        evidence: None,
    };
    Ok(if is_test { request } else { SprtRequest::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::ENGINE_KEYS;

    #[test]
    fn the_help_of_engine_names_every_key() {
        use clap::Args;
        let command = PlayArgs::augment_args(clap::Command::new("x"));
        let help = command.get_arguments().find(|a| a.get_id() == "engine").unwrap();
        let help = help.get_help().unwrap().to_string();
        for key in ENGINE_KEYS.split(", ") {
            assert!(help.contains(key), "{key}");
        }
    }
}
