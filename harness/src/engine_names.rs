//! Look-up of engine names, and the user's registered engines.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::output::{write_atomically, write_error};
use crate::{
    build_args::BuildArgs, bundled_engine::evaluation, exit_code::ExitCode, failure::Failure,
    project::user_folder,
};
use arbiter_build::{BuildError, BuildFailure, WORKING_TREE};
use arbiter_compat::cutechess_engines;
use arbiter_names::did_you_mean;
use arbiter_plan::{BUNDLED, EngineSpec, GAMES, find_program};
use arbiter_process::{FilesInUse, Links, open_output, read_text};
use arbiter_report::note;
use arbiter_settings::load_engines;
use toml::Spanned;
use toml::de::DeTable;

/// Help text about the look-up of engine names.
pub(crate) const HELP: &str = "\
Engine names are looked up in this order:
  bundled, bundled:EVAL       Palimpsest with its default or a named evaluation
  ./PROGRAM, /PATH, ../PATH   a file
  .                           the working tree, built first
  a registered engine         see `arbiter engines`
  a git revision              built as [build] of arbiter.toml specifies, or by its build system
  a program                   in PATH or /usr/games
KEY=VALUE may follow after a comma: stockfish,option.Hash=64; cmd=NAME and rev=NAME skip the look-up.";

/// Maximum number of branches that are considered as suggestions for an unknown name.
const BRANCHES: usize = 200;

/// Registered engine.
#[derive(Debug)]
pub(crate) struct RegisteredEngine {
    /// Specification of the engine.
    pub spec: EngineSpec,
    /// File that defines the engine.
    pub file: PathBuf,
}

/// Returns the path of the file of registered engines. The file contains, for each engine, a table
/// with the keys of `[[engine]]`.
pub(crate) fn registry() -> Result<PathBuf, Failure> {
    Ok(user_folder("XDG_CONFIG_HOME", ".config", "XDG_CONFIG_HOME")?.join("engines.toml"))
}

/// Returns all registered engines, from the files of Arbiter and cutechess; Arbiter's entries take
/// precedence.
pub(crate) fn registered() -> Result<BTreeMap<String, RegisteredEngine>, Failure> {
    let mut all = BTreeMap::new();
    let (file, theirs) = cutechess_engines();
    let ours = registry().ok().filter(|path| path.is_file());
    let own = ours.as_deref().map(load_engines).transpose().map_err(Failure::invalid)?;
    let own = own.into_iter().flatten().map(|engine| (engine, ours.clone().unwrap_or_default()));
    for ((name, mut spec), file) in theirs.into_iter().map(|e| (e, file.clone())).chain(own) {
        spec.name.get_or_insert_with(|| name.clone());
        all.insert(name, RegisteredEngine { spec, file });
    }
    Ok(all)
}

/// Adds an engine to the file of registered engines. Returns the path of the file.
pub(crate) fn register(name: &str, table: toml::Table) -> Result<PathBuf, Failure> {
    let path = registry()?;
    let is_plain = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    if !name.chars().all(is_plain) || !name.starts_with(char::is_alphanumeric) || name == BUNDLED {
        let reason = "expected a name of letters, digits, '-', '_', '.' and '+'";
        return Err(Failure::invalid(format!("'{name}': {reason}")));
    }
    if is_revision(name) {
        return Err(Failure::invalid(format!("'{name}' is a revision in every git repository")));
    }
    if registered()?.get(name).is_some_and(|known| known.file == path) {
        let reason = format!("engine '{name}' is already in {}", path.display());
        return Err(Failure::invalid(reason));
    }
    let table = toml::Table::from_iter([(name.to_owned(), toml::Value::Table(table))]);
    let text = toml::to_string(&table).map_err(Failure::invalid)?;
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        let mut file = open_output(&path, File::options().append(true), Links::Followed)?;
        let gap = if file.metadata()?.len() == 0 { "" } else { "\n" };
        file.write_all(format!("{gap}{text}").as_bytes())
    };
    write().map_err(|error| write_error(&path, &error))?;
    Ok(path)
}

/// Removes an engine from the file of registered engines, and leaves the rest of the file
/// unchanged. Returns the path of the file.
pub(crate) fn unregister(name: &str) -> Result<PathBuf, Failure> {
    let path = registry()?;
    let known = registered()?;
    if let Some(RegisteredEngine { file, .. }) = known.get(name).filter(|known| known.file != path)
    {
        let reason = format!("engine '{name}' is defined in {}; remove it there", file.display());
        return Err(Failure::invalid(reason));
    }
    if !known.contains_key(name) {
        let hint = did_you_mean(name, known.keys().map(String::as_str));
        let reason = format!("no engine '{name}' is registered{hint}");
        return Err(Failure::new(ExitCode::NoRevision, reason));
    }
    let text = read_text(&path).map_err(Failure::environment)?;
    let tables = DeTable::parse(&text).map_err(Failure::invalid)?;
    let line = |key: &Spanned<_>| text[..key.span().start].rfind('\n').map_or(0, |end| end + 1);
    let start = tables.get_ref().keys().find(|key| key.get_ref() == name).map_or(0, line);
    let starts = tables.get_ref().keys().map(line);
    let end = starts.filter(|other| *other > start).min().unwrap_or(text.len());
    write_atomically(&path, &format!("{}{}", &text[..start], &text[end..]), FilesInUse::default())?;
    Ok(path)
}

impl BuildArgs {
    /// Resolves the name of an engine to a program or revision; an engine without a name is
    /// returned unchanged.
    pub(crate) fn look_up(&self, mut spec: EngineSpec) -> Result<EngineSpec, Failure> {
        let Some(name) = spec.engine.take() else { return Ok(spec) };
        if spec.cmd.is_some() || spec.rev.is_some() {
            let reason = "has a name as well as cmd= or rev=; give one of them";
            return Err(Failure::invalid(format!("engine '{name}' {reason}")));
        }
        if let Some(eval) = name.strip_prefix("bundled:") {
            evaluation(Some(eval), None).map_err(Failure::invalid)?;
            let cmd = Some(BUNDLED.to_owned());
            return Ok(EngineSpec { cmd, eval: Some(eval.into()), ..spec });
        }
        let has_args = name
            .split_once(' ')
            .is_some_and(|(program, _)| find_program(program, spec.dir.as_deref()).is_ok());
        let is_path =
            has_args || ["/", "./", "../", "~/"].iter().any(|start| name.starts_with(start));
        if is_path || name == BUNDLED {
            spec.set("cmd", &name).map_err(Failure::invalid)?;
            return Ok(spec);
        }
        if name == WORKING_TREE {
            return Ok(EngineSpec { rev: Some(name), ..spec });
        }
        let mut known = registered()?;
        let place = spec.repo.clone();
        let repo = self.repository(place.as_deref());
        let commit = repo.and_then(|repo| repo.commit(&name).map(|_| repo.top));
        // Some systems have a program named HEAD (from libwww-perl), which is not an engine, so
        // names that are always revisions are not looked up as programs.
        let program = find_program(&name, spec.dir.as_deref()).ok().filter(|_| !is_revision(&name));
        let mut meanings = Vec::new();
        if let Some(RegisteredEngine { spec: own, file }) = known.remove(&name) {
            meanings.push((format!("the engine of {}", file.display()), spec.clone().or(&own)));
        }
        if let Ok(top) = &commit {
            let built = EngineSpec { rev: Some(name.clone()), ..spec.clone() };
            meanings.push((format!("a revision of {} (rev={name})", top.display()), built));
        }
        if let Some(path) = program {
            let found = EngineSpec { cmd: Some(name.clone()), ..spec };
            meanings.push((format!("the program {} (cmd={name})", path.display()), found));
        }
        if let [(taken, _), others @ ..] = &meanings[..]
            && !others.is_empty()
        {
            let others: Vec<&str> = others.iter().map(|(meaning, _)| meaning.as_str()).collect();
            note(&format!("'{name}' is ambiguous: using {taken}, not {}", others.join(" and ")));
        }
        let error = match (meanings.into_iter().next(), commit) {
            (Some((_, spec)), _) => return Ok(spec),
            (None, Ok(_)) => unreachable!("a commit is a meaning"),
            (None, Err(error)) => error,
        };
        let repo = self.repository(place.as_deref());
        let branches = repo.map_or_else(|_| Vec::new(), |repo| repo.branches(BRANCHES));
        let hint = hint(&name, known.keys().chain(&branches));
        let is_outside = matches!(error, BuildError::Failed(BuildFailure::NoRepository, _));
        let mut failure = Failure::from(error);
        // Outside a repository, the user probably means a program, so the message does not begin
        // with the error of git.
        if is_outside && self.repo.is_none() {
            let why = "not a git revision (no repository here)";
            failure = Failure::new(ExitCode::NoRevision, why);
        }
        let Failure { code, message: why } = failure;
        let message = format!(
            "unknown engine '{name}'{hint}: not registered, not in PATH or {GAMES}, and {why}"
        );
        Err(Failure::new(code, message))
    }
}

/// Returns whether a name is a revision in every git repository.
fn is_revision(name: &str) -> bool {
    name == "HEAD" || name.ends_with("_HEAD")
}

/// Returns a suggestion for an unknown name; empty if there is no suggestion.
fn hint<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> String {
    if Path::new(name).is_file() {
        return format!(" (the file here is ./{name})");
    }
    let games = fs::read_dir(GAMES).into_iter().flatten().flatten();
    let games = games.filter_map(|game| game.file_name().into_string().ok());
    let known: Vec<String> = games.chain(known.cloned()).collect();
    did_you_mean(name, known.iter().map(String::as_str).chain([BUNDLED]))
}
