//! Separate working folder for each test, with a marker that identifies every engine that the test
//! starts.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{PATIENCE, process, programs, schema, snapshot};

/// Working folder of a test.
pub struct Bench {
    dir: TempDir,
}

impl Bench {
    /// Creates an empty folder.
    pub fn new() -> Bench {
        Bench { dir: TempDir::with_prefix(snapshot::PREFIX).expect("a folder can be made") }
    }

    /// Returns a path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file and returns its path.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, contents).expect("a file can be written");
        path
    }

    /// Reads a file, which must exist.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name))
            .unwrap_or_else(|error| panic!("cannot read {name}: {error}"))
    }

    /// Returns the argument that is on the command line of every puppet of this bench. It is unique
    /// because the folder name is unique.
    pub fn marker(&self) -> &str {
        let name = self.dir.path().file_name().and_then(OsStr::to_str);
        name.expect("temporary folders have ASCII names")
    }

    /// Returns the value of `--engine` for a puppet; `fields` are further fields of the
    /// description, each preceded by a comma.
    pub fn puppet(&self, name: &str, args: &str, fields: &str) -> String {
        let program = programs::puppet().display();
        let marker = self.marker();
        format!("name={name},cmd=\"{program}\",args=\"{args} --marker {marker}\"{fields}")
    }

    /// Creates the folder `logs`; returns the argument that makes a puppet log its input there.
    pub fn logs(&self) -> String {
        std::fs::create_dir(self.path("logs")).expect("a folder can be made");
        format!("--log {}", self.path("logs").display())
    }

    /// Returns the input of each process that played a game, from the files in `logs`.
    pub fn conversations(&self) -> Vec<Vec<String>> {
        let entries = std::fs::read_dir(self.path("logs")).expect("the folder can be listed");
        entries
            .map(|entry| entry.expect("an entry can be read").path())
            .map(|path| std::fs::read_to_string(path).expect("a log is text"))
            .map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter(|input| input.iter().any(|line| line.starts_with("go")))
            .collect()
    }

    /// Starts the harness in the folder.
    pub fn arbiter<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Running {
        self.start(programs::arbiter(), args)
    }

    /// Starts a program in the folder, isolated from the settings of the user who runs the tests.
    /// Unencrypted servers after `--on` are accepted, because most tests use one.
    pub fn start<S: AsRef<OsStr>>(
        &self,
        program: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Running {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.dir.path());
        let command_line: Vec<String> =
            command.get_args().filter_map(OsStr::to_str).map(str::to_owned).collect();
        let is_open =
            |two: &[String]| ["--on", "--on"].contains(&&*two[0]) && two[1].starts_with("nats://");
        if command_line.windows(2).any(is_open) {
            command.arg("--insecure");
        }
        for (key, _) in std::env::vars_os() {
            if key.to_str().is_some_and(|key| key.starts_with("ARBITER_")) {
                // Environment variables of the caller, such as a token, would change the commands.
                command.env_remove(key);
            }
        }
        command
            // Configuration and registered engines of the user must not change a test.
            .env("HOME", self.dir.path())
            .env("XDG_CONFIG_HOME", self.dir.path())
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let stdout = collect(child.stdout.take().expect("stdout is piped"));
        let stderr = collect(child.stderr.take().expect("stderr is piped"));
        let command_line = if program == programs::arbiter() { command_line } else { Vec::new() };
        Running { child, stdout, stderr, command_line }
    }

    /// Waits until no puppet of this bench is left.
    pub fn wait_until_quiet(&self) {
        process::wait_until_gone(self.marker());
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // A failed test may have left engines.
        process::kill_marked(self.marker());
    }
}

/// Returns the user and system CPU time of all child processes that this process has waited for, in
/// seconds.
pub fn cpu_seconds_of_finished() -> f64 {
    cpu_seconds("self", 13)
}

/// Returns the sum of two CPU times of a process, in seconds; `skipped` fields follow the process
/// name before them.
fn cpu_seconds(process: &str, skipped: usize) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    let stat = stat.expect("it was not waited for yet");
    // The program name is in parentheses and may contain spaces; later fields contain none
    // (proc_pid_stat(5)).
    let fields = stat.rsplit(')').next().expect("a name in brackets");
    let ticks = fields.split_whitespace().skip(skipped).take(2);
    let ticks: u64 = ticks.map(|field| field.parse::<u64>().expect("a number")).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// A running program.
pub struct Running {
    /// Command line, if the program is the harness.
    command_line: Vec<String>,
    child: Child,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
}

impl Running {
    /// Returns the process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends a signal to the program, but not to its children.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("a child can be sent a signal");
    }

    /// Returns the user and system CPU time of the program so far, in seconds.
    pub fn cpu_seconds(&self) -> f64 {
        cpu_seconds(&self.child.id().to_string(), 11)
    }

    /// Returns the peak memory of the program so far, in MiB.
    pub fn peak_memory_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it was not waited for yet");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|peak| peak.trim().strip_suffix(" kB")).expect("it is there");
        kib.parse::<u64>().expect("a number") / 1024
    }

    /// Returns whether the program has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_some()
    }

    /// Waits for the program to end.
    pub fn finish(mut self) -> Finished {
        let deadline = Instant::now() + PATIENCE;
        let mut in_time = true;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break status;
            }
            if Instant::now() > deadline {
                in_time = false;
                self.child.kill().expect("a child can be killed");
            }
            // The standard library has no wait with a timeout.
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        let text = |pipe: Receiver<Vec<u8>>| {
            let bytes = pipe.recv_timeout(PATIENCE).expect("no process outlives it with its pipe");
            String::from_utf8(bytes).expect("a program prints UTF-8")
        };
        let finished = Finished {
            command_line: self.command_line,
            code: status.code(),
            stdout: text(self.stdout),
            stderr: text(self.stderr),
        };
        assert!(in_time, "killed after {PATIENCE:?}: {finished:#?}");
        // A killed program may have stopped within a line, which would not be JSON.
        if finished.code.is_some() {
            schema::check_output(&finished.command_line, &finished.stdout);
        }
        finished
    }
}

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Command line, if the program was the harness.
    command_line: Vec<String>,
    /// Exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// Complete standard output.
    pub stdout: String,
    /// Complete standard error.
    pub stderr: String,
}

impl Finished {
    /// Asserts the exit code, and that the program did not panic.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Finished {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// Asserts the exit code, that one line reports the error, and that there is no result. The
    /// error output from that line is in the snapshot of the test.
    #[track_caller]
    pub fn expect_error(self, code: i32) {
        let finished = self.expect_code(code);
        snapshot::expect_next(&format!(
            "$ arbiter {}\n{}",
            finished.command_line.join(" "),
            finished.error()
        ));
    }

    /// Asserts the exit code, that one line reports the error and contains all `parts`, and that
    /// there is no result.
    #[track_caller]
    pub fn expect_refusal(self, code: i32, parts: &[&str]) {
        let finished = self.expect_code(code);
        let error = finished.error();
        for word in parts {
            assert!(error.contains(word), "`{word}` is not named: {finished:#?}");
        }
    }

    /// Returns the error output, starting with the only line that starts with `error`; there must
    /// be no result.
    #[track_caller]
    fn error(&self) -> String {
        let is_error = |line: &&str| line.starts_with("error");
        let errors = self.stderr.lines().filter(is_error).count();
        assert_eq!(errors, 1, "one line must start with `error`: {self:#?}");
        assert_eq!(self.stdout, "", "{self:#?}");
        assert!(!self.stderr.contains("RUST_BACKTRACE"), "{self:#?}");
        self.stderr.lines().skip_while(|line| !is_error(line)).collect::<Vec<_>>().join("\n")
    }

    /// Returns standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not JSON: {error}\n{self:#?}"))
    }
}

/// Reads a pipe to its end, which comes when every process that holds the pipe has ended.
fn collect(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        // The receiver no longer exists if the test has failed.
        let _ = sender.send(bytes);
    });
    receiver
}

#[test]
fn output_and_exit_code_of_programs_are_returned() {
    let bench = Bench::new();
    bench.write("in.json", "{\"games\": 2}");
    let finished = bench.start(Path::new("/bin/sh"), ["-c", "cat in.json; echo no >&2; exit 3"]);
    let finished = finished.finish().expect_code(3);
    assert_eq!(finished.json()["games"], 2);
    assert_eq!(finished.stderr, "no\n");
    assert_eq!(bench.read("in.json"), finished.stdout);
}

#[test]
fn a_program_can_be_interrupted() {
    let bench = Bench::new();
    let script = "trap 'exit 7' INT; echo > ready; while :; do sleep 0.01; done";
    let running = bench.start(Path::new("/bin/sh"), ["-c", script]);
    super::wait_for("the script listens", || bench.path("ready").exists().then_some(()));
    running.signal(Signal::INT);
    running.finish().expect_code(7);
}

#[test]
fn a_bench_ends_without_puppets() {
    let bench = Bench::new();
    let marker = bench.marker().to_owned();
    let running = bench.start(programs::puppet(), ["--mode", "mute", "--marker", &marker]);
    super::wait_for("the puppet is seen", || (!process::marked(&marker).is_empty()).then_some(()));
    drop(bench);
    assert_eq!(running.finish().code, None);
    assert!(process::marked(&marker).is_empty());
}
