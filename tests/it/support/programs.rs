//! The programs under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The misbehaving engine.
pub fn puppet() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_puppet"))
}

/// The harness, built first if need be.
///
/// Cargo builds the programs of the package under test only, so `cargo test -p
/// tests` alone would meet a harness that is missing or, worse, an old one. `tests/run` has built
/// it, with lints, and says so.
pub fn arbiter() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| match std::env::var_os("ARBITER_IS_BUILT") {
        Some(_) => puppet().with_file_name("arbiter"),
        None => build_arbiter(),
    })
}

/// A program, if it is installed: in the search path, or where Debian puts games
/// and servers.
pub fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/games", "/usr/sbin"].map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|candidate| candidate.is_file())
}

fn build_arbiter() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the folder for temporary files is in the target folder");
    let built = puppet().parent().expect("a program is in a folder");
    // TARGET/PROFILE, or TARGET/TRIPLE/PROFILE when cross-compiling.
    let place: Vec<&str> = built
        .strip_prefix(target)
        .expect("programs are built into the target folder")
        .iter()
        .map(|part| part.to_str().expect("profiles and triples are ASCII"))
        .collect();
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["build", "--package", "arbiter", "--bin", "arbiter"])
        .args(["--message-format", "json-render-diagnostics", "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    match place.as_slice() {
        [profile] => command.args(["--profile", profile_name(profile)]),
        [triple, profile] => command.args(["--profile", profile_name(profile), "--target", triple]),
        _ => panic!("{} is not a folder of build results", built.display()),
    };
    // A test runs with the variables of its package. Build scripts that look at them, of cryptography
    // above all, would run again now, and once more in the next build from a shell.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    let output = command.output().expect("cargo can be started");
    assert!(
        output.status.success(),
        "the harness does not build:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    executable(&output.stdout).expect("cargo says where it put the program")
}

/// The profile that is built into a folder of this name.
fn profile_name(folder: &str) -> &str {
    if folder == "debug" { "dev" } else { folder }
}

/// The program that cargo's messages announce.
fn executable(messages: &[u8]) -> Option<PathBuf> {
    messages.split(|&byte| byte == b'\n').find_map(|line| {
        let message: serde_json::Value = serde_json::from_slice(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    })
}

#[test]
fn the_harness_is_built_for_the_tests() {
    assert!(arbiter().is_file(), "{} does not exist", arbiter().display());
    assert_eq!(arbiter().parent(), puppet().parent(), "built with another profile");
}

#[test]
fn a_program_is_found_in_the_search_path() {
    assert!(installed("sh").is_some());
    assert_eq!(installed("no-engine-has-this-name"), None);
}
