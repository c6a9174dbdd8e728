//! Which form the messages of a service have.

use clap::{Args, ValueEnum};

use crate::console::LogFormat;
use crate::{ExitCode, Failure};
use arbiter_process::is_journal;

/// Where the form of a service's messages is looked for that no flag gives.
const FORMAT_VARIABLE: &str = "ARBITER_LOG_FORMAT";

/// The form of messages of a service.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct LogArgs {
    /// Form of messages: text, json (a line each with timestamp, level, message and what it is about)
    /// or journald (text behind the priority that systemd reads) [default: $ARBITER_LOG_FORMAT, else
    /// journald if standard error is systemd's journal, else text]
    #[arg(long, value_enum, value_name = "FORM", hide_possible_values = true)]
    log_format: Option<LogFormat>,
}

impl LogArgs {
    /// What is given here, by a variable, or by systemd.
    pub(crate) fn format(self) -> Result<LogFormat, Failure> {
        if let Some(format) = self.log_format {
            return Ok(format);
        }
        if let Ok(name) = std::env::var(FORMAT_VARIABLE) {
            return LogFormat::from_str(&name, false).map_err(|_| {
                let message = format!("{FORMAT_VARIABLE}: expected text, json or journald");
                Failure::new(ExitCode::Usage, message)
            });
        }
        let stream = std::env::var("JOURNAL_STREAM");
        Ok(if stream.is_ok_and(|stream| is_journal(&stream)) {
            LogFormat::Journald
        } else {
            LogFormat::Text
        })
    }
}
