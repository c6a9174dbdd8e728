//! Position and choice of a move. The choice is a pure function of position, seed and skill, so
//! every process plays the same game.

use std::fmt::Display;

use shakmaty::fen::{Epd, Fen};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position, Rank, Role, Square};

use crate::args::Skill;

/// Position sent by the harness.
#[derive(Debug, Clone)]
pub struct Board {
    position: Chess,
    castling: CastlingMode,
}

/// Error in the rules with which the puppet computes perft counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// No error.
    None,
    /// No en passant captures.
    NoEnPassant,
    /// The double step of a pawn can jump over a piece.
    LeapingPawns,
}

/// Legal move, and its score.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// Move in UCI notation.
    pub uci: String,
    /// Score to send, in centipawns, from the point of view of the side to move.
    pub score_cp: i32,
}

impl Board {
    /// Parses the text after `position`.
    pub fn parse(text: &str, chess960: bool) -> Result<Board, String> {
        let castling = if chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let (start, moves) = match text.split_once("moves") {
            Some((start, moves)) => (start.trim(), moves),
            None => (text.trim(), ""),
        };
        let position: Chess = match start.strip_prefix("fen ") {
            Some(fen) => fen
                .parse::<Fen>()
                .map_err(|error| format!("position fen {fen}: {error}"))?
                .into_position(castling)
                .map_err(|error| format!("position fen {fen}: {error}"))?,
            None if start == "startpos" => Chess::default(),
            None => return Err(format!("position {text}: neither startpos nor fen")),
        };
        Board { position, castling }.play(moves)
    }

    /// Returns the board after moves in UCI notation.
    pub fn play(mut self, moves: &str) -> Result<Board, String> {
        for word in moves.split_whitespace() {
            let error = |error: &dyn Display| format!("position has the move {word}: {error}");
            let parsed: UciMove = word.parse().map_err(|wrong| error(&wrong))?;
            let legal = parsed.to_move(&self.position).map_err(|wrong| error(&wrong))?;
            self.position.play_unchecked(legal);
        }
        Ok(self)
    }

    /// Returns whether White is to move.
    pub fn white_to_move(&self) -> bool {
        self.position.turn() == Color::White
    }

    /// Returns the move to play; `None` if there is no legal move.
    pub fn choose(&self, seed: u64, skill: Skill) -> Option<Choice> {
        let salt = self.salt(seed);
        let chosen = self
            .position
            .legal_moves()
            .into_iter()
            .map(|candidate| {
                let uci = candidate.to_uci(self.castling).to_string();
                let worth = match skill {
                    Skill::Random => 0,
                    Skill::Greedy => worth(&self.position, candidate),
                };
                // The notation breaks ties, because the library does not guarantee an order of its
                // moves.
                (worth, mix(salt, uci.as_bytes()), uci)
            })
            .max()?;
        Some(Choice { uci: chosen.2, score_cp: self.balance() })
    }

    /// Returns another legal move if `info` contains `{another}`; otherwise, or if no other move is
    /// found, the chosen move.
    pub fn another(&self, seed: u64, chosen: &str, info: &str) -> String {
        let others = (0..64).filter_map(|salt| self.choose(seed + salt, Skill::Random));
        let mut others = others.map(|other| other.uci).filter(|other| other != chosen);
        let other = if info.contains("{another}") { others.next() } else { None };
        other.unwrap_or_else(|| chosen.to_owned())
    }

    /// Returns the board after a move in UCI notation; `None` if the move is illegal.
    pub fn after(&self, uci: &str) -> Option<Board> {
        let legal = uci.parse::<UciMove>().ok()?.to_move(&self.position).ok()?;
        let mut position = self.position.clone();
        position.play_unchecked(legal);
        Some(Board { position, castling: self.castling })
    }

    /// Returns a legal move with castling in the notation of the other mode, standard or Chess960.
    pub fn other_notation(&self, uci: &str) -> String {
        let parsed = uci.parse::<UciMove>().ok();
        let legal = parsed.and_then(|parsed| parsed.to_move(&self.position).ok());
        let other = match self.castling {
            CastlingMode::Standard => CastlingMode::Chess960,
            CastlingMode::Chess960 => CastlingMode::Standard,
        };
        legal.map_or_else(|| uci.to_owned(), |legal| legal.to_uci(other).to_string())
    }

    /// Returns the perft count of each move at `depth` plies, by rules with a flaw.
    pub fn count(&self, depth: u32, flaw: Flaw) -> Vec<(String, u64)> {
        let count = |counted: Move| {
            let uci = counted.to_uci(self.castling).to_string();
            (uci, leaves_after(&self.position, counted, depth, flaw))
        };
        moves(&self.position, flaw).into_iter().map(count).collect()
    }

    /// Returns a well-formed move that is illegal in the position.
    pub fn illegal(&self, seed: u64) -> String {
        let first = self.salt(seed) % 4096;
        (0..4096)
            .map(|step| u32::try_from((first + step) % 4096).expect("a residue is small"))
            .map(|pair| (Square::new(pair / 64), Square::new(pair % 64)))
            .filter(|(from, to)| from != to)
            .map(|(from, to)| UciMove::Normal { from, to, promotion: None })
            .find(|candidate| candidate.to_move(&self.position).is_err())
            .expect("no position has 4032 legal moves")
            .to_string()
    }

    /// Returns the material balance for the side to move, in centipawns.
    fn balance(&self) -> i32 {
        let board = self.position.board();
        let side = |color| {
            Role::ALL.iter().map(|&role| value(role) * count(board, color, role)).sum::<i32>()
        };
        side(self.position.turn()) - side(self.position.turn().other())
    }

    /// Returns a hash of the position without its move counters, and the seed.
    fn salt(&self, seed: u64) -> u64 {
        let epd = Epd::from_position(&self.position, EnPassantMode::Legal).to_string();
        mix(seed, epd.as_bytes())
    }
}

fn moves(position: &Chess, flaw: Flaw) -> Vec<Move> {
    let mut moves: Vec<Move> = position.legal_moves().into_iter().collect();
    match flaw {
        Flaw::None => {}
        Flaw::NoEnPassant => moves.retain(|counted| !counted.is_en_passant()),
        Flaw::LeapingPawns => moves.extend(leaps(position)),
    }
    moves
}

/// Returns the double steps of pawns over a piece in front of them.
fn leaps(position: &Chess) -> Vec<Move> {
    let (board, turn) = (position.board(), position.turn());
    let pawns = board.pawns() & board.by_color(turn);
    let step = turn.fold_wb(8, -8);
    let leap = |from: Square| {
        let over = from.offset(step)?;
        let to = over.offset(step)?;
        let is_leap = from.rank() == turn.fold_wb(Rank::Second, Rank::Seventh)
            && board.occupied().contains(over)
            && !board.occupied().contains(to);
        let role = Role::Pawn;
        is_leap.then_some(Move::Normal { role, from, capture: None, to, promotion: None })
    };
    pawns.into_iter().filter_map(leap).collect()
}

fn leaves_after(position: &Chess, counted: Move, depth: u32, flaw: Flaw) -> u64 {
    if depth <= 1 {
        return 1;
    }
    let mut after = position.clone();
    after.play_unchecked(counted);
    let replies = moves(&after, flaw).into_iter();
    replies.map(|reply| leaves_after(&after, reply, depth - 1, flaw)).sum()
}

fn count(board: &shakmaty::Board, color: Color, role: Role) -> i32 {
    i32::try_from(board.by_piece(role.of(color)).count()).expect("a board has 64 squares")
}

/// Returns the value of a move for a greedy player, in centipawns: mate first, then material after
/// the best capture in reply, then few replies for the opponent, because restricting the opponent
/// converts a material advantage into a mate.
fn worth(position: &Chess, candidate: Move) -> i32 {
    let mut after = position.clone();
    after.play_unchecked(candidate);
    let replies = after.legal_moves();
    if replies.is_empty() {
        return if after.is_check() { 1_000_000 } else { -1_000 };
    }
    let freedom = i32::try_from(replies.len()).expect("a position has few legal moves");
    let loss = replies.iter().map(|&reply| gain(reply)).max().unwrap_or(0);
    let push = if candidate.role() == Role::Pawn { 10 } else { 0 };
    gain(candidate) - loss + push - 3 * freedom
}

/// Returns the material that a move gains by capture and promotion, in centipawns.
fn gain(candidate: Move) -> i32 {
    candidate.capture().map_or(0, value)
        + candidate.promotion().map_or(0, |role| value(role) - value(Role::Pawn))
}

fn value(role: Role) -> i32 {
    match role {
        Role::Pawn => 100,
        Role::Knight => 300,
        Role::Bishop => 310,
        Role::Rook => 500,
        Role::Queen => 900,
        Role::King => 0,
    }
}

/// Returns the FNV-1a hash of `bytes`, started from `seed` and finished by the mixer of SplitMix64,
/// so that similar seeds choose unrelated moves.
fn mix(seed: u64, bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = bytes
        .iter()
        .fold(start, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
