//! The programs of runs in a folder of this machine, by their hashes.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::Request;
use tokio::io::AsyncReadExt;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::access::Link;
use crate::subject::{Names, PROGRAMS};
use crate::wire::{Program, ProgramRequest};

/// Largest program that is fetched, in bytes.
const MAX_PROGRAM: u64 = 2 << 30;

/// How long the coordinator may take to put a program on the server.
const SUPPLY: Duration = Duration::from_secs(300);

/// How long the download may take.
const FETCH: Duration = Duration::from_secs(600);

/// The programs that a worker has.
#[derive(Debug)]
pub(super) struct ProgramStore {
    folder: PathBuf,
    own_binary: PathBuf,
    /// Locked during a look-up, so that nothing is fetched twice.
    fetching: Mutex<()>,
}

impl ProgramStore {
    /// The programs in `folder`, and this program.
    pub(super) fn new(folder: PathBuf, own_binary: PathBuf) -> ProgramStore {
        ProgramStore { folder, own_binary, fetching: Mutex::new(()) }
    }

    /// The path of a program, whose hash is verified; it is fetched if it is not there.
    pub(super) async fn get(
        &self,
        link: &Link,
        names: &Names,
        program: &Program,
    ) -> Result<PathBuf, String> {
        let _alone = self.fetching.lock().await;
        let path = self.folder.join(&program.hash).join(&program.name);
        let candidates = [self.own_binary.clone(), path.clone()];
        let (hash, bytes) = (program.hash.clone(), program.bytes);
        let taken = blocking(move || {
            candidates.into_iter().find(|candidate| matches(candidate, bytes, &hash))
        });
        if let Some(taken) = taken.await? {
            return Ok(taken);
        }
        let bytes = fetch(link, names, program).await?;
        let hash = program.hash.clone();
        blocking(move || {
            if blake3::hash(&bytes).to_hex().as_str() != hash {
                return Err(
                    "the program on the server is not the one that was signed for".to_owned()
                );
            }
            put(&path, &bytes).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(path)
        })
        .await?
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())
}

/// Whether the file exists and has this length and hash.
fn matches(path: &Path, bytes: u64, hash: &str) -> bool {
    let has_length = fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() == bytes);
    let read = || -> io::Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(fs::File::open(path)?)?;
        Ok(hasher.finalize())
    };
    has_length && read().is_ok_and(|taken| taken.to_hex().as_str() == hash)
}

async fn fetch(link: &Link, names: &Names, program: &Program) -> Result<Vec<u8>, String> {
    if program.bytes > MAX_PROGRAM {
        return Err(format!("a program of {} bytes", program.bytes));
    }
    let need = ProgramRequest { hash: program.hash.clone() };
    let request = Request::new().payload(need.write().into()).timeout(Some(SUPPLY));
    let supplied = link.client.send_request(names.need(), request).await;
    let supplied = supplied.map_err(|error| format!("the coordinator does not answer: {error}"))?;
    if !supplied.payload.is_empty() {
        let why = String::from_utf8_lossy(&supplied.payload);
        return Err(format!("the coordinator: {}", arbiter_game::outcome::printable(&why, 300)));
    }
    let read = async {
        let store = link.stream.get_object_store(PROGRAMS).await.map_err(|e| e.to_string())?;
        let object = store.get(&program.hash).await.map_err(|e| e.to_string())?;
        let mut bytes = Vec::new();
        // One byte more shows that a program is too long; its hash differs then.
        let mut limited = object.take(program.bytes + 1);
        limited.read_to_end(&mut bytes).await.map_err(|e| e.to_string())?;
        Ok(bytes)
    };
    match timeout(FETCH, read).await {
        Ok(read) => read,
        Err(_) => Err("the server takes too long to send the program".to_owned()),
    }
}

/// Writes a program atomically.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let file = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(file.path(), bytes)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o500))?;
    file.as_file().sync_all()?;
    // A file that is open for writing cannot be started.
    file.into_temp_path().persist(path).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_same_program_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a").join("engine");
        put(&path, b"#!/bin/sh\n").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o500);
        let hash = blake3::hash(b"#!/bin/sh\n").to_hex().to_string();
        assert!(matches(&path, 10, &hash));
        assert!(!matches(&path, 11, &hash));
        assert!(!matches(&path, 10, &blake3::hash(b"").to_hex()));
        assert!(!matches(&dir.path().join("b"), 10, &hash));
        // A changed file is put right.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(&path, b"#!/bin/sx\n").unwrap();
        assert!(!matches(&path, 10, &hash));
        put(&path, b"#!/bin/sh\n").unwrap();
        assert!(matches(&path, 10, &hash));
    }
}
