//! Notices that this process did not run: it was stopped, or its machine slept.
//!
//! A thread that does nothing but wake up sees it. The clock that it reads runs on while the machine is
//! suspended, which the monotonic one does not. What it waited for a processor is no pause.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::delay::run_delay;
use super::process_tree::this_thread;

/// Time between two beats.
const BEAT: Duration = Duration::from_millis(100);

/// A beat that is later than this without a reason tells of a pause.
const PAUSE: Duration = Duration::from_millis(300);

/// A pulse of this process, which ends with the last clone.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<Mutex<Beats>>);

#[derive(Debug)]
struct Beats {
    /// Time of the last one, by the clock that never stops.
    last: Duration,
    /// Time that the thread had waited for a processor by then.
    waited: Duration,
    pauses: u64,
}

impl Pulse {
    /// Starts the thread, which tells `paused` of the length of each pause.
    pub fn start(paused: impl Fn(Duration) + Send + 'static) -> io::Result<Pulse> {
        let beats = Beats { last: since_boot(), waited: Duration::ZERO, pauses: 0 };
        let beats = Arc::new(Mutex::new(beats));
        let theirs = Arc::downgrade(&beats);
        let (begun, has_begun) = mpsc::channel();
        std::thread::Builder::new().name("pulse".into()).spawn(move || {
            let thread = this_thread();
            if let Some(beats) = theirs.upgrade() {
                lock(&beats).beat(run_delay(thread));
            }
            drop(begun);
            while let Some(beats) = theirs.upgrade() {
                let pause = lock(&beats).beat(run_delay(thread));
                drop(beats);
                pause.into_iter().for_each(&paused);
                std::thread::sleep(BEAT);
            }
        })?;
        // Nothing is ever sent: it closes when the first beat was.
        let _: Result<(), _> = has_begun.recv();
        Ok(Pulse(beats))
    }

    /// Number of pauses so far; `None` while the next beat is so late that it may tell of one.
    pub fn pauses(&self) -> Option<u64> {
        let beats = lock(&self.0);
        let is_late = since_boot().saturating_sub(beats.last) > BEAT + PAUSE;
        (!is_late).then_some(beats.pauses)
    }
}

impl Beats {
    /// One more beat; the length of the pause before it, if there was one.
    fn beat(&mut self, waited: Duration) -> Option<Duration> {
        let now = since_boot();
        let gap = now.saturating_sub(self.last).saturating_sub(BEAT);
        let is_pause = gap.saturating_sub(waited.saturating_sub(self.waited)) > PAUSE;
        (self.last, self.waited) = (now, waited);
        self.pauses += u64::from(is_pause);
        is_pause.then_some(gap)
    }
}

/// Time since the machine was started, in which it may have slept.
fn since_boot() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
}

fn lock(beats: &Mutex<Beats>) -> MutexGuard<'_, Beats> {
    // What it holds is never half changed.
    beats.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A beat `ago` after the last one, of which its thread waited for so long.
    fn beat(ago: u64, waited: u64) -> Option<u64> {
        let ms = Duration::from_millis;
        let last = since_boot().saturating_sub(ms(ago));
        let mut beats = Beats { last, waited: ms(7), pauses: 0 };
        let pause = beats.beat(ms(7 + waited));
        assert_eq!(beats.pauses, u64::from(pause.is_some()));
        assert_eq!(beats.beat(ms(7 + waited)), None, "a pause is reported once");
        pause.map(|pause| pause.as_millis() as u64 / 1_000)
    }

    #[test]
    fn a_late_beat_without_a_reason_is_a_pause() {
        assert_eq!(beat(100, 0), None);
        assert_eq!(beat(3_200, 0), Some(3));
        assert_eq!(beat(3_200, 3_000), None, "the machine was busy");
        assert_eq!(beat(9_200, 3_000), Some(9));
    }

    #[test]
    fn nothing_is_known_while_a_beat_is_late() {
        let beats = Beats { last: since_boot(), waited: Duration::ZERO, pauses: 2 };
        let pulse = Pulse(Arc::new(Mutex::new(beats)));
        assert_eq!(pulse.pauses(), Some(2));
        lock(&pulse.0).last = Duration::ZERO;
        assert_eq!(pulse.pauses(), None);
    }
}
