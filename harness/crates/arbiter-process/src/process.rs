//! Running engine processes: input, output, stderr and termination.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::launch::{Launch, SpawnError, file_version, made_for};
use super::output_file::{Links, open_output};
use super::reader::{Chunk, read_lines};
use super::tail::Tail;
use super::writer::{WriteError, Writer};
use crate::system::delay::Delays;
use crate::system::error_output::ErrorReader;
use crate::system::process_tree::{self, ProcessTree};
use crate::system::sandbox::Home;
use crate::system::{cpus, host, limits, stop};

/// Stack size of a reader thread, in bytes. The `sink`, which may run a complete step of a game,
/// also uses this stack. Only the part in use takes memory.
const READER_STACK: usize = 1024 * 1024;

/// Maximum number of lines of an engine's stderr that are kept.
const ERROR_LINES: usize = 20;

/// Exit codes of a shell that could not run a program.
const SHELL_ERRORS: [i32; 3] = [2, 126, 127];

/// Function that receives the output of a process; if the function returns `false`, reading stops.
pub(super) type Sink = Box<dyn FnMut(Chunk) -> bool + Send>;

/// Running engine process and its process group. Dropping the value kills the group.
#[derive(Debug)]
pub struct Process {
    child: Child,
    program: PathBuf,
    input: Option<Writer>,
    errors: Tail,
    /// ID of the thread that reads the output; 0 until the thread is running.
    reader: Arc<AtomicI32>,
    /// Processes of the engine, including processes outside its process group.
    tree: ProcessTree,
    /// `true` after the leader has been reaped and its group has ended.
    reaped: bool,
    /// Temporary home folder of the process. The folder is removed when this value is dropped.
    _home: Option<Home>,
}

impl Process {
    pub(super) fn start(
        launch: &Launch,
        sink: Sink,
        errors: &ErrorReader,
        number: u64,
    ) -> Result<Process, SpawnError> {
        // The results of two programs must not be mixed in a run. A missing program has its own
        // error.
        let version = launch.version.as_ref().and_then(|_| file_version(&launch.program));
        if version.is_some() && version != launch.version {
            let program = launch.program.display();
            return Err(SpawnError::of_environment(format!(
                "'{program}' has changed since the run started; restore it, or start a new run"
            )));
        }
        // The file is opened first, so that no process has to be terminated if opening fails.
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
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let reader = Arc::default();
        let tail = Tail::new(ERROR_LINES);
        let mut process = Process {
            child,
            program: launch.program.clone(),
            input: None,
            errors: tail.clone(),
            reader,
            tree,
            reaped: false,
            _home,
        };
        if let (Some(stdin), Some(stdout), Some(stderr)) = streams {
            process.input = Some(Writer::new(stdin).map_err(fail)?);
            errors.add(number, stderr, log, tail).map_err(fail)?;
            reader_thread(stdout, sink, process.reader.clone()).map_err(fail)?;
        }
        Ok(process)
    }

    /// Writes bytes to the engine's input. Fails if the input is closed, or if the pipe is full
    /// because the engine does not read its input.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.input.as_mut().ok_or(WriteError::Closed)?.write(bytes)
    }

    /// Closes the input of the engine.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Returns the last lines of stderr, oldest first.
    pub fn error_tail(&self) -> Vec<String> {
        self.errors.lines()
    }

    /// Returns the resident memory of the process without its children, in bytes; `None` if the
    /// size is unknown.
    pub fn resident_bytes(&self) -> Option<u64> {
        host::resident_bytes(self.tree.engine)
    }

    /// Returns whether the process is stopped, for example by SIGSTOP.
    pub fn is_stopped(&self) -> bool {
        host::is_stopped(self.tree.engine)
    }

    /// Returns the times for which the engine's threads, and the thread that reads the engine's
    /// output, have waited for a processor so far.
    pub fn delays(&self) -> Delays {
        // Relaxed ordering suffices for the thread ID; 0, the value before the thread has stored
        // its ID, stands for no delay.
        Delays::of(self.tree.engine, self.reader.load(Ordering::Relaxed))
    }

    /// Pins the process and its descendants to `cpus`.
    pub fn move_to(&self, cpus: &[usize]) {
        cpus::move_to(Pid::from_child(&self.child).as_raw_nonzero().get(), cpus);
    }

    /// Waits at most `limit` for the exit of the process. After the exit, terminates the rest of
    /// the process group and returns a description of the exit, such as "exit code 3". Returns
    /// `None` if the process is still running. Blocks.
    pub fn exit_within(&mut self, limit: Duration) -> Option<String> {
        if !self.has_exited_within(limit) {
            return None;
        }
        self.end(Duration::ZERO).map(|status| self.describe(status))
    }

    /// Describes an exit status of the process.
    pub(super) fn describe(&self, status: ExitStatus) -> String {
        match (status.code(), status.signal()) {
            (Some(code), _) => {
                // If a program cannot be executed, some systems run the program with a shell, and
                // the shell fails with these codes.
                let other = made_for(&self.program).filter(|_| SHELL_ERRORS.contains(&code));
                let cause = other.map(|other| format!(": it is a program for {other}"));
                format!("exit code {code}{}", cause.unwrap_or_default())
            }
            (None, Some(libc::SIGILL)) => {
                "killed by signal 4, illegal instruction: is the program for this processor?"
                    .to_owned()
            }
            (None, Some(libc::SIGSYS)) => {
                "killed by signal 31, as 32-bit programs are in a sandbox; use --sandbox off"
                    .to_owned()
            }
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "ended".to_owned(),
        }
    }

    /// Returns whether the process has exited. Does not block.
    pub fn has_exited(&self) -> bool {
        self.reaped || stop::has_exited(&self.child)
    }

    /// Waits at most `limit` for the exit of the process. Returns whether the process has exited
    /// and has not been reaped yet. Blocks.
    pub(super) fn has_exited_within(&self, limit: Duration) -> bool {
        !self.reaped && stop::wait_exit(&self.child, limit)
    }

    /// Terminates the process group, with `term_grace` between SIGTERM and SIGKILL, and reaps the
    /// process. Blocks.
    pub(super) fn end(&mut self, term_grace: Duration) -> Option<ExitStatus> {
        let status = self.tree.end(&mut self.child, Duration::ZERO, term_grace);
        self.reaped = true;
        self.errors.wait_end();
        status
    }

    /// Sends a signal to the program only, not to its descendants.
    pub(super) fn signal(&self, signal: Signal) {
        stop::signal_one(self.tree.engine, signal);
    }

    /// Closes the input and terminates the process group: waits `grace` for the exit of the engine,
    /// then sends SIGTERM, and finally SIGKILL. Blocks.
    pub fn stop(mut self, grace: Duration) {
        self.input = None;
        self.tree.end(&mut self.child, grace, stop::TERM_GRACE);
        self.reaped = true;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After the leader has been reaped, its process ID may belong to another process.
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

/// Starts the thread that reads the output of a process. Each process has a blocking thread,
/// because the time stamps of an async task can be milliseconds late on a busy machine.
fn reader_thread(
    source: impl Read + Send + 'static,
    sink: Sink,
    number: Arc<AtomicI32>,
) -> io::Result<()> {
    let read = move || {
        // Relaxed ordering suffices: the thread ID is only used for measurements, in which 0 stands
        // for no delay.
        number.store(process_tree::this_thread(), Ordering::Relaxed);
        read_lines(source, sink);
    };
    let thread = std::thread::Builder::new().name("engine reader".into()).stack_size(READER_STACK);
    thread.spawn(read).map(drop)
}

#[cfg(test)]
mod tests;
