//! Join files, which contain everything that a worker or a coordinator needs to connect to a
//! server.

use std::io::{self, Read};
use std::path::Path;

use async_nats::ServerAddr;
use async_nats::rustls::RootCertStore;
use async_nats::rustls::pki_types::{CertificateDer, pem::PemObject};
use nkeys::{KeyPair, KeyPairType};
use serde::{Deserialize, Serialize};

use super::connection::{Access, Credentials, Secret};
use super::subject::is_inbox;
use super::trust::{Key, PublicKey};
use super::wire::is_worker_name;
use arbiter_game::text::{MAX_TEXT, printable};
use arbiter_process::{is_open_to_others, open_input};

/// Maximum size of a join file, in bytes. Join files come from other people, so their size cannot
/// be trusted.
const MAX_SIZE: u64 = 64 << 10;

/// Maximum length of the URL and of the inbox, in bytes. Both strings are displayed, and sent to a
/// server.
const MAX_FIELD: usize = 1_000;

/// Kind of process for which a join file is intended.
#[derive(Debug)]
pub enum Role {
    /// Worker that has this name and trusts the coordinator with this key.
    Worker(String, PublicKey),
    /// Coordinator that signs with this key.
    Coordinator(Key),
}

/// Contents of a join file, in TOML. Each certificate begins and ends on a separate line, so the
/// file is also a valid PEM file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JoinFile {
    pub url: String,
    pub worker: Option<String>,
    pub inbox: String,
    pub nkey: String,
    pub trust: Option<String>,
    pub signing_key: Option<String>,
    pub ca: Option<String>,
}

/// Reads a join file; also returns whether other users of this machine can read the file.
pub fn read_join_file(path: &Path) -> Result<(Access, Role, bool), String> {
    let (file, role, is_exposed) = JoinFile::read(path)?;
    let access = Access {
        url: Secret(file.url),
        credentials: Credentials::Nkey(Secret(file.nkey)),
        // The client reads PEM certificates from a file, and skips all other text.
        ca: file.ca.map(|_| path.to_owned()),
        certificate: None,
        inbox: Some(file.inbox),
        insecure: false,
    };
    Ok((access, role, is_exposed))
}

impl JoinFile {
    /// Reads a join file. Returns the contents, the role, and whether other users of this machine
    /// can read the file.
    pub(crate) fn read(path: &Path) -> Result<(JoinFile, Role, bool), String> {
        let invalid = |reason| format!("join file {}: {reason}", path.display());
        let unreadable = |error: io::Error| invalid(error.to_string());
        let file = open_input(path).map_err(unreadable)?;
        // The mode is read from the open file, because the file at the path could be replaced in
        // the meantime.
        let is_exposed = is_open_to_others(&file.metadata().map_err(unreadable)?);
        let mut text = String::new();
        file.take(MAX_SIZE + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > MAX_SIZE {
            return Err(invalid(format!("longer than {MAX_SIZE} bytes")));
        }
        let (file, role) = JoinFile::parse(&text).map_err(invalid)?;
        Ok((file, role, is_exposed))
    }

    /// Parses the text of a join file. Returns the contents and the role; an error quotes only TOML
    /// keys from the text, because values may be secret.
    pub(crate) fn parse(text: &str) -> Result<(JoinFile, Role), String> {
        let file: JoinFile = toml::from_str(text).map_err(|error| one_line(&error, text))?;
        let is_server = |url: &str| url.contains("://") && url.parse::<ServerAddr>().is_ok();
        if !is_short(&file.url) || !file.url.split(',').all(is_server) || file.url.contains('@') {
            return Err("url: expected tls://HOST:PORT".to_owned());
        }
        if !is_short(&file.inbox) || !is_inbox(&file.inbox) {
            return Err("inbox: expected _INBOX.NAME".to_owned());
        }
        match KeyPair::from_seed(&file.nkey) {
            Ok(pair) if pair.key_pair_type() == KeyPairType::User => {}
            _ => return Err("nkey: expected the seed of a user, SU and 56 characters".to_owned()),
        }
        if file.ca.is_some() {
            let mut authorities = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
                let certificate = certificate.map_err(|error| format!("ca: {error}"))?;
                authorities.add(certificate).map_err(|error| format!("ca: {error}"))?;
            }
            if authorities.is_empty() {
                return Err("ca: expected PEM certificates on separate lines".to_owned());
            }
        }
        let role = match (&file.worker, &file.trust, &file.signing_key) {
            (Some(name), Some(trust), None) if is_worker_name(name) => {
                let trust = trust.parse().map_err(|error| format!("trust: {error}"))?;
                Role::Worker(name.clone(), trust)
            }
            (None, None, Some(digits)) => {
                let key = Key::from_digits(digits);
                Role::Coordinator(key.ok_or("signing_key: expected 64 hexadecimal digits")?)
            }
            _ => {
                return Err("expected the worker's name and its trusted key, or signing_key".into());
            }
        };
        Ok((file, role))
    }
}

/// Returns whether a string is short enough and has no control characters.
fn is_short(text: &str) -> bool {
    text.len() <= MAX_FIELD && !text.contains(char::is_control)
}

/// Describes a syntax error without quoting the erroneous line, because the line may contain a
/// secret.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let start = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
    format!("line {line}: {}", printable(error.message(), MAX_TEXT))
}
