//! User commands to a run in progress.

use tokio::sync::{mpsc, oneshot};

use super::{Dispatcher, RunError, StopCause};
use crate::executor::Executor;
use crate::signal::StopSignal;
use arbiter_run::{ControlCommand, MAX_SLOTS, Pace, RunEvent, RunInput, RunStatus};

/// Command to a run in progress, with the channel for the answer.
#[derive(Debug)]
pub struct ControlRequest {
    /// Command to carry out.
    pub command: ControlCommand,
    /// Channel for the answer; the receiver may have been dropped.
    pub reply: oneshot::Sender<Answer>,
}

/// Channel of commands to a run in progress.
pub type ControlSender = mpsc::Sender<ControlRequest>;

impl ControlRequest {
    /// Creates a request whose answer is not read.
    pub fn unanswered(command: ControlCommand) -> ControlRequest {
        let (reply, _) = oneshot::channel();
        ControlRequest { command, reply }
    }
}

/// Answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Text of the answer, without a full stop; `Err` if the command was refused.
    pub words: Result<String, String>,
    /// Status of the run after the command.
    pub status: RunStatus,
}

impl<E: Executor> Dispatcher<'_, '_, E> {
    /// Carries out a command and sends the answer.
    pub(super) async fn control(&mut self, control: ControlRequest) -> Result<(), RunError> {
        let (event, words) = self.apply_control(control.command);
        if let Some(event) = event {
            self.apply(event).await?;
        }
        let status = self.status();
        // `Status` and `Boards` change nothing.
        if !matches!(control.command, ControlCommand::Status | ControlCommand::Boards) {
            let pace = status.pace;
            let slots = status.concurrency;
            let elapsed = self.clock.elapsed();
            self.notify(&RunEvent::Steered { pace, slots, elapsed })?;
        }
        // A client that has disconnected needs no answer.
        let _ = control.reply.send(Answer { words, status });
        Ok(())
    }

    /// Applies a command to the executor. Returns the input for the state, if any, and the answer.
    fn apply_control(
        &mut self,
        command: ControlCommand,
    ) -> (Option<RunInput>, Result<String, String>) {
        let in_flight = match self.state.in_flight() {
            0 => "no pair in progress".to_owned(),
            1 => "finishing 1 pair in progress".to_owned(),
            count => format!("finishing {count} pairs in progress"),
        };
        let is_draining = self.state.pace() == Pace::Draining;
        match command {
            ControlCommand::Status | ControlCommand::Boards => {
                (None, Ok(self.status().to_string()))
            }
            ControlCommand::Pause | ControlCommand::Resume if is_draining => {
                (None, Err("the run is draining and starts no more pairs".to_owned()))
            }
            ControlCommand::Pause => (Some(RunInput::Pause), Ok(format!("paused; {in_flight}"))),
            ControlCommand::Resume => (Some(RunInput::Unpause), Ok("running".to_owned())),
            ControlCommand::Drain => {
                self.stop_cause.get_or_insert(StopCause::Drain);
                (Some(RunInput::Drain), Ok(format!("draining; {in_flight}")))
            }
            ControlCommand::Stop => {
                self.stop_cause.get_or_insert(StopCause::Drain);
                let given_up = self.state.in_flight();
                (Some(RunInput::Stop), Ok(format!("stopped; pairs discarded: {given_up}")))
            }
            ControlCommand::Interrupt => {
                // The key acts like Ctrl-C, so the command exits with the code for SIGINT.
                self.stop_cause = Some(StopCause::Signal(StopSignal::Interrupt));
                (Some(RunInput::Interrupt), Ok("interrupted".to_owned()))
            }
            ControlCommand::Concurrency(slots) => (None, self.set_slots(slots)),
            ControlCommand::MoreSlots(more) => {
                let slots = self.executor.slots().saturating_add_signed(more as isize);
                (None, self.set_slots(slots.clamp(1, MAX_SLOTS)))
            }
        }
    }

    fn set_slots(&mut self, slots: usize) -> Result<String, String> {
        self.executor.set_slots(slots)?;
        Ok(format!("concurrency {slots}"))
    }

    fn status(&self) -> RunStatus {
        RunStatus {
            pace: self.state.pace(),
            concurrency: self.executor.slots(),
            pairs_in_flight: self.state.in_flight(),
            pairs_counted: self.state.counted_pairs().count() as u64,
            pairs_expected: self.state.schedule().expected_pairs(),
            games: self.state.counts().games(),
            faults: self.state.counts().faults.values().sum(),
        }
    }
}
