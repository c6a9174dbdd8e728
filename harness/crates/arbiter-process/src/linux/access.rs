//! The peers of a connection, connections and priorities.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::sockopt::{set_tcp_user_timeout, socket_peercred};
use rustix::process::{geteuid, setpriority_process};

/// Lowest priority of the system.
const LOWEST: i32 = 19;

/// Returns whether the process at the other end of a socket is of this process's user, or of root.
pub fn is_own_peer(stream: &UnixStream) -> io::Result<bool> {
    let user = socket_peercred(stream)?.uid;
    Ok(user == geteuid() || user.is_root())
}

/// Has the kernel end a TCP connection whose peer has not acknowledged sent data for the time
/// `after`.
pub fn end_if_stalled(connection: impl AsFd, after: Duration) -> io::Result<()> {
    Ok(set_tcp_user_timeout(connection, after.as_millis().try_into().unwrap_or(u32::MAX))?)
}

/// Gives this thread, and those that it starts from now on, the lowest priority, so that engines do
/// not notice them.
pub fn lower_priority() -> io::Result<()> {
    Ok(setpriority_process(None, LOWEST)?)
}
