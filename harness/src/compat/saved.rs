//! `-config`: where fastchess keeps settings and counts, arbiter keeps which of its runs it was.
//! The run itself, with all its games, is in the store.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::table::idleness;
use super::words::{Word, truth};
use crate::{Failure, write_whole};
use arbiter_process::open_input;
use arbiter_report::note;

/// Where fastchess saves if nothing else is said.
const USUAL: &str = "config.json";

/// What is read of a file at most, in bytes; ours hold a name and a path.
const LARGEST: u64 = 1 << 16;

/// Options that may be others than when the run was started, as those without effect may: they change
/// how it is played and shown, and not what is played.
const CHANGEABLE: [&str; 7] = [
    "concurrency",
    "config",
    "output",
    "ratinginterval",
    "report",
    "scoreinterval",
    "use-affinity",
];

/// The form of the file; the key marks it as ours and has the version of the form.
#[derive(Serialize, Deserialize)]
struct SavedFile {
    #[serde(rename = "arbiter run, version 1")]
    saved: Saved,
}

/// A run, as such a file names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// Its name.
    pub run: String,
    /// The folder of its store.
    pub results: PathBuf,
}

impl Saved {
    fn read(path: &Path) -> Result<Saved, String> {
        let wrong = |what: String| format!("-config file={}: {what}", path.display());
        let mut text = String::new();
        let read = open_input(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text));
        read.map_err(|error| wrong(error.to_string()))?;
        let file: SavedFile = serde_json::from_str(&text).map_err(|_| {
            wrong(
                "arbiter has not written it. What fastchess saves are counts without their games; \
                 let fastchess go on with it, or start a new run without -config"
                    .to_owned(),
            )
        })?;
        Ok(file.saved)
    }

    /// Writes it, but never over a file of another program.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        if path.exists() && Saved::read(path).is_err() {
            note(&format!(
                "{} is of another program and stays as it is; -config outname= names another",
                path.display()
            ));
            return Ok(());
        }
        let file = SavedFile { saved: self.clone() };
        let text = serde_json::to_string_pretty(&file).map_err(Failure::environment)?;
        write_whole(path, &(text + "\n"))
    }
}

/// What all `-config` of a command line ask for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// The run to go on with.
    pub run: Option<Saved>,
    /// Where it is written which run this is.
    pub out: PathBuf,
}

impl Config {
    /// Reads them, and the file that they name.
    pub(crate) fn read(words: &[Word]) -> Result<Config, String> {
        let (mut file, mut out) = (None, None);
        let mut keeps_counts = true;
        for (index, word) in words.iter().enumerate().filter(|(_, word)| word.name == "config") {
            for (key, value) in word.pairs()? {
                match key {
                    "file" => file = Some((index, PathBuf::from(value))),
                    "outname" => out = Some(PathBuf::from(value)),
                    "discard" if truth(&word.name, key, value)? => file = None,
                    "discard" => {}
                    "stats" => keeps_counts = truth(&word.name, key, value)?,
                    _ => return Err(word.unknown_key(key, "file, outname, discard, stats")),
                }
            }
        }
        let Some((index, path)) = file else {
            return Ok(Config { run: None, out: out.unwrap_or_else(|| USUAL.into()) });
        };
        if !keeps_counts {
            return Err("-config stats=false: arbiter never parts counts from their games; begin \
                        anew without -config file="
                .to_owned());
        }
        let (before, after) = words.split_at(index);
        if let Some(word) = after.iter().find(|word| !is_changeable(word)) {
            return Err(format!(
                "-{} after -config file={}: a run goes on as it was started; leave it out",
                word.name,
                path.display()
            ));
        }
        let mut unused: Vec<&str> =
            before.iter().filter(|word| !is_changeable(word)).map(|word| &*word.name).collect();
        unused.dedup();
        if !unused.is_empty() {
            note(&format!("-{}: as in {}, which comes later", unused.join(", -"), path.display()));
        }
        let saved = Saved::read(&path)?;
        if !saved.results.is_dir() {
            return Err(format!(
                "-config file={}: run '{}' is in the folder {}, which is not there",
                path.display(),
                saved.run,
                saved.results.display()
            ));
        }
        Ok(Config { run: Some(saved), out: out.unwrap_or(path) })
    }

    /// Those words that count.
    pub(crate) fn left(&self, words: Vec<Word>) -> Vec<Word> {
        let is_new = self.run.is_none();
        let counts = |word: &Word| word.name != "config" && (is_new || is_changeable(word));
        words.into_iter().filter(counts).collect()
    }
}

fn is_changeable(word: &Word) -> bool {
    let name = word.name.as_str();
    CHANGEABLE.contains(&name) || idleness(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::words::split;

    fn read(line: &str) -> Result<Config, String> {
        Config::read(&split(&shell_words::split(line).unwrap()).unwrap())
    }

    #[test]
    fn a_run_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a b.json");
        let saved = Saved { run: "match-1".to_owned(), results: folder.path().join("results") };
        saved.write(&file).unwrap();
        saved.write(&file).unwrap();
        let config = format!("-config 'file={}'", file.display());
        let error = read(&config).unwrap_err();
        assert!(error.contains("a b.json") && error.contains("which is not there"), "{error}");
        std::fs::create_dir(&saved.results).unwrap();
        let found = read(&format!("-rounds 3 {config} -concurrency 2"));
        assert_eq!(found, Ok(Config { run: Some(saved.clone()), out: file.clone() }));
        let found = read(&format!("{config} outname=new.json"));
        assert_eq!(found, Ok(Config { run: Some(saved), out: "new.json".into() }));
        let anew = Config { run: None, out: USUAL.into() };
        assert_eq!(read(&format!("{config} discard=true -rounds 3")).as_ref(), Ok(&anew));
        assert_eq!(read("-rounds 3"), Ok(anew));
        for (more, word) in [
            (" -rounds 3", "-rounds after -config"),
            (" stats=false", "begin anew"),
            (" stats=no", "say true or false"),
            (" name=x", "'name' is not known"),
        ] {
            let error = read(&format!("{config}{more}")).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_file_of_another_program_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        std::fs::write(&file, "{\"engines\": []}").unwrap();
        let saved = Saved { run: "match-1".to_owned(), results: "/results".into() };
        saved.write(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"engines\": []}");
        let error = read(&format!("-config file={}", file.display())).unwrap_err();
        assert!(error.contains("counts without their games"), "{error}");
        assert!(read("-config file=/none/x").unwrap_err().contains("file=/none/x: "));
        assert!(read("-config file=/dev/zero").unwrap_err().contains("it is a pipe or a device"));
    }
}
