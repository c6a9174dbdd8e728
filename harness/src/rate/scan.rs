//! A block of games as results.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Read};

use pgn_reader::Reader;

use super::movetext::{Skimmed, skim};
use super::pieces::{Lines, offset, pieces, plain_game};
use super::replay::Replay;
use super::tags::{MAX_NAME, TagReader, Tags};
use crate::stats::pentanomial::GameResult;

/// Longest tag line accepted, in bytes.
const MAX_TAG_LINE: usize = 1 << 13;

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
    /// It ends inside a comment.
    Cut,
    /// Its FEN tag is no position; looked at only when games are replayed.
    Position,
    /// One of its moves cannot be played, likewise.
    IllegalMove,
    /// The last position tells another result, likewise.
    WrongResult,
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
            BadGame::Cut => "comment without end",
            BadGame::Position => "impossible position",
            BadGame::IllegalMove => "illegal move",
            BadGame::WrongResult => "result against the last position",
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

/// One game that does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// Why.
    pub reason: BadGame,
    /// Players and result.
    pub title: String,
    /// The move, if one is to blame.
    pub culprit: Option<String>,
    /// Its line in the block, from 0: of the move, or where the game begins.
    pub line: u64,
}

/// What to look at.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Half-moves that make an opening without a mark.
    pub opening_plies: u32,
    /// Whether games are replayed.
    pub replay: bool,
}

/// Games of one block, in order.
#[derive(Debug, Default)]
pub struct Block {
    /// Names of players and endings.
    pub names: Vec<String>,
    /// Key and name of each opening.
    pub openings: Vec<(u64, String)>,
    /// Games, or why they do not count.
    pub games: Vec<Result<Game, Bad>>,
    /// Lines of the block.
    pub lines: u64,
}

#[derive(Debug, Default)]
struct Index {
    names: HashMap<Vec<u8>, u32>,
    openings: HashMap<u64, u32>,
}

/// Reads all games of a block.
pub fn scan(text: &[u8], asked: Asked) -> Block {
    let mut block = Block::default();
    let mut index = Index::default();
    let mut lines = Lines::new(text);
    let rest = Cell::new(&text[..0]);
    let source = Slice { rest: &rest };
    let mut reader = Reader::build(source).set_supported_tag_line_length(MAX_TAG_LINE).finish();
    let mut tags = Tags::default();
    for piece in pieces(text) {
        // Where a piece is one plain game, only its tags need the reader.
        let (head, plain_moves) = plain_game(piece).map_or((piece, None), |(t, m)| (t, Some(m)));
        rest.set(head);
        let at =
            |reader: &Reader<Slice<'_, '_>>| head.len() - rest.get().len() - reader.buffer().len();
        loop {
            let mut start = at(&reader);
            let read = reader.read_game(&mut TagReader { tags: &mut tags });
            let (game, moves) = match read {
                Ok(None) => break,
                Err(_) => (Err(Reason::plain(BadGame::Unreadable)), &head[..0]),
                Ok(Some(())) => {
                    let begin = at(&reader);
                    // The reader skips the moves on its way to the next game.
                    let is_readable = reader.has_more().is_ok();
                    let skipped = || head.get(begin..at(&reader)).unwrap_or_default();
                    let moves = plain_moves.unwrap_or_else(skipped);
                    let game = match is_readable {
                        true => judge(&tags, moves, asked, &mut block, &mut index),
                        false => Err(Reason::plain(BadGame::Unreadable)),
                    };
                    (game, moves)
                }
            };
            block.games.push(game.map_err(|Reason { reason, culprit }| {
                start += head[start..].len() - head[start..].trim_ascii_start().len();
                let place = match &culprit {
                    Some((_, at)) => offset(text, moves) + at,
                    None => offset(text, head) + start,
                };
                let (line, culprit) = (lines.of(place), culprit.map(|(shown, _)| shown));
                Bad { reason, title: tags.title(), culprit, line }
            }));
        }
    }
    block.lines = lines.of(text.len());
    block
}

/// Why a game does not count, with the move to blame and where it is in the moves.
struct Reason {
    reason: BadGame,
    culprit: Option<(String, usize)>,
}

impl Reason {
    fn plain(reason: BadGame) -> Reason {
        Reason { reason, culprit: None }
    }
}

fn judge(
    tags: &Tags,
    moves: &[u8],
    asked: Asked,
    block: &mut Block,
    index: &mut Index,
) -> Result<Game, Reason> {
    check_tags(tags).map_err(Reason::plain)?;
    let limit = if tags.fen.is_empty() { asked.opening_plies } else { 0 };
    let mut replay = None;
    let skimmed = match asked.replay {
        false => skim(moves, limit, |_, _| ()),
        true => {
            let begun = Replay::new(&tags.fen).ok_or(Reason::plain(BadGame::Position))?;
            let replay = replay.insert(begun);
            skim(moves, limit, |word, at| replay.play(word, at))
        }
    };
    let outcome = outcome(tags, &skimmed).map_err(Reason::plain)?;
    if let Some(illegal) = replay.as_ref().and_then(Replay::illegal) {
        let culprit = Some((illegal.shown.clone(), illegal.at));
        return Err(Reason { reason: BadGame::IllegalMove, culprit });
    }
    if replay.and_then(|replay| replay.result()).is_some_and(|told| told != outcome) {
        return Err(Reason::plain(BadGame::WrongResult));
    }
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

fn check_tags(tags: &Tags) -> Result<(), BadGame> {
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
    Ok(())
}

/// White's result, as the tag and the end of the moves tell it.
fn outcome(tags: &Tags, skimmed: &Skimmed<'_>) -> Result<GameResult, BadGame> {
    if skimmed.is_cut {
        return Err(BadGame::Cut);
    }
    let by_moves = skimmed.result.and_then(result);
    match (result(&tags.result), by_moves) {
        (Some(tag), Some(moves)) if tag != moves => Err(BadGame::Contradiction),
        (Some(_), None) if skimmed.result.is_some() => Err(BadGame::Contradiction),
        (Some(outcome), _) => Ok(outcome),
        (None, Some(outcome)) if tags.result.is_empty() => Ok(outcome),
        (None, Some(_)) => Err(BadGame::Contradiction),
        (None, None) => Err(BadGame::NoResult),
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

    const ASKED: Asked = Asked { opening_plies: 8, replay: false };
    const REPLAYED: Asked = Asked { replay: true, ..ASKED };

    fn game(tags: &[(&str, &str)], moves: &str) -> String {
        let tags: String = tags.iter().map(|(k, v)| format!("[{k} \"{v}\"]\n")).collect();
        format!("{tags}\n{moves}\n\n")
    }

    fn reasons(text: &str) -> Vec<Option<BadGame>> {
        let games = scan(text.as_bytes(), ASKED).games;
        games.iter().map(|game| game.as_ref().err().map(|bad| bad.reason)).collect()
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
        let block = scan(text.repeat(2).as_bytes(), ASKED);
        assert_eq!(block.games.len(), 2);
        let read = block.games[1].clone().unwrap();
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
    fn a_comment_without_end_costs_one_game() {
        for end in ["\n", "\r\n"] {
            let tags = [&AB[..], &[("Result", "1-0")]].concat();
            let (good, cut) = (game(&tags, "1. e4 {x} 1-0"), game(&tags, "1. e4 {x 1-0"));
            let inner = game(&tags, "1. e4 {x\n\n[%eval 1]} 1-0");
            let text = [&good, &cut, &good, &inner, &cut].map(|game| game.replace('\n', end));
            let cut = Some(BadGame::Cut);
            assert_eq!(reasons(&text.concat()), [None, cut, None, None, cut]);
        }
        let spread = "[White \"A\"]\n\n[Black \"B\"]\n\n[Result \"1-0\"]\n\n1. e4 1-0\n";
        assert_eq!(reasons(spread), [None]);
    }

    #[test]
    fn replayed_games_are_named_by_line_and_move() {
        let with = |result: &'static str, more: &[(&'static str, &'static str)]| {
            [&AB[..], &[("Result", result)], more].concat()
        };
        let text = [
            game(&with("1-0", &[]), "1. e4 e5 2. Nf3 1-0"),
            game(&with("1-0", &[]), "1. e4 {a}\n{b}\ne5 (1... Ke4) 2. Ke3 1-0"),
            game(&with("1-0", &[]), "1. f3 e5 2. g4 Qh4# 1-0"),
            game(&with("1-0", &[("FEN", "8/8/8/8/8/8/8/8 w - - 0 1")]), "1. e4 1-0"),
            game(&with("0-1", &[]), "1. f3 e5 2. g4 Qh4# 0-1"),
        ]
        .concat();
        assert_eq!(reasons(&text), [None; 5]);
        for end in ["\n", "\r\n"] {
            let block = scan(text.replace('\n', end).as_bytes(), REPLAYED);
            let bad: Vec<_> = block.games.iter().filter_map(|game| game.as_ref().err()).collect();
            let found: Vec<_> = bad.iter().map(|bad| (bad.reason, bad.line)).collect();
            use BadGame::*;
            assert_eq!(found, [(IllegalMove, 12), (WrongResult, 14), (Position, 20)]);
            assert_eq!(bad[0].culprit.as_deref(), Some("2. Ke3"));
            assert_eq!(block.lines, 33);
        }
    }

    #[test]
    fn the_short_cut_reads_what_the_reader_reads() {
        let plain = game(&[&AB[..], &[("Result", "1-0")]].concat(), "1. e4 {x} e5\n2. Nf3 1-0");
        let scanned = |text: &str| scan(text.as_bytes(), ASKED);
        // A text that begins with an empty line is all the reader's.
        let (quick, slow) = (scanned(&plain), scanned(&format!("\n{plain}")));
        assert_eq!((quick.games, quick.openings), (slow.games, slow.openings));
    }

    #[test]
    fn openings_are_told_by_position_and_moves() {
        let opening = |tags: &[(&'static str, &'static str)], moves: &str| {
            let all = [&AB[..], tags].concat();
            scan(game(&all, moves).as_bytes(), Asked { opening_plies: 2, ..ASKED }).openings[0]
                .clone()
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
            scan(text.as_bytes(), ASKED);
            scan(text.as_bytes(), REPLAYED);
        }
    }
}
