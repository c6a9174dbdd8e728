//! `arbiter serve`: live web pages of the runs in a results folder.
//!
//! The server reads the store, and queries runs in progress through their control sockets, as any
//! process of the same user can. The server plays no games, and runs at the lowest priority, so
//! that engines are not disturbed.

mod start;

use std::io::{IsTerminal, stderr};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use data_encoding::HEXLOWER;
use tokio::net::TcpListener;

use self::start::TestStarter;
#[cfg(feature = "cluster")]
use crate::fleet::{AccessArgs, ServerName};
use crate::{
    console::LogArgs, failure::Failure, metrics::MetricsArgs, project::ResultsArg, runtime::runtime,
};
use arbiter_process::{
    TOKEN_VARIABLE, changed_ms, foreign_owner, is_open_to_others, lower_priority, read_text,
    write_secret,
};
use arbiter_report::{note, utc_time};
use arbiter_runner::Signals;
use arbiter_serve::{ClusterMonitor, Guard, MIN_TOKEN, Site, Starter};
use arbiter_store::StoreError;

/// File in the results folder for a generated token that is not printed on a terminal.
const TOKEN_FILE: &str = "serve.token";

/// Flags of `arbiter serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Anyone who can reach the address can see the runs. To pause, resume, drain or stop runs of the same user
on this machine, a browser needs the token: open the printed address, which contains the token, or enter
the token on the page of a run. A generated token is printed only on a terminal. If standard error is not
a terminal, as under systemd, the token is stored in the file serve.token in the results folder, which
only the owner can read; the next server uses the token again. Programs send 'Authorization: Bearer
TOKEN' with POST /runs/RUN/pause, resume, drain or stop. With --start, the list has a form for a new test
(POST /start?dev=…&base=…&limit=…&elo0=…&elo1=…&pairs=…&name=…). Tests run on this machine one at a time,
as with 'arbiter sprt' and arbiter.toml. A test writes to RUN.log in the results folder and continues
when this server ends. The engines of a test must be registered, bundled, or revisions, which are built
first.

By default, only programs on this machine can connect; --listen selects another address. To connect
from another machine without --listen, use 'ssh -L 7878:localhost:7878 HOST'.

Connections that send no complete request within 10 s, or read nothing for 20 s, are closed. At 256
connections, a new connection replaces the oldest connection of the address with the most connections.

Exit codes: 0 after Ctrl-C or a signal; 2 for usage errors, 3 for an invalid token, 7 if the server
cannot listen or the folder of --results cannot be created.

Examples:
  arbiter serve
  arbiter serve --listen 0.0.0.0:7878 --token-file token")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    results: ResultsArg,
    /// Address and port to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// Host name by which browsers may address this machine, besides localhost and IP addresses;
    /// may be repeated
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// File with the token on its first line [default: $ARBITER_TOKEN, else a new token]
    #[arg(long, value_name = "FILE", conflicts_with = "read_only")]
    token_file: Option<PathBuf>,
    /// Disable the control of runs
    #[arg(long)]
    read_only: bool,
    /// Also let holders of the token start tests
    #[arg(long, conflicts_with = "read_only")]
    start: bool,
    /// NATS server whose workers and runs are also shown: the coordinator's join file (*.join), or
    /// a URL such as tls://host:4222
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "FILE|URL")]
    on: Option<ServerName>,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    access: AccessArgs,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    pub log: LogArgs,
}

/// Secret that authorizes a browser or program to control runs.
#[derive(Debug, PartialEq, Eq)]
struct Token {
    text: String,
    /// Place where the user finds the token; `None` if the token has to be printed.
    place: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: ServeArgs) -> Result<(), Failure> {
    let given = if args.read_only { None } else { given_token(args.token_file.as_deref())? };
    let results = args.results.folder()?;
    // The first run may create the store later, but the folder must be writable now.
    if !results.is_dir() {
        std::fs::create_dir_all(&results)
            .map_err(|source| StoreError::Folder { folder: results.clone(), source })?;
        note(&format!("created {} (no runs yet)", results.display()));
    }
    let token = match given {
        None if !args.read_only => Some(new_token(&results, stderr().is_terminal())?),
        given => given,
    };
    let guard = Guard::new(args.hosts, token.as_ref().map(|token| token.text.as_str()));
    let starter = args.start.then(|| TestStarter::new(results.clone())).transpose()?;
    let starter = starter.map(|starter| Arc::new(starter) as Arc<dyn Starter>);
    // Engines have precedence. The server works even if the priority cannot be lowered.
    let _ = lower_priority();
    #[cfg(feature = "cluster")]
    let access =
        args.on.map(|server| args.access.access(server)).transpose()?.map(|(access, _)| access);
    #[cfg(not(feature = "cluster"))]
    let access = None;
    let monitor = Arc::new(ClusterMonitor::new(access.is_some()));
    let site = Site::new(results, monitor.clone(), guard, starter, hex(4)?);
    let runtime = runtime()?;
    if let Some(mut endpoint) = args.metrics.open()? {
        site.register(&mut endpoint.registry);
        endpoint.serve(runtime.handle())?;
    }
    let done = runtime.block_on(async {
        let mut signals = Signals::listen().map_err(Failure::environment)?;
        let listener = TcpListener::bind(args.listen).await.map_err(|error| {
            Failure::environment(format!(
                "cannot listen on {}: {error}\nhint: give another address or port with --listen \
                 (port 0 selects a free one)",
                args.listen
            ))
        })?;
        let address = listener.local_addr().map_err(Failure::environment)?;
        announce(address, token.as_ref());
        if let Some(access) = access {
            tokio::spawn(async move { monitor.keep(access).await });
        }
        tokio::select! {
            never = site.serve(listener) => never,
            // Pages notice the lost connection, and reconnect when a server is running again.
            _ = signals.next() => Ok(()),
        }
    });
    // A computation or the start of a test in a blocking thread may take a long time, and must not
    // delay the end of the server.
    runtime.shutdown_background();
    done
}

fn announce(address: SocketAddr, token: Option<&Token>) {
    note(&format!("serving http://{address}/ until Ctrl-C"));
    note(&match token {
        Some(Token { place: Some(place), .. }) => {
            format!("control runs with the token in {place}")
        }
        Some(Token { text, .. }) => format!("to control runs, open http://{address}/#token={text}"),
        None => "runs cannot be controlled (read-only)".to_owned(),
    });
    if !address.ip().is_loopback() {
        note("anyone who can reach this address sees the runs; the connection is not encrypted");
    }
}

/// Returns the token from the user's file or environment, if any.
fn given_token(file: Option<&Path>) -> Result<Option<Token>, Failure> {
    match (file, std::env::var(TOKEN_VARIABLE)) {
        (Some(path), _) => parse_token(path.display().to_string(), &read_token(path)?).map(Some),
        (None, Ok(text)) => parse_token(format!("${TOKEN_VARIABLE}"), &text).map(Some),
        (None, Err(_)) => Ok(None),
    }
}

/// Generates a token. If the token is printed on a terminal, the token is not stored. Otherwise,
/// the token is written to a private file, because other users may be able to read the log.
fn new_token(results: &Path, is_shown: bool) -> Result<Token, Failure> {
    if is_shown {
        return Ok(Token { text: hex(32)?, place: None });
    }
    let path = results.join(TOKEN_FILE);
    let is_earlier = path.symlink_metadata().is_ok();
    write_secret(&path, &hex(32)?).map_err(|error| {
        Failure::environment(format!(
            "cannot store a token in {}: {error}; give --token-file or --read-only",
            path.display()
        ))
    })?;
    // Another user of the folder may have created the file to learn the token.
    let kept = path.symlink_metadata().map_err(Failure::environment)?;
    if !kept.is_file() || foreign_owner(&kept).is_some() || is_open_to_others(&kept) {
        return Err(Failure::invalid(format!(
            "{} is readable or owned by others; remove it to create a new token",
            path.display()
        )));
    }
    let mut place = path.display().to_string();
    if is_earlier {
        // The time of the last status change (ctime), unlike the modification time, is not stored
        // in archives.
        let since = utc_time(changed_ms(&kept));
        place.push_str(&format!(
            ", unchanged since {since}; if the folder is from someone else, remove this file and restart"
        ));
    }
    parse_token(place, &read_token(&path)?)
}

/// Parses a token from the first line of a string.
fn parse_token(place: String, text: &str) -> Result<Token, Failure> {
    let token = text.lines().next().unwrap_or_default().trim();
    let is_plain = token.chars().all(|c| c.is_ascii_graphic());
    if token.len() < MIN_TOKEN || !is_plain {
        return Err(Failure::invalid(format!(
            "invalid token in {place}: give at least {MIN_TOKEN} letters, digits and signs"
        )));
    }
    Ok(Token { text: token.to_owned(), place: Some(place) })
}

/// Reads a token. Fails if another user, except root, owns the file and thus knows the token.
fn read_token(path: &Path) -> Result<String, Failure> {
    let fail = |error: std::io::Error| {
        Failure::invalid(format!("cannot read the token in {}: {error}", path.display()))
    };
    let text = read_text(path).map_err(fail)?;
    let owner = foreign_owner(&path.metadata().map_err(fail)?);
    // Root may own the credentials that systemd passes to a service.
    if let Some(owner) = owner.filter(|owner| *owner != 0) {
        return Err(Failure::invalid(format!(
            "user {owner} owns {} and thus knows the token; give a file of your own",
            path.display()
        )));
    }
    Ok(text)
}

/// Returns `bytes` random bytes as hexadecimal digits.
fn hex(bytes: usize) -> Result<String, Failure> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).map_err(Failure::environment)?;
    Ok(HEXLOWER.encode(&random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_token_is_not_stored() {
        let results = tempfile::tempdir().expect("a folder can be made");
        let shown = new_token(results.path(), true).expect("nothing can fail");
        assert_eq!((shown.text.len(), shown.place), (64, None));
        assert!(!results.path().join(TOKEN_FILE).exists());
        let kept = new_token(results.path(), false).expect("it can be written");
        assert!(kept.place.is_some_and(|place| place.ends_with(TOKEN_FILE)));
        let again = new_token(results.path(), false).expect("it can be read");
        assert_eq!(again.text, kept.text, "pages go on after a restart");
        let shown = new_token(results.path(), true).expect("nothing can fail");
        assert_ne!(shown.text, kept.text, "a server on a terminal does not read the file");
        let place = again.place.expect("it is a file");
        assert!(place.contains("serve.token, unchanged since 20"), "{place}");
        let path = results.path().join(TOKEN_FILE);
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(&path, readable).expect("it is ours");
        let refused = new_token(results.path(), false).expect_err("others can read it");
        assert!(refused.message.contains("remove it"), "{}", refused.message);
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, private).expect("it is ours");
        // Only root can give a file to another user.
        if std::os::unix::fs::chown(&path, Some(1), None).is_ok() {
            let refused = new_token(results.path(), false).expect_err("another user owns it");
            assert!(refused.message.contains("owned by others"), "{}", refused.message);
            let given = given_token(Some(&path)).expect_err("another user knows it");
            assert!(given.message.contains("user 1 owns"), "{}", given.message);
        }
        std::fs::rename(&path, results.path().join("other")).expect("it is ours");
        std::os::unix::fs::symlink("other", &path).expect("a link can be made");
        assert!(new_token(results.path(), false).is_err(), "a link");
    }
}
