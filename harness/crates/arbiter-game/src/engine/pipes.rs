//! What goes into an engine and comes out of it.

use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant};

use super::{EngineError, EngineProcess};
use crate::transcript::Mark;
use arbiter_process::{Chunk, WriteError};

/// How long a process that closed its output may take to exit and so count as crashed.
const EXIT_GRACE: Duration = Duration::from_millis(250);

/// Time between two looks at a silent process, which may have left its output to what it has started.
const LOOK: Duration = Duration::from_millis(200);

/// Waiting for a processor that is too short to excuse anything.
const NO_WAITING: Duration = Duration::from_millis(1);

impl EngineProcess {
    /// Waits for output; `false` if there was none by the session's deadline.
    pub(super) async fn receive(&mut self) -> Result<bool, EngineError> {
        let mut has_left = false;
        while !self.closed {
            let due = self.session.deadline();
            let look = Instant::now() + LOOK;
            let wake = due.map_or(look, |due| due.min(look));
            let heard = poll_fn(|cx| match self.chunks.poll_recv(cx) {
                Poll::Ready(chunk) => Poll::Ready(Some(chunk)),
                Poll::Pending => self.timer.poll(wake, cx).map(|()| None),
            });
            match heard.await {
                Some(Some(chunk)) => {
                    self.take(chunk);
                    return Ok(true);
                }
                Some(None) => self.closed = true,
                None if due.is_some_and(|due| due <= wake) => {
                    if !self.is_excused() {
                        return Ok(false);
                    }
                }
                // Its last words had time to be read.
                None if has_left => self.closed = true,
                None => {
                    has_left = self.process.has_exited();
                    // What is answered at once, as nearly all is, costs no such look.
                    if self.looked.0 < self.asked {
                        self.looked = (Instant::now(), self.process.delays());
                    }
                }
            }
        }
        Err(self.gone())
    }

    /// Whether the deadline was put off, because the engine had to wait for a processor since it was
    /// asked. That of a clock is not: the clock runs on.
    pub(super) fn is_excused(&mut self) -> bool {
        let (at, earlier) = &self.looked;
        if self.session.is_on_clock() || *at < self.asked {
            return false;
        }
        let now = self.process.delays();
        let waited = now.since(earlier, at.elapsed());
        self.looked = (Instant::now(), now);
        self.session.put_off(waited);
        waited > NO_WAITING
    }

    pub(super) fn take(&mut self, chunk: Chunk) {
        self.closed = chunk.closed;
        chunk.lines.iter().for_each(|line| self.recorder.note(chunk.at, Mark::FromEngine, line));
        self.lines.extend(chunk.lines.into_iter().map(|line| (chunk.at, line)));
    }

    pub(super) fn gone(&mut self) -> EngineError {
        let exit = tokio::task::block_in_place(|| self.process.exit_within(EXIT_GRACE));
        match exit {
            Some(how) => {
                // What it said last may not be taken in yet.
                let last = self.lines.back().map_or(&self.last_line, |(_, line)| line);
                EngineError::exited(how, &self.process.error_tail(), last)
            }
            None => EngineError::Closed,
        }
    }

    pub(super) fn send(&mut self, text: &str) -> Result<(), EngineError> {
        self.asked = Instant::now();
        match self.process.write(text.as_bytes()) {
            Ok(()) => {
                self.flushed = Instant::now();
                self.recorder.note(self.asked, Mark::ToEngine, text);
                self.recorder.note(self.flushed, Mark::Flushed, "");
                Ok(())
            }
            Err(WriteError::Closed) => Err(self.gone()),
            Err(error) => Err(error.into()),
        }
    }
}
