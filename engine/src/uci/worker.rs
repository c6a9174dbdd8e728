//! Worker: the search thread, which owns the search memory and takes jobs from a queue in order, so
//! that the memory does not change during a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use super::output::Output;
use super::print;
use crate::bench;
use crate::chess::Game;
use crate::chess::perft::{Settings, divide};
use crate::chess::uci_move::{self, CastlingForm};
use crate::search::{
    Configuration, Limits, Memory, Personality, Request, STACK_BYTES, Signals, search,
};
use crate::time::Timer;
use crate::tt::OutOfMemory;

/// Exit code after a panic of the worker: `EX_SOFTWARE` (internal error) in `sysexits.h`.
const EXIT_BUG: i32 = 70;

/// A job for the worker.
pub(super) enum Job {
    /// Search, and print the best move.
    Search(Box<SearchJob>),
    /// Run perft, and print the node count of each move.
    Perft { game: Box<Game>, depth: u32, form: CastlingForm, signals: Arc<Signals> },
    /// Run the bench.
    Bench { depth: Option<u32>, configuration: Configuration, signals: Arc<Signals> },
    /// Clear the search memory.
    Clear,
    /// Replace the tables of the search with empty tables for `personality`; the new transposition
    /// table has `megabytes` MiB. `None` keeps the size.
    ReplaceTable { personality: Personality, megabytes: Option<usize> },
    /// Set the number of search threads.
    SetThreads(usize),
    /// Print `readyok`.
    Ready,
}

/// Input for a search.
pub(super) struct SearchJob {
    pub(super) game: Game,
    pub(super) limits: Limits,
    pub(super) timer: Timer,
    pub(super) signals: Arc<Signals>,
    pub(super) configuration: Configuration,
    pub(super) form: CastlingForm,
    /// `true` if the best move is printed only after `stop`, as `go infinite` requires.
    pub(super) infinite: bool,
}

/// Handle with which the session controls the worker.
pub(super) struct Worker {
    queue: Option<Sender<Job>>,
    busy: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the worker thread.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if there is not enough memory for the transposition table or the
    /// stack of the thread.
    pub(super) fn start(hash_mb: usize, output: Output) -> Result<Worker, OutOfMemory> {
        let mut memory = Memory::new(hash_mb)?;
        let busy = Arc::new(AtomicBool::new(false));
        let (queue, jobs) = channel();
        let flag = Arc::clone(&busy);
        let thread = thread::Builder::new()
            .name("search".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || serve(&jobs, &mut memory, &output, &flag))
            .map_err(|_| OutOfMemory { megabytes: STACK_BYTES >> 20 })?;
        Ok(Worker { queue: Some(queue), busy, thread: Some(thread) })
    }

    /// Queues a job.
    pub(super) fn send(&self, job: Job) {
        if matches!(job, Job::Search(_) | Job::Perft { .. } | Job::Bench { .. }) {
            self.busy.store(true, Ordering::Release);
        }
        if let Some(queue) = &self.queue {
            // Sending fails only after the worker has panicked, and a panic of the worker ends the
            // process.
            let _dead = queue.send(job);
        }
    }

    /// Returns whether a search, perft or bench is running or queued.
    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// Wakes a worker that waits to print a best move, so that the worker checks the signals.
    pub(super) fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

/// Waits until the queued jobs are finished. The session must have stopped these jobs.
impl Drop for Worker {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// Guard that exits the process if the worker panics. Without the guard, the GUI would wait
/// forever.
struct ExitOnPanic;

impl Drop for ExitOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::exit(EXIT_BUG);
        }
    }
}

fn serve(jobs: &Receiver<Job>, memory: &mut Memory, output: &Output, busy: &AtomicBool) {
    let _guard = ExitOnPanic;
    for job in jobs {
        match job {
            Job::Search(job) => finish(busy, output, Some(run_search(&job, memory, output))),
            Job::Perft { game, depth, form, signals } => {
                finish(busy, output, run_perft(&game, depth, form, &signals));
            }
            Job::Bench { depth, configuration, signals } => {
                finish(busy, output, Some(run_bench(depth, configuration, &signals)));
            }
            Job::Clear => memory.clear(),
            Job::ReplaceTable { personality, megabytes } => {
                replace_table(memory, personality, megabytes, output);
            }
            Job::SetThreads(threads) => memory.set_threads(threads),
            Job::Ready => output.line("readyok"),
        }
    }
}

/// Marks the worker as free, and prints the reply to a job. The reply is printed last, because the
/// GUI may send the next command immediately after the reply.
fn finish(busy: &AtomicBool, output: &Output, reply: Option<String>) {
    busy.store(false, Ordering::Release);
    if let Some(reply) = reply {
        output.line(&reply);
    }
}

fn replace_table(
    memory: &mut Memory,
    personality: Personality,
    megabytes: Option<usize>,
    output: &Output,
) {
    let megabytes = megabytes.unwrap_or(memory.megabytes());
    // The new table is allocated while the old table still exists. The pages of the new table are
    // not touched yet, so the allocation needs little additional memory.
    if let Err(error) = memory.replace(personality, megabytes) {
        output.note(&format!("{error}; the table keeps its {} MiB", memory.megabytes()));
    }
}

fn run_bench(depth: Option<u32>, configuration: Configuration, signals: &Signals) -> String {
    match bench::run(depth, configuration, signals) {
        Ok(_) if signals.is_stopped() => "info string the bench was stopped".to_owned(),
        Ok(result) => result.to_string(),
        Err(error) => format!("info string {error}"),
    }
}

fn run_search(job: &SearchJob, memory: &mut Memory, output: &Output) -> String {
    let SearchJob { game, limits, timer, signals, configuration, form, infinite } = job;
    let request = Request { game, limits, timer, signals };
    let mut reported_nodes = 0;
    let result = search(*configuration, request, memory, &mut |report| {
        // Iterations without a PV are not printed. Only studies of the search use such iterations.
        if !report.line.is_empty() {
            output.line(&print::info(report, timer.elapsed(), *form));
            reported_nodes = report.nodes;
        }
    });
    if timer.counts_nodes() && result.nodes > reported_nodes {
        // A GUI that measures time in nodes needs the node count of an unfinished iteration, too.
        output.line(&print::nodes(result.nodes, timer.elapsed()));
    }
    if result.threads < memory.threads() {
        let used = result.threads;
        let wanted = memory.threads();
        output.note(&format!("only {used} of {wanted} threads could be started"));
    }
    if result.line.is_empty() {
        output.line(&format!("info depth 0 score {}", print::score(result.score)));
    }
    while (*infinite || signals.is_pondering()) && !signals.is_stopped() {
        // `park` can return spuriously, so the signals are checked again each time.
        thread::park();
    }
    print::best_move(&result, *form)
}

/// Returns the node counts as text; `None` if perft was stopped.
fn run_perft(game: &Game, depth: u32, form: CastlingForm, signals: &Signals) -> Option<String> {
    let stopped = || signals.is_stopped();
    let counts = divide(game.position(), depth, &Settings::default(), &stopped);
    if stopped() {
        return None;
    }
    let mut sum = u64::from(depth == 0);
    let mut text = String::new();
    for (mv, count) in counts {
        sum += count;
        text.push_str(&format!("{}: {count}\n", uci_move::format(mv, form)));
    }
    Some(text + &format!("\nNodes searched: {sum}"))
}
