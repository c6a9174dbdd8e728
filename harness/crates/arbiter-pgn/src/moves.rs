//! Conversion of written moves to legal moves, and the main line of a game.

use arbiter_position::{Start, excerpt};
use shakmaty::san::{San, SanError};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position, Role, Square};

use super::text::{UNCLOSED, word_length};
use super::words::{Meaning, meaning};

/// Reason why a written move cannot be played. The text completes a sentence that begins with the
/// move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// The notation matches no legal move.
    #[error("is not legal")]
    Illegal,
    /// The notation matches several legal moves.
    #[error("fits more than one move")]
    Ambiguous,
    /// The side to move passes, which chess does not allow.
    #[error("is a null move")]
    Null,
    /// The text is not a move.
    #[error("is not a move")]
    NoMove,
}

/// Returns the legal move for a token in an EPD. Accepts the notations of [`legal_move`], and also
/// a move number, annotations, lowercase piece letters and uppercase squares. `bxc3` is a pawn
/// capture if this capture is legal, otherwise a bishop capture.
///
/// # Errors
///
/// Fails like [`legal_move`], and if the token is not a move.
pub fn read_move(position: &Chess, word: &str) -> Result<Move, MoveError> {
    let after_number = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.starts_with('.');
    let word = if is_numbered { after_number.trim_start_matches('.') } else { word };
    let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
    let as_piece = first.to_ascii_uppercase() + rest;
    let as_pawn = if first == "P" { rest.to_owned() } else { word.to_ascii_lowercase() };
    let mut error = MoveError::NoMove;
    // The token is first read as written. Other readings are tried only if no legal move matches
    // the first reading.
    for reading in [word, &as_piece, &as_pawn] {
        let reading = reading.as_bytes();
        let (reading, after) = reading.split_at(word_length(reading));
        let Meaning::Move(san) = meaning(reading, after).0 else { continue };
        match legal_move(position, san) {
            // An ambiguous move has been recognized, so no other reading may replace it.
            Err(MoveError::Illegal) => error = MoveError::Illegal,
            read => return read,
        }
    }
    Err(error)
}

/// Returns the legal move for `written`, which may be in SAN, long algebraic or UCI notation. A
/// capture may lack the `x`, a move that is not a capture may have an `x`, and castling may be
/// written as a king move.
///
/// # Errors
///
/// Fails if no legal move or several legal moves match, or if `written` is a null move.
pub fn legal_move(position: &Chess, written: San) -> Result<Move, MoveError> {
    let error = match written.to_move(position) {
        Ok(legal) => return Ok(legal),
        Err(SanError::AmbiguousSan) => MoveError::Ambiguous,
        Err(SanError::IllegalSan) => MoveError::Illegal,
    };
    let San::Normal { role, file, rank, capture, to, promotion } = written else {
        return Err(if written == San::Null { MoveError::Null } else { error });
    };
    let from = match (role, file.zip(rank)) {
        (_, Some((file, rank))) => Some(Square::from_coords(file, rank)),
        // Castling that is written as a king move, such as `Kg1`, has no source square. A side has
        // only one king, so the square of the king is the source square.
        (Role::King, None) => position.board().king_of(position.turn()),
        _ => None,
    };
    if let Some(from) = from {
        // UCI notation has no piece letter, so the move is parsed as a pawn move.
        let uci = UciMove::Normal { from, to, promotion };
        let is_meant = |legal: &Move| role == Role::Pawn || role == legal.role();
        return arbiter_position::legal_move(position, uci).filter(is_meant).ok_or(error);
    }
    // Some programs omit the `x` of a capture, or write an `x` without a capture.
    let other = San::Normal { role, file, rank, capture: !capture, to, promotion };
    other.to_move(position).map_err(|_| error)
}

/// Replayed part of a game.
#[derive(Debug, Clone)]
pub struct Mainline {
    /// Starting position of the game.
    pub start: Start,
    /// Position after the moves.
    pub position: Chess,
    /// Moves played.
    pub moves: Vec<Move>,
}

impl Mainline {
    /// Creates a main line without moves.
    pub fn new(start: Start) -> Mainline {
        Mainline { position: start.position.clone(), start, moves: Vec::new() }
    }

    /// Plays a move.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`legal_move`].
    pub fn play(&mut self, written: San) -> Result<(), MoveError> {
        let played = legal_move(&self.position, written)?;
        self.position.play_unchecked(played);
        self.moves.push(played);
        Ok(())
    }

    /// Returns the written move, preceded by the move number in the current position: for example
    /// `23... Nf9`.
    pub fn numbered(&self, written: &str) -> String {
        let dots = if self.position.turn().is_white() { "." } else { "..." };
        format!("{}{dots} {written}", self.position.fullmoves())
    }

    /// Returns a message about an invalid token that stands in place of the next move.
    pub fn fault(&self, word: &[u8]) -> String {
        match word {
            UNCLOSED => "unclosed comment or variation".to_owned(),
            word => format!("{} {}", self.numbered(&excerpt(word)), MoveError::NoMove),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    fn meant(fen: &str, text: &str) -> Result<String, MoveError> {
        let start = Start::read(fen, false).unwrap();
        read_move(&start.position, text).map(|m| m.to_uci(start.mode).to_string())
    }

    #[test]
    fn all_spellings_of_a_move_are_read() {
        let fen = "r3k2r/1P3ppp/8/3pP3/1b6/2N5/PPP3PP/R3K1NR w KQkq d6 0 1";
        for (expect, spellings) in [
            (
                "g1f3",
                "Nf3 Nf3! Nf3!! Nf3?! Ng1f3 Ng1-f3 Ngf3 N1f3 g1f3 g1-f3 nf3 1.Nf3 12...Nf3 G1F3 G1-F3 Nf3mate",
            ),
            ("b7a8n", "bxa8=N bxa8N ba8N bxa8(N) b7a8n b7xa8=N+ b7a8=n bxa8=n bxa8/N"),
            ("b7b8q", "b8=Q b8Q+ b8(Q)+ b7b8q b7-b8=Q b8=Q++ b8=Q#"),
            ("e1c1", "O-O-O 0-0-0 1.0-0-0 OOO o-o-o O-O-O+ e1c1 e1a1 Kc1 Ke1-c1"),
            ("e5d6", "exd6 ed6 exd6ep exd6e.p. e5d6 e5xd6 e5:d6 exd6!!"),
            ("a2a3", "a3 a2a3 a2-a3 Pa3 A2A3"),
        ] {
            for spelling in spellings.split(' ') {
                assert_eq!(meant(fen, spelling).as_deref(), Ok(expect), "{spelling}");
            }
        }
    }

    #[test]
    fn a_lowercase_b_is_preferably_a_pawn() {
        let both = "4k3/8/8/8/8/2p5/1P1B4/4K3 w - - 0 1";
        assert_eq!(meant(both, "bxc3").as_deref(), Ok("b2c3"));
        assert_eq!(meant(both, "Bxc3").as_deref(), Ok("d2c3"));
        let bishop = "4k3/8/8/8/8/2p5/3B4/4K3 w - - 0 1";
        assert_eq!(meant(bishop, "bxc3").as_deref(), Ok("d2c3"));
    }

    #[test]
    fn castling_in_chess960_is_read_in_both_notations() {
        let start = Start::read("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", false).unwrap();
        let name =
            |text| read_move(&start.position, text).map(|m| m.to_uci(CastlingMode::Chess960));
        assert_eq!(name("O-O"), name("e1g1"));
        assert_eq!(name("O-O-O").map(|m| m.to_string()).as_deref(), Ok("e1b1"));
        assert_eq!(name("Kc1"), name("O-O-O"));
    }

    #[test]
    fn ambiguous_moves_are_not_guessed() {
        let fen = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
        for (text, error) in [
            ("Nf3", MoveError::Illegal),
            ("e1e8", MoveError::Illegal),
            ("Ke3", MoveError::Illegal),
            ("xyz", MoveError::NoMove),
            ("", MoveError::NoMove),
            ("best", MoveError::NoMove),
            ("e9", MoveError::NoMove),
            ("--", MoveError::Null),
        ] {
            assert_eq!(meant(fen, text), Err(error), "{text}");
        }
        let rooks = "4k3/8/8/8/8/8/R6R/4K3 w - - 0 1";
        assert_eq!(meant(rooks, "Rd2"), Err(MoveError::Ambiguous));
    }

    fn play_moves(fen: &str, moves: &str) -> (Mainline, Result<(), String>) {
        let mut line = Mainline::new(Start::read(fen, false).unwrap());
        let mut moves = moves.split(' ').map(|san| San::from_ascii(san.as_bytes()).unwrap());
        let result = moves.try_for_each(|san| {
            let played = line.play(san);
            played.map_err(|error| format!("{} {error}", line.numbered(&san.to_string())))
        });
        (line, result)
    }

    #[test]
    fn the_first_illegal_move_is_reported() {
        let initial = arbiter_position::fen(&Chess::default());
        let (line, result) = play_moves(&initial, "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6 d3 O-O");
        assert_eq!((line.moves.len(), result), (10, Ok(())));
        for (moves, expected) in [
            ("e4 e5 Ke3 Qa8", "2. Ke3 is not legal"),
            ("e4 Nf8", "1... Nf8 is not legal"),
            ("O-O", "1. O-O is not legal"),
            ("e4 --", "1... -- is a null move"),
        ] {
            assert_eq!(play_moves(&initial, moves).1, Err(expected.to_owned()));
        }
        let chess960 = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1";
        let (line, result) = play_moves(chess960, "e4 e5");
        assert_eq!((result, line.fault(b"x\x1b y")), (Ok(()), "2. x  y is not a move".to_owned()));
        assert_eq!(line.fault(UNCLOSED), "unclosed comment or variation");
    }
}
