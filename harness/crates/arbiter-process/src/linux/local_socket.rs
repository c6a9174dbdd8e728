//! Unix domain sockets for processes of one user on one machine.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::{Mode, fchmod};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::files::remove_if_there;

/// Maximum number of connections that are waiting to be accepted.
const BACKLOG: i32 = 8;

/// Connection to a [`LocalSocket`].
pub type LocalStream = UnixStream;

/// Connects to the socket file `name` in a folder. Names of up to 64 bytes always fit into the
/// maximum path length of sockets. Fails if the folder or the socket is missing, or if no process
/// is listening.
pub fn connect_local(folder: &Path, name: &str) -> io::Result<LocalStream> {
    let folder = File::open(folder)?;
    LocalStream::connect(path_in(&folder, name))
}

/// Listening socket to which only its owner may connect. Dropping it removes the socket file.
#[derive(Debug)]
pub struct LocalSocket {
    folder: File,
    name: String,
    /// Listener for connections.
    pub listener: UnixListener,
}

impl LocalSocket {
    /// Creates the socket file `name` in a folder, and replaces the stale file of a killed process.
    /// Fails if the folder is not writable.
    pub fn bind(folder: &Path, name: String) -> io::Result<LocalSocket> {
        let folder = File::open(folder)?;
        let path = path_in(&folder, &name);
        remove_if_there(Path::new(&path))?;
        let family = AddressFamily::UNIX;
        let kind = SocketType::STREAM;
        let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        // Linux gives the file the mode of the socket, so other users can never connect.
        fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(LocalSocket { folder, name, listener: UnixListener::from(socket) })
    }
}

impl Drop for LocalSocket {
    fn drop(&mut self) {
        // A remaining file is harmless, because the next `bind` replaces it.
        let _ = fs::remove_file(path_in(&self.folder, &self.name));
    }
}

/// Returns a short path to a file in the folder, however long the path of the folder is.
fn path_in(folder: &File, name: &str) -> String {
    format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_owner_may_connect_and_long_paths_work() {
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
        // Forgetting the socket keeps its file, as when a process is killed.
        let handle = stale.listener.try_clone().unwrap();
        std::mem::forget(stale);
        rustix::net::shutdown(&handle, rustix::net::Shutdown::Both).unwrap();
        let _socket = LocalSocket::bind(dir.path(), "run".to_owned()).unwrap();
        connect_local(dir.path(), "run").unwrap();
    }
}
