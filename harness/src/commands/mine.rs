//! `arbiter mine`: extraction of a suite from games. Each position has one clearly best move.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::output::{NewFile, file_name, in_use, print_result};
use crate::suite_run::{QueryArgs, answer, engine, run_tasks};
use crate::{
    exit_code::ExitCode, failure::Failure, game_source::GameSourceArgs, run::engine_files,
};
use arbiter_names::quantity;
use arbiter_plan::Engine;
use arbiter_report::{note, utc_time_as};
use arbiter_runner::unix_time_ms;
use arbiter_suite::mine::{
    CONFIRMATIONS, Candidate, Criteria, Game, Journal, OPTIONS, Rejection, Search, candidates,
    suite_lines,
};

/// Default depths of the preliminary searches, in plies.
const LOOKS: [u32; 2] = [8, 12];

/// Default of `--found-at`, in plies: a solution that the engine finds below this depth is too
/// easy.
const FOUND_AT: u32 = 4;

/// Flags of `arbiter mine`.
#[derive(Debug, Args)]
#[command(after_help = "\
A position is selected if, at --depth and the two preceding depths, the best move leads the second-best
move by --gap with scores capped at --decided. In addition, the best move must not be a simple recapture,
and the engine must not prefer the move before depth --found-at. Cheaper searches come first and require
half of --gap. Each search uses one thread and an empty hash table, so the same games give the same
suite.

Results are stored in FILE.journal until the suite is written. After an interruption, run the same
command to resume; the command also repeats the positions at which the engine failed.

Exit codes: 0 if the suite is written; 2 for usage errors; 3 for invalid input; 4 if there is no position
to search, or no position has one clearly best move; 6 if the engine failed at some positions (the
journal is kept); 7 for an environment error; 130 and 143 if interrupted.

Examples:
  arbiter mine --pgn games.pgn --depth 18 --out suite.epd")]
pub(crate) struct MineArgs {
    #[command(flatten)]
    source: GameSourceArgs,
    /// Engine that verifies positions, specified like ENGINE in `arbiter match -h`; it must have
    /// the options Threads and MultiPV
    #[arg(long, value_name = "ENGINE", default_value = "stockfish")]
    engine: String,
    /// Suite to write, in an existing folder
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Depth of the verification, in plies
    #[arg(long, value_name = "N", default_value = "18",
        value_parser = clap::value_parser!(u32).range(i64::from(CONFIRMATIONS)..=245))]
    depth: u32,
    /// Increasing depths, in plies, of the preliminary searches that select positions to verify
    /// [default: 8,12, but only depths below --depth]
    #[arg(long, value_name = "N,N…", value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=245))]
    looks: Vec<u32>,
    /// Minimum lead of the best move over the second-best, in centipawns
    #[arg(long, value_name = "CP", default_value = "200",
        value_parser = clap::value_parser!(i32).range(1..=10_000))]
    gap: i32,
    /// Cap of scores, in centipawns; a score this high decides the game
    #[arg(long, value_name = "CP", default_value = "600",
        value_parser = clap::value_parser!(i32).range(1..=10_000))]
    decided: i32,
    /// Exclude moves that the engine already prefers before this depth [default: 4, or less if
    /// --depth requires it]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    found_at: Option<u32>,
    /// Skip the first N plies of each game
    #[arg(long, value_name = "PLIES", default_value = "8")]
    from_ply: usize,
    #[command(flatten)]
    query: QueryArgs,
}

/// Searches the positions and writes the suite.
pub(crate) fn run(args: &MineArgs) -> Result<(), Failure> {
    let criteria = Arc::new(criteria(args)?);
    let games = args.source.games()?;
    let candidates: Vec<Arc<Candidate>> =
        candidates(&games, args.from_ply).into_iter().map(Arc::new).collect();
    if candidates.is_empty() {
        return Err(Failure::nothing_to_run("no candidate position in these games"));
    }
    let mut engine = engine(&args.engine)?;
    engine.options.extend(OPTIONS.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let name = answer(&engine)?.declared_name;
    let journal_header = criteria_line(&criteria, &name, &engine);
    let files = args.source.files()?.chain(engine_files(&engine));
    let mut file = NewFile::create(&args.out, in_use(files)?)?;
    let mut journal = Journal::open(&args.out.with_added_extension("journal"), &journal_header)?;
    let is_remaining = |one: &&Arc<Candidate>| journal.judged(&one.start.fen()).is_none();
    let remaining: Vec<Arc<Candidate>> = candidates.iter().filter(is_remaining).cloned().collect();
    note(&format!(
        "{} positions of {} games, {} judged before; {name}, depth {}",
        candidates.len(),
        games.len(),
        candidates.len() - remaining.len(),
        criteria.depth
    ));
    let faults = judge(args, &engine, &remaining, &criteria, &mut journal)?;
    let mut found = Vec::new();
    let mut rejected: BTreeMap<Rejection, usize> = BTreeMap::new();
    for candidate in &candidates {
        match journal.judged(&candidate.start.fen()) {
            Some(Ok(mined)) => found.push((candidate.game, mined.clone())),
            Some(Err(rejection)) => *rejected.entry(*rejection).or_default() += 1,
            None => {}
        }
    }
    let lines = suite_lines(&found);
    let judged = found.len() + rejected.values().sum::<usize>();
    let reasons: String =
        rejected.iter().map(|(rejection, count)| format!(", {rejection} {count}")).collect();
    print_result(&format!(
        "Positions {}, judged {judged}: found {}{reasons}\nSuite {} ({} repeat a solution of the \
         same game)\n",
        candidates.len(),
        found.len(),
        lines.len(),
        found.len() - lines.len()
    ))?;
    if let Some(first) = faults.first() {
        let message = format!(
            "the engine failed at {} positions, first: {first}\nhint: repeat them with the same command",
            faults.len()
        );
        return Err(Failure::new(ExitCode::TooManyFaults, message));
    }
    if lines.is_empty() {
        return Err(Failure::nothing_to_run("no position has a unique best move"));
    }
    let header = header(args, &name, &criteria, &games);
    file.write(&lines.iter().fold(header, |text, line| text + line + "\n"))?;
    file.finish()?;
    journal.close()?;
    note(&format!("{} in {}", quantity(lines.len(), "position"), args.out.display()));
    Ok(())
}

fn criteria(args: &MineArgs) -> Result<Criteria, Failure> {
    let MineArgs { depth, gap, decided, .. } = *args;
    let room = depth + 1 - CONFIRMATIONS;
    let found_at = args.found_at.unwrap_or(FOUND_AT.min(room));
    let looks = match &args.looks[..] {
        [] => LOOKS.into_iter().filter(|look| *look < depth).collect(),
        looks => looks.to_vec(),
    };
    if !looks.iter().chain([&depth]).is_sorted_by(|a, b| a < b) {
        let message = format!("--looks must increase and stay below --depth {depth}");
        return Err(Failure::usage(message));
    }
    if found_at > room {
        let message = format!("--found-at {found_at} is too close to --depth {depth}");
        return Err(Failure::usage(message));
    }
    if gap > 2 * decided {
        return Err(Failure::usage(format!("--gap {gap} is more than twice --decided {decided}")));
    }
    Ok(Criteria { looks, depth, gap, decided, found_at })
}

/// Returns the line of the journal that identifies all inputs that affect the verdicts.
fn criteria_line(criteria: &Criteria, name: &str, engine: &Engine) -> String {
    let search = format!("{name} {engine:?} {criteria:?}");
    let hash = blake3::hash(search.as_bytes());
    format!("arbiter mine {} {hash}", env!("CARGO_PKG_VERSION"))
}

/// Searches the remaining positions, and adds the results to the journal. Returns the faults of the
/// engine.
fn judge(
    args: &MineArgs,
    engine: &Engine,
    remaining: &[Arc<Candidate>],
    criteria: &Arc<Criteria>,
    journal: &mut Journal,
) -> Result<Vec<String>, Failure> {
    let search = |candidate: &Arc<Candidate>| Search {
        candidate: candidate.clone(),
        criteria: criteria.clone(),
        limit: args.query.deadline,
    };
    let needs_chess960 = remaining.iter().any(|candidate| candidate.start.is_chess960());
    let tasks = remaining.iter().map(search).collect();
    let mut faults = Vec::new();
    let engines = std::slice::from_ref(engine);
    let searched = run_tasks(&args.query, engines, needs_chess960, tasks, |index, answer| {
        let Candidate { start, origin, .. } = &*remaining[index];
        match answer {
            Ok(judged) => {
                journal.append(start.fen(), judged.clone()).map_err(|error| error.to_string())
            }
            Err(fault) => {
                faults.push(format!("{origin}: {fault}"));
                Ok(())
            }
        }
    });
    match searched {
        Err(failure) if failure.is_interruption() => {
            let message = failure.message + "\nhint: continue with the same command";
            Err(Failure { message, ..failure })
        }
        searched => searched.map(|_| faults),
    }
}

/// Returns the header of the suite, with the sources and the conditions of the verification.
fn header(args: &MineArgs, engine: &str, criteria: &Criteria, games: &[Game]) -> String {
    let Criteria { looks, depth, gap, decided, found_at } = criteria;
    let looks: Vec<String> = looks.iter().map(u32::to_string).collect();
    let looks = looks.join(",");
    format!(
        "# Positions with one clearly best move, from {} games ({}).\n\
         # Mined on {} by arbiter {}: mine --engine '{}' --depth {depth} --looks {looks} --gap \
         {gap} --decided {decided} --found-at {found_at} --from-ply {}\n\
         # Proven by {engine}, one thread, MultiPV 2, empty hash table: at depth {depth} and the \
         two before, the best move\n\
         # leads the second by {gap} centipawns or more, scores limited to {decided}. c0 themes; \
         c1 scores; c2 the game.\n",
        games.len(),
        args.source.names(file_name),
        utc_time_as(unix_time_ms(), "%Y-%m-%d"),
        env!("CARGO_PKG_VERSION"),
        args.engine,
        args.from_ply,
    )
}
