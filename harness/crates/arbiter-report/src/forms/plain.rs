//! Documents as text for a terminal, with colour codes that the caller may remove.

use tabled::settings::width::Wrap;

use crate::parts::{
    BAD_STYLE, Block, Document, Figure, GOOD_STYLE, LABEL_STYLE, OPEN_STYLE, Tone, shown_output,
    styled,
};

/// Maximum number of items shown per list.
const MAX_ITEMS: usize = 40;

/// Minimum width of the column for names of values, in characters.
const NAME_WIDTH: usize = 8;

/// Formats a document with its title, wrapped at `width` columns (`None`: not wrapped).
pub fn plain_text(document: &Document, width: Option<usize>) -> String {
    let title = styled(LABEL_STYLE, &document.title);
    format!("{title}\n{}", plain_body(document, width))
}

/// Formats a document without its title. Charts become tables of their values, and games are
/// reduced to titles and notes.
pub fn plain_body(document: &Document, width: Option<usize>) -> String {
    document.blocks.iter().map(|block| part(block, width)).collect()
}

fn part(block: &Block, width: Option<usize>) -> String {
    let mut head = String::new();
    let text = match block {
        Block::Heading(text) => return format!("\n{}\n", styled(LABEL_STYLE, text)),
        Block::Paragraph { strong, text } if strong.is_empty() => {
            format!("{}\n", wrapped(text, width, 0))
        }
        Block::Paragraph { strong, text } => {
            let gap = if text.is_empty() { "" } else { " " };
            head = styled(LABEL_STYLE, strong);
            format!("{gap}{text}\n")
        }
        Block::Value { name, text } => {
            let indent = NAME_WIDTH.max(name.chars().count()) + 1;
            let text = wrapped(text, width, indent).replace('\n', &format!("\n{:indent$}", ""));
            head = styled(LABEL_STYLE, &format!("{name:<NAME_WIDTH$}"));
            format!(" {text}\n")
        }
        Block::Verdict { tone, text } => {
            let style = match tone {
                Tone::Good => GOOD_STYLE,
                Tone::Bad => BAD_STYLE,
                Tone::Open => OPEN_STYLE,
            };
            let text = wrapped(text, width, 0);
            return text.lines().map(|line| format!("{}\n", styled(style, line))).collect();
        }
        Block::Gap => "\n".to_owned(),
        Block::Head(_) | Block::Boards { .. } => String::new(),
        Block::Table(table) | Block::CrossTable { table, .. } => table.clone().fitted(width),
        Block::List(items) => {
            let shown = items.iter().take(MAX_ITEMS).map(|item| format!("  {item}\n"));
            let more = items.len().saturating_sub(MAX_ITEMS);
            let more = (more > 0).then(|| format!("  … and {more} more (--format json has all)\n"));
            shown.chain(more).collect()
        }
        Block::Verbatim(text) | Block::Rounds { text, .. } => text.clone(),
        Block::Command(command) => format!("{command}\n"),
        Block::Figures(found) => found.iter().map(|one| figure(one, width)).collect(),
        Block::Games(games) => {
            games.iter().map(|game| format!("{}. {}\n", game.title, game.note)).collect()
        }
    };
    head + &shown_output(&text)
}

fn figure(figure: &Figure, width: Option<usize>) -> String {
    if figure.table.is_empty() {
        return String::new();
    }
    format!("{}:\n{}", figure.caption, figure.table.clone().fitted(width))
}

/// Wraps text into lines of at most `width` minus `indent` columns.
fn wrapped(text: &str, width: Option<usize>, indent: usize) -> String {
    let Some(width) = width else { return text.to_owned() };
    let room = width.saturating_sub(indent).max(1);
    let lines: Vec<String> = text.lines().map(|line| Wrap::wrap(line, room, true)).collect();
    let lines = lines.join("\n");
    lines.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::{html_page, markdown};
    use crate::parts::Table;

    #[test]
    fn foreign_text_is_escaped_and_keeps_the_style_of_the_document() {
        let code = "\u{1b}[32ma\u{202e}";
        let mut document = Document::new(code.to_owned());
        document.heading(code);
        document.paragraph(code);
        document.value("name", code);
        document.list(code, vec![code.to_owned()]);
        document.blocks.push(Block::Verdict { tone: Tone::Bad, text: code.to_owned() });
        document.blocks.push(Block::Verbatim(code.to_owned()));
        document.table(Table::new([code]));
        let text = plain_text(&document, None);
        assert!(!text.contains("\u{1b}[32m") && text.contains(&styled(BAD_STYLE, code)), "{text}");
        assert!(text.contains("│ \\u001b[32ma\\u202e │\n"), "{text}");
        assert_eq!(text.matches("\\u001b[32ma\\u202e").count(), 9, "{text}");
        for text in [markdown::markdown(&document), html_page(&document)] {
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
            assert!(text.contains("u001b") && text.contains("u202e"), "{text}");
        }
    }

    #[test]
    fn a_long_list_is_truncated_only_in_plain_text() {
        let mut document = Document::new(String::new());
        document.list("Many", (0..MAX_ITEMS + 2).map(|n| n.to_string()).collect());
        let text = plain_body(&document, None);
        assert!(text.ends_with("  … and 2 more (--format json has all)\n"), "{text}");
        assert_eq!(markdown::markdown(&document).matches("\n- ").count(), MAX_ITEMS + 2);
        document.list("None", Vec::new());
        assert_eq!(document.blocks.len(), 2);
    }
}
