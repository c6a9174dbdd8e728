//! Starting positions, read from text.

use std::num::NonZeroU32;

use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{
    Bitboard, CastlingMode, Chess, EnPassantMode, FromSetup, Position, PositionError, Setup,
};

use crate::excerpt;
use crate::fields::Fields;
use crate::operations::is_opcode;

/// Position from which a game or a search starts.
#[derive(Debug, Clone)]
pub struct Start {
    /// The position.
    pub position: Chess,
    /// Castling mode of the position.
    pub mode: CastlingMode,
    /// Message about impossible castling rights and an impossible en passant square that were
    /// ignored; `None` if nothing was ignored.
    pub correction: Option<String>,
}

impl Start {
    /// Creates a starting position that needs no correction.
    pub fn new(position: Chess, mode: CastlingMode) -> Start {
        Start { position, mode, correction: None }
    }

    /// Reads a FEN or an EPD. The text after the position is ignored, except for the counters of an
    /// EPD.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`Start::split`].
    pub fn read(text: &str, is_chess960: bool) -> Result<Start, String> {
        Start::split(text, is_chess960).map(|(start, _)| start)
    }

    /// Reads the FEN or EPD at the start of a line, and returns the rest of the line.
    ///
    /// The position is Chess960 if its castling rights are impossible in standard chess, or if
    /// `is_chess960` is `true`. Unreachable positions are accepted if their legal moves are
    /// defined.
    ///
    /// # Errors
    ///
    /// Fails if the text does not describe exactly one position of chess or Chess960, or if moves
    /// follow the position.
    pub fn split(line: &str, is_chess960: bool) -> Result<(Start, &str), String> {
        let fields = Fields::of(line)?;
        let Fields { board, turn, castling, en_passant, .. } = &fields;
        let described = |what: &str| format!("expected {what}, got `{}`", excerpt(line.as_bytes()));
        let fen: Fen = format!("{board} {turn} {castling} {en_passant}")
            .parse()
            .map_err(|reason| format!("{}: {reason}", described("a position")))?;
        let mut setup = fen.into_setup();
        // In three-check chess, remaining checks (`3+3`) or given checks (`+0+0`) follow.
        let checks = fields.rest.split([' ', '\t', ';']).next().unwrap_or_default();
        let is_three_check =
            checks.contains('+') && checks.chars().all(|c| matches!(c, '0'..='9' | '+'));
        if setup.pockets.is_some() || setup.promoted.any() || is_three_check {
            return Err(described("chess or Chess960"));
        }
        setup.halfmoves = fields.halfmoves;
        // Some programs count moves from 0.
        setup.fullmoves = NonZeroU32::new(fields.fullmoves).unwrap_or(NonZeroU32::MIN);
        let names_files = castling.contains(|c: char| !"KQkq-".contains(c));
        let start = Start::from_setup(&setup, is_chess960, names_files)
            .map_err(|reason| format!("{}: {reason}", described("a legal position")))?;
        let rest = fields.rest;
        let is_between = |c: char| c.is_whitespace() || c == '"';
        let before = line[..line.len() - rest.len()].trim_end_matches(is_between);
        // If the moves were ignored, the position would differ from the position that the line
        // describes. The text after a semicolon is a comment or an operation.
        if !before.ends_with(';') && begins_with_moves(rest) {
            let reason =
                "expected a position, got a position and moves; give the position after the moves";
            return Err(reason.to_owned());
        }
        Ok((start, rest))
    }

    /// Converts a setup to a position. Castling rights that are impossible with a king on e1 and
    /// rooks on a1 and h1 may be valid in Chess960. If some rights are also invalid in Chess960,
    /// the position is Chess960 only if the castling field names files (`names_files`) and more
    /// castling rights are valid in Chess960 than in standard chess.
    fn from_setup(setup: &Setup, is_chess960: bool, names_files: bool) -> Result<Start, String> {
        let standard = Start::by_rules(setup, CastlingMode::Standard)?;
        // Most positions are valid in both castling modes; standard chess is the default.
        if !is_chess960 && standard.lost_rights(setup).is_empty() {
            return Ok(standard);
        }
        let chess960 = Start::by_rules(setup, CastlingMode::Chess960)?;
        let lost = chess960.lost_rights(setup);
        let kept = standard.lost_rights(setup);
        let is_better = lost.is_empty() || names_files && lost.count() < kept.count();
        if is_chess960 || is_better { Ok(chess960) } else { Ok(standard) }
    }

    fn by_rules(setup: &Setup, mode: CastlingMode) -> Result<Start, String> {
        let position = Chess::from_setup(setup.clone(), mode)
            // Test suites contain positions that no game reaches but that engines can search.
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .map_err(|error| error.to_string())?;
        let mut start = Start::new(position, mode);
        let lost = start.lost_rights(setup);
        let kept = start.position.ep_square(EnPassantMode::Always);
        let passed = setup.ep_square.filter(|square| kept != Some(*square));
        let rooks = lost.into_iter().map(|rook| format!("castling with {rook}"));
        let claims: Vec<String> =
            rooks.chain(passed.map(|square| format!("en passant on {square}"))).collect();
        if !claims.is_empty() {
            start.correction = Some(format!("ignored as impossible: {}", claims.join(", ")));
        }
        Ok(start)
    }

    /// Returns the rooks whose castling rights are in `setup` but not in the position.
    fn lost_rights(&self, setup: &Setup) -> Bitboard {
        setup.castling_rights & !self.position.castles().castling_rights()
    }

    /// Checks that the position is not obviously unreachable in a game.
    ///
    /// # Errors
    ///
    /// Fails if there are too many pieces, or if no move can have given the check.
    pub fn reachable(&self) -> Result<(), String> {
        let setup = self.position.to_setup(EnPassantMode::Always);
        let again = Chess::from_setup(setup, self.mode);
        again.map(drop).map_err(|error| error.to_string())
    }

    /// Returns whether the position has the castling mode of Chess960.
    pub fn is_chess960(&self) -> bool {
        self.mode == CastlingMode::Chess960
    }

    /// Returns the FEN, which contains an en passant square after every double pawn push.
    pub fn fen(&self) -> String {
        fen(&self.position)
    }

    /// Returns the UCI command `position` for this starting position, followed by `moves`.
    pub fn line(&self, moves: &[String]) -> String {
        let fen = self.fen();
        if moves.is_empty() {
            format!("position fen {fen}")
        } else {
            format!("position fen {fen} moves {}", moves.join(" "))
        }
    }
}

/// Returns whether the text after a position starts with a move or with the word `moves`.
fn begins_with_moves(text: &str) -> bool {
    let after_number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.starts_with('.');
    let text = if is_numbered { after_number.trim_start_matches(['.', ' ']) } else { text };
    let mut words = text.split_whitespace();
    let word = words.next().unwrap_or_default();
    // `c3` is both a move and an opcode, and `d1 20` is a perft count.
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let has_count =
        |word: &str| word.starts_with("=") || is_number(word.trim_end_matches([';', ',']));
    let is_depth = word.strip_prefix('d').is_some_and(is_number);
    if !is_numbered && (is_opcode(word) || is_depth && words.next().is_some_and(has_count)) {
        return false;
    }
    let word = word.trim_end_matches(['!', '?', '+', '#', ',', ';']);
    // FIDE notation uses zeros for castling, and long notation a hyphen.
    let forms = [word.replace('0', "O"), word.replace('-', "")];
    let is_move = |form: &String| {
        San::from_ascii(form.as_bytes()).is_ok_and(|san| san != San::Null)
            || UciMove::from_ascii(form.as_bytes()).is_ok_and(|uci| uci != UciMove::Null)
    };
    word == "moves" || forms.iter().any(is_move)
}

/// Returns the FEN of a position, which contains an en passant square after every double pawn push.
pub fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Always).to_string()
}

#[cfg(test)]
mod tests;
