//! Conversion of parsed options to the request of a run.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};

use crate::games_before;
use crate::options::Options;
use arbiter_openings::Order;
use arbiter_plan::{BUNDLED, EngineSpec, Request, RunKind, TournamentRequest};
use arbiter_process::is_executable;
use arbiter_report::{Dialect, print_result};
use arbiter_schedule::{Format, OpeningPolicy};
use arbiter_stats::{Evidence, Model};

/// Output of fastchess for a run without an opening book.
const NO_BOOK: &str = "\
Warning: No opening book specified! Consider using one, otherwise all games will be played from the \
starting position.
Warning: Unknown opening format, 2. All games will be played from the starting position.
";

/// Output of fastchess for an SPRT whose figures cannot be computed from pairs.
const NO_PAIRS: &str = "Warning; Bayesian SPRT model not available with pentanomial statistics. \
    Disabling pentanomial reports...\n";

/// Checks that the options describe a valid run.
///
/// # Errors
///
/// Returns a description of the first error.
pub fn check(options: &Options) -> Result<(), String> {
    let count = options.request.engines.len();
    let is_fastchess = options.style.is_fastchess();
    if count < 2 {
        return Err(format!("{count} engines are too few; give -engine at least twice"));
    }
    if options.is_sprt && count > 2 {
        return Err(format!("-sprt compares two engines, not {count}"));
    }
    for engine in &options.request.engines {
        let name = engine.name.as_deref().or(engine.cmd.as_deref()).unwrap_or_default();
        if engine.limits.is_empty() {
            return Err(format!("engine '{name}' has no time limit: give tc, st, nodes or depth"));
        }
        if engine.limits.clock.is_some() && engine.limits.movetime.is_some() && is_fastchess {
            return Err(format!("engine '{name}' has both tc and st; remove one of them"));
        }
    }
    let has_book = options.request.draft.book.is_some() || !options.books.is_empty();
    if options.style.is_chess960 && !has_book {
        return Err("-variant fischerandom needs -openings".to_owned());
    }
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let wanted = options.request.concurrency.unwrap_or(1);
    if is_fastchess && !options.is_forced && wanted > cores {
        return Err(format!(
            "-concurrency {wanted} exceeds the {cores} processors; add -force-concurrency"
        ));
    }
    Ok(())
}

/// Returns the kind and the request of the run, and prints the lines that precede the run. May
/// change the output style.
///
/// # Errors
///
/// Returns a message if the options contradict each other or the lines cannot be printed.
pub fn request(options: &mut Options) -> Result<(RunKind, Request), String> {
    let draft = &options.request.draft;
    let files = [&draft.pgn, &draft.epd, &options.style.log.file];
    let replaced = files.into_iter().zip(options.replaces).filter(|(_, is_new)| *is_new);
    options.style.replaces = replaced.filter_map(|(path, _)| path.clone()).collect();
    if options.request.draft.tables.is_empty() {
        options.request.draft.rules.tablebase = None;
    }
    engine_books(options)?;
    let is_test_of_games = options.is_sprt && options.request.sprt.model == Some(Model::Bayesian);
    if is_test_of_games && options.style.penta && options.style.dialect == Dialect::Fastchess {
        options.first_lines.push_str(NO_PAIRS);
    }
    match (options.style.program, &options.request.draft.book) {
        (Dialect::Fastchess, None) => options.first_lines.push_str(NO_BOOK),
        (_, Some(_)) if options.request.order == Some(Order::Random) => {
            options.first_lines.push_str("Indexing opening suite...\n");
        }
        _ => {}
    }
    name_all(&mut options.request.engines);
    for engine in &mut options.request.engines {
        find_named_program(engine, options.style.program);
        engine.limits.increment_first =
            engine.limits.clock.is_some() && options.style.is_fastchess();
    }
    let kind = match options.request.engines.len() {
        _ if options.is_sprt => RunKind::Sprt,
        2 => RunKind::Match,
        _ => RunKind::Tournament,
    };
    let (tournament, round_games) = tournament(options)?;
    let style = &mut options.style;
    let is_cutechess = style.dialect == Dialect::Cutechess;
    style.penta &= !(is_cutechess || tournament.draft.is_single || is_test_of_games);
    let evidence = match style.program {
        Dialect::Cutechess => Evidence::GamesWithPrior,
        Dialect::Fastchess if style.penta => Evidence::Pairs,
        Dialect::Fastchess => Evidence::Games,
    };
    let mut request = std::mem::take(&mut options.request);
    request.draft.annotation.round_games = round_games;
    request.tournament = tournament;
    request.sprt.evidence = Some(evidence);
    request.concurrency = request.concurrency.or(Some(1));
    request.draft.deadlines.readyok = options.ready.unwrap_or(request.draft.deadlines.readyok);
    request.draft.deadlines =
        request.draft.deadlines.with_start_scaled(options.start_scale.unwrap_or(1.0));
    request.seed.get_or_insert_with(random_seed);
    print_result(&options.first_lines)?;
    Ok((kind, request))
}

/// Returns a random seed, derived from the random keys of the standard library's hash tables.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// Uses a book that all engines share as the book of the run; fails if the engines have different
/// books.
fn engine_books(options: &mut Options) -> Result<(), String> {
    let Some(book) = options.books.first().cloned() else { return Ok(()) };
    let is_shared = options.books.len() >= options.request.engines.len()
        && options.books.iter().all(|other| *other == book);
    if !is_shared || options.request.draft.book.is_some() {
        let reason = "book=: give all engines the same book, or -openings (no book of one engine)";
        return Err(reason.to_owned());
    }
    let (path, moves) = book;
    std::fs::metadata(&path).map_err(|error| format!("book={}: {error}", path.display()))?;
    options.request.draft.book = Some(path);
    options.request.draft.reading.depth = moves.map(|moves| moves.saturating_mul(2));
    Ok(())
}

/// Replaces the name of a program with the path of the file that the imitated program would start.
/// fastchess and cutechess-cli search `PATH`, then `dir` or the current folder; cutechess-cli
/// without `dir` prefers a file in the current folder. The name is unchanged if no such file
/// exists.
fn find_named_program(engine: &mut EngineSpec, program: Dialect) {
    let is_name = |cmd: &&String| !cmd.contains('/') && *cmd != BUNDLED;
    let Some(name) = engine.cmd.as_ref().filter(is_name) else { return };
    let mut folders: Vec<PathBuf> =
        env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let comes_first = program == Dialect::Cutechess && engine.dir.is_none();
    let index = if comes_first { 0 } else { folders.len() };
    folders.insert(index, engine.dir.clone().unwrap_or_default());
    let found = folders.iter().map(|folder| folder.join(name)).find(|file| is_executable(file));
    let found = found.and_then(|file| std::path::absolute(file).ok());
    if let Some(path) = found.as_deref().and_then(Path::to_str) {
        engine.cmd = Some(path.to_owned());
    }
}

/// Gives every engine a name, by default the name of its program, and appends a number to each
/// repeated name.
fn name_all(engines: &mut [EngineSpec]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for engine in engines {
        let cmd = Path::new(engine.cmd.as_deref().unwrap_or_default());
        let stem = || cmd.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = engine.name.take().unwrap_or_else(stem);
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        engine.name = Some(if *count == 1 { name } else { format!("{name}_{count}") });
    }
}

/// Converts rounds and games of fastchess or cutechess-cli to Arbiter's rounds and pairs. If each
/// opening is played an even number of times with colours swapped, the games form pairs. Otherwise,
/// each game is a single game, and the order is unchanged. Also returns the number of games per
/// round, for the PGN tag `Round`.
fn tournament(options: &Options) -> Result<(TournamentRequest, Option<u64>), String> {
    let is_fastchess = options.style.is_fastchess();
    let usual = if is_fastchess { 2 } else { 1 };
    let mut rounds = options.rounds.unwrap_or(usual);
    let mut games = options.games.unwrap_or(usual);
    if is_fastchess && games > 2 {
        // fastchess also exchanges the two numbers: two rounds of many games become many rounds of
        // two games.
        std::mem::swap(&mut rounds, &mut games);
        if games > 2 {
            return Err(format!("-games {rounds} -rounds {games}: a round has 2 games at most"));
        }
    }
    let repeats = if is_fastchess { games } else { options.repeats.unwrap_or(1) }.max(1);
    let is_duel = options.request.engines.len() == 2;
    let before = games_before(options.request.draft.prior);
    let mut request = options.request.tournament;
    let is_knockout = request.format == Some(Format::Knockout);
    // Seeds have no effect in a round robin.
    let has_seeds = matches!(request.format, Some(Format::Gauntlet | Format::Knockout));
    request.format = request.format.filter(|_| !is_duel);
    request.seeds = request.seeds.filter(|seeds| *seeds > 0 && !is_duel && has_seeds);
    request.draft.seeds_meet = is_fastchess && request.format == Some(Format::Gauntlet);
    // With two engines, only the total number of games matters.
    let total = rounds.saturating_mul(games);
    let length = if is_duel { total.saturating_sub(before) } else { games };
    request.rounds = Some(rounds).filter(|_| !is_duel && !is_knockout);
    let is_paired = is_knockout
        || (!request.draft.is_single && length.is_multiple_of(2) && repeats.is_multiple_of(2));
    let alternates = !is_paired && !request.draft.is_single;
    request.draft.alternates = alternates && is_fastchess;
    request.draft.alternates_in_encounter = alternates && !is_fastchess;
    request.draft.is_single = !is_paired;
    let unit = if is_paired { 2 } else { 1 };
    request.pairs = Some(length.div_ceil(unit));
    request.draft.repeats = repeats / unit;
    let openings = &mut request.draft.openings;
    if !is_duel && *openings == OpeningPolicy::Shared && !is_knockout {
        *openings = if is_fastchess { OpeningPolicy::Cycled } else { OpeningPolicy::PerPair };
    }
    // In a round of cutechess-cli, each engine plays one encounter.
    let encounters = if is_fastchess { 1 } else { options.request.engines.len() as u64 / 2 };
    Ok((request, (!is_knockout).then(|| games.saturating_mul(encounters))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_order_of_the_other_programs() {
        let here = env::current_dir().unwrap();
        let folder = tempfile::tempdir_in(&here).unwrap();
        let relative = folder.path().strip_prefix(&here).unwrap();
        for name in ["sh", "e1", "bundled"] {
            std::os::unix::fs::symlink("/bin/sh", folder.path().join(name)).unwrap();
        }
        let found = |name: &str, dir: Option<&Path>, program| {
            let cmd = Some(name.to_owned());
            let mut engine =
                EngineSpec { cmd, dir: dir.map(Path::to_owned), ..EngineSpec::default() };
            find_named_program(&mut engine, program);
            PathBuf::from(engine.cmd.unwrap())
        };
        for program in [Dialect::Fastchess, Dialect::Cutechess] {
            assert_ne!(found("sh", Some(relative), program), folder.path().join("sh"));
            assert_eq!(found("e1", Some(relative), program), folder.path().join("e1"));
            assert_eq!(found("e1", None, program), Path::new("e1"));
            assert_eq!(found("bundled", Some(relative), program), Path::new("bundled"));
            assert_eq!(found("./sh", Some(relative), program), Path::new("./sh"));
        }
    }
}
