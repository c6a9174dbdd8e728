//! The socket of a running run: a file in its results folder that only its owner may use.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use arbiter_plan::run::control::Command;
use rustix::fs::{AtFlags, Mode};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use thiserror::Error;

/// Calls that may wait to be accepted.
const BACKLOG: i32 = 8;

/// Longest name of a run that becomes part of the file's name as it is: the system takes 108 bytes
/// for the whole path.
const MAX_PLAIN: usize = 64;

/// How long a run may take to answer.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// Why a run has not done what it was told.
#[derive(Debug, Error)]
pub enum Untold {
    /// No process plays it.
    #[error("run '{0}' in {1} is not being played")]
    Idle(String, String),
    /// It cannot be reached, does not answer, or refuses.
    #[error("{0}")]
    Refused(String),
}

/// Says a command to a run, whose name must be one, and waits for its answer for so long: a line in
/// words or JSON.
pub fn tell(
    results: &Path,
    run: &str,
    command: Command,
    json: bool,
    patience: Duration,
) -> Result<String, Untold> {
    let mut stream = connect(results, run).map_err(|error| {
        let place = results.display();
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
                Untold::Idle(run.to_owned(), place.to_string())
            }
            _ => Untold::Refused(format!("run '{run}' in {place} cannot be reached: {error}")),
        }
    })?;
    let fail =
        |error: std::io::Error| Untold::Refused(format!("run '{run}' does not answer: {error}"));
    stream.set_read_timeout(Some(patience)).map_err(fail)?;
    let form = if json { " json" } else { "" };
    stream.write_all(format!("{command}{form}\n").as_bytes()).map_err(fail)?;
    stream.shutdown(Shutdown::Write).map_err(fail)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(fail)?;
    match answer.split_once(": ") {
        Some(("ok", words)) => Ok(words.to_owned()),
        Some(("error", words)) => Err(Untold::Refused(words.trim_end().to_owned())),
        _ => Err(Untold::Refused(format!("run '{run}' ended before it answered"))),
    }
}

/// Connects to the run.
pub fn connect(results: &Path, run: &str) -> io::Result<UnixStream> {
    let folder = File::open(results)?;
    UnixStream::connect(path_in(&folder, run))
}

/// The socket that a run listens on. Its file goes when this goes.
#[derive(Debug)]
pub struct Socket {
    folder: File,
    name: String,
    /// Where calls come in.
    pub listener: UnixListener,
}

impl Socket {
    /// Makes the socket in place of one that a killed process left behind. Whoever holds the lock
    /// of the run may do that.
    pub fn bind(results: &Path, run: &str) -> io::Result<Socket> {
        let folder = File::open(results)?;
        let name = file_name(run);
        match rustix::fs::unlinkat(&folder, &name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
        let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        // Linux gives the file the mode of the socket, so that there is no moment at which others
        // may use it.
        rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(path_in(&folder, run))?)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(Socket { folder, name, listener: UnixListener::from(socket) })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // A file that stays behind does no harm.
        let _ = rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty());
    }
}

/// A path that is short however long that of the folder is.
fn path_in(folder: &File, run: &str) -> String {
    format!("/proc/self/fd/{}/{}", folder.as_raw_fd(), file_name(run))
}

fn file_name(run: &str) -> String {
    if run.len() <= MAX_PLAIN {
        return format!("{run}.ctl");
    }
    let hash = blake3::hash(run.as_bytes()).to_hex();
    format!("{}-{}.ctl", &run[..MAX_PLAIN / 2], &hash[..16])
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn long_names_and_folders_fit() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("x".repeat(200)).join("y".repeat(200));
        std::fs::create_dir_all(&deep).unwrap();
        let run = "r".repeat(200);
        let socket = Socket::bind(&deep, &run).unwrap();
        connect(&deep, &run).unwrap();
        assert!(connect(&deep, "other").is_err());
        let mode = std::fs::metadata(deep.join(file_name(&run))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(socket);
        assert_eq!(std::fs::read_dir(&deep).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let stale = Socket::bind(dir.path(), "run").unwrap();
        // A process that is killed cleans nothing up.
        let handle = stale.listener.try_clone().unwrap();
        std::mem::forget(stale);
        rustix::net::shutdown(&handle, rustix::net::Shutdown::Both).unwrap();
        let _socket = Socket::bind(dir.path(), "run").unwrap();
        connect(dir.path(), "run").unwrap();
    }
}
