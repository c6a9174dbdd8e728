//! Limits on the number of connections, and on the time that one may stall.

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

/// Most simultaneous connections, if this process may have twice as many files open. Each
/// connection takes a descriptor, and the requests on it need others.
const MAX_CONNECTIONS: usize = 256;

/// Time for the head of a request to arrive, from the start of the connection or the answer before
/// it. A client that opens many connections and sends nothing would otherwise keep all others out.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);

/// Time after which a connection is closed whose other end accepts none of the data sent. The
/// kernel ends such a connection (`end_if_stalled`).
const STALL_DEADLINE: Duration = Duration::from_secs(20);

/// Pause after the system has no descriptor for the next connection. `accept` would otherwise fail
/// again immediately, and the loop would use a whole processor.
const SHORTAGE: Duration = Duration::from_millis(100);

/// Answers requests until the process ends. A page that follows a run may do so for ever, but at
/// the limit a new connection replaces another; browsers reconnect.
pub(super) async fn serve(listener: TcpListener, router: Router) -> ! {
    let descriptors = usize::try_from(raise_open_files()).unwrap_or(usize::MAX);
    // Half of the descriptors, because requests open the store and sockets of runs as well.
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
        // If the system lacks this timeout, a stalled connection still ends when it has to make
        // room for another.
        let _ = end_if_stalled(&stream, STALL_DEADLINE);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_DEADLINE)
            .serve_connection(TokioIo::new(stream), service.clone());
        open.push((network(peer.ip()), tokio::spawn(connection).abort_handle()));
    }
}

/// Returns the network of one user: an address, or in IPv6 its /64 network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        // A user of IPv6 usually has a /64 network, and could take a new address for each
        // connection.
        IpAddr::V6(ip) if !ip.is_loopback() => {
            Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into()
        }
        address => address,
    }
}

/// Returns the index of the connection to close for a new one; `open` has the oldest first. It is
/// the oldest of the network with most connections, and one from this machine only if there is no
/// other.
fn to_close<T>(open: &[(IpAddr, T)]) -> usize {
    let share = |network| open.iter().filter(|(other, _)| other == network).count();
    let by_right = |index: &usize| {
        let (network, _) = &open[*index];
        // Connections of this machine go last, so that a flood from elsewhere cannot lock out the
        // owner.
        (!network.is_loopback(), share(network), Reverse(*index))
    };
    (0..open.len()).max_by_key(by_right).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicts_oldest_connection_of_largest_client_and_local_ones_last() {
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
