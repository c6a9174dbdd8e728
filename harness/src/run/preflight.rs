//! Preflight of a run, which reports mistakes before the first game. A file that the run writes
//! must not have another use.

use std::path::{Path, PathBuf};

use super::Inputs;
use crate::failure::Failure;
use crate::output::{FileUse, in_use, print_result, store_files};
use crate::runtime::{runtime, until_signal};
use arbiter_compat::{Printer, Style, option_warnings};
use arbiter_game::engine::EngineSetup;
use arbiter_openings::Book;
use arbiter_plan::{Engine, Plan, base_name, load_book};
use arbiter_protocol::Protocol;
use arbiter_report::{Dialect, log_warn, note};
use arbiter_run::thin_book;
use arbiter_runner::{Preflight, PreflightError, check_game_engines, check_tuning};

/// Progress of a run before its first game, for the error message after a signal.
pub(super) const BEFORE_GAMES: &str = "before the first game";

/// Starts all engines once, and adds their options to the returned inputs. Removes from the book
/// all openings that will not be played or that an engine cannot set up; the same engines always
/// exclude the same openings. If `is_probed` is `true`, also checks whether the engine can be
/// tuned. If an engine turns out to speak xboard, changes the engine's protocol in the plan and in
/// the setups. If an engine cannot be started and `style` is given, prints the output of the
/// imitated program for this case.
pub(super) fn check_engines(
    plan: &mut Plan,
    mut inputs: Inputs,
    is_probed: bool,
    style: Option<&Style>,
) -> Result<Inputs, Failure> {
    let Inputs { book, setups, .. } = &mut inputs;
    // UCI engines accept any opening, so the preflight will not exclude openings, and unused
    // openings can be dropped now. Memory is scarcest while engines start.
    if !is_probed && plan.engines.iter().all(|engine| engine.launch.protocol == Protocol::Uci) {
        thin_book(book, plan);
    }
    let trial = async { Ok(try_all(plan, setups, book, is_probed).await) };
    let trial = runtime()?.block_on(until_signal(trial, BEFORE_GAMES))?;
    if let (Err(error), Some(style)) = (&trial, style)
        && error.at_start
    {
        Printer::print_no_start(style, plan, &error.name).map_err(Failure::environment)?;
    }
    let Preflight { xboard, unplayable, threaded, options } = trial?;
    if !xboard.is_empty() {
        let names = xboard.join(" and ");
        note(&format!("{names} answered xboard, not uci: using proto=xboard"));
        let is_tuned = plan.tuning.is_some();
        for setup in setups.iter_mut() {
            let name = if is_tuned { base_name(&setup.name) } else { &setup.name };
            if xboard.iter().any(|found| found == name) {
                setup.protocol = Protocol::Xboard;
                let mut engines =
                    plan.engines.iter_mut().filter(|engine| engine.name == setup.name);
                engines.try_for_each(Engine::set_xboard).map_err(Failure::invalid)?;
            }
        }
        // Unused openings may already have been dropped, because all engines were expected to speak
        // UCI. An xboard engine may be unable to set up some of the remaining openings, so the
        // complete book is read again.
        *book = load_book(plan).map_err(Failure::invalid)?;
        return check_engines(plan, inputs, is_probed, style);
    }
    let lines = option_warnings(plan, &options);
    match plan.annotation.dialect {
        Some(Dialect::Cutechess) => {
            let lines = lines.replace("Warning; ", "Warning: ").replace("; ", ": ");
            lines.lines().for_each(log_warn);
        }
        _ => print_result(&lines)?,
    }
    for (name, option, threads) in threaded {
        note(&format!(
            "{name} uses {threads} threads by default; for a fair comparison set option.{option}=1 \
             for {name}"
        ));
    }
    if !unplayable.is_empty() {
        note(&format!(
            "{} of {} openings excluded: an engine without setboard cannot set them up",
            unplayable.len(),
            book.len()
        ));
    }
    let no_opening = || Failure::invalid("the engines share no opening");
    let mut book = inputs.book.without(&unplayable).ok_or_else(no_opening)?;
    plan.book_length = Some(book.len() as u64);
    thin_book(&mut book, plan);
    Ok(Inputs { book, options, ..inputs })
}

/// Starts all engines once, and checks that the engine of a tuning run can be tuned.
async fn try_all(
    plan: &Plan,
    setups: &[EngineSetup],
    book: &Book,
    is_probed: bool,
) -> Result<Preflight, PreflightError> {
    // Both sides of a tuning run are the same engine, so the preflight starts only one side.
    let Some((tuning, [side, _])) = plan.tuning.as_ref().zip(setups.first_chunk()) else {
        return check_game_engines(setups, book).await;
    };
    let setup = EngineSetup { name: base_name(&side.name).to_owned(), ..side.clone() };
    let trial = check_game_engines(std::slice::from_ref(&setup), book).await?;
    if is_probed {
        let limits = plan.engines[0].conditions.limits;
        let idle = check_tuning(&setup, tuning, limits, book).await?;
        if !idle.is_empty() {
            note(&format!(
                "some searches are identical at both ends of the range of {}",
                idle.join(", ")
            ));
        }
    }
    Ok(trial)
}

/// Returns the known files of an engine: its program, and files named in its arguments and options.
pub(crate) fn engine_files(engine: &Engine) -> impl Iterator<Item = FileUse> {
    let folder = engine.dir.as_deref().unwrap_or(Path::new(""));
    let words = engine.args.iter().chain(engine.options.iter().map(|(_, value)| value));
    let named = engine.option_files().map(|(_, path)| path.to_owned());
    let named = named.chain(words.map(|word| folder.join(word))).filter(|path| path.is_file());
    let program = engine.program.clone();
    program.into_iter().chain(named).map(|path| ("a file of an engine", path))
}

/// Fails if the run would write a file that the run also uses for another purpose. Must be called
/// before anything is written.
pub(super) fn check_files(
    plan: &Plan,
    settings_files: &[PathBuf],
    style: Option<&Style>,
    results: &Path,
    run: Option<&str>,
) -> Result<(), Failure> {
    let lock = run.map(|run| ("the lock of the run", results.join(format!("{run}.lock"))));
    let this = std::env::current_exe().ok().map(|program| ("arbiter itself", program));
    let read = store_files(results).chain(lock).chain(this);
    let read = read.chain(plan.book.clone().map(|book| ("the openings", book)));
    let read = read.chain(settings_files.iter().map(|path| ("the settings", path.clone())));
    let mut files = in_use(read.chain(plan.engines.iter().flat_map(engine_files)))?;
    let errors = plan.engines.iter().filter_map(|engine| engine.launch.stderr.as_ref());
    let written = errors.map(|path| ("the error output of engines", path));
    let written = written.chain(plan.pgn.iter().map(|path| ("the PGN file", path)));
    let written = written.chain(plan.epd.iter().map(|path| ("the EPD file", path)));
    let written = written.chain(style.and_then(Style::log_file).map(|path| ("the log", path)));
    for (words, path) in written {
        files.writes(words, path).map_err(Failure::invalid)?;
    }
    Ok(())
}
