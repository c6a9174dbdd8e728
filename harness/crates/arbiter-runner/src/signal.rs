//! The signals that ask a process to stop, as one stream.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use arbiter_process::{FILE_SIZE_SIGNAL, is_signal_ignored};

/// A signal that asks the process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM, or SIGHUP from a terminal that went away.
    Terminate,
}

/// Stream of signals from its creation on; signals between two calls are not lost.
#[derive(Debug)]
pub struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
    /// SIGXFSZ, so that a file at its size limit is an error of the write, not the end of the
    /// process.
    _file_size: Signal,
}

impl Signals {
    /// Starts to listen. A signal that this process was started to ignore, as by `nohup` SIGHUP and
    /// by scripts SIGINT for background jobs, stays ignored. Fails if the system refuses a handler.
    pub fn listen() -> io::Result<Signals> {
        Signals::with(is_signal_ignored)
    }

    /// Starts to listen; SIGINT and SIGTERM are handled even if they were ignored before.
    /// Fails if the system refuses a handler.
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

    /// Waits for the next signal to stop.
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
    // A signal that is ignored never arrives, and the other branches of the `select!` continue to
    // wait.
    if arrived.is_none() {
        std::future::pending::<()>().await;
    }
}
