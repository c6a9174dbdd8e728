//! Builds in the cache, and the selection of builds to remove.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::cache::{BuildRecord, Cache, Entry};
use super::error::{Result, io_error};
use arbiter_process::remove_folder;

/// Age above which a checkout counts as left behind by a killed build.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// A build in the cache.
#[derive(Debug, Clone)]
pub struct KeptBuild {
    /// Name of the folder: the commit, and a hash of commit, recipe and toolchain.
    pub name: String,
    /// Record of the build; `None` if the build failed, is not finished, or is damaged.
    pub record: Option<BuildRecord>,
    /// Total size of the files, in bytes.
    pub bytes: u64,
    /// Time of the last use.
    pub used: SystemTime,
    entry: Entry,
}

/// Returns all builds, including failed builds, the least recently used first.
pub fn kept_builds(cache: &Cache) -> Result<Vec<KeptBuild>> {
    let mut all = Vec::new();
    for folder in paths(&cache.builds())?.into_iter().filter(|path| path.is_dir()) {
        // Another process may be removing the folder.
        let Ok((bytes, changed)) = measure(&folder) else { continue };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let entry = Entry { folder };
        // A failed build has no file that records its last use.
        let used =
            entry.last_use_file().metadata().and_then(|data| data.modified()).unwrap_or(changed);
        all.push(KeptBuild { name, record: entry.record(), bytes, used, entry });
    }
    // Names break ties between equal times, so that the order is deterministic.
    all.sort_by(|a, b| (a.used, &a.name).cmp(&(b.used, &b.name)));
    Ok(all)
}

/// Returns the builds to remove at the time `now`: builds unused for longer than `age`, then the
/// least recently used builds until at most `most` bytes remain. `None` stands for no limit; `all`
/// is sorted from the least to the most recently used build.
pub fn builds_to_remove(
    all: &[KeptBuild],
    age: Option<Duration>,
    most: Option<u64>,
    now: SystemTime,
) -> Vec<&KeptBuild> {
    let mut remaining: u64 = all.iter().map(|kept| kept.bytes).sum();
    let mut removed = Vec::new();
    for kept in all {
        // If a clock was set back, the last use is in the future; such a build counts as just used.
        let unused = now.duration_since(kept.used).unwrap_or_default();
        if age.is_some_and(|age| unused > age) || most.is_some_and(|most| remaining > most) {
            remaining -= kept.bytes;
            removed.push(kept);
        }
    }
    removed
}

/// Removes a build. Returns `false` if the build remains because another process is building or
/// running the program.
pub fn remove_build(cache: &Cache, kept: &KeptBuild) -> Result<bool> {
    let Some(_lock) = kept.entry.lock_for_removal()? else { return Ok(false) };
    // The folder is moved first, so that no process finds a partly removed folder.
    let aside = cache.staging().join(format!("removed-{}", kept.name));
    let removed = std::fs::rename(&kept.entry.folder, &aside).and_then(|()| remove_folder(&aside));
    removed.map_err(io_error(&kept.entry.folder))?;
    Ok(true)
}

/// Returns the folders that killed builds have left behind: the staging folders that, at the time
/// `now`, are too old to be in use.
pub fn abandoned_folders(cache: &Cache, now: SystemTime) -> Result<Vec<PathBuf>> {
    let mut found = paths(&cache.staging())?;
    found.retain(|path| {
        // For a symbolic link, the age of the link counts, because the target may be anywhere.
        let changed = path.symlink_metadata().and_then(|data| data.modified());
        // A time in the future, from a clock that was set back, gives no age, and the folder
        // remains.
        let age = changed.ok().and_then(|changed| now.duration_since(changed).ok());
        age.is_some_and(|age| age > ABANDONED)
    });
    found.sort();
    Ok(found)
}

/// Returns the paths in a folder.
fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = std::fs::read_dir(folder);
    let paths = read.and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    paths.map_err(io_error(folder))
}

/// Removes a folder returned by [`abandoned_folders`].
pub fn remove_abandoned(path: &Path) -> Result<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|about| about.is_dir());
    let removed = if is_folder { remove_folder(path) } else { std::fs::remove_file(path) };
    removed.map_err(io_error(path))
}

/// Returns the size in bytes of all files below a folder, and the time of the latest change.
fn measure(folder: &Path) -> std::io::Result<(u64, SystemTime)> {
    let mut bytes = 0;
    let mut changed = folder.metadata()?.modified()?;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.metadata()?;
        let (size, time) =
            if data.is_dir() { measure(&entry.path())? } else { (data.len(), data.modified()?) };
        bytes += size;
        changed = changed.max(time);
    }
    Ok((bytes, changed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_process::Cancel;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    /// Fills a cache with builds of the given sizes in bytes, each with the number of days since
    /// its last use.
    fn filled(folder: &Path, builds: &[(&str, u64, u32)]) -> (Cache, SystemTime) {
        let cache = Cache::new(Some(folder.to_owned())).unwrap();
        let now = SystemTime::UNIX_EPOCH + 1000 * DAY;
        for (name, bytes, days) in builds {
            let entry = cache.entry(name, &blake3::hash(name.as_bytes()));
            entry.lock(&Cancel::default(), || {}).unwrap().unlock().unwrap();
            std::fs::write(entry.log(), vec![b'x'; *bytes as usize]).unwrap();
            let used = std::fs::File::create(entry.last_use_file()).unwrap();
            used.set_modified(now - *days * DAY).unwrap();
        }
        (cache, now)
    }

    fn names(kept: &[&KeptBuild]) -> Vec<String> {
        kept.iter().map(|kept| kept.name.split('-').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn the_longest_unused_builds_are_removed_first() {
        let dir = tempfile::tempdir().unwrap();
        let builds = [("a", 10, 3), ("b", 20, 40), ("c", 30, 20), ("d", 40, 0)];
        let (cache, now) = filled(dir.path(), &builds);
        let all = kept_builds(&cache).unwrap();
        assert_eq!(names(&all.iter().collect::<Vec<_>>()), ["b", "c", "a", "d"]);
        let check = |age: Option<u32>, bytes, expect: &[&str]| {
            let removed = builds_to_remove(&all, age.map(|days| days * DAY), bytes, now);
            assert_eq!(names(&removed), expect, "{age:?} {bytes:?}");
        };
        check(None, None, &[]);
        check(Some(30), None, &["b"]);
        check(Some(3), None, &["b", "c"]);
        check(None, Some(100), &[]);
        check(None, Some(99), &["b"]);
        check(None, Some(50), &["b", "c"]);
        check(None, Some(0), &["b", "c", "a", "d"]);
        check(Some(30), Some(80), &["b"]);
    }

    #[test]
    fn builds_in_use_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, _) = filled(dir.path(), &[("a", 1, 1), ("b", 1, 1), ("c", 1, 1)]);
        let all = kept_builds(&cache).unwrap();
        assert!(all[0].entry.hold().unwrap());
        let making = all[1].entry.lock(&Cancel::default(), || {}).unwrap();
        let removed: Vec<bool> =
            all.iter().map(|kept| remove_build(&cache, kept).unwrap()).collect();
        assert_eq!(removed, [false, false, true]);
        // A child process forked by another test may also hold the file until it executes its
        // program.
        making.unlock().unwrap();
        assert!(remove_build(&cache, &all[1]).unwrap());
        assert_eq!(kept_builds(&cache).unwrap().len(), 1);
        assert!(!all[1].entry.hold().unwrap(), "it is gone");
        // A new build of the removed entry creates the folder of the entry again.
        drop(all[1].entry.lock(&Cancel::default(), || {}).unwrap());
        assert_eq!(kept_builds(&cache).unwrap().len(), 2);
    }

    #[test]
    fn only_old_checkouts_of_killed_builds_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, _) = filled(dir.path(), &[]);
        let checkout = cache.staging().join("checkout-x");
        std::fs::create_dir(&checkout).unwrap();
        let made = checkout.metadata().unwrap().modified().unwrap();
        assert_eq!(abandoned_folders(&cache, made + DAY / 2).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(abandoned_folders(&cache, made + 2 * DAY).unwrap(), [checkout.as_path()]);
        remove_abandoned(&checkout).unwrap();
        assert!(!checkout.exists());
    }
}
