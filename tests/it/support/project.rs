//! Git repository of an engine, created for one test.

use std::path::PathBuf;
use std::process::Command;

use super::bench::{Bench, Finished, Running};
use super::programs;

/// Repository of an engine that is a script around a puppet.
pub struct Project<'a> {
    bench: &'a Bench,
    /// Top folder of the repository.
    pub top: PathBuf,
}

impl<'a> Project<'a> {
    /// Creates an empty repository with a Makefile.
    pub fn new(bench: &'a Bench) -> Project<'a> {
        let top = bench.path("project");
        std::fs::create_dir(&top).expect("a folder can be made");
        let project = Project { bench, top };
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.write("Makefile", "engine: engine.sh\n\tcp engine.sh engine\n\tchmod +x engine\n");
        project
    }

    /// Returns the clone of the project at `top`.
    pub fn cloned_to(&self, top: PathBuf) -> Project<'a> {
        Project { bench: self.bench, top }
    }

    /// Returns the output of a git command.
    pub fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.top);
        command.args(["-c", "user.name=n", "-c", "user.email=e@localhost"]).args(args);
        for (key, _) in std::env::vars_os() {
            if key.to_str().is_some_and(|key| key.starts_with("GIT_")) {
                // Within a git hook, these variables name another repository.
                command.env_remove(key);
            }
        }
        let output = command.output().expect("git can be started");
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("git prints UTF-8").trim_end().to_owned()
    }

    /// Writes a file of the repository.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.top.join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).unwrap();
        std::fs::write(path, text).expect("a file can be written");
    }

    /// Writes an engine whose bench runs `bench`.
    pub fn engine(&self, bench: &str) {
        let puppet = programs::puppet().display();
        let marker = self.bench.marker();
        self.write(
            "engine.sh",
            &format!(
                "#!/bin/sh\nif [ \"$1\" = bench ]; then\n{bench}\nelse\n\
                 exec '{puppet}' --marker {marker} \"$@\"\nfi\n"
            ),
        );
    }

    /// Commits everything and returns the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits an engine whose bench reports `nodes` nodes.
    pub fn commit_with_bench(&self, nodes: u64, message: &str) -> String {
        self.engine(&format!("echo {nodes} nodes 50000 nps"));
        self.commit(message)
    }

    /// Starts the harness in the repository.
    pub fn start(&self, args: &[&str]) -> Running {
        let top = self.top.display().to_string();
        let results = self.bench.path("results").display().to_string();
        let plays = matches!(args[0], "sprt" | "match");
        let repo_flag = ["--repo", &top];
        let of_games = ["--results", &results, "--each", "nodes=1", "--pairs", "1"];
        let more = if plays { &of_games[..] } else { &[] };
        self.bench.arbiter([args, &repo_flag, more].concat())
    }

    /// Runs the harness in the repository.
    pub fn run(&self, args: &[&str]) -> Finished {
        self.start(args).finish()
    }
}
