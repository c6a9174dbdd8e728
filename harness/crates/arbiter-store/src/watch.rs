//! Detection of changes by other programs to the files of a store during a run, and a fallback file
//! for pairs that the store refuses.

use std::path::{Path, PathBuf};

use super::{Result, Store, StoreError, StoredRun, beside};
use arbiter_process::{FileId, places_near};
use arbiter_run::PlayedPair;

/// Identity and length, in bytes, of a file at the time of a check; `None` if the file did not
/// exist.
pub(super) type FileIdentity = Option<(FileId, u64)>;

fn identify(path: &Path) -> FileIdentity {
    path.metadata().ok().map(|about| (FileId::from(&about), about.len()))
}

impl Store {
    /// Fails if another program has deleted, replaced or truncated the store or its log since the
    /// last call.
    pub(super) fn check_in_place(&self) -> Result<()> {
        let log = beside(&self.file, "-wal");
        let now = [identify(&self.file), identify(&log)];
        let before = self.last_identities.replace(now.clone());
        for (before, now) in before.into_iter().zip(now) {
            let what = match (before, now) {
                // A new store has no log yet.
                (None, _) => continue,
                (Some(_), None) => "deleted",
                (Some((id, _)), Some((now_id, _))) if id != now_id => "replaced",
                (Some((_, length)), Some((_, now_length))) if now_length < length => "truncated",
                _ => continue,
            };
            return Err(StoreError::Changed { file: self.file.clone(), what });
        }
        Ok(())
    }

    /// Saves a copy of the store in a new file, and adds `pairs` to `run` in the copy. If the store
    /// is unreadable, the new file contains only the run and these pairs. Returns the path of the
    /// file; `None` if no file could be written. The file is created in the folder of the store, in
    /// the nearest writable parent folder, or in the folder for temporary files.
    pub fn save_elsewhere(&self, run: &StoredRun, pairs: &[&PlayedPair]) -> Option<PathBuf> {
        // An open transaction can be rolled back, because the pairs of the transaction are also in
        // `pairs`.
        let _ = self.connection.execute_batch("ROLLBACK");
        // A file that was only partly written is removed before the next attempt.
        let takes = |place: &PathBuf| {
            // The open connection can often still read a store that was deleted or replaced.
            let copied = self.connection.execute("VACUUM INTO ?1", [place.to_string_lossy()]);
            let is_kept = |is_saved: bool| {
                if !is_saved {
                    let _ = std::fs::remove_file(place);
                }
                is_saved
            };
            is_kept(copied.is_ok() && save(place, run, pairs).is_ok())
                || is_kept(save(place, run, pairs).is_ok())
        };
        places_near(&self.file).find(takes)
    }
}

/// Adds the pairs to the store at `place`, and adds the run if the store does not contain the run.
fn save(place: &Path, run: &StoredRun, pairs: &[&PlayedPair]) -> Result<()> {
    let mut saved = Store::connect(place.to_owned())?;
    let StoredRun { head, plan, fingerprints, offsets, .. } = run;
    let about = head.about.as_deref();
    match saved.begin_run(&head.run, head.created_ms, plan, fingerprints, *offsets, about) {
        Ok(()) | Err(StoreError::Exists(_)) => {}
        Err(error) => return Err(error),
    }
    for pair in pairs {
        saved.append(&head.run, pair, None, None)?;
    }
    Ok(())
}
