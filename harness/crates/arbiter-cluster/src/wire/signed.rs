//! Signed messages of a coordinator, which consist of the public key, the signature, and the
//! message.

use super::{Message, Versioned, WireError, is_read, read, write};
use crate::trust::{Key, PublicKey, SIGNATURE_BYTES};

/// Maximum length of a signed message, in bytes. Descriptions, with all engines and options of a
/// run, are the longest messages.
pub(super) const MAX_SIGNED: usize = 4 << 20;

/// Message that the coordinator signs.
pub trait Signed: Message {
    /// Purpose of the signature, different for each type.
    const PURPOSE: &'static str;
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
