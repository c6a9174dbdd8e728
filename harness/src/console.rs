//! Colour and number of messages on standard error, and the logger that prints them.

use std::ffi::OsString;
use std::io::Write;

use anstream::ColorChoice;
use clap::Args;
use log::{LevelFilter, Log, Metadata, Record};

use arbiter_report::{BAD_STYLE, shown, styled};

/// Flags that all commands share.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ConsoleArgs {
    /// Colour: auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", global = true)]
    color: clap::ColorChoice,
    /// Say nothing but results and errors
    #[arg(short, long, global = true)]
    quiet: bool,
}

impl ConsoleArgs {
    /// Makes them hold for the whole program.
    pub(crate) fn set_up(self) {
        let choice = match self.color {
            clap::ColorChoice::Auto => ColorChoice::Auto,
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
        };
        choice.write_global();
        log::set_max_level(if self.quiet { LevelFilter::Error } else { LevelFilter::Info });
        // A second command in one process finds the logger in place, which is as well.
        let _ = log::set_logger(&Messages);
    }
}

/// Prints messages on standard error.
struct Messages;

impl Log for Messages {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Targets are modules: those of this crate and of all arbiter-* crates, of no library.
        metadata.target().starts_with(env!("CARGO_PKG_NAME"))
            && metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let line = match record.level() {
            log::Level::Error => format!("{}: {}", styled(BAD_STYLE, "error"), record.args()),
            _ => record.args().to_string(),
        };
        // A reader that went away, as when a terminal closes, must not end a run.
        let _ = writeln!(anstream::stderr().lock(), "{}", shown(&line));
    }

    fn flush(&self) {}
}

/// How clap is to colour its help and errors: it prints them before any flag is read by us.
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
            Messages.enabled(&Metadata::builder().target(target).level(log::Level::Info).build())
        };
        assert!(is_shown("arbiter::run") && is_shown("arbiter_report::terminal"));
        assert!(!is_shown("async_nats::connection"));
    }

    #[test]
    fn clap_is_told_in_time() {
        let of = |line: &str| help_colour(line.split(' ').map(OsString::from));
        assert_eq!(of("arbiter --color always --help"), clap::ColorChoice::Always);
        assert_eq!(of("arbiter --help --color=never"), clap::ColorChoice::Never);
        assert_eq!(of("arbiter --help --color"), clap::ColorChoice::Auto);
    }
}
