//! Hash keys of groups of pieces, for tables that are indexed by the placement of one group.

use crate::chess::color::Color;
use crate::chess::piece::Kind;

/// Number of groups: pawns; White's other pieces; Black's other pieces; minor pieces and kings.
pub(crate) const GROUPS: usize = 4;

/// Masks by colour, piece type and group. All bits of a mask are set if the piece belongs to the
/// group, so that toggling needs no branch.
static MEMBERSHIP: [[[u32; GROUPS]; 6]; 2] = membership();

const fn membership() -> [[[u32; GROUPS]; 6]; 2] {
    let mut masks = [[[0; GROUPS]; 6]; 2];
    let mut color = 0;
    while color < 2 {
        masks[color][Kind::Pawn.index()][0] = !0;
        let mut kind = Kind::Knight.index();
        while kind <= Kind::King.index() {
            masks[color][kind][1 + color] = !0;
            kind += 1;
        }
        masks[color][Kind::Knight.index()][3] = !0;
        masks[color][Kind::Bishop.index()][3] = !0;
        masks[color][Kind::King.index()][3] = !0;
        color += 1;
    }
    masks
}

/// The keys of all groups. All bits of a key are equally random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupKeys([u32; GROUPS]);

impl GroupKeys {
    /// The keys of a board without pieces.
    pub(super) const EMPTY: GroupKeys = GroupKeys([0; GROUPS]);

    /// Toggles the upper half of a Zobrist number in the keys of all groups to which this piece
    /// belongs.
    #[inline]
    pub(super) fn toggle(&mut self, color: Color, kind: Kind, words: u64) {
        let masks = &MEMBERSHIP[color.index()][kind.index()];
        for (key, mask) in self.0.iter_mut().zip(masks) {
            *key ^= (words >> 32) as u32 & mask;
        }
    }

    /// Returns the keys of all groups.
    #[inline]
    pub(crate) fn all(self) -> [u32; GROUPS] {
        self.0
    }

    /// Returns the key of the pawns.
    #[inline]
    pub(crate) fn pawns(self) -> u32 {
        self.0[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::chess::fen::{self, CastlingLetters};
    use crate::chess::uci_move::{CastlingForm, parse};

    /// Returns, for each group, whether a move changes the key of the group.
    fn changed(text: &str, mv: &str) -> [bool; GROUPS] {
        let before = fen::parse(text).unwrap();
        let after = before.play(parse(mv, &before, CastlingForm::KingTo).unwrap());
        let (before, after) = (before.group_keys().all(), after.group_keys().all());
        std::array::from_fn(|group| before[group] != after[group])
    }

    #[test]
    fn a_move_changes_the_keys_of_its_groups() {
        let text = "r3k2r/pP4p1/8/3pP3/4n3/2N2Q2/P5PP/R3K2R w KQkq d6 0 1";
        for (mv, expected) in [
            ("h2h3", [true, false, false, false]),
            ("e5d6", [true, false, false, false]),
            ("f3f4", [false, true, false, false]),
            ("c3b1", [false, true, false, true]),
            ("e1d1", [false, true, false, true]),
            ("e1c1", [false, true, false, true]),
            ("c3e4", [false, true, true, true]),
            ("f3e4", [false, true, true, true]),
            ("c3d5", [true, true, false, true]),
            ("b7a8q", [true, true, true, false]),
            ("b7b8n", [true, true, false, true]),
        ] {
            assert_eq!(changed(text, mv), expected, "{mv}");
        }
    }

    #[test]
    fn keys_depend_on_the_placement_alone() {
        let mut position = Position::startpos();
        let moves =
            "e2e4 g8f6 e4e5 d7d5 e5d6 f6g8 d6c7 g8f6 c7b8q a8b8 g1f3 e7e6 f1e2 f8e7 e1g1 e8g8";
        for text in moves.split(' ') {
            position.make(parse(text, &position, CastlingForm::KingTo).unwrap());
            let text = fen::format(&position, CastlingLetters::Shredder);
            assert_eq!(fen::parse(&text).unwrap().group_keys(), position.group_keys(), "{text}");
        }
    }

    #[test]
    fn a_position_fits_into_three_cache_lines() {
        assert_eq!(size_of::<Position>(), 3 * 64);
    }
}
