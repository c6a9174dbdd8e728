//! Stream of the signals that ask this process to stop.

use std::io;
use std::sync::Mutex;

use tokio::signal::unix::{Signal, SignalKind, signal};

use arbiter_process::{FILE_SIZE_SIGNAL, is_signal_ignored, lock};

/// Signal that asks the process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT, for example from Ctrl-C.
    Interrupt,
    /// SIGTERM, or SIGHUP from a closed terminal.
    Terminate,
}

/// Streams of the signals, in the order SIGINT, SIGTERM, SIGHUP, SIGXFSZ. Because SIGXFSZ is
/// handled, a write beyond the file size limit returns an error instead of ending the process.
type Streams = [Option<Signal>; 4];

/// Streams that no [`Signals`] uses at the moment. A command reads signals in several phases, such
/// as the check of the engines and the run, and a signal that arrives between two phases must not
/// be lost.
static IDLE: Mutex<Streams> = Mutex::new([const { None }; 4]);

/// Stream of stop signals. Signals that arrive between two calls, or after an earlier stream ended,
/// are not lost.
#[derive(Debug)]
pub struct Signals {
    streams: Streams,
}

impl Signals {
    /// Starts to listen for stop signals. Signals that were ignored at the start of this process
    /// stay ignored: `nohup` ignores SIGHUP, and scripts ignore SIGINT in background jobs. Fails if
    /// the system refuses a handler.
    pub fn listen() -> io::Result<Signals> {
        Signals::with(is_signal_ignored)
    }

    /// Starts to listen as [`Signals::listen`] does, but never ignores SIGINT and SIGTERM, not even
    /// if these signals were ignored at the start of this process. Fails if the system refuses a
    /// handler.
    pub fn listen_in_any_case() -> io::Result<Signals> {
        Signals::with(|signal| {
            signal == SignalKind::hangup().as_raw_value() && is_signal_ignored(signal)
        })
    }

    fn with(is_ignored: impl Fn(i32) -> bool) -> io::Result<Signals> {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
            SignalKind::from_raw(FILE_SIZE_SIGNAL),
        ];
        let mut streams = std::mem::take(&mut *lock(&IDLE));
        for (stream, kind) in streams.iter_mut().zip(kinds) {
            if is_ignored(kind.as_raw_value()) {
                *stream = None;
            } else if stream.is_none() {
                *stream = Some(signal(kind)?);
            }
        }
        Ok(Signals { streams })
    }

    /// Waits for the next stop signal.
    pub async fn next(&mut self) -> StopSignal {
        let [interrupt, terminate, hang_up, _] = &mut self.streams;
        tokio::select! {
            () = arrival(interrupt) => StopSignal::Interrupt,
            () = arrival(terminate) => StopSignal::Terminate,
            () = arrival(hang_up) => StopSignal::Terminate,
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        *lock(&IDLE) = std::mem::take(&mut self.streams);
    }
}

async fn arrival(signal: &mut Option<Signal>) {
    let arrived = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    // An ignored signal never arrives, so this branch of the `select!` must never complete.
    if arrived.is_none() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal, getpid, kill_process};

    #[test]
    fn a_signal_between_two_streams_is_not_lost() {
        let runtime =
            || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime().block_on(async { drop(Signals::listen().unwrap()) });
        kill_process(getpid(), Signal::TERM).unwrap();
        let next = async { Signals::listen().unwrap().next().await };
        assert_eq!(runtime().block_on(next), StopSignal::Terminate);
    }
}
