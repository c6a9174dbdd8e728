//! Documents in Markdown.

use crate::parts::{Block, Document, Figure, Game, escaped};

/// Formats a document. Charts become tables of their values, and games become lists of moves.
pub fn markdown(document: &Document) -> String {
    let blocks = document.blocks.iter().map(part).filter(|part| !part.is_empty());
    let title = format!("# {}\n", escaped(&document.title));
    std::iter::once(title).chain(blocks).collect::<Vec<_>>().join("\n")
}

fn part(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("## {}\n", escaped(text)),
        Block::Paragraph { strong, text } => {
            let (strong, text) = (escaped(strong), escaped(text));
            match (strong.is_empty(), text.is_empty()) {
                (true, _) => format!("{text}\n"),
                (false, true) => format!("**{strong}**\n"),
                (false, false) => format!("**{strong}** {text}\n"),
            }
        }
        Block::Value { name, text } => format!("{name}: {}\n", escaped(text)),
        Block::Verdict { text, .. } => format!("**{}**\n", escaped(text)),
        Block::Gap | Block::Head(_) | Block::Boards { .. } => String::new(),
        Block::Table(table) | Block::CrossTable { table, .. } => table.clone().markdown(),
        Block::List(items) => items.iter().map(|item| format!("- {}\n", escaped(item))).collect(),
        // Engine output may contain a code fence, which would end the block.
        Block::Verbatim(text) | Block::Rounds { text, .. } => {
            format!("```text\n{}```\n", text.replace("```", "'''"))
        }
        Block::Command(command) => format!("```sh\n{command}\n```\n"),
        Block::Figures(found) => found.iter().map(figure).collect::<Vec<_>>().join("\n"),
        Block::Games(games) => games.iter().map(game).collect::<Vec<_>>().join("\n"),
    }
}

fn figure(Figure { caption, table, .. }: &Figure) -> String {
    if table.is_empty() {
        return String::new();
    }
    format!("{}:\n\n{}", escaped(caption), table.clone().markdown())
}

fn game(game: &Game) -> String {
    let moves = game.moves.iter().enumerate().map(|(index, step)| {
        if step.number.contains("...") && index > 0 {
            step.san.clone()
        } else {
            format!("{} {}", step.number, step.san)
        }
    });
    let moves = moves.collect::<Vec<_>>().join(" ");
    format!("{}. {}\n\n{moves}\n", escaped(&game.title), escaped(&game.note))
}
