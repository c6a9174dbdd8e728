//! Commands that a user configures. A command runs as a child process or replaces this process.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};

/// Environment variable with the token of `arbiter serve`.
pub const TOKEN_VARIABLE: &str = "ARBITER_TOKEN";

/// Beginnings of the names of environment variables with secrets that only Arbiter needs.
const SECRETS: [&str; 2] = [TOKEN_VARIABLE, "ARBITER_NATS_"];

/// Prevents a command from inheriting the environment variables with Arbiter's secrets.
pub fn remove_secrets(command: &mut Command) {
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_secret(name)) {
        command.env_remove(name);
    }
}

fn is_secret(name: &OsStr) -> bool {
    SECRETS.iter().any(|secret| name.as_encoded_bytes().starts_with(secret.as_bytes()))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognised_by_name() {
        let is_secret = |name: &str| super::is_secret(OsStr::new(name));
        assert!(
            ["ARBITER_TOKEN", "ARBITER_NATS_PASSWORD", "ARBITER_NATS_CREDS"].map(is_secret)
                == [true; 3]
        );
        assert!(["PATH", "ARBITER_ENGINE_PROCESS", "NATS_URL"].map(is_secret) == [false; 3]);
    }
}
