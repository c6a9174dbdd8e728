//! Control socket of a run in progress: a socket file in the results folder. Only the owner of the
//! file and root may connect.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::path::Path;
use std::time::{Duration, Instant};

use arbiter_process::{LocalSocket, LocalStream, connect_local};
use arbiter_run::ControlCommand;
use thiserror::Error;

/// Maximum length, in bytes, of a run name that is used unchanged in the file name. Longer names
/// are shortened, because the system limits the path of a socket to 108 bytes.
const MAX_PLAIN: usize = 64;

/// Maximum length, in bytes, of an answer.
const MAX_ANSWER: usize = 16 << 20;

/// Time within which a run must answer a command.
pub const CONTROL_TIMEOUT: Duration = Duration::from_secs(10);

/// Reason why a run did not carry out a command.
#[derive(Debug, Error)]
pub enum ControlError {
    /// No process is playing the run.
    #[error("run '{0}' in {1} is not being played")]
    Idle(String, String),
    /// The run is unreachable, does not answer, or refuses the command.
    #[error("{0}")]
    Refused(String),
}

/// Sends a command to a run and returns the answer: JSON if `json` is `true`, otherwise a line of
/// text. The name of the run must be valid. Fails if the run is not being played, does not answer
/// within `patience`, or refuses the command.
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
    let form = if json { " json" } else { "" };
    stream.write_all(format!("{command}{form}\n").as_bytes()).map_err(fail)?;
    // The end of the stream marks the end of the command.
    stream.shutdown(Shutdown::Write).map_err(fail)?;
    let answer = read_answer(stream, patience).map_err(fail)?;
    match answer.split_once(": ") {
        Some(("ok", words)) => Ok(words.to_owned()),
        Some(("error", words)) => Err(ControlError::Refused(words.trim_end().to_owned())),
        _ => Err(ControlError::Refused(format!("run '{run}' ended before it replied"))),
    }
}

/// Reads the whole answer of a run. Fails if the answer does not end within `patience` or is longer
/// than [`MAX_ANSWER`].
#[expect(clippy::disallowed_methods, reason = "a run that sends without end has to be cut off")]
fn read_answer(mut stream: LocalStream, patience: Duration) -> io::Result<String> {
    let end = Instant::now() + patience;
    let mut answer = Vec::new();
    let mut chunk = [0; 1 << 16];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk) {
            Ok(0) => return String::from_utf8(answer).map_err(io::Error::other),
            Ok(count) => answer.extend_from_slice(&chunk[..count]),
            // The next iteration checks the deadline and reads again.
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
        if answer.len() > MAX_ANSWER {
            return Err(io::Error::other("its answer is too long"));
        }
    }
}

/// Connects to the control socket of a run. Fails if no process is playing the run.
pub fn connect_control_socket(results: &Path, run: &str) -> io::Result<LocalStream> {
    connect_local(results, &file_name(run))
}

/// Creates the control socket of a run, and replaces the stale socket of a killed process. The
/// caller must hold the lock of the run. Fails if the folder is not writable.
pub fn bind_control_socket(results: &Path, run: &str) -> io::Result<LocalSocket> {
    LocalSocket::bind(results, file_name(run))
}

fn file_name(run: &str) -> String {
    if run.len() <= MAX_PLAIN {
        return format!("{run}.ctl");
    }
    // The hash distinguishes long names with the same beginning.
    let hash = blake3::hash(run.as_bytes()).to_hex();
    format!("{}-{}.ctl", &run[..MAX_PLAIN / 2], &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_answers_are_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let socket = bind_control_socket(dir.path(), "run").unwrap();
        // The first answer is too long; the second answer is too slow.
        std::thread::spawn(move || {
            for (size, pause) in [(1 << 20, 0), (1, 20)] {
                let (mut stream, _) = socket.listener.accept().unwrap();
                while stream.write_all(&vec![b'x'; size]).is_ok() {
                    std::thread::sleep(Duration::from_millis(pause));
                }
            }
        });
        for (seconds, expected) in [(60, "too long"), (1, "timed out")] {
            let patience = Duration::from_secs(seconds);
            let sent = send_command(dir.path(), "run", ControlCommand::Status, false, patience);
            let error = sent.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn sockets_work_with_long_run_names() {
        let dir = tempfile::tempdir().unwrap();
        let run = "r".repeat(200);
        let _socket = bind_control_socket(dir.path(), &run).unwrap();
        connect_control_socket(dir.path(), &run).unwrap();
        assert!(connect_control_socket(dir.path(), &"r".repeat(199)).is_err());
    }
}
