//! Reader of the stderr of engines.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, PipeWriter, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::process::ChildStderr;
use std::sync::{Arc, Mutex};

use rustix::event::epoll;

use crate::lock;
use crate::reader::{LineReader, READ_BYTES};
use crate::tail::Tail;

/// Event number of the pipe whose closing signals that no more engines will start. No engine has
/// this number.
const END: u64 = u64::MAX;

/// Reader of the stderr of all engines of a spawner. One thread suffices, because engines write
/// little to stderr.
pub(crate) struct ErrorReader {
    epoll: OwnedFd,
    /// Engines with open stderr, by number. File descriptors cannot identify engines, because a
    /// descriptor may be reused while events of the previous file are still pending.
    outputs: Mutex<HashMap<u64, ErrorOutput>>,
}

struct ErrorOutput {
    reader: LineReader<ChildStderr>,
    log: Option<File>,
    tail: Tail,
}

impl ErrorReader {
    /// Starts the reader thread, which ends when the returned pipe has been dropped and all
    /// processes have closed their standard error.
    pub(crate) fn start() -> io::Result<(Arc<ErrorReader>, PipeWriter)> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let (end, open) = io::pipe()?;
        // The kernel reports a closed pipe even without flags.
        epoll::add(&epoll, &end, epoll::EventData::new_u64(END), epoll::EventFlags::empty())?;
        let reader = Arc::new(ErrorReader { epoll, outputs: Mutex::default() });
        let errors = reader.clone();
        let thread = std::thread::Builder::new().name("error reader".into());
        thread.spawn(move || {
            errors.read(|| true);
            // If the pipe stayed registered, each further wait would report the pipe again.
            let _ = epoll::delete(&errors.epoll, &end);
            errors.read(|| !lock(&errors.outputs).is_empty());
        })?;
        Ok((reader, open))
    }

    /// Adds the stderr of the engine with the unique `number`. The thread reads stderr to its end
    /// and appends the lines to `log`, if any, and to `tail`.
    pub(crate) fn add(
        &self,
        number: u64,
        stderr: ChildStderr,
        log: Option<File>,
        tail: Tail,
    ) -> io::Result<()> {
        // The lock is taken before the pipe is watched, so that the thread finds the entry at the
        // first event.
        let mut outputs = lock(&self.outputs);
        epoll::add(&self.epoll, &stderr, epoll::EventData::new_u64(number), epoll::EventFlags::IN)?;
        let reader = LineReader::new(stderr);
        outputs.insert(number, ErrorOutput { reader, log, tail });
        Ok(())
    }

    /// Reads until `goes_on` returns `false` or an event with the number [`END`] arrives.
    fn read(&self, goes_on: impl Fn() -> bool) {
        let mut buffer = vec![0; READ_BYTES];
        while goes_on() {
            let mut events = [MaybeUninit::uninit(); 16];
            // A signal may interrupt the wait.
            let Ok((events, _)) = epoll::wait(&self.epoll, &mut events, None) else { continue };
            for event in &*events {
                let id = event.data.u64();
                if id == END {
                    return;
                }
                // The lock is not held during the read, because a slow log must not delay the start
                // of engines.
                let Some(mut output) = lock(&self.outputs).remove(&id) else { continue };
                if output.read(&mut buffer) {
                    lock(&self.outputs).insert(id, output);
                } else {
                    // Closing the pipe may not remove the pipe from `epoll`, because a process that
                    // is being started may have a copy of the descriptor.
                    let _ = epoll::delete(&self.epoll, &output.reader.source);
                }
            }
        }
    }
}

impl ErrorOutput {
    /// Reads once. Returns whether there may be more output.
    fn read(&mut self, buffer: &mut [u8]) -> bool {
        let chunk = self.reader.read(buffer);
        for line in &chunk.lines {
            // If the log can no longer be written, the game continues without the log.
            self.log = self.log.take().filter(|mut log| writeln!(log, "{line}").is_ok());
        }
        let goes_on = !chunk.closed;
        self.tail.take(chunk);
        goes_on
    }
}
