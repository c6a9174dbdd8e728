//! Suites as text, Markdown and JSON: what they have in common.

use crate::table::Table;
use arbiter_suite::Unusable;

pub mod by;
pub mod epd;
pub mod perft;

/// Items of a list that a terminal shows.
const SHOWN: usize = 40;

/// The form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For a terminal of so many columns, or one where nobody counts them.
    Terminal(Option<usize>),
    /// A Markdown document.
    Markdown,
}

impl Style {
    pub(super) fn heading(self, text: &str) -> String {
        match self {
            Style::Terminal(_) => format!("\n{text}\n"),
            Style::Markdown => format!("\n## {text}\n\n"),
        }
    }

    pub(super) fn table(self, table: Table) -> String {
        match self {
            Style::Terminal(width) => table.fitted(width),
            Style::Markdown => table.markdown(),
        }
    }

    /// A list; a terminal shows its beginning, and says how much is left.
    pub(super) fn list(self, items: &[String]) -> String {
        let (sign, shown) = match self {
            Style::Terminal(_) => ("  ", SHOWN),
            Style::Markdown => ("- ", items.len()),
        };
        let mut text: String =
            items.iter().take(shown).map(|item| format!("{sign}{item}\n")).collect();
        if items.len() > shown {
            text.push_str(&format!(
                "{sign}… and {} more (--format json has all)\n",
                items.len() - shown
            ));
        }
        text
    }
}

/// The lines that were not used, and why.
fn unusable_lines(style: Style, unusable: &[Unusable]) -> String {
    if unusable.is_empty() {
        return String::new();
    }
    let title = format!("Unusable lines, which count for nothing: {}", unusable.len());
    let lines: Vec<String> =
        unusable.iter().map(|line| format!("line {}: {}", line.line, line.reason)).collect();
    style.heading(&title) + &style.list(&lines)
}

/// The same as JSON.
fn unusable_json(unusable: &[Unusable]) -> Vec<serde_json::Value> {
    unusable
        .iter()
        .map(|line| serde_json::json!({ "line": line.line, "reason": line.reason }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_on_a_terminal_only() {
        let items: Vec<String> = (0..SHOWN + 2).map(|n| n.to_string()).collect();
        assert!(
            Style::Terminal(None)
                .list(&items)
                .ends_with("  … and 2 more (--format json has all)\n")
        );
        assert_eq!(Style::Markdown.list(&items).lines().count(), SHOWN + 2);
    }

    #[test]
    fn unusable_lines_have_number_and_reason() {
        let unusable = [Unusable { line: 7, reason: "no position".to_owned() }];
        let text = unusable_lines(Style::Terminal(None), &unusable);
        assert!(text.contains("line 7: no position"), "{text}");
        assert_eq!(unusable_lines(Style::Terminal(None), &[]), "");
    }
}
