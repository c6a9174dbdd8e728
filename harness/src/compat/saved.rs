//! `-config`: where fastchess keeps settings and counts. Ours says besides which run it was; the run
//! itself, with all its games, is in the store.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::foreign;
use super::table::idleness;
use super::words::{Word, truth};
use crate::{Failure, write_whole};
use arbiter_plan::Prior;
use arbiter_process::open_input;
use arbiter_report::note;

/// Where fastchess saves if nothing else is said.
const USUAL: &str = "config.json";

/// What is read of a file at most, in bytes.
const LARGEST: u64 = 1 << 22;

/// The key that marks a file as ours, with the version of what is under it.
const KEY: &str = "arbiter run, version 1";

/// Options that may be others than when the run was started, as those without effect may: they change
/// how it is played and shown, and not what is played.
const CHANGEABLE: [&str; 12] = [
    "arbiter",
    "autosaveinterval",
    "concurrency",
    "config",
    "crc32",
    "output",
    "ratinginterval",
    "recover",
    "report",
    "scoreinterval",
    "strict",
    "use-affinity",
];

/// A run, as such a file names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// Its name.
    pub run: String,
    /// The folder of its store.
    pub results: PathBuf,
}

/// What a file tells of.
#[derive(Debug)]
enum Content {
    /// A run of ours.
    Ours(Saved),
    /// What fastchess played: the command line for it, and what it counted.
    Theirs(Vec<Word>, Option<Prior>),
}

fn content(path: &Path) -> Result<Content, String> {
    let wrong = |what: String| format!("-config file={}: {what}", path.display());
    let mut text = String::new();
    let read = open_input(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text));
    read.map_err(|error| wrong(error.to_string()))?;
    let saved: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if let Some(ours) = saved.get(KEY) {
        let ours = Saved::deserialize(ours).map_err(|error| wrong(error.to_string()))?;
        return Ok(Content::Ours(ours));
    }
    if !foreign::is_theirs(&saved) {
        return Err(wrong("neither arbiter nor fastchess has written it".to_owned()));
    }
    let (words, prior) = foreign::read(&saved).map_err(wrong)?;
    Ok(Content::Theirs(words, prior))
}

fn is_of_another_program(path: &Path) -> bool {
    path.exists() && content(path).is_err()
}

impl Saved {
    /// Writes it into what fastchess would write, but never over a file of another program.
    pub(crate) fn write(&self, path: &Path, mut theirs: Value) -> Result<(), Failure> {
        if is_of_another_program(path) {
            return Ok(());
        }
        theirs[KEY] = serde_json::to_value(self).map_err(Failure::environment)?;
        write_whole(path, &format!("{theirs:#}\n"))
    }
}

/// What all `-config` of a command line ask for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// The run to go on with.
    pub run: Option<Saved>,
    /// What fastchess counted, to go on with.
    pub prior: Option<Prior>,
    /// The command line that counts.
    pub words: Vec<Word>,
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
        let others = |words: &[Word]| -> Vec<Word> {
            words.iter().filter(|word| word.name != "config").cloned().collect()
        };
        let Some((index, path)) = file else {
            let (out, words) = (out.unwrap_or_else(|| USUAL.into()), others(words));
            if is_of_another_program(&out) {
                note(&format!(
                    "{} is of another program and stays as it is; -config outname= names another",
                    out.display()
                ));
            }
            return Ok(Config { run: None, prior: None, words, out });
        };
        let (before, after) = words.split_at(index);
        let saved = match content(&path)? {
            // As there, what comes before the file is forgotten, and what comes after it counts.
            Content::Theirs(mut words, prior) => {
                words.extend(others(after));
                let (prior, out) = (prior.filter(|_| keeps_counts), out.unwrap_or(path));
                return Ok(Config { run: None, prior, words, out });
            }
            Content::Ours(saved) => saved,
        };
        if !keeps_counts {
            return Err("-config stats=false: arbiter never parts counts from their games; begin \
                        anew without -config file="
                .to_owned());
        }
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
        if !saved.results.is_dir() {
            return Err(format!(
                "-config file={}: run '{}' is in the folder {}, which is not there",
                path.display(),
                saved.run,
                saved.results.display()
            ));
        }
        let words = others(words).into_iter().filter(is_changeable).collect();
        Ok(Config { run: Some(saved), prior: None, words, out: out.unwrap_or(path) })
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
        for _ in 0..2 {
            saved.write(&file, serde_json::json!({})).unwrap();
        }
        let config = format!("-config 'file={}'", file.display());
        let error = read(&config).unwrap_err();
        assert!(error.contains("a b.json") && error.contains("which is not there"), "{error}");
        std::fs::create_dir(&saved.results).unwrap();
        let found = |line: &str| {
            let Config { run, out, words, .. } = read(line).unwrap();
            (run, out, words.into_iter().map(|word| word.name).collect::<Vec<_>>())
        };
        let ours = Some(saved);
        let line = format!("-rounds 3 {config} -concurrency 2");
        assert_eq!(found(&line), (ours.clone(), file.clone(), vec!["concurrency".into()]));
        let line = format!("{config} outname=new.json");
        assert_eq!(found(&line), (ours, "new.json".into(), vec![]));
        let anew = (None, USUAL.into(), vec!["rounds".into()]);
        assert_eq!(found(&format!("{config} discard=true -rounds 3")), anew);
        assert_eq!(found("-rounds 3"), anew);
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
        saved.write(&file, serde_json::json!({})).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"engines\": []}");
        let error = read(&format!("-config file={}", file.display())).unwrap_err();
        assert!(error.contains("neither arbiter nor fastchess"), "{error}");
        assert!(read("-config file=/none/x").unwrap_err().contains("file=/none/x: "));
        assert!(read("-config file=/dev/zero").unwrap_err().contains("it is a pipe or a device"));
    }
}
