//! All that is ever sent between coordinators and workers, with its version and its limits.
//!
//! Every type here is a mirror of its own, so that the types of the domain may change while
//! machines with different builds understand each other or say that they do not. What comes in is
//! foreign: each reader is total, bounds what it takes, and says what is wrong.

mod count;
mod head;
mod job;
mod join;
mod notes;
mod question;
mod result;

use std::io::{Read, Write};
use std::time::Duration;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use head::{Contestant, Program, Requirements, RunDescription, sign, verified};
pub use job::{Work, read_job, write_count, write_job, write_question};
pub use join::{BenchResult, JoinRequest};
pub use notes::{Beacon, CoordinatorMessage, Heartbeat, ProgramRequest, WorkerStatus};
pub use result::{JobResult, Payload, Report, ResultMessage, read_result, write_result};

/// Version of all messages. A change of meaning needs a new one; fields may be added with a default.
pub const VERSION: u32 = 1;

/// Longest message that is read, packed, in bytes.
pub const MAX_PACKED: usize = 8 << 20;

/// Longest message that is read, unpacked, in bytes.
const MAX_UNPACKED: u64 = 64 << 20;

/// Longest short message, in bytes.
const MAX_NOTE: usize = 64 << 10;

/// Longest name of a worker, in bytes.
const MAX_NAME: usize = 64;

/// A message makes no sense.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WireError {
    /// It is too long to be read.
    #[error("a message of more than {0} bytes")]
    TooLong(u64),
    /// It is from another version.
    #[error(
        "a message of version {0}, and this arbiter speaks version {VERSION}; use the same arbiter everywhere"
    )]
    Version(u32),
    /// It is not of the form.
    #[error("not a message: {0}")]
    Malformed(String),
    /// It is of the form and says what cannot be.
    #[error("a message that cannot be: {0}")]
    Invalid(String),
}

/// What every message has.
#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

fn invalid(what: impl ToString) -> WireError {
    WireError::Invalid(what.to_string())
}

fn write<T: Serialize>(message: &T) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages are numbers, text and lists of them")
}

fn read<T: DeserializeOwned>(bytes: &[u8], most: usize) -> Result<T, WireError> {
    if bytes.len() > most {
        return Err(WireError::TooLong(most as u64));
    }
    let malformed = |error: serde_json::Error| WireError::Malformed(printable(&error.to_string()));
    let Versioned { v } = serde_json::from_slice(bytes).map_err(malformed)?;
    if v != VERSION {
        return Err(WireError::Version(v));
    }
    serde_json::from_slice(bytes).map_err(malformed)
}

/// Packs a message that may be long.
fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let _ = packer.write_all(bytes);
    packer.finish().unwrap_or_default()
}

/// Unpacks a message, but not more than is read of any.
fn unpack(packed: &[u8]) -> Result<Vec<u8>, WireError> {
    if packed.len() > MAX_PACKED {
        return Err(WireError::TooLong(MAX_PACKED as u64));
    }
    let mut bytes = Vec::new();
    let mut unpacker = ZlibDecoder::new(packed).take(MAX_UNPACKED + 1);
    unpacker.read_to_end(&mut bytes).map_err(|error| WireError::Malformed(error.to_string()))?;
    if bytes.len() as u64 > MAX_UNPACKED {
        return Err(WireError::TooLong(MAX_UNPACKED));
    }
    Ok(bytes)
}

/// What strangers sent, fit to be shown and stored.
fn printable(text: &str) -> String {
    arbiter_game::outcome::printable(text, 300)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Whether a text can be the name of a worker. It is part of subjects, in which dots stand between
/// words.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(plain);
    name.len() <= MAX_NAME && name.split('.').all(is_word)
}

fn checked_name(name: &str) -> Result<String, WireError> {
    if is_name(name) {
        Ok(name.to_owned())
    } else {
        Err(invalid("a name of a worker that is none"))
    }
}

fn checked_token(token: String) -> Result<String, WireError> {
    if super::subject::is_token(&token) { Ok(token) } else { Err(invalid("no token of a run")) }
}

/// Whether a text is a blake3 hash: 64 hexadecimal digits.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests;
