//! Ends an engine: ask, insist, kill. The whole process group is signalled, and the leader is
//! reaped last, so that its number cannot belong to another process when the group is signalled.

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

/// Time that an engine has to exit after `quit`. With [`TERM_GRACE`] it is less than a second,
/// within which every engine is gone.
pub const QUIT_GRACE: Duration = Duration::from_millis(600);

/// Time between the request to terminate and the kill.
pub(crate) const TERM_GRACE: Duration = Duration::from_millis(200);

/// Interval of checks for the end of a process where the system has no descriptor to wait on.
const POLL: Duration = Duration::from_millis(5);

/// Waits at most `limit` until the process has exited, without reaping it. Returns whether it has.
pub(crate) fn wait_exit(child: &Child, limit: Duration) -> bool {
    let give_up = Instant::now() + limit;
    let pidfd = pidfd_open(pid(child), PidfdFlags::empty());
    while !has_exited(child) {
        let left = give_up.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        // There may be no descriptor left for the pidfd. The process is then looked for at
        // intervals.
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

/// Returns whether the process has exited. One that is no child any more was reaped.
pub(crate) fn has_exited(child: &Child) -> bool {
    // `NOWAIT` leaves the process uncollected, so that its number stays its own.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(pid(child)), options) {
        Ok(status) => status.is_some(),
        Err(error) => error == Errno::CHILD,
    }
}

/// Signals every process of the group. Ignores failures, which mean that none is left.
pub(crate) fn signal(child: &Child, signal: Signal) {
    let _ = kill_process_group(pid(child), signal);
}

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}
