//! Detection of pauses in which this process did not run: it was stopped, or its machine slept.
//!
//! A thread that does nothing but wake up notices them. The clock that it reads runs on while the
//! machine is suspended, which the monotonic one does not. Waits for a processor are no pause.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::delay::run_delay;
use super::process_tree::this_thread;

/// Time between two beats.
const BEAT: Duration = Duration::from_millis(100);

/// Delay of a beat beyond which, without a reason, there was a pause.
const PAUSE: Duration = Duration::from_millis(300);

/// Pulse of this process, which ends with the last clone.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<Mutex<Beats>>);

#[derive(Debug)]
struct Beats {
    /// Time of the last beat, by the clock that never stops.
    last: Duration,
    /// Time that the thread had waited for a processor by then.
    waited: Duration,
    pauses: u64,
}

impl Pulse {
    /// Starts the thread, which calls `paused` with the length of each pause. Fails if the thread
    /// cannot be started.
    pub fn start(paused: impl Fn(Duration) + Send + 'static) -> io::Result<Pulse> {
        let beats = Beats { last: since_boot(), waited: Duration::ZERO, pauses: 0 };
        let beats = Arc::new(Mutex::new(beats));
        let theirs = Arc::downgrade(&beats);
        let (begun, has_begun) = mpsc::channel();
        std::thread::Builder::new().name("pulse".into()).spawn(move || {
            let thread = this_thread();
            if let Some(beats) = theirs.upgrade() {
                lock(&beats).beat(since_boot(), run_delay(thread));
            }
            drop(begun);
            while let Some(beats) = theirs.upgrade() {
                let pause = lock(&beats).beat(since_boot(), run_delay(thread));
                // The thread must not keep the pulse alive while it sleeps, or it would never end.
                drop(beats);
                pause.into_iter().for_each(&paused);
                std::thread::sleep(BEAT);
            }
        })?;
        // Nothing is ever sent: it closes when the first beat was.
        let _: Result<(), _> = has_begun.recv();
        Ok(Pulse(beats))
    }

    /// Returns the number of pauses so far; `None` while the next beat is so late that there may be
    /// one.
    pub fn pauses(&self) -> Option<u64> {
        lock(&self.0).pauses_at(since_boot())
    }
}

impl Beats {
    /// Records a beat at the time `now`. Returns the length of the pause before it, if there was
    /// one.
    fn beat(&mut self, now: Duration, waited: Duration) -> Option<Duration> {
        let gap = now.saturating_sub(self.last).saturating_sub(BEAT);
        // A busy machine delays the beat, too, but the kernel counts that as waiting for a
        // processor.
        let is_pause = gap.saturating_sub(waited.saturating_sub(self.waited)) > PAUSE;
        (self.last, self.waited) = (now, waited);
        self.pauses += u64::from(is_pause);
        is_pause.then_some(gap)
    }

    fn pauses_at(&self, now: Duration) -> Option<u64> {
        let is_late = now.saturating_sub(self.last) > BEAT + PAUSE;
        (!is_late).then_some(self.pauses)
    }
}

/// Returns the time since the machine was started, sleep included.
fn since_boot() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
}

fn lock(beats: &Mutex<Beats>) -> MutexGuard<'_, Beats> {
    // A panic under this lock cannot leave the beats half changed.
    beats.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    /// Records a beat `ago` after the last one, for `waited` of which its thread waited.
    fn beat(ago: u64, waited: u64) -> Option<u64> {
        let mut beats = Beats { last: ms(50_000), waited: ms(7), pauses: 0 };
        let now = ms(50_000 + ago);
        let pause = beats.beat(now, ms(7 + waited));
        assert_eq!(beats.pauses, u64::from(pause.is_some()));
        assert_eq!(beats.beat(now, ms(7 + waited)), None, "a pause is reported once");
        pause.map(|pause| pause.as_millis() as u64 / 1_000)
    }

    #[test]
    fn a_late_beat_without_a_reason_is_a_pause() {
        assert_eq!(beat(100, 0), None);
        assert_eq!(beat(3_200, 0), Some(3));
        assert_eq!(beat(3_200, 3_000), None, "the machine was busy");
        assert_eq!(beat(9_200, 3_000), Some(9));
    }

    /// Uses a machine that sleeps for an hour between two beats, which shows only in the clock
    /// since its start.
    #[test]
    fn a_machine_that_slept_has_paused_before_its_first_beat_and_after_it() {
        let mut beats = Beats { last: ms(1_000), waited: ms(7), pauses: 0 };
        let awake = ms(1_100 + 3_600_000);
        assert_eq!(beats.pauses_at(ms(1_100)), Some(0));
        assert_eq!(beats.pauses_at(awake), None, "nothing is known until the next beat");
        assert_eq!(beats.beat(awake, ms(7)), Some(ms(3_600_000)));
        assert_eq!(beats.pauses_at(awake), Some(1));
        assert_eq!(beats.beat(awake + BEAT, ms(7)), None);
    }

    #[test]
    fn the_clock_runs_on_while_the_machine_sleeps() {
        let awake = Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap();
        assert!(since_boot() >= awake);
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        let seconds: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
        assert!(
            (since_boot().as_secs_f64() - seconds).abs() < 5.0,
            "the kernel counts sleep: {uptime}"
        );
    }
}
