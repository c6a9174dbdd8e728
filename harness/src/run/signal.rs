//! Signals from outside as one stream of requests to end.

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
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Starts to listen.
    pub fn listen() -> std::io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// The next request.
    pub async fn next(&mut self) -> Request {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Request::Interrupt,
            Some(()) = self.terminate.recv() => Request::Terminate,
            Some(()) = self.hang_up.recv() => Request::Terminate,
        }
    }
}
