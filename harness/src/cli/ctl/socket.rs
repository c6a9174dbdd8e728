//! The socket of a running run: a file in its results folder that only its owner may use.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::{AtFlags, Mode};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// Calls that may wait to be accepted.
const BACKLOG: i32 = 8;

/// Longest name of a run that becomes part of the file's name as it is: the system takes 108 bytes
/// for the whole path.
const MAX_PLAIN: usize = 64;

/// Connects to the run.
pub(super) fn connect(results: &Path, run: &str) -> io::Result<UnixStream> {
    let folder = File::open(results)?;
    UnixStream::connect(path_in(&folder, run))
}

/// The socket that a run listens on. Its file goes when this goes.
#[derive(Debug)]
pub(super) struct Socket {
    folder: File,
    name: String,
    pub(super) listener: UnixListener,
}

impl Socket {
    /// Makes the socket in place of one that a killed process left behind. Whoever holds the lock
    /// of the run may do that.
    pub(super) fn bind(results: &Path, run: &str) -> io::Result<Socket> {
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

    /// The same socket once more, to wake who waits on it.
    pub(super) fn handle(&self) -> io::Result<OwnedFd> {
        Ok(self.listener.try_clone()?.into())
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
        let handle = stale.handle().unwrap();
        std::mem::forget(stale);
        rustix::net::shutdown(&handle, rustix::net::Shutdown::Both).unwrap();
        let _socket = Socket::bind(dir.path(), "run").unwrap();
        connect(dir.path(), "run").unwrap();
    }
}
