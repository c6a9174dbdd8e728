//! Hashes of the inputs of a run, by which a resumed run is known to be the same run.

use std::fmt::Write;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use thiserror::Error;

use arbiter_openings::Book;
use arbiter_plan::book;
use arbiter_plan::plan::{BookSource, Plan, Program};
use arbiter_store::Fingerprints;

/// An input cannot be read.
#[derive(Debug, Error)]
#[error("cannot read {path}: {source}")]
pub struct FingerprintError {
    path: String,
    source: io::Error,
}

/// An input is not what it was when the run started.
#[derive(Debug, Error)]
#[error(
    "{what} changed since the run started; its games and new ones do not belong together. \
     Put the old file back, or start a new run"
)]
pub struct Changed {
    what: String,
}

/// Hashes the plan's book, the openings that were read from it, and the programs.
pub fn take(
    plan: &Plan,
    opened: &Book,
    own_binary: &Path,
) -> Result<Fingerprints, FingerprintError> {
    let book = match &plan.book {
        BookSource::Bundled => blake3::hash(book::bundled_bytes()).to_string(),
        BookSource::File(path) => hash(path)?,
    };
    let engines = plan.engines.iter().map(|engine| match &engine.program {
        Program::Bundled => hash(own_binary),
        Program::Path(path) => hash(path),
    });
    Ok(Fingerprints {
        book,
        openings: Some(hash_openings(opened)),
        quarantine: opened.quarantine().clone(),
        engines: engines.collect::<Result<_, _>>()?,
        host: Some(host()),
    })
}

/// This machine in words: processor, system, what may be used of it. Nothing that names its user.
fn host() -> String {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpus = text("/proc/cpuinfo");
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, model)| model.trim());
    let count = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = text("/proc/sys/kernel/osrelease");
    let system = format!("{} {}", std::env::consts::OS, kernel.trim());
    format!("{model}, {count} processors to use, {}, {}", system.trim(), std::env::consts::ARCH)
}

/// Compares the inputs with which a run started and those there are now.
pub fn compare(plan: &Plan, then: &Fingerprints, now: &Fingerprints) -> Result<(), Changed> {
    if then.book != now.book {
        return Err(Changed { what: "the opening book".to_owned() });
    }
    // The same file may be read in another way by another version of this program.
    if then.openings.is_some() && then.openings != now.openings {
        return Err(Changed { what: "what is read from the opening book".to_owned() });
    }
    let pairs = then.engines.iter().zip(&now.engines).zip(&plan.engines);
    for ((then, now), engine) in pairs {
        if then != now {
            return Err(Changed { what: format!("the program of engine '{}'", engine.name) });
        }
    }
    Ok(())
}

fn hash_openings(book: &Book) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut text = String::new();
    for opening in book.openings() {
        text.clear();
        // Writing to a string cannot fail.
        let _ = write!(text, "{}", opening.fen());
        for m in opening.moves() {
            let _ = write!(text, " {m}");
        }
        let _ = writeln!(text, " {:?}", opening.castling_mode());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_string()
}

/// The blake3 hash of a file, hexadecimal.
pub fn hash(path: &Path) -> Result<String, FingerprintError> {
    let fail = |source| FingerprintError { path: path.display().to_string(), source };
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path).map_err(fail)?).map_err(fail)?;
    Ok(hasher.finalize().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_openings::{ReadOptions, from_text};
    use arbiter_plan::plan::Kind;
    use arbiter_plan::request::Request;

    #[test]
    fn a_book_that_is_read_in_another_way_is_another_book() {
        let plan = Plan::resolve(Kind::Sprt, Request::default()).unwrap();
        let own_binary = std::env::current_exe().unwrap();
        let take = |text: &str| {
            let book = from_text("a.epd", text, ReadOptions::default()).unwrap();
            take(&plan, &book, &own_binary).unwrap()
        };
        let one = "4k3/8/8/8/8/8/8/4K2R w K - 0 1\n";
        let then = take(one);
        let same = take(&format!("nonsense\n{one}"));
        assert_eq!((then.quarantine.count, same.quarantine.count), (0, 1));
        assert!(compare(&plan, &then, &same).is_ok());
        for other in [format!("{one}{one}"), one.replace(" K ", " - "), one.replace("0 1", "1 1")] {
            let error = compare(&plan, &then, &take(&other)).unwrap_err().to_string();
            assert!(error.starts_with("what is read from the opening book changed"), "{error}");
        }
        // Runs of before know only the file.
        let older = Fingerprints { openings: None, ..then };
        assert!(compare(&plan, &older, &take(&one.repeat(2))).is_ok());
    }
}
