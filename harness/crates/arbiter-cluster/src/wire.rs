//! All that is ever sent between coordinators and workers, with its version and its limits.
//!
//! A message is an object of its version and its body. Types of other crates are mirrored, here or
//! in [`arbiter_schema`], so that they may change while machines with different builds say that they
//! do not understand each other. What comes in is foreign: its length is bounded before it is
//! parsed, text is made fit to be shown while it is, and the rest is checked afterwards.

mod count;
mod head;
mod job;
mod join;
mod notes;
mod question;
mod result;
mod text;

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::text::printable;

pub use head::{Contestant, Program, Requirements, RunDescription, sign, verified};
pub use job::{Work, read_job, write_count, write_job, write_question};
pub use join::{BenchResult, JoinRequest};
pub use notes::{Beacon, CoordinatorMessage, Heartbeat, ProgramRequest, WorkerStatus};
pub use result::{JobResult, Payload, Report, read_result, write_result};
pub use text::is_name;

/// Version of all messages. A change of meaning needs a new one; fields may be added with a default.
/// Version 1 had no body apart from its version.
pub const VERSION: u32 = 2;

/// Longest message that is read, packed, in bytes.
pub const MAX_PACKED: usize = 8 << 20;

/// Longest message that is read, unpacked, in bytes.
const MAX_UNPACKED: u64 = 64 << 20;

/// Longest short message, in bytes.
const MAX_NOTE: usize = 64 << 10;

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

/// What every message of every version has.
#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

#[derive(Serialize, Deserialize)]
struct Message<T> {
    v: u32,
    body: T,
}

fn invalid(what: impl ToString) -> WireError {
    WireError::Invalid(what.to_string())
}

fn write<T: Serialize>(body: &T) -> Vec<u8> {
    let message = Message { v: VERSION, body };
    serde_json::to_vec(&message).expect("messages are numbers, text and lists of them")
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
    let Message { body, .. } = serde_json::from_slice(bytes).map_err(malformed)?;
    Ok(body)
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

#[cfg(test)]
mod tests;
