//! Answers the calls on the socket of a run, one after another, on a thread of its own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::net::Shutdown;
use rustix::net::sockopt::socket_peercred;
use tokio::sync::{mpsc, oneshot};

use arbiter_plan::run::control::Command;
use arbiter_report::boards::Running;
use arbiter_report::terminal::note;
use arbiter_runner::control_socket::Socket;
use arbiter_runner::dispatch::{Answer, Wish};
use arbiter_runner::gallery::Gallery;

/// How long a caller may take to say or hear a line; others wait for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest line that is read.
const MAX_LINE: u64 = 8 << 10;

/// Most boards that are shown; nobody can look at more.
const MAX_BOARDS: usize = 12;

/// Listens as long as it lives.
#[derive(Debug)]
pub struct Server(Option<(OwnedFd, JoinHandle<()>)>);

impl Server {
    /// Listens for commands to the run, which must be ours, and sends them on; its games are seen in
    /// `gallery`. A run that cannot be steered is played all the same, and says so.
    pub fn listen(
        results: &Path,
        run: &str,
        wishes: mpsc::Sender<Wish>,
        gallery: Gallery,
    ) -> Server {
        let begin = || -> io::Result<(OwnedFd, JoinHandle<()>)> {
            let socket = Socket::bind(results, run)?;
            let handle = socket.handle()?;
            let thread = std::thread::Builder::new().name("ctl".into());
            Ok((handle, thread.spawn(move || serve(&socket, &wishes, &gallery))?))
        };
        Server(begin().map_err(|error| note(&format!("arbiter ctl will not work: {error}"))).ok())
    }

    /// Ends it, after the call in hand.
    pub async fn close(self) {
        if let Some((handle, thread)) = self.0 {
            // Wakes the thread; it can only fail if that is not needed any more.
            let _ = rustix::net::shutdown(&handle, Shutdown::Both);
            // A panic has printed itself.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

fn serve(socket: &Socket, wishes: &mpsc::Sender<Wish>, gallery: &Gallery) {
    loop {
        match socket.listener.accept() {
            Ok((stream, _)) => {
                // A caller that goes away before it was answered is no loss.
                let _ = answer(&stream, wishes, gallery);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.raw_os_error() == Some(libc::EMFILE) => {
                std::thread::sleep(PATIENCE);
            }
            Err(_) => return,
        }
    }
}

fn answer(
    mut stream: &UnixStream,
    wishes: &mpsc::Sender<Wish>,
    gallery: &Gallery,
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let caller = socket_peercred(stream)?.uid;
    if caller != rustix::process::geteuid() && !caller.is_root() {
        return stream.write_all(b"error: this run belongs to another user\n");
    }
    let mut line = String::new();
    let reply = match BufReader::new(stream.take(MAX_LINE)).read_line(&mut line) {
        Ok(_) => carry_out(line.trim(), wishes, gallery),
        Err(_) => Err("no line of text came; say pause, resume, drain, stop, status".to_owned()),
    };
    match reply {
        Ok(words) => stream.write_all(format!("ok: {words}\n").as_bytes()),
        Err(words) => stream.write_all(format!("error: {words}\n").as_bytes()),
    }
}

fn carry_out(line: &str, wishes: &mpsc::Sender<Wish>, gallery: &Gallery) -> Result<String, String> {
    let (command, is_json) = match line.strip_suffix(" json") {
        Some(command) => (command, true),
        None => (line, false),
    };
    let command: Command = command.parse().map_err(|error| format!("{error}"))?;
    let (reply, answer) = oneshot::channel();
    let over = "the run is over";
    wishes.blocking_send(Wish { command, reply }).map_err(|_| over)?;
    let Answer { words, status } = answer.blocking_recv().map_err(|_| over)?;
    let words = words?;
    let report = Running::of(&status);
    match (command, is_json) {
        (Command::Boards, _) => {
            let (shown, count) = gallery.look(MAX_BOARDS);
            Ok(report.with_boards(&shown, count).json())
        }
        (_, true) => Ok(report.json()),
        (_, false) => Ok(words),
    }
}
