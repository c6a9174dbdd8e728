//! Pictures of positions, for example for `docs/img`.

use std::fmt::Write;

use clap::Args;
use palimpsest::chess::{Color, Kind, Position, Square, fen};

/// Side lengths of a square and of the whole picture, in SVG units.
const SIDE: usize = 30;
const WHOLE: usize = 8 * SIDE;

/// Draw a position (SVG)
#[derive(Args)]
pub(super) struct BoardArgs {
    /// Squares to mark, such as e4,f6
    #[arg(long, value_name = "SQUARES", value_delimiter = ',', value_parser = square)]
    mark: Vec<Square>,
    /// Position in FEN
    #[arg(required = true)]
    fen: Vec<String>,
}

fn square(name: &str) -> Result<Square, String> {
    Square::parse(name).ok_or_else(|| "expected a square such as e4".to_owned())
}

pub(super) fn run(args: &BoardArgs) -> Result<String, String> {
    let position = fen::parse(&args.fen.join(" ")).map_err(|error| error.to_string())?;
    Ok(svg(&position, &args.mark))
}

/// Returns the upper left corner of a square, in a picture with White at the bottom.
fn corner(square: Square) -> (usize, usize) {
    (usize::from(square.file()) * SIDE, usize::from(7 - square.rank()) * SIDE)
}

fn svg(position: &Position, marked: &[Square]) -> String {
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WHOLE} {WHOLE}\" width=\"{WHOLE}\" \
         height=\"{WHOLE}\" role=\"img\">\n<title>{position}</title>\n\
         <rect width=\"{WHOLE}\" height=\"{WHOLE}\" fill=\"#e8e4da\"/>\n<path fill=\"#a9b1ba\" d=\""
    );
    // Writing to a string cannot fail.
    for square in Square::all().filter(|square| (square.file() + square.rank()).is_multiple_of(2)) {
        let (x, y) = corner(square);
        let _infallible = write!(text, "M{x} {y}h{SIDE}v{SIDE}h-{SIDE}z");
    }
    text.push_str("\"/>\n<g fill=\"none\" stroke=\"#b5462e\" stroke-width=\"2\">\n");
    for &square in marked {
        let (x, y) = corner(square);
        let (x, y, radius) = (x + SIDE / 2, y + SIDE / 2, SIDE / 2 - 2);
        let _infallible = writeln!(text, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>");
    }
    let _infallible = write!(
        text,
        "</g>\n<g font-size=\"{}\" text-anchor=\"middle\" stroke=\"#222\" stroke-width=\"0.7\">\n",
        SIDE - 4
    );
    for square in position.board().occupied() {
        let Some(piece) = position.piece_at(square) else { continue };
        let (x, y) = corner(square);
        let (x, y) = (x + SIDE / 2, y + SIDE - 6);
        let fill = if piece.color == Color::White { "#fff" } else { "#222" };
        let glyph = glyph(piece.kind);
        let _infallible =
            writeln!(text, "<text x=\"{x}\" y=\"{y}\" fill=\"{fill}\">{glyph}</text>");
    }
    text.push_str("</g>\n</svg>");
    text
}

/// Returns the filled figurine of a piece. The variation selector prevents display as an emoji.
fn glyph(kind: Kind) -> &'static str {
    match kind {
        Kind::Pawn => "♟\u{fe0e}",
        Kind::Knight => "♞\u{fe0e}",
        Kind::Bishop => "♝\u{fe0e}",
        Kind::Rook => "♜\u{fe0e}",
        Kind::Queen => "♛\u{fe0e}",
        Kind::King => "♚\u{fe0e}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_shows_pieces_and_marks() {
        let position = fen::parse("4k3/8/8/8/8/8/8/R3K3 w - - 0 1").unwrap();
        let picture = svg(&position, &[Square::at(7, 0)]);
        assert!(picture.contains("<text x=\"15\" y=\"234\" fill=\"#fff\">♜"), "{picture}");
        assert!(picture.contains("<text x=\"135\" y=\"24\" fill=\"#222\">♚"), "{picture}");
        assert!(picture.contains("<circle cx=\"225\" cy=\"225\""), "{picture}");
        // Dark squares: a1, but not a8.
        assert!(picture.contains("M0 210h30") && !picture.contains("M0 0h30"), "{picture}");
    }
}
