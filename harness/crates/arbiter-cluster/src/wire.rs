//! Messages between coordinators and workers, with their version and their limits.
//!
//! A message is a JSON object with a version and a body. Messages of a coordinator are signed: the
//! public key and the signature precede the JSON object. Types of other crates are serialized
//! directly, so a change of their fields needs a new version. Received messages are not trusted:
//! the length of a message is checked before parsing, text is made printable during parsing, and
//! all other values are checked afterwards.

mod description;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod job;
mod messages;
mod result;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod samples;

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::subject;
use crate::trust::{Key, PublicKey, SIGNATURE_BYTES};
use arbiter_game::text::{MAX_TEXT, printable};

pub use arbiter_build::Signature as BenchResult;
pub use description::{Requirements, RunDescription, RunEngine, RunFile};
pub use job::{AUDITS, Job, Work, WorkMessage, read_job};
pub(crate) use job::{PairMessage, attempt_of_job};
pub(crate) use messages::EXCLUDED;
pub use messages::{
    Beacon, Benches, CoordinatorMessage, Heartbeat, JoinAnswer, JoinRequest, Notice,
    ProgramRequest, WorkerStatus, is_worker_name, read_join_answer,
};
pub use result::{JobResult, Payload, Report, write_result};
pub(crate) use result::{ProvenResult, check_proof, read_result};

/// Version of all messages. Any change except a new field with a default raises the version, by at
/// most one per release. Each release reads the messages of the previous and the next version. A
/// new kind of message that the previous release cannot read is therefore introduced in two steps:
/// one version can read the new kind, and only the next version also sends the new kind.
pub(crate) const VERSION: u32 = 8;

/// Oldest version that is read: the previous version, or the version of the first release. Fleets
/// are updated one machine at a time, so adjacent versions must be able to read each other's
/// messages.
const OLDEST: u32 = 8;

/// Newest version that is read.
const NEWEST: u32 = VERSION + 1;

/// Maximum length of a packed message, in bytes. The server stores results before the coordinator
/// checks the results, so the stream rejects longer results.
pub const MAX_PACKED: usize = 8 << 20;

/// Maximum length of an unpacked message, in bytes. A small packed message may unpack to gigabytes,
/// so the unpacked length has a separate limit.
const MAX_UNPACKED: usize = 16 << 20;

/// Maximum length of a signed message, in bytes. Descriptions, with all engines and options of a
/// run, are the longest messages.
const MAX_SIGNED: usize = 4 << 20;

/// Reason why a message cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WireError {
    /// The message is longer than this many bytes.
    #[error("a message of more than {0} bytes")]
    TooLong(usize),
    /// The message has this unsupported version.
    #[error(
        "a message of version {0}, but this arbiter reads versions {OLDEST} to {NEWEST}; update the older side"
    )]
    Version(u32),
    /// The message is not JSON of the expected form.
    #[error("not a message: {0}")]
    Malformed(String),
    /// The sender has not joined the run, or was not given the job.
    #[error("a result of a job of another worker")]
    Unproven,
    /// The values are impossible.
    #[error("an invalid message: {0}")]
    Invalid(String),
}

/// Type of a message.
pub trait Message: Serialize + DeserializeOwned {
    /// Maximum length of a message, in bytes.
    // Most messages are short: only results, descriptions and jobs have a larger limit.
    const MAX_BYTES: usize = 64 << 10;

    /// Checks the values of a message, and truncates lists that are too long. Returns an error for
    /// an impossible value.
    fn validated(self) -> Result<Self, WireError> {
        Ok(self)
    }
}

/// Message that the coordinator signs.
pub trait Signed: Message {
    /// Purpose of the signature, different for each type.
    const PURPOSE: &'static str;
}

fn is_read(version: u32) -> bool {
    (OLDEST..=NEWEST).contains(&version)
}

/// Part of a message that is identical in all versions.
#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    v: u32,
    body: T,
}

/// Creates an error from a string that may quote the message; the string is made printable.
fn invalid(what: impl ToString) -> WireError {
    WireError::Invalid(printable(&what.to_string(), MAX_TEXT))
}

/// Serializes a message.
pub fn write<T: Message>(body: &T) -> Vec<u8> {
    let message = Envelope { v: VERSION, body };
    serde_json::to_vec(&message).expect("messages are numbers, text and lists of them")
}

/// Parses and checks a received message.
pub fn read<T: Message>(bytes: &[u8]) -> Result<T, WireError> {
    // The length is checked before parsing, because the parser allocates in proportion to the
    // message.
    if bytes.len() > T::MAX_BYTES {
        return Err(WireError::TooLong(T::MAX_BYTES));
    }
    let malformed =
        |error: serde_json::Error| WireError::Malformed(printable(&error.to_string(), MAX_TEXT));
    match serde_json::from_slice(bytes) {
        Ok(Envelope::<T> { v, body }) if is_read(v) => body.validated(),
        Ok(Envelope { v, .. }) => Err(WireError::Version(v)),
        // The body of another version may have any form, so only the version is read, to report the
        // version as the cause.
        Err(error) => match serde_json::from_slice(bytes) {
            Ok(Versioned { v }) if !is_read(v) => Err(WireError::Version(v)),
            _ => Err(malformed(error)),
        },
    }
}

/// Serializes and signs a message.
pub fn sign<T: Signed>(message: &T, key: &Key) -> Vec<u8> {
    let text = write(message);
    let signature = key.sign(T::PURPOSE, &text);
    [&key.public().to_bytes()[..], &signature, &text].concat()
}

/// Reads a message that is signed with one of the trusted keys. Returns the message and the key
/// that signed the message; the error is the reason why the message is rejected.
pub fn verified<T: Signed>(bytes: &[u8], trusted: &[PublicKey]) -> Result<(T, PublicKey), String> {
    let (key, signature, text) = split(bytes).map_err(|error| error.to_string())?;
    let key = PublicKey::from_bytes(key)?;
    if !trusted.contains(&key) {
        return Err(format!(
            "key {key} is not trusted on this machine; to let the owner of the key start programs, \
             give --trust {key}"
        ));
    }
    key.check(T::PURPOSE, text, signature)?;
    let message = read(text).map_err(|error| error.to_string())?;
    Ok((message, key))
}

/// Reads a message without checking its signature.
pub fn unverified<T: Signed>(bytes: &[u8]) -> Result<T, WireError> {
    split(bytes).and_then(|(_, _, text)| read(text))
}

type Split<'a> = (&'a [u8; 32], &'a [u8; SIGNATURE_BYTES], &'a [u8]);

fn split(bytes: &[u8]) -> Result<Split<'_>, WireError> {
    // The earliest versions of messages were JSON without a signature. The version of such a
    // message is read, to report the version as the cause.
    if let Ok(Versioned { v }) = serde_json::from_slice(bytes)
        && !is_read(v)
    {
        return Err(WireError::Version(v));
    }
    let split = || {
        let (key, rest) = bytes.split_first_chunk()?;
        let (signature, text) = rest.split_first_chunk()?;
        Some((key, signature, text))
    };
    split().ok_or_else(|| WireError::Malformed("it is not signed".to_owned()))
}

/// Reads a message of a worker, and the name of the worker from the subject.
pub fn read_from<T: Message>(message: &async_nats::Message) -> Result<(String, T), WireError> {
    Ok((sender_of(message)?, read(&message.payload)?))
}

/// Returns the name of the worker that has sent a message.
pub(crate) fn sender_of(message: &async_nats::Message) -> Result<String, WireError> {
    messages::checked_name(subject::sender(&message.subject))
}

/// Compresses a message that may be long.
fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let _ = packer.write_all(bytes);
    packer.finish().unwrap_or_default()
}

/// Unpacks a message, up to one byte more than [`MAX_UNPACKED`].
fn unpack(packed: &[u8]) -> Result<Vec<u8>, WireError> {
    if packed.len() > MAX_PACKED {
        return Err(WireError::TooLong(MAX_PACKED));
    }
    let mut bytes = Vec::new();
    // The byte beyond the limit distinguishes a message that is too long from a message of exactly
    // the maximum length.
    let mut unpacker = ZlibDecoder::new(packed).take(MAX_UNPACKED as u64 + 1);
    unpacker.read_to_end(&mut bytes).map_err(|error| WireError::Malformed(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
