//! Game viewer, which shows the moves and one board. With JavaScript, the viewer can show the board
//! after every move.

use maud::{Markup, PreEscaped, html};
use serde_json::json;
use shakmaty::Square;

use crate::parts::{Game, svg};

/// Returns the viewer of a game. `id` must be unique on the page. An address of the page that ends
/// in `#ID-PLY` opens the game `ID` at the ply `PLY`.
pub fn game_viewer(id: &str, game: &Game) -> Markup {
    let shown = game.moves.get(game.first_shown.wrapping_sub(1));
    let placement = shown.map_or(game.start.as_str(), |step| step.board.as_str());
    let marked = shown.map_or_else(Vec::new, |step| squares(&step.uci));
    let name = shown.map_or("the start".to_owned(), |step| format!("{} {}", step.number, step.san));
    let label = format!("Board after {name}: {placement}");
    html! {
        article class="game" aria-labelledby=(id) data-shown=(game.first_shown.min(game.moves.len())) {
            h3 id=(id) { (game.title) }
            p { (game.note) @if let Some(link) = &game.link { " " a href=(link) { "Open game " (game.place) } } }
            div class="viewer" {
                div class="side" {
                    (diagram(placement, &label, &marked))
                    p class="remark" aria-live="polite" { (shown.map_or("The start", |s| &s.remark)) }
                    div class="buttons" role="group" aria-label="Steps of the game" hidden {
                        button type="button" data-step="first" aria-label="To the start" { "|◀" }
                        button type="button" data-step="back" aria-label="One move back" { "◀" }
                        button type="button" data-step="on" aria-label="One move forward" { "▶" }
                        button type="button" data-step="last" aria-label="To the end" { "▶|" }
                        a class="here" { "Link to this position" }
                    }
                }
                div class="course" {
                    p class="moves" tabindex="0" role="group" aria-label="Moves" { @for (index, step) in game.moves.iter().enumerate() {
                        span class="ply" {
                            @if !step.number.contains("...") || index == 0 { (step.number) " " }
                            span class="move" data-move=(index + 1) { (step.san) }
                        } " "
                    } }
                    @if !game.graphs.is_empty() {
                        div class="graphs multiples" { @for graph in &game.graphs {
                            (super::figure(graph, &[&svg::SMALL]))
                        } }
                    }
                }
            }
            script type="application/json" { (PreEscaped(data(game))) }
        }
    }
}

/// Returns the data for the script as JSON: one item for the starting position and one for the
/// position after each move. An item contains the board, the remark and the last move.
fn data(game: &Game) -> String {
    let steps = game.moves.iter().map(|step| {
        let name = format!("{} {}", step.number, step.san);
        json!([step.board, step.remark, name, squares(&step.uci), step.at])
    });
    let start = json!([game.start, "", "The start", [], null]);
    let all: Vec<_> = std::iter::once(start).chain(steps).collect();
    // `</script>` in a string would end the script element, even inside quotes.
    serde_json::Value::from(all).to_string().replace('<', "\\u003c")
}

/// Returns the indices, from 0 (a8) to 63 (h1), of the source and target squares of a move in UCI
/// notation.
pub fn squares(uci: &str) -> Vec<usize> {
    let squares = uci.as_bytes().chunks(2).take(2);
    let squares = squares.filter_map(|square| Square::from_ascii(square).ok());
    squares.map(|square| usize::from(square.flip_vertical())).collect()
}

/// Draws the piece placement (first field) of a FEN as a diagram with White at the bottom. `marked`
/// contains the indices, from 0 (a8) to 63 (h1), of the highlighted squares.
pub fn diagram(placement: &str, label: &str, marked: &[usize]) -> Markup {
    html! {
        div class="board" role="img" aria-label=(label) {
            @for (rank, squares) in placement.split('/').enumerate() {
                @for (file, piece) in expanded(squares).enumerate() {
                    span class={
                            @if (rank + file).is_multiple_of(2) { "light" } @else { "dark" }
                            @if marked.contains(&(8 * rank + file)) { " marked" }
                        }
                        data-rank=[(file == 0).then_some(8 - rank)]
                        data-file=[(rank == 7).then(|| char::from(b'a' + file as u8))] {
                        @if let Some(piece) = piece {
                            b class=(if piece.is_ascii_uppercase() { "white" } else { "black" }) {
                                (glyph(piece))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the squares of a rank in a FEN, each with its piece, if any.
fn expanded(rank: &str) -> impl Iterator<Item = Option<char>> {
    rank.chars().flat_map(|c| match c.to_digit(10) {
        Some(empty) => std::iter::repeat_n(None, empty as usize),
        None => std::iter::repeat_n(Some(c), 1),
    })
}

/// Returns the solid glyph of a piece. The variation selector U+FE0E requests a text glyph instead
/// of an emoji. The style sheet sets the colour.
fn glyph(piece: char) -> &'static str {
    match piece.to_ascii_lowercase() {
        'k' => "♚\u{fe0e}",
        'q' => "♛\u{fe0e}",
        'r' => "♜\u{fe0e}",
        'b' => "♝\u{fe0e}",
        'n' => "♞\u{fe0e}",
        _ => "♟\u{fe0e}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_parsed_from_moves() {
        assert_eq!(squares("a8h1"), [0, 63]);
        assert_eq!(squares("e7e8q"), [12, 4]);
        assert!(squares("0000").is_empty());
    }
}
