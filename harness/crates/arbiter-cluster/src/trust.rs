//! Keys of coordinators. A worker starts the programs of a run only if the run description is
//! signed with a trusted key. The worker then acts only on messages that are signed with the key of
//! the run description.
//!
//! The coordinator's key also proves that the sender of a result was given the job. A worker that
//! joins a run is given a token, and each attempt at a job has a nonce. The proof of a result is
//! the hash of the nonce, keyed with the token. Tokens and nonces are derived from a secret of the
//! run, and the secret is derived from the key. The coordinator therefore need not store tokens and
//! nonces, even to resume the run.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use super::subject::RunId;
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

/// 32 bytes known only to the coordinator and one recipient; comparisons take constant time.
pub type Token = blake3::Hash;

/// Secret from which the tokens and nonces of a run are derived; only the coordinator knows the
/// secret.
pub(crate) struct RunSecret([u8; 32]);

impl RunSecret {
    /// Derives the secret of a run from the key of its coordinator.
    pub(crate) fn new(key: &Key, run_id: &RunId) -> RunSecret {
        let material = [&key.0.to_bytes(), run_id.as_str().as_bytes()].concat();
        // BLAKE3's key derivation mode is used: the context string separates this use of the key
        // from signing.
        RunSecret(blake3::derive_key("arbiter 2026-11 secret of a coordinator", &material))
    }

    /// Returns the token of a worker that joins.
    pub(crate) fn token(&self, worker: &str) -> Token {
        blake3::keyed_hash(&self.0, format!("worker {worker}").as_bytes())
    }

    /// Returns the nonce of an attempt at a pair, or at another assignment.
    pub(crate) fn nonce(&self, number: u64, attempt: u32) -> Token {
        // Each of the three uses of the secret has a different prefix.
        blake3::keyed_hash(&self.0, format!("job {number} {attempt}").as_bytes())
    }

    /// Returns a pseudorandom number in [0, 1) for a pair, or for another decision about audits.
    /// Workers cannot predict the number.
    pub(crate) fn draw(&self, decision: impl fmt::Display) -> f64 {
        let hash = blake3::keyed_hash(&self.0, format!("audit {decision}").as_bytes());
        let (first, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        // The upper 53 bits fill the mantissa of an f64, so the quotient is exact and below 1.
        (u64::from_le_bytes(*first) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns the proof that the worker was given this attempt at a job.
    pub(crate) fn proof(&self, worker: &str, number: u64, attempt: u32) -> Token {
        proof(&self.token(worker), &self.nonce(number, attempt))
    }
}

/// Returns the proof that the worker with this token was given the job with this nonce.
pub fn proof(token: &Token, nonce: &Token) -> Token {
    blake3::keyed_hash(token.as_bytes(), nonce.as_bytes())
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

    #[test]
    fn a_proof_depends_on_worker_job_attempt_run_and_key() {
        let dir = tempfile::tempdir().unwrap();
        let key = |name: &str| Key::load_or_make(&dir.path().join(name)).unwrap();
        let secret = |key: &Key, run: &str| RunSecret::new(key, &RunId::new(run, 1, "k"));
        let own = secret(&key("a"), "r");
        let given = proof(&own.token("w"), &own.nonce(7, 1));
        assert_eq!(secret(&key("a"), "r").proof("w", 7, 1), given);
        for other in [
            own.proof("v", 7, 1),
            own.proof("w", 8, 1),
            own.proof("w", 7, 2),
            secret(&key("a"), "s").proof("w", 7, 1),
            secret(&key("b"), "r").proof("w", 7, 1),
        ] {
            assert_ne!(other, given);
        }
    }
}
