//! Search for the program of `cmd=`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use arbiter_names::did_you_mean;
use arbiter_process::is_executable;

/// Folder in which Debian installs chess engines; root's `PATH` does not include this folder.
pub const GAMES: &str = "/usr/games";

/// Returns the absolute path of `cmd`. A path is relative to `dir` if the file exists relative to
/// `dir`, otherwise to the working directory; a name is looked up in `dir`, in `PATH` and in
/// Debian's folder for games. The error suggests similar names.
pub fn find_program(cmd: &str, dir: Option<&Path>) -> Result<PathBuf, String> {
    // The search requires a base folder even for an absolute path, although an absolute path does
    // not depend on the base folder.
    let base = std::env::current_dir().unwrap_or_default();
    let folders = search_path();
    // The name is joined to `dir` here, so that `dir` is always searched before `PATH`.
    dir.map(|dir| dir.join(cmd))
        .into_iter()
        .chain([PathBuf::from(cmd)])
        .find_map(|file| which::which_in(file, Some(&folders), &base).ok())
        .and_then(|found| std::path::absolute(found).ok())
        .ok_or_else(|| missing(cmd, dir))
}

/// Returns the error for a path that starts with `~/`, because only the shell expands `~`; `None`
/// for other paths.
pub fn unexpanded_home(path: &str) -> Option<String> {
    let below = path.strip_prefix("~/")?;
    Some(format!(
        "~ is not expanded: the shell expands it only unquoted at the start of a word; write {}",
        Path::new(&std::env::var_os("HOME").unwrap_or("$HOME".into())).join(below).display()
    ))
}

/// Returns the reason why no program was found for `cmd`.
fn missing(cmd: &str, dir: Option<&Path>) -> String {
    let path = Path::new(cmd);
    if let Some((program, args)) = cmd.split_once(char::is_whitespace)
        && find_program(program, dir).is_ok()
    {
        return format!(
            "no program '{cmd}'; give arguments in args=, as in {program},args=\"{args}\""
        );
    }
    if !cmd.contains('/') && path.is_file() {
        format!("no program '{cmd}' in PATH or {GAMES}; the file here is ./{cmd}")
    } else if !cmd.contains('/') {
        format!("no program '{cmd}' in PATH or {GAMES}; give its path")
    } else if path.is_dir() {
        format!("'{cmd}' is a folder; name the program in it")
    } else if is_executable(path) {
        format!("cannot start '{cmd}': is its folder mounted with noexec?")
    } else if path.is_file() {
        format!("'{cmd}' is not executable; to make it so: chmod +x '{cmd}'")
    } else if path.exists() {
        format!("'{cmd}' is a pipe or a device; name a program")
    } else {
        format!("no file '{cmd}'{}", did_you_mean_file(path))
    }
}

/// Returns a suggestion of a similar file name in the same folder; empty if no name is similar.
fn did_you_mean_file(path: &Path) -> String {
    let entries = std::fs::read_dir(arbiter_process::folder_of(path)).into_iter().flatten();
    let files = entries.flatten().filter(|entry| entry.path().is_file());
    let names: Vec<String> =
        files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    did_you_mean(&wanted, names.iter().map(String::as_str))
}

fn search_path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([GAMES.into()]);
    std::env::join_paths(folders).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        assert!(find_program("sh", None).unwrap().is_absolute());
        assert!(find_program("/bin/sh", None).is_ok());
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/bin/sh", dir.path().join("sh")).unwrap();
        assert_eq!(find_program("sh", Some(dir.path())), Ok(dir.path().join("sh")));
        let here = std::env::current_dir().unwrap();
        let beside = tempfile::tempdir_in(&here).unwrap();
        let with_colon = beside.path().join("a:b");
        std::fs::create_dir(&with_colon).unwrap();
        std::os::unix::fs::symlink("/bin/sh", with_colon.join("sh")).unwrap();
        let relative = with_colon.strip_prefix(&here).unwrap();
        assert_eq!(find_program("sh", Some(relative)), Ok(with_colon.join("sh")));
        assert!(find_program("./sh", Some(Path::new("/bin"))).is_ok());
        assert!(
            find_program("no-such-engine", None)
                .unwrap_err()
                .to_string()
                .contains("no-such-engine")
        );
        let pipe = dir.path().join("pipe");
        std::os::unix::net::UnixListener::bind(&pipe).unwrap();
        let error = find_program(pipe.to_str().unwrap(), None).unwrap_err();
        assert!(error.ends_with("is a pipe or a device; name a program"), "{error}");
        let text = dir.path().join("engine");
        std::fs::write(&text, "MZ").unwrap();
        let error = find_program(text.to_str().unwrap(), None).unwrap_err();
        assert!(error.contains("is not executable; to make it so: chmod +x '/"), "{error}");
    }
}
