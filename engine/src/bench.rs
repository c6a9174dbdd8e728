//! The bench, whose node count is the signature of the engine's behaviour.

use std::fmt;
use std::time::Duration;

use crate::chess::{Game, Position, fen};
use crate::search::{Configuration, Limits, Memory, Request, Signals, search};
use crate::time::{Timer, nodes_per_second};
use crate::tt::OutOfMemory;

/// Default depth of the bench, in plies. A bench of this depth takes a few seconds.
const DEPTH: u32 = 12;

/// Size of the hash table, in MiB.
pub const HASH_MB: usize = 16;

/// Positions from all phases of the engine's self-play games.
const POSITIONS: [&str; 46] = [
    "q3kbnr/p1pb1ppp/1p2p3/3p4/5P2/4PN2/PPPP2PP/RNBQK2R w KQk - 0 7",
    "r2qk1r1/ppp1b1pN/2n1p2B/3p4/3P2b1/2N5/PPP1PP1R/R2QKB2 b Qq - 0 10",
    "r2q3r/ppp1nk2/2np1ppb/4p3/P1P1PPQ1/BPN5/3PN1PP/R4RK1 w - - 2 14",
    "r2qr1k1/pp3pp1/2b1p3/4P2p/1BP1n3/P2Q2P1/4PPBP/R4RK1 b - - 2 17",
    "1k1r3r/3q1pp1/p1p2n2/1p2n1N1/1P1N3p/PQ2P3/2PP2PP/3R1RK1 w - - 2 21",
    "2r1kr2/1p1bb1pB/p2p4/3Pp3/2n5/P4NB1/1PP2RPP/1K2R3 b - - 2 24",
    "2r1r1k1/1Q3pp1/p1nB2b1/3N3p/q3P2P/3P4/4BPP1/2R3K1 w - - 0 28",
    "2r1k2r/1bn1p3/p2p1bR1/3p4/3PP3/1B2BP1p/1PP2N1P/1K1R4 b - - 5 31",
    "2bR4/1p4kp/2p2n2/4r2B/5p2/1P6/2N2PPP/6K1 w - - 2 35",
    "8/1pk3R1/p4p2/2pPp2r/8/P5K1/1PP5/8 b - - 3 38",
    "3B4/1b4kp/2p2r2/1p2Pn1p/p3NP2/P7/1PP2K1P/8 w - - 0 42",
    "8/4bk1Q/8/3pP1p1/1p1P1p2/7P/6K1/r7 b - - 1 45",
    "8/5pp1/6k1/6P1/3p1B1P/3P4/5PBK/4r3 w - - 5 49",
    "1kB5/1Qq2p2/1p3Pp1/R5Pp/5B1P/8/1P3P2/6K1 b - - 2 41",
    "2R5/8/5r2/1k6/n2KB3/5P2/8/8 w - - 2 56",
    "8/8/8/5k2/2P1Q3/P2P4/1BK5/1n6 b - - 6 59",
    "rn1qkbnr/pbppppp1/1p6/7p/2P5/5P2/PPQPP1PP/RNB1KBNR w KQkq - 2 4",
    "r1bqkbnr/pppp1p1p/2n3p1/4p3/4P3/2NP3N/PPP2PPP/R1BQKB1R b KQkq - 0 4",
    "r1bqkbnr/pp1nppp1/3p3p/2p5/2N3P1/5N2/PPPPPP1P/R1BQKB1R w KQkq - 0 5",
    "rnbqkbnr/2pppppp/1p6/p7/6P1/PPN2N2/2PPPP1P/R1BQKB1R b KQkq - 2 5",
    "rnbq1b1r/1pppk1pp/4pn2/p4p2/8/PPPP1N2/4PPPP/RNBQKB1R w KQ - 1 6",
    "rnbqkbnr/2p1pp1p/p5p1/1p1p4/3N2P1/7P/PPPPPPB1/RNBQ1RK1 b kq - 1 6",
    "rnb1kb1r/pppp1pp1/4p3/7p/Q2P3q/2P2Pn1/PP2PK1P/RNB2BNR w kq - 0 7",
    "r2qkbnr/pbpp2pp/1p3p2/2n1p3/P3P3/2NP1N2/1PP2PPP/R1BQKB1R b Qkq - 2 7",
    "r1b1k1nr/pppqb1pp/2n1p3/1Q3pN1/2p5/2N1P3/PP1P1PPP/R1B1KB1R w KQkq - 1 8",
    "r1b1qbnr/ppBnkpp1/2p1p2p/3p4/2PP3P/N5Q1/PP2PPP1/R3KBNR b KQ - 0 8",
    "r2qkbr1/ppp1pp1p/n6p/3p4/3P4/P1N4P/1PP1PP1P/R2QKB1R w KQq - 1 9",
    "r1bqk2r/p2pnpp1/1pn1p2p/3p4/5N2/BP2P3/P1PPBPPP/R2QK2R b KQkq - 2 9",
    "rnb1k2r/pp1p1pp1/4pn1p/2b2q2/2P5/1PN1BNP1/P3PPBP/R2QK2R w KQkq - 0 10",
    "r2qk1nr/1bpp1ppp/ppn1p3/2b1P3/2PP1B2/5N1P/PPN2PP1/R2QKB1R b KQkq - 0 10",
    "r4r1k/4n1bp/1qn1B1p1/pp4P1/3ppB2/6Q1/PPP1NP1P/3RKN1R b K - 1 22",
    "4k3/1p1nb1rp/5p1p/q3p3/p1QpP3/P2P3N/4KPPP/5B1R w - - 1 23",
    "4r3/1bp2kb1/2n2p2/1B1p1p1p/3P1P2/8/PPP3PP/R3B1K1 w - - 0 24",
    "3r3r/1kq2pp1/2p1nnp1/p1b1p3/PpPpP3/1P1B1P2/1B1PQNPP/2R1R1K1 b - - 4 24",
    "6kr/3qb1pp/2n2p2/p1pP4/8/P3BP2/1P2nP1P/2RQR1K1 w - - 0 25",
    "3rkr2/1p2n1p1/p6p/2p5/2P1p3/2N5/PP2N1PP/R1B3K1 b - - 0 25",
    "1r2r3/2pq1bk1/pp2p1pp/n3Pp2/P1pP4/B1Q1PB2/2P3PP/1R4KR w - - 2 26",
    "1q4kr/p1p1bpp1/p1Pp1n1p/Pr2p3/1PQ1P3/2P1BN1P/5PP1/3RR1K1 b - - 8 26",
    "2kr1r2/p2n4/5p2/1PpBp3/3bP2p/8/3N1PPP/2R2RK1 w - - 0 27",
    "4r3/pp4k1/2nb3p/3p4/1N1p4/P5P1/1PPP3P/R1BK4 b - - 1 27",
    "5rr1/1pp4k/p2qb2p/2QpR3/8/1PP1BN2/1P3PPP/R5K1 b - - 5 28",
    "8/1r4pp/3P4/2R2p2/3B4/4PP2/P2k3P/2q3K1 w - - 0 42",
    "8/7p/1p3k2/5p1B/pPpr3P/P5R1/2K5/2N5 w - - 1 43",
    "2q5/7p/p4p1k/6p1/1P3N2/2p1P2P/2Pr1PP1/1Q4KR b - - 0 43",
    "3n4/2p4p/8/1k2P3/1p3p2/5P1P/1K4P1/B7 b - - 2 44",
    "6k1/5pp1/p3b2p/8/8/1p3P2/6PP/3B2K1 w - - 0 45",
];

/// Result of the bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchResult {
    /// Number of nodes visited: the signature of the engine's behaviour.
    pub nodes: u64,
    /// Time that the bench took.
    pub elapsed: Duration,
}

impl fmt::Display for BenchResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let speed = nodes_per_second(self.nodes, self.elapsed);
        write!(f, "Nodes searched: {}\nNodes/second: {speed}", self.nodes)
    }
}

/// Searches every bench position with one thread to `depth` plies (by default 12). The memory is
/// cleared before each search.
///
/// A stop signal ends the bench early; the node count is then not a signature.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if the hash table cannot be allocated.
pub fn run(
    depth: Option<u32>,
    configuration: impl Into<Configuration>,
    signals: &Signals,
) -> Result<BenchResult, OutOfMemory> {
    let configuration = configuration.into();
    let limits = Limits { depth: Some(depth.unwrap_or(DEPTH)), ..Limits::default() };
    let mut memory = Memory::for_personality(configuration.personality, HASH_MB)?;
    let timer = Timer::start(None);
    let mut nodes = 0;
    for position in positions().take_while(|_| !signals.is_stopped()) {
        let game = Game::new(position);
        let request = Request { game: &game, limits: &limits, timer: &timer, signals };
        memory.clear();
        nodes += search(configuration, request, &mut memory, &mut |_| {}).nodes;
    }
    Ok(BenchResult { nodes, elapsed: timer.elapsed() })
}

/// Returns the positions of the bench.
pub fn positions() -> impl Iterator<Item = Position> {
    POSITIONS.iter().map(|text| fen::parse(text).expect("the bench positions are legal"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Variant;
    use crate::search::Personality;

    #[test]
    fn the_signature_repeats() {
        let configurations = Variant::ALL.map(Configuration::from).into_iter();
        for configuration in configurations.chain(Personality::ALL.map(Configuration::from)) {
            let nodes = || run(Some(4), configuration, &Signals::default()).unwrap().nodes;
            assert_eq!(nodes(), nodes(), "{configuration:?}");
        }
    }
}
