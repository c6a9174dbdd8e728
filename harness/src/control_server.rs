//! Answers the calls on the socket of a run, one after another, on a thread of its own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use arbiter_plan::ControlCommand;
use arbiter_process::{LocalSocket, is_own_peer};
use arbiter_report::{Boards, RecentEvents, Running, note};
use arbiter_runner::{
    Answer, ControlRequest, LiveGames, bind_control_socket, connect_control_socket,
};

/// Maximum time for a caller to send or receive a line. One thread answers all callers, so the
/// others wait as long.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum length of a line, in bytes. A caller that sends no line end must not fill the memory.
const MAX_LINE: u64 = 8 << 10;

/// Maximum number of boards in an answer; nobody can look at more.
const MAX_BOARDS: usize = 12;

/// Control server that runs until it is closed.
#[derive(Debug)]
pub(crate) struct Server {
    results: PathBuf,
    run: String,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts to listen for commands to the run, which must be locked by this process, and forwards
    /// them; its games come from `live_games`, its past events from `recent`. A failure is noted,
    /// and the run is played without a socket.
    pub(crate) fn listen(
        results: &Path,
        run: &str,
        control_requests: mpsc::Sender<ControlRequest>,
        live_games: LiveGames,
        recent: RecentEvents,
    ) -> Server {
        let is_over = Arc::new(AtomicBool::new(false));
        let end = is_over.clone();
        let thread = bind_control_socket(results, run).and_then(|socket| {
            let thread = std::thread::Builder::new().name("ctl".into());
            thread.spawn(move || serve(&socket, &end, &control_requests, &(live_games, recent)))
        });
        let thread = thread.map_err(|e| note(&format!("arbiter ctl will not work: {e}"))).ok();
        Server { results: results.to_owned(), run: run.to_owned(), is_over, thread }
    }

    /// Stops the server after the current call.
    pub(crate) async fn close(self) {
        let Some(thread) = self.thread else { return };
        // Relaxed is enough: the connection below wakes the thread, and no other data depends on
        // the flag.
        self.is_over.store(true, Ordering::Relaxed);
        // The thread waits in `accept`, which only a connection ends. Without a socket nobody can
        // wake it, and it ends with the process.
        if connect_control_socket(&self.results, &self.run).is_ok() {
            // An error is a panic of the thread, which has printed its own message.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

fn serve(
    socket: &LocalSocket,
    is_over: &AtomicBool,
    control_requests: &mpsc::Sender<ControlRequest>,
    seen: &(LiveGames, RecentEvents),
) {
    loop {
        let call = socket.listener.accept();
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        match call {
            Ok((stream, _)) => {
                // An error is a caller that left before it was answered, which does not matter to
                // the run.
                let _ = answer(&stream, control_requests, seen);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // For example too many open files. Without a pause the loop would use a whole
            // processor.
            Err(_) => std::thread::sleep(TIMEOUT),
        }
    }
}

fn answer(
    mut stream: &UnixStream,
    control_requests: &mpsc::Sender<ControlRequest>,
    seen: &(LiveGames, RecentEvents),
) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    // Only the owner may steer a run. The kernel says who calls.
    if !is_own_peer(stream)? {
        return stream.write_all(b"error: this run belongs to another user\n");
    }
    let mut line = String::new();
    let reply = match BufReader::new(stream.take(MAX_LINE)).read_line(&mut line) {
        Ok(_) => answer_request(line.trim(), control_requests, seen),
        Err(_) => Err("no line of text; use pause, resume, drain, stop or status".to_owned()),
    };
    match reply {
        Ok(words) => stream.write_all(format!("ok: {words}\n").as_bytes()),
        Err(words) => stream.write_all(format!("error: {words}\n").as_bytes()),
    }
}

fn answer_request(
    line: &str,
    control_requests: &mpsc::Sender<ControlRequest>,
    seen: &(LiveGames, RecentEvents),
) -> Result<String, String> {
    let (command, is_json) = match line.strip_suffix(" json") {
        Some(command) => (command, true),
        None => (line, false),
    };
    let command: ControlCommand = command.parse()?;
    let (reply, answer) = oneshot::channel();
    let over = "the run has ended";
    control_requests.blocking_send(ControlRequest { command, reply }).map_err(|_| over)?;
    let Answer { words, status } = answer.blocking_recv().map_err(|_| over)?;
    let words = words?;
    let report = Running::of(status);
    match (command, is_json) {
        (ControlCommand::Boards, _) => {
            let (live_games, recent) = seen;
            let (shown, count) = live_games.snapshots(MAX_BOARDS);
            Ok(report.with_boards(Boards::of(&shown, count), recent.recent()).json())
        }
        (_, true) => Ok(report.json()),
        (_, false) => Ok(words),
    }
}
