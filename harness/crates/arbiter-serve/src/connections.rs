//! Limits on the number of connections, and on the time that a connection may stall.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use arbiter_process::{end_if_stalled, raise_open_files};

/// Maximum number of simultaneous connections, if the process may open twice as many files: each
/// connection uses a file descriptor, and the requests use additional descriptors.
const MAX_CONNECTIONS: usize = 256;

/// Maximum time from the start of a connection, or from the previous response, until the head of
/// the next request arrives. Without a limit, a client that opens many connections and sends
/// nothing would block all other clients.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);

/// Time after which the kernel closes a connection whose client does not acknowledge sent data
/// (`end_if_stalled`). Without this limit, a client that has disappeared would keep its connection.
const STALL_DEADLINE: Duration = Duration::from_secs(20);

/// Pause after `accept` has failed, usually for lack of file descriptors. Without the pause,
/// `accept` would fail again immediately, and the loop would keep a processor busy.
const SHORTAGE: Duration = Duration::from_millis(100);

/// Answers requests until the process ends. A live page may keep its connection forever. If the
/// number of connections has reached the limit, a new connection replaces an old connection, and
/// the browser of the old connection reconnects.
pub(super) async fn serve(listener: TcpListener, router: Router) -> ! {
    let descriptors = usize::try_from(raise_open_files()).unwrap_or(usize::MAX);
    // Only half of the file descriptors are for connections, because requests also open the store
    // and the sockets of runs.
    let most = (descriptors / 2).clamp(1, MAX_CONNECTIONS);
    let service = TowerToHyperService::new(router);
    let mut open: Vec<(IpAddr, AbortHandle)> = Vec::new();
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(SHORTAGE).await;
            continue;
        };
        open.retain(|(_, connection)| !connection.is_finished());
        if open.len() >= most {
            let (_, connection) = open.remove(to_close(&open));
            connection.abort();
        }
        // If the system lacks this timeout, a stalled connection still ends when a new connection
        // replaces the stalled connection.
        let _ = end_if_stalled(&stream, STALL_DEADLINE);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_DEADLINE)
            .serve_connection(TokioIo::new(stream), service.clone());
        open.push((network(peer.ip()), tokio::spawn(connection).abort_handle()));
    }
}

/// Returns the network that counts as one user: an IPv4 address, or the /64 network of an IPv6
/// address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        // An IPv6 user usually has a /64 network, and could use a new address for each connection.
        IpAddr::V6(ip) if !ip.is_loopback() => {
            Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into()
        }
        address => address,
    }
}

/// Returns the index of the connection to close when a new connection arrives: the oldest
/// connection of the network with the most connections. Connections from this machine are closed
/// only if there are no other connections. `open` begins with the oldest connection.
fn to_close<T>(open: &[(IpAddr, T)]) -> usize {
    let share = |network| open.iter().filter(|(other, _)| other == network).count();
    let by_right = |index: &usize| {
        let (network, _) = &open[*index];
        // Connections from this machine are closed last, so that a flood from other machines cannot
        // lock out the owner.
        (!network.is_loopback(), share(network), Reverse(*index))
    };
    (0..open.len()).max_by_key(by_right).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_client_loses_its_oldest_connection_first() {
        let check = |peers: &[&str], expected| {
            let network = |peer: &&str| (network(peer.parse().expect("an address")), ());
            let open: Vec<_> = peers.iter().map(network).collect();
            assert_eq!(to_close(&open), expected, "{peers:?}");
        };
        check(&["10.0.0.1", "10.0.0.2", "10.0.0.2"], 1);
        check(&["10.0.0.2", "10.0.0.1"], 0);
        check(&["127.0.0.1", "::1", "127.0.0.1", "10.0.0.2"], 3);
        check(&["10.0.0.2", "2001:db8::1", "2001:db8::2:0:0:2", "2001:db8:0:1::1"], 1);
        check(&["10.0.0.1", "::ffff:10.0.0.2", "10.0.0.2"], 1);
        check(&["127.0.0.1", "::1", "127.0.0.1"], 0);
    }
}
