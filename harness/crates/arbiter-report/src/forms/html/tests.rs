use super::*;
use crate::parts::{Chart, Game, Line, Lines, Step};

fn document() -> Document {
    let mut table = Table::new(["engine", "Elo (95 %)"]);
    table.push([&"<script>alert(1)</script>", &"+1.0 ± 2.0"]);
    let chart =
        Lines { lines: vec![Line::plain("<b>", vec![(1.0, 2.0), (2.0, 3.0)])], ..Lines::default() };
    let step = Step {
        number: "1.".to_owned(),
        san: "e4".to_owned(),
        remark: "</script><script>alert(2)</script>".to_owned(),
        uci: "e2e4".to_owned(),
        at: 1.0,
        board: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR".to_owned(),
    };
    let game = Game {
        title: "1.1 A – B".to_owned(),
        note: "A & B".to_owned(),
        start: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR".to_owned(),
        moves: vec![step],
        first_shown: 1,
        graphs: Vec::new(),
        place: "1.1".to_owned(),
        link: None,
    };
    Document {
        title: "A < B".to_owned(),
        blocks: vec![
            Block::Paragraph { strong: "A & B".to_owned(), text: "text".to_owned() },
            Block::Heading("Result".to_owned()),
            Block::Table(table.clone()),
            Block::Figures(vec![Figure {
                caption: "LLR history".to_owned(),
                description: "It rises.".to_owned(),
                chart: Chart::Lines(chart),
                table,
            }]),
            Block::Heading("Misjudged games".to_owned()),
            Block::Games(vec![game]),
            Block::Command("arbiter sprt --engine 'a<b'".to_owned()),
        ],
    }
}

#[test]
fn engine_output_is_escaped() {
    let page = html_page(&document());
    assert_eq!(page.matches("<script").count(), 2, "the data of a game and the viewer");
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("A &lt; B"));
    assert!(page.contains("\\u003c/script>"));
}

#[test]
fn a_page_needs_no_other_file() {
    let page = html_page(&document());
    for reference in ["src=", "@import", "url(", "http://", "https://"] {
        // The URL of a namespace is only a name and does not refer to a file.
        let rest = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains(reference), "{reference}");
    }
    assert!(page.contains(HTML_POLICY));
}

#[test]
fn every_part_is_present_and_accessible() {
    let page = html_page(&document());
    for part in [
        "<strong>A &amp; B</strong> text",
        "href=\"#misjudged-games\"",
        "<h2 id=\"misjudged-games\">",
        "<svg ",
        "aria-label=\"It rises.\"",
        "<td class=\"figure\">+1.0 ± 2.0</td>",
        "aria-label=\"Table: Result\"",
        "aria-label=\"Table: LLR history\"",
        "aria-labelledby=\"misjudged-games-0\"",
        "Board after 1. e4: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let squares = ["light", "dark", "light marked", "dark marked"]
        .map(|class| page.matches(&format!("class=\"{class}\"")).count());
    assert_eq!(squares, [30, 32, 2, 0]);
}

#[test]
fn negative_figures_have_minus_signs_and_headings_explain_abbreviations() {
    assert_eq!(
        minus_signs("-1.5 [-3, +2] a-1 --elo0 --1 (-∞)"),
        "−1.5 [−3, +2] a-1 --elo0 --1 (−∞)"
    );
    let heading = column_heading("nElo (95 %)").into_string();
    assert_eq!(heading, "<abbr title=\"normalized Elo\">nElo</abbr> (95 %)");
}

#[test]
fn bracket_lines_start_at_played_encounters() {
    use crate::parts::Side;
    let side = || Side { name: "A".to_owned(), score: String::new(), is_ahead: false };
    let met = |is_there: bool| Meeting {
        sides: (0..2).filter(|_| is_there).map(|_| side()).collect(),
        note: String::new(),
    };
    let round = |all: &[bool]| Round {
        name: "Round".to_owned(),
        encounters: all.iter().map(|is| met(*is)).collect(),
    };
    let drawn =
        rounds(&[round(&[false, true, false, false]), round(&[true, true]), round(&[true])], true);
    let places: Vec<_> = drawn.0.matches("<li class=\"fed\">").collect();
    assert_eq!(places.len(), 2, "{}", drawn.0);
}
