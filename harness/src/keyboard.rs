//! Keys that steer a run in whose terminal somebody sits.

use std::io::{IsTerminal, stdin};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, LocalModes, OptionalActions, Termios};
use tokio::sync::{mpsc, oneshot};

use arbiter_plan::run::control::Command;
use arbiter_runner::dispatch::ControlRequest;

/// How long the thread may take to notice that it is to end.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Listens to keys as long as it lives; then the terminal is as it was. Ctrl-C is left to the
/// terminal.
#[derive(Debug)]
pub(crate) struct Keyboard {
    before: Termios,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keyboard {
    /// Listens if standard input and standard error are a terminal that is ours at the moment.
    pub(crate) fn listen(control_requests: mpsc::Sender<ControlRequest>) -> Option<Keyboard> {
        if !stdin().is_terminal() || !std::io::stderr().is_terminal() || !is_in_front() {
            return None;
        }
        let before = termios::tcgetattr(stdin()).ok()?;
        let mut now = before.clone();
        now.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        termios::tcsetattr(stdin(), OptionalActions::Now, &now).ok()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut keys = Keyboard { before, is_over: is_over.clone(), thread: None };
        let thread = std::thread::Builder::new().name("keys".into());
        keys.thread = thread.spawn(move || read(&is_over, &control_requests)).ok();
        Some(keys)
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic has printed itself.
            let _ = thread.join();
        }
        // From the background it would stop us, and the shell has seen to it by then.
        if is_in_front() {
            // A terminal that is gone needs no repair.
            let _ = termios::tcsetattr(stdin(), OptionalActions::Now, &self.before);
        }
    }
}

/// Whether the terminal of standard input listens to our process group.
fn is_in_front() -> bool {
    termios::tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

fn read(is_over: &AtomicBool, control_requests: &mpsc::Sender<ControlRequest>) {
    let input = stdin();
    while !is_over.load(Ordering::Relaxed) {
        let mut fds = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&LOOK)) {
            Ok(1) => {}
            Ok(_) | Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        if !is_in_front() {
            // To read from the background would stop the process.
            std::thread::sleep(std::time::Duration::from_millis(100));
            continue;
        }
        let mut bytes = [0; 16];
        let Ok(length @ 1..) = rustix::io::read(&input, &mut bytes) else { return };
        for command in bytes[..length].iter().filter_map(|byte| command(*byte)) {
            // What it does is seen in the live view; one that comes too late does nothing.
            let (reply, _) = oneshot::channel();
            let _ = control_requests.try_send(ControlRequest { command, reply });
        }
    }
}

fn command(key: u8) -> Option<Command> {
    match key {
        b'p' => Some(Command::Pause),
        b'r' => Some(Command::Resume),
        b'd' => Some(Command::Drain),
        b'q' => Some(Command::Interrupt),
        b'+' | b'=' => Some(Command::MoreSlots(1)),
        b'-' => Some(Command::MoreSlots(-1)),
        _ => None,
    }
}
