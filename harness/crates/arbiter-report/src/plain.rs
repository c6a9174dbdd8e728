//! A document as text for a terminal.

use crate::document::{Block, Document};
use crate::style::{LABEL, styled};

/// The document in so many columns; charts are told by their figures, games by their titles.
pub fn render(document: &Document, width: Option<usize>) -> String {
    let mut text = format!("{}\n", styled(LABEL, &document.title));
    for block in &document.blocks {
        text.push_str(&part(block, width));
    }
    text
}

fn part(block: &Block, width: Option<usize>) -> String {
    match block {
        Block::Heading(words) => format!("\n{}\n", styled(LABEL, words)),
        Block::Paragraph { strong, text } => {
            let gap = if strong.is_empty() || text.is_empty() { "" } else { " " };
            format!(
                "{}{gap}{text}\n",
                if strong.is_empty() { String::new() } else { styled(LABEL, strong) }
            )
        }
        Block::Table(table) => table.clone().fitted(width),
        Block::Verbatim(text) => text.clone(),
        Block::Command(command) => format!("{command}\n"),
        Block::Figure(figure) => {
            format!("{}:\n{}", figure.caption, figure.table.clone().fitted(width))
        }
        Block::Games(games) => {
            games.iter().map(|game| format!("{}. {}\n", game.title, game.note)).collect()
        }
    }
}
