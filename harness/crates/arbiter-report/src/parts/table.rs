//! Tables for terminals and Markdown.

use super::terminal::shown_output;
use super::text::escaped;
use std::collections::BTreeMap;
use std::fmt::Display;

use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Style, Width};

/// Width of the border and padding of a cell, in characters.
const BORDER: usize = 3;

/// Table of text cells; the first row is the heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// Link addresses of cells, by row and heading.
    links: BTreeMap<(usize, String), String>,
}

impl Table {
    /// Returns a table that has only a heading.
    pub fn new<const N: usize>(heading: [&str; N]) -> Table {
        Table::with_columns(heading, [""; 0])
    }

    /// Returns a table that has only a heading: `heading`, followed by `more`.
    pub fn with_columns<const N: usize>(
        heading: [&str; N],
        more: impl IntoIterator<Item = impl ToString>,
    ) -> Table {
        let mut table = Table { rows: Vec::new(), links: BTreeMap::new() };
        table.push_with(heading.each_ref().map(|cell| cell as &dyn Display), more);
        table
    }

    /// Adds a row; `row` must have as many cells as the heading.
    pub fn push<const N: usize>(&mut self, row: [&dyn Display; N]) {
        self.push_cells(&row, Vec::new());
    }

    /// Adds a row: `row`, followed by `more`.
    pub fn push_with<const N: usize>(
        &mut self,
        row: [&dyn Display; N],
        more: impl IntoIterator<Item = impl ToString>,
    ) {
        self.push_cells(&row, more.into_iter().map(|cell| cell.to_string()).collect());
    }

    fn push_cells(&mut self, row: &[&dyn Display], more: Vec<String>) {
        let cells = row.iter().map(ToString::to_string).chain(more);
        // The escapes are part of the width of a column.
        self.rows.push(cells.map(|cell| shown_output(&cell)).collect());
    }

    /// Makes the last row's cell in the column `heading` a link in HTML.
    pub fn link(&mut self, heading: &str, address: String) {
        self.links.insert((self.rows.len() - 1, heading.to_owned()), address);
    }

    /// Returns the link address of a cell; row 0 is the heading.
    pub(crate) fn address(&self, row: usize, column: usize) -> Option<&str> {
        let heading = self.rows.first()?.get(column)?;
        self.links.get(&(row, heading.clone())).map(String::as_str)
    }

    /// Removes the column with this heading.
    pub fn without(mut self, heading: &str) -> Table {
        if let Some(column) = self.rows[0].iter().position(|cell| cell == heading) {
            self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
        self
    }

    /// Returns `true` if the table has no columns.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.iter().all(Vec::is_empty)
    }

    /// Returns all rows, including the heading.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Formats the table for a terminal that is `width` characters wide. Long cells are wrapped; if
    /// `width` is `None`, no cell is wrapped.
    pub fn fitted(self, width: Option<usize>) -> String {
        let columns = width.map(|width| self.widths(width));
        let mut table = Builder::from(self.rows).build();
        table.with(Style::sharp());
        for (column, width) in columns.into_iter().flatten().enumerate() {
            table.modify(Columns::one(column), Width::wrap(width).keep_words(true));
        }
        format!("{table}\n")
    }

    /// Returns the maximum width of each column, in characters, for a table that is `width`
    /// characters wide. The widest columns are shrunk. A column becomes narrower than its longest
    /// word only if necessary.
    fn widths(&self, width: usize) -> Vec<usize> {
        let longest = |column: usize, of: fn(&str) -> usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| of(cell)).max().unwrap_or(0)
        };
        let count = self.rows.first().map_or(0, Vec::len);
        let word = |cell: &str| cell.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        let minimum: Vec<usize> = (0..count).map(|column| longest(column, word)).collect();
        let natural = |column| longest(column, |cell| cell.chars().count());
        let mut widths: Vec<usize> = (0..count).map(natural).collect();
        while widths.iter().sum::<usize>() + BORDER * count + 1 > width {
            let can_shrink = |column: usize| widths[column] > minimum[column];
            let widest = (0..count).max_by_key(|&column| (can_shrink(column), widths[column]));
            let Some(column) = widest.filter(|column| widths[*column] > 1) else { break };
            widths[column] -= 1;
        }
        widths
    }

    /// Formats the table for a Markdown document.
    pub fn markdown(self) -> String {
        let mut rows = self.rows;
        for cell in rows.iter_mut().flatten() {
            *cell = escaped(cell).replace('|', "\\|").replace('\n', " ");
        }
        format!("{}\n", Builder::from(rows).build().with(Style::markdown()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_the_requested_width() {
        let mut table = Table::new(["engine", "what it is"]);
        table.push([&"a", &"one two three four five six seven eight nine ten"]);
        assert!(table.clone().fitted(None).lines().any(|line| line.chars().count() > 30));
        let narrow = table.fitted(Some(30));
        assert!(narrow.lines().all(|line| line.chars().count() <= 30), "{narrow}");
        assert!(narrow.contains("ten") && narrow.lines().count() > 4, "{narrow}");
    }

    #[test]
    fn the_widest_columns_are_wrapped_between_words() {
        let mut table = Table::new(["engine", "what it is", "games"]);
        table.push([&"palimpsest v material", &"one two three four five six", &"1000"]);
        let narrow = table.clone().fitted(Some(40));
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        for word in ["palimpsest", "material", "three", "1000"] {
            assert!(narrow.contains(word), "{word}: {narrow}");
        }
        assert_eq!(table.without("games").rows()[0], ["engine", "what it is"]);
        let mut table = Table::new(["step", "figures"]);
        table.push([&"build", &format!("the log is /{} as ever", "folder/".repeat(9))]);
        let narrow = table.fitted(Some(40));
        assert!(narrow.lines().all(|line| line.chars().count() == 40), "{narrow}");
        assert!(narrow.contains("│ the log is") && narrow.contains("as ever"), "{narrow}");
    }

    #[test]
    fn a_vertical_bar_in_a_cell_is_escaped() {
        let mut table = Table::new(["engine", "Elo"]);
        table.push([&"a|b\nc", &"+1"]);
        let expect = "| engine | Elo |\n|--------|-----|\n| a\\|b c | +1  |\n";
        assert_eq!(table.markdown(), expect);
    }
}
