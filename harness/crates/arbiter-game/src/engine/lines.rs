//! Reading of an engine's output, line by line.

use super::{EngineError, EngineProcess, MAX_LAST};
use crate::transcript::Mark;
use arbiter_process::Chunk;
use arbiter_protocol::Step;

/// Maximum number of matching output lines that are kept with each move. A pattern may match every
/// line, and matching lines stay in memory.
const MAX_CHOSEN: usize = 32;

impl EngineProcess {
    /// Processes the lines that arrived while the engine pondered. A line such as an early
    /// `bestmove` may end pondering.
    pub(super) async fn catch_up(&mut self) -> Result<(), EngineError> {
        while self.session.is_pondering() {
            if self.lines.is_empty()
                && let Ok(chunk) = self.chunks.try_recv()
            {
                self.take(chunk);
            }
            if self.lines.is_empty() {
                break;
            }
            self.step().await?;
        }
        Ok(())
    }

    pub(super) async fn until_ready(&mut self) -> Result<(), EngineError> {
        while !self.session.is_ready() {
            self.step().await?;
        }
        Ok(())
    }

    /// Waits for the next line, at most until the session's deadline, and processes the line.
    pub(super) async fn step(&mut self) -> Result<Step, EngineError> {
        if self.lines.front().is_none() && !self.receive().await? {
            return self.overdue();
        }
        let Some((at, _)) = self.lines.front() else { return Ok(Step::Continue) };
        let at = *at;
        // The time stamp of the reader thread decides, not the time at which this task runs. A late
        // line is accepted only if the deadline is extended.
        while at >= self.since && self.session.deadline().is_some_and(|due| at > due) {
            if !self.is_excused() {
                return self.overdue();
            }
        }
        let Some((_, line)) = self.lines.front() else { return Ok(Step::Continue) };
        if at < self.since {
            let claim = self.session.receive_early(line);
            self.lines.pop_front();
            return Ok(claim.map_or(Step::Continue, Step::Claim));
        }
        self.last_read = at;
        if self.chosen.len() < MAX_CHOSEN
            && self.pattern.as_ref().is_some_and(|pattern| pattern.matches(line))
        {
            self.chosen.push(line.clone());
        }
        let step = self.session.receive(at, line)?;
        if !matches!(step, Step::Move { .. }) {
            // The line with a move stays in the queue, because the caller needs its time stamp.
            if self.last_lines.len() == MAX_LAST {
                self.last_lines.pop_front();
            }
            self.last_lines.extend(self.lines.pop_front().map(|(_, line)| line));
        }
        self.obey(step)
    }

    pub(super) fn obey(&mut self, step: Step) -> Result<Step, EngineError> {
        if let Step::Send(text) = &step {
            self.send(text)?;
        }
        Ok(step)
    }

    pub(super) fn take(&mut self, chunk: Chunk) {
        self.closed = chunk.closed;
        chunk.lines.iter().for_each(|line| self.recorder.note(chunk.at, Mark::FromEngine, line));
        self.lines.extend(chunk.lines.into_iter().map(|line| (chunk.at, line)));
    }
}
