//! The programs of runs, stored in a folder of this machine by hash.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::Request;
use async_nats::jetstream::object_store::ObjectInfo;
use data_encoding::BASE64URL;
use tokio::time::timeout;

use super::{Config, Shared};
use crate::connection::Connection;
use crate::subject::{PROGRAMS, RunId};
use crate::wire::{self, ProgramRequest, RunFile};
use arbiter_game::text::{MAX_TEXT, printable};
use arbiter_process::write_program;

/// Maximum size of a fetched program, in bytes. A program is kept in memory while the worker
/// fetches and hashes the program.
const MAX_PROGRAM: u64 = 2 << 30;

/// Time limit for the coordinator to upload a program to the server. The coordinator uploads
/// programs one after another, so a request may have to wait for other uploads.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(300);

/// Time limit for the download. Without a limit, a lost server would block all slots of the run.
const FETCH_TIMEOUT: Duration = Duration::from_secs(600);

/// Returns the path of a program or option file of a run, after verifying the hash of the file.
/// Fetches the file if the file is missing.
pub(super) async fn get(
    shared: &Shared,
    run_id: &RunId,
    program: &RunFile,
) -> Result<PathBuf, String> {
    let _alone = shared.fetching.lock().await;
    let Config { folder, own_binary, .. } = &shared.config;
    let path = folder.join(program.hash.to_hex().as_str()).join(&program.name);
    let candidates = [own_binary.clone(), path.clone()];
    let wanted = program.clone();
    // If the run uses the bundled engine, this program may be the file that the run requires.
    let found = move || candidates.into_iter().find(|candidate| matches(candidate, &wanted));
    if let Some(found) = blocking(found).await? {
        return Ok(found);
    }
    let bytes = fetch(&shared.connection, run_id, program).await?;
    let hash = program.hash;
    blocking(move || {
        if blake3::hash(&bytes) != hash {
            return Err("the program on the server differs from the signed program".to_owned());
        }
        write_program(&path, &bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    })
    .await?
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())
}

/// Returns whether the file has the size and hash of the program.
fn matches(path: &Path, program: &RunFile) -> bool {
    let has_length = |data: fs::Metadata| data.is_file() && data.len() == program.bytes;
    fs::metadata(path).is_ok_and(has_length)
        && RunFile::read(path).is_ok_and(|found| found.hash == program.hash)
}

async fn fetch(
    connection: &Connection,
    run_id: &RunId,
    program: &RunFile,
) -> Result<Vec<u8>, String> {
    if program.bytes > MAX_PROGRAM {
        return Err(format!("a program of {} bytes", program.bytes));
    }
    let request = wire::write(&ProgramRequest { hash: program.hash });
    let request = Request::new().payload(request.into()).timeout(Some(UPLOAD_TIMEOUT));
    let uploaded = connection.client.send_request(run_id.program_subject(), request).await;
    let uploaded = uploaded.map_err(|error| format!("the coordinator does not reply: {error}"))?;
    if !uploaded.payload.is_empty() {
        let why = String::from_utf8_lossy(&uploaded.payload);
        return Err(format!("the coordinator: {}", printable(&why, MAX_TEXT)));
    }
    let read = async {
        // The object store API of the client needs a consumer. Workers have no permission to create
        // a consumer, because a worker could then make the server send messages to any subject.
        let stream = connection.jetstream.get_stream_no_info(format!("OBJ_{PROGRAMS}")).await;
        let stream = stream.map_err(|e| e.to_string())?;
        let name = BASE64URL.encode(program.hash.to_hex().as_bytes());
        let info = stream.direct_get_first_for_subject(format!("$O.{PROGRAMS}.M.{name}")).await;
        let info = info.map_err(|e| e.to_string())?.payload;
        let info: ObjectInfo = serde_json::from_slice(&info).map_err(|e| e.to_string())?;
        let mut bytes = Vec::new();
        let mut sequence = 0;
        for _ in 0..info.chunks {
            let chunks = format!("$O.{PROGRAMS}.C.{}", info.nuid);
            let chunk = stream.direct_get_next_for_subject(chunks, Some(sequence + 1)).await;
            let chunk = chunk.map_err(|e| e.to_string())?;
            bytes.extend(&chunk.payload);
            // Reading stops here to limit the memory. The hash of a larger file differs anyway.
            if bytes.len() as u64 > program.bytes {
                break;
            }
            sequence = chunk.sequence;
        }
        Ok(bytes)
    };
    timeout(FETCH_TIMEOUT, read)
        .await
        .unwrap_or_else(|_| Err("timeout while receiving the program".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_a_program_with_the_same_hash_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a").join("engine");
        write_program(&path, b"#!/bin/sh\n").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o500);
        let program = |hash_of: &[u8], bytes| RunFile {
            hash: blake3::hash(hash_of),
            bytes,
            name: "engine".to_owned(),
        };
        let right = program(b"#!/bin/sh\n", 10);
        assert!(matches(&path, &right));
        assert!(!matches(&path, &program(b"#!/bin/sh\n", 11)));
        assert!(!matches(&path, &program(b"", 10)));
        assert!(!matches(&dir.path().join("b"), &right));
        // A changed file is replaced.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(&path, b"#!/bin/sx\n").unwrap();
        assert!(!matches(&path, &right));
        write_program(&path, b"#!/bin/sh\n").unwrap();
        assert!(matches(&path, &right));
    }
}
