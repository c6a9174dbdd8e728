//! Adjudication by tablebases: the rule, and the Syzygy tables, which are checked when they are
//! opened.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, KnownOutcome, Position};
use shakmaty_syzygy::{AmbiguousWdl, Tablebase, Wdl};

use crate::outcome::Scope;
use arbiter_process::open_input;

/// Rule for adjudication by tablebases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablebaseRule {
    /// Maximum number of pieces, kings included, in a position that is looked up; 0 for no maximum.
    pub pieces: u32,
    /// `true` if a win is adjudicated even if the fifty-move rule would make the game a draw.
    #[serde(rename = "ignore_fifty")]
    pub ignores_fifty: bool,
    /// Results that are adjudicated.
    pub scope: Scope,
}

/// Syzygy tablebases with WDL values. A value is from the point of view of the side to move; the
/// value is `None` if no table contains the position. No table contains positions with castling
/// rights.
pub trait Tables: Debug + Send + Sync {
    /// Returns the value that the position would have with a halfmove clock of 0.
    fn fresh(&self, position: &Chess) -> Option<Wdl>;

    /// Returns the value of the position with its actual halfmove clock.
    fn exact(&self, position: &Chess) -> Option<AmbiguousWdl>;
}

impl TablebaseRule {
    /// Returns the result of a position according to `tables`; `None` if the game has to
    /// continue.
    pub(super) fn value(self, tables: &dyn Tables, position: &Chess) -> Option<KnownOutcome> {
        let pieces = position.board().occupied().count();
        if self.pieces > 0 && pieces > self.pieces as usize {
            return None;
        }
        let us = position.turn();
        let won = |winner| KnownOutcome::Decisive { winner };
        let value = match tables.fresh(position)? {
            Wdl::Draw => KnownOutcome::Draw,
            // A cursed win needs more than fifty moves even after a zeroing move, so the fifty-move
            // rule makes the game a draw.
            Wdl::CursedWin | Wdl::BlessedLoss if !self.ignores_fifty => KnownOutcome::Draw,
            wdl if self.ignores_fifty || position.halfmoves() == 0 => {
                won(if wdl > Wdl::Draw { us } else { !us })
            }
            // The halfmove clock is above 0, so the win may come too late. Only the exact lookup
            // uses the halfmove clock.
            _ => match tables.exact(position)? {
                AmbiguousWdl::Win => won(us),
                AmbiguousWdl::Loss => won(!us),
                AmbiguousWdl::CursedWin | AmbiguousWdl::BlessedLoss | AmbiguousWdl::Draw => {
                    KnownOutcome::Draw
                }
                // Distances in the tables may be off by one ply, so it is unknown whether the
                // remaining moves suffice. The game continues, because a guess could turn a draw
                // into a win.
                AmbiguousWdl::MaybeWin | AmbiguousWdl::MaybeLoss => return None,
            },
        };
        self.scope.contains(value).then_some(value)
    }
}

/// Syzygy tablebases from one or several folders.
#[derive(Debug)]
pub struct Syzygy(Tablebase<Chess>);

impl Syzygy {
    /// Opens the tables of all folders. Fails if a folder cannot be read or contains no table, or
    /// if a table is incomplete or not a Syzygy table. The error contains the reason.
    pub fn open<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Result<Syzygy, String> {
        let mut tables = Tablebase::new();
        for folder in folders {
            let shown = folder.display();
            let is_list = shown.to_string().contains(';');
            let hint = if is_list { "; separate folders by ':'" } else { "" };
            let unread = |error| format!("syzygy: cannot read folder {shown}: {error}{hint}");
            for entry in std::fs::read_dir(folder).map_err(unread)?.flatten() {
                check(&entry.path()).map_err(|why| format!("syzygy: {why}"))?;
            }
            let found = tables.add_directory(folder).map_err(unread)?;
            if found == 0 {
                return Err(format!(
                    "syzygy: no tables (files such as KQvK.rtbw) in {shown}; subfolders are not \
                     searched"
                ));
            }
        }
        Ok(Syzygy(tables))
    }

    /// Returns the number of pieces of the largest table.
    pub fn max_pieces(&self) -> usize {
        self.0.max_pieces()
    }
}

/// Rejects a file that has the extension of a table but is incomplete or not a table. Otherwise,
/// lookups would fail in the middle of a run. The size of a table, in bytes, is 16 modulo 64.
fn check(path: &Path) -> Result<(), String> {
    // These are the magic numbers of the two kinds of tables, as in `syzygy/tbprobe.cpp` of
    // Stockfish, which also checks the length modulo 64.
    let magic = match path.extension().and_then(OsStr::to_str) {
        Some("rtbw") => [0x71, 0xe8, 0x23, 0x5d],
        Some("rtbz") => [0xd7, 0x66, 0x0c, 0xa5],
        // The folder may contain other files, which are ignored.
        _ => return Ok(()),
    };
    let mut first = [0; 4];
    let read = open_input(path).and_then(|mut file| {
        file.read_exact(&mut first)?;
        Ok(file.metadata()?.len())
    });
    let broken = |why: &str| format!("{} {why}; fetch it again", path.display());
    match read {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(broken("is too short")),
        Err(error) => Err(format!("{}: {error}", path.display())),
        Ok(_) if first != magic => Err(broken("is not a table")),
        Ok(length) if length % 64 != 16 => Err(broken("is incomplete")),
        Ok(_) => Ok(()),
    }
}

impl Tables for Syzygy {
    fn fresh(&self, position: &Chess) -> Option<Wdl> {
        // If there is no table for the position, or the table cannot be read, the game continues.
        self.0.probe_wdl_after_zeroing(position).ok()
    }

    fn exact(&self, position: &Chess) -> Option<AmbiguousWdl> {
        self.0.probe_wdl(position).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Color};

    /// Tables that return these two values for every position.
    #[derive(Debug, Clone, Copy)]
    struct Oracle(Option<Wdl>, Option<AmbiguousWdl>);

    impl Tables for Oracle {
        fn fresh(&self, _: &Chess) -> Option<Wdl> {
            self.0
        }

        fn exact(&self, _: &Chess) -> Option<AmbiguousWdl> {
            self.1
        }
    }

    const RULE: TablebaseRule =
        TablebaseRule { pieces: 0, ignores_fifty: false, scope: Scope::Both };
    const WHITE: Option<KnownOutcome> = Some(KnownOutcome::Decisive { winner: Color::White });
    const BLACK: Option<KnownOutcome> = Some(KnownOutcome::Decisive { winner: Color::Black });

    /// Looks up a position with White to move, four pieces, and the halfmove clock at `counter`.
    fn at(counter: u32, rule: TablebaseRule, tables: Oracle) -> Option<KnownOutcome> {
        let fen: Fen = format!("8/8/8/4k3/8/8/8/KQR5 w - - {counter} 80").parse().unwrap();
        rule.value(&tables, &fen.into_position(CastlingMode::Standard).unwrap())
    }

    #[test]
    fn games_continue_if_the_position_is_in_no_table() {
        assert_eq!(at(0, RULE, Oracle(None, Some(AmbiguousWdl::Win))), None);
        assert_eq!(at(9, RULE, Oracle(Some(Wdl::Win), None)), None);
    }

    #[test]
    fn values_are_for_the_side_to_move() {
        assert_eq!(at(0, RULE, Oracle(Some(Wdl::Win), None)), WHITE);
        assert_eq!(at(0, RULE, Oracle(Some(Wdl::Loss), None)), BLACK);
        assert_eq!(at(9, RULE, Oracle(Some(Wdl::Loss), Some(AmbiguousWdl::Loss))), BLACK);
        assert_eq!(at(9, RULE, Oracle(Some(Wdl::Draw), None)), Some(KnownOutcome::Draw));
    }

    #[test]
    fn the_fifty_move_rule_counts_unless_it_is_ignored() {
        let ignoring = TablebaseRule { ignores_fifty: true, ..RULE };
        for (fresh, exact, expect) in [
            (Wdl::CursedWin, None, Some(KnownOutcome::Draw)),
            (Wdl::Win, Some(AmbiguousWdl::Win), WHITE),
            (Wdl::Win, Some(AmbiguousWdl::CursedWin), Some(KnownOutcome::Draw)),
            (Wdl::Win, Some(AmbiguousWdl::MaybeWin), None),
        ] {
            assert_eq!(at(60, RULE, Oracle(Some(fresh), exact)), expect, "{fresh:?} {exact:?}");
            assert_eq!(at(60, ignoring, Oracle(Some(fresh), exact)), WHITE);
        }
        assert_eq!(at(60, ignoring, Oracle(Some(Wdl::BlessedLoss), None)), BLACK);
    }

    #[test]
    fn only_selected_results_are_adjudicated() {
        let win = Oracle(Some(Wdl::Win), None);
        let draw = Oracle(Some(Wdl::Draw), None);
        let wins = TablebaseRule { scope: Scope::Wins, ..RULE };
        assert_eq!((at(0, wins, win), at(0, wins, draw)), (WHITE, None));
        let draws = TablebaseRule { scope: Scope::Draws, ..RULE };
        assert_eq!((at(0, draws, win), at(0, draws, draw)), (None, Some(KnownOutcome::Draw)));
        let few = TablebaseRule { pieces: 3, ..RULE };
        assert_eq!(at(0, few, win), None);
        assert_eq!(at(0, TablebaseRule { pieces: 4, ..RULE }, win), WHITE);
    }

    #[test]
    fn folders_without_tables_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let error = Syzygy::open([dir.path()]).unwrap_err().to_string();
        assert!(error.contains("no tables") && error.contains(".rtbw"), "{error}");
        let several = dir.path().join("a;b");
        let error = Syzygy::open([several.as_path()]).unwrap_err().to_string();
        assert!(error.ends_with("; separate folders by ':'"), "{error}");
        let nowhere = dir.path().join("nowhere");
        let error = Syzygy::open([nowhere.as_path()]).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains("nowhere"), "{error}");
    }

    #[test]
    fn broken_tables_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("KQvK.rtbz");
        let magic = [0xd7, 0x66, 0x0c, 0xa5];
        let with = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Syzygy::open([dir.path()])
                .map(drop)
                .map_err(|error| error.to_string().replace(dir.path().to_str().unwrap(), ""))
        };
        let refused = |why: &str| Err(format!("syzygy: /KQvK.rtbz {why}; fetch it again"));
        let whole = [&magic[..], &[0; 12 + 64]].concat();
        assert_eq!(with(&whole), Ok(()));
        assert_eq!(with(&whole[..79]), refused("is incomplete"));
        assert_eq!(with(&[0; 80]), refused("is not a table"));
        assert_eq!(with(b"version https://git-lfs"), refused("is not a table"));
        assert_eq!(with(&magic[..2]), refused("is too short"));
        assert_eq!(with(b""), refused("is too short"));
    }

    /// Checks that lookups in corrupt tables terminate, with or without a result, because tables
    /// may come from untrusted sources.
    #[test]
    fn corrupt_tables_are_probed_safely() {
        let dir = tempfile::tempdir().unwrap();
        let position: Fen = "4k3/8/8/8/8/8/8/KQ6 w - - 0 1".parse().unwrap();
        let position: Chess = position.into_position(CastlingMode::Standard).unwrap();
        let mut bits = 1_u64;
        let mut byte = || {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (bits >> 56) as u8
        };
        for blocks in 1..400 {
            for (ending, magic) in
                [("rtbw", [0x71, 0xe8, 0x23, 0x5d]), ("rtbz", [0xd7, 0x66, 0x0c, 0xa5])]
            {
                let rest: Vec<u8> = (0..12 + 64 * (blocks % 20)).map(|_| byte()).collect();
                let path = dir.path().join("KQvK").with_extension(ending);
                std::fs::write(path, [&magic[..], &rest].concat()).unwrap();
            }
            let tables = Syzygy::open([dir.path()]).unwrap();
            let (_, _) = (tables.exact(&position), tables.fresh(&position));
        }
    }

    #[test]
    fn pipes_and_folders_are_rejected_as_tables() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("KQvK.rtbw");
        std::fs::create_dir(&path).unwrap();
        let refused = || Syzygy::open([dir.path()]).unwrap_err().to_string();
        assert!(refused().ends_with("KQvK.rtbw: it is a folder; name a file"), "{}", refused());
        std::fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(refused().ends_with("it is a pipe or a device; name a regular file"));
    }
}
