//! Termination of an engine: wait, SIGTERM, SIGKILL. Signals go to the process group. The leader is
//! reaped last, so that its process ID cannot belong to another process when the group is
//! signalled.

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, pidfd_open,
    waitid,
};

/// Time within which an engine should exit after `quit`. This time and [`TERM_GRACE`] add up to
/// less than 1 s, the time limit for terminating an engine.
pub const QUIT_GRACE: Duration = Duration::from_millis(600);

/// Time between SIGTERM and SIGKILL.
pub(crate) const TERM_GRACE: Duration = Duration::from_millis(200);

/// Interval between checks of a process if no pidfd can be opened.
const POLL: Duration = Duration::from_millis(5);

/// Waits at most `limit` for the exit of the process, without reaping the process. Returns whether
/// the process has exited.
pub(crate) fn wait_exit(child: &Child, limit: Duration) -> bool {
    let give_up = Instant::now() + limit;
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty());
    while !has_exited(child) {
        let left = give_up.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        // If no file descriptor is available for the pidfd, the process is checked at intervals.
        let is_polled = pidfd.as_ref().is_ok_and(|pidfd| {
            let timeout = Timespec::try_from(left).ok();
            poll(&mut [PollFd::new(pidfd, PollFlags::IN)], timeout.as_ref()).is_ok()
        });
        if !is_polled {
            std::thread::sleep(left.min(POLL));
        }
    }
    true
}

/// Returns whether the process has exited. A process that is no longer a child has been reaped.
pub(crate) fn has_exited(child: &Child) -> bool {
    // `NOWAIT` does not reap the process, so that its ID is not reused.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(Pid::from_child(child)), options) {
        Ok(status) => status.is_some(),
        Err(error) => error == Errno::CHILD,
    }
}

/// Signals every process of the group. Ignores failures, because a failure means that no process is
/// left.
pub(crate) fn signal(child: &Child, signal: Signal) {
    let _ = kill_process_group(Pid::from_child(child), signal);
}

/// Signals one process. Ignores failures, because a failure means that the process has already
/// ended.
pub(crate) fn signal_one(pid: i32, signal: Signal) {
    let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, signal));
}
