//! Ending an engine: ask, insist, kill. The whole process group goes, and the leader is reaped
//! last, so that its number cannot belong to another process when the group is signalled.

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

/// How long an engine may take to leave after `quit`. With [`TERM_GRACE`] it is less than a second,
/// within which whoever is told to leave is gone.
pub const QUIT_GRACE: Duration = Duration::from_millis(600);

/// Time between the request to terminate and the kill.
pub(crate) const TERM_GRACE: Duration = Duration::from_millis(200);

/// How often to look for the end of a process where the system has no descriptor to wait on.
const POLL: Duration = Duration::from_millis(5);

/// Waits until the process has exited (without reaping it), at most `limit`.
pub(crate) fn wait_exit(child: &Child, limit: Duration) -> bool {
    let give_up = Instant::now() + limit;
    let pidfd = pidfd_open(pid(child), PidfdFlags::empty());
    while !has_exited(child) {
        let left = give_up.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
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

/// Whether the process has exited. One that is no child any more was reaped.
pub(crate) fn has_exited(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(pid(child)), options) {
        Ok(status) => status.is_some(),
        Err(error) => error == Errno::CHILD,
    }
}

/// Signals every process of the group. Failure means that none is left.
pub(crate) fn signal(child: &Child, signal: Signal) {
    let _ = kill_process_group(pid(child), signal);
}

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}
