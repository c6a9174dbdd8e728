//! Connections to NATS servers.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::rustls::{self, CertificateError};
use async_nats::{Client, ConnectError, ConnectOptions, Event, ServerAddr, Subscriber, jetstream};
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::timeout;

use arbiter_game::text::{MAX_TEXT, printable};

/// Time limit for the first connection. Without a limit, the user would never learn that a firewall
/// drops the packets to a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit for connecting and for a reply from the server. Callers repeat failed requests.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval between pings on an idle connection. Without pings, the loss of the server would not be
/// noticed.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum number of unread messages of a subscription; messages beyond this limit are lost. A
/// fleet sends fewer messages than the limit while a coordinator handles one event.
const MAX_WAITING: usize = 1 << 16;

/// Secret string, which `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Credentials for a NATS server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// The credentials in the URL, if any.
    None,
    /// A name and a password.
    Password(String, Secret),
    /// A token.
    Token(Secret),
    /// The seed of an nkey.
    Nkey(Secret),
    /// The contents of a `.creds` file.
    Creds(Secret),
}

/// A NATS server, its credentials and its certificates.
#[derive(Debug, Clone)]
pub struct Access {
    /// URL of the server, such as `nats://host:4222` or `tls://host:4222`.
    pub url: Secret,
    /// The credentials.
    pub credentials: Credentials,
    /// File with CA certificates that are trusted in addition to the CA certificates of the system.
    pub ca: Option<PathBuf>,
    /// Paths of the client certificate and of its private key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Prefix of the subjects on which replies are received; `_INBOX` if `None`.
    pub inbox: Option<String>,
    /// `true` to accept a server that does not encrypt connections, or does not authenticate its
    /// clients.
    pub insecure: bool,
}

/// Reason why a server cannot be used.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct AccessError(String);

/// Returns a function that converts a reason to the error for a request that a server denies or
/// cannot fulfil; `what` names the request.
pub fn denied<E: fmt::Display>(what: &str) -> impl FnOnce(E) -> AccessError {
    move |reason| AccessError(format!("the NATS server refuses {what}: {reason}"))
}

/// A connection to a server.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The client.
    pub client: Client,
    /// JetStream context of the connection.
    pub jetstream: jetstream::Context,
    denials: watch::Receiver<Option<String>>,
}

impl Access {
    /// Returns the URL without user name and password.
    pub fn place(&self) -> String {
        let one = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
            (None, Some((_, host))) => host.to_owned(),
            _ => url.to_owned(),
        };
        self.url.0.split(',').map(one).collect::<Vec<_>>().join(",")
    }

    /// Connects to the server; administrators of the server see `name`. A lost connection is
    /// restored automatically, without a time limit.
    pub async fn connect(&self, name: &str) -> Result<Connection, AccessError> {
        let refused = |reason: String| {
            AccessError(format!("cannot use the NATS server {}: {reason}", self.place()))
        };
        let (deny, denials) = watch::channel(None);
        let options = self.options().map_err(refused)?.name(name).event_callback(move |event| {
            let deny = deny.clone();
            async move {
                // The client reports a missing permission only by this event; the denied request
                // times out.
                if let Event::ServerError(error) = event {
                    let text = error.to_string();
                    if text.to_ascii_lowercase().contains("permissions violation") {
                        let _ = deny.send(Some(printable(&text, MAX_TEXT)));
                    }
                }
            }
        });
        let servers: Vec<String> = self.place().split(',').map(str::to_owned).collect();
        let late = |_| refused(format!("no reply within {} s", CONNECT_TIMEOUT.as_secs()));
        let connecting = timeout(CONNECT_TIMEOUT, options.connect(servers));
        let connected = connecting.await.map_err(late)?;
        let client = connected.map_err(|error| refused(explained(&error)))?;
        // A server without authentication accepts requests from anybody who can reach the server.
        if !self.insecure && !client.server_info().auth_required {
            return Err(AccessError(format!(
                "the NATS server {} does not authenticate its clients\nhint: create a \
                 configuration with users with 'arbiter cluster init'; --insecure uses the server \
                 anyway",
                self.place()
            )));
        }
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(ANSWER_TIMEOUT);
        Ok(Connection { client, jetstream, denials })
    }

    /// Returns the user name and password, or the token, from the URL.
    fn credentials_of_url(&self) -> Credentials {
        let user = self.url.0.split(',').find_map(|url| {
            let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
            rest.rsplit_once('@').map(|(user, _)| user)
        });
        match user.map(|user| (user, user.split_once(':'))) {
            None => Credentials::None,
            Some((_, Some((name, password)))) => {
                Credentials::Password(name.to_owned(), Secret(password.to_owned()))
            }
            Some((token, None)) => Credentials::Token(Secret(token.to_owned())),
        }
    }

    fn options(&self) -> Result<ConnectOptions, String> {
        let mut options = ConnectOptions::new()
            .connection_timeout(ANSWER_TIMEOUT)
            .request_timeout(Some(ANSWER_TIMEOUT))
            .ping_interval(PING_INTERVAL)
            .subscription_capacity(MAX_WAITING)
            .reconnect_delay_callback(|attempt| {
                // The delay grows, so that clients do not overload a restarting server. The delay
                // stays short, because results wait for the connection.
                Duration::from_millis((100 * attempt as u64).min(2_000))
            });
        let credentials = match &self.credentials {
            Credentials::None => self.credentials_of_url(),
            given => given.clone(),
        };
        options = match credentials {
            Credentials::None => options,
            Credentials::Password(name, Secret(password)) => {
                options.user_and_password(name, password)
            }
            Credentials::Token(Secret(token)) => options.token(token),
            Credentials::Nkey(Secret(seed)) => options.nkey(seed),
            Credentials::Creds(Secret(text)) => options
                // The parser of the client ignores a last line without a line ending.
                .credentials(&format!("{text}\n"))
                .map_err(|error| format!("creds: {error}"))?,
        };
        // Other machines cannot read traffic on the loopback device. For other servers, TLS is
        // required from the start: a server announces its encryption and its list of other servers
        // before the connection is encrypted, so this information could be forged.
        if !self.insecure {
            options = if self.place().split(',').all(is_loopback) {
                options.ignore_discovered_servers()
            } else {
                options.require_tls(true)
            };
        }
        if let Some(inbox) = &self.inbox {
            options = options.custom_inbox_prefix(inbox);
        }
        if let Some(ca) = &self.ca {
            options = options.add_root_certificates(ca.clone());
        }
        if let Some((certificate, key)) = &self.certificate {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        Ok(options)
    }
}

/// Returns whether a URL names a server on the loopback device.
fn is_loopback(url: &str) -> bool {
    let Ok(server) = url.parse::<ServerAddr>() else { return false };
    let host = server.host();
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Returns the reason for a failed connection, with a hint.
fn explained(error: &ConnectError) -> String {
    let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    let tls = io.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref());
    let what = match tls {
        Some(rustls::Error::InvalidMessage(_)) => {
            return "the server does not encrypt: create an encrypted configuration with 'arbiter \
                    cluster init', or use nats:// and --insecure"
                .to_owned();
        }
        Some(rustls::Error::InvalidCertificate(what)) => what,
        _ => return error.to_string(),
    };
    let wrong_name =
        format!("the host is not among the subject alternative names of the certificate ({what})");
    let other = what.to_string();
    let why = match what {
        CertificateError::UnknownIssuer => {
            "it is not signed by a trusted authority; add the authority with --nats ca=FILE"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            &wrong_name
        }
        CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
            "it is a certificate of an authority (CA:TRUE), not one that an authority has signed"
        }
        CertificateError::BadSignature => {
            "it is not signed by the authority of the join file: the join file belongs to another \
             cluster"
        }
        _ => &other,
    };
    format!(
        "the server's certificate is refused: {why}; create a valid certificate with 'arbiter \
         cluster init'"
    )
}

impl Connection {
    /// Returns whether the client is connected at the moment.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Waits until the server denies a permission, and returns the printable reason.
    pub async fn denied(&mut self) -> String {
        while self.denials.changed().await.is_ok() {
            if let Some(reason) = self.denials.borrow_and_update().clone() {
                return reason;
            }
        }
        // The client was dropped with the sender, so no further denial can arrive.
        std::future::pending().await
    }

    /// Subscribes to a subject.
    pub async fn subscribe(&self, subject: &str) -> Result<Subscriber, AccessError> {
        let subscribed = self.client.subscribe(subject.to_owned()).await;
        subscribed.map_err(denied(&format!("to listen to {subject}")))
    }

    /// Returns the maximum length of a message body, in bytes: the limit of the server minus 4 KiB
    /// for headers.
    pub fn max_payload(&self) -> usize {
        // The limit of the server includes headers, such as the ID of the message.
        self.client.server_info().max_payload.saturating_sub(4 << 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_urls_count_as_local() {
        for url in ["localhost", "nats://localhost:1", "nats://127.8.9.1", "nats://[::1]:4222"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in
            ["nats://0.0.0.0", "nats://127.0.0.1.example", "localhost.example", "nats://[::]"]
        {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let access = |url: &str| Access {
            url: Secret(url.to_owned()),
            credentials: Credentials::Password("me".into(), Secret("hidden".into())),
            ca: None,
            certificate: None,
            inbox: None,
            insecure: false,
        };
        let check = |url: &str, expect: &str| assert_eq!(access(url).place(), expect);
        check("nats://me:hidden@host:4222", "nats://host:4222");
        check("me:hid@den@host", "host");
        check("tls://a,nats://x:hidden@b", "tls://a,nats://b");
        let of_url = |url: &str| access(url).credentials_of_url();
        let password = Credentials::Password("me".into(), Secret("hid@den".into()));
        assert_eq!(of_url("nats://a,nats://me:hid@den@host:4222"), password);
        assert_eq!(of_url("hidden@host"), Credentials::Token(Secret("hidden".into())));
        assert_eq!(of_url("nats://host:4222"), Credentials::None);
        let shown = format!("{:?}", access("nats://me:hidden@host:4222"));
        assert!(!shown.contains("hidden"), "{shown}");
    }
}
