//! The control socket of a run in progress: a file in its results folder that only its owner may
//! use.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use arbiter_plan::ControlCommand;
use arbiter_process::{LocalSocket, connect_local};
use thiserror::Error;

/// Maximum length of a run's name, in bytes, that becomes part of the file name unchanged: the
/// system allows 108 bytes for the whole path.
const MAX_PLAIN: usize = 64;

/// Maximum time for a run to answer a command.
pub const CONTROL_TIMEOUT: Duration = Duration::from_secs(10);

/// Reason that a run did not carry out a command.
#[derive(Debug, Error)]
pub enum ControlError {
    /// No process plays the run.
    #[error("run '{0}' in {1} is not being played")]
    Idle(String, String),
    /// The run cannot be reached, does not answer, or refuses.
    #[error("{0}")]
    Refused(String),
}

/// Sends a command to a run, whose name must be valid, and waits at most `patience` for its answer:
/// a line of text or JSON. Fails if the run is not being played, does not answer in time, or
/// refuses.
pub fn send_command(
    results: &Path,
    run: &str,
    command: ControlCommand,
    json: bool,
    patience: Duration,
) -> Result<String, ControlError> {
    let mut stream = connect_control_socket(results, run).map_err(|error| {
        let place = results.display();
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
                ControlError::Idle(run.to_owned(), place.to_string())
            }
            _ => {
                ControlError::Refused(format!("run '{run}' in {place} cannot be reached: {error}"))
            }
        }
    })?;
    let fail = |error: std::io::Error| {
        ControlError::Refused(format!("run '{run}' does not reply: {error}"))
    };
    stream.set_read_timeout(Some(patience)).map_err(fail)?;
    let form = if json { " json" } else { "" };
    stream.write_all(format!("{command}{form}\n").as_bytes()).map_err(fail)?;
    // The run reads the command to its end, so that it need not look for the end of a line.
    stream.shutdown(Shutdown::Write).map_err(fail)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(fail)?;
    match answer.split_once(": ") {
        Some(("ok", words)) => Ok(words.to_owned()),
        Some(("error", words)) => Err(ControlError::Refused(words.trim_end().to_owned())),
        _ => Err(ControlError::Refused(format!("run '{run}' ended before it replied"))),
    }
}

/// Connects to the socket of a run. Fails if no run listens there.
pub fn connect_control_socket(results: &Path, run: &str) -> io::Result<UnixStream> {
    connect_local(results, &file_name(run))
}

/// Creates the socket on which a run listens, in place of one that a killed process left behind.
/// The caller must hold the lock of the run. Fails if the folder cannot be written.
pub fn bind_control_socket(results: &Path, run: &str) -> io::Result<LocalSocket> {
    LocalSocket::bind(results, file_name(run))
}

fn file_name(run: &str) -> String {
    if run.len() <= MAX_PLAIN {
        return format!("{run}.ctl");
    }
    // The hash keeps apart long names that begin alike.
    let hash = blake3::hash(run.as_bytes()).to_hex();
    format!("{}-{}.ctl", &run[..MAX_PLAIN / 2], &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_fit() {
        let dir = tempfile::tempdir().unwrap();
        let run = "r".repeat(200);
        let _socket = bind_control_socket(dir.path(), &run).unwrap();
        connect_control_socket(dir.path(), &run).unwrap();
        assert!(connect_control_socket(dir.path(), &"r".repeat(199)).is_err());
    }
}
