//! A report as the parts that all its forms share; the forms only say how a part looks.

mod bracket;
mod brief;
mod calibration;
mod figures;
mod games;
mod gates;
mod head;
mod latencies;
mod manifest;
mod pgn;
mod result_figures;
mod run;
mod search;
mod tournament;
mod tuning;

pub use brief::brief_document;
pub(crate) use brief::faults;
pub use games::game_to_show;
pub use head::{Gauge, Picture};
pub use pgn::games_document;
pub use run::{outcome_document, plan_document, run_document, run_title, tone};

use crate::chart::svg::LINE_COLOURS;
use crate::chart::{Bars, Chart};
use crate::table::Table;

/// What a reader gets to see, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What the document is about, in a line.
    pub title: String,
    /// Its parts.
    pub blocks: Vec<Block>,
}

/// One part of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The beginning of a section.
    Heading(String),
    /// Words; the first of them may be the ones that matter most.
    Paragraph {
        /// What is to catch the eye; may be empty.
        strong: String,
        /// The rest; may be empty.
        text: String,
    },
    /// A value with its name.
    Value {
        /// What it is called.
        name: &'static str,
        /// The value.
        text: String,
    },
    /// How something ended, and whether that is good news.
    Verdict {
        /// Whether the verdict is good news.
        tone: Tone,
        /// The verdict in sentences.
        text: String,
    },
    /// The main figures of a run with pictures of them; text tells them elsewhere.
    Head(Vec<Gauge>),
    /// An empty line in plain text; other forms set blocks apart by themselves.
    Gap,
    /// Figures in rows and columns.
    Table(Table),
    /// Everybody against everybody.
    CrossTable {
        /// The table, whose first column has names.
        table: Table,
        /// The share of points in each cell behind the name, if there is one.
        scores: Vec<Vec<Option<f64>>>,
    },
    /// Encounters round by round.
    Rounds {
        /// The rounds.
        rounds: Vec<Round>,
        /// Whether encounter n of a round is for a place in encounter n/2 of the next.
        is_bracket: bool,
        /// The same in lines whose columns matter.
        text: String,
    },
    /// Items below each other; of a long list, plain text shows the beginning.
    List(Vec<String>),
    /// Lines whose columns matter.
    Verbatim(String),
    /// A command for a shell.
    Command(String),
    /// A picture of figures.
    Figure(Figure),
    /// Small pictures side by side.
    Figures(Vec<Figure>),
    /// Positions; text tells them elsewhere.
    Boards {
        /// What they have in common, in a line.
        caption: String,
        /// The positions.
        boards: Vec<Diagram>,
    },
    /// Games to step through.
    Games(Vec<Game>),
}

/// A round of a tournament.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// What it is called.
    pub name: String,
    /// Who meets whom.
    pub encounters: Vec<Meeting>,
}

/// An encounter; without sides, nobody plays for its place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Meeting {
    /// Who plays, or who need not.
    pub sides: Vec<Side>,
    /// What is left to play.
    pub note: String,
}

/// One side of an encounter.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// The engine.
    pub name: String,
    /// Its points.
    pub score: String,
    /// Whether it is ahead, or went on.
    pub is_ahead: bool,
}

/// Whether a verdict is good news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The verdict is good news.
    Good,
    /// The verdict is bad news.
    Bad,
    /// There is no verdict yet.
    Open,
}

/// A chart, and all that it shows as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it shows, in a line.
    pub caption: String,
    /// What it tells, for those who cannot see it.
    pub description: String,
    /// The picture.
    pub chart: Chart,
    /// Its figures; has no columns if they stand elsewhere, and then only pages show the picture.
    pub table: Table,
}

/// A position and what is to be said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagram {
    /// What it is called.
    pub title: String,
    /// Why it is shown.
    pub note: String,
    /// The board field of its FEN.
    pub placement: String,
}

impl Diagram {
    /// What it shows, for those who cannot see it.
    pub(crate) fn label(&self) -> String {
        format!("Board of {}: {}", self.title, self.placement)
    }
}

/// A game that one can step through.
#[derive(Debug, Clone, PartialEq)]
pub struct Game {
    /// Who played, and with what result.
    pub title: String,
    /// Why it is shown.
    pub note: String,
    /// The board field of the FEN of the start.
    pub start: String,
    /// Its moves.
    pub moves: Vec<Step>,
    /// The step, from 1, at which it is opened; 0 is the start.
    pub first_shown: usize,
    /// Evaluations and clocks over the moves.
    pub graphs: Vec<Figure>,
    /// Pair and game, as in the tag Round of a PGN.
    pub place: String,
    /// The address of its own page, if it has one.
    pub link: Option<String>,
}

/// One move of such a game.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The number of the move with its dots.
    pub number: String,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// Where it is on the axis of the graphs.
    pub at: f64,
    /// What its engine thought of it; empty for the book.
    pub remark: String,
    /// The board field of the FEN after it.
    pub board: String,
}

impl Tone {
    /// Its name in the page's style.
    pub fn name(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Open => "open",
        }
    }
}

impl Document {
    /// A document with a title, and nothing else yet.
    pub fn new(title: String) -> Document {
        Document { title, blocks: Vec::new() }
    }

    /// The words that matter most, and the name of their colour.
    pub(crate) fn verdict(&self) -> (&'static str, &str) {
        let verdict = self.blocks.iter().find_map(|block| match block {
            Block::Verdict { tone, text } => Some((tone.name(), text.as_str())),
            Block::Paragraph { strong, .. } if !strong.is_empty() => Some(("ink", strong)),
            _ => None,
        });
        verdict.unwrap_or_default()
    }

    /// Begins a section.
    pub fn heading(&mut self, words: impl Into<String>) {
        self.blocks.push(Block::Heading(words.into()));
    }

    /// Adds words.
    pub fn paragraph(&mut self, words: impl Into<String>) {
        self.blocks.push(Block::Paragraph { strong: String::new(), text: words.into() });
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    fn value(&mut self, name: &'static str, text: impl Into<String>) {
        self.blocks.push(Block::Value { name, text: text.into() });
    }

    /// Adds a list below its heading, unless it is empty.
    pub(crate) fn list(&mut self, heading: impl Into<String>, items: Vec<String>) {
        if !items.is_empty() {
            self.blocks.extend([Block::Heading(heading.into()), Block::List(items)]);
        }
    }

    fn figures(&mut self, figures: impl IntoIterator<Item = Figure>) {
        self.blocks.extend(figures.into_iter().map(Block::Figure));
    }

    /// Adds small pictures, unless there are none.
    fn multiples(&mut self, figures: impl IntoIterator<Item = Figure>) {
        let figures: Vec<Figure> = figures.into_iter().collect();
        if !figures.is_empty() {
            self.blocks.push(Block::Figures(figures));
        }
    }
}

/// Bars for each of the first engines and a table of all, from a value for each label; `height` also
/// gets all values of the engine.
fn bars_by_engine<T>(
    unit: &'static str,
    labels: Vec<String>,
    engines: &[(&String, Vec<T>)],
    cell: impl Fn(&T) -> String,
    height: impl Fn(&T, &[T]) -> f64,
) -> (Chart, Table) {
    let mut table = Table::with_columns(["engine"], &labels);
    for (name, values) in engines {
        table.push_with([name], values.iter().map(&cell));
    }
    let heights =
        |values: &[T]| values.iter().map(|value| height(value, values)).collect::<Vec<_>>();
    let shown = engines.iter().take(LINE_COLOURS);
    let series = shown.map(|(name, values)| ((*name).clone(), heights(values))).collect();
    (Chart::Bars(Bars { y: unit, labels, series, is_lying: false }), table)
}
