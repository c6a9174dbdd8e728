//! Quiet positions from finished games, as lines for tuning an evaluation and as packed records for
//! training networks.

use shakmaty::fen::Fen;
use shakmaty::{Chess, Color, EnPassantMode, KnownOutcome, Position, Role};

use super::mine::Game;

/// Returns quiet positions of a game as lines `FEN;RESULT;NUMBER`. Selects positions at ply
/// `from_ply` or later for which the ply plus `number` is a multiple of `every`. Returns no lines
/// if the result is unknown.
pub fn samples(game: &Game, number: usize, from_ply: usize, every: usize) -> Vec<String> {
    let Some(result) = game.result else { return Vec::new() };
    // The game number shifts the selected plies, so that samples from many games are from different
    // plies.
    let is_due = |ply: usize| ply >= from_ply && (ply + number).is_multiple_of(every.max(1));
    let line = |(ply, position): (usize, Chess)| {
        let fen = Fen::from_position(&position, EnPassantMode::Legal);
        is_due(ply).then(|| format!("{fen};{result};{number}"))
    };
    quiet(game).filter_map(line).collect()
}

/// Returns the quiet positions of a game, each with its ply, up to the first announced mate. A
/// position is quiet if the side to move is not in check, and if the move played is neither a
/// capture nor a promotion.
fn quiet(game: &Game) -> impl Iterator<Item = (usize, Chess)> {
    let mut position = game.start.position.clone();
    // After an announced mate, the search already knows the result, so the positions cannot be used
    // to tune an evaluation.
    let plies = game.moves.iter().enumerate().take(game.open_plies);
    plies.filter_map(move |(ply, &played)| {
        // In a position with a check or a pending capture, the score depends more on the search
        // than on the evaluation of the position.
        let is_quiet = !position.is_check() && !played.is_capture() && !played.is_promotion();
        let before = is_quiet.then(|| (ply, position.clone()));
        position.play_unchecked(played);
        before
    })
}

/// Size of a record, in bytes. `palimpsest train` expects records of this size.
pub const RECORD_BYTES: usize = 32;

/// Bit in the en passant byte that marks the first record of a game.
const FIRST: u8 = 0x40;

/// Bit in the en passant byte that marks a position with Black to move.
const BLACK_TO_MOVE: u8 = 0x80;

/// Value that is added to the code of a black piece.
const BLACK_PIECE: u8 = 8;

/// Returns records of a game's quiet positions, except positions for which the engine reported no
/// score in centipawns. Returns no records if the result of the game is unknown. `docs/net.md`
/// describes the format.
pub fn packed(game: &Game) -> Vec<[u8; RECORD_BYTES]> {
    // A record without a result cannot be used for training.
    let Some(result) = game.result else { return Vec::new() };
    let scored = quiet(game).filter_map(|(ply, position)| {
        let score = (*game.scores.get(ply)?)?;
        // Engines report scores from the point of view of the side to move, but records contain
        // scores from White's point of view. The negation saturates, because `i32::MIN` has no
        // positive counterpart.
        let white_score = if position.turn().is_white() { score } else { score.saturating_neg() };
        Some(record(&position, white_score, result))
    });
    let mut records: Vec<_> = scored.collect();
    // The trainer reserves whole games for validation, and needs this bit to separate the games.
    records.iter_mut().take(1).for_each(|first| first[24] |= FIRST);
    records
}

fn record(position: &Chess, white_score: i32, result: KnownOutcome) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    let board = position.board();
    let castling_rooks = position.castles().castling_rights();
    bytes[..8].copy_from_slice(&u64::from(board.occupied()).to_le_bytes());
    for (place, square) in board.occupied().into_iter().enumerate() {
        let Some(piece) = board.piece_at(square) else { continue };
        let kind = match piece.role {
            Role::Pawn => 0,
            Role::Knight => 1,
            Role::Bishop => 2,
            // A separate code marks rooks that have castling rights. Chess960 therefore needs no
            // additional field.
            Role::Rook if castling_rooks.contains(square) => 6,
            Role::Rook => 3,
            Role::Queen => 4,
            Role::King => 5,
        };
        let color = if piece.color.is_black() { BLACK_PIECE } else { 0 };
        bytes[8 + place / 2] |= (kind | color) << (place % 2 * 4);
    }
    let en_passant = position.ep_square(EnPassantMode::Legal);
    bytes[24] = en_passant.map_or(0, u8::from);
    if position.turn().is_black() {
        bytes[24] |= BLACK_TO_MOVE;
    }
    // The field has 8 bits.
    bytes[25] = position.halfmoves().min(255) as u8;
    let number = u16::try_from(position.fullmoves().get()).unwrap_or(u16::MAX);
    bytes[26..28].copy_from_slice(&number.to_le_bytes());
    // The field has 16 bits, but engines may report any number of centipawns.
    let score = white_score.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    bytes[28..30].copy_from_slice(&score.to_le_bytes());
    bytes[30] = match result {
        KnownOutcome::Decisive { winner: Color::Black } => 0,
        KnownOutcome::Draw => 1,
        KnownOutcome::Decisive { winner: Color::White } => 2,
    };
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mine::read_games;
    use arbiter_position::Start;

    #[test]
    fn only_quiet_positions_are_taken() {
        let pgn = "1. e4 e5 2. Nf3 Nc6 3. Nxe5 Nxe5 4. Qh5 Qe7 5. Qxf7+ Kd8 6. Qxf8+ {+M3/9} Qxf8 \
                   7. d4 1-0\n\n1. e4 *\n";
        let (games, _) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        let lines = samples(&games[0], 7, 2, 1);
        let expected = [
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2;1-0;7",
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2;1-0;7",
            "r1bqkbnr/pppp1ppp/8/4n3/4P3/8/PPPP1PPP/RNBQKB1R w KQkq - 0 4;1-0;7",
            "r1bqkbnr/pppp1ppp/8/4n2Q/4P3/8/PPPP1PPP/RNB1KB1R b KQkq - 1 4;1-0;7",
        ];
        assert_eq!(lines, expected);
        assert_eq!(samples(&games[0], 7, 2, 2), [expected[1], expected[3]]);
        assert!(samples(&games[1], 1, 0, 1).is_empty());
    }

    #[test]
    fn every_legal_move_is_replayed() {
        let pgn = "[FEN \"7k/1P6/8/8/8/8/8/K7 w - - 0 1\"]\n\n1. b8Q+ Kh7\n\n2. Qb1+ Kh6 1-0\n";
        let (games, faults) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        assert_eq!((games[0].moves.len(), faults.len()), (4, 0));
        let pgn = "1. e4 e5 2. Sf3 Nc6 1-0\n";
        let (games, faults) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        assert_eq!(faults, ["a.pgn game 1: 2. Sf3 is not a move; the rest is ignored"]);
        assert_eq!((games[0].moves.len(), games[0].result), (2, None));
    }

    #[test]
    fn a_game_is_packed_as_documented() {
        let start = Start::read("4k3/8/8/8/5p2/8/4P3/4K2R w K - 99 300", false).unwrap();
        let mut position = start.position.clone();
        let moves: Vec<_> = ["e2e4", "e8d7", "h1h5"]
            .map(|text| {
                let uci: shakmaty::uci::UciMove = text.parse().unwrap();
                let played = uci.to_move(&position).unwrap();
                position.play_unchecked(played);
                played
            })
            .into();
        let mut game = Game {
            origin: String::new(),
            start,
            moves,
            scores: vec![Some(40), Some(-35), None],
            result: Some(KnownOutcome::Decisive { winner: Color::White }),
            open_plies: 3,
        };
        let records = packed(&game);
        assert_eq!(records.len(), 2, "a position without a score is left out");
        let mut first = [0; 32];
        // The bits stand for the squares e1, h1, e2, f4 and e8.
        first[..8]
            .copy_from_slice(&(1u64 << 4 | 1 << 7 | 1 << 12 | 1 << 29 | 1 << 60).to_le_bytes());
        (first[8], first[9], first[10]) = (0x65, 0x80, 0x0D);
        (first[24], first[25], first[28], first[30]) = (FIRST, 99, 40, 2);
        first[26..28].copy_from_slice(&300u16.to_le_bytes());
        assert_eq!(records[0], first);
        // Black may capture on e3. Black's score of -35 is 35 for White.
        assert_eq!((records[1][24], records[1][25], records[1][28]), (BLACK_TO_MOVE | 20, 0, 35));
        game.result = None;
        assert!(packed(&game).is_empty());
    }
}
