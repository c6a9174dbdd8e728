//! Flags and environment variables for access to a NATS server.
//!
//! Secrets come only from files and environment variables, because all users of a machine can read
//! command lines.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;
use arbiter_cluster::{
    Access, Credentials, INBOX, JOIN_SUFFIX, Key, Role, Secret, is_inbox, read_join_file,
};
use arbiter_process::{open_input, read_text};
use arbiter_report::note;
use arbiter_settings::{Keys, merged};

/// NATS server, as named on the command line.
#[derive(Debug, Clone)]
pub(crate) enum ServerName {
    /// URL of the server.
    Url(String),
    /// Path of a join file.
    Join(PathBuf),
}

impl From<&str> for ServerName {
    fn from(text: &str) -> ServerName {
        let is_file = text.ends_with(JOIN_SUFFIX) || Path::new(text).is_file();
        if is_file { ServerName::Join(text.into()) } else { ServerName::Url(text.to_owned()) }
    }
}

arbiter_settings::keys! {
    /// Access to the NATS server. Secrets come from files or environment variables
    NatsKeys, false, plan;
    /// User name [env: ARBITER_NATS_USER]
    user["NAME"]: String as "arbiter_settings::text",
    /// File with the password [env: ARBITER_NATS_PASSWORD is the password itself]
    password_file["FILE"]: PathBuf as "arbiter_settings::text",
    /// File with a token [env: ARBITER_NATS_TOKEN is the token itself]
    token_file["FILE"]: PathBuf as "arbiter_settings::text",
    /// File with the seed of an nkey [env: ARBITER_NATS_NKEY]
    nkey["FILE"]: PathBuf as "arbiter_settings::text",
    /// Credentials file written by `nsc` [env: ARBITER_NATS_CREDS]
    creds["FILE"]: PathBuf as "arbiter_settings::text",
    /// Certificates (PEM) of the trusted authorities [env: ARBITER_NATS_CA]
    ca["FILE"]: PathBuf as "arbiter_settings::text",
    /// Client certificate (PEM), for servers that require one
    cert["FILE"]: PathBuf as "arbiter_settings::text",
    /// Key (PEM) of the client certificate
    cert_key["FILE"]: PathBuf as "arbiter_settings::text",
    /// Prefix of the reply subjects, for accounts that may subscribe only to certain subjects, such
    /// as _INBOX.NAME [default: _INBOX]
    inbox["PREFIX"]: String as "arbiter_settings::text",
}

/// Credentials for a NATS server.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Access to the NATS server")]
pub(crate) struct AccessArgs {
    /// Access to the NATS server.
    #[arg(long, value_name = "KEY=VALUE", requires = "on", help = NatsKeys::ABOUT.trim(), long_help = NatsKeys::help())]
    nats: Vec<NatsKeys>,
    /// Accept a NATS server without encryption or client authentication; third parties can then
    /// read and change messages
    #[arg(long)]
    insecure: bool,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns whether systemd passed the file to this service (`LoadCredential=`). Only the service
/// can read such a file: the group bits of its mode are the mask of an access control list.
fn is_credential(path: &Path) -> bool {
    variable("CREDENTIALS_DIRECTORY").is_some_and(|folder| path.starts_with(folder))
}

/// Converts an error in reading `path` to a failure.
pub(super) fn of_file<T>(path: &Path, read: io::Result<T>) -> Result<T, Failure> {
    read.map_err(|error| Failure::invalid(format!("cannot read {}: {error}", path.display())))
}

fn secret(path: &Path) -> Result<Secret, Failure> {
    Ok(Secret(of_file(path, read_text(path))?.trim().to_owned()))
}

impl AccessArgs {
    /// Returns the access to a server, and the role in the join file, if any.
    pub(crate) fn access(self, server: ServerName) -> Result<(Access, Option<Role>), Failure> {
        let path = match server {
            ServerName::Url(url) => return Ok((self.access_to(url)?, None)),
            ServerName::Join(path) => path,
        };
        if !self.nats.is_empty() {
            let message = "a join file defines the access to the server: remove --nats";
            return Err(Failure::invalid(message));
        }
        let (access, role, is_exposed) = read_join_file(&path).map_err(Failure::invalid)?;
        if is_exposed && !is_credential(&path) {
            let path = path.display();
            note(&format!("{path} contains secrets and is readable by others: chmod 600 {path}"));
        }
        Ok((Access { insecure: self.insecure, ..access }, Some(role)))
    }

    /// Returns the access of a coordinator to a server, and the signing key in the join file, if
    /// any.
    pub(crate) fn of_coordinator(
        self,
        server: ServerName,
    ) -> Result<(Access, Option<Key>), Failure> {
        match self.access(server)? {
            (access, None) => Ok((access, None)),
            (access, Some(Role::Coordinator(key))) => Ok((access, Some(key))),
            (_, Some(Role::Worker(name, _))) => Err(Failure::invalid(format!(
                "--on: this is the join file of worker {name}; expected the coordinator's"
            ))),
        }
    }

    /// Returns the access to the server at `url`.
    fn access_to(self, url: String) -> Result<Access, Failure> {
        let nats = merged(self.nats);
        let path = |flag: Option<PathBuf>, name| flag.or_else(|| variable(name).map(PathBuf::from));
        let user = nats.user.or_else(|| variable("ARBITER_NATS_USER"));
        let secret_of = |file: Option<PathBuf>, name| match file {
            Some(path) => secret(&path).map(Some),
            None => Ok(variable(name).map(Secret)),
        };
        let password = secret_of(nats.password_file, "ARBITER_NATS_PASSWORD")?;
        let token = secret_of(nats.token_file, "ARBITER_NATS_TOKEN")?;
        if let Some(inbox) = nats.inbox.as_deref().filter(|inbox| !is_inbox(inbox)) {
            let message = format!("--nats inbox: expected {INBOX}.NAME, got '{inbox}'");
            return Err(Failure::invalid(message));
        }
        let creds = path(nats.creds, "ARBITER_NATS_CREDS");
        let nkey = path(nats.nkey, "ARBITER_NATS_NKEY");
        let credentials = match (creds, nkey, user, token) {
            (Some(path), ..) => Credentials::Creds(secret(&path)?),
            (None, Some(path), ..) => Credentials::Nkey(secret(&path)?),
            (None, None, Some(user), _) => {
                let Some(password) = password else {
                    return Err(Failure::invalid(format!(
                        "user '{user}' has no password; set ARBITER_NATS_PASSWORD or give --nats \
                         password-file=FILE"
                    )));
                };
                Credentials::Password(user, password)
            }
            (None, None, None, Some(token)) => Credentials::Token(token),
            (None, None, None, None) => Credentials::None,
        };
        let ca = path(nats.ca, "ARBITER_NATS_CA");
        if nats.cert.is_some() != nats.cert_key.is_some() {
            return Err(Failure::invalid("--nats: give both cert and cert-key"));
        }
        let certificate = nats.cert.zip(nats.cert_key);
        for path in ca.iter().chain(certificate.iter().flat_map(|(one, key)| [one, key])) {
            // The client reads these files when it connects, and would wait forever if a file is a
            // pipe, so the files are checked first.
            of_file(path, open_input(path))?;
        }
        Ok(Access {
            url: Secret(url),
            credentials,
            ca,
            certificate,
            inbox: nats.inbox,
            insecure: self.insecure,
        })
    }
}
