//! Recipe for building a program from a source tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bench::BenchRecipe;

/// Default time limit of a build, sufficient for a profile-guided build of a large engine on a slow
/// machine.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Instructions for a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Name, for messages, of the file from which the recipe comes: "arbiter.toml" or "Cargo.toml".
    pub source: String,
    /// Command that the shell runs in the root folder of the checkout.
    pub command: String,
    /// Folder, relative to the root of the checkout, that is scanned for the program if the
    /// settings do not name the program.
    pub output: PathBuf,
    /// `true` if submodules are fetched before the build.
    pub submodules: bool,
    /// Commands whose output identifies the toolchain.
    pub toolchain: Vec<String>,
    /// Settings of the user, with the environment variables that the command needs.
    pub settings: BuildSettings,
}

impl Recipe {
    /// Returns the time limit of the build.
    pub(super) fn timeout(&self) -> Duration {
        self.settings.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Returns the commands that identify the toolchain, as text.
    pub fn tools_text(&self) -> String {
        let tools = self.toolchain.iter().map(|tool| format!("`{tool}`"));
        tools.collect::<Vec<_>>().join(", ")
    }
}

/// Build settings of the user; unset settings are detected from the files of the commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildSettings {
    /// Name of the settings file, for messages.
    pub file: String,
    /// Command of the build.
    pub command: Option<String>,
    /// Path, relative to the root of the checkout, of the program that the command produces.
    pub binary: Option<PathBuf>,
    /// Environment variables of the command.
    pub env: BTreeMap<String, String>,
    /// `true` to fetch submodules; `None` to fetch submodules if there are any.
    pub submodules: Option<bool>,
    /// `true` if a sandboxed build may use the network.
    pub network: bool,
    /// Time limit; 30 minutes if `None`.
    pub timeout: Option<Duration>,
    /// Commands whose output identifies the toolchain.
    pub toolchain: Option<Vec<String>>,
    /// Settings of the bench.
    pub bench: BenchRecipe,
}

/// Returns the recipe for a source tree. `names` lists the files in the root folder and in `src`,
/// relative to the root; `text` reads a file of the tree. Returns `None` if the settings have no
/// command and no build system is detected.
pub(super) fn recipe(
    mut settings: BuildSettings,
    names: &[String],
    text: impl Fn(&str) -> Option<String>,
) -> Option<Recipe> {
    let detected = detect(names, text);
    // A command of the user may call any of these compilers. The error of a missing compiler also
    // helps to identify the toolchain.
    let tools = detected.as_ref().map_or(&["rustc -vV", CC, CXX, "go version"][..], |p| p.tools);
    let tools = || tools.iter().map(|tool| (*tool).to_owned()).collect();
    let toolchain = settings.toolchain.clone().unwrap_or_else(tools);
    // The folder of the program is known only for detected commands.
    let (source, command, output) = match (&settings.command, detected) {
        (Some(command), _) => (settings.file.clone(), command.clone(), ""),
        (None, Some(Project { file, command, output, .. })) => {
            if file == "Cargo.toml" {
                // Without this variable, Cargo would use the target folder of the user's
                // configuration.
                let folder = settings.env.entry("CARGO_TARGET_DIR".to_owned());
                folder.or_insert_with(|| "target".to_owned());
            }
            (file.to_owned(), command, output)
        }
        (None, None) => return None,
    };
    let has_submodules = || names.iter().any(|name| name == ".gitmodules");
    let submodules = settings.submodules.unwrap_or_else(has_submodules);
    Some(Recipe { source, command, output: output.into(), submodules, toolchain, settings })
}

const CC: &str = "\"${CC:-cc}\" --version";
const CXX: &str = "\"${CXX:-c++}\" --version";

/// Project with a known build system.
struct Project {
    file: &'static str,
    command: String,
    output: &'static str,
    tools: &'static [&'static str],
}

fn detect(names: &[String], text: impl Fn(&str) -> Option<String>) -> Option<Project> {
    let has = |name: &str| names.iter().any(|other| other == name);
    let found = |file, command: &str, output, tools| {
        Some(Project { file, command: command.to_owned(), output, tools })
    };
    if has("Cargo.toml") {
        // Without `--locked`, Cargo may choose newer dependencies, so the commit would not
        // determine the program.
        let locked = if has("Cargo.lock") { " --locked" } else { "" };
        let command = format!("cargo build --release{locked}");
        return found("Cargo.toml", &command, "target/release", &["rustc -vV"]);
    }
    if has("go.mod") {
        // Go names each program after its package; the slash makes `built` a folder for the
        // programs.
        let command = "mkdir -p built && go build -o built/ ./...";
        return found("go.mod", command, "built", &["go version"]);
    }
    for (file, folder) in [
        ("Makefile", ""),
        ("makefile", ""),
        ("GNUmakefile", ""),
        ("src/Makefile", "-C src "),
        ("src/makefile", "-C src "),
    ] {
        if has(file) {
            // In Stockfish and similar Makefiles, the first target only prints help.
            let needs_target = text(file).is_some_and(|text| {
                text.contains("ARCH") && text.lines().any(|line| line.starts_with("build:"))
            });
            let target = if needs_target { " build ARCH=native" } else { "" };
            // `nproc` counts only the processors that the build may use.
            let command = format!("make {folder}-j\"$(nproc)\"{target}");
            return found(file, &command, "", &[CC, CXX]);
        }
    }
    if has("CMakeLists.txt") {
        let command = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && \
                       cmake --build build --parallel \"$(nproc)\"";
        return found("CMakeLists.txt", command, "build", &[CC, CXX, "cmake --version"]);
    }
    None
}

/// Chooses the engine among the programs that a build has produced. `found` contains executable
/// files that git does not track; `hints` are possible names of the engine, the most likely first.
/// The error explains why no program is chosen.
pub(super) fn choose(found: &[PathBuf], hints: &[String]) -> Result<PathBuf, String> {
    let is_named = |path: &&PathBuf, hint: &String| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        stem.eq_ignore_ascii_case(hint)
    };
    let named = hints.iter().find_map(|hint| found.iter().find(|path| is_named(path, hint)));
    match (found, named) {
        ([], _) => Err("no new executable file; name it with binary in [build]".into()),
        // A single program is the engine, regardless of its name.
        ([only], _) => Ok(only.clone()),
        (_, Some(named)) => Ok(named.clone()),
        (several, None) => {
            // Listing all programs could fill the screen.
            let names = several.iter().take(8).map(|path| path.display().to_string());
            let names = names.collect::<Vec<_>>().join(", ");
            Err(format!("several executable files; name one with binary in [build]: {names}"))
        }
    }
}

/// Returns the text of the first line that contains an error message in a log; if there is no such
/// line, the text of the last line.
pub(super) fn first_error(log: &str) -> &str {
    const WORDS: [&str; 7] = [
        "error:",
        "error[",
        "fatal:",
        "undefined reference",
        "command not found",
        "not found",
        "***",
    ];
    let lines = || log.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| {
        let line = line.to_lowercase();
        WORDS.iter().any(|word| line.contains(word))
    };
    // Later errors often result from the first error.
    lines().find(is_error).or_else(|| lines().next_back()).unwrap_or("no output")
}

/// Returns whether the log of a failed build shows that the network was missing.
pub(super) fn lacks_network(log: &str) -> bool {
    const WORDS: [&str; 7] = [
        "could not resolve",
        "couldn't resolve",
        "name resolution",
        "failed to download",
        "failed to connect",
        "network is unreachable",
        "operation not permitted",
    ];
    let log = log.to_lowercase();
    WORDS.iter().any(|word| log.contains(word))
}

/// Returns whether `path`, relative to the root of the checkout, can be the built program.
pub(super) fn is_output(recipe: &Recipe, path: &Path) -> bool {
    let Ok(inner) = path.strip_prefix(&recipe.output) else { return false };
    let depth = inner.components().count();
    let is_library = path
        .extension()
        .is_some_and(|e| ["so", "o", "a", "dll", "d"].contains(&e.to_str().unwrap_or_default()));
    // Cargo and CMake keep scripts and test programs in subfolders.
    let is_flat = recipe.output.as_os_str().is_empty() || recipe.output.ends_with("build");
    let is_inner = path.components().any(|part| part.as_os_str() == "CMakeFiles");
    !is_library && !is_inner && (is_flat || depth == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(names: &[&str], makefile: &str) -> Option<(String, String, String)> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let settings = BuildSettings { file: "arbiter.toml".into(), ..BuildSettings::default() };
        let found = recipe(settings.clone(), &names, |_| Some(makefile.to_owned()))?;
        Some((found.source, found.command, found.output.display().to_string()))
    }

    #[test]
    fn common_projects_are_recognized() {
        let check = |names: &[&str], makefile: &str, source: &str, command: &str, output: &str| {
            let expect = (source.to_owned(), command.to_owned(), output.to_owned());
            assert_eq!(detected(names, makefile), Some(expect));
        };
        let cargo = "cargo build --release --locked";
        let names = ["Cargo.lock", "Cargo.toml", "Makefile"];
        check(&names, "", "Cargo.toml", cargo, "target/release");
        check(&["Cargo.toml"], "", "Cargo.toml", "cargo build --release", "target/release");
        check(&["go.mod"], "", "go.mod", "mkdir -p built && go build -o built/ ./...", "built");
        check(&["Makefile"], "all: x", "Makefile", "make -j\"$(nproc)\"", "");
        let stockfish = "ifeq ($(ARCH),)\nhelp:\n\t@echo\nbuild: x\n";
        let command = "make -C src -j\"$(nproc)\" build ARCH=native";
        check(&["src", "src/Makefile"], stockfish, "src/Makefile", command, "");
        let (_, command, output) = detected(&["CMakeLists.txt"], "").unwrap();
        assert!(command.contains("cmake --build") && output == "build");
        assert_eq!(detected(&["README.md"], ""), None);
    }

    #[test]
    fn explicit_settings_override_detection() {
        let settings = BuildSettings {
            file: "arbiter.toml".into(),
            command: Some("make fast".into()),
            env: [("CC".to_owned(), "clang".to_owned())].into(),
            ..BuildSettings::default()
        };
        let names = ["Cargo.toml".to_owned(), ".gitmodules".to_owned()];
        let found = recipe(settings.clone(), &names, |_| None).unwrap();
        assert_eq!((found.source.as_str(), found.command.as_str()), ("arbiter.toml", "make fast"));
        assert_eq!(found.settings.env.len(), 1);
        assert!(found.submodules && found.output.as_os_str().is_empty());
        let only_env = BuildSettings { command: None, ..settings };
        let found = recipe(only_env, &names, |_| None).unwrap();
        assert_eq!(found.settings.env["CARGO_TARGET_DIR"], "target");
        assert_eq!(found.settings.env["CC"], "clang");
    }

    #[test]
    fn the_binary_is_the_only_program_or_the_one_with_the_project_name() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let hints = ["Toga".to_owned()];
        assert_eq!(choose(&paths(&["src/x"]), &hints), Ok("src/x".into()));
        assert_eq!(choose(&paths(&["tools/gen", "src/toga"]), &hints), Ok("src/toga".into()));
        assert!(choose(&paths(&["a", "b"]), &hints).unwrap_err().contains("a, b"));
        assert!(choose(&[], &hints).unwrap_err().contains("binary"));
    }

    #[test]
    fn programs_are_distinguished_from_scripts_and_libraries() {
        let names = ["Cargo.toml".to_owned()];
        let cargo = recipe(BuildSettings::default(), &names, |_| None).unwrap();
        let check = |path: &str, expect| assert_eq!(is_output(&cargo, Path::new(path)), expect);
        check("target/release/engine", true);
        check("target/release/libx.so", false);
        check("target/release/build/x/script", false);
        check("target/debug/engine", false);
        let names = ["CMakeLists.txt".to_owned()];
        let cmake = recipe(BuildSettings::default(), &names, |_| None).unwrap();
        assert!(is_output(&cmake, Path::new("build/bin/engine")));
        assert!(!is_output(&cmake, Path::new("build/CMakeFiles/3.1/a.out")));
    }

    #[test]
    fn the_first_error_is_found() {
        let log = "cc -o x x.c\nx.c:3:1: error: expected ';'\nmake: *** [x] Error 1\n";
        assert_eq!(first_error(log), "x.c:3:1: error: expected ';'");
        assert_eq!(first_error("all fine\nthe end\n"), "the end");
        assert_eq!(first_error(""), "no output");
    }
}
