//! `arbiter serve`: a live page of the runs of a results folder.
//!
//! It reads the store and asks running runs at their sockets, as anybody may who owns them; it plays
//! nothing. It runs at the lowest priority, so that engines do not notice it.

mod start;

use std::io::{IsTerminal, stderr};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use data_encoding::HEXLOWER;
use rustix::process::geteuid;
use tokio::net::TcpListener;

use self::start::TestStarter;
#[cfg(feature = "cluster")]
use crate::fleet::{AccessArgs, ServerName};
use crate::{Failure, LogArgs, MetricsArgs, ResultsArg, runtime};
use arbiter_process::{lower_priority, read_text, write_secret};
use arbiter_report::note;
use arbiter_runner::Signals;
use arbiter_serve::{ClusterMonitor, Guard, MIN_TOKEN, Site, Starter};
use arbiter_store::StoreError;

/// Where a token is looked for that no file gives.
const TOKEN_VARIABLE: &str = "ARBITER_TOKEN";

/// The file in the results folder that keeps a token which nobody gave and no terminal shows.
const TOKEN_FILE: &str = "serve.token";

/// Flags of `arbiter serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Everybody who can reach the address sees the runs. Who has the token may also pause, resume, drain
and stop those that are being played on this machine by the same user: open the address that is
printed with the token, or enter the token on the page of a run. A token that nobody gave is printed
on a terminal only: elsewhere, as in a log or systemd's journal, it is kept in the results folder's
serve.token, which only its owner can read, and the next server takes it from there. Programs send
'Authorization: Bearer TOKEN' with POST /runs/RUN/pause, resume, drain or stop. With --start the
list has a form for a new test (POST /start?dev=…&base=…&limit=…&elo0=…&elo1=…&pairs=…&name=…).
It is played here as by 'arbiter sprt', with arbiter.toml, one at a time, writes to RUN.log in the
results folder, and goes on when this server ends. Its engines are registered ones, bundled ones, or
revisions, which are built.

It listens on this machine only, unless --listen says otherwise. From another machine it is best
reached through 'ssh -L 7878:localhost:7878 HOST'.

Connections from which no whole request comes within 10 s, or that take in nothing for 20 s, are
closed; at 256 a new one takes the place of the oldest from the address that has most.

Exit codes: 0 when it is ended by Ctrl-C or a signal; 2 for bad usage, 3 for a bad token, 7 if it
cannot listen or the folder of --results cannot be made.

Examples:
  arbiter serve
  arbiter serve --listen 0.0.0.0:7878 --token-file token")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    results: ResultsArg,
    /// Address and port to listen on; port 0 takes one that is free
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// Name by which browsers may call this machine, besides localhost and addresses; may be
    /// repeated
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// File with the token, in its first line [default: $ARBITER_TOKEN, else one is made]
    #[arg(long, value_name = "FILE", conflicts_with = "read_only")]
    token_file: Option<PathBuf>,
    /// Let nobody steer runs
    #[arg(long)]
    read_only: bool,
    /// Let those who have the token start tests, too
    #[arg(long, conflicts_with = "read_only")]
    start: bool,
    /// NATS server whose workers and runs are shown, too: the coordinator's join file, *.join, or a URL
    /// such as tls://host:4222
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

/// What whoever steers runs has to know.
#[derive(Debug, PartialEq, Eq)]
struct Token {
    text: String,
    /// Where its user finds it; if nowhere, it has to be printed.
    place: Option<String>,
}

/// Carries out the command.
pub(crate) fn run(args: ServeArgs) -> Result<(), Failure> {
    let given = if args.read_only { None } else { given_token(args.token_file.as_deref())? };
    let results = args.results.folder()?;
    // The store may come later, but into a folder that can be.
    if !results.is_dir() {
        std::fs::create_dir_all(&results)
            .map_err(|source| StoreError::Folder { folder: results.clone(), source })?;
        note(&format!("made {}, which has no runs yet", results.display()));
    }
    let token = match given {
        None if !args.read_only => Some(new_token(&results, stderr().is_terminal())?),
        given => given,
    };
    let guard = Guard::new(args.hosts, token.as_ref().map(|token| token.text.as_str()));
    let starter = args.start.then(|| TestStarter::new(results.clone())).transpose()?;
    let starter = starter.map(|starter| Arc::new(starter) as Arc<dyn Starter>);
    // To be as quick as usual is no reason not to serve.
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
                "cannot listen on {}: {error}; give another address or port with --listen (port 0 takes \
                 one that is free)",
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
            // Pages notice, and come back when there is a server again.
            _ = signals.next() => Ok(()),
        }
    });
    // Whoever waits for a start is not waited for.
    runtime.shutdown_background();
    done
}

fn announce(address: SocketAddr, token: Option<&Token>) {
    note(&format!("serving http://{address}/ until Ctrl-C"));
    note(&match token {
        Some(Token { place: Some(place), .. }) => {
            format!("runs can be steered with the token in {place}")
        }
        Some(Token { text, .. }) => format!("to steer runs, open http://{address}/#token={text}"),
        None => "runs cannot be steered".to_owned(),
    });
    if !address.ip().is_loopback() {
        note(
            "everybody who can reach this address sees the runs, and what is sent can be overheard",
        );
    }
}

/// The token that the user gave.
fn given_token(file: Option<&Path>) -> Result<Option<Token>, Failure> {
    match (file, std::env::var(TOKEN_VARIABLE)) {
        (Some(path), _) => checked(path.display().to_string(), &read_token(path)?).map(Some),
        (None, Ok(text)) => checked(format!("${TOKEN_VARIABLE}"), &text).map(Some),
        (None, Err(_)) => Ok(None),
    }
}

/// The token of a server that got none. One that is shown is not kept; a log may be read by others.
fn new_token(results: &Path, is_shown: bool) -> Result<Token, Failure> {
    if is_shown {
        return Ok(Token { text: hex(32)?, place: None });
    }
    let path = results.join(TOKEN_FILE);
    write_secret(&path, &hex(32)?).map_err(|error| {
        Failure::environment(format!(
            "cannot keep a token in {}: {error}; give --token-file or --read-only",
            path.display()
        ))
    })?;
    // Somebody else may have put one there, to know it.
    let kept = path.symlink_metadata().map_err(Failure::environment)?;
    if !kept.is_file() || kept.uid() != geteuid().as_raw() || kept.mode() & 0o077 != 0 {
        return Err(Failure::invalid(format!(
            "{} can be read by others, or is theirs: remove it, and a new token is made",
            path.display()
        )));
    }
    checked(path.display().to_string(), &read_token(&path)?)
}

/// A text as a token, if it can be one.
fn checked(place: String, text: &str) -> Result<Token, Failure> {
    let token = text.lines().next().unwrap_or_default().trim();
    let is_plain = token.chars().all(|c| c.is_ascii_graphic());
    if token.len() < MIN_TOKEN || !is_plain {
        return Err(Failure::invalid(format!(
            "the token in {place} is not one: give at least {MIN_TOKEN} letters, digits and signs"
        )));
    }
    Ok(Token { text: token.to_owned(), place: Some(place) })
}

fn read_token(path: &Path) -> Result<String, Failure> {
    read_text(path).map_err(|error| {
        Failure::invalid(format!("cannot read the token in {}: {error}", path.display()))
    })
}

/// So many bytes that nobody can guess, as hexadecimal digits.
fn hex(bytes: usize) -> Result<String, Failure> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).map_err(Failure::environment)?;
    Ok(HEXLOWER.encode(&random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_shown_is_not_kept() {
        let results = tempfile::tempdir().expect("a folder can be made");
        let shown = new_token(results.path(), true).expect("nothing can fail");
        assert_eq!((shown.text.len(), shown.place), (64, None));
        assert!(!results.path().join(TOKEN_FILE).exists());
        let kept = new_token(results.path(), false).expect("it can be written");
        assert!(kept.place.is_some_and(|place| place.ends_with(TOKEN_FILE)));
        let again = new_token(results.path(), false).expect("it can be read");
        assert_eq!(again.text, kept.text, "pages go on after a restart");
        let path = results.path().join(TOKEN_FILE);
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(&path, readable).expect("it is ours");
        let refused = new_token(results.path(), false).expect_err("others can read it");
        assert!(refused.message.contains("remove it"), "{}", refused.message);
        std::fs::rename(&path, results.path().join("other")).expect("it is ours");
        std::os::unix::fs::symlink("other", &path).expect("a link can be made");
        assert!(new_token(results.path(), false).is_err(), "a link");
    }
}
