//! A document in Markdown.

use crate::document::{Block, Document, Figure, Game};

/// The document; charts are told by their figures, and games by their moves.
pub fn render(document: &Document) -> String {
    let mut text = format!("# {}\n", document.title);
    for block in &document.blocks {
        text.push('\n');
        text.push_str(&part(block));
    }
    text
}

fn part(block: &Block) -> String {
    match block {
        Block::Heading(words) => format!("## {words}\n"),
        Block::Paragraph { strong, text } => match (strong.is_empty(), text.is_empty()) {
            (true, _) => format!("{text}\n"),
            (false, true) => format!("**{strong}**\n"),
            (false, false) => format!("**{strong}** {text}\n"),
        },
        Block::Table(table) => table.clone().markdown(),
        Block::Verbatim(text) => format!("```text\n{text}```\n"),
        Block::Command(command) => format!("```sh\n{command}\n```\n"),
        Block::Figure(Figure { caption, table, .. }) => {
            format!("{caption}:\n\n{}", table.clone().markdown())
        }
        Block::Games(games) => games.iter().map(game).collect::<Vec<_>>().join("\n"),
    }
}

fn game(game: &Game) -> String {
    let moves: Vec<String> = game
        .moves
        .iter()
        .enumerate()
        .map(|(index, step)| match step.number.contains("...") && index > 0 {
            true => step.san.clone(),
            false => format!("{} {}", step.number, step.san),
        })
        .collect();
    format!("{}. {}\n\n{}\n", game.title, game.note, moves.join(" "))
}
