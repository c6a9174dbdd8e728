//! Hashes of the inputs of a run. The inputs of a resumed run must match these hashes.

use std::fmt::Write;
use std::path::Path;

use arbiter_openings::Book;
use arbiter_plan::{BUNDLED_BOOK, Plan};
use arbiter_process::{open_input, processor_name, system_version};
use arbiter_store::{EngineHashes, Fingerprints};

/// Hashes the opening book of the plan, the openings read from the book, the programs, and the
/// option files. If `known` is given, the hashes of the book and of the openings are copied from
/// `known`. `own_binary` is the program of the bundled engine. Fails if a file cannot be read.
pub fn take_fingerprints(
    plan: &Plan,
    opened: &Book,
    known: Option<&Fingerprints>,
    own_binary: &Path,
) -> Result<Fingerprints, String> {
    let [book, openings] = match (known, &plan.book) {
        (Some(known), _) => [known.book.clone(), known.openings.clone()],
        (None, None) => [blake3::hash(BUNDLED_BOOK).to_string(), hash_openings(opened)],
        (None, Some(path)) => [hash_file(path)?, hash_openings(opened)],
    };
    let mut engines = Vec::new();
    for engine in &plan.engines {
        let program = hash_file(engine.program.as_deref().unwrap_or(own_binary))?;
        let option_files = engine.option_files().map(|(_, path)| hash_file(path));
        let option_files = option_files.collect::<Result<_, _>>()?;
        engines.push(EngineHashes { program, option_files });
    }
    Ok(Fingerprints {
        book,
        openings,
        quarantine: opened.quarantine.clone(),
        corrected: opened.corrected.clone(),
        duplicates: Some(opened.duplicates),
        engines,
        host: host(),
    })
}

/// Returns a description of this machine: processor, number of available processors, system and
/// architecture. The description does not identify the user.
fn host() -> String {
    let processor = processor_name().unwrap_or_else(|| "unknown processor".to_owned());
    let count = std::thread::available_parallelism().map_or(0, usize::from);
    let system = format!("{} {}", std::env::consts::OS, system_version());
    let arch = std::env::consts::ARCH;
    format!("{processor}, {count} processors available, {}, {arch}", system.trim())
}

/// Compares the hashes from the start of a run (`then`) with the current hashes (`now`). The error
/// names the first input that has changed.
pub fn check_unchanged(plan: &Plan, then: &Fingerprints, now: &Fingerprints) -> Result<(), String> {
    let engines = then.engines.iter().zip(&now.engines).zip(&plan.engines);
    let mut changed_engines = engines.filter(|((then, now), _)| then.program != now.program);
    let changed = if then.book != now.book {
        "the opening book".to_owned()
    } else if then.openings != now.openings {
        // Different versions of Arbiter may read different openings from the same file.
        "the content of the opening book".to_owned()
    } else if let Some((_, engine)) = changed_engines.next() {
        format!("the program of engine '{}'", engine.name)
    } else if let Some(words) = changed_option_file(plan, then, now) {
        words
    } else {
        return Ok(());
    };
    Err(format!(
        "{changed} has changed since the run started\nhint: restore it, or start a new run"
    ))
}

/// Describes the first option file that has changed, with both hashes.
fn changed_option_file(plan: &Plan, then: &Fingerprints, now: &Fingerprints) -> Option<String> {
    let files = plan.engines.iter().flat_map(|engine| {
        engine.option_files().map(|(option, path)| (&engine.name, option, path))
    });
    let hashes = option_hashes(then).zip(option_hashes(now));
    let ((name, option, path), (before, after)) =
        files.zip(hashes).find(|(_, (before, after))| before != after)?;
    Some(format!(
        "{} of engine '{name}', option {option} (BLAKE3 {before}, now {after})",
        path.display()
    ))
}

/// Returns the hashes of the option files of all engines.
fn option_hashes(prints: &Fingerprints) -> impl Iterator<Item = &String> {
    prints.engines.iter().flat_map(|engine| &engine.option_files)
}

fn hash_openings(book: &Book) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut text = String::new();
    for opening in book.openings() {
        text.clear();
        opening.fen.append_to_string(&mut text);
        for m in opening.moves {
            // Writing to a string cannot fail.
            let _ = write!(text, " {m}");
        }
        let _ = writeln!(text, " {:?}", opening.castling_mode);
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_string()
}

/// Returns the BLAKE3 hash of a file, in hexadecimal. Fails if the file cannot be read.
pub fn hash_file(path: &Path) -> Result<String, String> {
    let mut hasher = blake3::Hasher::new();
    let hashed = open_input(path).and_then(|file| hasher.update_reader(file).map(drop));
    hashed.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(hasher.finalize().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_openings::{ReadOptions, from_text};
    use arbiter_plan::{Request, RunKind};

    #[test]
    fn changed_openings_are_detected_but_rejected_lines_do_not_matter() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let own_binary = std::env::current_exe().unwrap();
        let take = |text: &str| {
            let book = from_text("a.epd", text, ReadOptions::default()).unwrap();
            take_fingerprints(&plan, &book, None, &own_binary).unwrap()
        };
        let one = "4k3/8/8/8/8/8/8/4K2R w K - 0 1\n";
        let then = take(one);
        let same = take(&format!("nonsense\n{one}"));
        assert_eq!((then.quarantine.count, same.quarantine.count), (0, 1));
        assert!(check_unchanged(&plan, &then, &same).is_ok());
        for other in [format!("{one}{one}"), one.replace(" K ", " - "), one.replace("0 1", "1 1")] {
            let error = check_unchanged(&plan, &then, &take(&other)).unwrap_err();
            assert!(error.starts_with("the content of the opening book has changed"), "{error}");
        }
    }
}
