//! Thread that starts engines. No engine can outlive this process.

use std::io;
use std::sync::mpsc;

use super::launch::{Launch, SpawnError};
use super::process::{Process, Sink};
use super::reader::Chunk;
use crate::system::cpus;
use crate::system::error_output::ErrorReader;
use crate::system::limits;
use crate::system::process_tree;

type Request = (Launch, Sink, mpsc::Sender<Result<Process, SpawnError>>);

/// Handle of the thread that starts all engines.
///
/// With `PR_SET_PDEATHSIG`, the kernel kills a child when the *thread* that started the child ends.
/// Threads of the async runtime may end at any time, but the spawner thread lives as long as any
/// clone of its `Spawner`.
#[derive(Debug, Clone)]
pub struct Spawner(mpsc::Sender<Request>);

impl Spawner {
    /// Starts the spawner thread. Raises this process's limit on open files to the maximum; child
    /// processes get the original limit. Fails if a thread cannot be started.
    pub fn start() -> io::Result<Spawner> {
        Spawner::start_on(None)
    }

    /// Starts the spawner thread as [`Spawner::start`] does, and pins the thread, and all processes
    /// that the thread starts, to the processor `cpu`, if any. Fails if a thread cannot be started
    /// or may not use the processor.
    pub fn start_on(cpu: Option<usize>) -> io::Result<Spawner> {
        process_tree::adopt_strays();
        limits::raise_open_files();
        // Each caller waits for its answer, so the queue is never longer than the number of
        // callers.
        let (sender, requests) = mpsc::channel::<Request>();
        let (errors, open) = ErrorReader::start()?;
        let (prepared, answer) = mpsc::channel();
        std::thread::Builder::new().name("spawner".into()).spawn(move || {
            let outcome = cpu.map_or(Ok(()), cpus::move_here);
            let is_ready = outcome.is_ok();
            if prepared.send(outcome).is_err() || !is_ready {
                return;
            }
            for (number, (launch, sink, reply)) in (0..).zip(requests) {
                // If the caller no longer waits, the reply is dropped, which kills the process.
                let _ = reply.send(Process::start(&launch, sink, &errors, number));
            }
            drop(open);
        })?;
        answer.recv().map_err(io::Error::other)??;
        Ok(Spawner(sender))
    }

    /// Starts a process. `sink` receives the output of the process in a separate thread; if `sink`
    /// returns `false`, reading stops. Fails if the program cannot be started with the settings of
    /// `launch`.
    pub fn spawn(
        &self,
        launch: &Launch,
        sink: impl FnMut(Chunk) -> bool + Send + 'static,
    ) -> Result<Process, SpawnError> {
        let (reply, answer) = mpsc::channel();
        let request = (launch.clone(), Box::new(sink) as Sink, reply);
        let gone = || SpawnError::of_environment("the process spawner has ended".to_owned());
        self.0.send(request).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_process_stays_on_its_cpu() {
        let cpu = cpus::allowed()[0];
        let (sender, chunks) = mpsc::channel();
        let spawner = Spawner::start_on(Some(cpu)).unwrap();
        let args = ["Cpus_allowed_list", "/proc/self/status"].map(str::to_owned).into();
        let launch = Launch { program: "grep".into(), args, ..Launch::default() };
        let sink = move |chunk| sender.send(chunk).is_ok();
        let _process = spawner.spawn(&launch, sink).unwrap();
        let lines: Vec<String> = chunks.into_iter().flat_map(|chunk: Chunk| chunk.lines).collect();
        assert_eq!(lines, [format!("Cpus_allowed_list:\t{cpu}")]);
        assert!(Spawner::start_on(Some(usize::MAX)).is_err());
    }

    #[test]
    fn a_missing_program_is_named() {
        let launch = Launch { program: "/no/such/engine".into(), ..Launch::default() };
        let error = Spawner::start().unwrap().spawn(&launch, |_| true).unwrap_err();
        assert!(error.to_string().contains("/no/such/engine"), "{error}");
        assert!(!error.is_environment);
    }
}
