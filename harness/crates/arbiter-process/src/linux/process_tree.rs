//! Processes that an engine has started, including processes outside its process group.
//!
//! Arbiter is a child subreaper: an orphaned process becomes a child of Arbiter instead of init.
//! Arbiter can then find, recognize, kill and reap the process. The process is recognized by a mark
//! in its environment. A process that clears its environment *and* leaves its parent and group
//! cannot be recognized. In a sandbox with a PID namespace, even such a process ends with the
//! engine.
//!
//! Arbiter only waits for specific process IDs: waiting for any child could steal the exit status
//! of an engine from the thread that waits for the engine.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, waitpgid, waitpid};
use rustix::thread::gettid;

use super::stop;

/// Environment variable that marks an engine and its descendants.
const MARK: &str = "ARBITER_ENGINE_PROCESS";

/// Timeout for reaping killed processes. The grace times of `stop` and this timeout add up to one
/// second, the time limit for terminating an engine.
const REAP_TIMEOUT: Duration = Duration::from_millis(200);

/// Maximum number of searches for descendants; one search may miss a process that is being started.
const ROUNDS: u32 = 8;

/// Makes orphaned descendants children of this process. If the kernel refuses, orphans become
/// children of init as usual.
pub(crate) fn adopt_strays() {
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Returns the ID of this thread.
pub(crate) fn this_thread() -> i32 {
    gettid().as_raw_nonzero().get()
}

/// Processes of one engine: its process group, and processes that have left the group.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    /// Process ID of the engine: the child or, in a namespace, the process for which the child
    /// waits.
    pub(crate) engine: i32,
    /// Environment entry that marks the processes of the engine.
    mark: String,
}

impl ProcessTree {
    /// Starts an engine with a unique mark; `number` counts the engines of the calling thread.
    pub(crate) fn spawn(command: &mut Command, number: u64) -> io::Result<(Child, ProcessTree)> {
        let value = format!("{}-{}-{number}", std::process::id(), this_thread());
        let child = command.env(MARK, &value).spawn()?;
        let engine = program_of(Pid::from_child(&child).as_raw_nonzero().get());
        Ok((child, ProcessTree { engine, mark: format!("{MARK}={value}") }))
    }

    /// Terminates the engine, its process group and its processes outside the group: waits `grace`
    /// for the exit of the engine, sends SIGTERM, waits `term_grace`, and sends SIGKILL. If
    /// `term_grace` is zero, SIGTERM is not sent. Returns the exit status of the engine. Blocks.
    pub(crate) fn end(
        &self,
        child: &mut Child,
        grace: Duration,
        term_grace: Duration,
    ) -> Option<ExitStatus> {
        if !stop::wait_exit(child, grace) && !term_grace.is_zero() {
            stop::signal(child, Signal::TERM);
            stop::wait_exit(child, term_grace);
        }
        let leader = Pid::from_child(child);
        // Descendants are listed before the leader is killed, because they become orphans when the
        // leader ends.
        let mut doomed = descendants(leader.as_raw_nonzero().get());
        doomed.iter().for_each(|pid| stop::signal_one(*pid, Signal::KILL));
        stop::signal(child, Signal::KILL);
        let status = child.wait().ok();
        for _ in 0..ROUNDS {
            let strays = self.strays();
            strays.iter().for_each(|pid| stop::signal_one(*pid, Signal::KILL));
            let found = doomed.len();
            doomed.extend(strays);
            if doomed.len() == found {
                break;
            }
        }
        reap(leader, doomed);
        status
    }

    /// Returns the children of Arbiter that have the mark, and all descendants of these children.
    /// The engine must have ended.
    fn strays(&self) -> BTreeSet<i32> {
        let this = getpid().as_raw_nonzero().get();
        // The kernel makes orphans children of the first thread of a subreaper; the children of
        // other threads are running engines.
        let ours = children_of_thread(this, this);
        let orphans: Vec<i32> = ours.into_iter().filter(|pid| self.is_marked(*pid)).collect();
        let below = orphans.iter().flat_map(|pid| descendants(*pid)).collect::<Vec<_>>();
        orphans.into_iter().chain(below).collect()
    }

    fn is_marked(&self, pid: i32) -> bool {
        // If the process has ended or belongs to another user, its environment cannot be read, and
        // the process must not be killed.
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == self.mark.as_bytes())
    }
}

/// Returns the process ID of the program. In a namespace, the program is the second process;
/// without a namespace, the program is the child itself.
fn program_of(child: i32) -> i32 {
    let is_second = |pid: &i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.contains(&format!("\nNSpid:\t{pid}\t2\n"))
    };
    children_of_thread(child, child).into_iter().find(is_second).unwrap_or(child)
}

/// Reaps the killed processes that are children of Arbiter, for at most [`REAP_TIMEOUT`].
fn reap(group: Pid, mut doomed: BTreeSet<i32>) {
    let give_up = Instant::now() + REAP_TIMEOUT;
    loop {
        // The leader has been reaped, so only orphans can remain in its group.
        while let Ok(Some(_)) = waitpgid(group, WaitOptions::NOHANG) {}
        doomed.retain(|pid| {
            let pid = Pid::from_raw(*pid);
            // A process that is not a child of Arbiter has been reaped, or another process will
            // reap it.
            pid.is_some_and(|pid| matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)))
        });
        if doomed.is_empty() || Instant::now() > give_up {
            return;
        }
        // A killed process ends shortly after the call of `kill`, not during the call.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the process IDs of all descendants of `pid`.
pub(crate) fn descendants(pid: i32) -> BTreeSet<i32> {
    let mut found = BTreeSet::new();
    let mut open = vec![pid];
    while let Some(parent) = open.pop() {
        open.extend(children(parent).into_iter().filter(|child| found.insert(*child)));
    }
    found
}

/// Returns the process IDs of the children of all threads of a process; empty if the process has
/// ended.
fn children(pid: i32) -> Vec<i32> {
    threads(pid).flat_map(|thread| children_of_thread(pid, thread)).collect()
}

/// Returns the IDs of the threads of a process; empty if the process has ended.
pub(crate) fn threads(pid: i32) -> impl Iterator<Item = i32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok())
}

fn children_of_thread(pid: i32, thread: i32) -> Vec<i32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/children"));
    list.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
