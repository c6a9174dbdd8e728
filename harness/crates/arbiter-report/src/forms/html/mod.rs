//! Documents as self-contained HTML pages, which need no network, server or external file.

mod board;
mod head;

pub use board::{diagram, game_viewer, squares};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::parts::{Block, Chart, Document, Figure, Meeting, Round, Table};
use crate::parts::{UNDEFINED, shown_output, svg};

/// Style sheet of all pages.
pub const HTML_STYLE: &str = include_str!("style.css");
/// Script of all pages: steps through games and shows the values of charts.
pub const HTML_SCRIPT: &str = include_str!("viewer.js");

/// Content security policy that prevents a page from loading anything, even if an engine name was
/// left unescaped by mistake.
pub const HTML_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Returns a document as a page.
pub fn html_page(document: &Document) -> String {
    let headings = document.blocks.iter().filter_map(|block| match block {
        Block::Heading(text) => Some(text),
        _ => None,
    });
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(HTML_POLICY);
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("Arbiter ", env!("CARGO_PKG_VERSION")));
                title { (document.title) }
                style { (PreEscaped(HTML_STYLE)) }
            }
            body {
                a class="skip" href="#main" { "Skip to the result" }
                header { h1 { (document.title) } }
                nav aria-label="Sections" {
                    ul { @for text in headings { li { a href={ "#" (anchor(text)) } { (text) } } } }
                }
                main id="main" tabindex="-1" {
                    @for (_, section) in html_sections(&document.blocks) { (section) }
                }
                footer { p { "Made by Arbiter " (env!("CARGO_PKG_VERSION")) "." } }
                script { (PreEscaped(HTML_SCRIPT)) }
            }
        }
    };
    shown_output(&page.into_string())
}

/// Returns the named parts of a page: the blocks before the first heading, followed by one section
/// per heading.
pub fn html_sections(blocks: &[Block]) -> Vec<(String, Markup)> {
    let is_heading = |block: &Block| matches!(block, Block::Heading(_));
    let first = blocks.iter().position(is_heading).unwrap_or(blocks.len());
    let (conclusion, sections) = blocks.split_at(first);
    let conclusion = html! {
        div class="conclusion" { @for block in conclusion { (part(block, "Result")) } }
    };
    let mut found = vec![("conclusion".to_owned(), conclusion)];
    for section in sections.chunk_by(|_, next| !is_heading(next)) {
        if let [Block::Heading(text), rest @ ..] = section {
            let name = anchor(text);
            let section = html! {
                section aria-labelledby=(name) {
                    h2 id=(name) { (text) }
                    (parts(rest, text))
                }
            };
            found.push((name, section));
        }
    }
    found.iter_mut().for_each(|(_, section)| section.0 = shown_output(&section.0));
    found
}

/// Draws the blocks below a heading. A chart that follows a table is placed next to the table if
/// there is room.
fn parts(blocks: &[Block], heading: &str) -> Markup {
    let is_beside =
        |one: &Block, next: &Block| matches!((one, next), (Block::Table(_), Block::Figures(_)));
    html! { @for group in blocks.chunk_by(is_beside) {
        @match group {
            [block] => (part(block, heading)),
            group => div class="beside" { @for block in group { (part(block, heading)) } },
        }
    } }
}

/// Draws a block below a heading. The heading is the label of tables for screen readers.
fn part(block: &Block, heading: &str) -> Markup {
    match block {
        Block::Heading(text) => html! { h2 { (text) } },
        Block::Paragraph { strong, text } => html! {
            p { @if !strong.is_empty() { strong { (strong) } " " } (minus_signs(text)) }
        },
        Block::Value { name, text } => html! { p { strong { (name) } " " (minus_signs(text)) } },
        Block::Verdict { tone, text } => {
            html! { p class={ "verdict " (tone.name()) } { strong { (minus_signs(text)) } } }
        }
        Block::Head(gauges) => head::head(gauges),
        Block::Gap => html! {},
        Block::Table(rows) => table(rows, heading, &[]),
        Block::CrossTable { table: rows, scores } => table(rows, heading, scores),
        Block::Rounds { rounds: found, is_bracket, .. } => rounds(found, *is_bracket),
        Block::List(items) => html! { ul { @for item in items { li { (item) } } } },
        Block::Verbatim(text) => {
            html! { pre tabindex="0" role="group" aria-label=(heading) { (text) } }
        }
        Block::Command(command) => html! {
            pre class="command" tabindex="0" role="group" aria-label=(heading) {
                code { @for word in command.split(' ') {
                    @if word.starts_with('-') { span { (word) } } @else { (word) } " "
                } }
            }
        },
        // One or two charts in a row have room for the large drawings.
        Block::Figures(found) if found.len() < 3 => html! {
            @for one in found { (figure(one, &[&svg::WIDE, &svg::NARROW])) }
        },
        Block::Figures(found) => html! {
            div class="multiples" { @for one in found { (figure(one, &[&svg::SMALL])) } }
        },
        Block::Boards { caption, boards } => html! {
            figure {
                figcaption { (caption) }
                ul class="diagrams" { @for board in boards { li {
                    @let label = format!("Board of {}: {}", board.title, board.placement);
                    (diagram(&board.placement, &label, &[]))
                    p { strong { (board.title) } ": " (board.note) }
                } } }
            }
        },
        Block::Games(games) => html! { @for (number, game) in games.iter().enumerate() {
            (game_viewer(&format!("{}-{number}", anchor(heading)), game))
        } },
    }
}

/// Draws the rounds, which scroll independently of the page.
fn rounds(rounds: &[Round], is_bracket: bool) -> Markup {
    // In a bracket, a line leads to an encounter only if at least one of the two previous
    // encounters is not a bye.
    let has_incoming_line = |round: usize, place: usize| {
        let before = round.checked_sub(1).map_or(&[][..], |before| &rounds[before].encounters);
        before.iter().skip(2 * place).take(2).any(|met| !met.sides.is_empty())
    };
    html! {
        div class="scroll" tabindex="0" role="group" aria-label="Rounds" {
            ol class=(if is_bracket { "rounds bracket" } else { "rounds" }) { @for (number, round) in rounds.iter().enumerate() {
                li {
                    h3 { (round.name) }
                    ul { @for (place, encounter) in round.encounters.iter().enumerate() {
                        (meeting(encounter, has_incoming_line(number, place)))
                    } }
                }
            } }
        }
    }
}

fn meeting(Meeting { sides, note }: &Meeting, has_incoming_line: bool) -> Markup {
    if sides.is_empty() {
        return html! { li class="none" aria-hidden="true" {} };
    }
    html! {
        li class=[has_incoming_line.then_some("fed")] { div class="meeting" {
            @for side in sides {
                p class=(if side.is_ahead { "ahead" } else { "" }) {
                    span { (side.name) } " " span { (side.score.trim()) }
                }
            }
            @if !note.is_empty() { p class="note" { (note) } }
        } }
    }
}

/// Maximum number of rows, including the heading, of a table shown in place of a chart that cannot
/// be drawn.
const PLAIN_ROWS: usize = 8;

/// Draws the chart and a collapsed table of its values. If the chart cannot be drawn, a short table
/// is shown uncollapsed. The style sheet selects the frame that fits the screen.
fn figure(figure: &Figure, frames: &[&svg::Frame]) -> Markup {
    let drawn: Result<Vec<String>, _> =
        frames.iter().map(|frame| svg::draw(&figure.chart, frame)).collect();
    let is_plain =
        drawn.is_err() && !figure.table.is_empty() && figure.table.rows().len() <= PLAIN_ROWS;
    // A printed page has no tooltips with the full names, so a table with the full names is printed
    // below a chart with truncated names.
    let is_cut = drawn.iter().flatten().any(|svg| svg.contains('…'));
    html! {
        figure class=[is_cut.then_some("cut")] {
            figcaption { (figure.caption) }
            @if let Ok(drawn) = drawn {
                div class="chart" role="img" aria-label=(figure.description) tabindex="0" data-values=(figure.chart.values()) {
                    @for svg in &drawn { (PreEscaped(svg)) }
                }
                @let names = figure.chart.names();
                @if !names.is_empty() {
                    ul class="key" { @for (line, name) in names.iter().enumerate() {
                        li { i class=(figure.chart.key_class(line)) {} (name) }
                    } }
                }
            }
            @if is_plain {
                @if let Chart::Lines(lines) = &figure.chart { p class="remark" { (lines.y) } }
                (table(&figure.table, &figure.caption, &[]))
            } @else if !figure.table.is_empty() {
                details {
                    summary { "Figures: " (figure.caption) }
                    (table(&figure.table, &figure.caption, &[]))
                }
            }
        }
    }
}

/// Draws a table that scrolls independently of the page. Cells with numbers are aligned to the
/// right. `scores` contains the score, 0 to 1, of each cell in a crosstable; five colours show the
/// scores.
fn table(table: &Table, name: &str, scores: &[Vec<Option<f64>>]) -> Markup {
    let class = |row: usize, column: usize| {
        let score = scores.get(row)?.get(column.checked_sub(1)?)?.as_ref()?;
        Some(["score-0", "score-1", "score-2", "score-3", "score-4"][(score * 4.99) as usize])
    };
    let rows = table.rows();
    let (head, body) = rows.split_first().map_or((&[][..], rows), |(head, body)| (&head[..], body));
    let has_head = head.iter().any(|cell| !cell.is_empty());
    let columns: Vec<Option<&str>> =
        (0..head.len()).map(|column| is_numeric_column(body, column).then_some("figure")).collect();
    // A mobile phone has no room for the columns of a wide table, so each row becomes a card. A
    // matrix would be unreadable as cards.
    let is_matrix = head.iter().skip(1).eq(body.iter().filter_map(|row| row.first()));
    let is_wide = has_head && head.len() >= CARD_COLUMNS && !is_matrix;
    let label = |column: usize| head.get(column).filter(|_| is_wide);
    html! {
        div class=(if is_wide { "scroll wide" } else { "scroll" }) tabindex="0" role="group" aria-label={ "Table: " (name) } {
            table aria-label=(name) {
                @if has_head {
                    thead { tr { @for (cell, class) in head.iter().zip(&columns) {
                        @if cell.is_empty() { td {} } @else { th scope="col" class=[class] { (column_heading(cell)) } }
                    } } }
                }
                tbody { @for (number, row) in body.iter().enumerate() { tr { @for (column, cell) in row.iter().enumerate() {
                    @let is_numeric_column = columns.get(column).copied().flatten().is_some();
                    @let cell = if is_numeric_column { minus_signs(cell) } else { cell.clone() };
                    @let address = table.address(number + 1, column);
                    @let text = html! { @if let Some(address) = address { a href=(address) { (cell) } } @else { (cell) } };
                    @if column == 0 { th scope="row" data-label=[label(0).filter(|name| !name.is_empty())] { (text) } }
                    @else {
                        td class=[class(number, column).or(columns.get(column).copied().flatten())] data-label=[label(column)] { (text) }
                    }
                } } } }
            }
        }
    }
}

/// Abbreviations in the headings of tables, with their meanings.
const ABBREVIATIONS: [(&str, &str); 4] = [
    ("LL, LD, DD+WL, WD, WW", "points of the first engine in a pair: 0, ½, 1, 1½, 2"),
    ("nElo", "normalized Elo"),
    ("LOS", "likelihood of superiority"),
    ("LLR", "log-likelihood ratio"),
];

/// Formats the heading of a column, with a tooltip that explains the first abbreviation in the
/// heading.
fn column_heading(cell: &str) -> Markup {
    let found =
        ABBREVIATIONS.iter().find_map(|(short, long)| Some((cell.split_once(short)?, short, long)));
    match found {
        Some(((before, after), short, long)) => {
            html! { (before) abbr title=(long) { (short) } (after) }
        }
        None => html! { (cell) },
    }
}

/// Replaces the hyphens before negative numbers with minus signs. Hyphens in words and flags
/// remain.
fn minus_signs(text: &str) -> String {
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    let mut replaced = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        let is_sign = c == '-'
            && matches!(before, ' ' | '[' | '(')
            && rest.peek().is_some_and(|next| next.is_ascii_digit() || *next == '∞');
        replaced.push(if is_sign { '−' } else { c });
        before = c;
    }
    replaced
}

/// Minimum number of columns at which the rows of a table become cards on a mobile phone.
const CARD_COLUMNS: usize = 5;

/// Returns `true` if a column other than the first contains only numbers and marks for missing
/// numbers.
fn is_numeric_column(rows: &[Vec<String>], column: usize) -> bool {
    let cells = || rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
    let is_missing = |cell: &str| matches!(cell, "" | "-" | "·" | UNDEFINED);
    column > 0 && cells().any(is_number) && cells().all(|cell| is_number(cell) || is_missing(cell))
}

fn is_number(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '±' | '<' | '>'))
        && !cell.starts_with("--")
        // Hashes and commits may begin with a digit, but are not numbers.
        && !(cell.chars().all(|c| c.is_ascii_hexdigit())
            && (cell.len() >= 16 || cell.contains(|c: char| c.is_ascii_alphabetic())))
        && cell.chars().count() <= 32
}

/// Returns the ID of a heading, for links.
fn anchor(text: &str) -> String {
    let plain = text.to_lowercase();
    plain.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests;
