//! Server for the control socket of a run. The server answers one caller at a time, on a separate
//! thread.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use arbiter_process::{LocalSocket, LocalStream, is_own_peer};
use arbiter_report::{Boards, RecentEvents, Running, note};
use arbiter_run::ControlCommand;
use arbiter_runner::{
    Answer, ControlRequest, ControlSender, LiveGames, bind_control_socket, connect_control_socket,
};

/// Maximum time for a caller to send or receive a line. One thread answers all callers, so other
/// callers have to wait.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum length of a line, in bytes. A caller that sends no line ending must not fill the memory.
const MAX_LINE: u64 = 8 << 10;

/// Maximum number of boards in a reply; users cannot watch more boards.
const MAX_BOARDS: usize = 12;

/// Run that the server controls, with the sources of the server's replies.
#[derive(Debug)]
pub(crate) struct ControlledRun {
    /// Channel of commands to the run.
    pub control_requests: ControlSender,
    /// Games in progress.
    pub live_games: LiveGames,
    /// Latest events.
    pub recent: RecentEvents,
}

/// Control server, which runs until it is closed.
#[derive(Debug)]
pub(crate) struct Server {
    results: PathBuf,
    run: String,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server that forwards commands to the run named `run`, which this process must have
    /// locked. If the server cannot start, prints a note, and the run continues without a socket.
    pub(crate) fn listen(results: &Path, run: &str, controlled: ControlledRun) -> Server {
        let is_over = Arc::new(AtomicBool::new(false));
        let end = is_over.clone();
        let thread = bind_control_socket(results, run).and_then(|socket| {
            let thread = std::thread::Builder::new().name("ctl".into());
            thread.spawn(move || controlled.serve(&socket, &end))
        });
        let thread = thread.map_err(|e| note(&format!("arbiter ctl will not work: {e}"))).ok();
        Server { results: results.to_owned(), run: run.to_owned(), is_over, thread }
    }

    /// Stops the server after it has answered the current caller.
    pub(crate) async fn close(self) {
        let Some(thread) = self.thread else { return };
        // Relaxed ordering suffices: the connection below wakes the thread, and no other data
        // depends on the flag.
        self.is_over.store(true, Ordering::Relaxed);
        // The thread waits in `accept` until there is a connection. If connecting fails, the thread
        // ends with the process.
        if connect_control_socket(&self.results, &self.run).is_ok() {
            // An error means that the thread has panicked, and printed a message.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

impl ControlledRun {
    fn serve(&self, socket: &LocalSocket, is_over: &AtomicBool) {
        loop {
            let call = socket.listener.accept();
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            match call {
                Ok((stream, _)) => {
                    // An error means that the caller has disconnected. This does not affect the
                    // run.
                    let _ = self.answer(&stream);
                }
                // The call fails, for example, if there are too many open files. Without a pause,
                // the loop would keep a processor busy.
                Err(_) => std::thread::sleep(TIMEOUT),
            }
        }
    }

    fn answer(&self, mut stream: &LocalStream) -> io::Result<()> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        // Only the owner may control a run. The kernel reports the user of the caller.
        if !is_own_peer(stream)? {
            return stream.write_all(b"error: this run belongs to another user\n");
        }
        let mut line = String::new();
        let reply = match BufReader::new(stream.take(MAX_LINE)).read_line(&mut line) {
            Ok(_) => self.answer_request(line.trim()),
            Err(_) => Err("no line of text; use pause, resume, drain, stop or status".to_owned()),
        };
        match reply {
            Ok(words) => stream.write_all(format!("ok: {words}\n").as_bytes()),
            Err(words) => stream.write_all(format!("error: {words}\n").as_bytes()),
        }
    }

    fn answer_request(&self, line: &str) -> Result<String, String> {
        let for_json = line.strip_suffix(" json");
        let command: ControlCommand = for_json.unwrap_or(line).parse()?;
        let (reply, answer) = oneshot::channel();
        let over = "the run has ended";
        let request = ControlRequest { command, reply };
        self.control_requests.blocking_send(request).map_err(|_| over)?;
        let Answer { words, status } = answer.blocking_recv().map_err(|_| over)?;
        let words = words?;
        let mut report = Running::of(status);
        if command == ControlCommand::Boards {
            let (shown, count) = self.live_games.snapshots(MAX_BOARDS);
            report.boards = Some(Boards::of(&shown, count));
            report.recent = Some(self.recent.recent());
        } else if for_json.is_none() {
            return Ok(words);
        }
        Ok(serde_json::to_string(&report).expect("numbers and text are JSON"))
    }
}
