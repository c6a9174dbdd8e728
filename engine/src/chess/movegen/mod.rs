//! Generator of legal moves. No move is generated and then rejected.
//!
//! The generator goes through the pieces once and passes *sets* of destinations to a [`Visitor`],
//! which lists, counts or makes the moves. Masks for checks and pins restrict the sets.

mod generate;
mod king;
mod legal;
mod lister;
mod node;
mod pawns;
mod visitor;

use super::attacks::{Cpu, Job, Machine};
use super::color::{Black, Color, White};
use super::moves::MoveList;
use super::position::Position;
pub(in crate::chess) use generate::{generate, in_check, without_check};
use lister::Lister;
pub(in crate::chess) use node::{Node, Rights};
pub(in crate::chess) use visitor::{Counter, Mover, Visitor};

impl Position {
    /// Returns all legal moves.
    #[inline(always)]
    pub fn legal_moves(&self) -> MoveList {
        self.list::<true, true>()
    }

    /// Returns all captures and promotions.
    #[inline(always)]
    pub fn noisy_moves(&self) -> MoveList {
        self.list::<true, false>()
    }

    /// Returns all moves that neither capture nor promote.
    #[inline(always)]
    pub fn quiet_moves(&self) -> MoveList {
        self.list::<false, true>()
    }

    /// Replaces the contents of a list with all captures and promotions.
    pub(crate) fn fill_with_noisy_moves(&self, list: &mut MoveList) {
        list.clear();
        self.fill::<true, false>(list);
    }

    /// Replaces the contents of a list with all moves that neither capture nor promote.
    pub(crate) fn fill_with_quiet_moves(&self, list: &mut MoveList) {
        list.clear();
        self.fill::<false, true>(list);
    }

    /// Returns a list of moves. The function is inlined, so that the list is built in the caller's
    /// variable, without a copy.
    #[inline(always)]
    fn list<const NOISY: bool, const QUIET: bool>(&self) -> MoveList {
        let mut list = MoveList::new();
        self.fill::<NOISY, QUIET>(&mut list);
        list
    }

    fn fill<const NOISY: bool, const QUIET: bool>(&self, list: &mut MoveList) {
        Machine::best().run(List::<NOISY, QUIET> { position: self, list });
    }

    /// Returns the number of legal moves, without listing them.
    pub fn count_legal_moves(&self) -> u64 {
        Machine::best().run(CountMoves { position: self })
    }

    /// Passes the legal moves to a visitor: captures and promotions if `NOISY`, all other moves if
    /// `QUIET`.
    #[inline(always)]
    fn generate_for<C: Cpu, V: Visitor, const NOISY: bool, const QUIET: bool>(
        &self,
        cpu: C,
        visitor: &mut V,
    ) {
        match self.turn() {
            Color::White => {
                let node = Node::of::<White>(self);
                generate::<White, C, V, NOISY, QUIET>(cpu, node, visitor);
            }
            Color::Black => {
                let node = Node::of::<Black>(self);
                generate::<Black, C, V, NOISY, QUIET>(cpu, node, visitor);
            }
        }
    }
}

/// Job that appends legal moves to a list: captures and promotions if `NOISY`, all other moves if
/// `QUIET`.
struct List<'a, const NOISY: bool, const QUIET: bool> {
    position: &'a Position,
    list: &'a mut MoveList,
}

impl<const NOISY: bool, const QUIET: bool> Job for List<'_, NOISY, QUIET> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self, cpu: C) {
        let enemy = self.position.board().color(!self.position.turn());
        let mut lister = Lister { cpu, enemy, list: self.list };
        self.position.generate_for::<C, _, NOISY, QUIET>(cpu, &mut lister);
    }
}

/// Job that counts the legal moves of a position.
struct CountMoves<'a> {
    position: &'a Position,
}

impl Job for CountMoves<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<C: Cpu>(self, cpu: C) -> u64 {
        let mut counter = Counter::default();
        self.position.generate_for::<C, _, true, true>(cpu, &mut counter);
        counter.count
    }
}

#[cfg(test)]
mod tests {
    use crate::chess::fen;
    use crate::chess::moves::{Move, MoveKind};
    use crate::chess::square::Square;

    const POSITIONS: [&str; 12] = [
        fen::STARTPOS,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
        "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
        "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
        "8/8/8/2k5/2pP4/8/B7/4K3 b - d3 0 3",
        "4k3/8/4r3/8/8/4B3/4K3/8 w - - 0 1",
        "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1",
        "k7/8/8/8/8/8/8/r1RK4 w C - 0 1",
        "4k3/8/8/8/8/2n5/8/r2K4 w - - 0 1",
    ];

    fn sorted(moves: &[Move]) -> Vec<u16> {
        let mut bits: Vec<u16> = moves.iter().map(|mv| mv.bits()).collect();
        bits.sort_unstable();
        bits
    }

    #[test]
    fn noisy_and_quiet_moves_make_up_all_moves() {
        for text in POSITIONS {
            let position = fen::parse(text).unwrap();
            let all = position.legal_moves();
            let noisy = position.noisy_moves();
            let quiet = position.quiet_moves();
            assert!(noisy.iter().all(|mv| !mv.is_quiet()) && quiet.iter().all(|mv| mv.is_quiet()));
            assert_eq!(sorted(&all), sorted(&[&noisy[..], &quiet[..]].concat()), "{text}");
            assert_eq!(position.count_legal_moves(), all.len() as u64, "{text}");
        }
    }

    #[test]
    fn exactly_the_generated_moves_are_legal() {
        for text in POSITIONS {
            let position = fen::parse(text).unwrap();
            let listed = sorted(&position.legal_moves());
            for from in Square::all() {
                for to in Square::all() {
                    for kind in MoveKind::ALL {
                        let mv = Move::new(from, to, kind);
                        let member = listed.binary_search(&mv.bits()).is_ok();
                        assert_eq!(position.is_legal(mv), member, "{text} {mv:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn gives_check_agrees_with_the_next_position() {
        for text in POSITIONS {
            let position = fen::parse(text).unwrap();
            for &mv in position.legal_moves().iter() {
                assert_eq!(position.gives_check(mv), position.play(mv).in_check(), "{text} {mv:?}");
            }
        }
    }

    #[test]
    fn pinned_rook_may_not_castle() {
        let position = fen::parse("k7/8/8/8/8/8/8/rR1K4 w B - 0 1").unwrap();
        assert!(position.legal_moves().iter().any(|mv| mv.from() == Square::new(1)));
        assert!(position.legal_moves().iter().all(|mv| !mv.is_castle()));
    }
}
