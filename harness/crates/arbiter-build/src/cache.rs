//! Cache of built programs, with one folder per key; the key depends on everything that determines
//! the program.
//!
//! A program is renamed into its folder, so that the folder contains either the complete program or
//! no program. Two locks protect an entry: the process that builds the program holds `lock`
//! exclusively, and the processes that run the program share `used`. Removal needs both locks
//! exclusively, so [`super::clean`] may run at any time.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bench::Signature;
use super::error::{BuildError, BuildFailure, Result, io_error};
use arbiter_process::{Cancel, Links, is_at, lock_file, open_output, read_text, user_folder};

/// Interval between attempts to take a lock that another process holds.
const POLL: Duration = Duration::from_millis(100);

/// Maximum size of a program, in bytes. A sparse file in a checkout may take almost no space, but a
/// copy of this file could fill the disk.
const MAX_PROGRAM: u64 = 4 << 30;

/// Cache of built programs.
#[derive(Debug, Clone)]
pub struct Cache {
    /// Folder of the cache.
    pub(super) folder: PathBuf,
}

/// Folder of one build in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Folder of the build.
    pub(super) folder: PathBuf,
}

/// Stored facts about a build, besides the program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BuildRecord {
    /// File name of the program.
    pub program: String,
    /// Full hash of the commit; "none" before the first commit.
    pub commit: String,
    /// Command of the build.
    pub command: String,
    /// Output of the toolchain commands, the processor features, and the compiler variables.
    pub toolchain: String,
    /// Duration of the build, in seconds.
    pub seconds: f64,
    /// Result of the bench, if the bench has been run.
    pub bench: Option<BenchRecord>,
    /// Size of the program, in bytes.
    pub bytes: u64,
    /// BLAKE3 hash of the program in hexadecimal.
    pub hash: String,
}

/// Result of a bench, and the conditions under which the bench ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchRecord {
    /// String that identifies the method of running the bench and reading its output.
    pub(super) how: String,
    /// Result of the bench.
    #[serde(flatten)]
    pub signature: Signature,
    /// Number of copies that ran in parallel.
    pub(super) copies: usize,
}

impl Cache {
    /// Opens the cache in `folder`, by default in the user's cache folder, and creates missing
    /// folders. Fails if `folder` is `None` and the environment names no cache folder, or if a
    /// folder cannot be created.
    pub fn new(folder: Option<PathBuf>) -> Result<Cache> {
        let folder = match folder {
            Some(folder) => std::path::absolute(&folder).unwrap_or(folder),
            None => user_folder("XDG_CACHE_HOME", ".cache").ok_or_else(|| {
                let reason = "neither XDG_CACHE_HOME nor HOME is set; give --cache";
                io_error("$XDG_CACHE_HOME")(std::io::Error::new(ErrorKind::NotFound, reason))
            })?,
        };
        let cache = Cache { folder };
        create_folder(&cache.builds())?;
        create_folder(&cache.staging())?;
        Ok(cache)
    }

    /// Returns the folder for files that are being created or removed.
    pub(super) fn staging(&self) -> PathBuf {
        self.folder.join("staging")
    }

    /// Returns the entry of a key; `label` makes the folder name readable.
    pub(super) fn entry(&self, label: &str, key: &blake3::Hash) -> Entry {
        let name = format!("{label}-{}", &key.to_hex()[..16]);
        Entry { folder: self.builds().join(name) }
    }

    /// Returns the folder that contains all entries.
    pub(super) fn builds(&self) -> PathBuf {
        self.folder.join("builds")
    }
}

impl Entry {
    /// Returns the entry of a built program, given the path returned by [`Entry::program`].
    pub fn of_program(program: &Path) -> Option<Entry> {
        let bin = program.parent().filter(|bin| bin.ends_with("bin"))?;
        Some(Entry { folder: bin.parent()?.to_owned() })
    }

    /// Returns the file whose modification time is the time of the last use.
    pub(super) fn last_use_file(&self) -> PathBuf {
        self.folder.join("used")
    }

    /// Protects the entry from removal until this process ends, and records the use. Returns
    /// `false` if the entry has been removed.
    pub fn hold(&self) -> Result<bool> {
        let path = self.last_use_file();
        loop {
            let file = match open_output(&path, File::options().append(true), Links::Refused) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
                opened => opened.map_err(io_error(&path))?,
            };
            file.lock_shared().map_err(io_error(&path))?;
            // Another process may have removed the entry before the lock was taken. The loop then
            // opens the file again, and either locks the file of a new entry or finds that the
            // entry no longer exists.
            if is_at(&file, &path) {
                // Truncating and writing makes the file system set the modification time, with its
                // own clock.
                let written = file.set_len(0).and_then(|()| (&file).write_all(b"used\n"));
                written.map_err(io_error(&path))?;
                // At the end of the process, the kernel closes the file and thereby releases the
                // lock.
                std::mem::forget(file);
                return Ok(true);
            }
        }
    }

    /// Takes both locks for a removal; `None` if another process holds one of the locks.
    pub(super) fn lock_for_removal(&self) -> Result<Option<[File; 2]>> {
        let take = |path: PathBuf| lock_file(&path).map_err(io_error(path));
        // A build takes `used` while it holds `lock`, so removal takes the locks in the same order.
        let Some(maker) = take(self.folder.join("lock"))? else { return Ok(None) };
        let user = take(self.last_use_file())?;
        Ok(user.map(|user| [maker, user]))
    }

    /// Returns the stored record if the program exists and has the recorded size.
    pub fn record(&self) -> Option<BuildRecord> {
        let text = read_text(&self.folder.join("build.json")).ok()?;
        let record: BuildRecord = serde_json::from_str(&text).ok()?;
        // A damaged or manually edited record must not refer to a file outside the folder.
        if record.program.is_empty() || record.program.contains('/') {
            return None;
        }
        let data = self.program(&record).metadata().ok().filter(Metadata::is_file)?;
        (data.len() == record.bytes).then_some(record)
    }

    /// Returns the stored record if the size and the hash of the program match.
    pub(super) fn intact(&self) -> Option<BuildRecord> {
        let record = self.record()?;
        let (_, hash) = hash_of(&self.program(&record)).ok()?;
        (hash == record.hash).then_some(record)
    }

    /// Returns the path of the program.
    pub fn program(&self, record: &BuildRecord) -> PathBuf {
        self.folder.join("bin").join(&record.program)
    }

    /// Returns the path of the build's log.
    pub fn log(&self) -> PathBuf {
        self.folder.join("build.log")
    }

    /// Copies the program at `built` into the entry, and stores the record with the size and hash
    /// of the program. When the function returns, program and record are on disk; the record never
    /// exists without the program.
    pub(super) fn store(&self, built: &Path, record: BuildRecord) -> Result<BuildRecord> {
        if built.metadata().map_err(io_error(built))?.len() > MAX_PROGRAM {
            let text = format!(
                "the built program {} is larger than {} GiB; exclude data and debug information \
                 from the program",
                built.display(),
                MAX_PROGRAM >> 30
            );
            return Err(BuildError::Failed(BuildFailure::NoBinary, text));
        }
        let program = self.program(&record);
        let bin = self.folder.join("bin");
        create_folder(&bin)?;
        let partial = bin.join(".partial");
        std::fs::copy(built, &partial).map_err(io_error(built))?;
        let (bytes, hash) = hash_of(&partial).map_err(io_error(&partial))?;
        put(&partial, &program).map_err(io_error(&program))?;
        sync(&self.folder).map_err(io_error(&self.folder))?;
        let record = BuildRecord { bytes, hash, ..record };
        self.write(&record)?;
        Ok(record)
    }

    /// Replaces the record. Readers see either the old or the new record.
    pub(super) fn write(&self, record: &BuildRecord) -> Result<()> {
        let path = self.folder.join("build.json");
        let partial = self.folder.join(format!(".build.json.{}", std::process::id()));
        let mut json = serde_json::to_value(record).expect("a record has text keys only");
        json["schema"] = "arbiter.build/1".into();
        let written = std::fs::write(&partial, format!("{json:#}\n"));
        written.and_then(|()| put(&partial, &path)).map_err(io_error(path))
    }

    /// Waits until no other process is building this entry, and locks the entry. If a wait is
    /// necessary, calls `busy` once before the wait. The returned file is the lock; the kernel
    /// releases the lock when this process ends, even after a crash.
    pub(super) fn lock(&self, cancel: &Cancel, busy: impl FnOnce()) -> Result<File> {
        let path = self.folder.join("lock");
        let mut busy = Some(busy);
        loop {
            create_folder(&self.folder)?;
            match lock_file(&path) {
                Ok(Some(file)) => return Ok(file),
                // The folder may be removed before the lock is taken.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(io_error(path)(source)),
                Ok(None) if cancel.is_set() => return Err(BuildError::Cancelled),
                Ok(None) => {
                    if let Some(busy) = busy.take() {
                        busy();
                    }
                    std::thread::sleep(POLL);
                }
            }
        }
    }
}

/// Returns the size in bytes and the BLAKE3 hash of a file.
fn hash_of(path: &Path) -> std::io::Result<(u64, String)> {
    let mut hasher = blake3::Hasher::new();
    let bytes = std::io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok((bytes, hasher.finalize().to_hex().to_string()))
}

/// Renames a written file durably. Without the first sync, a power failure can leave the name
/// without the content; without the second sync, the content without the name.
fn put(partial: &Path, path: &Path) -> std::io::Result<()> {
    sync(partial)?;
    std::fs::rename(partial, path)?;
    path.parent().map_or(Ok(()), sync)
}

/// Flushes a file, or the entries of a directory, to disk.
fn sync(path: &Path) -> std::io::Result<()> {
    File::open(path)?.sync_all()
}

fn create_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(io_error(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_entry_exists_once_its_program_does() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(dir.path().join("a/b"))).unwrap();
        let entry = cache.entry("abc", &blake3::hash(b"x"));
        assert_eq!(entry.record(), None);
        drop(entry.lock(&Cancel::default(), || {}).unwrap());
        let signature = Signature { nodes: 7, nps: 8.5 };
        let bench = Some(BenchRecord { how: "bench".into(), signature, copies: 2 });
        let record =
            BuildRecord { program: "engine".into(), bench, seconds: 1.5, ..BuildRecord::default() };
        entry.write(&record).unwrap();
        assert_eq!(entry.record(), None, "no program");
        let built = dir.path().join("built");
        std::fs::write(&built, "x").unwrap();
        let record = entry.store(&built, record).unwrap();
        assert_eq!(entry.record(), Some(record.clone()));
        File::create(&built).unwrap().set_len(MAX_PROGRAM + 1).unwrap();
        let error = entry.store(&built, record.clone()).unwrap_err().to_string();
        assert!(error.contains("larger than 4 GiB"), "{error}");
        assert_eq!(entry.record(), Some(record));
        let json = entry.folder.join("build.json");
        std::fs::remove_file(&json).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(json).status().unwrap().success());
        assert_eq!(entry.record(), None, "a pipe");
    }

    #[test]
    fn a_damaged_program_is_built_again() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(dir.path().to_owned())).unwrap();
        let entry = cache.entry("abc", &blake3::hash(b"x"));
        drop(entry.lock(&Cancel::default(), || {}).unwrap());
        let built = dir.path().join("built");
        std::fs::write(&built, "a program").unwrap();
        let record = BuildRecord { program: "engine".into(), ..BuildRecord::default() };
        let record = entry.store(&built, record).unwrap();
        assert_eq!(entry.intact(), Some(record.clone()));
        for torn in ["", "a prog", "a prog\0\0\0"] {
            std::fs::write(entry.program(&record), torn).unwrap();
            assert_eq!(entry.intact(), None, "{torn:?}");
        }
    }

    #[test]
    fn only_one_process_builds_an_entry() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(dir.path().to_owned())).unwrap();
        let entry = cache.entry("abc", &blake3::hash(b"x"));
        let cancel = Cancel::default();
        let first = entry.lock(&cancel, || panic!("it is free")).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| entry.lock(&cancel, || sender.send(()).unwrap()));
            receiver.recv().unwrap();
            drop(first);
            let second = second.join().unwrap().unwrap();
            cancel.set();
            assert!(matches!(entry.lock(&cancel, || {}), Err(BuildError::Cancelled)));
            drop(second);
        });
    }
}
