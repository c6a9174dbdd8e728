//! ECO codes and names of openings, identified by position, so that transpositions get the same
//! name.

use std::collections::HashMap;

use shakmaty::san::San;
use shakmaty::zobrist::Zobrist128;
use shakmaty::{Chess, EnPassantMode, Position};

use arbiter_game::record::GameRecord;

/// ECO code, name and moves of each opening; the file names the origin of the data.
const TABLE: &str = include_str!("eco.tsv");

/// ECO code and name of an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpeningName {
    /// Code of the Encyclopaedia of Chess Openings, A00 to E99.
    pub eco: &'static str,
    /// Name of the opening.
    pub name: &'static str,
}

/// Names of openings, by the hash of the position.
#[derive(Debug, Clone)]
pub struct OpeningNames(HashMap<Zobrist128, OpeningName>);

impl OpeningNames {
    /// Returns the opening of the last named position in the book part of a game. The starting
    /// position also counts. Returns `None` for a Chess960 game, or if no position is named.
    pub fn name_in_book(&self, game: &GameRecord) -> Option<OpeningName> {
        self.last_named(game, book_plies(game))
    }

    /// Returns the opening of the last named position in the first `plies` plies of a game. The
    /// starting position also counts. Returns `None` for a Chess960 game, or if no position is
    /// named.
    pub(crate) fn last_named(&self, game: &GameRecord, plies: usize) -> Option<OpeningName> {
        if game.chess960 {
            return None;
        }
        let mut position = game.start();
        let mut found = self.find(&position);
        for played in game.moves.iter().take(plies) {
            let m = played.uci.to_move(&position).ok()?;
            position.play_unchecked(m);
            found = self.find(&position).or(found);
        }
        found
    }

    /// Returns the opening of a position, if the position is named or lies between two named
    /// positions in the moves of an opening.
    pub fn find(&self, position: &Chess) -> Option<OpeningName> {
        self.0.get(&key(position)).copied()
    }
}

impl Default for OpeningNames {
    /// Parses the table of openings.
    fn default() -> OpeningNames {
        let openings: Vec<_> = entries().map(|(named, moves)| (named, keys(moves))).collect();
        let ends = openings.iter().filter_map(|(named, keys)| Some((*keys.last()?, *named)));
        let mut names: HashMap<_, _> = ends.collect();
        // A book of positions may start anywhere in an opening, so each position between two named
        // positions gets the name of the earlier position.
        for (_, keys) in openings {
            let mut last = None;
            for key in keys {
                last = match (names.get(&key), last) {
                    (Some(named), _) => Some(*named),
                    (None, Some(named)) => Some(*names.entry(key).or_insert(named)),
                    (None, None) => None,
                };
            }
        }
        OpeningNames(names)
    }
}

/// Returns the number of book moves at the start of a game, in plies.
pub(crate) fn book_plies(game: &GameRecord) -> usize {
    game.moves.iter().take_while(|played| played.search.is_none()).count()
}

/// Returns all openings in the table, with their moves in SAN.
fn entries() -> impl Iterator<Item = (OpeningName, &'static str)> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (eco, rest) = line.split_once('\t')?;
        let (name, moves) = rest.split_once('\t')?;
        Some((OpeningName { eco, name }, moves))
    })
}

/// Returns the hash of the position after each move in SAN. The list ends before the first illegal
/// move.
fn keys(moves: &str) -> Vec<Zobrist128> {
    let mut position = Chess::default();
    let after = moves.split(' ').map_while(|san| {
        position.play_unchecked(san.parse::<San>().ok()?.to_move(&position).ok()?);
        Some(key(&position))
    });
    after.collect()
}

fn key(position: &Chess) -> Zobrist128 {
    position.zobrist_hash(EnPassantMode::Legal)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use shakmaty::san::SanPlus;

    #[test]
    fn openings_are_legal_exact_san_and_unique() {
        let mut positions: HashMap<Zobrist128, &str> = HashMap::new();
        let mut names = BTreeSet::new();
        for (named, moves) in entries() {
            let mut position = Chess::default();
            for written in moves.split(' ') {
                let m = written.parse::<SanPlus>().unwrap().san.to_move(&position);
                let m = m.unwrap_or_else(|e| panic!("{} {moves}: {written}: {e}", named.eco));
                let exact = SanPlus::from_move_and_play_unchecked(&mut position, m);
                assert_eq!(exact.to_string(), written, "{} {moves}", named.eco);
            }
            let other = positions.insert(key(&position), moves);
            assert_eq!(other, None, "{} {moves} is the same position", named.eco);
            assert!(names.insert(named.name), "two lines are called {}", named.name);
        }
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(entries().count(), lines, "each line has three fields");
    }

    #[test]
    fn every_eco_code_has_an_opening() {
        let codes: BTreeSet<&str> = entries().map(|(named, _)| named.eco).collect();
        let all =
            "ABCDE".chars().flat_map(|volume| (0..100).map(move |n| format!("{volume}{n:02}")));
        let all: Vec<String> = all.collect();
        assert!(codes.iter().eq(all.iter()), "{codes:?}");
    }

    #[test]
    fn transpositions_have_the_same_name() {
        let names = OpeningNames::default();
        let find = |moves: &str| names.0.get(keys(moves).last().unwrap()).map(|named| named.eco);
        assert_eq!(find("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6"), Some("B90"));
        assert_eq!(find("Nf3 d5 d4 Nf6 c4 e6 Nc3 c6"), Some("D43"));
        assert_eq!(find("c4 Nf6 d4 e6 Nc3 Bb4"), Some("E20"));
        assert_eq!(find("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 O-O c3 d5"), Some("C89"));
        assert_eq!(find("a3 a6 h3 h6"), None);
        // The position occurs in several openings.
        assert_eq!(find("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5"), Some("C84"));
    }
}
