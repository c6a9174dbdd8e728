//! Detection of pauses, during which this process was stopped or the machine was suspended.
//!
//! A thread that wakes up at regular intervals detects pauses. The thread reads the boot-time
//! clock, which, unlike the monotonic clock, continues while the machine is suspended. Time spent
//! waiting for a processor does not count as a pause.

use std::io;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::delay::run_delay;
use super::process_tree::this_thread;
use crate::lock;

/// Time between two beats. The thread wakes up at each beat.
const BEAT: Duration = Duration::from_millis(100);

/// Threshold above which the delay of a beat counts as a pause. The delay does not include time
/// spent waiting for a processor.
const PAUSE: Duration = Duration::from_millis(300);

/// Pause detector of this process. Dropping the last clone stops the thread of the detector.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<Mutex<Beats>>);

#[derive(Debug)]
struct Beats {
    /// Time of the last beat, by the boot-time clock.
    last: Duration,
    /// Time that the thread had waited for a processor up to the last beat.
    waited: Duration,
    pauses: u64,
}

impl Pulse {
    /// Starts the thread, which calls `paused` with the duration of each pause. Fails if the thread
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
                // The reference is dropped before the sleep; otherwise the thread would keep the
                // pulse alive and would never end.
                drop(beats);
                pause.into_iter().for_each(&paused);
                std::thread::sleep(BEAT);
            }
        })?;
        // Nothing is ever sent: `recv` returns when the thread drops the sender after the first
        // beat.
        let _: Result<(), _> = has_begun.recv();
        Ok(Pulse(beats))
    }

    /// Returns the number of pauses so far; `None` if the next beat is so late that a pause may be
    /// in progress.
    pub fn pauses(&self) -> Option<u64> {
        lock(&self.0).pauses_at(since_boot())
    }
}

impl Beats {
    /// Records a beat at the time `now` and returns the duration of the preceding pause, if any.
    fn beat(&mut self, now: Duration, waited: Duration) -> Option<Duration> {
        let gap = now.saturating_sub(self.last).saturating_sub(BEAT);
        // A busy machine also delays the beat, but the kernel counts this delay as waiting for a
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

/// Returns the time since the machine was booted, including time in suspension.
fn since_boot() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    /// Records a beat `ago` milliseconds after the last beat. In this time, the thread waited for a
    /// processor for `waited` milliseconds. Returns the duration of the pause, in seconds.
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

    /// Simulates a machine that is suspended for an hour between two beats, as seen by the
    /// boot-time clock.
    #[test]
    fn the_number_of_pauses_is_unknown_during_a_suspension() {
        let mut beats = Beats { last: ms(1_000), waited: ms(7), pauses: 0 };
        let awake = ms(1_100 + 3_600_000);
        assert_eq!(beats.pauses_at(ms(1_100)), Some(0));
        assert_eq!(beats.pauses_at(awake), None, "nothing is known until the next beat");
        assert_eq!(beats.beat(awake, ms(7)), Some(ms(3_600_000)));
        assert_eq!(beats.pauses_at(awake), Some(1));
        assert_eq!(beats.beat(awake + BEAT, ms(7)), None);
    }

    #[test]
    fn the_clock_includes_suspension() {
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
