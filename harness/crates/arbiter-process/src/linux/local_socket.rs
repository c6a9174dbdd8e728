//! Unix domain sockets for processes of one user on one machine.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Mode, fchmod};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::geteuid;

use super::access::is_own_peer;
use crate::files::remove_if_there;

/// Maximum number of connections that are waiting to be accepted.
const BACKLOG: i32 = 8;

/// Timeout of a connection attempt.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connection to a [`LocalSocket`].
pub type LocalStream = UnixStream;

/// Connects to the socket file `name` in a folder. Names of up to 64 bytes always fit into the
/// maximum path length of sockets. Fails if the folder or the socket is missing, if no process is
/// listening, or if the file is a link. Unless this process runs as root, also fails if the
/// listening process belongs neither to this process's user nor to root.
pub fn connect_local(folder: &Path, name: &str) -> io::Result<LocalStream> {
    let flags = libc::O_PATH | libc::O_NOFOLLOW;
    let file = File::options().read(true).custom_flags(flags).open(folder.join(name))?;
    let about = file.metadata()?;
    // In a folder of another person, a link could lead to any socket of this user.
    if about.is_symlink() || about.nlink() > 1 {
        return Err(io::Error::other(format!("{name} is a link")));
    }
    let socket = stream_socket()?;
    // Connecting blocks while the queue of the listener is full.
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    let stream = LocalStream::from(socket);
    if is_own_peer(&stream)? || geteuid().is_root() {
        Ok(stream)
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"))
    }
}

/// Listening socket to which only the owner of the socket file and root may connect. Dropping the
/// socket removes the file.
#[derive(Debug)]
pub struct LocalSocket {
    folder: File,
    name: String,
    /// Listener for connections.
    pub listener: UnixListener,
}

impl LocalSocket {
    /// Creates the socket file `name` in a folder, and replaces an existing file, which a killed
    /// process may have left behind. Fails if the folder is not writable.
    pub fn bind(folder: &Path, name: String) -> io::Result<LocalSocket> {
        let folder = File::open(folder)?;
        let path = path_in(&folder, &name);
        remove_if_there(Path::new(&path))?;
        let socket = stream_socket()?;
        // Linux gives the file the mode of the socket, so other users can never connect.
        fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(LocalSocket { folder, name, listener: UnixListener::from(socket) })
    }
}

impl Drop for LocalSocket {
    fn drop(&mut self) {
        // A remaining file is harmless, because the next `bind` replaces the file.
        let _ = fs::remove_file(path_in(&self.folder, &self.name));
    }
}

fn stream_socket() -> io::Result<OwnedFd> {
    let kind = SocketType::STREAM;
    Ok(rustix::net::socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?)
}

/// Returns a path to a file in the folder. The path is short even if the path of the folder is
/// long.
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
    fn links_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name| dir.path().join(name);
        let _socket = LocalSocket::bind(dir.path(), "run".to_owned()).unwrap();
        std::os::unix::fs::symlink(path("run"), path("soft")).unwrap();
        assert!(connect_local(dir.path(), "soft").unwrap_err().to_string().contains("is a link"));
        connect_local(dir.path(), "run").unwrap();
        fs::hard_link(path("run"), path("hard")).unwrap();
        assert!(connect_local(dir.path(), "hard").unwrap_err().to_string().contains("is a link"));
    }

    /// Runs `work` in a thread that acts as the user with the ID `user`.
    fn as_user<T: Send>(user: u32, work: impl FnOnce() -> T + Send) -> T {
        let user = rustix::process::Uid::from_raw(user);
        let work = move || {
            rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            work()
        };
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    #[test]
    fn sockets_of_other_users_are_refused() {
        if !geteuid().is_root() {
            // Only root can act as two users.
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let open = || fs::Permissions::from_mode(0o777);
        fs::set_permissions(dir.path(), open()).unwrap();
        let path = dir.path().join("run");
        let _listener = as_user(65533, || UnixListener::bind(&path).unwrap());
        fs::set_permissions(&path, open()).unwrap();
        let connect = || connect_local(dir.path(), "run").map_err(|error| error.kind());
        assert_eq!(as_user(65534, connect).unwrap_err(), io::ErrorKind::PermissionDenied);
        as_user(65533, connect).unwrap();
        connect().unwrap();
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
