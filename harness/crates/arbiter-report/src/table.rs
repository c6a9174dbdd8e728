//! Tables of text, in the styles of the forms.

use std::fmt::Display;

use tabled::builder::Builder;
use tabled::settings::peaker::PriorityMax;
use tabled::settings::{Style, Width};

/// Rows of cells, the heading first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table(Vec<Vec<String>>);

impl Table {
    /// A table that has only its heading.
    pub fn new<const N: usize>(heading: [&str; N]) -> Table {
        Table::with_columns(heading, [""; 0])
    }

    /// A table that has only its heading, whose last columns follow from the data.
    pub fn with_columns<const N: usize>(
        heading: [&str; N],
        more: impl IntoIterator<Item = impl ToString>,
    ) -> Table {
        let mut table = Table(Vec::new());
        table.push_with(heading.each_ref().map(|cell| cell as &dyn Display), more);
        table
    }

    /// Adds a row, which should have as many cells as the heading.
    pub fn push<const N: usize>(&mut self, row: [&dyn Display; N]) {
        self.push_with(row, [""; 0]);
    }

    /// Adds a row whose last cells follow from the data.
    pub fn push_with<const N: usize>(
        &mut self,
        row: [&dyn Display; N],
        more: impl IntoIterator<Item = impl ToString>,
    ) {
        let more = more.into_iter().map(|cell| cell.to_string());
        self.0.push(row.iter().map(ToString::to_string).chain(more).collect());
    }

    /// All rows, the heading first.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.0
    }

    /// For a terminal of so many columns, with cells on several lines if they have to be.
    pub fn fitted(self, width: Option<usize>) -> String {
        let mut table = Builder::from(self.0).build();
        table.with(Style::sharp());
        if let Some(width) = width {
            table.with(Width::wrap(width).keep_words(true).priority(PriorityMax::right()));
        }
        format!("{table}\n")
    }

    /// For a Markdown document.
    pub fn markdown(self) -> String {
        let escaped = |row: Vec<String>| -> Vec<String> {
            row.into_iter().map(|cell| cell.replace('|', "\\|")).collect()
        };
        let rows: Vec<Vec<String>> = self.0.into_iter().map(escaped).collect();
        format!("{}\n", Builder::from(rows).build().with(Style::markdown()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_as_narrow_as_it_has_to_be() {
        let mut table = Table::new(["engine", "what it is"]);
        table.push([&"a", &"one two three four five six seven eight nine ten"]);
        assert!(table.clone().fitted(None).lines().any(|line| line.chars().count() > 30));
        let narrow = table.fitted(Some(30));
        assert!(narrow.lines().all(|line| line.chars().count() <= 30), "{narrow}");
        assert!(narrow.contains("ten") && narrow.lines().count() > 4, "{narrow}");
    }

    #[test]
    fn a_bar_in_a_cell_is_no_border() {
        let mut table = Table::new(["engine", "Elo"]);
        table.push([&"a|b", &"+1"]);
        let expect = "| engine | Elo |\n|--------|-----|\n| a\\|b   | +1  |\n";
        assert_eq!(table.markdown(), expect);
    }
}
