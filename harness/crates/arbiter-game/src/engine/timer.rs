//! Timer for deadlines that rarely expire.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::time::{Sleep, sleep_until};

/// Timer that wakes a task at a deadline. Setting a timer takes a lock of the runtime, and each
/// deadline of an engine is usually later than the previous deadline. Therefore, the timer is set
/// again only after expiry or for an earlier deadline.
#[derive(Debug)]
pub(super) struct Timer(Pin<Box<Sleep>>);

impl Timer {
    /// Creates a timer. The timer must be created and polled in a runtime whose timers are enabled.
    pub(super) fn new(now: Instant) -> Timer {
        Timer(Box::pin(sleep_until(now.into())))
    }

    /// Returns `Poll::Ready` once `due` has passed.
    pub(super) fn poll(&mut self, due: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.deadline() > due.into() {
            self.0.as_mut().reset(due.into());
        }
        ready!(self.0.as_mut().poll(cx));
        if Instant::now() < due {
            self.0.as_mut().reset(due.into());
            ready!(self.0.as_mut().poll(cx));
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn the_timer_expires_at_each_deadline_in_any_order() {
        let start = Instant::now();
        let mut timer = Timer::new(start);
        for ms in [10, 60_000, 20, 5, 30] {
            let due = start + Duration::from_millis(ms);
            let passed = poll_fn(|cx| match timer.poll(due, cx) {
                Poll::Pending if ms == 60_000 => Poll::Ready(false),
                polled => polled.map(|()| true),
            });
            assert_eq!(passed.await, ms < 60_000);
            assert_eq!(Instant::now() >= due, ms < 60_000);
        }
    }
}
