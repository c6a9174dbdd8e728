//! Keys of coordinators. A worker starts the programs of a run only if a trusted key has signed the
//! run description. The worker then acts only on messages that the key of the run description has
//! signed.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use arbiter_process::{folder_of, read_text, write_secret};

/// Returns the bytes to sign for a message. These bytes contain the purpose, so that a signature is
/// not valid for another kind of message.
fn mark(purpose: &str, text: &[u8]) -> Vec<u8> {
    [b"arbiter ", purpose.as_bytes(), b", version 1\n", text].concat()
}

/// Length of a signature, in bytes.
pub(crate) const SIGNATURE_BYTES: usize = ed25519_dalek::SIGNATURE_LENGTH;

/// Prefix of the text form of a public key.
const PREFIX: &str = "ed25519:";

fn of_file(path: &Path, what: impl fmt::Display) -> String {
    format!("key file {}: {what}", path.display())
}

fn no_public_key(text: &str) -> String {
    format!("'{text}' is not a public key; expected {PREFIX} and 64 hexadecimal digits")
}

/// Secret key of a coordinator.
pub struct Key(SigningKey);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.public())
    }
}

/// Public key of a coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl Key {
    /// Reads a key from a file; if the file does not exist, creates a key file that only the owner
    /// of the file can read. Processes that create the file at the same time get the same key.
    pub fn load_or_make(path: &Path) -> Result<Key, String> {
        let file = |error: io::Error| of_file(path, error);
        if !path.exists() {
            make(path).map_err(file)?;
        }
        let text = read_text(path).map_err(file)?;
        let key = Key::from_digits(text.trim());
        key.ok_or_else(|| of_file(path, "expected 64 hexadecimal digits"))
    }

    /// Parses a key of 64 hexadecimal digits.
    pub(crate) fn from_digits(digits: &str) -> Option<Key> {
        decoded(digits).map(|bytes| Key(SigningKey::from_bytes(&bytes)))
    }

    /// Returns the secret key as hexadecimal digits.
    pub(crate) fn digits(&self) -> String {
        HEXLOWER.encode(self.0.as_bytes())
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message for a purpose; the signature is not valid for other purposes.
    pub(crate) fn sign(&self, purpose: &str, text: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.0.sign(&mark(purpose, text)).to_bytes()
    }

    /// Derives secret bytes from the key and a context.
    pub(crate) fn secret(&self, context: &str) -> [u8; 32] {
        let material = [&self.0.to_bytes(), context.as_bytes()].concat();
        // BLAKE3's key derivation mode is used: the context string separates this use of the key
        // from signing.
        blake3::derive_key("arbiter 2026-11 secret of a coordinator", &material)
    }
}

/// Decodes exactly `N` bytes of hexadecimal digits.
fn decoded<const N: usize>(digits: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(digits.as_bytes()).ok()?.try_into().ok()
}

/// Writes a new key to a file atomically, unless the file exists.
fn make(path: &Path) -> io::Result<()> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    fs::create_dir_all(folder_of(path))?;
    // If two processes create the file at the same time, one of the two keys remains, and both
    // processes read this key.
    write_secret(path, &HEXLOWER.encode(&bytes))
}

impl PublicKey {
    /// Returns an error unless this key has signed the message for this purpose.
    pub(crate) fn check(
        &self,
        purpose: &str,
        text: &[u8],
        signature: &[u8; SIGNATURE_BYTES],
    ) -> Result<(), String> {
        // Strict verification rejects keys of small order, for which one signature is valid for
        // several messages.
        let verified =
            self.0.verify_strict(&mark(purpose, text), &Signature::from_bytes(signature));
        verified.map_err(|_| format!("the signature was not made with key {self}"))
    }

    /// Decodes a public key.
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey, String> {
        let key = VerifyingKey::from_bytes(bytes).map(PublicKey);
        key.map_err(|_| no_public_key(&HEXLOWER.encode(bytes)))
    }

    pub(crate) fn to_bytes(self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Parses a public key, or reads the key from the file `text` if `text` has no `ed25519:`
    /// prefix.
    pub fn read(text: &str) -> Result<PublicKey, String> {
        if text.starts_with(PREFIX) {
            return text.parse();
        }
        let path = Path::new(text);
        read_text(path).map_err(|error| of_file(path, error))?.trim().parse()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", HEXLOWER.encode(self.0.as_bytes()))
    }
}

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<PublicKey, String> {
        let bytes = text.strip_prefix(PREFIX).and_then(decoded);
        let key = bytes.and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
        key.map(PublicKey).ok_or_else(|| no_public_key(&format!("{text:.100}")))
    }
}

#[cfg(any(test, feature = "fuzz"))]
impl Key {
    pub(crate) fn from_secret_bytes(bytes: [u8; 32]) -> Key {
        Key(SigningKey::from_bytes(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_created_once_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep").join("signing.key");
        let made = Key::load_or_make(&path).unwrap().public();
        assert_eq!(Key::load_or_make(&path).unwrap().public(), made);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(made.to_string().parse::<PublicKey>().unwrap(), made);
        fs::write(&path, "nonsense").unwrap();
        let refused = Key::load_or_make(&path).unwrap_err();
        assert!(refused.ends_with(": expected 64 hexadecimal digits"), "{refused}");
    }

    #[test]
    fn concurrent_key_creation_gives_one_key() {
        for _ in 0..50 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("signing.key");
            let keys: Vec<PublicKey> = std::thread::scope(|scope| {
                let make = || Key::load_or_make(&path).unwrap().public();
                let makers: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
                makers.into_iter().map(|maker| maker.join().unwrap()).collect()
            });
            assert!(keys.windows(2).all(|two| two[0] == two[1]), "{keys:?}");
        }
    }

    #[test]
    fn altered_or_foreign_signatures_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let key = Key::load_or_make(&dir.path().join("a")).unwrap();
        let other = Key::load_or_make(&dir.path().join("b")).unwrap();
        let signature = key.sign("job", b"text");
        let check = |key: &Key, text: &str, signature| {
            key.public().check("job", text.as_bytes(), signature).is_ok()
        };
        assert!(check(&key, "text", &signature));
        assert!(!check(&key, "Text", &signature));
        assert!(!check(&other, "text", &signature));
        assert!(key.public().check("run description", b"text", &signature).is_err());
        let mut wrong = signature;
        wrong[63] ^= 1;
        assert!(!check(&key, "text", &wrong) && !check(&key, "text", &[0; 64]));
    }

    #[test]
    fn malformed_public_keys_are_rejected() {
        for wrong in
            ["", "ed25519:", "ed25519:xyz", "ed25519:00", &format!("ed25519:{}0", "0".repeat(64))]
        {
            assert!(wrong.parse::<PublicKey>().is_err(), "{wrong}");
        }
    }
}
