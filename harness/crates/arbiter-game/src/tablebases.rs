//! Syzygy tablebases on disk.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::path::Path;

use arbiter_process::open_input;
use shakmaty::Chess;
use shakmaty_syzygy::{AmbiguousWdl, Tablebase, Wdl};

use crate::adjudicate::Tables;

/// Syzygy tablebases from one or several folders.
#[derive(Debug)]
pub struct Syzygy(Tablebase<Chess>);

impl Syzygy {
    /// Opens the tables of all folders. Fails if a folder cannot be read or contains no table, or
    /// if a table is incomplete or not a Syzygy table. The error is the reason.
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
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use super::*;

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
