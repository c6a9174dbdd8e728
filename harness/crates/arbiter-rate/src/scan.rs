//! Reduction of a block of games to their results.

use std::collections::HashMap;
use std::ops::ControlFlow::{self, Break, Continue};

use shakmaty::fen::Fen;
use shakmaty::{Color, EnPassantMode, Position, Role, Setup};

use super::comments::{Evaluations, ending, is_book, time_ms};
use arbiter_names::shown;
use arbiter_pgn::{
    GameVisitor, Games, MAX_NAME, Mainline, MoveError, San, Tags, Text, UNCLOSED, legal_move,
    text_of,
};
use arbiter_position::Start;
use arbiter_schedule::seed::{FNV_START, fnv1a};
use arbiter_stats::{EvaluationBuckets, GameResult};

/// Reason why a game does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RejectReason {
    /// A player has no name.
    NoPlayer,
    /// Both players have the same name.
    SamePlayer,
    /// The game has no result.
    NoResult,
    /// The result tag and the result at the end of the moves contradict each other.
    Contradiction,
    /// The game is neither chess nor Chess960.
    Variant,
    /// A tag has two values.
    TwoValues,
    /// The text contains moves without tags, or is not a game.
    Unreadable,
    /// The game ends inside a comment or variation.
    Cut,
    /// The FEN tag is not a valid position; checked only when games are replayed.
    Position,
    /// A move is illegal; checked only when games are replayed.
    IllegalMove,
    /// By the rules of chess, the last position ends the game with a result other than the recorded
    /// result; checked only when games are replayed.
    WrongResult,
}

impl RejectReason {
    /// Returns a short description of the reason.
    pub const fn as_str(self) -> &'static str {
        match self {
            RejectReason::NoPlayer => "no player name",
            RejectReason::SamePlayer => "one player on both sides",
            RejectReason::NoResult => "no result",
            RejectReason::Contradiction => "contradicting results",
            RejectReason::Variant => "another variant",
            RejectReason::TwoValues => "a tag with two values",
            RejectReason::Unreadable => "unreadable",
            RejectReason::Cut => "unclosed comment or variation",
            RejectReason::Position => "impossible position",
            RejectReason::IllegalMove => "illegal move",
            RejectReason::WrongResult => "result contradicts the last position",
        }
    }
}

/// Game that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Game {
    /// Index of White in [`Block::players`].
    pub white: u32,
    /// Index of Black in [`Block::players`].
    pub black: u32,
    /// White's result.
    pub result: GameResult,
    /// Index of the opening in [`Block::openings`].
    pub opening: u32,
    /// Index of the ending in [`Block::endings`].
    pub termination: u32,
    /// Number of the line in the block, counted from 0, on which the game starts.
    pub line: u64,
    /// Number of plies.
    pub plies: u32,
    /// Hash of the starting position and of the moves in SAN.
    pub moves: u64,
    /// Time used by White and Black, in milliseconds.
    pub time_ms: [f64; 2],
    /// Numbers of White's and of Black's moves whose comments contain a time.
    pub timed: [u32; 2],
    /// Evaluations of White and of Black, each from the point of view of that side; empty unless
    /// requested.
    pub seen: [EvaluationBuckets; 2],
}

/// Game that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncountedGame {
    /// Reason for the rejection.
    pub reason: RejectReason,
    /// Players and result.
    pub title: String,
    /// Move that caused the rejection, if any.
    pub culprit: Option<String>,
    /// Number of the line in the block, counted from 0, that contains the move that caused the
    /// rejection. If no move caused the rejection, the value is the number of the line on which the
    /// game starts.
    pub line: u64,
}

/// Options for reading games.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScanOptions {
    /// Number of plies in the opening of a game without a FEN tag and without marked book moves.
    pub opening_plies: u32,
    /// `true` if games are replayed.
    pub replay: bool,
    /// `true` if the evaluations in comments are read.
    pub evaluations: bool,
}

/// Games of one block, in order.
#[derive(Debug, Default)]
pub struct Block {
    /// Names of players, in order of appearance.
    pub players: Vec<String>,
    /// Endings of games, in order of appearance.
    pub endings: Vec<String>,
    /// Key and name of each opening, in order of appearance.
    pub openings: Vec<(u64, String)>,
    /// Games that count, and rejected games with their reasons.
    pub games: Vec<Result<Game, UncountedGame>>,
    /// Number of lines in the block.
    pub lines: u64,
    /// Number of games replayed after impossible castling or en passant rights were removed from
    /// their FEN tags.
    pub corrected: u64,
}

/// Indices of the players, endings and openings in a block.
#[derive(Debug, Default)]
struct Index {
    players: HashMap<Vec<u8>, u32>,
    endings: HashMap<Vec<u8>, u32>,
    /// Hash of the starting position, by hash of the tags; different tags may describe the same
    /// position.
    starts: HashMap<u64, u64>,
    /// Indices of openings by the hash of the opening as written; an opening may be written in
    /// several ways.
    written: HashMap<u64, u32>,
    openings: HashMap<u64, u32>,
}

/// Reads all games of a block.
pub(crate) fn scan(text: &[u8], options: ScanOptions) -> Block {
    let text = Text::new(text);
    let mut games = Games::new(&text);
    let mut block = Block::default();
    let mut index = Index::default();
    let mut game = GameScan { options, ..GameScan::default() };
    while games.read(&mut game) {
        block.corrected +=
            u64::from(game.replay.as_ref().is_some_and(|replay| replay.start.correction.is_some()));
        let judged = game.judge(games.tags(), games.first_line(), &mut block, &mut index);
        block.games.push(judged.map_err(|reason| {
            let culprit = game.illegal.take();
            let lines = games.lines();
            // The visitor stopped at the illegal move, so the last line read is the line of this
            // move.
            let line = if culprit.is_some() { lines.last } else { lines.first };
            UncountedGame { reason, title: games.tags().title(), culprit, line }
        }));
    }
    block.lines = games.lines().last;
    block
}

/// State of the game that is being read.
#[derive(Debug, Default)]
struct GameScan {
    options: ScanOptions,
    rejection: Option<RejectReason>,
    /// Illegal move with its move number.
    illegal: Option<String>,
    moves: Vec<MoveOrWord>,
    replay: Option<Mainline>,
    /// Number of plies up to the last move that is marked as a book move.
    book: Option<usize>,
    /// Time used by the side that moved first and by the other side, in milliseconds.
    time_ms: [f64; 2],
    timed: [u32; 2],
    evaluations: Evaluations,
    last_comment: Vec<u8>,
}

/// Move, or an unknown word in place of a move.
#[derive(Debug)]
enum MoveOrWord {
    San(San),
    Word(Box<[u8]>),
}

impl GameVisitor for GameScan {
    fn begin(&mut self, tags: &Tags) -> ControlFlow<()> {
        // Reusing the vectors avoids allocations for each game.
        let (mut moves, mut last_comment) =
            (std::mem::take(&mut self.moves), std::mem::take(&mut self.last_comment));
        moves.clear();
        last_comment.clear();
        *self = GameScan { options: self.options, moves, last_comment, ..GameScan::default() };
        self.rejection = check_tags(tags).err();
        if self.options.replay && self.rejection.is_none() {
            self.replay = tags.start().ok().map(Mainline::new);
            self.rejection = self.replay.is_none().then_some(RejectReason::Position);
        }
        // Text without tags is a game only if moves follow.
        if self.rejection.is_some() && tags.any { Break(()) } else { Continue(()) }
    }

    fn san(&mut self, san: San) -> ControlFlow<()> {
        self.last_comment.clear();
        if let Some(replay) = &mut self.replay
            && let Err(error) = replay.play(san)
        {
            let null = if error == MoveError::Null { ", a null move" } else { "" };
            let illegal = replay.numbered(&format!("{san}{null}"));
            (self.rejection, self.illegal) = (Some(RejectReason::IllegalMove), Some(illegal));
        }
        self.moves.push(MoveOrWord::San(san));
        if self.rejection.is_some() { Break(()) } else { Continue(()) }
    }

    fn unknown(&mut self, word: &[u8]) -> ControlFlow<()> {
        if word == UNCLOSED {
            self.rejection.get_or_insert(RejectReason::Cut);
        } else if let Some(replay) = &self.replay {
            let illegal = replay.numbered(&shown(String::from_utf8_lossy(word).into_owned()));
            (self.rejection, self.illegal) = (Some(RejectReason::IllegalMove), Some(illegal));
        }
        self.moves.push(MoveOrWord::Word(word.into()));
        if self.rejection.is_some() { Break(()) } else { Continue(()) }
    }

    fn comment(&mut self, comment: &[u8]) {
        self.last_comment.clear();
        self.last_comment.extend_from_slice(comment);
        let plies = self.moves.len();
        if self.options.evaluations {
            self.evaluations.add(comment, plies as u32);
        }
        // A comment before the first move belongs to no player.
        if let (Some(time), Some(last)) = (time_ms(comment), plies.checked_sub(1)) {
            self.time_ms[last & 1] += time;
            self.timed[last & 1] += 1;
        }
        if is_book(comment) {
            self.book = Some(plies);
        }
    }
}

impl GameScan {
    fn judge(
        &mut self,
        tags: &Tags,
        line: u64,
        block: &mut Block,
        index: &mut Index,
    ) -> Result<Game, RejectReason> {
        if let Some(rejection) = self.rejection {
            return Err(rejection);
        }
        let outcome = tags.outcome().map_err(|_| RejectReason::Contradiction)?;
        let outcome = outcome.ok_or(RejectReason::NoResult)?;
        let by_rules = self.replay.as_ref().and_then(|replay| replay.position.outcome().known());
        // The rules decide mate, stalemate and insufficient material; in any other position, a game
        // may end by agreement, time or adjudication.
        if by_rules.is_some_and(|by_rules| by_rules != outcome) {
            return Err(RejectReason::WrongResult);
        }
        // The first of the two times belongs to the side that moved first.
        let turn = tags.fen.split(|byte| *byte == b' ').nth(1);
        let is_black_first = turn.is_some_and(|turn| turn.eq_ignore_ascii_case(b"b"));
        if is_black_first {
            self.time_ms.reverse();
            self.timed.reverse();
        }
        let spelling = fnv1a(fnv1a(FNV_START, &tags.fen), &tags.variant);
        let start = || fnv1a(FNV_START, start_name(tags).as_bytes());
        let start = *index.starts.entry(spelling).or_insert_with(start);
        // Without book marks, the opening of a game that does not start from the initial position
        // is only its starting position.
        let limit = if start == FNV_START { self.options.opening_plies as usize } else { 0 };
        // Copies of a game may be in different notations. Replaying takes much longer than reading,
        // so moves that look like SAN are not replayed.
        if !self.moves.iter().all(is_san) {
            shorten(tags, &mut self.moves);
        }
        let plies = self.book.unwrap_or(limit).min(self.moves.len());
        let (opening, others) = self.moves.split_at_mut(plies);
        let written = hash(start, opening);
        let moves = hash(written, others);
        let mut ending = termination(tags, &self.last_comment);
        ending.truncate(MAX_NAME);
        Ok(Game {
            white: number(&tags.white, &mut block.players, &mut index.players),
            black: number(&tags.black, &mut block.players, &mut index.players),
            result: GameResult::of(outcome.winner().map(Color::is_white)),
            opening: *index.written.entry(written).or_insert_with(|| {
                let name = opening_name(tags, opening);
                let key = fnv1a(FNV_START, name.as_bytes());
                *index.openings.entry(key).or_insert_with(|| {
                    block.openings.push((key, name));
                    block.openings.len() as u32 - 1
                })
            }),
            termination: number(&ending, &mut block.endings, &mut index.endings),
            line,
            plies: self.moves.len() as u32,
            moves,
            time_ms: self.time_ms,
            timed: self.timed,
            seen: self.evaluations.by_colour(is_black_first),
        })
    }
}

/// Returns the hash of the moves, continued from the hash `start`.
fn hash(start: u64, moves: &[MoveOrWord]) -> u64 {
    moves.iter().fold(start, |hash, written| match written {
        MoveOrWord::San(San::Normal { role, file, rank, capture, to, promotion }) => {
            let file = file.map_or(0, |file| file as u8 + 1);
            let rank = rank.map_or(0, |rank| rank as u8 + 1);
            let kind = *role as u8 + if *capture { 8 } else { 0 };
            let promotion = promotion.map_or(0, |role| role as u8);
            let code = u32::from_le_bytes([kind, 16 * file + rank, *to as u8, promotion]);
            // FNV over 32-bit words is four times as fast as FNV over bytes.
            (hash ^ u64::from(code)).wrapping_mul(HASH_FACTOR).rotate_left(32)
        }
        MoveOrWord::San(rare) => fnv1a(hash, rare.to_string().as_bytes()),
        MoveOrWord::Word(word) => fnv1a(hash, word),
    })
}

/// Odd factor whose bits are evenly spread: 2^64 divided by the golden ratio (D. Knuth, "The Art of
/// Computer Programming", section 6.4).
const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns a normalized FEN of the starting position, or an empty string for the initial position.
/// The normalized FEN does not depend on the spelling of the `FEN` tag.
fn start_name(tags: &Tags) -> String {
    // Some programs write an en passant square even if no pawn can capture there.
    match tags.start().map(|start| start.position) {
        Ok(start) if start.to_setup(EnPassantMode::Legal) == Setup::initial() => String::new(),
        Ok(start) => Fen::from_position(&start, EnPassantMode::Legal).to_string(),
        Err(_) => String::from_utf8_lossy(&tags.fen).into_owned(),
    }
}

/// Returns whether a move has the form of SAN.
fn is_san(written: &MoveOrWord) -> bool {
    match written {
        MoveOrWord::San(San::Normal { role: Role::Pawn, file, rank, capture, .. }) => {
            rank.is_none() && file.is_some() == *capture
        }
        MoveOrWord::San(San::Normal { file, rank, .. }) => file.is_none() || rank.is_none(),
        _ => true,
    }
}

/// Replaces moves with their SAN, up to the first word that is not a legal move.
fn shorten(tags: &Tags, moves: &mut [MoveOrWord]) {
    let Ok(Start { mut position, .. }) = tags.start() else { return };
    for written in moves {
        let MoveOrWord::San(san) = written else { return };
        let Ok(legal) = legal_move(&position, *san) else { return };
        *san = San::from_move(&position, legal);
        position.play_unchecked(legal);
    }
}

/// Returns the name of an opening: the FEN of the starting position (omitted for the initial
/// position), followed by the moves. If a move contains a source file or rank that may be redundant
/// in SAN, the moves are replayed, so that the name does not depend on the notation.
fn opening_name(tags: &Tags, moves: &mut [MoveOrWord]) -> String {
    let is_long = |written: &MoveOrWord| match written {
        MoveOrWord::San(San::Normal { role: Role::Pawn, rank, .. }) => rank.is_some(),
        MoveOrWord::San(San::Normal { file, rank, .. }) => file.is_some() || rank.is_some(),
        _ => false,
    };
    if moves.iter().any(is_long) {
        shorten(tags, moves);
    }
    let mut name = start_name(tags);
    for written in moves {
        if !name.is_empty() {
            name.push(' ');
        }
        match written {
            MoveOrWord::San(san) => san.append_to_string(&mut name),
            MoveOrWord::Word(word) => name.push_str(&String::from_utf8_lossy(word)),
        }
    }
    shown(name)
}

fn check_tags(tags: &Tags) -> Result<(), RejectReason> {
    if !tags.any {
        return Err(RejectReason::Unreadable);
    }
    if tags.two_valued.is_some() {
        return Err(RejectReason::TwoValues);
    }
    if is_nameless(&tags.white) || is_nameless(&tags.black) {
        return Err(RejectReason::NoPlayer);
    }
    // A game of a player against itself contains no information about the player's strength.
    if tags.white == tags.black {
        return Err(RejectReason::SamePlayer);
    }
    tags.is_chess960().map(drop).map_err(|_| RejectReason::Variant)
}

fn is_nameless(name: &[u8]) -> bool {
    matches!(name.trim_ascii(), b"" | b"?" | b"-")
}

/// Returns the termination tag in lowercase. If the tag is missing or only reports a normal end,
/// returns the ending from the comment after the last move, without the side, such as `mates` for
/// `+M1/9 0.1s, White mates`.
fn termination(tags: &Tags, last_comment: &[u8]) -> Vec<u8> {
    let tag = tags.termination.to_ascii_lowercase();
    if !matches!(tag.as_slice(), b"" | b"?" | b"normal") {
        return tag;
    }
    match ending(&text_of(last_comment)) {
        Some(reason) => {
            // The result already shows the side.
            let reason = reason.strip_prefix("White ").unwrap_or(reason);
            reason.strip_prefix("Black ").unwrap_or(reason).into()
        }
        _ if tag.is_empty() => b"not told".to_vec(),
        _ => tag,
    }
}

/// Returns the index of a name in `names`; a new name is added.
fn number(text: &[u8], names: &mut Vec<String>, index: &mut HashMap<Vec<u8>, u32>) -> u32 {
    if let Some(number) = index.get(text) {
        return *number;
    }
    let number = names.len() as u32;
    // The length is limited because long names in a file could exhaust the memory.
    let start = &text[..text.len().min(MAX_NAME)];
    let mut name = text_of(start);
    if start != text {
        // The hash distinguishes long names with the same beginning.
        name += &format!("… {:016x}", fnv1a(FNV_START, text));
    }
    names.push(name);
    index.insert(text.to_vec(), number);
    number
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
