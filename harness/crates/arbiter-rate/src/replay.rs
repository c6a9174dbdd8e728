//! The moves of a game, replayed by the rules of chess.

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Color, KnownOutcome, Outcome, Position};

use arbiter_stats::GameResult;

/// A move that cannot be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IllegalMove {
    /// Number of the move and its text, such as `23... Nf9`.
    pub shown: String,
    /// Where in the text of the moves it begins.
    pub at: usize,
}

/// A game being replayed.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    position: Chess,
    /// The first move that cannot be played.
    pub illegal: Option<IllegalMove>,
}

impl Replay {
    /// At the start of a game, or at the position of its FEN tag if that is not empty; `None` if
    /// there is no such position.
    pub(crate) fn new(fen: &[u8]) -> Option<Replay> {
        let position = match fen {
            b"" => Chess::default(),
            // Chess960 includes the castling rules of chess.
            fen => Fen::from_ascii(fen).ok()?.into_position(CastlingMode::Chess960).ok()?,
        };
        Some(Replay { position, illegal: None })
    }

    /// Plays a move found at `at`. Behind an illegal one nothing is played.
    pub(crate) fn play(&mut self, word: &[u8], at: usize) {
        if self.illegal.is_some() {
            return;
        }
        match san(word).and_then(|san| san.san.to_move(&self.position).ok()) {
            Some(legal) => self.position.play_unchecked(legal),
            None => {
                let dots = if self.position.turn() == Color::White { "." } else { "..." };
                let number = self.position.fullmoves();
                let shown = format!("{number}{dots} {}", String::from_utf8_lossy(word));
                self.illegal = Some(IllegalMove { shown, at });
            }
        }
    }

    /// White's result by the last position, if the rules end the game there by themselves: by
    /// checkmate, stalemate, or for want of material.
    pub(crate) fn result(&self) -> Option<GameResult> {
        match self.position.outcome() {
            Outcome::Known(KnownOutcome::Decisive { winner }) => {
                Some(winner.fold_wb(GameResult::Win, GameResult::Loss))
            }
            Outcome::Known(KnownOutcome::Draw) => Some(GameResult::Draw),
            Outcome::Unknown => None,
        }
    }
}

/// A move as written, without what annotators add to it.
fn san(word: &[u8]) -> Option<SanPlus> {
    let end = word.iter().rposition(|byte| !matches!(byte, b'!' | b'?'))? + 1;
    let word = &word[..end];
    if word[0] != b'0' {
        return SanPlus::from_ascii(word).ok();
    }
    let letter = |byte: &u8| if *byte == b'0' { b'O' } else { *byte };
    SanPlus::from_ascii(&word.iter().map(letter).collect::<Vec<u8>>()).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn replay(fen: &str, moves: &str) -> Replay {
        let mut replay = Replay::new(fen.as_bytes()).unwrap();
        let mut at = 0;
        for word in moves.split(' ') {
            replay.play(word.as_bytes(), at);
            at += word.len() + 1;
        }
        replay
    }

    #[test]
    fn the_first_illegal_move_is_named() {
        let fine = replay("", "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6!? d3 0-0");
        assert_eq!((fine.result(), fine.illegal), (None, None));
        let check = |moves: &str, shown: &str, at| {
            assert_eq!(replay("", moves).illegal, Some(IllegalMove { shown: shown.into(), at }));
        };
        check("e4 e5 Ke3 Nonsense", "2. Ke3", 6);
        check("e4 Nf9", "1... Nf9", 3);
        check("e4 word", "1... word", 3);
        check("0-0", "1. 0-0", 0);
    }

    #[test]
    fn the_last_position_may_tell_the_result() {
        assert_eq!(replay("", "f3 e5 g4 Qh4#").result(), Some(GameResult::Loss));
        let stalemate = "7k/8/5KQ1/8/8/8/8/8 b - - 0 1";
        assert_eq!(Replay::new(stalemate.as_bytes()).unwrap().result(), Some(GameResult::Draw));
        let chess960 = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1";
        assert_eq!(replay(chess960, "e4 e5").illegal, None);
        assert!(Replay::new(b"no position").is_none());
        assert!(Replay::new(b"8/8/8/8/8/8/8/K7 w - - 0 1").is_none());
    }
}
