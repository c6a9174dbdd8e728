//! Signals from outside as one stream of requests to end.

use std::fs;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Which signal asked for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM, or SIGHUP from a terminal that went away.
    Terminate,
}

/// Listens from its creation on; signals that arrive between two calls are not lost.
#[derive(Debug)]
pub struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
    /// A file at its size limit is an error of the write, not the end of the process.
    _file_size: Signal,
}

impl Signals {
    /// Starts to listen. A signal that we were started to ignore, as `nohup` does with SIGHUP and
    /// scripts with SIGINT for what they run in the background, stays ignored.
    pub fn listen() -> io::Result<Signals> {
        let ignored = ignored_signals();
        let listen = |kind: SignalKind| -> io::Result<Option<Signal>> {
            let bit = 1u64 << (kind.as_raw_value() - 1);
            if ignored & bit == 0 { signal(kind).map(Some) } else { Ok(None) }
        };
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
            _file_size: signal(SignalKind::from_raw(libc::SIGXFSZ))?,
        })
    }

    /// The next request.
    pub async fn next(&mut self) -> Request {
        tokio::select! {
            () = arrival(&mut self.interrupt) => Request::Interrupt,
            () = arrival(&mut self.terminate) => Request::Terminate,
            () = arrival(&mut self.hang_up) => Request::Terminate,
        }
    }
}

async fn arrival(signal: &mut Option<Signal>) {
    let arrived = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if arrived.is_none() {
        std::future::pending::<()>().await;
    }
}

/// The signals that this process ignores, bit n - 1 for signal n; none if the system does not say.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
