//! Polling of a game's future in the reader thread of an engine.
//!
//! Without a relay, an engine's answer would wake its reader thread, which would wake a thread of
//! the runtime. These two context switches are most of the cost of a ply. A relayed future is
//! polled by the thread that read the answer. Other wake-ups, such as timers, wake the task that
//! awaits the future, as usual.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};

use arbiter_process::lock;
use tokio::runtime::Handle;

/// State of a reader thread that hands an engine's output over.
#[derive(Default)]
pub(super) struct ReaderHandoff(Mutex<HandoffState>);

#[derive(Default)]
struct HandoffState {
    /// Thread that is handing output over.
    from: Option<ThreadId>,
    /// Game that the hand-over has woken.
    woken: Option<Arc<dyn Resume>>,
}

impl ReaderHandoff {
    /// Calls `send` and then polls the game that `send` has woken.
    pub(super) fn hand_over<T>(&self, send: impl FnOnce() -> T) -> T {
        // The thread is stored before `send`, because the wake-up happens within `send`.
        lock(&self.0).from = Some(thread::current().id());
        let sent = send();
        // The game is polled only after `send`, because the game may need a lock that `send` holds.
        let woken = std::mem::take(&mut *lock(&self.0)).woken;
        if let Some(woken) = woken {
            woken.resume();
        }
        sent
    }

    /// Returns whether the current thread is handing output over. If so, the thread polls `woken`
    /// afterwards.
    fn takes(&self, woken: Arc<dyn Resume>) -> bool {
        let mut state = lock(&self.0);
        let is_here = state.from == Some(thread::current().id());
        if is_here {
            state.woken = Some(woken);
        }
        is_here
    }
}

impl fmt::Debug for ReaderHandoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReaderHandoff")
    }
}

/// Future that any thread can resume.
trait Resume: Send + Sync {
    fn resume(self: Arc<Self>);
}

/// State while no thread polls.
const IDLE: u8 = 0;
/// State while a thread polls.
const POLLED: u8 = 1;
/// State while a thread polls and must poll once more.
const POLLED_AND_WOKEN: u8 = 2;

/// Future shared by the threads that may poll it.
struct Relay<T> {
    future: Mutex<Option<Pin<Box<dyn Future<Output = T> + Send>>>>,
    state: AtomicU8,
    /// Output of the future, until the awaiting task takes it.
    output: Mutex<Option<thread::Result<T>>>,
    /// Task that waits for the output.
    awaiting: Mutex<Option<Waker>>,
    /// Hand-over states of the game's engines.
    handoffs: Vec<Arc<ReaderHandoff>>,
    runtime: Handle,
}

impl<T: Send + 'static> Relay<T> {
    /// Polls the future. If another thread is already polling the future, makes that thread poll
    /// again.
    fn poll_here(self: &Arc<Self>) {
        // The state is a lock for which no thread waits. With acquire ordering, this thread sees
        // the changes that the last thread made to the future. With release ordering, the polling
        // thread sees the wake-up.
        let entered = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
            Some(if state == IDLE { POLLED } else { POLLED_AND_WOKEN })
        });
        if entered != Ok(IDLE) {
            return;
        }
        loop {
            // The wake-up mark is cleared before the poll: the poll below serves earlier wake-ups,
            // and a later wake-up makes the exchange fail, so the loop polls once more.
            self.state.store(POLLED, Ordering::Release);
            self.poll_once();
            let released =
                self.state.compare_exchange(POLLED, IDLE, Ordering::AcqRel, Ordering::Acquire);
            if released.is_ok() {
                return;
            }
        }
    }

    fn poll_once(self: &Arc<Self>) {
        let mut future = lock(&self.future);
        let Some(pinned) = future.as_mut() else { return };
        let waker = Waker::from(self.clone());
        // A panic must not end the reader thread of the engine. Instead, the panic is passed to the
        // task that awaits the game, and no thread polls this future again.
        let polled = catch_unwind(AssertUnwindSafe(|| {
            pinned.as_mut().poll(&mut Context::from_waker(&waker))
        }));
        let output = match polled {
            Ok(Poll::Pending) => return,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(panic),
        };
        // The future is dropped after the lock is released, because dropping may terminate engines,
        // which takes time.
        let finished = future.take();
        drop(future);
        drop(finished);
        // The output is stored before the task is woken, because the task takes the output
        // immediately.
        *lock(&self.output) = Some(output);
        self.wake_awaiting();
    }

    fn wake_awaiting(&self) {
        if let Some(waker) = lock(&self.awaiting).take() {
            waker.wake();
        }
    }
}

impl<T: Send + 'static> Resume for Relay<T> {
    fn resume(self: Arc<Self>) {
        // The game sets timers, which need the context of the runtime, and the reader thread does
        // not belong to the runtime.
        let _runtime = self.runtime.enter();
        self.poll_here();
    }
}

impl<T: Send + 'static> Wake for Relay<T> {
    fn wake(self: Arc<Self>) {
        if !self.handoffs.iter().any(|handoff| handoff.takes(self.clone())) {
            self.wake_awaiting();
        }
    }
}

/// Awaits `future`, which the reader threads of `handoffs` may poll as well. Dropping the returned
/// future drops `future`.
pub(super) async fn relayed<T: Send + 'static>(
    handoffs: Vec<Arc<ReaderHandoff>>,
    future: impl Future<Output = T> + Send + 'static,
) -> T {
    let relay = Arc::new(Relay {
        future: Mutex::new(Some(Box::pin(future))),
        state: AtomicU8::new(IDLE),
        output: Mutex::new(None),
        awaiting: Mutex::new(None),
        handoffs,
        runtime: Handle::current(),
    });
    let awaited = RelayHandle(relay);
    let output = std::future::poll_fn(|cx| {
        // The waker is stored before the poll. If the waker were stored later, a thread that
        // finishes the future in between could not wake this task.
        *lock(&awaited.0.awaiting) = Some(cx.waker().clone());
        awaited.0.poll_here();
        lock(&awaited.0.output).take().map_or(Poll::Pending, Poll::Ready)
    });
    output.await.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Handle of the task that waits for a relayed future; dropping the handle drops the future.
struct RelayHandle<T>(Arc<Relay<T>>);

impl<T> Drop for RelayHandle<T> {
    fn drop(&mut self) {
        // The future is dropped after the lock is released, because dropping terminates engines,
        // which takes time.
        let abandoned = lock(&self.0.future).take();
        drop(abandoned);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn the_reader_thread_continues_the_game() {
        let (sender, mut receiver) = mpsc::channel::<u32>(1);
        let (ready, is_ready) = tokio::sync::oneshot::channel();
        let handoff = Arc::new(ReaderHandoff::default());
        let game = relayed(vec![handoff.clone()], async move {
            let _ = ready.send(());
            let number = receiver.recv().await;
            (number, thread::current().name().map(str::to_owned))
        });
        let game = tokio::spawn(game);
        is_ready.await.unwrap();
        let reader = thread::Builder::new().name("reader".to_owned());
        let send = move || handoff.hand_over(|| sender.blocking_send(7)).is_ok();
        let reader = reader.spawn(send).unwrap();
        let (number, thread) = game.await.unwrap();
        assert_eq!((number, thread.as_deref()), (Some(7), Some("reader")));
        assert!(reader.join().unwrap());
    }

    #[tokio::test]
    async fn timers_wake_the_task() {
        let slept =
            relayed(Vec::new(), async { tokio::time::sleep(Duration::from_millis(5)).await });
        tokio::time::timeout(Duration::from_secs(5), slept).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn no_line_is_lost_between_threads() {
        let (sender, mut receiver) = mpsc::channel::<u32>(4);
        let handoffs: Vec<_> = (0..4).map(|_| Arc::new(ReaderHandoff::default())).collect();
        let sum = tokio::spawn(relayed(handoffs.clone(), async move {
            let mut sum = 0;
            while let Some(number) = receiver.recv().await {
                sum += u64::from(number);
            }
            sum
        }));
        let readers: Vec<_> = handoffs
            .into_iter()
            .map(|handoff| {
                let sender = sender.clone();
                let send = move || {
                    (1..=2000).for_each(|n| handoff.hand_over(|| sender.blocking_send(n)).unwrap())
                };
                thread::spawn(send)
            })
            .collect();
        drop(sender);
        for reader in readers {
            reader.join().unwrap();
        }
        assert_eq!(sum.await.unwrap(), 4 * 2000 * 2001 / 2);
    }

    #[tokio::test]
    async fn a_panic_reaches_the_task_and_not_the_reader() {
        let (sender, mut receiver) = mpsc::channel::<u32>(1);
        let handoff = Arc::new(ReaderHandoff::default());
        let game = tokio::spawn(relayed(vec![handoff.clone()], async move {
            receiver.recv().await;
            panic!("a bug");
        }));
        tokio::task::yield_now().await;
        let reader = thread::spawn(move || handoff.hand_over(|| sender.blocking_send(7)).is_ok());
        assert!(game.await.unwrap_err().is_panic());
        assert!(reader.join().is_ok());
    }

    #[tokio::test]
    async fn a_dropped_game_drops_its_engines() {
        let engine = Arc::new(());
        let held = engine.clone();
        let game = tokio::spawn(relayed(Vec::new(), async move {
            std::future::pending::<()>().await;
            drop(held);
        }));
        tokio::task::yield_now().await;
        game.abort();
        assert!(game.await.unwrap_err().is_cancelled());
        assert_eq!(Arc::strong_count(&engine), 1);
    }
}
