//! How long threads were ready to run and did not, because no processor was free.
//!
//! The kernel counts this *run delay* for each thread (`/proc/PID/task/TID/schedstat`, second
//! figure, nanoseconds), and the time that the host of a virtual machine took from all processors
//! together (`steal` in `/proc/stat`). Where it does not, as in kernels without `CONFIG_SCHED_INFO`,
//! nothing is known, and delays read as zero.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::kin::descendants;

/// What `/proc/stat` counts in: `USER_HZ` is 100 in every Linux ABI.
const TICK: Duration = Duration::from_millis(10);

/// Run delays up to one moment of what an engine's clock depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Delays {
    /// Of the engine's threads and of what it has started, in nanoseconds by the thread's number.
    engine: BTreeMap<i32, u64>,
    /// Of our thread that stamps what it says.
    reader: u64,
}

impl Delays {
    /// Those of the engine whose process is `leader` and of the thread `reader` of ours.
    pub(super) fn of(leader: i32, reader: i32) -> Delays {
        let mut delays = Delays::default();
        for pid in descendants(leader).into_iter().chain([leader]) {
            let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
            for thread in threads.flatten() {
                let number = thread.file_name().to_str().and_then(|name| name.parse().ok());
                if let (Some(number), Some(delay)) = (number, run_delay(&thread.path())) {
                    delays.engine.insert(number, delay);
                }
            }
        }
        let reader = PathBuf::from(format!("/proc/self/task/{reader}"));
        delays.reader = run_delay(&reader).unwrap_or(0);
        delays
    }

    /// Time lost since `earlier`: by the engine's thread that waited longest (of several threads,
    /// as many times more in all says nothing more about the clock) and by the reader. Threads
    /// that ended in between are not counted.
    pub fn since(&self, earlier: &Delays) -> Duration {
        let waited = self.engine.iter().map(|(thread, delay)| {
            let before = earlier.engine.get(thread).copied().unwrap_or(0);
            delay.saturating_sub(before)
        });
        let unread = self.reader.saturating_sub(earlier.reader);
        Duration::from_nanos(waited.max().unwrap_or(0).saturating_add(unread))
    }
}

/// Time that the host took from this machine so far, all its processors together.
pub fn stolen() -> Duration {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    TICK * stolen_ticks(&stat).unwrap_or(0)
}

/// The run delay of the thread that `/proc` shows at `path`; `None` if it has ended.
fn run_delay(path: &Path) -> Option<u64> {
    second_figure(&fs::read_to_string(path.join("schedstat")).ok()?)
}

fn second_figure(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

fn stolen_ticks(stat: &str) -> Option<u32> {
    let all = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user, nice, system, idle, iowait, irq, softirq, steal
    let ticks: u64 = all.split_whitespace().nth(7)?.parse().ok()?;
    Some(u32::try_from(ticks).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(engine: &[(i32, u64)], reader: u64) -> Delays {
        Delays { engine: engine.iter().copied().collect(), reader }
    }

    #[test]
    fn the_words_of_the_kernel_are_read() {
        assert_eq!(second_figure("123 4567 89\n"), Some(4567));
        assert_eq!(second_figure(""), None);
        let stat = "cpu  100 2 3 400 5 6 7 42 0 0\ncpu0 50 1 1 200 2 3 3 21 0 0\n";
        assert_eq!(stolen_ticks(stat), Some(42));
        assert_eq!(stolen_ticks("intr 1 2 3"), None);
    }

    #[test]
    fn what_was_added_counts_for_the_worst_thread_and_the_reader() {
        let before = delays(&[(1, 500), (2, 10)], 7);
        let after = delays(&[(1, 800), (3, 200)], 9);
        assert_eq!(after.since(&before), Duration::from_nanos(302));
        assert_eq!(before.since(&before), Duration::ZERO);
    }

    /// Many threads that spin cannot all have a processor of their own.
    #[test]
    fn threads_that_wait_for_a_processor_are_noticed() {
        let own = std::process::id() as i32;
        let stop = std::sync::atomic::AtomicBool::new(false);
        let is_over = || stop.load(std::sync::atomic::Ordering::Relaxed);
        let threads = 4 * std::thread::available_parallelism().map_or(1, Into::into);
        let waited = std::thread::scope(|scope| {
            let spin = || (0u64..).find(|_| is_over());
            (0..threads).for_each(|_| drop(scope.spawn(spin)));
            let before = Delays::of(own, own);
            let mut waited = Duration::ZERO;
            // Three in four wait at any time; a minute is for machines without mercy.
            for _ in 0..6000 {
                std::thread::sleep(Duration::from_millis(10));
                waited = Delays::of(own, own).since(&before);
                if waited > Duration::from_millis(50) {
                    break;
                }
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            waited
        });
        assert!(waited > Duration::from_millis(50), "{waited:?}");
    }
}
