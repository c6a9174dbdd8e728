//! Programs under test.

#![expect(clippy::disallowed_types, reason = "programs are built once")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the path of the misbehaving engine.
pub fn puppet() -> &'static Path {
    static PUPPET: OnceLock<PathBuf> = OnceLock::new();
    PUPPET.get_or_init(|| folder().join("puppet"))
}

/// Returns the path of the harness.
pub fn arbiter() -> &'static Path {
    static ARBITER: OnceLock<PathBuf> = OnceLock::new();
    ARBITER.get_or_init(|| folder().join("arbiter"))
}

/// Returns the folder of both programs, which are built first if necessary. Cargo builds only the
/// programs of the package under test, so with `cargo test -p tests` alone the programs would be
/// missing or outdated. `tests/run` builds them with lints, and sets a variable.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let test = std::env::current_exe().expect("a test knows its program");
        let folder = test.ancestors().nth(2).expect("tests lie in TARGET/PROFILE/deps");
        // Cargo builds only the programs of the package under test, so the harness is built here.
        if std::env::var_os("ARBITER_IS_BUILT").is_none() {
            build(folder);
        }
        folder.to_owned()
    })
}

/// Returns a program, if it is installed: in the search path, or where Debian installs games and
/// servers.
pub fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/games", "/usr/sbin"].map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|candidate| candidate.is_file())
}

fn build(folder: &Path) {
    let profile = folder.file_name().and_then(|name| name.to_str()).expect("profiles are ASCII");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["build", "--all-features", "--package", "arbiter", "--package", "puppet"])
        .args(["--bins", "--profile"])
        .arg(if profile == "debug" { "dev" } else { profile })
        .arg("--target-dir")
        .arg(folder.parent().expect("it lies in the target folder"))
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    // Cargo sets variables of the package for a test. Build scripts that read these variables,
    // especially in cryptography crates, would run again here, and once more in the next build from
    // a shell.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    let output = command.output().expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the programs do not build:\n{errors}");
}

#[test]
fn the_programs_are_built_for_the_tests() {
    assert!(arbiter().is_file(), "{} does not exist", arbiter().display());
    assert!(puppet().is_file(), "{} does not exist", puppet().display());
}

#[test]
fn a_program_is_found_in_the_search_path() {
    assert!(installed("sh").is_some());
    assert_eq!(installed("no-engine-has-this-name"), None);
}
