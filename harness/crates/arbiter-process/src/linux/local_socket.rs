//! Sockets that are files, for processes of one machine and user.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::{Mode, fchmod};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// Number of connections that may wait to be accepted.
const BACKLOG: i32 = 8;

/// Connects to the socket that is the file `name` of a folder. Names of up to 64 bytes always fit
/// into the path length of the system. Fails as the system does if the folder or the socket is
/// missing, or nobody listens.
pub fn connect_local(folder: &Path, name: &str) -> io::Result<UnixStream> {
    let folder = File::open(folder)?;
    UnixStream::connect(path_in(&folder, name))
}

/// Socket to which only its owner may connect. Its file is removed when this is dropped.
#[derive(Debug)]
pub struct LocalSocket {
    folder: File,
    name: String,
    /// Listener for connections.
    pub listener: UnixListener,
}

impl LocalSocket {
    /// Creates the socket, as the file `name` of a folder, in place of one that a killed process
    /// left behind. Fails if the folder cannot be written.
    pub fn bind(folder: &Path, name: String) -> io::Result<LocalSocket> {
        let folder = File::open(folder)?;
        let path = path_in(&folder, &name);
        fs::remove_file(&path).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
        let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        // Linux gives the file the mode of the socket, so that there is no moment at which others
        // may use it.
        fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(LocalSocket { folder, name, listener: UnixListener::from(socket) })
    }
}

impl Drop for LocalSocket {
    fn drop(&mut self) {
        // A file that stays behind does no harm, because the next `bind` replaces it.
        let _ = fs::remove_file(path_in(&self.folder, &self.name));
    }
}

/// Returns a path that is short however long that of the folder is.
fn path_in(folder: &File, name: &str) -> String {
    format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_owner_calls_and_deep_folders_fit() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("x".repeat(200)).join("y".repeat(200));
        fs::create_dir_all(&deep).unwrap();
        let socket = LocalSocket::bind(&deep, "z".repeat(64)).unwrap();
        connect_local(&deep, &"z".repeat(64)).unwrap();
        assert!(connect_local(&deep, "other").is_err());
        let mode = fs::metadata(deep.join("z".repeat(64))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(socket);
        assert_eq!(fs::read_dir(&deep).unwrap().count(), 0);
    }

    #[test]
    fn a_stale_socket_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let stale = LocalSocket::bind(dir.path(), "run".to_owned()).unwrap();
        // A process that is killed cleans nothing up.
        let handle = stale.listener.try_clone().unwrap();
        std::mem::forget(stale);
        rustix::net::shutdown(&handle, rustix::net::Shutdown::Both).unwrap();
        let _socket = LocalSocket::bind(dir.path(), "run".to_owned()).unwrap();
        connect_local(dir.path(), "run").unwrap();
    }
}
