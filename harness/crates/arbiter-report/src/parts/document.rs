//! Report as a list of parts that all formats share; each format only determines how a part looks.

use super::chart::svg::LINE_COLOURS;
use super::chart::{Bars, Chart};
use super::table::Table;
use arbiter_stats::elo::Estimate;

/// Report as a list of parts, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Subject of the document, in a line.
    pub title: String,
    /// Parts of the document.
    pub blocks: Vec<Block>,
}

/// Part of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Heading of a section.
    Heading(String),
    /// Text, which may begin with the part that matters most.
    Paragraph {
        /// Emphasized beginning; may be empty.
        strong: String,
        /// Remaining text; may be empty.
        text: String,
    },
    /// Value with its name.
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
    /// Main figures of a run with pictures of them; text has them elsewhere.
    Head(Vec<Gauge>),
    /// Empty line in plain text; other formats separate blocks by themselves.
    Gap,
    /// Figures in rows and columns.
    Table(Table),
    /// Results of all against all.
    CrossTable {
        /// Table whose first column has names.
        table: Table,
        /// Share of points in each cell behind the name, if there is one.
        scores: Vec<Vec<Option<f64>>>,
    },
    /// Encounters round by round.
    Rounds {
        /// Rounds, the first one first.
        rounds: Vec<Round>,
        /// `true` if encounter n of a round decides a place in encounter n/2 of the next.
        is_bracket: bool,
        /// Rounds as lines whose columns matter.
        text: String,
    },
    /// Items below each other; plain text shows only the beginning of a long list.
    List(Vec<String>),
    /// Lines whose columns matter.
    Verbatim(String),
    /// Command for a shell.
    Command(String),
    /// Chart with its values.
    Figure(Figure),
    /// Small charts side by side.
    Figures(Vec<Figure>),
    /// Positions; text has them elsewhere.
    Boards {
        /// Common feature of the positions, in a line.
        caption: String,
        /// Positions with their titles.
        boards: Vec<Diagram>,
    },
    /// Games to step through.
    Games(Vec<Game>),
}

/// Figure with a small picture of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauge {
    /// Name of the figure.
    pub name: String,
    /// Formatted value.
    pub value: String,
    /// Further details of the value.
    pub note: String,
    /// Picture of the value.
    pub picture: Picture,
}

/// Picture of a gauge.
#[derive(Debug, Clone, PartialEq)]
pub enum Picture {
    /// Value with both ends of its interval, which are infinite if it is a bound.
    Interval {
        /// Value and interval.
        estimate: Estimate,
        /// Elo of both hypotheses of a test, on the same axis.
        hypotheses: Option<[f64; 2]>,
    },
    /// Progress of a value from zero to one of two bounds.
    Progress {
        /// Current value.
        value: f64,
        /// Lower and upper bound.
        bounds: [f64; 2],
    },
    /// Counts from the worst result to the best.
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

/// Encounter; without sides, nobody plays for its place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Meeting {
    /// Engines that play, or the one with a bye.
    pub sides: Vec<Side>,
    /// Number of pairs left to play.
    pub note: String,
}

/// One side of an encounter.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Name of the engine.
    pub name: String,
    /// Points of the engine.
    pub score: String,
    /// `true` if the engine is ahead, or went to the next round.
    pub is_ahead: bool,
}

/// Tone of a verdict: good news or bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The verdict is good news.
    Good,
    /// The verdict is bad news.
    Bad,
    /// There is no verdict yet.
    Open,
}

/// Chart with all its values as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Subject of the chart, in a line.
    pub caption: String,
    /// Description for those who cannot see the chart.
    pub description: String,
    /// Chart to be drawn.
    pub chart: Chart,
    /// Values of the chart; has no columns if they stand elsewhere, and then only pages show the
    /// chart.
    pub table: Table,
}

/// Position with its title and note.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagram {
    /// Title of the position.
    pub title: String,
    /// Reason to show the position.
    pub note: String,
    /// Board field of the FEN.
    pub placement: String,
}

impl Diagram {
    /// Returns a description for those who cannot see the board.
    pub(crate) fn label(&self) -> String {
        format!("Board of {}: {}", self.title, self.placement)
    }
}

/// Game to step through.
#[derive(Debug, Clone, PartialEq)]
pub struct Game {
    /// Players and result.
    pub title: String,
    /// Reason to show the game.
    pub note: String,
    /// Board field of the FEN of the start.
    pub start: String,
    /// Moves of the game.
    pub moves: Vec<Step>,
    /// Step, from 1, at which the game is opened; 0 is the start.
    pub first_shown: usize,
    /// Evaluations and clocks over the moves.
    pub graphs: Vec<Figure>,
    /// Number of pair and game, as in the tag Round of a PGN.
    pub place: String,
    /// Address of the game's own page, if it has one.
    pub link: Option<String>,
}

/// Move of a game to step through.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Number of the move with its dots.
    pub number: String,
    /// Move in SAN.
    pub san: String,
    /// Move in UCI notation.
    pub uci: String,
    /// Place of the move on the axis of the graphs.
    pub at: f64,
    /// Report of the engine on the move; "book" for a book move.
    pub remark: String,
    /// Board field of the FEN after the move.
    pub board: String,
}

impl Tone {
    /// Returns the name of the tone in the page's style.
    pub fn name(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Open => "open",
        }
    }
}

impl Document {
    /// Returns a document with a title and no parts.
    pub fn new(title: String) -> Document {
        Document { title, blocks: Vec::new() }
    }

    /// Returns the text that matters most, after the name of its colour.
    pub(crate) fn verdict(&self) -> (&'static str, &str) {
        let verdict = self.blocks.iter().find_map(|block| match block {
            Block::Verdict { tone, text } => Some((tone.name(), text.as_str())),
            Block::Paragraph { strong, .. } if !strong.is_empty() => Some(("ink", strong)),
            _ => None,
        });
        verdict.unwrap_or_default()
    }

    /// Starts a section.
    pub fn heading(&mut self, words: impl Into<String>) {
        self.blocks.push(Block::Heading(words.into()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, words: impl Into<String>) {
        self.blocks.push(Block::Paragraph { strong: String::new(), text: words.into() });
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// Adds a value with its name.
    pub(crate) fn value(&mut self, name: &'static str, text: impl Into<String>) {
        self.blocks.push(Block::Value { name, text: text.into() });
    }

    /// Adds a list below its heading, unless it is empty.
    pub(crate) fn list(&mut self, heading: impl Into<String>, items: Vec<String>) {
        if !items.is_empty() {
            self.blocks.extend([Block::Heading(heading.into()), Block::List(items)]);
        }
    }

    /// Adds charts below each other.
    pub(crate) fn figures(&mut self, figures: impl IntoIterator<Item = Figure>) {
        self.blocks.extend(figures.into_iter().map(Block::Figure));
    }

    /// Adds small charts side by side, unless there are none.
    pub(crate) fn multiples(&mut self, figures: impl IntoIterator<Item = Figure>) {
        let figures: Vec<Figure> = figures.into_iter().collect();
        if !figures.is_empty() {
            self.blocks.push(Block::Figures(figures));
        }
    }
}

/// Returns bars for the first engines and a table of all, from a value for each label; `height`
/// also gets all values of the engine.
pub(crate) fn bars_by_engine<T>(
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
