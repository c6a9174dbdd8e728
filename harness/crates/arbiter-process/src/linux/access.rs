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

/// Gives the lowest priority to this thread and to all threads that this thread starts later, so
/// that these threads do not disturb engines.
pub fn lower_priority() -> io::Result<()> {
    Ok(setpriority_process(None, LOWEST)?)
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_connection_ends_if_its_peer_receives_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let client = TcpStream::connect(address).expect("the socket listens");
        let (mut server, _) = listener.accept().expect("the client has connected");
        end_if_stalled(&server, Duration::from_millis(300)).expect("the system has the timeout");
        // Without the timeout, the write would fail with `WouldBlock`.
        server.set_write_timeout(Some(Duration::from_secs(20))).expect("a duration above 0");
        let error = server.write_all(&vec![0; 1 << 26]).expect_err("the client does not read");
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
        drop(client);
    }
}
