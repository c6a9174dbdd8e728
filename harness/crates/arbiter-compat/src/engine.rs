//! The options `-engine` and `-each` of fastchess and cutechess-cli, and cutechess's list of
//! engines.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::options::Options;
use crate::table::KEYS;
use crate::words::Word;
use arbiter_plan::EngineSpec;
use arbiter_process::read_text;
use arbiter_report::note;

impl Options {
    /// Adds the engine that `-engine` describes.
    pub(super) fn add_engine(&mut self, word: &Word) -> Result<(), String> {
        let mut spec = EngineSpec::default();
        self.apply(word, &mut spec)?;
        self.request.engines.push(spec);
        Ok(())
    }

    /// Applies `-each`, which overrides the settings of individual engines, as in fastchess and
    /// cutechess-cli.
    pub(super) fn apply_to_all(&mut self, word: &Word) -> Result<(), String> {
        let mut specs = std::mem::take(&mut self.request.engines);
        let applied = specs.iter_mut().try_for_each(|spec| self.apply(word, spec));
        self.request.engines = specs;
        applied
    }

    fn apply(&mut self, word: &Word, spec: &mut EngineSpec) -> Result<(), String> {
        for (key, value) in word.fields() {
            let is_switch = matches!(key, "ponder" | "whitepov" | "trust" | "debug");
            let value = value.or(is_switch.then_some("true")).ok_or_else(|| word.no_value(key))?;
            let wrong = |error| word.wrong(key, value, error);
            match key {
                "ponder" => spec.ponder = Some(word.truth(key, value)?),
                "whitepov" => spec.white_pov = Some(word.truth(key, value)?),
                // These keys have no effect: Arbiter always checks the result claims of engines,
                // and `-log` records engine output.
                "trust" | "debug" => drop(word.truth(key, value)?),
                "conf" => configured(value, spec).map_err(wrong)?,
                "arg" => spec.args.push(value.to_owned()),
                "initstr" => spec.set("init", value).map_err(wrong)?,
                // In fastchess and cutechess-cli, 0 is the default and means no limit.
                "nodes" | "depth" | "plies" if value == "0" => {}
                "plies" => spec.set("depth", value).map_err(wrong)?,
                "tc" => spec.set("tc", &control(value)).map_err(wrong)?,
                "st" => spec.set("st", value.strip_suffix('s').unwrap_or(value)).map_err(wrong)?,
                "timemargin" if value.starts_with('-') => {
                    return Err(wrong("it is negative".to_owned()));
                }
                "tscale" => {
                    let scale: f64 = word.figure(key, value)?;
                    self.start_scale = Some(self.start_scale.map_or(scale, |s| s.max(scale)));
                }
                "book" => self.books.push((PathBuf::from(value), None)),
                "bookdepth" => {
                    let moves: u32 = word.figure(key, value)?;
                    if let Some((_, depth)) = self.books.last_mut() {
                        *depth = Some(moves);
                    }
                }
                // Arbiter sets this option as each opening requires.
                _ if key.eq_ignore_ascii_case("option.UCI_Chess960") => {}
                "proto" if self.style.is_fastchess() && value != "uci" => {
                    return Err(wrong("fastchess plays uci only".to_owned()));
                }
                "cmd" if !self.style.is_fastchess() => set_command(spec, value).map_err(wrong)?,
                "cmd" | "name" | "dir" | "args" | "proto" | "nodes" | "depth" | "timemargin"
                | "restart" | "stderr" => spec.set(key, value).map_err(wrong)?,
                _ => match key.strip_prefix("option.") {
                    Some(name) if !name.is_empty() => spec.set_option_text(name, value),
                    _ => return Err(word.unknown_key(key, KEYS)),
                },
            }
        }
        Ok(())
    }
}

/// Converts a time control to Arbiter's notation. fastchess and cutechess-cli allow an `s` after
/// seconds, and `infinite` for no clock. fastchess also allows `0+0` for no clock, and a prefix
/// such as `inf/` for a time control without a number of moves. cutechess-cli writes an hourglass
/// as `hg60`.
fn control(value: &str) -> String {
    let endless = ["inf/", "infinite/", "0/"].iter().find_map(|moves| value.strip_prefix(moves));
    let times = endless.unwrap_or(value).replace('s', "");
    if let Some(base) = times.strip_prefix("hg").filter(|base| !base.starts_with('/')) {
        return format!("hg/{base}");
    }
    let is_zero = |time: &str| time.parse::<f64>().is_ok_and(|seconds| seconds == 0.0);
    if value == "infinite" || times.split('+').all(is_zero) { "inf".to_owned() } else { times }
}

/// Sets the program of an engine as cutechess-cli does. `line` may be a command line, whose
/// arguments are placed before the other arguments of the engine.
fn set_command(spec: &mut EngineSpec, line: &str) -> Result<(), String> {
    if !line.contains(' ') || Path::new(line).exists() {
        return spec.set("cmd", line);
    }
    let mut words = shell_words::split(line).map_err(|error| error.to_string())?;
    spec.cmd = (!words.is_empty()).then(|| words.remove(0));
    spec.args.splice(..0, words);
    Ok(())
}

/// Returns the names of the engines in cutechess's list, one per line.
///
/// # Errors
///
/// Returns a message if the list is missing or cannot be read.
pub fn engine_list() -> Result<String, String> {
    let (_, list) = configurations()?;
    let names = list.iter().filter_map(|engine| engine["name"].as_str());
    Ok(names.map(|name| format!("{name}\n")).collect())
}

/// Returns the path of cutechess's list of engines: `engines.json` in the current folder or in
/// cutechess's settings folder. Returns `None` if neither file exists.
fn configuration_file() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").unwrap_or_default();
    let places =
        [PathBuf::from("engines.json"), Path::new(&home).join(".config/cutechess/engines.json")];
    places.into_iter().find(|path| path.is_file())
}

/// Reads cutechess's list of engines. Returns the path of the list, and the engines in the list.
fn configurations() -> Result<(PathBuf, Vec<Value>), String> {
    let file = configuration_file();
    let file = file.ok_or("no engines.json here or in ~/.config/cutechess")?;
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = read_text(&file).map_err(|error| wrong(&error))?;
    match serde_json::from_str(&text).map_err(|error| wrong(&error))? {
        Value::Array(list) => Ok((file, list)),
        _ => Err(wrong(&"expected a list of engines")),
    }
}

/// Applies the settings of the engine `name` in cutechess's list.
fn configured(name: &str, spec: &mut EngineSpec) -> Result<(), String> {
    let (file, list) = configurations()?;
    let found = list.iter().find(|engine| engine["name"] == *name);
    let engine = found.ok_or_else(|| format!("{} has no engine of this name", file.display()))?;
    spec.set("name", name)?;
    configure(engine, spec)
}

/// Returns the path of cutechess's engine list, and the readable engine entries of this list. An
/// unreadable entry causes a note, not an error, because the list belongs to another program.
pub fn cutechess_engines() -> (PathBuf, Vec<(String, EngineSpec)>) {
    if configuration_file().is_none() {
        return Default::default();
    }
    let (file, list) = match configurations() {
        Ok(read) => read,
        Err(error) => {
            note(&format!("ignored: {error}"));
            return Default::default();
        }
    };
    let mut known = Vec::new();
    for engine in &list {
        let Some(name) = engine["name"].as_str() else {
            note(&format!("ignored: {}: an engine has no name", file.display()));
            continue;
        };
        let mut spec = EngineSpec::default();
        match configure(engine, &mut spec) {
            Ok(()) => known.push((name.to_owned(), spec)),
            Err(error) => note(&format!("ignored: {}: engine '{name}': {error}", file.display())),
        }
    }
    (file, known)
}

fn configure(engine: &Value, spec: &mut EngineSpec) -> Result<(), String> {
    set_command(spec, engine["command"].as_str().unwrap_or_default())?;
    let arguments = engine["arguments"].as_array().into_iter().flatten();
    spec.args.extend(arguments.filter_map(|word| word.as_str()).map(str::to_owned));
    for (theirs, ours) in [
        ("workingDirectory", "dir"),
        ("protocol", "proto"),
        ("restart", "restart"),
        ("stderrFile", "stderr"),
    ] {
        if let Some(value) = engine[theirs].as_str().filter(|value| !value.is_empty()) {
            spec.set(ours, value)?;
        }
    }
    if engine["ponder"] == true {
        spec.ponder = Some(true);
    }
    if engine["whitepov"] == true {
        spec.white_pov = Some(true);
    }
    for line in engine["initStrings"].as_array().into_iter().flatten() {
        spec.set("init", line.as_str().unwrap_or_default())?;
    }
    for option in engine["options"].as_array().into_iter().flatten() {
        let value = &option["value"];
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if let Some(name) = option["name"].as_str().filter(|_| value != "null") {
            spec.set_option_text(name, &value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_are_converted() {
        for none in ["0+0", "0", "0/0+0.00", "inf/0s+0s", "infinite", "inf"] {
            assert_eq!(control(none), "inf", "{none}");
        }
        for (theirs, ours) in [
            ("0+0.1", "0+0.1"),
            ("inf/10s+0.1s", "10+0.1"),
            ("+", "+"),
            ("hg60", "hg/60"),
            ("hg/60", "hg/60"),
        ] {
            assert_eq!(control(theirs), ours);
        }
    }
}
