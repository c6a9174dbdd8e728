//! Ending an engine: ask, insist, kill. The whole process group goes, and the leader is reaped
//! last, so that its number cannot belong to another process when the group is signalled.

use std::os::fd::AsFd;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// How long an engine may take to leave after `quit`. With [`TERM_GRACE`] it is less than a second,
/// within which whoever is told to leave is gone.
pub const QUIT_GRACE: Duration = Duration::from_millis(600);

/// Time between the request to terminate and the kill.
pub(super) const TERM_GRACE: Duration = Duration::from_millis(200);

/// Waits until the process has exited (without reaping it), at most `limit`.
pub(super) fn wait_exit(child: &Child, limit: Duration) -> bool {
    let Ok(pidfd) = pidfd_open(pid(child), PidfdFlags::empty()) else {
        // Only a process that is already gone cannot be opened by its parent.
        return true;
    };
    let timeout = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    let mut fds = [PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN)];
    loop {
        match poll(&mut fds, Some(&timeout)) {
            Ok(ready) => return ready > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Asks the group of `child` to leave: waits `grace` for it to do so by itself and as long as
/// `term_grace` after telling it to.
pub(super) fn ask_group(child: &Child, grace: Duration, term_grace: Duration) {
    if !wait_exit(child, grace) && !term_grace.is_zero() {
        signal(child, Signal::TERM);
        wait_exit(child, term_grace);
    }
}

/// Ends the group of `child` at once.
pub(super) fn kill_group(child: &mut Child) -> Option<ExitStatus> {
    signal(child, Signal::KILL);
    child.wait().ok()
}

/// Signals every process of the group. Failure means that none is left.
fn signal(child: &Child, signal: Signal) {
    let _ = kill_process_group(pid(child), signal);
}

pub(super) fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}
