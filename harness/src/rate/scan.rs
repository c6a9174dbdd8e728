//! A block of games as results.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Read};
use std::ops::ControlFlow;

use pgn_reader::{RawTag, Reader, Visitor};

use super::movetext::{Skimmed, skim};
use crate::stats::pentanomial::GameResult;

/// Longest tag line accepted, in bytes.
const MAX_TAG_LINE: usize = 1 << 13;

/// Longest name kept, in bytes.
const MAX_NAME: usize = 200;

/// Why a game does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BadGame {
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
}

impl BadGame {
    /// The reason in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            BadGame::NoPlayer => "no player name",
            BadGame::SamePlayer => "one player on both sides",
            BadGame::NoResult => "no result",
            BadGame::Contradiction => "contradicting results",
            BadGame::Variant => "another variant",
            BadGame::Unreadable => "unreadable",
        }
    }
}

/// One game that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Game {
    /// White, as an index of [`Block::names`].
    pub white: u32,
    /// Black, likewise.
    pub black: u32,
    /// White's result.
    pub result: GameResult,
    /// The opening, as an index of [`Block::openings`].
    pub opening: u32,
    /// How it ended, as an index of [`Block::names`].
    pub termination: u32,
    /// Half-moves.
    pub plies: u32,
    /// Time used by White and Black, in milliseconds.
    pub time_ms: [f64; 2],
    /// Moves of each with a time.
    pub timed: [u32; 2],
}

/// Games of one block, in order.
#[derive(Debug, Default)]
pub struct Block {
    /// Names of players and endings.
    pub names: Vec<String>,
    /// Key and name of each opening.
    pub openings: Vec<(u64, String)>,
    /// Games, or why they do not count and what they are called.
    pub games: Vec<Result<Game, (BadGame, String)>>,
}

#[derive(Debug, Default)]
struct Index {
    names: HashMap<Vec<u8>, u32>,
    openings: HashMap<u64, u32>,
}

/// Reads all games of a block. Openings without a mark are `opening_plies` half-moves long.
pub fn scan(text: &[u8], opening_plies: u32) -> Block {
    let mut block = Block::default();
    let mut index = Index::default();
    let rest = Cell::new(text);
    let source = Slice { rest: &rest };
    let mut reader = Reader::build(source).set_supported_tag_line_length(MAX_TAG_LINE).finish();
    let mut tags = Tags::default();
    let at = |reader: &Reader<Slice<'_, '_>>| text.len() - rest.get().len() - reader.buffer().len();
    loop {
        match reader.read_game(&mut TagReader { tags: &mut tags }) {
            Ok(None) => return block,
            Ok(Some(())) => {}
            Err(_) => {
                block.games.push(Err((BadGame::Unreadable, tags.title())));
                continue;
            }
        }
        let start = at(&reader);
        // The reader skips the moves on its way to the next game.
        let is_readable = reader.has_more().is_ok();
        let moves = text.get(start..at(&reader)).unwrap_or_default();
        let game = match is_readable {
            true => judge(&tags, moves, opening_plies, &mut block, &mut index),
            false => Err(BadGame::Unreadable),
        };
        block.games.push(game.map_err(|reason| (reason, tags.title())));
    }
}

fn judge(
    tags: &Tags,
    moves: &[u8],
    opening_plies: u32,
    block: &mut Block,
    index: &mut Index,
) -> Result<Game, BadGame> {
    if !tags.any {
        return Err(BadGame::Unreadable);
    }
    if is_nameless(&tags.white) || is_nameless(&tags.black) {
        return Err(BadGame::NoPlayer);
    }
    if tags.white == tags.black {
        return Err(BadGame::SamePlayer);
    }
    if tags.is_variant {
        return Err(BadGame::Variant);
    }
    let skimmed = skim(moves, if tags.fen.is_empty() { opening_plies } else { 0 });
    let by_tag = result(&tags.result);
    let by_moves = skimmed.result.and_then(result);
    let outcome = match (by_tag, by_moves) {
        (Some(tag), Some(moves)) if tag != moves => return Err(BadGame::Contradiction),
        (Some(_), None) if skimmed.result.is_some() => return Err(BadGame::Contradiction),
        (Some(outcome), _) => outcome,
        (None, Some(outcome)) if tags.result.is_empty() => outcome,
        (None, Some(_)) => return Err(BadGame::Contradiction),
        (None, None) => return Err(BadGame::NoResult),
    };
    let black_first = tags.fen.split(|byte| *byte == b' ').nth(1) == Some(&b"b"[..]);
    let order = |by_move: [f64; 2]| if black_first { [by_move[1], by_move[0]] } else { by_move };
    let [first, second] = skimmed.timed;
    Ok(Game {
        white: name(&tags.white, block, index),
        black: name(&tags.black, block, index),
        result: outcome,
        opening: opening(tags, &skimmed, moves, block, index),
        termination: name(&termination(tags, &skimmed), block, index),
        plies: skimmed.plies,
        time_ms: order(skimmed.time_ms),
        timed: if black_first { [second, first] } else { [first, second] },
    })
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
fn termination(tags: &Tags, skimmed: &Skimmed<'_>) -> Vec<u8> {
    let tag = tags.termination.to_ascii_lowercase();
    if !matches!(tag.as_slice(), b"" | b"?" | b"normal") {
        return tag;
    }
    let comment = skimmed.last_comment;
    let reason = memchr::memmem::find(comment, b", ").map(|at| comment[at + 2..].trim_ascii());
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

fn name(text: &[u8], block: &mut Block, index: &mut Index) -> u32 {
    let text = &text[..text.len().min(MAX_NAME)];
    if let Some(known) = index.names.get(text) {
        return *known;
    }
    let number = block.names.len() as u32;
    block.names.push(String::from_utf8_lossy(text).into_owned());
    index.names.insert(text.to_vec(), number);
    number
}

/// The position in which the game starts, and the book moves after it.
fn opening(
    tags: &Tags,
    skimmed: &Skimmed<'_>,
    moves: &[u8],
    block: &mut Block,
    index: &mut Index,
) -> u32 {
    let moves = &moves[..skimmed.opening_end];
    let words = || {
        let is_move =
            |word: &&[u8]| word.first().is_some_and(u8::is_ascii_alphabetic) && *word != b"book";
        moves.split(|byte| b" \r\n\t.{}".contains(byte)).filter(is_move)
    };
    let mut key = fnv1a(FNV_START, &tags.fen);
    for word in words() {
        key = fnv1a(fnv1a(key, b" "), word);
    }
    if let Some(known) = index.openings.get(&key) {
        return *known;
    }
    let mut title = String::from_utf8_lossy(&tags.fen).into_owned();
    for word in words() {
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(&String::from_utf8_lossy(word));
    }
    let number = block.openings.len() as u32;
    block.openings.push((key, title));
    index.openings.insert(key, number);
    number
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// 64-bit FNV-1a hash, continued.
fn fnv1a(start: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The tags that matter.
#[derive(Debug, Default)]
struct Tags {
    any: bool,
    white: Vec<u8>,
    black: Vec<u8>,
    result: Vec<u8>,
    fen: Vec<u8>,
    termination: Vec<u8>,
    is_variant: bool,
}

impl Tags {
    fn clear(&mut self) {
        self.any = false;
        self.is_variant = false;
        for text in [
            &mut self.white,
            &mut self.black,
            &mut self.result,
            &mut self.fen,
            &mut self.termination,
        ] {
            text.clear();
        }
    }

    fn title(&self) -> String {
        let part =
            |text: &[u8]| String::from_utf8_lossy(&text[..text.len().min(MAX_NAME)]).into_owned();
        format!("{} - {} {}", part(&self.white), part(&self.black), part(&self.result))
    }
}

struct TagReader<'a> {
    tags: &'a mut Tags,
}

impl Visitor for TagReader<'_> {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<()> {
        self.tags.clear();
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        self.tags.any = true;
        let target = match name {
            b"White" => &mut self.tags.white,
            b"Black" => &mut self.tags.black,
            b"Result" => &mut self.tags.result,
            b"FEN" => &mut self.tags.fen,
            b"Termination" => &mut self.tags.termination,
            b"Variant" => {
                self.tags.is_variant = !is_chess(&value.decode());
                return ControlFlow::Continue(());
            }
            _ => return ControlFlow::Continue(()),
        };
        target.clear();
        target.extend_from_slice(&value.decode());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn end_game(&mut self, (): ()) {}
}

fn is_chess(variant: &[u8]) -> bool {
    let letters: Vec<u8> = variant
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    matches!(
        letters.as_slice(),
        b"" | b"standard"
            | b"chess"
            | b"normal"
            | b"fromposition"
            | b"chess960"
            | b"960"
            | b"fischerandom"
            | b"fischerrandom"
            | b"frc"
            | b"dfrc"
    )
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
mod tests {
    use super::*;

    fn game(tags: &[(&str, &str)], moves: &str) -> String {
        let tags: String = tags.iter().map(|(k, v)| format!("[{k} \"{v}\"]\n")).collect();
        format!("{tags}\n{moves}\n\n")
    }

    fn reasons(text: &str) -> Vec<Option<BadGame>> {
        let games = scan(text.as_bytes(), 8).games;
        games.iter().map(|game| game.as_ref().err().map(|(reason, _)| *reason)).collect()
    }

    const AB: [(&str, &str); 2] = [("White", "A"), ("Black", "B")];

    #[test]
    fn games_are_read_with_all_their_parts() {
        let tags = [
            ("White", "A"),
            ("Black", "B"),
            ("Result", "0-1"),
            ("FEN", "8/8/8/8/8/8/k7/7K b - - 0 1"),
            ("Termination", "normal"),
        ];
        let text = game(&tags, "1... Ka1 {1/1 1s} 2. Kh2 {1/1 0.5s, Black mates} 0-1");
        let block = scan(text.repeat(2).as_bytes(), 8);
        let read = block.games[1].clone().unwrap();
        assert_eq!(block.games.len(), 2);
        assert_eq!(block.names[read.white as usize], "A");
        assert_eq!(block.names[read.termination as usize], "mates");
        assert_eq!((read.result, read.plies), (GameResult::Loss, 2));
        assert_eq!((read.time_ms, read.timed), ([500.0, 1000.0], [1, 1]));
        assert_eq!(block.openings, [(block.openings[0].0, tags[3].1.to_owned())]);
    }

    #[test]
    fn bad_games_are_told_apart() {
        let with = |more: &[(&'static str, &'static str)]| [&AB[..], more].concat();
        let text = [
            game(&with(&[("Result", "1-0")]), "1. e4 1-0"),
            game(&with(&[("Result", "1-0")]), "1. e4 0-1"),
            game(&with(&[("Result", "*")]), "1. e4 *"),
            game(&with(&[]), "1. e4 1-0"),
            game(&[("White", "A"), ("Black", "A"), ("Result", "1-0")], "1. e4 1-0"),
            game(&[("White", "A"), ("Result", "1-0")], "1. e4 1-0"),
            game(&with(&[("Variant", "Atomic"), ("Result", "1-0")]), "1. e4 1-0"),
            "1. e4 e5 1-0\n\n".to_owned(),
        ]
        .concat();
        use BadGame::*;
        let expected = [
            None,
            Some(Contradiction),
            Some(NoResult),
            None,
            Some(SamePlayer),
            Some(NoPlayer),
            Some(Variant),
            Some(Unreadable),
        ];
        assert_eq!(reasons(&text), expected);
    }

    #[test]
    fn openings_are_told_by_position_and_moves() {
        let opening = |tags: &[(&'static str, &'static str)], moves: &str| {
            let all = [&AB[..], tags].concat();
            scan(game(&all, moves).as_bytes(), 2).openings[0].clone()
        };
        let a = opening(&[], "1. e4 e5 2. Nf3 1-0");
        assert_eq!(a.1, "e4 e5");
        assert_eq!(a, opening(&[], "1. e4 {0.1/1 1s} e5 2. Nc3 0-1"));
        assert_ne!(a, opening(&[], "1. e4 c5 1-0"));
        assert_eq!(
            opening(&[], "1. d4 {book} d5 {book} 2. c4 {book} e6 {0/1 1s} 1-0").1,
            "d4 d5 c4"
        );
    }

    #[test]
    fn nothing_panics() {
        for text in
            ["", "[", "[White", "[White \"A", "{", "\n\n\n", "[White \"\\\"]\n\n1-0", "\u{0}"]
        {
            scan(text.as_bytes(), 8);
        }
    }
}
