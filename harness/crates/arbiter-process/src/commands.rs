//! Commands that a user configures. A command runs as a child process or replaces this process.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};

/// Puts a command into a separate process group, so that Ctrl-C does not reach the command.
pub fn set_own_group(command: &mut Command) {
    command.process_group(0);
}

/// Sends SIGTERM to a child process. The child must not have been reaped, because the process ID of
/// a reaped child can belong to another process.
pub fn terminate(child: &Child) -> io::Result<()> {
    Ok(kill_process(Pid::from_child(child), Signal::TERM)?)
}

/// Replaces this process with a command. Returns only on failure, with the reason.
pub fn replace_process(command: &mut Command) -> io::Error {
    command.exec()
}
