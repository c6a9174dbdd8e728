//! Settings file `arbiter.toml`, whose keys correspond to flags.

pub(super) mod build;
pub(super) mod ci;
pub(super) mod tune;

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::Settings;
use crate::values::plain;
use arbiter_names::nearest;
use arbiter_plan::{EngineSpec, is_relative_path};
use arbiter_process::{read_settings, utf8};

/// Default name of the settings file.
pub const DEFAULT_SETTINGS: &str = "arbiter.toml";

/// Former settings of runs: former name, flag that replaces the setting, and key of this flag
/// (empty if the flag needs no key).
pub const RENAMED: &[(&str, &str, &str)] = &[
    ("noise-limit", "cpu-contention", ""),
    ("step", "gate", ""),
    ("plies", "openings", "plies"),
    ("book-depth", "openings", "depth"),
    ("strict-book", "openings", "strict"),
    ("order", "openings", "order"),
    ("opening-policy", "openings", "policy"),
    ("opening-start", "openings", "start"),
    ("seeds", "schedule", "seeds"),
    ("tie-breaks", "schedule", "tie-breaks"),
    ("play-out", "schedule", "play-out"),
    ("pgn-fields", "pgn", "fields"),
    ("pgn-match", "pgn", "match"),
    ("notation", "pgn", "notation"),
    ("pgn-minimal", "pgn", "minimal"),
    ("event", "pgn", "event"),
    ("site", "pgn", "site"),
    ("syzygy-pieces", "syzygy", "pieces"),
    ("syzygy-ignore-50", "syzygy", "ignore-50"),
    ("syzygy-adjudicate", "syzygy", "adjudicate"),
    ("start-deadline", "deadlines", "start"),
    ("start-scale", "deadlines", "scale"),
    ("ready-deadline", "deadlines", "ready"),
    ("move-deadline", "deadlines", "move"),
    ("stop-deadline", "deadlines", "stop"),
    ("reference-nps", "scale", ""),
    ("test", "dev", ""),
    ("priority", "fleet", "priority"),
    ("lease", "fleet", "lease"),
    ("signing-key", "fleet", "signing-key"),
    ("check-bench", "fleet", "check-bench"),
    ("audit", "fleet", "audit"),
    ("nats-user", "nats", "user"),
    ("nats-password-file", "nats", "password-file"),
    ("nats-token-file", "nats", "token-file"),
    ("nats-nkey", "nats", "nkey"),
    ("nats-creds", "nats", "creds"),
    ("nats-ca", "nats", "ca"),
    ("nats-cert", "nats", "cert"),
    ("nats-cert-key", "nats", "cert-key"),
    ("nats-inbox", "nats", "inbox"),
];

/// Keys that replace former switches, which had no value.
pub const SWITCHES: &[&str] = &["strict", "play-out", "minimal", "ignore-50", "check-bench"];

impl Settings {
    /// Returns the path of the file as text, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the path of the settings file; `None` if no file was read.
    pub fn file(&self) -> Option<&Path> {
        Some(&*self.path).filter(|path| !path.as_os_str().is_empty())
    }

    /// Returns the folder of the file, which is the base of relative paths in the file.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

/// Reads the file at `path`. The error contains the path, and either the line number or the name of
/// the table.
pub fn load_settings(path: &Path) -> Result<Settings, String> {
    let shown = path.display();
    let mut settings: Settings = parsed(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    // A run identifies a file by its path, which must not depend on the folder in which the run is
    // started.
    let canonical = if folder.starts_with("..") { folder.canonicalize().ok() } else { None };
    let base = canonical.as_deref().unwrap_or(folder);
    let Settings { openings, results, pgn, epd, stderr_dir, tune, .. } = &mut settings;
    let files = openings.iter_mut().map(|keys| &mut keys.file);
    let files = files.chain(pgn.iter_mut().map(|keys| &mut keys.file));
    for path in files.chain([results, epd, stderr_dir, &mut tune.params]).flatten() {
        *path = base.join(&path);
    }
    let tables = settings.syzygy.iter_mut().flat_map(|keys| &mut keys.dirs);
    for folder in tables.flatten() {
        *folder = base.join(&folder);
    }
    if let Some(text) = settings.ci.base.take_if(|text| is_relative_path(text)) {
        settings.ci.base = Some(format!("cmd={}", base.join(text).display()));
    }
    settings.path = path.to_owned();
    let spec = |table: &BTreeMap<String, toml::Value>, name: String| {
        engine(table, base).map_err(|error| format!("{shown}: {name}: {error}"))
    };
    let engines = settings.engine_tables.iter().enumerate();
    settings.engines = engines
        .map(|(index, table)| spec(table, format!("[[engine]] number {}", index + 1)))
        .collect::<Result<_, _>>()?;
    settings.each = spec(&settings.each_table, "[each]".into())?;
    Ok(settings)
}

/// Returns the engines in a file that contains one table per engine name. Each table has the keys
/// of `[[engine]]`.
pub fn load_engines(path: &Path) -> Result<BTreeMap<String, EngineSpec>, String> {
    let shown = path.display();
    let tables: BTreeMap<String, BTreeMap<String, toml::Value>> = parsed(path)?;
    let base = path.parent().unwrap_or(Path::new(""));
    let read = |(name, table): (String, _)| {
        let spec = engine(&table, base).map_err(|error| format!("{shown}: [{name}]: {error}"))?;
        Ok((name, spec))
    };
    tables.into_iter().map(read).collect()
}

fn parsed<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let shown = path.display();
    let text = read_settings(path)
        .and_then(utf8)
        .map_err(|error| format!("cannot read {shown}: {error}"))?;
    toml::from_str(&text).map_err(|error| format!("{shown}: {}", placed(&text, &error)))
}

/// Returns the message of the parser as one line, with line and column number.
fn placed(text: &str, error: &toml::de::Error) -> String {
    let mut message = error.message().replace('\n', " ");
    if message.starts_with("unknown field") {
        let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let [unknown, known @ ..] = &names[..] else { return message };
        let old = RENAMED.iter().find(|(old, new, _)| old == unknown && known.contains(new));
        if let Some((old, new, key)) = old {
            let of = if key.is_empty() { String::new() } else { format!(" = {{ {key} = VALUE }}") };
            message = format!("{old} is now {new}{of}");
        } else if let Some(near) = nearest(unknown, known.iter().copied()) {
            message = format!("unknown key '{unknown}' (did you mean '{near}'?)");
        }
    }
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            let start = before.rsplit('\n').next().unwrap_or_default();
            let column = start.chars().count() + 1;
            // The message of the parser does not contain the key.
            let key = start.split_once('=').map(|(key, _)| format!("{}: ", key.trim()));
            format!("line {line}, column {column}: {}{message}", key.unwrap_or_default())
        }
        None => message,
    }
}

/// Returns the engine that one table specifies. Numbers and booleans are converted to text as on
/// the command line, and `option = { Hash = 64 }` becomes `option.Hash=64`.
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
    Ok(spec.seen_from(base))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merged;
    use crate::run::OpeningKeys;
    use arbiter_plan::CpuContention;

    fn load_text(text: &str) -> Result<Settings, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("arbiter.toml");
        std::fs::write(&path, text).unwrap();
        load_settings(&path)
    }

    #[test]
    fn every_key_is_read() {
        let text = include_str!("file/every-key.toml");
        let loaded = load_text(text).unwrap();
        assert_eq!((loaded.engines.len(), loaded.ci.gates().unwrap().len()), (3, 2));
        assert!(loaded.build.unwrap().settings("arbiter.toml").is_ok());
        assert_eq!(loaded.tune.parameters().unwrap().len(), 1);
        assert_eq!(loaded.cpu_contention, Some(CpuContention::Off));
        // The error for an unknown key lists all known keys.
        for table in [
            "",
            "[openings]",
            "[schedule]",
            "[pgn]",
            "[syzygy]",
            "[deadlines]",
            "[sprt]",
            "[build]",
            "[ci]",
            "[[ci.gate]]",
            "[tune]",
            "[[tune.parameter]]",
        ] {
            let error = toml::from_str::<Settings>(&format!("{table}\nx = 1")).unwrap_err();
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
    fn the_file_accepts_the_values_of_flags() {
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
        assert!(merged(loaded.openings).file.unwrap().is_absolute());
    }

    #[test]
    fn errors_name_the_place_and_the_reason() {
        let check = |text: &str, part: &str| {
            let message = load_text(text).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
            assert!(!message.contains('\n'), "{message}");
        };
        check("pears = 3", "line 1");
        check("pears = 3", "pairs");
        check("pairs = 3\n seed = 'x'", "line 2, column 9");
        check("pairs = 3\nseed = = 2", "line 2");
        check("schedule = 'swill'", "line 1, column 12: schedule: format: 'swill' is not one of");
        check(
            "[syzygy]\npieces = 9",
            "line 2, column 10: pieces: 9 is not a number of pieces from 3 to 7",
        );
        check("deadlines = 'stop=0'", "line 1, column 13: deadlines: stop: '0' is not a time");
        check(
            "[openings]\nfile = 'b.epd'\n[draw]\nmovenumber = 'x'",
            "'movenumber=x' is not KEY=NUMBER",
        );
        check("openings = { oder = 'random' }", "unknown key 'oder' (did you mean 'order'?)");
        check("pgn = 'a.pgn,site,event=x'", "'site' is not KEY=VALUE");
        check(
            "stop-deadline = 0",
            "line 1, column 1: stop-deadline is now deadlines = { stop = VALUE }",
        );
        check("noise-limit = 'off'", "noise-limit is now cpu-contention");
        check(
            "pairs = 3\n[[ci.gate]]\nkind = 'sprt'\nargs = '--pairs 2 --order=random'",
            "line 4, column 8: args: --order is now --openings order=VALUE",
        );
        check("pairs = 3\n\n[[ci.step]]\nkind = 'bench'", "line 3, column 6: step is now gate");
        check("[[engine]]\ncmd = 'x'\n[[engine]]\ntc = 'x'", "[[engine]] number 2");
        check("[each]\nhash = 3", "unknown key 'hash'");
        for key in ["openings", "results", "pgn", "epd", "stderr-dir", "syzygy"] {
            check(&format!("{key} = '~/x'"), "~ is not expanded");
        }
        for text in
            ["[pgn]\nfile = '~/x'", "[tune]\nparams = '~/x'", "[syzygy]\ndirs = ['/x', '~/x']"]
        {
            check(text, "~ is not expanded");
        }
        let error = "~/x,strict=true".parse::<OpeningKeys>().unwrap_err();
        assert!(error.starts_with("file: ~ is not expanded"), "{error}");
    }
}
