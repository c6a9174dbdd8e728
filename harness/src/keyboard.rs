//! Keyboard commands that control a run from its terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use arbiter_process::Keys;
use arbiter_run::ControlCommand;
use arbiter_runner::{ControlRequest, ControlSender};

/// Maximum time until the thread notices that it should end. The exit of the process is delayed by
/// at most this time.
const LOOK: Duration = Duration::from_millis(100);

/// Listener for keys; stops when the value is dropped.
#[derive(Debug)]
pub(crate) struct Keyboard {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keyboard {
    /// Starts to listen; returns `None` unless this process is in the foreground of a terminal.
    pub(crate) fn listen(control_requests: ControlSender) -> Option<Keyboard> {
        let keys = Keys::open()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let end = is_over.clone();
        let thread = std::thread::Builder::new().name("keys".into());
        let thread = thread.spawn(move || read(&keys, &end, &control_requests)).ok();
        Some(Keyboard { is_over, thread })
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // Relaxed ordering suffices: the thread reads the flag again within `LOOK`, and no other
        // data depends on the flag.
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // An error means that the thread has panicked, and printed a message.
            let _ = thread.join();
        }
    }
}

fn read(keys: &Keys, is_over: &AtomicBool, control_requests: &ControlSender) {
    while !is_over.load(Ordering::Relaxed) {
        let Ok(pressed) = keys.read(LOOK) else { return };
        for command in pressed.into_iter().filter_map(command) {
            // The live view shows the effect, so the reply is not read. A key that is pressed after
            // the end of the run has no effect.
            let _ = control_requests.try_send(ControlRequest::unanswered(command));
        }
    }
}

fn command(key: u8) -> Option<ControlCommand> {
    match key {
        b'p' => Some(ControlCommand::Pause),
        b'r' => Some(ControlCommand::Resume),
        b'd' => Some(ControlCommand::Drain),
        b'q' => Some(ControlCommand::Interrupt),
        b'+' | b'=' => Some(ControlCommand::MoreSlots(1)),
        b'-' => Some(ControlCommand::MoreSlots(-1)),
        _ => None,
    }
}
