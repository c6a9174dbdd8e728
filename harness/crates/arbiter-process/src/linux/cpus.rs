//! Processors: availability, order by physical core, and pinning of threads.

use std::collections::BTreeSet;
use std::{fs, io};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::process_tree::{descendants, threads};

/// Returns the processors that this process may use, according to its affinity mask and control
/// group. One processor of each physical core comes first; processors that share a core with an
/// earlier processor follow.
pub fn allowed() -> Vec<usize> {
    // The call fails only for processes that have ended.
    let Ok(mask) = sched_getaffinity(None) else { return Vec::new() };
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| mask.is_set(*cpu));
    by_core(cpus, |cpu| {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        // If the system does not report cores, each processor counts as a core.
        fs::read_to_string(format!("{folder}/thread_siblings")).ok()
    })
}

/// Orders processors so that each core occurs once before any core occurs again. `core` returns the
/// core of a processor.
fn by_core<T: Ord>(
    cpus: impl Iterator<Item = usize>,
    core: impl Fn(usize) -> Option<T>,
) -> Vec<usize> {
    let mut remaining: Vec<usize> = cpus.collect();
    let mut order = Vec::new();
    while !remaining.is_empty() {
        let mut cores = BTreeSet::new();
        let (next, later) = remaining.into_iter().partition(|cpu| match core(*cpu) {
            Some(core) => cores.insert(core),
            None => true,
        });
        let next: Vec<usize> = next;
        order.extend(next);
        remaining = later;
    }
    order
}

/// Converts processor numbers to a CPU set.
pub(crate) fn set(cpus: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    cpus.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU).for_each(|cpu| set.set(*cpu));
    set
}

/// Pins this thread, and all threads that this thread starts later, to a processor.
pub(crate) fn move_here(cpu: usize) -> io::Result<()> {
    // A number that is too large leaves the set empty, and the system rejects an empty set.
    Ok(sched_setaffinity(None, &set(&[cpu]))?)
}

/// Pins all threads of a process and of its descendants to `cpus`. Failures are ignored, because a
/// thread may end before the thread is pinned.
pub(crate) fn move_to(leader: i32, cpus: &[usize]) {
    let set = set(cpus);
    for pid in descendants(leader).into_iter().chain([leader]) {
        for thread in threads(pid).filter_map(Pid::from_raw) {
            let _ = sched_setaffinity(Some(thread), &set);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_come_last() {
        // Most machines use the first numbering; in the second numbering, sibling processors have
        // consecutive numbers.
        assert_eq!(by_core(0..6, |cpu| Some(cpu % 3)), [0, 1, 2, 3, 4, 5]);
        assert_eq!(by_core(0..6, |cpu| Some(cpu / 2)), [0, 2, 4, 1, 3, 5]);
        assert_eq!(by_core([1, 2, 3, 5].into_iter(), |cpu| Some(cpu / 2)), [1, 2, 5, 3]);
        assert_eq!(by_core([4, 2].into_iter(), |_| None::<u8>), [4, 2]);
    }

    #[test]
    fn this_process_has_allowed_processors() {
        assert!(!allowed().is_empty());
    }
}
