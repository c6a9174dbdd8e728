//! A block of games as results.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Read};

use pgn_reader::Reader;

use super::evaluations::Evaluations;
use super::movetext::{MovetextSummary, summarize};
use super::replay::{IllegalMove, Replay};
use super::sections::{LineCounter, offset, plain_game, sections};
use super::tags::{MAX_NAME, Tags, text_of};
use arbiter_names::shown;
use arbiter_schedule::seed::{FNV_START, fnv1a};
use arbiter_stats::{EvaluationBuckets, GameResult};

/// Longest tag line accepted, in bytes.
const MAX_TAG_LINE: usize = 1 << 13;

/// Why a game does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RejectReason {
    /// A player has no name.
    NoPlayer,
    /// Both players have the same name.
    SamePlayer,
    /// It has no result.
    NoResult,
    /// The tag and the end of the moves tell different results.
    Contradiction,
    /// It is not chess, nor Chess960.
    Variant,
    /// Moves without tags, or text that is no game.
    Unreadable,
    /// It ends inside a comment.
    Cut,
    /// Its FEN tag is no position; looked at only when games are replayed.
    Position,
    /// One of its moves cannot be played, likewise.
    IllegalMove,
    /// The last position tells another result, likewise.
    WrongResult,
}

impl RejectReason {
    /// The reason in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            RejectReason::NoPlayer => "no player name",
            RejectReason::SamePlayer => "one player on both sides",
            RejectReason::NoResult => "no result",
            RejectReason::Contradiction => "contradicting results",
            RejectReason::Variant => "another variant",
            RejectReason::Unreadable => "unreadable",
            RejectReason::Cut => "comment without end",
            RejectReason::Position => "impossible position",
            RejectReason::IllegalMove => "illegal move",
            RejectReason::WrongResult => "result against the last position",
        }
    }
}

/// A game that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Game {
    /// White, as an index of [`Block::players`].
    pub white: u32,
    /// Black, likewise.
    pub black: u32,
    /// White's result.
    pub result: GameResult,
    /// The opening, as an index of [`Block::openings`].
    pub opening: u32,
    /// How it ended, as an index of [`Block::endings`].
    pub termination: u32,
    /// Half-moves.
    pub plies: u32,
    /// Time used by White and Black, in milliseconds.
    pub time_ms: [f64; 2],
    /// Moves of each with a time.
    pub timed: [u32; 2],
    /// What White and Black thought of it, if that was asked for.
    pub seen: [EvaluationBuckets; 2],
}

/// A game that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Why.
    pub reason: RejectReason,
    /// Players and result.
    pub title: String,
    /// The move, if one is to blame.
    pub culprit: Option<String>,
    /// Its line in the block, from 0: of the move, or where the game begins.
    pub line: u64,
}

/// What to read of each game.
#[derive(Debug, Clone, Copy)]
pub struct ScanOptions {
    /// Half-moves that make an opening without a mark.
    pub opening_plies: u32,
    /// Whether games are replayed.
    pub replay: bool,
    /// Whether the evaluations in comments are wanted.
    pub evaluations: bool,
}

/// Games of one block, in order.
#[derive(Debug, Default)]
pub struct Block {
    /// Names of players, in order of appearance.
    pub players: Vec<String>,
    /// How games ended, likewise.
    pub endings: Vec<String>,
    /// Key and name of each opening, likewise.
    pub openings: Vec<(u64, String)>,
    /// Games, or why they do not count.
    pub games: Vec<Result<Game, Rejected>>,
    /// Number of lines of the block.
    pub lines: u64,
}

/// Indices of what a block has so far.
#[derive(Debug, Default)]
struct Index {
    players: HashMap<Vec<u8>, u32>,
    endings: HashMap<Vec<u8>, u32>,
    openings: HashMap<u64, u32>,
}

/// Reads all games of a block.
pub(crate) fn scan(text: &[u8], options: ScanOptions) -> Block {
    let mut block = Block::default();
    let mut index = Index::default();
    let mut lines = LineCounter::new(text);
    let rest = Cell::new(&text[..0]);
    let source = Slice { rest: &rest };
    let mut reader = Reader::build(source).set_supported_tag_line_length(MAX_TAG_LINE).finish();
    let mut tags = Tags::default();
    for section in sections(text) {
        // Where a section is one plain game, only its tags need the reader.
        let (head, plain_moves) =
            plain_game(section).map_or((section, None), |(t, m)| (t, Some(m)));
        rest.set(head);
        let at =
            |reader: &Reader<Slice<'_, '_>>| head.len() - rest.get().len() - reader.buffer().len();
        loop {
            let mut start = at(&reader);
            let read = reader.read_game(&mut tags);
            let (game, moves) = match read {
                Ok(None) => break,
                Err(_) => (Err(bare(RejectReason::Unreadable)), &head[..0]),
                Ok(Some(())) => {
                    let begin = at(&reader);
                    // The reader skips the moves on its way to the next game.
                    let is_readable = reader.has_more().is_ok();
                    let skipped = || head.get(begin..at(&reader)).unwrap_or_default();
                    let moves = plain_moves.unwrap_or_else(skipped);
                    let game = match is_readable {
                        true => judge(&tags, moves, options, &mut block, &mut index),
                        false => Err(bare(RejectReason::Unreadable)),
                    };
                    (game, moves)
                }
            };
            block.games.push(game.map_err(|(reason, culprit)| {
                start += head[start..].len() - head[start..].trim_ascii_start().len();
                let in_moves = |illegal: &IllegalMove| offset(text, moves) + illegal.at;
                let line = lines.of(culprit.as_ref().map_or(offset(text, head) + start, in_moves));
                let culprit = culprit.map(|illegal| illegal.shown);
                Rejected { reason, title: tags.title(), culprit, line }
            }));
        }
    }
    block.lines = lines.of(text.len());
    block
}

/// Why a game does not count, with the move to blame if it is one.
type Fault = (RejectReason, Option<IllegalMove>);

fn bare(reason: RejectReason) -> Fault {
    (reason, None)
}

fn judge(
    tags: &Tags,
    moves: &[u8],
    options: ScanOptions,
    block: &mut Block,
    index: &mut Index,
) -> Result<Game, Fault> {
    check_tags(tags).map_err(bare)?;
    let limit = if tags.fen.is_empty() { options.opening_plies } else { 0 };
    let mut replay = match options.replay {
        true => Some(Replay::new(&tags.fen).ok_or(bare(RejectReason::Position))?),
        false => None,
    };
    let mut evaluations = Evaluations::default();
    let on_comment = |comment: &[u8], plies| {
        if options.evaluations {
            evaluations.add(comment, plies);
        }
    };
    let mut summary = match &mut replay {
        None => summarize(moves, limit, |_, _| (), on_comment),
        Some(replay) => summarize(moves, limit, |word, at| replay.play(word, at), on_comment),
    };
    let outcome = outcome(tags, &summary).map_err(bare)?;
    if let Some(Replay { illegal: culprit @ Some(_), .. }) = replay {
        return Err((RejectReason::IllegalMove, culprit));
    }
    if replay.and_then(|replay| replay.result()).is_some_and(|told| told != outcome) {
        return Err(bare(RejectReason::WrongResult));
    }
    let black_first = tags.fen.split(|byte| *byte == b' ').nth(1) == Some(&b"b"[..]);
    if black_first {
        summary.time_ms.reverse();
        summary.timed.reverse();
    }
    Ok(Game {
        white: number(&tags.white, &mut block.players, &mut index.players),
        black: number(&tags.black, &mut block.players, &mut index.players),
        result: outcome,
        opening: opening(tags, &summary, moves, block, index),
        termination: number(&termination(tags, &summary), &mut block.endings, &mut index.endings),
        plies: summary.plies,
        time_ms: summary.time_ms,
        timed: summary.timed,
        seen: evaluations.by_colour(black_first),
    })
}

fn check_tags(tags: &Tags) -> Result<(), RejectReason> {
    if !tags.any {
        return Err(RejectReason::Unreadable);
    }
    if is_nameless(&tags.white) || is_nameless(&tags.black) {
        return Err(RejectReason::NoPlayer);
    }
    if tags.white == tags.black {
        return Err(RejectReason::SamePlayer);
    }
    if tags.is_variant { Err(RejectReason::Variant) } else { Ok(()) }
}

/// White's result, as the tag and the end of the moves tell it.
fn outcome(tags: &Tags, summary: &MovetextSummary<'_>) -> Result<GameResult, RejectReason> {
    if summary.is_cut {
        return Err(RejectReason::Cut);
    }
    let by_moves = summary.result.and_then(result);
    match (result(&tags.result), by_moves) {
        (Some(tag), Some(moves)) if tag != moves => Err(RejectReason::Contradiction),
        (Some(_), None) if summary.result.is_some() => Err(RejectReason::Contradiction),
        (Some(outcome), _) => Ok(outcome),
        (None, Some(outcome)) if tags.result.is_empty() => Ok(outcome),
        (None, Some(_)) => Err(RejectReason::Contradiction),
        (None, None) => Err(RejectReason::NoResult),
    }
}

fn is_nameless(name: &[u8]) -> bool {
    matches!(name.trim_ascii(), b"" | b"?" | b"-")
}

fn result(text: &[u8]) -> Option<GameResult> {
    match text {
        b"1-0" => Some(GameResult::Win),
        b"0-1" => Some(GameResult::Loss),
        b"1/2-1/2" => Some(GameResult::Draw),
        _ => None,
    }
}

/// The tag, unless it only says that nothing went wrong; then what the last comment says behind
/// its figures, as in `+M1/9 0.1s, White mates`.
fn termination(tags: &Tags, summary: &MovetextSummary<'_>) -> Vec<u8> {
    let tag = tags.termination.to_ascii_lowercase();
    if !matches!(tag.as_slice(), b"" | b"?" | b"normal") {
        return tag;
    }
    let comment = summary.last_comment;
    let reason = ending(comment);
    match reason {
        Some(reason) if !reason.is_empty() => {
            // Who did it is told by the result.
            let reason = reason.strip_prefix(b"White ").unwrap_or(reason);
            reason.strip_prefix(b"Black ").unwrap_or(reason).to_vec()
        }
        _ if tag.is_empty() => b"not told".to_vec(),
        _ => tag,
    }
}

/// What a comment says after the facts of the last move, each of which is `, name=value`; a value in
/// quotation marks may hold anything but these.
fn ending(comment: &[u8]) -> Option<&[u8]> {
    let mut rest = &comment[memchr::memmem::find(comment, b", ")? + 2..];
    loop {
        let name = rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let Some(value) = rest[name..].strip_prefix(b"=").filter(|_| name > 0) else {
            return Some(rest.trim_ascii());
        };
        let quoted = value.strip_prefix(b"\"").and_then(|text| memchr::memchr(b'"', text));
        let after = &value[quoted.map_or(0, |length| length + 2)..];
        rest = &after[memchr::memmem::find(after, b", ")? + 2..];
    }
}

/// Index of a name in `names`, to which it is added if it is new.
fn number(text: &[u8], names: &mut Vec<String>, index: &mut HashMap<Vec<u8>, u32>) -> u32 {
    let text = &text[..text.len().min(MAX_NAME)];
    if let Some(known) = index.get(text) {
        return *known;
    }
    let number = names.len() as u32;
    names.push(text_of(text));
    index.insert(text.to_vec(), number);
    number
}

/// The position in which the game starts, and the book moves after it.
fn opening(
    tags: &Tags,
    summary: &MovetextSummary<'_>,
    moves: &[u8],
    block: &mut Block,
    index: &mut Index,
) -> u32 {
    let moves = &moves[..summary.opening_end];
    let words = || {
        let is_move =
            |word: &&[u8]| word.first().is_some_and(u8::is_ascii_alphabetic) && *word != b"book";
        moves.split(|byte| b" \r\n\t.{}".contains(byte)).filter(is_move)
    };
    let start = fnv1a(FNV_START, &tags.fen);
    let key = words().fold(start, |hash, word| fnv1a(fnv1a(hash, b" "), word));
    if let Some(known) = index.openings.get(&key) {
        return *known;
    }
    let fen = Some(&tags.fen[..]).filter(|fen| !fen.is_empty());
    let title: Vec<_> = fen.into_iter().chain(words()).map(String::from_utf8_lossy).collect();
    let number = block.openings.len() as u32;
    block.openings.push((key, shown(title.join(" "))));
    index.openings.insert(key, number);
    number
}

/// A slice that can be asked how much of it was read.
struct Slice<'a, 'b> {
    rest: &'a Cell<&'b [u8]>,
}

impl Read for Slice<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut rest = self.rest.get();
        let read = rest.read(buffer)?;
        self.rest.set(rest);
        Ok(read)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
