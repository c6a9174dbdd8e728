//! Access checks and timeouts of connections, and the priority of threads.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::sockopt::{set_tcp_user_timeout, socket_peercred};
use rustix::process::{geteuid, setpriority_process};

/// Lowest scheduling priority (nice value).
const LOWEST: i32 = 19;

/// Returns whether the process at the other end of a socket belongs to this process's user or root.
pub fn is_own_peer(stream: &UnixStream) -> io::Result<bool> {
    let user = socket_peercred(stream)?.uid;
    Ok(user == geteuid() || user.is_root())
}

/// Makes the kernel close a TCP connection if the peer does not acknowledge sent data for `after`.
pub fn end_if_stalled(connection: impl AsFd, after: Duration) -> io::Result<()> {
    Ok(set_tcp_user_timeout(connection, after.as_millis().try_into().unwrap_or(u32::MAX))?)
}

/// Gives the lowest priority to this thread and to all threads that it starts later, so that these
/// threads do not disturb engines.
pub fn lower_priority() -> io::Result<()> {
    Ok(setpriority_process(None, LOWEST)?)
}
