//! The forms of results on standard output.

use clap::ValueEnum;
use serde_json::Value;

use arbiter_report::csv;

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Text for people.
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
pub struct Rows<'a> {
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

impl Form {
    /// The result in this form; only what is asked for is made.
    pub fn render(
        self,
        text: impl FnOnce() -> String,
        markdown: impl FnOnce() -> String,
        value: impl FnOnce() -> Value,
        rows: Rows<'_>,
    ) -> String {
        match self {
            Form::Text => text(),
            Form::Md => markdown(),
            Form::Json => indented(&value()),
            Form::Ndjson => lines(&value()),
            Form::Csv => rows.csv(&value()),
        }
    }
}

/// A value on several lines.
fn indented(value: &Value) -> String {
    format!("{value:#}\n")
}

/// A value in one line, a list in a line for each item.
pub fn lines(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(|item| format!("{item}\n")).collect(),
        one => format!("{one}\n"),
    }
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
        assert_eq!(Form::from_str("human", false), Ok(Form::Text));
    }
}
