//! Tests with real builds in a sandbox.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::*;
use arbiter_process::{Cancel, Sandbox, Spawner};

/// Commits `files` to a new repository, builds the commit in a sandbox, and returns the log. Panics
/// unless the built program prints "engine".
fn built(files: &[(&str, &str)], dir: &Path) -> String {
    let top = dir.join("project");
    for (name, text) in files {
        let path = top.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    commit(&top);
    let log = || {
        let entries = std::fs::read_dir(dir.join("cache/builds")).unwrap();
        let logs = entries.map(|e| std::fs::read_to_string(e.unwrap().path().join("build.log")));
        logs.map(Result::unwrap_or_default).collect::<String>()
    };
    let build = |builder: &Builder<'_>| {
        builder.build(&Repository::open(&top).unwrap(), "HEAD").map(|built| built.launch.program)
    };
    let program = with_builder(dir, build).unwrap_or_else(|error| panic!("{error}\n{}", log()));
    assert_eq!(Command::new(program).output().unwrap().stdout, b"engine\n");
    log()
}

/// Commits all files of a folder to a new repository.
fn commit(top: &Path) {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(top).args(["-c", "user.name=n", "-c", "user.email=e@localhost"]);
        assert!(command.args(args).status().unwrap().success(), "{args:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "The subject"]);
}

/// Calls `work` with a builder that builds in a sandbox and has its cache in `dir`.
fn with_builder<T>(dir: &Path, work: impl FnOnce(&Builder<'_>) -> T) -> T {
    let cache = Cache::new(Some(dir.join("cache"))).unwrap();
    let (spawner, cancel) = (Spawner::start().unwrap(), Cancel::default());
    let builder = Builder {
        cache: &cache,
        settings: None,
        read: |_| Ok(None),
        passed: &[],
        sandbox: Some(Sandbox { is_required: true, ..Sandbox::default() }),
        without: Vec::new(),
        spawner: &spawner,
        cancel: &cancel,
        notify: Box::new(|_| ()),
    };
    work(&builder)
}

#[test]
fn settings_are_regular_files_of_limited_size() {
    let dir = TempDir::new().unwrap();
    let top = dir.path().join("project");
    std::fs::create_dir(&top).unwrap();
    let settings = top.join("arbiter.toml");
    std::fs::write(top.join("go.mod"), "").unwrap();
    std::fs::File::create(&settings).unwrap().set_len((1 << 20) + 1).unwrap();
    commit(&top);
    let why = |revision: &str| {
        let repo = Repository::open(&top).unwrap();
        let outline = with_builder(dir.path(), |builder| builder.outline(&repo, revision));
        outline.unwrap_err().to_string()
    };
    let error = why("HEAD");
    assert!(error.contains("exceeds the limit"), "{error}");
    std::fs::remove_file(&settings).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &settings).unwrap();
    let error = why(WORKING_TREE);
    assert!(error.contains("device"), "{error}");
}

#[test]
fn make_builds_see_compiler_and_git_but_no_user_data() {
    let (dir, secrets) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    std::fs::write(secrets.path().join("key"), "top secret\n").unwrap();
    let path = secrets.path().display();
    let makefile = format!(
        "engine: main.c\n\t-cat {path}/key\n\t-touch {path}/new\n\t-ls $(HOME)/.ssh\n\
         \tgit log -1 --format='of %s'\n\techo temporary > $$TMPDIR/x && rm $$TMPDIR/x\n\
         \t$(CC) -O2 -o engine main.c\n\tchmod 755 engine\n"
    );
    let main = "#include <stdio.h>\nint main(void) { puts(\"engine\"); return 0; }\n";
    let log = built(&[("Makefile", &makefile), ("main.c", main)], dir.path());
    assert!(log.contains("of The subject") && log.contains("key: Permission denied"), "{log}");
    assert!(!log.contains("top secret") && !secrets.path().join("new").exists(), "{log}");
}

#[test]
fn cargo_builds_use_the_toolchain_of_the_user() {
    let dir = TempDir::new().unwrap();
    let manifest = "[package]\nname = \"tiny\"\nedition = \"2024\"\n[workspace]\n";
    let main = "fn main() {\n    println!(\"engine\");\n}\n";
    built(&[("Cargo.toml", manifest), ("src/main.rs", main)], dir.path());
}
