//! Documents in Markdown.

use crate::parts::{Block, Document, Figure, Game, escaped, escaped_block, shown_output};

/// Formats a document. Charts become tables of their values, and games become lists of moves.
pub fn markdown(document: &Document) -> String {
    let blocks = document.blocks.iter().map(part).filter(|part| !part.is_empty());
    let title = format!("# {}\n", escaped(&document.title));
    shown_output(&std::iter::once(title).chain(blocks).collect::<Vec<_>>().join("\n"))
}

/// Formats lines as code. The fence is longer than any fence in the lines, so that no line ends the
/// block.
fn code(language: &str, lines: &str) -> String {
    let mut fence = "```".to_owned();
    while lines.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{lines}{fence}\n")
}

fn part(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("## {}\n", escaped(text)),
        Block::Paragraph { strong, text } => {
            let strong = escaped(strong);
            match (strong.is_empty(), text.is_empty()) {
                (true, _) => format!("{}\n", escaped_block(text)),
                (false, true) => format!("**{strong}**\n"),
                (false, false) => format!("**{strong}** {}\n", escaped(text)),
            }
        }
        Block::Value { name, text } => format!("{name}: {}\n", escaped(text)),
        Block::Verdict { text, .. } => format!("**{}**\n", escaped(text)),
        Block::Gap | Block::Head(_) | Block::Boards { .. } => String::new(),
        Block::Table(table) | Block::CrossTable { table, .. } => table.clone().markdown(),
        Block::List(items) => {
            items.iter().map(|item| format!("- {}\n", escaped_block(item))).collect()
        }
        Block::Verbatim(text) | Block::Rounds { text, .. } => code("text", text),
        Block::Command(command) => code("sh", &format!("{command}\n")),
        Block::Figures(found) => found.iter().map(figure).collect::<Vec<_>>().join("\n"),
        Block::Games(games) => games.iter().map(game).collect::<Vec<_>>().join("\n"),
    }
}

fn figure(Figure { caption, table, .. }: &Figure) -> String {
    if table.is_empty() {
        return String::new();
    }
    format!("{}:\n\n{}", escaped_block(caption), table.clone().markdown())
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
    format!("{}. {}\n\n{moves}\n", escaped_block(&game.title), escaped(&game.note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_in_code_does_not_end_the_block() {
        let expected = "````sh\na\n```\nb\n````\n";
        assert_eq!(part(&Block::Command("a\n```\nb".to_owned())), expected);
        assert_eq!(part(&Block::Verbatim("a `b`\n".to_owned())), "```text\na `b`\n```\n");
    }
}
