//! `-config`: the file in which fastchess saves settings and counts. Arbiter's file also contains
//! the identity of the run, whose games are in the store.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::foreign;
use crate::table::is_idle;
use crate::words::Word;
use arbiter_plan::Prior;
use arbiter_process::{FilesInUse, WholeFile, cannot_write, open_input};
use arbiter_report::{log_warn, print_result};

/// Default name of the file in fastchess.
const USUAL: &str = "config.json";

/// Maximum size of a saved file, in bytes.
const LARGEST: u64 = 1 << 22;

/// Key that identifies a file written by Arbiter, with the version of the file's contents.
const KEY: &str = "arbiter run, version 1";

/// Options that may change when a run is resumed. These options affect how the run is played and
/// shown, but not which games are played. Options without effect may change too.
const CHANGEABLE: [&str; 13] = [
    "arbiter",
    "autosaveinterval",
    "concurrency",
    "config",
    "crc32",
    "force-concurrency",
    "output",
    "ratinginterval",
    "recover",
    "report",
    "scoreinterval",
    "strict",
    "use-affinity",
];

/// Identity of a run in a saved file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedIdentity {
    /// Name of the run.
    pub run: String,
    /// Results folder of the run.
    pub results: PathBuf,
    /// Checksum of the game settings in the file, to detect edited settings.
    #[serde(default)]
    pub(crate) checksum: Option<u32>,
}

fn content(path: &Path) -> Result<Value, String> {
    let wrong = |reason: String| format!("-config file={}: {reason}", path.display());
    let mut text = String::new();
    let read = open_input(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text));
    read.map_err(|error| wrong(error.to_string()))?;
    let saved: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if saved.get(KEY).is_some() || foreign::is_fastchess_format(&saved) {
        Ok(saved)
    } else {
        Err(wrong("not written by arbiter or fastchess".to_owned()))
    }
}

/// Returns a checksum of the game settings in a saved file.
fn checksum(saved: &Value) -> u32 {
    let is_about_games = |key: &str| {
        !["stats", "config_name", "report_penta", "affinity", "force_concurrency", "log", KEY]
            .contains(&key)
            && !CHANGEABLE.contains(&key)
    };
    let parts = saved.as_object().into_iter().flatten().filter(|(key, _)| is_about_games(key));
    let text: String = parts.map(|(key, value)| format!("{key}{value}")).collect();
    crc32fast::hash(text.as_bytes())
}

fn is_of_another_program(path: &Path) -> bool {
    path.exists() && content(path).is_err()
}

/// Adds the identity of the run to `theirs` (the contents of a fastchess file), and writes the
/// file.
pub(super) fn write_with_identity(
    path: &Path,
    run: &str,
    results: &Path,
    mut theirs: Value,
) -> Result<(), String> {
    let results = std::path::absolute(results).unwrap_or_else(|_| results.to_owned());
    let checksum = Some(checksum(&theirs));
    let identity = SavedIdentity { run: run.to_owned(), results, checksum };
    theirs[KEY] = serde_json::to_value(identity).map_err(|error| error.to_string())?;
    write(path, &theirs)
}

/// Writes a fastchess file. Does nothing if `path` is a file of another program.
pub(super) fn write(path: &Path, theirs: &Value) -> Result<(), String> {
    if is_of_another_program(path) {
        return Ok(());
    }
    FilesInUse::default().writes("the file to write", path)?;
    let written = WholeFile::create(path).and_then(|mut file| {
        file.write_all(format!("{theirs:#}\n").as_bytes())?;
        file.finish()
    });
    written.map_err(|error| cannot_write(path, &error))
}

/// The `-config` options of a command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Config {
    /// Run to resume, if the file identifies a run.
    pub run: Option<SavedIdentity>,
    /// Counts from the fastchess run that this run continues.
    pub prior: Option<Prior>,
    /// Command line, with the options from the file.
    pub words: Vec<Word>,
    /// File to which the identity of the run is written.
    pub out: PathBuf,
}

impl Config {
    /// Parses the `-config` options, and reads the file that the options name.
    pub(super) fn read(words: &[Word]) -> Result<Config, String> {
        let mut file = None;
        let mut out = None;
        let mut keeps_counts = true;
        for (index, word) in words.iter().enumerate().filter(|(_, word)| word.name == "config") {
            for (key, value) in word.key_values()? {
                match key {
                    "file" => file = Some((index, PathBuf::from(value))),
                    "outname" => out = Some(PathBuf::from(value)),
                    "discard" if word.truth(key, value)? => {
                        file = None;
                        print_result("Discarding config file\n")?;
                    }
                    "discard" => {}
                    "stats" => keeps_counts = word.truth(key, value)?,
                    _ => return Err(word.unknown_key(key, "file, outname, discard, stats")),
                }
            }
        }
        let without_config = |words: &[Word]| -> Vec<Word> {
            words.iter().filter(|word| word.name != "config").cloned().collect()
        };
        let Some((index, path)) = file else {
            let out = out.unwrap_or_else(|| USUAL.into());
            if is_of_another_program(&out) {
                log_warn(&format!(
                    "{} belongs to another program; unchanged. Name another file with -config outname=",
                    out.display()
                ));
            }
            return Ok(Config { run: None, prior: None, words: without_config(words), out });
        };
        // As in fastchess, options before `-config file=` are ignored, and later options override
        // the file.
        let (before, after) = words.split_at(index);
        let saved = content(&path)?;
        let after = without_config(after);
        let wrong = |reason: String| format!("-config file={}: {reason}", path.display());
        let ours = saved.get(KEY).map(SavedIdentity::deserialize).transpose();
        let ours = ours.map_err(|error| wrong(error.to_string()))?;
        let (mut words, prior) = foreign::read(&saved, keeps_counts).map_err(wrong)?;
        let out = out.unwrap_or_else(|| path.clone());
        let is_same = |ours: &SavedIdentity| {
            let is_as_written =
                ours.checksum.is_none_or(|checksum| checksum == self::checksum(&saved));
            keeps_counts && is_as_written && after.iter().all(is_changeable)
        };
        let Some(run) = ours.clone().filter(is_same) else {
            if let Some(SavedIdentity { run, results, .. }) = ours {
                let path = path.display();
                log_warn(&format!("{path} differs from run '{run}': starting a new run"));
                let values = vec![format!("results={}", results.display())];
                words.push(Word { name: "arbiter".to_owned(), values });
            }
            words.extend(after);
            return Ok(Config { run: None, prior, words, out });
        };
        let mut unused: Vec<&str> =
            before.iter().filter(|word| !is_changeable(word)).map(|word| &*word.name).collect();
        unused.dedup();
        if !unused.is_empty() {
            log_warn(&format!("-{}: overridden by {}", unused.join(", -"), path.display()));
        }
        if !run.results.is_dir() {
            let SavedIdentity { run, results, .. } = run;
            let folder = results.display();
            let reason = format!("run '{run}' is in the folder {folder}, which does not exist");
            return Err(wrong(reason));
        }
        // The file does not contain the list of assigned processors, so its `use-affinity` is not
        // used.
        words.retain(|word| is_changeable(word) && word.name != "use-affinity");
        words.extend(after);
        Ok(Config { run: Some(run), prior: None, words, out })
    }
}

fn is_changeable(word: &Word) -> bool {
    let name = word.name.as_str();
    CHANGEABLE.contains(&name) || is_idle(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::split;

    fn read(line: &str) -> Result<Config, String> {
        Config::read(&split(&shell_words::split(line).unwrap()).unwrap())
    }

    #[test]
    fn a_saved_file_identifies_its_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a b.json");
        let results = folder.path().join("results");
        let theirs = serde_json::json!({"rounds": 4, "concurrency": 1, "games": 2});
        for _ in 0..2 {
            write_with_identity(&file, "match-1", &results, theirs.clone()).unwrap();
        }
        let config = format!("-config 'file={}'", file.display());
        let error = read(&config).unwrap_err();
        assert!(error.contains("a b.json") && error.contains("which does not exist"), "{error}");
        std::fs::create_dir(&results).unwrap();
        let found = |line: &str| {
            let Config { run, out, words, .. } = read(line).unwrap();
            (run, out, words.into_iter().map(|word| word.name).collect::<Vec<_>>())
        };
        let line = format!("-rounds 3 {config} -concurrency 2");
        let (ours, out, words) = found(&line);
        assert_eq!((ours.map(|ours| ours.run), &out), (Some("match-1".to_owned()), &file));
        assert!(!words.contains(&"rounds".to_owned()), "{words:?}");
        assert_eq!(words.iter().filter(|word| *word == "concurrency").count(), 2);
        assert_eq!(found(&format!("{config} outname=new.json")).1, PathBuf::from("new.json"));
        // Changed game settings, on the command line or in the file, start a new run.
        let is_another = |line: &str| {
            let (run, _, words) = found(line);
            assert!(words.contains(&"arbiter".to_owned()), "{words:?}");
            run.is_none()
        };
        assert!(is_another(&format!("{config} -rounds 3")));
        assert!(is_another(&format!("{config} stats=false")));
        let edit = |old: &str, new: &str| {
            let text = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, text.replace(old, new)).unwrap();
        };
        edit("\"concurrency\": 1", "\"concurrency\": 7");
        assert!(found(&config).0.is_some());
        edit("\"rounds\": 4", "\"rounds\": 5");
        assert!(is_another(&config));
        let anew = (None, USUAL.into(), vec!["rounds".into()]);
        assert_eq!(found(&format!("{config} discard=true -rounds 3")), anew);
        assert_eq!(found("-rounds 3"), anew);
        for (more, word) in
            [(" stats=no", "expected true or false"), (" name=x", "unknown key 'name'")]
        {
            let error = read(&format!("{config}{more}")).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn files_of_other_programs_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        std::fs::write(&file, "{\"engines\": []}").unwrap();
        let results = Path::new("/results");
        write_with_identity(&file, "match-1", results, serde_json::json!({})).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"engines\": []}");
        let error = read(&format!("-config file={}", file.display())).unwrap_err();
        assert!(error.contains("not written by arbiter"), "{error}");
        assert!(read("-config file=/none/x").unwrap_err().contains("file=/none/x: "));
        assert!(read("-config file=/dev/zero").unwrap_err().contains("it is a pipe or a device"));
    }
}
