//! Where built programs are kept: a folder for each key, which follows from all that decides what
//! the program is.
//!
//! A program is put into its place by one rename, so that it is there as a whole or not at all.
//! Two locks protect an entry: who makes it has `lock` alone, and who plays with it shares `used`.
//! Who removes it needs both alone, so [`super::clean`] may be at work at any time.

use std::fs::{File, Metadata, TryLockError};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::BuildError;
use super::bench::Signature;
use arbiter_process::Cancel;

/// How often a lock is tried that another has.
const POLL: Duration = Duration::from_millis(100);

/// The cache.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// The place of one build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    folder: PathBuf,
}

/// What a build leaves besides the program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Note {
    /// Name of the program's file.
    pub program: String,
    /// The commit.
    pub commit: String,
    /// The command.
    pub command: String,
    /// What told the toolchain.
    pub toolchain: String,
    /// How long the build took, in seconds.
    pub seconds: f64,
    /// What its benchmark found.
    pub bench: Option<Benched>,
    /// Length of the program in bytes; `None` in builds of older versions.
    pub bytes: Option<u64>,
    /// BLAKE3 hash of the program in hexadecimal; `None` in builds of older versions.
    pub hash: Option<String>,
}

/// A benchmark that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Benched {
    /// How it was run and read.
    pub how: String,
    /// What it found.
    pub signature: Signature,
    /// How many copies ran at once.
    pub copies: usize,
}

/// Held while an entry is made; the kernel releases it however the process ends.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "held, not read")] File);

/// Both locks of an entry, for who removes it.
#[derive(Debug)]
pub(super) struct Alone(#[expect(dead_code, reason = "held, not read")] [File; 2]);

/// Whether the open file is the one that the path leads to.
pub fn is_at(file: &File, path: &Path) -> bool {
    let number = |data: std::io::Result<Metadata>| data.ok().map(|d| (d.dev(), d.ino()));
    number(file.metadata()) == number(std::fs::metadata(path))
}

impl Cache {
    /// The folder given, or the user's folder of caches.
    pub fn new(folder: Option<PathBuf>) -> Result<Cache, BuildError> {
        let folder = match folder {
            Some(folder) => std::path::absolute(&folder).unwrap_or(folder),
            None => default_folder().ok_or_else(|| BuildError::Io {
                path: "$XDG_CACHE_HOME".into(),
                source: std::io::Error::new(
                    std::io::ErrorKind::NotFound,
                    "neither XDG_CACHE_HOME nor HOME is set; give --cache",
                ),
            })?,
        };
        let cache = Cache { folder };
        make(&cache.folder.join("builds"))?;
        make(&cache.staging())?;
        Ok(cache)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where things are made that are moved or removed in the end.
    pub(super) fn staging(&self) -> PathBuf {
        self.folder.join("staging")
    }

    /// The place of a key; `label` makes it readable.
    pub(super) fn entry(&self, label: &str, key: &blake3::Hash) -> Entry {
        let name = format!("{label}-{}", &key.to_hex()[..16]);
        Entry { folder: self.folder.join("builds").join(name) }
    }

    /// All entries, also those whose build failed, by name.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, BuildError> {
        let folder = self.folder.join("builds");
        let io = |source| BuildError::Io { path: folder.clone(), source };
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(io)? {
            let folder = entry.map_err(io)?.path();
            if folder.is_dir() {
                entries.push(Entry { folder });
            }
        }
        entries.sort_by(|a, b| a.folder.cmp(&b.folder));
        Ok(entries)
    }
}

impl Entry {
    /// The entry of a program that was built, if it is where [`Entry::program`] has it.
    pub fn of_program(program: &Path) -> Option<Entry> {
        let bin = program.parent().filter(|bin| bin.ends_with("bin"))?;
        Some(Entry { folder: bin.parent()?.to_owned() })
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where its last use is noted, as the time of the file.
    pub(super) fn used(&self) -> PathBuf {
        self.folder.join("used")
    }

    /// Keeps the entry from being removed until this process ends, and notes the use. `false` if
    /// it has been removed.
    pub fn hold(&self) -> Result<bool, BuildError> {
        let path = self.used();
        loop {
            let file = match File::options().create(true).append(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
                Err(source) => return Err(BuildError::Io { path, source }),
            };
            let fail = |source| BuildError::Io { path: path.clone(), source };
            file.lock_shared().map_err(fail)?;
            if is_at(&file, &path) {
                // Truncated and written, whatever the clock of the file system, it is of now.
                file.set_len(0).and_then(|()| (&file).write_all(b"used\n")).map_err(fail)?;
                // The kernel closes the file, and so ends the lock, with the process.
                std::mem::forget(file);
                return Ok(true);
            }
        }
    }

    /// Both locks, unless somebody has one of them.
    pub(super) fn alone(&self) -> Result<Option<Alone>, BuildError> {
        let take = |path: PathBuf| {
            let fail = |source| BuildError::Io { path: path.clone(), source };
            let file = File::options().create(true).append(true).open(&path).map_err(fail)?;
            match file.try_lock() {
                Ok(()) => Ok(is_at(&file, &path).then_some(file)),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(source)) => Err(fail(source)),
            }
        };
        let Some(maker) = take(self.folder.join("lock"))? else { return Ok(None) };
        let user = take(self.used())?;
        Ok(user.map(|user| Alone([maker, user])))
    }

    /// What was kept, if the program is there in its full length.
    pub fn note(&self) -> Option<Note> {
        let text = std::fs::read_to_string(self.folder.join("build.json")).ok()?;
        let note = read_note(&text)?;
        let data = self.program(&note).metadata().ok().filter(Metadata::is_file)?;
        note.bytes.map_or(data.len() > 0, |bytes| data.len() == bytes).then_some(note)
    }

    /// The same, if the program is also byte for byte what was kept.
    pub(super) fn intact(&self) -> Option<Note> {
        let note = self.note()?;
        let Some(hash) = &note.hash else { return Some(note) };
        (hash_of(&self.program(&note)).ok()?.1 == *hash).then_some(note)
    }

    /// The program.
    pub fn program(&self, note: &Note) -> PathBuf {
        self.folder.join("bin").join(&note.program)
    }

    /// What the build printed.
    pub fn log(&self) -> PathBuf {
        self.folder.join("build.log")
    }

    /// Keeps the program at `built`, and the note with its length and hash. When it returns both
    /// are on the disk: the note never before the program.
    pub(super) fn keep(&self, built: &Path, note: Note) -> Result<Note, BuildError> {
        let program = self.program(&note);
        let bin = self.folder.join("bin");
        make(&bin)?;
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| BuildError::Io { path, source }
        };
        let partial = bin.join(".partial");
        std::fs::copy(built, &partial).map_err(io(built))?;
        let (bytes, hash) = hash_of(&partial).map_err(io(&partial))?;
        put(&partial, &program).map_err(io(&program))?;
        sync(&self.folder).map_err(io(&self.folder))?;
        let note = Note { bytes: Some(bytes), hash: Some(hash), ..note };
        self.write(&note)?;
        Ok(note)
    }

    /// Notes what was found out since. Readers see the old note or the new one.
    pub fn write(&self, note: &Note) -> Result<(), BuildError> {
        let path = self.folder.join("build.json");
        let partial = self.folder.join(format!(".build.json.{}", std::process::id()));
        std::fs::write(&partial, shown(note))
            .and_then(|()| put(&partial, &path))
            .map_err(|source| BuildError::Io { path, source })
    }

    /// Waits until nobody else makes this entry; `busy` hears of it if somebody does.
    pub(super) fn lock(&self, cancel: &Cancel, busy: impl FnOnce()) -> Result<Lock, BuildError> {
        let path = self.folder.join("lock");
        let fail = |source| BuildError::Io { path: path.clone(), source };
        let mut busy = Some(busy);
        loop {
            make(&self.folder)?;
            let file = match File::create(&path) {
                Ok(file) => file,
                // Removed in between.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(source) => return Err(fail(source)),
            };
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(Lock(file)),
                // The same.
                Ok(()) => {}
                Err(TryLockError::Error(source)) => return Err(fail(source)),
                Err(TryLockError::WouldBlock) if cancel.is_set() => {
                    return Err(BuildError::Cancelled);
                }
                Err(TryLockError::WouldBlock) => {
                    if let Some(busy) = busy.take() {
                        busy();
                    }
                    std::thread::sleep(POLL);
                }
            }
        }
    }
}

/// Length in bytes and BLAKE3 hash of a file.
fn hash_of(path: &Path) -> std::io::Result<(u64, String)> {
    let mut hasher = blake3::Hasher::new();
    let bytes = std::io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok((bytes, hasher.finalize().to_hex().to_string()))
}

/// Renames a file that was written, for good: without the first call the name can survive a loss of
/// power and the bytes not, without the second the other way round.
fn put(partial: &Path, path: &Path) -> std::io::Result<()> {
    sync(partial)?;
    std::fs::rename(partial, path)?;
    path.parent().map_or(Ok(()), sync)
}

/// Has the disk take in a file, or the names in a folder.
fn sync(path: &Path) -> std::io::Result<()> {
    File::open(path)?.sync_all()
}

fn make(folder: &Path) -> Result<(), BuildError> {
    std::fs::create_dir_all(folder)
        .map_err(|source| BuildError::Io { path: folder.to_owned(), source })
}

/// As the XDG base directory specification has it.
fn default_folder() -> Option<PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")));
    caches.map(|caches| caches.join("arbiter"))
}

fn shown(note: &Note) -> String {
    let bench = note.bench.as_ref().map(|Benched { how, signature, copies }| {
        serde_json::json!({
            "how": how, "nodes": signature.nodes, "nps": signature.nps, "copies": copies,
        })
    });
    let json = serde_json::json!({
        "schema": "arbiter.build/1", "program": note.program, "commit": note.commit,
        "command": note.command, "toolchain": note.toolchain, "seconds": note.seconds,
        "bench": bench, "bytes": note.bytes, "hash": note.hash,
    });
    format!("{json:#}\n")
}

fn read_note(text: &str) -> Option<Note> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    let text = |key: &str| json[key].as_str().map(str::to_owned);
    let bench = json["bench"].as_object().and_then(|bench| {
        let signature = Signature { nodes: bench["nodes"].as_u64()?, nps: bench["nps"].as_f64()? };
        let how = bench.get("how")?.as_str()?.to_owned();
        let copies = usize::try_from(bench["copies"].as_u64()?).ok()?;
        Some(Benched { how, signature, copies })
    });
    Some(Note {
        program: text("program").filter(|name| !name.is_empty() && !name.contains('/'))?,
        commit: text("commit")?,
        command: text("command")?,
        toolchain: text("toolchain")?,
        seconds: json["seconds"].as_f64()?,
        bench,
        bytes: json["bytes"].as_u64(),
        hash: text("hash"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_there_once_its_program_is() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(dir.path().join("a/b"))).unwrap();
        let entry = cache.entry("abc", &blake3::hash(b"x"));
        assert_eq!(entry.note(), None);
        drop(entry.lock(&Cancel::default(), || {}).unwrap());
        let signature = Signature { nodes: 7, nps: 8.5 };
        let bench = Some(Benched { how: "bench".into(), signature, copies: 2 });
        let note = Note { program: "engine".into(), bench, seconds: 1.5, ..Note::default() };
        entry.write(&note).unwrap();
        assert_eq!(entry.note(), None, "no program");
        let built = dir.path().join("built");
        std::fs::write(&built, "x").unwrap();
        let note = entry.keep(&built, note).unwrap();
        assert_eq!(entry.note(), Some(note));
    }

    #[test]
    fn a_torn_program_is_built_again() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(dir.path().to_owned())).unwrap();
        let entry = cache.entry("abc", &blake3::hash(b"x"));
        drop(entry.lock(&Cancel::default(), || {}).unwrap());
        let built = dir.path().join("built");
        std::fs::write(&built, "a program").unwrap();
        let note = Note { program: "engine".into(), ..Note::default() };
        let note = entry.keep(&built, note).unwrap();
        assert_eq!(entry.intact(), Some(note.clone()));
        for torn in ["", "a prog", "a prog\0\0\0"] {
            std::fs::write(entry.program(&note), torn).unwrap();
            assert_eq!(entry.intact(), None, "{torn:?}");
        }
        // Of a build of an older version nothing is known but that it is there.
        std::fs::write(entry.program(&note), "a program").unwrap();
        let older = Note { bytes: None, hash: None, ..note };
        entry.write(&older).unwrap();
        assert_eq!(entry.intact(), Some(older.clone()));
        std::fs::write(entry.program(&older), "").unwrap();
        assert_eq!(entry.intact(), None);
    }

    #[test]
    fn an_entry_is_made_by_one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(dir.path().to_owned())).unwrap();
        let entry = cache.entry("abc", &blake3::hash(b"x"));
        let cancel = Cancel::default();
        let first = entry.lock(&cancel, || panic!("it is free")).unwrap();
        let (told, hears) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| entry.lock(&cancel, || told.send(()).unwrap()));
            hears.recv().unwrap();
            drop(first);
            let second = second.join().unwrap().unwrap();
            cancel.set();
            assert!(matches!(entry.lock(&cancel, || {}), Err(BuildError::Cancelled)));
            drop(second);
        });
    }
}
