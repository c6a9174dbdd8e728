//! Measurement of one match.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::time::{ClockId, clock_gettime};

use crate::runners::{Match, Runner};

/// Interval between samples of a runner's memory and number of threads.
const SAMPLE_EVERY: Duration = Duration::from_millis(20);

/// Measurements of a match.
#[derive(Clone)]
pub struct Figures {
    /// Number of moves that the engines played.
    pub plies: usize,
    /// CPU time of the runner without its child processes.
    cpu: Duration,
    /// Time from the first `go` to the last `bestmove`.
    play: Duration,
    /// Turnaround times, sorted, in nanoseconds.
    turns: Vec<u64>,
    /// Peak resident set size, in bytes.
    pub resident_bytes: u64,
    /// Peak number of threads.
    pub threads: u64,
    /// Time from the last move to the exit.
    pub end: Duration,
}

impl Figures {
    /// Returns the CPU time of the runner per ply, without its child processes, in µs.
    pub fn cpu_per_ply(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.plies as f64
    }

    /// Returns the plies per second from the first `go` to the last `bestmove` of the match.
    pub fn plies_per_second(&self) -> f64 {
        self.plies as f64 / self.play.as_secs_f64()
    }

    /// Returns a percentile of the turnaround times, in µs; `share` is 0 to 1.
    pub fn turn_percentile(&self, share: f64) -> f64 {
        let index = (self.turns.len() - 1) as f64 * share;
        self.turns[index.round() as usize] as f64 / 1e3
    }
}

/// Plays a match and measures it.
pub fn measure(
    runner: &Runner,
    games: usize,
    concurrency: usize,
    book: &Path,
) -> Result<Figures, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let logs = folder.path().join("logs");
    fs::create_dir(&logs)?;
    let engine = std::env::current_exe()?.with_file_name("instant");
    if !engine.is_file() {
        return Err(format!(
            "{}: not there; build all with 'cargo build --release'",
            engine.display()
        )
        .into());
    }
    let book = &fen_list(book, folder.path())?;
    let (engine, folder) = (engine.as_path(), folder.path());
    let played = Match { engine, clock: "10+0.1", games, concurrency, book, folder };
    let mut child = runner.command(&played).env("INSTANT_LOG", &logs).spawn()?;
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let pid = Pid::from_child(&child);
    let is_over = AtomicBool::new(false);
    let ((resident_bytes, threads), exit) = std::thread::scope(|scope| {
        let sampler = scope.spawn(|| sample(&process.join("status"), &is_over));
        // With `NOWAIT`, the runner remains a zombie, so its CPU time can be read after its exit.
        let ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let exit = now();
        is_over.store(true, Ordering::Relaxed);
        let sampled = sampler.join().map_err(|_| "the sampler panicked")?;
        ended?;
        Ok::<_, Box<dyn Error>>((sampled, exit))
    })?;
    let cpu = cpu_time(&fs::read_to_string(process.join("stat"))?)?;
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{}: {status}", runner.name).into());
    }
    let log = Log::read(&logs)?;
    Ok(Figures {
        plies: log.plies,
        cpu,
        play: Duration::from_nanos(log.last - log.first),
        turns: log.turns,
        resident_bytes,
        threads,
        end: Duration::from_nanos(exit.saturating_sub(log.last)),
    })
}

/// Plays a match at a time control. Returns the games per minute, the plies per game, and the time
/// that engines spend thinking about counted moves, as a percentage of the total time of all slots.
/// This percentage does not depend on the length of the games.
pub fn time(
    runner: &Runner,
    engine: &Path,
    clock: &str,
    [games, concurrency]: [usize; 2],
    book: &Path,
) -> Result<[f64; 3], Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let book = &fen_list(book, folder.path())?;
    let played = Match { engine, clock, games, concurrency, book, folder: folder.path() };
    let start = Instant::now();
    let status = runner.command(&played).status()?;
    let took = start.elapsed().as_secs_f64();
    let pgn = fs::read_to_string(folder.path().join("games.pgn"))?;
    let written = pgn.lines().filter(|line| line.starts_with("[Result ")).count();
    // The exit status is not checked, because Arbiter reports an error for a match with many losses
    // on time although all games were played.
    if written != games {
        return Err(format!("{}: {status}, {written} of {games} games", runner.name).into());
    }
    // Each move has a comment with its time, such as "{+0.12/10 0.061s}" or "{+0.12/10 0.061s,
    // White mates}".
    let times = pgn.split('{').skip(1).filter_map(|comment| {
        let words = comment.split(['}', ' ', ',', '\n']);
        words.filter_map(|word| word.strip_suffix('s')?.parse::<f64>().ok()).next()
    });
    let (plies, search) = times.fold((0.0, 0.0), |(plies, sum), time| (plies + 1.0, sum + time));
    let games = games as f64;
    Ok([60.0 * games / took, plies / games, 100.0 * search / took / concurrency as f64])
}

/// Writes the positions of an EPD book as complete FENs, which every runner can read.
fn fen_list(book: &Path, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let mut fens = String::new();
    for line in fs::read_to_string(book)?.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
        fens.extend([fields.join(" ").as_str(), " 0 1\n"]);
    }
    let path = folder.join("book.epd");
    fs::write(&path, fens)?;
    Ok(path)
}

/// Returns the time of the monotonic clock, which all processes share, in nanoseconds.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Samples the file `status` until `is_over` is set. Returns the peak resident set size, in bytes,
/// and the peak number of threads.
fn sample(status: &Path, is_over: &AtomicBool) -> (u64, u64) {
    let (mut resident_bytes, mut threads) = (0, 0);
    while !is_over.load(Ordering::Relaxed) {
        if let Ok(status) = fs::read_to_string(status) {
            resident_bytes = resident_bytes.max(field(&status, "VmHWM:") * 1024);
            threads = threads.max(field(&status, "Threads:"));
        }
        std::thread::sleep(SAMPLE_EVERY);
    }
    (resident_bytes, threads)
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Returns the user and system CPU time of a process without its children, from the contents of
/// `/proc/PID/stat`.
fn cpu_time(stat: &str) -> Result<Duration, Box<dyn Error>> {
    let (_, after_name) = stat.rsplit_once(')').ok_or("stat of the runner cannot be read")?;
    // `utime` and `stime` are fields 14 and 15 of proc_pid_stat(5); the first field after the name
    // is field 3.
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let mut ticks = 0;
    for _ in 0..2 {
        ticks += fields.next().ok_or("stat of the runner is too short")?.parse::<u64>()?;
    }
    let per_second = rustix::param::clock_ticks_per_second();
    Ok(Duration::from_secs_f64(ticks as f64 / per_second as f64))
}

/// Times that the engines recorded.
struct Log {
    plies: usize,
    /// Time of the first `go`, in nanoseconds.
    first: u64,
    /// Time of the last `bestmove`, in nanoseconds.
    last: u64,
    /// Turnaround times, sorted, in nanoseconds.
    turns: Vec<u64>,
}

impl Log {
    fn read(folder: &Path) -> Result<Log, Box<dyn Error>> {
        // Times by position. A position that occurred more than once has no time, because its
        // previous or next move is ambiguous.
        let mut bestmoves: HashMap<u64, Option<u64>> = HashMap::new();
        let mut goes: HashMap<u64, Option<u64>> = HashMap::new();
        let record = |map: &mut HashMap<u64, Option<u64>>, key, at| {
            map.entry(key).and_modify(|time| *time = None).or_insert(Some(at));
        };
        let (mut plies, mut first, mut last) = (0, u64::MAX, 0);
        for entry in fs::read_dir(folder)? {
            for line in fs::read_to_string(entry?.path())?.lines() {
                let words: Vec<&str> = line.split(' ').collect();
                let [before, at, after, sent] = words[..] else { return Err(line.into()) };
                let (at, sent): (u64, u64) = (at.parse()?, sent.parse()?);
                record(&mut goes, u64::from_str_radix(before, 16)?, at);
                record(&mut bestmoves, u64::from_str_radix(after, 16)?, sent);
                plies += 1;
                first = first.min(at);
                last = last.max(sent);
            }
        }
        let turn =
            |(key, at): (&u64, &Option<u64>)| Some((*goes.get(key)?)?.saturating_sub((*at)?));
        let mut turns: Vec<u64> = bestmoves.iter().filter_map(turn).collect();
        turns.sort_unstable();
        if turns.is_empty() {
            return Err("no engine answered another: the match was not played".into());
        }
        Ok(Log { plies, first, last, turns })
    }
}
