//! Opening books: reading, order and generation.
//!
//! A book is a list of [`Opening`]s: legal starting positions for games, each optionally followed
//! by moves. All openings are validated when the book is read. An invalid line is therefore
//! reported (with its line number) before the first game and not during the run. Invalid lines are
//! skipped; a book that contains only invalid lines is an error.
//!
//! [`load`] reads a file, and [`from_text`] reads a book from a string. [`OpeningOrder`] assigns
//! openings to pairs of games. [`generate`] generates new openings.

mod archive;
mod compressed;
mod epd;
pub mod generate;
mod order;
mod packed;
mod pgn;
mod polyglot;
mod quarantine;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;
use std::iter::Peekable;
use std::path::Path;
use std::vec::IntoIter;

use serde::{Deserialize, Serialize};
use shakmaty::fen::Fen;
use shakmaty::packed::PackedUciMove;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, EnPassantMode, FromSetup};

use arbiter_names::quantity;
use arbiter_position::Start;

pub use archive::read_packed;
pub use compressed::decompressed;
pub use order::{OpeningOrder, Order};
pub use quarantine::{MAX_FAULTS, Quarantine};

use packed::PackedBook;

/// Maximum number of openings in a book. The openings are kept in memory: about 30 bytes per
/// opening, and two bytes per move.
pub const MAX_OPENINGS: usize = 10_000_000;

/// Options for reading a book.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOptions {
    /// Number of plies to take from each game in a PGN file; `None` for all plies.
    pub plies: Option<u32>,
    /// Length, in plies, of the lines that are taken from a Polyglot book; `None` for 8.
    #[serde(rename = "book_depth")]
    pub depth: Option<u32>,
    /// Seed for the choice of lines from a Polyglot book.
    #[serde(skip)]
    pub seed: u64,
    /// `true` if an invalid line is an error; `false` if invalid lines are skipped.
    #[serde(rename = "strict_book")]
    pub strict: bool,
}

/// Start of a game: a position, optionally followed by moves. The position is always legal, and the
/// game is never over after the moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Position and move counters before the moves, as written in the book.
    pub fen: Fen,
    /// Castling mode, which determines the notation of castling: `e1g1` in standard chess, `e1h1`
    /// in Chess960.
    pub castling_mode: CastlingMode,
    /// Moves played from the position, in the UCI notation of the castling mode.
    pub moves: Vec<UciMove>,
}

impl Opening {
    fn new(start: &Start, moves: Vec<UciMove>) -> Opening {
        let fen = Fen::from_position(&start.position, EnPassantMode::Always);
        Opening { fen, castling_mode: start.mode, moves }
    }

    /// Returns the position before the moves.
    pub fn start_position(&self) -> Chess {
        Chess::from_setup(self.fen.as_setup().clone(), self.castling_mode)
            .expect("an opening is validated before it is made")
    }
}

/// Opening book that contains at least one opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Book {
    /// Path of the book, or the name that the caller gave the book.
    pub name: String,
    openings: PackedBook,
    /// Indices of the remaining openings, and the original length of the book, if the book was
    /// [reduced](Book::keep) or only partly read.
    kept: Option<(Vec<usize>, usize)>,
    /// Faults in the entries that were skipped.
    pub quarantine: Quarantine,
    /// Corrections of the positions in the book: impossible en passant squares and castling rights,
    /// which are ignored.
    pub corrected: Quarantine,
    /// Number of openings in the complete book that are equal to an earlier opening.
    pub duplicates: usize,
}

impl Book {
    /// Returns the number of openings (at least 1) in the complete book. [`Book::keep`] does not
    /// change this number.
    #[expect(clippy::len_without_is_empty, reason = "a book is never empty")]
    pub fn len(&self) -> usize {
        self.kept.as_ref().map_or(self.openings.len, |(_, len)| *len)
    }

    /// Returns the opening at `index`, counted from 0 in the order of the file.
    ///
    /// # Panics
    ///
    /// Panics if the index is not less than [`Book::len`], or if [`Book::keep`] removed the
    /// opening.
    pub fn opening(&self, index: usize) -> Opening {
        let place = match &self.kept {
            None => index,
            Some((kept, _)) => kept.binary_search(&index).expect("jobs name kept openings only"),
        };
        self.openings.get(place)
    }

    /// Removes all openings except the openings at the indices `places`, to free memory. The
    /// remaining openings keep their indices.
    pub fn keep(&mut self, places: &BTreeSet<usize>) {
        let mut remaining = PackedBook::default();
        places.iter().for_each(|place| remaining.push(&self.opening(*place)));
        remaining.shrink();
        self.kept = Some((places.iter().copied().collect(), self.len()));
        self.openings = remaining;
    }

    /// Returns whether the book was [reduced](Book::keep) or only partly read.
    pub fn is_partial(&self) -> bool {
        self.kept.is_some()
    }

    /// Returns the remaining openings (at least one) in the order of the file. Each opening is
    /// unpacked on demand.
    pub fn openings(&self) -> impl ExactSizeIterator<Item = Opening> {
        self.openings.iter()
    }

    /// Returns the book without the openings at the indices `excluded` of [`Book::openings`];
    /// `None` if no opening remains.
    pub fn without(mut self, excluded: &BTreeSet<usize>) -> Option<Book> {
        if !excluded.is_empty() {
            let mut remaining = PackedBook::default();
            let stays = |(index, _): &(usize, Opening)| !excluded.contains(index);
            let openings = self.openings.iter().enumerate().filter(stays);
            openings.for_each(|(_, opening)| remaining.push(&opening));
            self.openings = remaining;
        }
        (!self.openings.is_empty()).then_some(self)
    }

    /// Returns whether any opening needs the castling mode of Chess960.
    pub fn needs_chess960(&self) -> bool {
        self.openings.chess960 > 0
    }
}

/// Reads the book at `path`. The format may be EPD, a list of FENs, PGN or Polyglot. The file may
/// be uncompressed, gzip, Zstandard or a zip archive.
///
/// The extension (`.epd`, `.fen`, `.pgn` or `.bin`, before `.gz` or `.zst`) determines the format
/// of the list. For other extensions, the start of the text determines the format. The content
/// determines the compression. From an archive, all members with a known extension are read in
/// archive order; if no member has a known extension, all members are read.
///
/// # Errors
///
/// Fails if the file cannot be read or contains no valid opening. With [`ReadOptions::strict`],
/// also fails if an opening is invalid.
pub fn load(path: &Path, options: ReadOptions) -> Result<Book, String> {
    let name = path.display().to_string();
    let mut collector = Collector::new(options);
    archive::read_file(path, &name, &mut collector)?;
    collector.finish(name)
}

/// Reads only the openings at the indices `places` of a book. An earlier reading must have shown
/// that the book has `length` openings and no faults; returns `None` if this is no longer true.
/// This function takes a fraction of the time of [`load`], because the remaining positions of a
/// list are only counted.
pub fn load_places(
    path: &Path,
    options: ReadOptions,
    length: usize,
    places: &BTreeSet<usize>,
) -> Option<Book> {
    // A skipped entry would shift the indices, so a fault ends the reading.
    let mut collector = Collector::new(ReadOptions { strict: true, ..options });
    let places: Vec<usize> = places.iter().copied().collect();
    collector.wanted = Some(places.clone().into_iter().peekable());
    let name = path.display().to_string();
    archive::read_file(path, &name, &mut collector).ok()?;
    let is_such = collector.entries == length && collector.openings.len == places.len();
    let book = collector.finish(name).ok().filter(|_| is_such)?;
    Some(Book { kept: Some((places, length)), ..book })
}

/// Reads a book from a string. `name` takes the place of the path, and the extension of `name`
/// determines the format as in [`load`].
pub fn from_text(name: &str, text: &str, options: ReadOptions) -> Result<Book, String> {
    let mut collector = Collector::new(options);
    archive::read_text(name, &mut text.as_bytes(), &mut collector)?;
    collector.finish(name.into())
}

/// Creates a book from moves that start in the initial position. `moves` contains consecutive
/// openings of `plies` plies each, with two bytes per move. The moves are not validated.
pub fn from_moves(name: &str, moves: &[u8], plies: usize) -> Book {
    let mut collector = Collector::new(ReadOptions::default());
    let initial = Start::new(Chess::default(), CastlingMode::Standard);
    let (moves, _) = moves.as_chunks::<{ PackedUciMove::BYTES }>();
    for line in moves.chunks_exact(plies) {
        let moves = line.iter().map(|bytes| PackedUciMove::from_bytes(*bytes).unpack()).collect();
        collector.openings.push(&Opening::new(&initial, moves));
    }
    collector.finish(name.into()).expect("a book in the program has openings")
}

/// Openings and faults in a book that is being read.
#[derive(Default)]
struct Collector {
    options: ReadOptions,
    openings: PackedBook,
    quarantine: Quarantine,
    corrected: Quarantine,
    /// Indices of the openings that are wanted and not yet read; `None` if all openings are wanted.
    wanted: Option<Peekable<IntoIter<usize>>>,
    /// Number of entries that were read or passed over.
    entries: usize,
}

impl Collector {
    fn new(options: ReadOptions) -> Collector {
        Collector { options, ..Collector::default() }
    }

    /// Passes over the next entry if the entry is not wanted. Returns whether the entry was passed
    /// over.
    fn passes_over(&mut self) -> bool {
        let passes = self.wanted.as_mut().is_some_and(|next| next.peek() != Some(&self.entries));
        self.entries += usize::from(passes);
        passes
    }

    fn add(&mut self, file: &str, opening: Opening) -> Result<(), String> {
        if self.openings.len >= MAX_OPENINGS {
            let most = format!("at most {MAX_OPENINGS} openings");
            return Err(format!("{file}: expected {most}; split the book"));
        }
        if self.passes_over() {
            return Ok(());
        }
        self.wanted.as_mut().and_then(Iterator::next);
        self.entries += 1;
        self.openings.push(&opening);
        Ok(())
    }

    /// Skips an invalid entry, or returns `fault` as an error if [`ReadOptions::strict`] is set.
    fn skip_entry(&mut self, fault: String) -> Result<(), String> {
        if self.options.strict {
            return Err(fault);
        }
        self.quarantine.extend([fault]);
        Ok(())
    }

    /// Stops reading a file because `line` and the following lines are unreadable. If only the end
    /// of the file is missing, as in an incomplete download, the openings before `line` are used.
    /// Any other damage is an error.
    fn break_off(&mut self, file: &str, line: u64, reason: &io::Error) -> Result<(), String> {
        if reason.kind() != io::ErrorKind::UnexpectedEof {
            return Err(unreadable(file, line, reason));
        }
        let what = "the compressed file is truncated here; the rest of the book is missing";
        self.skip_entry(format!("{file}:{line}: {what}"))
    }

    fn finish(self, name: String) -> Result<Book, String> {
        let Collector { mut openings, quarantine, corrected, .. } = self;
        if !openings.is_empty() {
            openings.shrink();
            let duplicates = openings.duplicates();
            return Ok(Book { name, openings, kept: None, quarantine, corrected, duplicates });
        }
        let got = match quarantine.count {
            0 => "none".to_owned(),
            count => format!("{}: {}", quantity(count, "bad one"), quarantine.first(3).join("; ")),
        };
        Err(format!("{name}: expected at least one opening, got {got}"))
    }
}

/// Returns the message for an error while reading a book.
fn unreadable(file: &str, line: u64, reason: &io::Error) -> String {
    format!("{file}:{line}: cannot read the opening book further: {reason}")
}
