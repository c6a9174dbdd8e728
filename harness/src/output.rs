//! Output of results on standard output and in files.

use std::io::{BufWriter, IntoInnerError, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::failure::Failure;
use arbiter_process::{FilesInUse, WholeFile, cannot_write, plain_name};
use arbiter_report::{Document, Table, csv_rows, markdown, plain_text, progress_bar};
use arbiter_store::own_files;

/// Minimum width of the output, in characters, even on a narrower terminal.
const NARROWEST: usize = 60;

/// The format of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Human-readable text.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// JSON Lines: one line for each item of a list; for a run, one line for each counted pair,
    /// then one line for the report.
    Ndjson,
    /// A Markdown document.
    Md,
    /// Comma-separated values with a header row.
    Csv,
}

/// Conversion of a JSON value to CSV: the list that becomes the rows, and the leading columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// Key of the list; `None` if the value itself is the list or the only row.
    pub list: Option<&'a str>,
    /// Names of the leading columns.
    pub first: &'a [&'a str],
}

impl Rows<'_> {
    fn csv(self, value: &Value) -> String {
        csv_rows(items(self.list.map_or(value, |key| &value[key])), self.first)
    }
}

impl OutputFormat {
    /// Returns a parser of all formats except ndjson, for results that are a single value.
    pub(crate) fn of_one() -> impl TypedValueParser<Value = OutputFormat> {
        let formats = OutputFormat::value_variants().iter();
        let formats = formats.filter(|format| **format != OutputFormat::Ndjson);
        let words = formats.filter_map(ValueEnum::to_possible_value);
        PossibleValuesParser::new(words)
            .try_map(|word| <OutputFormat as ValueEnum>::from_str(&word, false))
    }

    /// Returns the result in this format, without computing the other formats.
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
            OutputFormat::Json => format!("{:#}\n", value()),
            OutputFormat::Ndjson => lines(&value()),
            OutputFormat::Csv => rows.csv(&value()),
        }
    }

    /// Returns a result in this format: from `table` for text and Markdown, otherwise from `value`.
    pub(crate) fn of_table(
        self,
        table: Table,
        value: impl FnOnce() -> Value,
        rows: Rows<'_>,
    ) -> String {
        let text = table.clone();
        self.render(|| text.fitted(width()), || table.markdown(), value, rows)
    }

    /// Returns a result in this format: from `document` for text and Markdown, otherwise from
    /// `value`.
    pub(crate) fn of_document(
        self,
        document: &Document,
        value: impl FnOnce() -> Value,
        rows: Rows<'_>,
    ) -> String {
        self.render(|| plain_text(document, width()), || markdown(document), value, rows)
    }
}

/// Returns a value as JSON on one line, or a list with one line per item.
pub(crate) fn lines(value: &Value) -> String {
    items(value).iter().map(|item| format!("{item}\n")).collect()
}

/// Returns the items of a list; the value itself if the value is not a list.
fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// Returns the width of the output, in characters: the value of the environment variable COLUMNS or
/// else the width of the terminal, but at least [`NARROWEST`]. Returns `None` if the width is
/// unlimited, as in a file.
pub(crate) fn width() -> Option<usize> {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let detected = || {
        let (columns, _) = terminal_size::terminal_size()?;
        std::io::stdout().is_terminal().then_some(usize::from(columns.0))
    };
    set.or_else(detected).map(|columns: usize| columns.max(NARROWEST))
}

/// Prints a report, which may have styles, on standard output.
pub(crate) fn print_report(text: &str) -> Result<(), Failure> {
    arbiter_report::print_report(text).map_err(Failure::environment)
}

/// Prints a result on standard output.
pub(crate) fn print_result(text: &str) -> Result<(), Failure> {
    arbiter_report::print_result(text).map_err(Failure::environment)
}

/// File that a command uses, with a description of the use.
pub(crate) type FileUse = (&'static str, PathBuf);

/// Returns the files that a command must not overwrite: the files `read`, and files to which the
/// output of the command is redirected.
pub(crate) fn in_use(read: impl IntoIterator<Item = FileUse>) -> Result<FilesInUse, Failure> {
    let mut files = FilesInUse::default();
    for (words, path) in read {
        files.reads(words, &path).map_err(Failure::invalid)?;
    }
    Ok(files)
}

/// Returns the files of the store in a results folder.
pub(crate) fn store_files(folder: &Path) -> impl Iterator<Item = FileUse> + use<> {
    own_files(folder).into_iter().map(|path| ("the results store", path))
}

/// Writes a file completely or not at all; fails if the file is in use.
pub(crate) fn write_atomically(path: &Path, text: &str, in_use: FilesInUse) -> Result<(), Failure> {
    let mut file = NewFile::create(path, in_use)?;
    file.write(text)?;
    file.finish()
}

/// File that appears at its path only after it is complete.
pub(crate) struct NewFile<'a> {
    path: &'a Path,
    file: BufWriter<WholeFile>,
}

impl NewFile<'_> {
    /// Starts a file that will appear at `path`; fails if the file at this path is in use.
    pub(crate) fn create(path: &Path, in_use: FilesInUse) -> Result<NewFile<'_>, Failure> {
        plain_name(path).map_err(Failure::invalid)?;
        NewFile::create_compressed(path, in_use)
    }

    /// Starts a file as [`NewFile::create`] does, for contents that may be compressed.
    pub(crate) fn create_compressed(
        path: &Path,
        mut in_use: FilesInUse,
    ) -> Result<NewFile<'_>, Failure> {
        in_use.writes("the file to write", path).map_err(Failure::invalid)?;
        let file = WholeFile::create(path).map_err(|error| write_error(path, &error))?;
        Ok(NewFile { path, file: BufWriter::new(file) })
    }

    /// Returns a writer that appends bytes.
    pub(crate) fn writer(&mut self) -> &mut impl Write {
        &mut self.file
    }

    /// Appends text.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.file.write_all(text.as_bytes()).map_err(|error| write_error(self.path, &error))
    }

    /// Syncs the file to disk and moves it to its path.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let file = self.file.into_inner().map_err(IntoInnerError::into_error);
        file.and_then(WholeFile::finish).map_err(|error| write_error(self.path, &error))
    }
}

/// Returns the name of a file without its folder, for reports.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns a path, quoted for a shell if necessary.
pub(crate) fn quoted(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

/// Creates the failure for a file that cannot be written.
pub(crate) fn write_error(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(cannot_write(path, error))
}

/// Returns a progress bar of `steps` steps on standard error.
pub(crate) fn progress(steps: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    progress_bar(steps).with_style(style.expect("templates are constants and sound"))
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
}
