//! `arbiter datagen`: positions for training networks, from games of any engines.

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::output::{NewFile, in_use, store_files, write_atomically, write_error};
use crate::requested_run::RequestedRun;
use crate::{
    args::PlayArgs, engine_builds::setup, exit_code::ExitCode, failure::Failure,
    game_source::stored_games, run, runtime::interruptible,
};
use arbiter_game::adjudicate::{DrawRule, ResignRule};
use arbiter_game::engine::EngineSetup;
use arbiter_openings::Order;
use arbiter_plan::{EngineSpec, Plan, RunKind, resolve_engine};
use arbiter_process::{EndReason, Timeouts, folder_of, open_input, run_to_completion};
use arbiter_report::note;
use arbiter_runner::unix_time_ms;
use arbiter_settings::merged;
use arbiter_store::{EngineHashes, RunLock, Store};
use arbiter_suite::packed;

/// Text of the first line of a positions file; this text identifies the format of the file.
const MAGIC: &str = "palimpsest positions 1";

/// Length of the file header, in bytes.
const HEADER_BYTES: usize = 256;

/// Default number of games.
const DEFAULT_GAMES: u64 = 1_000;

/// Default nodes per move of an engine without a limit, as in `palimpsest datagen`.
const DEFAULT_NODES: u64 = 5_000;

/// Maximum number of openings requested from an engine.
const MAX_OPENINGS: u64 = 10_000_000;

/// Maximum time for an engine to generate openings.
const GENFENS_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Flags of `arbiter datagen`.
#[derive(Debug, Args)]
#[command(after_help = "\
Plays single games and writes their quiet positions with score and result, 32 bytes each. The format is
that of `palimpsest datagen`; `palimpsest train` reads such files, and docs/net.md in the repository
describes the format. A single engine plays against itself. A position is skipped if the side to move is
in check, captures, promotes or reported no score; all positions after a mate announcement are skipped,
too. By default, a game is adjudicated as a win if both engines report 20 pawns for 5 moves, and as a
draw after 200 moves, or if both report at most 0.08 pawns for 6 moves after move 40. An engine without a
limit searches 5,000 nodes per move; an xboard engine needs depth or st.

After an interruption, run the same command to resume; the finished file is the same as without
interruption. The games are stored as a run, named by --name or after the file without its extension. The
openings of --genfens are stored in RUN.genfens.epd next to the file.

Examples:
  arbiter datagen bundled --out net.data --genfens --games 10000 --each nodes=5000
  arbiter datagen ./mine --out mine.data --openings book.epd --games 5000 --each nodes=5000
  arbiter datagen ./mine --out mine.data --genfens --each nodes=5000 --on coordinator.join")]
pub(crate) struct DatagenArgs {
    /// File to write, in an existing folder
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Have the first engine generate one opening per game, as for OpenBench: started with the
    /// arguments "genfens N seed S book None" and "quit", it prints info string genfens FEN
    #[arg(long)]
    genfens: bool,
    #[command(flatten)]
    play: PlayArgs,
}

/// Plays the games, and writes the positions.
pub(crate) fn run(args: DatagenArgs) -> Result<ExitCode, Failure> {
    let DatagenArgs { out, genfens, play } = args;
    if genfens && merged(play.settings.openings.clone()).file.is_some() {
        return Err(Failure::usage("--genfens makes the openings; remove the file of --openings"));
    }
    let (mut requested, name) = requested_run(play, &out)?;
    // If the store is unreadable, the later start of the run reports the error.
    let begun = Store::open(&requested.results).ok().filter(|store| store.run(&name).is_ok());
    refuse_another(&out, begun.as_ref().map(|_| &*name))?;
    if requested.flags.dry_run {
        return run::run_command(RunKind::Match, requested);
    }
    let results = requested.results.clone();
    let before = begun.and_then(|store| store.tallies(&name).ok());
    if genfens {
        let path = out.with_file_name(format!("{name}.genfens.epd"));
        requested.request.draft.book = Some(openings(&mut requested, path, before.is_some())?);
        // The openings count as a flag of the command line, so that a run that was started with
        // other openings is rejected.
        requested.given.insert("openings file".to_owned());
    }
    let begun_ms = unix_time_ms();
    let (name, code) = run::play_and_name(RunKind::Match, requested)?;
    if code != ExitCode::Passed {
        return Ok(code);
    }
    // Another run may have written to the file during the games.
    refuse_another(&out, Some(&name))?;
    let store = Store::open(&results)?;
    let (games, positions) = write(&store, &name, &out)?;
    let new = games - before.map_or(0, |tallies| tallies.len()).min(games);
    let share = new as f64 / games.max(1) as f64;
    // At least 1 ms, because the value is a divisor and the clock may have been set back.
    let seconds = (unix_time_ms() - begun_ms).max(1) as f64 / 1e3;
    let speed = positions as f64 * share / seconds;
    let out = out.display();
    note(&format!("{games} games, {positions} positions in {out}, {speed:.0} positions/s"));
    match positions {
        0 => Err(Failure::nothing_to_run(format!("{out}: no game has a quiet position"))),
        _ => Ok(code),
    }
}

/// Fails if the file cannot be written, or if the file exists and does not contain positions of the
/// run `begun`.
fn refuse_another(out: &Path, begun: Option<&str>) -> Result<(), Failure> {
    let mut begin = [0; HEADER_BYTES];
    let is_ours = |begin: &[u8]| {
        begun.is_some_and(|run| begin.starts_with(format!("{MAGIC}\nrun {run}\n").as_bytes()))
    };
    let has_folder = || out.parent().is_some_and(|folder| Path::new(".").join(folder).is_dir());
    let reason = match open_input(out).and_then(|mut file| file.read_exact(&mut begin)) {
        Ok(()) if is_ours(&begin) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound && has_folder() => return Ok(()),
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => error.to_string(),
        _ => "it exists and contains no positions of this run".to_owned(),
    };
    let out = out.display();
    Err(Failure::invalid(format!("{out}: {reason}; name another file with --out")))
}

/// Returns the request for a match of single games, and the name of the run. If the run has already
/// been started, the request resumes the run.
fn requested_run(play: PlayArgs, out: &Path) -> Result<(RequestedRun, String), Failure> {
    if play.is_resuming() {
        let hint = "datagen resumes its run automatically; remove --resume, or give --name";
        return Err(Failure::usage(hint));
    }
    let mut requested = play.resolve(None)?;
    let stem = out.file_stem().unwrap_or(out.as_os_str()).to_string_lossy().into_owned();
    let name = requested.flags.name.get_or_insert(stem).clone();
    RunLock::check_new_name(&name)?;
    if !requested.flags.resume_or_start {
        (requested.pgn, requested.affinity) = (None, None);
    }
    requested.flags.resume = Some(name.clone());
    requested.flags.resume_or_start = true;
    let request = &mut requested.request;
    if request.each.limits.is_empty() && !request.each.no_clock {
        request.each.limits.nodes = Some(DEFAULT_NODES);
    }
    if let [engine] = &request.engines[..] {
        let itself = EngineSpec { name: Some("itself".to_owned()), ..engine.clone() };
        request.engines.push(itself);
    }
    let tournament = &mut request.tournament;
    tournament.draft.is_single = true;
    if tournament.pairs.is_none() {
        tournament.games.get_or_insert(DEFAULT_GAMES);
    }
    let rules = &mut request.draft.rules;
    rules.draw.get_or_insert(DrawRule { move_number: 40, move_count: 6, score_cp: 8 });
    rules.resign.get_or_insert(ResignRule { move_count: 5, score_cp: 2_000, two_sided: true });
    rules.move_cap.get_or_insert(200);
    request.order.get_or_insert(Order::Sequential);
    Ok((requested, name))
}

/// Returns the path of a file that contains one opening per game, generated by the first engine. An
/// existing file is reused only if the run has already been started.
fn openings(
    requested: &mut RequestedRun,
    path: PathBuf,
    has_begun: bool,
) -> Result<PathBuf, Failure> {
    if has_begun && path.is_file() {
        return Ok(path);
    }
    let request = &requested.request;
    let count = request.tournament.games.or(request.tournament.pairs).unwrap_or(DEFAULT_GAMES);
    if count > MAX_OPENINGS {
        return Err(Failure::invalid(format!("--genfens makes at most {MAX_OPENINGS} openings")));
    }
    if request.engines.is_empty() && requested.flags.build.dev().is_none() {
        return Err(Failure::usage("datagen needs an engine, as in `arbiter datagen ./mine`"));
    }
    let seed = request.seed.unwrap_or(1);
    run::make_engines(RunKind::Match, requested)?;
    let request = &requested.request;
    let first = request.engines.first().cloned().unwrap_or_default();
    let engine = resolve_engine(0, first.or(&request.each)).map_err(Failure::invalid)?;
    let setup = setup(&engine)?;
    note(&format!("{} generates {count} openings", setup.name));
    let fens = genfens(setup, count, seed)?;
    write_atomically(&path, &fens, in_use(store_files(&requested.results))?)?;
    Ok(path)
}

/// Returns the openings that the engine prints in reply to `genfens`, one per line.
fn genfens(setup: EngineSetup, count: u64, seed: u64) -> Result<String, Failure> {
    let EngineSetup { name, mut launch, .. } = setup;
    launch.args.extend([format!("genfens {count} seed {seed} book None"), "quit".to_owned()]);
    let (send, received) = std::sync::mpsc::channel();
    let read = move |line: &str| {
        let fen = line.trim().strip_prefix("info string genfens ");
        // Sending fails if the receiver has been dropped; in this case, the line is not needed.
        fen.into_iter().for_each(|fen| drop(send.send(fen.trim().to_owned())));
    };
    let timeouts = Timeouts { limit: GENFENS_TIMEOUT, grace: Duration::ZERO };
    let engine = name.clone();
    let ended = interruptible(move |spawner, cancel| {
        let failed = |error| Failure::environment(format!("engine '{engine}': {error}"));
        let ended = run_to_completion(spawner, &launch, timeouts, cancel, read).map_err(failed)?;
        if ended.reason == EndReason::Cancelled {
            return Err(Failure::environment("interrupted while generating openings"));
        }
        Ok(ended)
    })?;
    let fens: Vec<String> = received.try_iter().take(count as usize).collect();
    if (fens.len() as u64) < count {
        return Err(Failure::invalid(format!(
            "engine '{name}' printed {} of {count} lines `info string genfens FEN` and ended with \
             {}\nhint: use --openings to start games from a book",
            fens.len(),
            ended.how
        )));
    }
    Ok(fens.join("\n") + "\n")
}

/// Writes the positions of a run. Returns the numbers of games and positions.
fn write(store: &Store, run: &str, out: &Path) -> Result<(usize, usize), Failure> {
    let stored = store.run(run)?;
    let games = stored_games(store, run)?;
    let mut file = NewFile::create(out, in_use(store_files(folder_of(store.file())))?)?;
    let mut add =
        |bytes: &[u8]| file.writer().write_all(bytes).map_err(|error| write_error(out, &error));
    add(&header(run, &stored.plan, &stored.fingerprints.engines))?;
    let mut positions = 0;
    for game in &games {
        for record in packed(game) {
            add(&record)?;
            positions += 1;
        }
    }
    file.finish()?;
    Ok((games.len(), positions))
}

/// Returns the header of the file, padded or truncated to [`HEADER_BYTES`]. The header contains the
/// conditions of the games.
fn header(run: &str, plan: &Plan, hashes: &[EngineHashes]) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let seed = plan.seed;
    let mut text = format!("{MAGIC}\nrun {run}\narbiter {version}\nseed {seed}\n");
    for (engine, hashes) in plan.engines.iter().zip(hashes) {
        let limits = engine.conditions.limits;
        text.push_str(&format!("engine {} {limits} {:.16}\n", engine.name, hashes.program));
    }
    let mut bytes = text.into_bytes();
    bytes.resize(HEADER_BYTES, b' ');
    bytes[HEADER_BYTES - 1] = b'\n';
    bytes
}
