//! `arbiter.toml`: the same words as the flags, written down once.

pub(super) mod build;
pub(super) mod ci;
pub(super) mod tune;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};

use self::build::BuildTable;
use self::ci::CiTable;
use self::tune::TuneTable;
use crate::EngineSpec;
use crate::option_file::named_file;
use crate::program::unexpanded_home;
use arbiter_names::nearest;
use arbiter_process::read_text;

/// The file that is read unless another is named.
pub const DEFAULT_SETTINGS: &str = "arbiter.toml";

/// Everything the file may say; all of it optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ConfigFile {
    #[serde(default)]
    engine: Vec<BTreeMap<String, toml::Value>>,
    #[serde(default, rename = "each")]
    each_table: BTreeMap<String, toml::Value>,
    /// The `[[engine]]` tables, understood.
    #[serde(skip)]
    pub engines: Vec<EngineSpec>,
    /// `[each]`, understood: settings for all engines.
    #[serde(skip)]
    pub each: EngineSpec,
    /// Opening book, relative to the file.
    pub openings: Option<PathBuf>,
    /// Plies taken from PGN openings.
    pub plies: Option<u32>,
    /// Plies taken from lines of a Polyglot book.
    pub book_depth: Option<u32>,
    /// Whether a bad line of the book is an error.
    pub strict_book: Option<bool>,
    /// `sequential` or `random`.
    pub order: Option<String>,
    /// Seed of the run.
    pub seed: Option<u64>,
    /// Who meets whom, in the word of the flag.
    pub schedule: Option<String>,
    /// Rounds.
    pub rounds: Option<u64>,
    /// Pairs of an encounter.
    pub pairs: Option<u64>,
    /// The same in games.
    pub games: Option<u64>,
    /// Whether each opening is played once.
    pub noswap: Option<bool>,
    /// Whether the other engine is White first.
    pub reverse: Option<bool>,
    /// Engines that are seeded.
    pub seeds: Option<usize>,
    /// Further pairs of a level knockout encounter.
    pub tie_breaks: Option<u64>,
    /// Whether knockout encounters go on when they are decided.
    pub play_out: Option<bool>,
    /// When the next opening is taken, in the word of the flag.
    pub opening_policy: Option<String>,
    /// The first opening, from 1.
    pub opening_start: Option<u64>,
    /// Milliseconds between two games.
    pub wait: Option<u64>,
    /// Games at once.
    pub concurrency: Option<usize>,
    /// On which processors, in the form of the flag.
    pub affinity: Option<toml::Value>,
    /// Results folder, relative to the file.
    pub results: Option<PathBuf>,
    /// PGN file, relative to the file.
    pub pgn: Option<PathBuf>,
    /// Further facts in its comments: a list, or a text with commas.
    #[serde(default, deserialize_with = "words")]
    pub pgn_fields: Option<Vec<String>>,
    /// Engine lines that go into its comments, as a regular expression.
    pub pgn_match: Option<String>,
    /// How it has moves, in the word of the flag.
    pub notation: Option<String>,
    /// What it names as the event.
    pub event: Option<String>,
    /// What it names as the site.
    pub site: Option<String>,
    /// Whether it has no comments and few tags.
    pub pgn_minimal: Option<bool>,
    /// File for final positions, relative to the file.
    pub epd: Option<PathBuf>,
    /// Of which games what was said is kept, in the word of the flag.
    pub transcripts: Option<String>,
    /// Folder for the engines' error output, relative to the file.
    pub stderr_dir: Option<PathBuf>,
    /// Share of games that may end by a fault of an engine.
    pub fault_limit: Option<f64>,
    /// What is done about CPU contention, in the word of the flag.
    pub cpu_contention: Option<String>,
    /// Draw rule, in the form of the flag.
    pub draw: Option<String>,
    /// Resign rule, in the form of the flag.
    pub resign: Option<String>,
    /// Moves of each side after which a game is drawn.
    pub max_moves: Option<u32>,
    /// Seconds from an engine's start to `uciok`.
    pub start_deadline: Option<f64>,
    /// Factor for the two deadlines of an engine's start.
    pub start_scale: Option<f64>,
    /// Seconds from `isready` to `readyok`.
    pub ready_deadline: Option<f64>,
    /// Seconds for a move that no clock bounds.
    pub move_deadline: Option<f64>,
    /// Seconds from `stop` to `bestmove`.
    pub stop_deadline: Option<f64>,
    /// Whether times are scaled by the speed of this machine.
    pub scale: Option<bool>,
    /// Nodes per second for which times are meant.
    pub reference_nps: Option<f64>,
    /// Folders of Syzygy tables, relative to the file.
    #[serde(default, deserialize_with = "folders")]
    pub syzygy: Option<Vec<PathBuf>>,
    /// Most pieces of a position that is looked up in them.
    pub syzygy_pieces: Option<u32>,
    /// Whether wins count that the fifty-move rule prevents.
    pub syzygy_ignore_50: Option<bool>,
    /// Results that tables give out, in the word of the flag.
    pub syzygy_adjudicate: Option<String>,
    /// Where all this was read, for messages; empty if there is no file.
    #[serde(skip)]
    path: PathBuf,
    /// `[sprt]`.
    #[serde(default)]
    pub sprt: SprtTable,
    /// `[build]`.
    pub build: Option<BuildTable>,
    /// `[ci]`.
    #[serde(default)]
    pub ci: CiTable,
    /// `[tune]`.
    #[serde(default)]
    pub tune: TuneTable,
}

impl ConfigFile {
    /// The name of the file, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        Some(&*self.path).filter(|path| !path.as_os_str().is_empty())
    }

    /// The folder of the file, from which its relative paths lead.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

/// A list, or one text as the flag has it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
enum Words {
    Text(String),
    List(Vec<String>),
}

/// A list of words, or one text with commas between them.
fn words<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Vec<String>>, D::Error> {
    Ok(Some(match Words::deserialize(source)? {
        Words::Text(text) => vec![text],
        Words::List(words) => words,
    }))
}

/// Folders as a list, or as one text with `:` between them.
fn folders<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Vec<PathBuf>>, D::Error> {
    Ok(Some(match Words::deserialize(source)? {
        Words::Text(text) => std::env::split_paths(&text).collect(),
        Words::List(folders) => folders.into_iter().map(PathBuf::from).collect(),
    }))
}

/// The `[sprt]` table.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SprtTable {
    /// Elo of the null hypothesis.
    pub elo0: Option<f64>,
    /// Elo of the alternative.
    pub elo1: Option<f64>,
    /// Chance to accept H1 if H0 holds.
    pub alpha: Option<f64>,
    /// Chance to accept H0 if H1 holds.
    pub beta: Option<f64>,
    /// `normalized`, `logistic` or `bayesian`.
    pub model: Option<String>,
    /// `dynamic` or `none`.
    pub overshoot: Option<String>,
}

/// Reads the file at `path`. An error names it, and the line or table.
pub fn load_settings(path: &Path) -> Result<ConfigFile, String> {
    let shown = path.display();
    let text = read_text(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    // A run goes by one name for a file, from whichever folder it is started.
    let whole = if folder.starts_with("..") { folder.canonicalize().ok() } else { None };
    let base = whole.as_deref().unwrap_or(folder);
    let mut settings: ConfigFile =
        toml::from_str(&text).map_err(|error| format!("{shown}: {}", placed(&text, &error)))?;
    let ConfigFile { openings, results, pgn, epd, stderr_dir, tune, .. } = &mut settings;
    let params = &mut tune.params;
    for place in [openings, results, pgn, epd, stderr_dir, params] {
        let text = place.as_ref().map(|path| path.to_string_lossy().into_owned());
        if let Some((text, reason)) = text.and_then(|text| Some((unexpanded_home(&text)?, text))) {
            return Err(format!("{shown}: {reason}: {text}"));
        }
        *place = place.take().map(|p| base.join(p));
    }
    for folder in settings.syzygy.iter_mut().flatten() {
        *folder = base.join(&folder);
    }
    if let Some(text) = settings.ci.base.take_if(|text| is_path(text)) {
        settings.ci.base = Some(format!("cmd={}", base.join(text).display()));
    }
    settings.path = path.to_owned();
    let spec = |table: &BTreeMap<String, toml::Value>, name: String| {
        engine(table, base).map_err(|error| format!("{shown}: {name}: {error}"))
    };
    let engines = settings.engine.iter().enumerate();
    settings.engines = engines
        .map(|(index, table)| spec(table, format!("[[engine]] number {}", index + 1)))
        .collect::<Result<_, _>>()?;
    settings.each = spec(&settings.each_table, "[each]".into())?;
    Ok(settings)
}

/// The engines of a file that has a table for each, called as it is, with the keys of `[[engine]]`.
pub fn load_engines(path: &Path) -> Result<BTreeMap<String, EngineSpec>, String> {
    let shown = path.display();
    let text = read_text(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let tables: BTreeMap<String, BTreeMap<String, toml::Value>> =
        toml::from_str(&text).map_err(|error| format!("{shown}: {}", placed(&text, &error)))?;
    let base = path.parent().unwrap_or(Path::new(""));
    let read = |(name, table): (String, _)| {
        let spec = engine(&table, base).map_err(|error| format!("{shown}: [{name}]: {error}"))?;
        Ok((name, spec))
    };
    tables.into_iter().map(read).collect()
}

/// The reader's words on one line, with line and column.
fn placed(text: &str, error: &toml::de::Error) -> String {
    let mut message = error.message().replace('\n', " ");
    if message.starts_with("unknown field") {
        let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        if names.first() == Some(&"noise-limit") {
            message = "'noise-limit' was of builds before the first version; \
                       write cpu-contention = \"off\", or leave it out"
                .to_owned();
        } else if let [unknown, known @ ..] = &names[..]
            && let Some(near) = nearest(unknown, known.iter().copied())
        {
            message = format!("unknown key '{unknown}' (did you mean '{near}'?)");
        }
    }
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
            format!("line {line}, column {column}: {message}")
        }
        None => message,
    }
}

/// One table as a spec. Numbers and booleans are taken as the text they would be as a flag, and
/// `option = { Hash = 64 }` as `option.Hash=64`.
fn engine(table: &BTreeMap<String, toml::Value>, base: &Path) -> Result<EngineSpec, String> {
    let mut spec = EngineSpec::default();
    for (key, value) in table {
        match value {
            toml::Value::Table(options) if key == "option" => {
                for (name, value) in options {
                    spec.set(&format!("option.{name}"), &plain(value))?;
                }
            }
            toml::Value::Array(words) if key == "args" => {
                spec.args = words.iter().map(plain).collect();
            }
            toml::Value::Array(lines) if key == "init" => {
                spec.init = lines.iter().map(plain).collect();
            }
            _ => spec.set(key, &plain(value))?,
        }
    }
    for place in [&mut spec.dir, &mut spec.stderr, &mut spec.repo] {
        *place = place.take().map(|path| base.join(path));
    }
    for (_, value) in &mut spec.options {
        if let Some(path) = named_file(value) {
            *value = format!("@{}", base.join(path).display());
        }
    }
    // A path is relative to the file, a bare name is looked up.
    let path = spec.engine.take_if(|name| is_path(name));
    spec.cmd = spec.cmd.or(path).map(|cmd| match cmd.contains('/') {
        true => base.join(&cmd).to_string_lossy().into_owned(),
        false => cmd,
    });
    Ok(spec)
}

/// Returns whether the name of an engine is a path from some folder.
fn is_path(name: &str) -> bool {
    name.starts_with("./") || name.starts_with("../")
}

/// A value as the text that it would be as a flag.
pub fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(text: &str) -> Result<ConfigFile, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("arbiter.toml");
        std::fs::write(&path, text).unwrap();
        load_settings(&path)
    }

    #[test]
    fn every_key_is_read() {
        let text = include_str!("file/every-key.toml");
        let loaded = load_text(text).unwrap();
        assert_eq!((loaded.engines.len(), loaded.ci.steps().unwrap().len()), (3, 2));
        assert!(loaded.build.unwrap().settings("arbiter.toml").is_ok());
        assert_eq!(loaded.tune.parameters().unwrap().len(), 1);
        assert_eq!(loaded.cpu_contention.as_deref(), Some("off"));
        // What readers know is in their complaint about a key that they do not know.
        for table in
            ["", "[sprt]", "[build]", "[ci]", "[[ci.step]]", "[tune]", "[[tune.parameter]]"]
        {
            let error = toml::from_str::<ConfigFile>(&format!("{table}\nx = 1")).unwrap_err();
            let error = error.to_string();
            let (_, known) = error.split_once("expected ").unwrap();
            for key in known.split('`').skip(1).step_by(2) {
                let key = key.replace('_', "-");
                let is_key = |line: &str| line.starts_with(&format!("{key} = "));
                let is_table = |line: &str| line.trim_matches(['[', ']']).ends_with(&key);
                let is_there = text.lines().any(|line| is_key(line) || is_table(line));
                assert!(is_there, "{table}: {key}");
            }
        }
    }

    #[test]
    fn the_file_says_what_flags_say() {
        let loaded = load_text(
            r#"
            openings = "book.epd"
            pairs = 10
            [sprt]
            elo1 = 5.0
            [each]
            tc = "8+0.08"
            [[engine]]
            cmd = "./new"
            args = ["--fast", "two words"]
            option = { Hash = 64, Ponder = false }
            [[engine]]
            cmd = "stockfish"
            nodes = 5000
            proto = "xboard"
            init = ["one two", "three"]
            ponder = true
            restart = "on"
            stderr = "logs/errors.txt"
            memory = 512
            "#,
        )
        .unwrap();
        assert_eq!(loaded.engines.len(), 2);
        assert_eq!(loaded.engines[0].args, ["--fast", "two words"]);
        assert_eq!(loaded.engines[0].options[0], ("Hash".to_owned(), "64".to_owned()));
        assert_eq!(loaded.engines[0].options[1], ("Ponder".to_owned(), "false".to_owned()));
        assert!(loaded.engines[0].cmd.as_ref().unwrap().ends_with("/./new"));
        assert_eq!(loaded.engines[1].cmd.as_deref(), Some("stockfish"));
        let second = &loaded.engines[1];
        assert_eq!(second.limits.nodes, Some(5000));
        assert_eq!(second.init, ["one two", "three"]);
        assert_eq!((second.ponder, second.memory_mib), (Some(true), Some(512)));
        assert_eq!(second.protocol.map(|p| p.to_string()).as_deref(), Some("xboard"));
        assert_eq!(second.restart.map(|r| r.to_string()).as_deref(), Some("on"));
        assert!(second.stderr.as_ref().unwrap().is_absolute());
        assert_eq!(loaded.each.limits.clock, Some("8+0.08".parse().unwrap()));
        assert_eq!(loaded.sprt.elo1, Some(5.0));
        assert!(loaded.openings.unwrap().is_absolute());
    }

    #[test]
    fn mistakes_are_placed() {
        let check = |text: &str, part: &str| {
            let message = load_text(text).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
            assert!(!message.contains('\n'), "{message}");
        };
        check("pears = 3", "line 1");
        check("pears = 3", "pairs");
        check("pairs = 3\n seed = 'x'", "line 2, column 9");
        check("pairs = 3\nseed = = 2", "line 2");
        check("noise-limit = 'off'", "before the first version; write cpu-contention = \"off\"");
        check("[[engine]]\ncmd = 'x'\n[[engine]]\ntc = 'x'", "[[engine]] number 2");
        check("[each]\nhash = 3", "unknown key 'hash'");
    }
}
