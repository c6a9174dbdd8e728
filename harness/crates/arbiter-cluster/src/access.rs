//! The way to the server, and what proves who we are.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Subscriber, jetstream};
use thiserror::Error;
use tokio::sync::watch;

/// How long the first connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long the server may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// How often a connection is tried on which nothing happens: a network that is cut says nothing.
const PING: Duration = Duration::from_secs(10);

/// Messages of a subscription that may wait. Beyond it they are lost, so this is more than a fleet
/// says between two looks of a coordinator.
const WAITING: usize = 1 << 16;

/// A text that must not be shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// What proves who we are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Credentials {
    /// Nothing, beyond what the URL says.
    #[default]
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

/// Where the server is and how it is entered.
#[derive(Debug, Clone)]
pub struct Access {
    /// Its URL, such as `nats://host:4222` or `tls://host:4222`.
    pub url: Secret,
    /// Who we are.
    pub credentials: Credentials,
    /// Authorities that may vouch for the server besides those of the system.
    pub ca: Option<PathBuf>,
    /// Our own certificate and its key, for servers that ask for them.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// What the subjects for answers to us begin with, if the server allows only some.
    pub inbox: Option<String>,
}

/// The server cannot be used.
#[derive(Debug, Error)]
pub enum AccessError {
    /// It does not answer, or not to us.
    #[error("cannot use the NATS server {url}: {reason}")]
    Refused {
        /// Where it is, without secrets.
        url: String,
        /// Why.
        reason: String,
    },
    /// Something on it cannot be had.
    #[error("the NATS server refuses {what}: {reason}")]
    Denied {
        /// What was asked for.
        what: String,
        /// Why.
        reason: String,
    },
}

/// An open connection.
#[derive(Debug, Clone)]
pub struct Link {
    /// The connection.
    pub client: Client,
    /// JetStream over it.
    pub stream: jetstream::Context,
    /// What the server has forbidden, once it has.
    pub forbidden: watch::Receiver<Option<String>>,
}

impl Access {
    /// Where the server is, fit to be shown: without name and password.
    pub fn place(&self) -> String {
        let one = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
            (None, Some((_, host))) => host.to_owned(),
            _ => url.to_owned(),
        };
        self.url.0.split(',').map(one).collect::<Vec<_>>().join(",")
    }

    /// Connects; `name` is shown to those who look after the server. Once this has succeeded, a
    /// connection that is lost is made again, for ever.
    pub async fn connect(&self, name: &str) -> Result<Link, AccessError> {
        let refused = |reason: String| AccessError::Refused { url: self.place(), reason };
        let (forbid, forbidden) = watch::channel(None);
        let forbid = Arc::new(forbid);
        let options = self.options().map_err(refused)?.name(name).event_callback(move |event| {
            let forbid = forbid.clone();
            async move {
                // A violation shows nowhere else but in a timeout.
                if let Event::ServerError(error) = event {
                    let text = error.to_string();
                    if text.to_ascii_lowercase().contains("permissions violation") {
                        let _ = forbid.send(Some(arbiter_game::outcome::printable(&text, 300)));
                    }
                }
            }
        });
        let servers: Vec<String> = self.place().split(',').map(str::to_owned).collect();
        let connecting = tokio::time::timeout(CONNECT, options.connect(servers));
        let client = match connecting.await {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(refused(error.to_string())),
            Err(_) => return Err(refused(format!("no answer within {} s", CONNECT.as_secs()))),
        };
        let mut stream = jetstream::new(client.clone());
        stream.set_timeout(ANSWER);
        Ok(Link { client, stream, forbidden })
    }

    /// Name and password that are part of the URL, or the token.
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
            .connection_timeout(ANSWER)
            .request_timeout(Some(ANSWER))
            .ping_interval(PING)
            .subscription_capacity(WAITING)
            .reconnect_delay_callback(|attempt| {
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
            Credentials::Creds(Secret(text)) => {
                // Its last line counts only if it has an end.
                options
                    .credentials(&format!("{text}\n"))
                    .map_err(|error| format!("creds: {error}"))?
            }
        };
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

impl Link {
    /// Whether the server can be spoken to now.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Listens to a subject.
    pub async fn hear(&self, subject: &str) -> Result<Subscriber, AccessError> {
        let heard = self.client.subscribe(subject.to_owned()).await;
        heard.map_err(|error| AccessError::Denied {
            what: format!("to listen to {subject}"),
            reason: error.to_string(),
        })
    }

    /// The largest message that the server takes, in bytes, less what its own headers may need.
    pub fn max_payload(&self) -> usize {
        self.client.server_info().max_payload.saturating_sub(4 << 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let access = |url: &str| Access {
            url: Secret(url.to_owned()),
            credentials: Credentials::Password("me".into(), Secret("hidden".into())),
            ca: None,
            certificate: None,
            inbox: None,
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
