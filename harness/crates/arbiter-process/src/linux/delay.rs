//! Time during which threads were ready to run but did not run, because no processor was free.
//!
//! The kernel counts this *run delay* and the running time of each thread
//! (`/proc/PID/task/TID/schedstat`, in nanoseconds), and the steal time of a virtual machine,
//! summed over all processors (`steal` in `/proc/stat`). Kernels without `CONFIG_SCHED_INFO` do not
//! count run delays; all delays are then zero.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use super::machine::CpuTimes;
use super::process_tree::{descendants, threads};

/// Unit of `/proc/stat`: `USER_HZ` is 100 in every Linux ABI.
const TICK: Duration = Duration::from_millis(10);

/// A thread counts as waiting for input if it ran for less than 1/`IDLE` of the running time of the
/// engine's busiest thread.
const IDLE: u64 = 10;

/// An engine has pondered if its busiest thread ran for more than 1 + 1/`PONDERED` times the clock
/// time that the engine used.
const PONDERED: u32 = 4;

/// Run delays, at one moment, of the threads on which an engine's clock depends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Delays {
    /// Times of the threads of the engine and its descendants, by thread ID.
    engine: BTreeMap<i32, Times>,
    /// Times of Arbiter's reader thread for the engine's output.
    reader: Times,
}

/// Kernel counters of a thread, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Times {
    ran: u64,
    waited: u64,
}

impl Times {
    fn since(self, earlier: Times) -> Times {
        Times {
            ran: self.ran.saturating_sub(earlier.ran),
            waited: self.waited.saturating_sub(earlier.waited),
        }
    }
}

impl Delays {
    /// Reads the delays of the engine with the process `leader`, and of Arbiter's thread `reader`.
    pub(crate) fn of(leader: i32, reader: i32) -> Delays {
        let mut delays = Delays::default();
        for pid in descendants(leader).into_iter().chain([leader]) {
            let times = |thread| Some((thread, times(pid, thread)?));
            delays.engine.extend(threads(pid).filter_map(times));
        }
        // A reader thread that has ended no longer waits for a processor.
        delays.reader = times(std::process::id() as i32, reader).unwrap_or_default();
        delays
    }

    /// Returns the clock time that the engine lost since `earlier` because the engine or the reader
    /// thread waited for a processor. `thought` is the clock time that the engine used since
    /// `earlier`.
    ///
    /// Only the engine thread that lost the most time counts, because the sum over parallel threads
    /// could exceed the clock time. Threads that ended after `earlier` do not count.
    ///
    /// Some waits cost no clock time: an engine may wait for a processor after its move, while its
    /// opponent runs, and the reader thread may be late for an unimportant line. The loss of a
    /// thread is therefore limited to the part of `thought` in which the thread did not run. This
    /// limit is meaningless for a thread that waits for input, so the reader's delay is not added
    /// for such a thread. If the engine pondered, the engine also ran while its clock was stopped,
    /// and the running times do not show which threads waited for input. The reader's delay is then
    /// added for every thread.
    pub fn since(&self, earlier: &Delays, thought: Duration) -> Duration {
        let unread = self.reader.since(earlier.reader).waited;
        let spent = self.engine.iter().map(|(thread, times)| {
            times.since(earlier.engine.get(thread).copied().unwrap_or_default())
        });
        let most = spent.clone().map(|spent| spent.ran).max().unwrap_or(0);
        let pondered = Duration::from_nanos(most) > thought.saturating_add(thought / PONDERED);
        let lost = spent.map(|spent| {
            let waits_for_input = spent.ran < most / IDLE && !pondered;
            let unread = if waits_for_input { 0 } else { unread };
            let not_run = thought.saturating_sub(Duration::from_nanos(spent.ran));
            Duration::from_nanos(spent.waited.saturating_add(unread)).min(not_run)
        });
        lost.max().unwrap_or_else(|| Duration::from_nanos(unread).min(thought))
    }
}

/// Returns the steal time since boot, summed over all processors; zero if the machine is not
/// virtual.
pub fn stolen() -> Duration {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = CpuTimes::read(&stat).unwrap_or_default().stolen;
    TICK * u32::try_from(ticks).unwrap_or(u32::MAX)
}

/// Returns the time that a thread of this process has waited for a processor so far.
pub(crate) fn run_delay(thread: i32) -> Duration {
    let times = times(std::process::id() as i32, thread).unwrap_or_default();
    Duration::from_nanos(times.waited)
}

/// Returns the kernel counters of a thread; `None` if the thread has ended.
fn times(pid: i32, thread: i32) -> Option<Times> {
    first_figures(&fs::read_to_string(format!("/proc/{pid}/task/{thread}/schedstat")).ok()?)
}

fn first_figures(schedstat: &str) -> Option<Times> {
    let mut figures = schedstat.split_whitespace().map(str::parse);
    Some(Times { ran: figures.next()?.ok()?, waited: figures.next()?.ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(engine: &[(i32, u64, u64)], reader: u64) -> Delays {
        let times = |&(thread, ran, waited): &(i32, u64, u64)| (thread, Times { ran, waited });
        let reader = Times { ran: 0, waited: reader };
        Delays { engine: engine.iter().map(times).collect(), reader }
    }

    #[test]
    fn kernel_scheduling_figures_are_parsed() {
        assert_eq!(first_figures("123 4567 89\n"), Some(Times { ran: 123, waited: 4567 }));
        assert_eq!(first_figures(""), None);
    }

    #[test]
    fn added_delay_counts_for_the_worst_thread_and_the_reader() {
        let before = delays(&[(1, 0, 500), (2, 0, 10)], 7);
        let after = delays(&[(1, 0, 800), (3, 0, 200)], 9);
        let second = Duration::from_secs(1);
        assert_eq!(after.since(&before, second), Duration::from_nanos(302));
        assert_eq!(before.since(&before, second), Duration::ZERO);
    }

    #[test]
    fn a_thread_that_ran_the_whole_time_has_no_delay() {
        let before = delays(&[(1, 1_000, 500)], 7);
        let after = delays(&[(1, 9_000, 7_500)], 507);
        let lost = |thought| after.since(&before, Duration::from_nanos(thought)).as_nanos();
        assert_eq!(lost(8_000), 0);
        assert_eq!(lost(9_000), 1_000);
        assert_eq!(lost(90_000), 7_500);
    }

    #[test]
    fn a_late_reader_counts_for_threads_that_search() {
        let before = delays(&[(1, 0, 0), (2, 0, 0)], 0);
        let lost = |first_ran, second_ran| {
            let after = delays(&[(1, first_ran, 20), (2, second_ran, 30)], 5_000);
            after.since(&before, Duration::from_nanos(9_000)).as_nanos()
        };
        assert_eq!(lost(10, 8_900), 100, "one waits for input, one has hardly lost anything");
        assert_eq!(lost(10, 2_000), 5_030);
        assert_eq!(lost(8_000, 9_000), 1_000, "one of two that search");
        assert_eq!(lost(10, 20_000), 5_020, "what it ran while it pondered is not known");
        assert_eq!(lost(10, 9_100), 20, "it tidied up");
    }

    /// Starts more busy threads than there are processors.
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
            // At any moment, three of four threads wait; a minute suffices even on a slow machine.
            for _ in 0..6000 {
                std::thread::sleep(Duration::from_millis(10));
                waited = Delays::of(own, own).since(&before, Duration::MAX);
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
