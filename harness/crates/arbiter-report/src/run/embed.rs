//! Badge and picture of a run for other web sites, as self-contained SVG.

use maud::{Markup, PreEscaped, html};

use super::document::tone;
use crate::figures::Summary;
use crate::forms::wrapped;
use crate::parts::{Block, Document, Tone, shortened, shown_output, svg};

/// Style sheet with the colours of Arbiter's pages, for light and dark mode.
const STYLE: &str = "\
    :root { --paper: #ffffff; --ink: #1b1f24; --grid: #d5dae0; --even: #8b949e; --good: #00694f; --bad: #b34700; --open: #6b5900;\
    --c1: #0072b2; --c2: #d55e00; --c3: #007a5e; --c4: #b0508a; --c5: #8a6d00; --c6: #3d8fc4; --c7: #5b5b5b; --c8: #7a3e9d }\
    @media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e4e8ed; --grid: #343c46; --even: #768390; --good: #35c79d;\
    --bad: #f0904d; --open: #e6c84a; --c1: #56b4e9; --c2: #f0904d; --c3: #35c79d; --c4: #e39ac4; --c5: #e6c84a;\
    --c6: #8fd0ff; --c7: #b5b5b5; --c8: #c79be6 } }\
    text { font-family: system-ui, \"Segoe UI\", Roboto, \"DejaVu Sans\", sans-serif }";

/// Width of a picture in pixels; the next constants are the margin and the height of a text line,
/// in pixels.
const WIDTH: u32 = 600;
const SPACE: u32 = 20;
const LINE: u32 = 22;

/// Maximum length of a text line, in characters.
const LINE_LENGTH: usize = 62;

/// Maximum number of text lines for the verdict.
const MAX_LINES: usize = 5;

/// Draws a badge with the name, the state and the Elo of a run.
pub fn badge_svg(summary: &Summary) -> String {
    let (state, elo) = (summary.state_text(), summary.elo_text());
    let value = if elo.is_empty() { state } else { format!("{state}, {elo} Elo") };
    // These colours have sufficient contrast with white text.
    let colour = match tone(summary) {
        Tone::Good => "#00694f",
        Tone::Bad => "#b34700",
        Tone::Open => "#6b5900",
    };
    // The width of text depends on the reader's font. The estimate assumes a mean character width
    // of 7 pixels at this font size; `textLength` stretches the text to the estimated width.
    let width = |text: &str| 7 * text.chars().count() as u32 + 10;
    let value = shortened(&value, 60);
    let name = shortened(&summary.run, 20);
    let (left, right) = (width(&name), width(&value));
    let title = format!("{}: {value}", summary.run);
    let part = |x: u32, room: u32, colour: &str, text: &str| {
        html! {
            rect x=(x) width=(room) height="20" fill=(colour) {}
            text x=(x + 5) y="14" textLength=(room - 10) { (text) }
        }
    };
    let badge = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(left + right) height="20" role="img" aria-label=(title) {
            title { (title) }
            g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" {
                (part(0, left, "#444", &name)) (part(left, right, colour, &value))
            }
        }
    };
    shown_output(&badge.into_string())
}

/// Draws a picture with the title, the verdict and the first chart of a document.
pub fn picture_svg(document: &Document) -> String {
    let (colour, verdict) = document.verdict();
    let lines = wrapped(verdict, Some(LINE_LENGTH), 0);
    let lines: Vec<&str> = lines.lines().take(MAX_LINES).collect();
    let figure = document.blocks.iter().find_map(|block| {
        let Block::Figures(figures) = block else { return None };
        let figure = figures.first()?;
        Some((figure, svg::draw(&figure.chart, &svg::WIDE).ok()?))
    });
    let below = SPACE + LINE * (lines.len() as u32 + 2);
    let width = svg::WIDE.width;
    let height = figure.as_ref().map_or(0, |(figure, _)| svg::WIDE.height_of(&figure.chart));
    let text = |line: u32, size: &str, weight: &str, colour: &str, content: &str| -> Markup {
        let y = SPACE + LINE * line;
        html! { text x=(SPACE) y=(y) font-size=(size) font-weight=(weight) fill={ "var(--" (colour) ")" } { (content) } }
    };
    let title = shortened(&document.title, 55);
    let full_height = below + height + SPACE;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(full_height) viewBox={ "0 0 " (WIDTH) " " (full_height) }
            role="img" aria-label={ (document.title) ": " (verdict) } {
            style { (PreEscaped(STYLE)) }
            rect width="100%" height="100%" fill="var(--paper)" {}
            (text(1, "20", "700", "ink", &title))
            @for (line, content) in (2..).zip(&lines) { (text(line, "15", "600", colour, content)) }
            @if let Some((figure, drawn)) = &figure {
                (text(lines.len() as u32 + 2, "13", "400", "ink", &figure.caption))
                svg x=(SPACE) y=(below) width=(width) height=(height) { (PreEscaped(drawn)) }
            }
        }
    };
    shown_output(&picture.into_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::{Chart, Figure, Line, Lines, Table};
    use arbiter_plan::{Plan, Request, RunKind};
    use arbiter_run::RunState;

    #[test]
    fn badges_and_pictures_are_escaped_and_self_contained() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let state = RunState::new(plan.schedule(), plan.sprt);
        let badge = badge_svg(&Summary::new("a<b> & \"c\"\u{ffff}", &plan, &state, None));
        assert!(
            badge.contains("<title>a&lt;b&gt; &amp; &quot;c&quot;\\uffff: unfinished<"),
            "{badge}"
        );
        let mut document = Document::new("A <b>".to_owned());
        let text = "word ".repeat(100);
        document.blocks.push(Block::Verdict { tone: Tone::Bad, text });
        let line = Line::plain("x", vec![(1.0, 2.0), (3.0, 4.0)]);
        document.figures([Figure {
            caption: "Elo over games".to_owned(),
            description: String::new(),
            chart: Chart::Lines(Lines { lines: vec![line], ..Lines::default() }),
            table: Table::new([""]),
        }]);
        let picture = picture_svg(&document);
        assert!(
            picture.contains("A &lt;b&gt;") && picture.contains(">Elo over games<"),
            "{picture}"
        );
        assert!(
            picture.contains("fill=\"var(--bad)\"") && picture.contains("<polyline"),
            "{picture}"
        );
        for colour in picture.split("var(--").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert_eq!(picture.matches(&format!("--{colour}: #")).count(), 2, "{colour}");
        }
    }
}
