//! Flags and variables of the access to a NATS server.
//!
//! Secrets come from files and variables only, as everybody on the machine can read a command line.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;

use crate::Failure;
use arbiter_cluster::{
    Access, Credentials, INBOX, JOIN_SUFFIX, JoinError, Role, Secret, is_inbox, read_join_file,
};
use arbiter_process::{open_input, read_text};
use arbiter_report::note;

/// NATS server as a command line names it.
#[derive(Debug, Clone)]
pub(crate) enum ServerName {
    /// URL of the server.
    Url(String),
    /// Path of a join file.
    Join(PathBuf),
}

impl FromStr for ServerName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<ServerName, Infallible> {
        Ok(match text.ends_with(JOIN_SUFFIX) || Path::new(text).is_file() {
            true => ServerName::Join(text.into()),
            false => ServerName::Url(text.to_owned()),
        })
    }
}

/// Credentials for a NATS server.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Access to the NATS server")]
pub(crate) struct AccessArgs {
    /// User name for the NATS server [env: ARBITER_NATS_USER; its password is in
    /// ARBITER_NATS_PASSWORD or in --nats-password-file]
    #[arg(long, value_name = "NAME")]
    nats_user: Option<String>,
    /// File with the password [env: ARBITER_NATS_PASSWORD is the password itself]
    #[arg(long, value_name = "FILE")]
    nats_password_file: Option<PathBuf>,
    /// File with a token [env: ARBITER_NATS_TOKEN is the token itself]
    #[arg(long, value_name = "FILE")]
    nats_token_file: Option<PathBuf>,
    /// File with the seed of an nkey [env: ARBITER_NATS_NKEY]
    #[arg(long, value_name = "FILE")]
    nats_nkey: Option<PathBuf>,
    /// File with credentials as `nsc` writes them [env: ARBITER_NATS_CREDS]
    #[arg(long, value_name = "FILE")]
    nats_creds: Option<PathBuf>,
    /// Certificates (PEM) of the authorities that are trusted for the server [env: ARBITER_NATS_CA]
    #[arg(long, value_name = "FILE")]
    nats_ca: Option<PathBuf>,
    /// Client certificate (PEM), for servers that require one
    #[arg(long, value_name = "FILE", requires = "nats_cert_key")]
    nats_cert: Option<PathBuf>,
    /// Key (PEM) of the client certificate
    #[arg(long, value_name = "FILE", requires = "nats_cert")]
    nats_cert_key: Option<PathBuf>,
    /// Prefix of the subjects of answers, for accounts that may listen to some only: _INBOX.NAME
    /// [default: _INBOX]
    #[arg(long, value_name = "PREFIX")]
    nats_inbox: Option<String>,
    /// Accept a NATS server that does not encrypt or does not authenticate its clients, so that
    /// others can read and change what is sent
    #[arg(long)]
    insecure: bool,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the contents read from `path`, or the failure to read it.
fn of_file<T>(path: &Path, read: io::Result<T>) -> Result<T, Failure> {
    read.map_err(|error| Failure::invalid(format!("cannot read {}: {error}", path.display())))
}

fn secret(path: &Path) -> Result<Secret, Failure> {
    Ok(Secret(of_file(path, read_text(path))?.trim().to_owned()))
}

impl AccessArgs {
    /// Returns the access to a server, and the role of its join file, if there is one.
    pub(crate) fn access(self, server: ServerName) -> Result<(Access, Option<Role>), Failure> {
        let path = match server {
            ServerName::Url(url) => return Ok((self.access_to(url)?, None)),
            ServerName::Join(path) => path,
        };
        let insecure = self.insecure;
        if self != (AccessArgs { insecure, ..AccessArgs::default() }) {
            let message = "a join file defines the access to the server: remove the flags --nats-…";
            return Err(Failure::invalid(message));
        }
        let (access, role, is_exposed) = read_join_file(&path)?;
        if is_exposed {
            let path = path.display();
            note(&format!("{path} contains secrets and is readable by others: chmod 600 {path}"));
        }
        Ok((Access { insecure, ..access }, Some(role)))
    }

    /// Returns the access to the server at `url`.
    fn access_to(self, url: String) -> Result<Access, Failure> {
        let path = |flag: Option<PathBuf>, name| flag.or_else(|| variable(name).map(PathBuf::from));
        let user = self.nats_user.or_else(|| variable("ARBITER_NATS_USER"));
        let password = match &self.nats_password_file {
            Some(path) => Some(secret(path)?),
            None => variable("ARBITER_NATS_PASSWORD").map(Secret),
        };
        let token = match &self.nats_token_file {
            Some(path) => Some(secret(path)?),
            None => variable("ARBITER_NATS_TOKEN").map(Secret),
        };
        if let Some(inbox) = self.nats_inbox.as_deref().filter(|inbox| !is_inbox(inbox)) {
            let message = format!("--nats-inbox: expected {INBOX}.NAME, got '{inbox}'");
            return Err(Failure::invalid(message));
        }
        let creds = path(self.nats_creds, "ARBITER_NATS_CREDS");
        let nkey = path(self.nats_nkey, "ARBITER_NATS_NKEY");
        let credentials = match (creds, nkey, user, token) {
            (Some(path), ..) => Credentials::Creds(secret(&path)?),
            (None, Some(path), ..) => Credentials::Nkey(secret(&path)?),
            (None, None, Some(user), _) => {
                let missing = || {
                    Failure::invalid(format!(
                        "user '{user}' has no password; set ARBITER_NATS_PASSWORD or give \
                         --nats-password-file"
                    ))
                };
                Credentials::Password(user.clone(), password.ok_or_else(missing)?)
            }
            (None, None, None, Some(token)) => Credentials::Token(token),
            (None, None, None, None) => Credentials::None,
        };
        let ca = path(self.nats_ca, "ARBITER_NATS_CA");
        let certificate = self.nats_cert.zip(self.nats_cert_key);
        for path in ca.iter().chain(certificate.iter().flat_map(|(one, key)| [one, key])) {
            // The client reads these files when it connects, and would wait forever for a pipe.
            of_file(path, open_input(path))?;
        }
        Ok(Access {
            url: Secret(url),
            credentials,
            ca,
            certificate,
            inbox: self.nats_inbox,
            insecure: self.insecure,
        })
    }
}

impl From<JoinError> for Failure {
    fn from(error: JoinError) -> Failure {
        Failure::invalid(error)
    }
}
