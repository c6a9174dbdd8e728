//! The `[build]` table: recipe for building programs from revisions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use arbiter_build::{BenchReader, BenchRecipe, BuildSettings};
use arbiter_protocol::parse_seconds;

/// The `[build]` table; every key is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BuildTable {
    /// Shell command, run in the root folder of the checkout.
    command: Option<String>,
    /// Path of the program that the command produces, relative to the root of the checkout.
    binary: Option<PathBuf>,
    /// Environment variables for the command.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// `true` if submodules are fetched before the build.
    submodules: Option<bool>,
    /// `true` if a sandboxed build may use the network.
    #[serde(default)]
    network: bool,
    /// Time limit of the build, in seconds.
    timeout: Option<f64>,
    /// Commands whose output identifies the toolchain.
    toolchain: Option<Vec<String>>,
    /// Arguments that run the bench, split as in a shell.
    bench: Option<String>,
    /// Pattern that matches the node count, and optionally the speed, in the output of the bench.
    bench_pattern: Option<String>,
    /// Time limit of the bench, in seconds.
    bench_timeout: Option<f64>,
}

/// Settings file of which only `[build]` is read, because the other tables may be meant for a newer
/// version of Arbiter.
#[derive(Deserialize)]
struct Settings {
    build: Option<BuildTable>,
}

/// Returns the `[build]` table of a commit's settings.
pub fn build_settings_of(file: &str, text: &str) -> Result<Option<BuildSettings>, String> {
    let settings: Settings = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        format!("line {line}: {}", error.message())
    })?;
    settings.build.map(|table| table.settings(file)).transpose()
}

impl BuildTable {
    /// Checks and converts the table; `file` is the name of the settings file in messages.
    pub fn settings(&self, file: &str) -> Result<BuildSettings, String> {
        let seconds = |key: &str, value: Option<f64>| {
            let read = value.map(|value| parse_seconds(&value.to_string()));
            read.transpose().map_err(|error| format!("{key}: {error}"))
        };
        let timeout: Option<Duration> = seconds("timeout", self.timeout)?;
        // The recipe is part of the commit, and a commit must not point to a program outside the
        // checkout.
        if let Some(binary) = self.binary.as_deref().filter(|path| !is_inside(path)) {
            return Err(format!("binary = \"{}\" is not below the checkout", binary.display()));
        }
        // The system would reject such a name only when the build starts.
        if let Some(name) = self.env.keys().find(|name| name.is_empty() || name.contains('=')) {
            return Err(format!("env: invalid variable name '{name}'"));
        }
        if self.command.as_deref().is_some_and(|command| command.trim().is_empty()) {
            return Err("command is empty".to_owned());
        }
        // An invalid pattern is reported here, before anything is built.
        BenchReader::new(self.bench_pattern.as_deref())?;
        let split = |text: &String| {
            shell_words::split(text)
                .map_err(|_| format!("bench = \"{text}\" has unbalanced quotes"))
        };
        Ok(BuildSettings {
            file: file.to_owned(),
            command: self.command.clone(),
            binary: self.binary.clone(),
            env: self.env.clone(),
            submodules: self.submodules,
            network: self.network,
            timeout,
            toolchain: self.toolchain.clone(),
            bench: BenchRecipe {
                args: self.bench.as_ref().map(split).transpose()?,
                pattern: self.bench_pattern.clone(),
                timeout: seconds("bench-timeout", self.bench_timeout)?,
            },
        })
    }
}

fn is_inside(path: &Path) -> bool {
    use std::path::Component::{CurDir, Normal};
    path.components().all(|part| matches!(part, CurDir | Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_tables_are_ignored() {
        let text = "future = 1\n[build]\ncommand = 'make'\nbinary = 'src/x'\nenv = { CC = 'gcc' }\n\
                    timeout = 2.5\nbench = 'bench 16 \"a b\"'\n";
        let settings = build_settings_of("arbiter.toml", text).unwrap().unwrap();
        assert_eq!(settings.timeout, Some(Duration::from_millis(2_500)));
        assert_eq!(settings.bench.args.unwrap(), ["bench", "16", "a b"]);
        assert_eq!(settings.env["CC"], "gcc");
        assert_eq!(build_settings_of("arbiter.toml", "[sprt]").unwrap(), None);
    }

    #[test]
    fn invalid_build_settings_are_rejected_with_a_reason() {
        let check = |table: &str, part: &str| {
            let error =
                build_settings_of("arbiter.toml", &format!("[build]\n{table}")).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check("binary = '../x'", "../x");
        check("binary = '/x'", "not below");
        check("timeout = -1", "timeout");
        check("command = ' '", "command is empty");
        check("bench-pattern = 'x'", "group");
        check("bench = '\"'", "quotes");
        check("env = { 'A=B' = 'x' }", "A=B");
        check("comand = 'x'", "comand");
    }
}
