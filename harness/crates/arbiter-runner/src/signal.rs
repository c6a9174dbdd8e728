//! Stream of the signals that ask this process to stop.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use arbiter_process::{FILE_SIZE_SIGNAL, is_signal_ignored};

/// Signal that asks the process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT, for example from Ctrl-C.
    Interrupt,
    /// SIGTERM, or SIGHUP from a closed terminal.
    Terminate,
}

/// Stream of stop signals. Signals that arrive between two calls are not lost.
#[derive(Debug)]
pub struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
    /// Handler of SIGXFSZ, so that writing beyond the file size limit is an error and does not end
    /// the process.
    _file_size: Signal,
}

impl Signals {
    /// Starts to listen. Signals that were ignored at the start of this process stay ignored:
    /// `nohup` ignores SIGHUP, and scripts ignore SIGINT in background jobs. Fails if the system
    /// refuses a handler.
    pub fn listen() -> io::Result<Signals> {
        Signals::with(is_signal_ignored)
    }

    /// Starts to listen, to SIGINT and SIGTERM even if they were ignored at the start of this
    /// process. Fails if the system refuses a handler.
    pub fn listen_in_any_case() -> io::Result<Signals> {
        Signals::with(|signal| {
            signal == SignalKind::hangup().as_raw_value() && is_signal_ignored(signal)
        })
    }

    fn with(is_ignored: impl Fn(i32) -> bool) -> io::Result<Signals> {
        let listen = |kind: SignalKind| {
            if is_ignored(kind.as_raw_value()) { Ok(None) } else { signal(kind).map(Some) }
        };
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
            _file_size: signal(SignalKind::from_raw(FILE_SIZE_SIGNAL))?,
        })
    }

    /// Waits for the next stop signal.
    pub async fn next(&mut self) -> StopSignal {
        tokio::select! {
            () = arrival(&mut self.interrupt) => StopSignal::Interrupt,
            () = arrival(&mut self.terminate) => StopSignal::Terminate,
            () = arrival(&mut self.hang_up) => StopSignal::Terminate,
        }
    }
}

async fn arrival(signal: &mut Option<Signal>) {
    let arrived = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    // An ignored signal never arrives, so that the other branches of the `select!` decide.
    if arrived.is_none() {
        std::future::pending::<()>().await;
    }
}
