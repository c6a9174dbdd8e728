//! Report as a list of blocks. Each output format converts the blocks to text.

use super::chart::svg::LINE_COLOURS;
use super::chart::{Bars, Chart};
use super::table::Table;
use arbiter_stats::elo::Estimate;

/// Report as a list of blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Subject of the document, in one line.
    pub title: String,
    /// Blocks of the document, in order.
    pub blocks: Vec<Block>,
}

/// Block of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Heading of a section.
    Heading(String),
    /// Text, with an optional emphasized beginning.
    Paragraph {
        /// Emphasized beginning; may be empty.
        strong: String,
        /// Remaining text; may be empty.
        text: String,
    },
    /// Named value.
    Value {
        /// Name of the value.
        name: &'static str,
        /// Formatted value.
        text: String,
    },
    /// Verdict, with its tone.
    Verdict {
        /// Tone of the verdict.
        tone: Tone,
        /// Verdict in sentences.
        text: String,
    },
    /// Main values of a run, with pictures. Used only in HTML; other formats show the values in
    /// other blocks.
    Head(Vec<Gauge>),
    /// Empty line in plain text; other formats always separate blocks.
    Gap,
    /// Table.
    Table(Table),
    /// Crosstable: results of each engine against every other engine.
    CrossTable {
        /// Table with names in the first column.
        table: Table,
        /// Scores, 0 to 1, of the cells to the right of the names; `None` for a cell without games.
        scores: Vec<Vec<Option<f64>>>,
    },
    /// Encounters by round.
    Rounds {
        /// Rounds, in order.
        rounds: Vec<Round>,
        /// `true` if the winner of encounter n (from 0) of a round plays in encounter ⌊n/2⌋ of the
        /// next round.
        is_bracket: bool,
        /// Rounds as preformatted lines.
        text: String,
    },
    /// List of items; plain text shows only the beginning of a long list.
    List(Vec<String>),
    /// Preformatted lines.
    Verbatim(String),
    /// Command for a shell.
    Command(String),
    /// Charts with their values. Three or more charts are drawn small and side by side.
    Figures(Vec<Figure>),
    /// Chess diagrams. Used only in HTML; other formats show the positions in other blocks.
    Boards {
        /// Caption of all diagrams, in one line.
        caption: String,
        /// Diagrams in order.
        boards: Vec<Diagram>,
    },
    /// Games that a reader can step through.
    Games(Vec<Game>),
}

/// Value with a small picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauge {
    /// Name of the value.
    pub name: String,
    /// Formatted value.
    pub value: String,
    /// Details of the value.
    pub note: String,
    /// Picture of the value.
    pub picture: Picture,
}

/// Picture of a gauge.
#[derive(Debug, Clone, PartialEq)]
pub enum Picture {
    /// Value with its interval. If the value is only a bound, one end of the interval is infinite.
    Interval {
        /// Value in Elo, with its interval.
        estimate: Estimate,
        /// H0 and H1 of the SPRT in Elo, shown on the same axis.
        hypotheses: Option<[f64; 2]>,
    },
    /// Progress of a value from zero to one of two bounds.
    Progress {
        /// Current value.
        value: f64,
        /// Lower and upper bounds.
        bounds: [f64; 2],
    },
    /// Numbers of pairs by points of the first engine, from 0 to 2.
    Shares([u64; 5]),
}

/// Round of a tournament.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Name of the round.
    pub name: String,
    /// Encounters of the round.
    pub encounters: Vec<Meeting>,
}

/// Encounter of a round, or an empty place in a bracket if `sides` is empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Meeting {
    /// Both engines, or the engine with a bye.
    pub sides: Vec<Side>,
    /// Note about the encounter, such as the number of remaining pairs.
    pub note: String,
}

/// One side of an encounter.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Name of the engine.
    pub name: String,
    /// Points of the engine.
    pub score: String,
    /// `true` if the engine leads or has advanced to the next round.
    pub is_ahead: bool,
}

/// Tone of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The verdict is good news.
    Good,
    /// The verdict is bad news.
    Bad,
    /// There is no verdict yet.
    Open,
}

/// Chart with its values as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Subject of the chart, in one line.
    pub caption: String,
    /// Description for screen readers.
    pub description: String,
    /// Chart to be drawn.
    pub chart: Chart,
    /// Values of the chart. If the values are in another block, the table has no columns and only
    /// HTML shows the chart.
    pub table: Table,
}

/// Chess diagram with its title and note.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagram {
    /// Title of the position.
    pub title: String,
    /// Reason why the position is shown.
    pub note: String,
    /// Piece placement (first field of the FEN).
    pub placement: String,
}

/// Game that a reader can step through.
#[derive(Debug, Clone, PartialEq)]
pub struct Game {
    /// Players and result.
    pub title: String,
    /// Reason why the game is shown.
    pub note: String,
    /// Piece placement (first field of the FEN) of the starting position.
    pub start: String,
    /// Moves of the game.
    pub moves: Vec<Step>,
    /// Number of plies after which the viewer opens the game; 0 is the starting position.
    pub first_shown: usize,
    /// Charts of the evaluations and clocks over the moves.
    pub graphs: Vec<Figure>,
    /// Numbers of the pair and the game, as in the PGN tag `Round`.
    pub place: String,
    /// Address of the game's page, if the game has a page.
    pub link: Option<String>,
}

/// Move of a game that a reader can step through.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Move number with dots, such as `1.` or `1...`.
    pub number: String,
    /// Move in SAN.
    pub san: String,
    /// Move in UCI notation.
    pub uci: String,
    /// Horizontal coordinate of the move in the graphs.
    pub at: f64,
    /// Search information for the move; "book" for a book move.
    pub remark: String,
    /// Piece placement (first field of the FEN) after the move.
    pub board: String,
}

impl Tone {
    /// Returns the CSS class of the tone.
    pub fn name(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Open => "open",
        }
    }
}

impl Document {
    /// Returns an empty document with a title.
    pub fn new(title: String) -> Document {
        Document { title, blocks: Vec::new() }
    }

    /// Starts a section with a heading.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph { strong: String::new(), text: text.into() });
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// Adds a value with its name.
    pub(crate) fn value(&mut self, name: &'static str, text: impl Into<String>) {
        self.blocks.push(Block::Value { name, text: text.into() });
    }

    /// Adds a heading and a list, unless the list is empty.
    pub(crate) fn list(&mut self, heading: impl Into<String>, items: Vec<String>) {
        if !items.is_empty() {
            self.blocks.extend([Block::Heading(heading.into()), Block::List(items)]);
        }
    }

    /// Adds the charts as one block; adds nothing if there are no charts.
    pub fn figures(&mut self, figures: impl IntoIterator<Item = Figure>) {
        let figures: Vec<Figure> = figures.into_iter().collect();
        if !figures.is_empty() {
            self.blocks.push(Block::Figures(figures));
        }
    }
}

/// Returns a bar chart of the first engines (at most as many engines as there are colours), and a
/// table of all engines. Each engine has one value per label. `height` computes the height of a bar
/// from a value and all values of the same engine.
pub(crate) fn bars_by_engine(
    unit: &'static str,
    labels: Vec<String>,
    engines: &[(&String, Vec<u64>)],
    height: impl Fn(&u64, &[u64]) -> f64,
) -> (Chart, Table) {
    let mut table = Table::with_columns(["engine"], &labels);
    for (name, values) in engines {
        table.push_with([name], values);
    }
    let heights = |values: &[u64]| values.iter().map(|value| height(value, values)).collect();
    let shown = engines.iter().take(LINE_COLOURS);
    let series = shown.map(|(name, values)| ((*name).clone(), heights(values))).collect();
    (Chart::Bars(Bars { y: unit, labels, series, is_horizontal: false }), table)
}
