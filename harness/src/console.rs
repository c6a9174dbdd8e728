//! Colour, level and format of messages on standard error, and the logger for these messages.

use std::ffi::OsString;
use std::io::Write;

use anstream::ColorChoice;
use clap::{Args, ValueEnum};
use log::{Level, LevelFilter, Log, Metadata, Record, kv};
use serde_json::{Map, Value};

use crate::failure::Failure;
use arbiter_process::is_journal;
use arbiter_report::{BAD_STYLE, shown_message, styled, utc_time_as};
use arbiter_runner::unix_time_ms;

/// Flags that all commands share.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ConsoleArgs {
    /// Use of colour; auto: on terminals, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", global = true)]
    color: clap::ColorChoice,
    /// Print only results and errors
    #[arg(short, long, global = true)]
    quiet: bool,
}

/// Environment variable that sets the format of a service's messages if no flag is given.
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
            let message = format!("{FORMAT_VARIABLE}: expected text, json or journald");
            return LogFormat::from_str(&name, false).map_err(|_| Failure::usage(message));
        }
        let stream = std::env::var("JOURNAL_STREAM");
        let has_journal = stream.is_ok_and(|stream| is_journal(&stream));
        Ok(if has_journal { LogFormat::Journald } else { LogFormat::Text })
    }
}

/// Format of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
    Journald,
}

impl ConsoleArgs {
    /// Applies the flags, and installs the logger.
    pub(crate) fn set_up(self, format: LogFormat) {
        let choice = match self.color {
            clap::ColorChoice::Auto => ColorChoice::Auto,
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
        };
        choice.write_global();
        log::set_max_level(if self.quiet { LevelFilter::Error } else { LevelFilter::Info });
        // A process has one logger. An earlier command in this process may already have installed
        // the logger, with the same settings.
        let _ = log::set_logger(Box::leak(Box::new(Messages(format))));
        // In a JSON or journal log, a panic must not print plain text.
        if format != LogFormat::Text {
            std::panic::set_hook(Box::new(|panic| log::error!("{panic}")));
        }
    }
}

/// Logger that prints messages on standard error.
struct Messages(LogFormat);

impl Log for Messages {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Targets are modules. The names of all arbiter-* crates start with the name of this
        // package, so messages of these crates are shown, but messages of libraries are not.
        metadata.target().starts_with(env!("CARGO_PKG_NAME"))
            && metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let message = shown_message(&record.args().to_string());
        let line = match record.level() {
            Level::Error => format!("{}: {message}", styled(BAD_STYLE, "error")),
            _ => message,
        };
        let line = match self.0 {
            LogFormat::Text => line,
            LogFormat::Json => json(record, unix_time_ms()),
            LogFormat::Journald => with_priority(record.level(), &line),
        };
        // Writing fails if the reader is gone, for example after the terminal was closed. Such a
        // failure must not end a run.
        let _ = writeln!(anstream::stderr().lock(), "{line}");
    }

    fn flush(&self) {}
}

/// Returns a message and its fields as a line of JSON.
fn json(record: &Record<'_>, now_ms: i64) -> String {
    let mut line = Fields(Map::new());
    // The visitor cannot fail, because it only inserts strings into a map.
    let _ = record.key_values().visit(&mut line);
    let mut put = |key: &str, value: String| line.0.insert(key.to_owned(), value.into());
    put("timestamp", utc_time_as(now_ms, "%Y-%m-%dT%H:%M:%S%.3fZ"));
    put("level", record.level().as_str().to_lowercase());
    put("message", record.args().to_string());
    Value::Object(line.0).to_string()
}

/// Fields of a message, as a JSON object.
struct Fields(Map<String, Value>);

impl<'kvs> kv::VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: kv::Key<'kvs>, value: kv::Value<'kvs>) -> Result<(), kv::Error> {
        let number = value.to_u64().map(Value::from);
        self.0.insert(key.to_string(), number.unwrap_or_else(|| value.to_string().into()));
        Ok(())
    }
}

/// Returns a message with a priority prefix on each line, as required by sd-daemon(3).
fn with_priority(level: Level, text: &str) -> String {
    let priority = match level {
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        Level::Debug | Level::Trace => 7,
    };
    let lines: Vec<String> = text.lines().map(|line| format!("<{priority}>{line}")).collect();
    lines.join("\n")
}

/// Returns clap's colour choice for help and usage errors, which are printed before the flags are
/// parsed.
pub(crate) fn help_colour(args: impl IntoIterator<Item = OsString>) -> clap::ColorChoice {
    let words: Vec<String> =
        args.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let after = words.iter().zip(words.iter().skip(1)).find(|(flag, _)| *flag == "--color");
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let when = after.map(|(_, value)| value.as_str()).or(joined);
    when.and_then(|when| when.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_print_nothing() {
        log::set_max_level(LevelFilter::Info);
        let is_shown = |target| {
            let metadata = Metadata::builder().target(target).level(Level::Info).build();
            Messages(LogFormat::Text).enabled(&metadata)
        };
        assert!(is_shown("arbiter::run") && is_shown("arbiter_report::terminal"));
        assert!(!is_shown("async_nats::connection"));
    }

    #[test]
    fn messages_have_json_and_journald_formats() {
        let about: &[(&str, kv::Value<'_>)] =
            &[("run", "first".into()), ("pair", 7.into()), ("level", "another".into())];
        let mut record = Record::builder();
        let record = record.level(Level::Warn).key_values(&about);
        assert_eq!(
            json(&record.args(format_args!("it said \"no\"")).build(), 1_767_225_600_250),
            r#"{"level":"warn","message":"it said \"no\"","pair":7,"run":"first","timestamp":"2026-01-01T00:00:00.250Z"}"#
        );
        assert_eq!(with_priority(Level::Error, "one\ntwo"), "<3>one\n<3>two");
    }

    #[test]
    fn color_flag_applies_to_clap_errors() {
        let of = |line: &str| help_colour(line.split(' ').map(OsString::from));
        assert_eq!(of("arbiter --color always --help"), clap::ColorChoice::Always);
        assert_eq!(of("arbiter --help --color=never"), clap::ColorChoice::Never);
        assert_eq!(of("arbiter --help --color"), clap::ColorChoice::Auto);
    }
}
