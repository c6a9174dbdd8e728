//! Results on standard output and in files: their format, and how wide text may be.

use std::io::{IsTerminal, Write};
use std::path::Path;

use clap::ValueEnum;
use serde_json::Value;

use crate::failure::Failure;
use arbiter_report::csv;

/// Columns below which nothing is made to fit.
const NARROWEST: usize = 60;

/// The format of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text for people.
    #[default]
    #[value(alias = "human")]
    Text,
    /// One JSON value.
    Json,
    /// JSON in lines: of a list each item, of a run each pair when it counts and then the report.
    Ndjson,
    /// A Markdown document.
    Md,
    /// Comma separated values below a heading.
    Csv,
}

/// The list of a value that CSV has as its rows, and the columns that come first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// The key of the list; nothing if the value is the list, or the only row.
    pub list: Option<&'a str>,
    /// The first columns.
    pub first: &'a [&'a str],
}

impl Rows<'_> {
    fn csv(self, value: &Value) -> String {
        let list = self.list.map_or(value, |key| &value[key]);
        match list {
            Value::Array(items) => csv::rows(items, self.first),
            one => csv::rows(std::slice::from_ref(one), self.first),
        }
    }
}

impl OutputFormat {
    /// The result in this format; the others are not computed.
    pub(crate) fn render(
        self,
        text: impl FnOnce() -> String,
        markdown: impl FnOnce() -> String,
        value: impl FnOnce() -> Value,
        rows: Rows<'_>,
    ) -> String {
        match self {
            OutputFormat::Text => text(),
            OutputFormat::Md => markdown(),
            OutputFormat::Json => indented(&value()),
            OutputFormat::Ndjson => lines(&value()),
            OutputFormat::Csv => rows.csv(&value()),
        }
    }
}

/// A value on several lines.
fn indented(value: &Value) -> String {
    format!("{value:#}\n")
}

/// A value in one line, a list in a line for each item.
pub(crate) fn lines(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(|item| format!("{item}\n")).collect(),
        one => format!("{one}\n"),
    }
}

/// Columns that text for people may take: those of the terminal, or of the variable COLUMNS; at least
/// 60. `None` where nobody counts them, as in a file.
pub(crate) fn width() -> Option<usize> {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || {
        let (columns, _) = terminal_size::terminal_size()?;
        std::io::stdout().is_terminal().then_some(usize::from(columns.0))
    };
    set.or_else(seen).map(|columns: usize| columns.max(NARROWEST))
}

/// Prints a result on standard output. A reader that has seen enough and closed the pipe, as
/// `head` does, is no error.
pub(crate) fn emit(text: &str) -> Result<(), Failure> {
    // Takes out the colours where they are not wanted.
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::environment(format!("cannot write the result: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a file as a whole or not at all.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let told = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "; make its folder first",
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                "; give a place that you may write to"
            }
            _ => "",
        };
        Failure::environment(format!("cannot write {}: {error}{hint}", path.display()))
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(told)?;
    file.write_all(text.as_bytes()).map_err(told)?;
    let readable = std::fs::Permissions::from_mode(0o644);
    file.as_file().set_permissions(readable).map_err(told)?;
    file.as_file().sync_all().map_err(told)?;
    file.persist(path).map_err(|error| told(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_has_a_line_for_each_item() {
        assert_eq!(lines(&json!([{ "a": 1 }, { "a": 2 }])), "{\"a\":1}\n{\"a\":2}\n");
        assert_eq!(lines(&json!({ "a": [1] })), "{\"a\":[1]}\n");
        let rows = Rows { list: Some("list"), first: &["b"] };
        assert_eq!(rows.csv(&json!({ "list": [{ "a": 1, "b": 2 }] })), "b,a\n2,1\n");
        let rows = Rows { list: None, first: &[] };
        assert_eq!(rows.csv(&json!({ "a": 1 })), "a\n1\n");
    }

    #[test]
    fn the_word_of_before_is_still_understood() {
        assert_eq!(OutputFormat::from_str("human", false), Ok(OutputFormat::Text));
    }
}
