//! Draws what arbiter prints on a terminal as SVG:
//! `arbiter results show RUN --color always | cargo run > terminal.svg`.

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let svg = anstyle_svg::Term::new().render_svg(&text);
    std::io::stdout().write_all(svg.as_bytes())
}
