//! Search statistics of an engine by move number and game phase, and buckets of thinking times.

use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, File, Move, Position, Role, Square};

use arbiter_game::record::SearchInfo;

/// Number of moves in each range of move numbers.
pub(crate) const MOVES_PER_RANGE: usize = 10;

/// Number of ranges of move numbers; the last range has no upper end.
pub(crate) const RANGES: usize = 12;

/// Names of the game phases in order, each with the minimum total weight of the pieces on the
/// board. The minimum of 22 means that the opening ends after more than one exchange of minor
/// pieces.
pub(crate) const PHASES: [(&str, usize); 3] = [("opening", 22), ("middlegame", 9), ("endgame", 0)];

/// Weight of each piece in the computation of the game phase; the pieces of the initial position
/// have a total weight of 24.
const WEIGHTS: [(Role, usize); 4] =
    [(Role::Knight, 1), (Role::Bishop, 1), (Role::Rook, 2), (Role::Queen, 4)];

/// Exclusive upper ends of the time buckets, in milliseconds; the last bucket has no upper end. The
/// steps 1, 2, 5 are roughly even on a logarithmic scale. A logarithmic scale suits thinking times,
/// which differ by orders of magnitude.
pub(crate) const ENDS_MS: [u64; 16] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

/// Number of time buckets.
pub(crate) const BUCKETS: usize = ENDS_MS.len() + 1;

/// Sums over the moves of an engine, for the computation of means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchStatistics {
    /// Number of moves that the engine searched; book moves do not count.
    pub moves: u64,
    /// Total thinking time of the searched moves.
    pub time: Duration,
    /// Sum of the depths, in plies, of the moves with a reported depth.
    depth: u64,
    with_depth: u64,
    /// Sum of the node counts of the moves with a reported node count.
    nodes: u64,
    time_for_nodes: Duration,
}

impl SearchStatistics {
    /// Returns the mean depth in plies; `None` if no depth was reported.
    pub fn depth(&self) -> Option<f64> {
        (self.with_depth > 0).then(|| self.depth as f64 / self.with_depth as f64)
    }

    /// Returns the speed in nodes per second; `None` if the reported nodes or the time are 0.
    pub fn speed(&self) -> Option<f64> {
        let seconds = self.time_for_nodes.as_secs_f64();
        (seconds > 0.0 && self.nodes > 0).then(|| self.nodes as f64 / seconds)
    }

    /// Returns the mean time per move, in milliseconds; `None` if there are no moves.
    pub fn time_ms(&self) -> Option<f64> {
        (self.moves > 0).then(|| 1e3 * self.time.as_secs_f64() / self.moves as f64)
    }

    pub(super) fn add(&mut self, search: &SearchInfo) {
        self.moves += 1;
        self.time += search.elapsed;
        if let Some(depth) = search.depth {
            self.depth += u64::from(depth);
            self.with_depth += 1;
        }
        if let Some(nodes) = search.nodes {
            // Engines and workers may report any number.
            self.nodes = self.nodes.saturating_add(nodes);
            self.time_for_nodes += search.elapsed;
        }
    }
}

/// Returns the index of the range that contains the move number `number`; move numbers start at 1.
pub(super) fn move_range(number: u32) -> usize {
    (number.saturating_sub(1) as usize / MOVES_PER_RANGE).min(RANGES - 1)
}

/// Returns the game phase of a position, as an index into [`PHASES`].
pub(super) fn phase(position: &Chess) -> usize {
    let weight_of = |(role, weight)| weight * position.board().by_role(role).count();
    let weight: usize = WEIGHTS.into_iter().map(weight_of).sum();
    PHASES.partition_point(|(_, least)| weight < *least)
}

/// Converts a UCI move of a stored game; `None` for a null move, a drop or an empty start square.
/// The move's legality is not tested again, because the referee tested the move during the game.
pub(super) fn stored_move(position: &Chess, played: UciMove) -> Option<Move> {
    let UciMove::Normal { from, to, promotion } = played else { return None };
    let role = position.board().role_at(from)?;
    let capture = position.board().role_at(to);
    let corner = Square::from_coords(if from < to { File::H } else { File::A }, from.rank());
    Some(match role {
        Role::King if position.us().contains(to) => Move::Castle { king: from, rook: to },
        Role::King if from.distance(to) > 1 => Move::Castle { king: from, rook: corner },
        Role::Pawn if capture.is_none() && from.file() != to.file() => Move::EnPassant { from, to },
        _ => Move::Normal { role, from, capture, to, promotion },
    })
}

/// Returns the index of the bucket that contains a thinking time.
pub(super) fn time_bucket(time: Duration) -> usize {
    let millis = time.as_millis() as u64;
    ENDS_MS.partition_point(|end| millis >= *end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    #[test]
    fn any_number_of_nodes_is_added() {
        let mut sums = SearchStatistics::default();
        for nodes in [u64::MAX, u64::MAX, 1] {
            sums.add(&SearchInfo { nodes: Some(nodes), ..SearchInfo::default() });
        }
        assert_eq!(sums.nodes, u64::MAX);
    }

    #[test]
    fn phases_depend_on_the_pieces() {
        let of = |fen: &str| {
            let position = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard);
            PHASES[phase(&position.unwrap())].0
        };
        assert_eq!(PHASES[phase(&Chess::default())].0, "opening");
        assert_eq!(of("r1bqk2r/pppp1ppp/8/8/8/8/PPPP1PPP/R1BQK2R w KQkq - 0 9"), "middlegame");
        assert_eq!(of("3q1rk1/5ppp/8/8/8/8/5PPP/3Q1RK1 w - - 0 30"), "middlegame");
        assert_eq!(of("4r1k1/5ppp/8/8/8/8/5PPP/4RBK1 w - - 0 40"), "endgame");
    }

    #[test]
    fn stored_moves_equal_legal_moves() {
        let standard = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1g1 f6e4 f1e1 d7d5 e1e4 c8g4 a2a4 d8d6 a4a5 e8c8 a1a4 \
                        b7b5 a5b6 d5e4 b6a7 e4f3 a7a8n";
        for (mode, moves) in [
            (CastlingMode::Standard, standard.to_owned()),
            (CastlingMode::Chess960, standard.replace("e1g1", "e1h1").replace("e8c8", "e8a8")),
        ] {
            let mut position = Chess::default();
            for played in moves.split_whitespace() {
                let played: UciMove = played.parse().unwrap();
                let legal = played.to_move(&position).unwrap();
                assert_eq!(stored_move(&position, played), Some(legal), "{mode:?} {played}");
                position.play_unchecked(legal);
            }
        }
    }

    #[test]
    fn upper_ends_belong_to_the_next_bucket() {
        let ends = [0, 999, 1_000, 99_999, 100_000_000, 900_000_000]
            .map(|us| ENDS_MS.get(time_bucket(Duration::from_micros(us))).copied());
        assert_eq!(ends, [Some(1), Some(1), Some(2), Some(100), None, None]);
    }
}
