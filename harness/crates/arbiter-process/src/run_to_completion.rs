//! Runs a program, such as a build command or a bench, to completion, with a time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::tail::Tail;
use super::{Chunk, Launch, SpawnError, Spawner, system::stop};

/// Interval between checks of the time limit and of [`Cancel`].
const POLL: Duration = Duration::from_millis(50);

/// Maximum number of output lines that are kept; older lines are dropped. [`Tail`] also limits the
/// total size of the lines.
const LINES: usize = 200_000;

/// Cancellation flag, shared by its clones.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Requests cancellation.
    pub fn set(&self) {
        // Relaxed ordering suffices, because no other data depends on the flag.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether cancellation was requested.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Time limits of a program.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// Maximum running time of the program.
    pub limit: Duration,
    /// Time within which the program should exit after SIGINT, which is sent at the limit or on
    /// cancellation. If the time is zero, SIGINT is not sent, and the program is terminated
    /// immediately.
    pub grace: Duration,
}

/// Reason why a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The program exited on its own.
    Exited,
    /// The program reached the time limit.
    TimedOut,
    /// Cancellation was requested.
    Cancelled,
}

/// Result of a program, after its process group has ended.
#[derive(Debug)]
pub struct Completed {
    /// Reason why the program ended.
    pub reason: EndReason,
    /// Exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// Description of the exit, such as "exit code 3".
    pub how: String,
    /// Last lines of standard output.
    pub lines: Vec<String>,
    /// Last lines of stderr.
    pub errors: Vec<String>,
    /// Time from the start to the end of the program.
    pub elapsed: Duration,
}

/// Runs a program without input until the program exits, reaches the time limit or is cancelled,
/// and then terminates the process group of the program. `read` gets each line of standard output
/// when the line arrives. Blocks. Fails only if the program cannot be started.
pub fn run_to_completion(
    spawner: &Spawner,
    launch: &Launch,
    timeouts: Timeouts,
    cancel: &Cancel,
    mut read: impl FnMut(&str) + Send + 'static,
) -> Result<Completed, SpawnError> {
    let output = Tail::new(LINES);
    let tail = output.clone();
    let start = Instant::now();
    let keep = move |chunk: Chunk| {
        chunk.lines.iter().for_each(|line| read(line));
        tail.take(chunk);
        true
    };
    let mut process = spawner.spawn(launch, keep)?;
    process.close_input();
    let mut reason = EndReason::Exited;
    let mut give_up = None;
    let status = loop {
        if process.has_exited_within(POLL) {
            break process.end(Duration::ZERO);
        }
        if reason == EndReason::Exited {
            match (cancel.is_set(), start.elapsed() > timeouts.limit) {
                (true, _) => reason = EndReason::Cancelled,
                (false, true) => reason = EndReason::TimedOut,
                (false, false) => continue,
            }
            give_up = Some(Instant::now() + timeouts.grace);
            if !timeouts.grace.is_zero() {
                process.signal(Signal::INT);
            }
        }
        if give_up.is_some_and(|at| Instant::now() >= at) {
            break process.end(stop::TERM_GRACE);
        }
    };
    // The running time is measured before the wait for the end of the output, because a child
    // process may keep the output open.
    let elapsed = start.elapsed();
    output.wait_end();
    Ok(Completed {
        reason,
        code: status.and_then(|status| status.code()),
        how: status.map_or_else(|| "ended".to_owned(), |status| process.describe(status)),
        lines: output.lines(),
        errors: process.error_tail(),
        elapsed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Timeouts = Timeouts { limit: Duration::from_secs(60), grace: Duration::ZERO };

    fn shell(script: &str, timeouts: Timeouts, cancel: &Cancel) -> Completed {
        let launch = Launch {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            ..Launch::default()
        };
        let spawner = Spawner::start().unwrap();
        run_to_completion(&spawner, &launch, timeouts, cancel, |_| ()).unwrap()
    }

    #[test]
    fn output_and_status_are_returned() {
        let ended = shell("cat; echo a; echo b; echo c >&2; exit 3", SOON, &Cancel::default());
        assert_eq!((ended.reason, ended.code), (EndReason::Exited, Some(3)));
        assert_eq!(ended.lines, ["a", "b"]);
        assert_eq!(ended.errors, ["c"]);
    }

    #[test]
    fn a_timeout_kills_the_process_and_its_children() {
        let soon = Timeouts { limit: Duration::from_secs(1), ..SOON };
        let ended = shell("sleep 1000 & echo $!; wait", soon, &Cancel::default());
        assert_eq!((ended.reason, ended.code), (EndReason::TimedOut, None));
        // A killed process needs a moment to disappear.
        let is_gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", ended.lines[0]));
            stat.map_or(true, |stat| stat.contains(") Z"))
        };
        let give_up = std::time::Instant::now() + Duration::from_secs(10);
        while !is_gone() {
            assert!(std::time::Instant::now() < give_up, "it lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn output_after_a_termination_request_is_read() {
        let cancel = Cancel::default();
        cancel.set();
        let timeouts = Timeouts { grace: Duration::from_secs(60), ..SOON };
        let script = "trap 'echo bye; exit 5' INT; while :; do sleep 0.01; done";
        // The signal may arrive before the trap is set; then the script ends without output.
        let ended = (0..20).map(|_| shell(script, timeouts, &cancel));
        let polite = ended.into_iter().find(|ended| ended.code == Some(5)).unwrap();
        assert_eq!((polite.reason, polite.lines), (EndReason::Cancelled, vec!["bye".to_owned()]));
        assert_eq!(shell("sleep 1000", SOON, &cancel).reason, EndReason::Cancelled);
    }
}
