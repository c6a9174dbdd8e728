//! Async runtime for engines, and functions that run work until a signal arrives.

use tokio::runtime::Runtime;

use crate::{exit_code::ExitCode, failure::Failure};
use arbiter_process::{Cancel, Completed, EndReason, Launch, Spawner, Timeouts, run_to_completion};
use arbiter_runner::Signals;

/// Number of threads of the async runtime. The runtime only forwards lines and makes decisions;
/// more threads would take CPU time from the engines.
const RUNTIME_THREADS: usize = 1;

/// Creates the async runtime for engines.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(RUNTIME_THREADS)
        .enable_all()
        .build()
        .map_err(Failure::environment)
}

/// Runs blocking work until it is done, or until a signal ends the work and all its processes.
pub(crate) fn interruptible<T: Send + 'static>(
    work: impl FnOnce(&Spawner, &Cancel) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let cancel = Cancel::default();
    let shared = cancel.clone();
    runtime()?.block_on(async {
        let mut signals = Signals::listen().map_err(Failure::environment)?;
        let spawner = Spawner::start().map_err(Failure::environment)?;
        let mut task = tokio::task::spawn_blocking(move || work(&spawner, &shared));
        let mut interruption: Option<Failure> = None;
        loop {
            tokio::select! {
                done = &mut task => {
                    let done = done.unwrap_or_else(|error| {
                        // The task is never aborted, so an error means that the task panicked.
                        std::panic::resume_unwind(error.into_panic())
                    });
                    let Some(interruption) = interruption else { return done };
                    return Err(match done {
                        Err(failure) => Failure { code: interruption.code, ..failure },
                        // The work may end before it notices the signal, but the command must end.
                        Ok(_) => interruption,
                    });
                }
                request = signals.next() => {
                    // The work is not dropped, because it has to end its processes, and the error
                    // of the work describes the progress.
                    cancel.set();
                    interruption = Some(Failure::interrupted(request, "before the command was done"));
                }
            }
        }
    })
}

/// Runs a program until it exits or its time limit expires; `interrupted` is the error message
/// after a signal.
pub(crate) fn run_program(
    launch: Launch,
    timeouts: Timeouts,
    interrupted: &'static str,
) -> Result<Completed, Failure> {
    interruptible(move |spawner, cancel| {
        let ended = run_to_completion(spawner, &launch, timeouts, cancel, |_| ());
        let ended = ended.map_err(Failure::environment)?;
        if ended.reason == EndReason::Cancelled {
            return Err(Failure::new(ExitCode::Interrupted, interrupted));
        }
        Ok(ended)
    })
}

/// Runs work until it is done or a signal arrives; `when` describes the progress of the command for
/// the error message.
pub(crate) async fn until_signal<T>(
    work: impl Future<Output = Result<T, Failure>>,
    when: &str,
) -> Result<T, Failure> {
    let mut signals = Signals::listen().map_err(Failure::environment)?;
    tokio::select! {
        done = work => done,
        request = signals.next() => Err(Failure::interrupted(request, when)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal, getpid, kill_process};

    #[test]
    fn work_that_does_not_notice_a_signal_is_interrupted() {
        let ended = interruptible(|_, cancel| {
            kill_process(getpid(), Signal::TERM).unwrap();
            while !cancel.is_set() {
                std::thread::yield_now();
            }
            Ok(())
        });
        assert_eq!(ended.unwrap_err().code, ExitCode::Terminated);
    }
}
