//! Flag for the format of the log messages of a service.

use clap::{Args, ValueEnum};

use crate::{console::LogFormat, exit_code::ExitCode, failure::Failure};
use arbiter_process::is_journal;

/// Environment variable with the format of a service's messages, if no flag is given.
const FORMAT_VARIABLE: &str = "ARBITER_LOG_FORMAT";

/// Flag for the format of a service's messages.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct LogArgs {
    /// Format of messages: text, json (for each message, one line with timestamp, level, message
    /// and fields) or journald (text with systemd's priority prefix) [default: $ARBITER_LOG_FORMAT,
    /// else journald if standard error is systemd's journal, else text]
    #[arg(long, value_enum, value_name = "FORM", hide_possible_values = true)]
    log_format: Option<LogFormat>,
}

impl LogArgs {
    /// Returns the format from the flag, the environment variable, or the detection of the systemd
    /// journal, in this order.
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
