//! Start of engines such that none can outlive this process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use thiserror::Error;

use super::no_start::cause;
use super::output_file::{Links, open_output};
use super::reader::{Chunk, read_lines};
use super::tail::Tail;
use super::writer::{WriteError, Writer};
use crate::system::delay::Delays;
use crate::system::error_output::ErrorReader;
use crate::system::limits::{self, ResourceLimits};
use crate::system::process_tree::{self, ProcessTree};
use crate::system::sandbox::{Home, Sandbox};
use crate::system::{cpus, host, stop};

/// Stack of a reader thread, in bytes. Its `sink` runs there, too: a whole step of a game. Only the
/// used part takes memory.
const READER_STACK: usize = 1024 * 1024;

/// Number of lines of an engine's error output that are kept.
const ERROR_LINES: usize = 20;

/// Time that the last lines of error output may take to arrive after an engine's end.
const LAST_WORDS_GRACE: Duration = Duration::from_millis(100);

/// Program to start, with its settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// Path of the program; a bare name is looked up in `PATH`.
    pub program: PathBuf,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Working directory; ours if `None`.
    pub dir: Option<PathBuf>,
    /// File to which error output is appended.
    pub stderr: Option<PathBuf>,
    /// Resource limits of the program and each of its children.
    pub limits: ResourceLimits,
    /// Processors on which the program may run; all that we may use if empty.
    pub cpus: Vec<usize>,
    /// Environment, except for the folders of the sandbox; if `None`, ours, or the part of it that
    /// a sandbox leaves.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Sandbox of the program; none if `None`.
    pub sandbox: Option<Sandbox>,
}

/// Reason why a process could not be started.
#[derive(Debug, Error)]
#[error("{text}")]
pub struct SpawnError {
    text: String,
    /// `true` if the machine, not the program, is to blame (no memory, processes or descriptors).
    pub is_environment: bool,
}

impl SpawnError {
    fn of_program(launch: &Launch, source: &io::Error) -> SpawnError {
        let scarce = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
        let is_environment = source.kind() == io::ErrorKind::Unsupported
            || Errno::from_io_error(source).is_some_and(|no| scarce.contains(&no));
        let text =
            format!("cannot start '{}': {}", launch.program.display(), cause(launch, source));
        SpawnError { text, is_environment }
    }

    fn of_environment(text: String) -> SpawnError {
        SpawnError { text, is_environment: true }
    }

    fn spawner_gone<T>(_: T) -> SpawnError {
        SpawnError::of_environment("the process spawner has ended".to_owned())
    }
}

type Sink = Box<dyn FnMut(Chunk) -> bool + Send>;
type Request = (Launch, Sink, mpsc::Sender<Result<Process, SpawnError>>);

/// Handle of the thread that starts every engine.
///
/// The kernel kills a child with `PR_SET_PDEATHSIG` when the *thread* that started it ends. Worker
/// threads come and go; this one lives as long as any `Spawner` does.
#[derive(Debug, Clone)]
pub struct Spawner(mpsc::Sender<Request>);

impl Spawner {
    /// Starts the thread. From then on this process may have as many files open as the system
    /// allows; child processes get the original limit.
    pub fn start() -> io::Result<Spawner> {
        Spawner::start_with(None)
    }

    /// Starts the thread, and all processes that it will start, on one CPU, given by its number.
    pub fn start_on(cpu: usize) -> io::Result<Spawner> {
        Spawner::start_with(Some(cpu))
    }

    fn start_with(cpu: Option<usize>) -> io::Result<Spawner> {
        process_tree::adopt_strays();
        limits::raise_open_files();
        let (sender, requests) = mpsc::channel::<Request>();
        let (errors, open) = ErrorReader::start()?;
        let (prepared, answer) = mpsc::channel();
        std::thread::Builder::new().name("spawner".into()).spawn(move || {
            let outcome = cpu.map_or(Ok(()), cpus::move_here);
            let is_ready = outcome.is_ok();
            if prepared.send(outcome).is_err() || !is_ready {
                return;
            }
            for (number, (launch, sink, reply)) in requests.into_iter().enumerate() {
                // A requester that went away has no use for the process; dropping it ends it.
                let _ = reply.send(Process::start(&launch, sink, &errors, number));
            }
            drop(open);
        })?;
        answer.recv().map_err(io::Error::other)??;
        Ok(Spawner(sender))
    }

    /// Starts a process. `sink` receives its output on a separate thread, and ends the reading by
    /// returning `false`.
    pub fn spawn(
        &self,
        launch: &Launch,
        sink: impl FnMut(Chunk) -> bool + Send + 'static,
    ) -> Result<Process, SpawnError> {
        let (reply, answer) = mpsc::channel();
        let request = (launch.clone(), Box::new(sink) as Sink, reply);
        self.0.send(request).map_err(SpawnError::spawner_gone)?;
        answer.recv().map_err(SpawnError::spawner_gone)?
    }
}

/// A running engine process and its group. Dropping it kills the group.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: Option<Writer>,
    errors: Tail,
    /// Number of the thread that reads the output; 0 until it runs.
    reader: Arc<AtomicI32>,
    /// Finder of the processes that the engine has moved out of its group.
    tree: ProcessTree,
    /// `true` once the leader was waited for, which ends its group too.
    reaped: bool,
    /// Home of the process if it is removed afterwards.
    _home: Option<Home>,
}

impl Process {
    fn start(
        launch: &Launch,
        sink: Sink,
        errors: &ErrorReader,
        number: usize,
    ) -> Result<Process, SpawnError> {
        let log = launch.stderr.as_deref().map(append_to).transpose()?;
        let fail = |source: io::Error| SpawnError::of_program(launch, &source);
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(dir) = &launch.dir {
            command.current_dir(dir);
        }
        let _home = limits::prepare_child(&mut command, launch).map_err(fail)?;
        let (mut child, tree) = ProcessTree::spawn(&mut command, number).map_err(fail)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let reader = Arc::default();
        let tail = Tail::new(ERROR_LINES);
        let mut process = Process {
            child,
            input: None,
            errors: tail.clone(),
            reader,
            tree,
            reaped: false,
            _home,
        };
        if let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) {
            process.input = Some(Writer::new(stdin).map_err(fail)?);
            errors.add(stderr, log, tail).map_err(fail)?;
            reader_thread(stdout, sink, process.reader.clone()).map_err(fail)?;
        }
        Ok(process)
    }

    /// Writes bytes to the engine's input.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.input.as_mut().ok_or(WriteError::Closed)?.write(bytes)
    }

    /// Closes the input, which is then at its end.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Returns the last lines of error output, oldest first.
    pub fn error_tail(&self) -> Vec<String> {
        self.errors.lines()
    }

    /// Returns the resident memory of the process without its children, in bytes; `None` where the
    /// system does not report it.
    pub fn resident_bytes(&self) -> Option<u64> {
        host::resident_bytes(self.tree.engine)
    }

    /// Returns the time that the threads of the engine and the one that reads it have waited for a
    /// processor so far.
    pub fn delays(&self) -> Delays {
        Delays::of(self.tree.engine, self.reader.load(Ordering::Relaxed))
    }

    /// Moves the process, with its descendants, to some processors.
    pub fn move_to(&self, cpus: &[usize]) {
        cpus::move_to(stop::pid(&self.child).as_raw_nonzero().get(), cpus);
    }

    /// Returns how the process ended, if it does within `limit`; text such as "exit code 3".
    /// Blocks.
    pub fn exit_within(&mut self, limit: Duration) -> Option<String> {
        if !self.has_exited_within(limit) {
            return None;
        }
        self.end(Duration::ZERO).map(describe)
    }

    /// Returns whether the process has ended by itself. Does not block.
    pub fn has_exited(&self) -> bool {
        self.reaped || stop::has_exited(&self.child)
    }

    /// Returns whether the process exits within `limit` and is still to be collected. Blocks.
    pub(super) fn has_exited_within(&self, limit: Duration) -> bool {
        !self.reaped && stop::wait_exit(&self.child, limit)
    }

    /// Ends the group, with `term_grace` between the signal to end and the kill, and collects the
    /// process. Blocks.
    pub(super) fn end(&mut self, term_grace: Duration) -> Option<ExitStatus> {
        let status = self.tree.end(&mut self.child, Duration::ZERO, term_grace);
        self.reaped = true;
        self.errors.wait_end(LAST_WORDS_GRACE);
        status
    }

    /// Sends a signal to the program alone, not to its descendants.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.tree.engine) {
            // It may be gone by now, which is what is wanted.
            let _ = kill_process(pid, signal);
        }
    }

    /// Closes the input and ends the group: waits `grace`, then terminates, then kills. Blocks.
    pub fn stop(mut self, grace: Duration) {
        self.input = None;
        self.tree.end(&mut self.child, grace, stop::TERM_GRACE);
        self.reaped = true;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Once the leader is reaped, its number may belong to somebody else.
        if !self.reaped {
            self.tree.end(&mut self.child, Duration::ZERO, Duration::ZERO);
        }
    }
}

fn append_to(path: &Path) -> Result<File, SpawnError> {
    let file = open_output(path, File::options().append(true), Links::Followed);
    file.map_err(|source| {
        let path = path.display();
        SpawnError::of_environment(format!("cannot write '{path}' for error output: {source}"))
    })
}

pub(super) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(libc::SIGILL)) => {
            "killed by signal 4, illegal instruction: is the program for this processor?".to_owned()
        }
        (None, Some(libc::SIGSYS)) => {
            "killed by signal 31, as 32-bit programs are in a sandbox; use --sandbox off".to_owned()
        }
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn reader_thread(
    source: impl Read + Send + 'static,
    sink: impl FnMut(Chunk) -> bool + Send + 'static,
    number: Arc<AtomicI32>,
) -> io::Result<()> {
    let read = move || {
        number.store(process_tree::this_thread(), Ordering::Relaxed);
        read_lines(source, sink);
    };
    let thread = std::thread::Builder::new().name("engine reader".into()).stack_size(READER_STACK);
    thread.spawn(read).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(program: &str, args: &[&str]) -> Launch {
        Launch {
            program: program.into(),
            args: args.iter().map(|arg| arg.to_string()).collect(),
            ..Launch::default()
        }
    }

    fn shell(script: &str) -> (Process, mpsc::Receiver<Chunk>) {
        shell_with(script, |_| {})
    }

    fn shell_with(
        script: &str,
        change: impl FnOnce(&mut Launch),
    ) -> (Process, mpsc::Receiver<Chunk>) {
        let (sender, chunks) = mpsc::channel();
        let mut launch = launch("sh", &["-c", script]);
        change(&mut launch);
        let spawner = Spawner::start().unwrap();
        let process = spawner.spawn(&launch, move |chunk| sender.send(chunk).is_ok()).unwrap();
        // The spawner must outlive the process; a test has no better place for it.
        std::mem::forget(spawner);
        (process, chunks)
    }

    fn all_lines(chunks: mpsc::Receiver<Chunk>) -> Vec<String> {
        chunks.into_iter().flat_map(|chunk| chunk.lines).collect()
    }

    #[test]
    fn output_and_errors_are_read() {
        let (mut process, chunks) = shell("echo out; echo err >&2; exit 3");
        assert_eq!(all_lines(chunks), ["out"]);
        assert_eq!(process.exit_within(Duration::from_secs(5)).as_deref(), Some("exit code 3"));
        assert_eq!(process.error_tail(), ["err"]);
    }

    #[test]
    fn a_process_that_ignores_everything_is_killed_with_its_children() {
        let (process, chunks) = shell("trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000");
        let child: i32 = chunks.recv().unwrap().lines[0].parse().unwrap();
        process.stop(Duration::from_millis(10));
        assert_gone(child);
    }

    #[track_caller]
    fn assert_gone(child: i32) {
        let stat = || std::fs::read_to_string(format!("/proc/{child}/stat"));
        for _ in 0..200 {
            // Orphans of the process that runs the tests may stay unreaped for a moment.
            if stat().map_or(true, |stat| stat.contains(") Z")) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("process {child} survived its engine");
    }

    #[test]
    fn what_moved_into_a_session_of_its_own_is_found() {
        // The first one stays a child of the engine, the second one has lost its parent.
        let script = "setsid sleep 1000 & echo $!; \
                      setsid --fork sh -c 'echo $$; exec sleep 1000'; wait";
        let (process, chunks) = shell(script);
        let numbers = || chunks.iter().flat_map(|chunk| chunk.lines);
        let strays: Vec<i32> = numbers().take(2).map(|line| line.parse().unwrap()).collect();
        process.stop(Duration::from_millis(10));
        strays.into_iter().for_each(assert_gone);
    }

    /// Returns whether a process has this argument.
    fn is_argument(mark: &str) -> bool {
        let folders = std::fs::read_dir("/proc").unwrap().flatten();
        let mut arguments = folders.map(|of| std::fs::read(of.path().join("cmdline")));
        arguments.any(|text| {
            text.is_ok_and(|text| text.split(|b| *b == 0).any(|a| a == mark.as_bytes()))
        })
    }

    #[test]
    fn daemons_end_with_what_a_sandbox_holds() {
        if !Sandbox::keeps_attributes() {
            return;
        }
        for (number, last_words) in
            ["exit 3", "kill -ABRT $$", "sleep 1000"].into_iter().enumerate()
        {
            let mark = format!("1000.{}{number}", std::process::id());
            // No parent, group, session or environment is left; the second one has another number at any moment.
            let script = format!(
                "setsid --fork env -i sleep {mark}; \
                 setsid --fork env -i perl -e 'fork && exit while 1' {mark}; \
                 sleep 0.2; echo started; read x; {last_words}"
            );
            let (mut process, chunks) =
                shell_with(&script, |launch| launch.sandbox = Some(Sandbox::default()));
            assert_eq!(chunks.recv().unwrap().lines, ["started"]);
            assert!((0..100).any(|_| is_argument(&mark)), "it was started");
            process.write(b"\n").unwrap();
            let ended = process.exit_within(Duration::from_secs(2));
            let expected = [Some("exit code 3"), Some("killed by signal 6"), None];
            assert_eq!(ended.as_deref(), expected[number]);
            process.stop(Duration::from_millis(10));
            assert!((0..100).all(|_| !is_argument(&mark)), "it is still there after {last_words}");
        }
    }

    #[test]
    fn a_process_in_a_sandbox_is_seen_as_any_other() {
        let script = "trap 'echo bye; exit' INT; echo $$; while :; do sleep 0.01; done";
        let (process, chunks) =
            shell_with(script, |launch| launch.sandbox = Some(Sandbox::default()));
        let number = chunks.recv().unwrap().lines.remove(0);
        let expected =
            if Sandbox::keeps_attributes() { "2" } else { &process.tree.engine.to_string() };
        assert_eq!(number, expected);
        let program = std::fs::read_link(format!("/proc/{}/exe", process.tree.engine)).unwrap();
        assert_eq!(program, std::fs::canonicalize("/bin/sh").unwrap());
        process.signal(Signal::INT);
        assert_eq!(chunks.recv().unwrap().lines, ["bye"]);
    }

    #[test]
    fn strays_of_others_are_let_be() {
        let script = "setsid --fork sh -c 'echo $$; exec sleep 1000'; sleep 1000";
        let [(one, ones), (other, others)] = [shell(script), shell(script)];
        let stray = |chunks: &mpsc::Receiver<Chunk>| -> i32 {
            chunks.recv().unwrap().lines[0].parse().unwrap()
        };
        let (mine, foreign) = (stray(&ones), stray(&others));
        one.stop(Duration::from_millis(10));
        assert_gone(mine);
        assert!(std::path::Path::new(&format!("/proc/{foreign}")).exists());
        other.stop(Duration::from_millis(10));
        assert_gone(foreign);
    }

    #[test]
    fn what_is_started_on_a_cpu_stays_there() {
        let cpu = cpus::allowed()[0];
        let (sender, chunks) = mpsc::channel();
        let spawner = Spawner::start_on(cpu).unwrap();
        let script = "grep Cpus_allowed_list /proc/self/status";
        let sink = move |chunk| sender.send(chunk).is_ok();
        let _process = spawner.spawn(&launch("sh", &["-c", script]), sink).unwrap();
        assert_eq!(all_lines(chunks), [format!("Cpus_allowed_list:\t{cpu}")]);
        assert!(Spawner::start_on(usize::MAX).is_err());
    }

    #[test]
    fn memory_has_a_limit_if_one_is_set() {
        let script = "head -c 400000000 /dev/zero | tail -c 400000000 | wc -c; exit 0";
        let (mut limited, chunks) =
            shell_with(script, |launch| launch.limits.memory_bytes = Some(100 << 20));
        assert_eq!(all_lines(chunks), ["0"], "tail must not get its buffer");
        assert!(limited.exit_within(Duration::from_secs(5)).is_some());
        assert!(limited.error_tail().iter().any(|line| line.contains("memory")));
    }

    #[test]
    fn a_process_runs_where_it_is_told_to() {
        let last = *cpus::allowed().last().unwrap();
        let script = "grep Cpus_allowed_list /proc/self/status; read x; \
                      grep Cpus_allowed_list /proc/self/status";
        let (mut process, chunks) = shell_with(script, |launch| launch.cpus = vec![last]);
        let expected = format!("Cpus_allowed_list:\t{last}");
        assert_eq!(chunks.recv().unwrap().lines, [expected]);
        let first = cpus::allowed()[0];
        process.move_to(&[first]);
        process.write(b"\n").unwrap();
        assert_eq!(all_lines(chunks), [format!("Cpus_allowed_list:\t{first}")]);
    }

    #[test]
    fn engines_have_error_output_of_their_own() {
        let spawner = Spawner::start().unwrap();
        let script =
            |word: &str| format!("read x; echo {word} >&2; seq 30 >&2; echo last {word} >&2");
        let start = |word| spawner.spawn(&launch("sh", &["-c", &script(word)]), |_| true).unwrap();
        let [mut one, mut other] = ["one", "other"].map(start);
        for (process, last) in [(&mut other, "last other"), (&mut one, "last one")] {
            assert!(process.error_tail().is_empty());
            process.write(b"\n").unwrap();
            process.exit_within(Duration::from_secs(5)).unwrap();
            assert_eq!(process.error_tail().last().unwrap(), last);
            assert_eq!(process.error_tail()[0], "12");
        }
    }

    #[test]
    fn errors_are_kept_in_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("errors.txt");
        for word in ["one", "two"] {
            let (mut process, _chunks) = shell_with(&format!("echo {word} >&2"), |launch| {
                launch.stderr = Some(path.clone());
            });
            process.exit_within(Duration::from_secs(5)).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        let mut launch = launch("sh", &[]);
        launch.stderr = Some(dir.path().join("no/such/folder/errors.txt"));
        let error = Spawner::start().unwrap().spawn(&launch, |_| true).unwrap_err();
        assert!(error.is_environment && error.to_string().contains("no/such/folder"));
    }

    #[test]
    fn a_reader_that_never_reads_is_noticed() {
        let (mut process, _chunks) = shell("sleep 1000");
        let block = [b'x'; 8192];
        let error = (0..1000).find_map(|_| process.write(&block).err());
        assert!(matches!(error, Some(WriteError::Full)), "{error:?}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let launch = launch("/no/such/engine", &[]);
        let error = Spawner::start().unwrap().spawn(&launch, |_| true).unwrap_err();
        assert!(error.to_string().contains("/no/such/engine"), "{error}");
        assert!(!error.is_environment);
    }
}
