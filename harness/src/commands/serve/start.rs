//! `arbiter serve --start`: conversion of a form on a page to a command line of this program.
//!
//! A user with the token must not be able to start arbitrary programs, so every field of the form
//! is parsed before it becomes part of the command line. An engine must be bundled, registered, or
//! a revision. A registered engine is passed as `engine=` and a revision as `rev=`, so that the new
//! process never starts a program in PATH.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{
    bundled_engine::evaluation, engine_builds::own_binary, engine_names::registered,
    failure::Failure,
};
use arbiter_plan::{BUNDLED, EngineSpec};
use arbiter_process::{
    Links, TOKEN_VARIABLE, lock, open_output, set_own_group, terminate, try_lock,
};
use arbiter_protocol::TimeControl;
use arbiter_serve::{NewTest, StartResult, Starter};
use arbiter_store::{RunLock, Store};

/// Maximum length of an engine's name, in bytes.
const MAX_NAME: usize = 100;

/// Maximum number of pairs. This limit, [`MAX_NODES`], [`MAX_DEPTH`] and [`MAX_TIME`] prevent a
/// user with the token from keeping the machine busy for too long.
const MAX_PAIRS: u64 = 1_000_000;
/// Maximum number of nodes per move.
const MAX_NODES: u64 = 1_000_000_000;
/// Maximum depth of a search, in plies.
const MAX_DEPTH: u32 = 100;

/// Maximum thinking time of one side for a hundred moves.
const MAX_TIME: Duration = Duration::from_secs(4 * 3600);

/// Interval at which the store is checked for the new run, before the reply is sent to the page.
const LOOK: Duration = Duration::from_millis(100);
/// Maximum number of checks at the interval [`LOOK`], four seconds in total. An immediate error is
/// reported within this time; a build takes longer.
const LOOKS: u32 = 40;

/// Name of the file, in the results folder, that contains the name of the last started run. The
/// process of this run holds a lock on the file.
const LOCK: &str = ".started";

/// Start of a process, and the wait for its exit.
type Job = Box<dyn FnOnce() + Send>;

/// Name of the run in progress, and its process. A panic cannot leave the value invalid.
type ActiveRun = Arc<Mutex<Option<(String, Child)>>>;

/// Starter of tests. A test continues after this process has exited, as under nohup.
#[derive(Debug)]
pub(super) struct TestStarter {
    results: PathBuf,
    program: PathBuf,
    /// Channel to the thread that starts programs and waits for their exit.
    jobs: Sender<Job>,
    /// Run in progress that this process has started, if any.
    played: ActiveRun,
}

impl TestStarter {
    /// Creates the starter, and the thread that starts the processes. Must be called before the
    /// priority of the calling thread is lowered, so that engines play at normal priority.
    pub(super) fn new(results: PathBuf) -> Result<TestStarter, Failure> {
        let (jobs, received) = channel::<Job>();
        std::thread::spawn(move || received.into_iter().for_each(|job| job()));
        Ok(TestStarter { results, program: own_binary()?, jobs, played: ActiveRun::default() })
    }

    fn has_run(&self, run: &str) -> bool {
        Store::observe(&self.results).is_ok_and(|store| store.run(run).is_ok())
    }

    /// Starts a test in a separate process group, with its output in a log. Waits at most six
    /// seconds for the run to be stored.
    fn launch(&self, run: &str, flags: Vec<String>) -> io::Result<StartResult> {
        let mut lock = open(&self.results.join(LOCK), File::options().write(true))?;
        if !try_lock(&lock)? {
            let mut played = String::new();
            lock.take(MAX_NAME as u64).read_to_string(&mut played)?;
            return Ok(StartResult::Busy(played));
        }
        if self.has_run(run) {
            return Ok(StartResult::Refused(format!("Run {run} already exists.")));
        }
        lock.set_len(0)?;
        lock.write_all(run.as_bytes())?;
        let path = self.results.join(format!("{run}.log"));
        let mut log = open(&path, File::options().append(true))?;
        let begin = log.seek(SeekFrom::End(0))?;
        let mut command = Command::new(&self.program);
        command
            .arg("sprt")
            .arg("--results")
            .arg(&self.results)
            .args(flags)
            // The engines and builds of the run must not get the token.
            .env_remove(TOKEN_VARIABLE)
            // The run does not read its standard input, so this descriptor can hold the lock until
            // the run ends, even if this process is killed.
            .stdin(lock)
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?);
        set_own_group(&mut command);
        let (sender, ended) = channel();
        let played = Arc::clone(&self.played);
        let name = run.to_owned();
        // Sending the exit status fails if the reply to the page has already been sent and the
        // receiver has been dropped.
        let job = move || drop(sender.send(play(&played, name, command)));
        // Sending the job fails only if the thread has panicked; in this case, the following wait
        // also fails.
        let _ = self.jobs.send(Box::new(job));
        for _ in 0..LOOKS {
            let ended = ended.recv_timeout(LOOK);
            if self.has_run(run) {
                return Ok(StartResult::Run);
            }
            match ended {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::Other.into()),
                Ok(status) => {
                    let mut output = String::new();
                    log.seek(SeekFrom::Start(begin))?;
                    log.read_to_string(&mut output)?;
                    // The reply contains the reason, so the log is not needed. Without this
                    // clean-up, each rejected test would leave a log behind.
                    match begin {
                        0 => std::fs::remove_file(&path)?,
                        _ => log.set_len(begin)?,
                    }
                    let line = output.lines().find(|line| line.starts_with("error"));
                    let how = format!("The process ended with {}; is there space left?", status?);
                    return Ok(StartResult::Refused(line.map_or(how, str::to_owned)));
                }
            }
        }
        Ok(StartResult::Prepared)
    }
}

impl Starter for TestStarter {
    fn start(&self, wanted: &NewTest) -> StartResult {
        let begun = flags(wanted).map(|flags| self.launch(&wanted.name, flags));
        let started = begun.and_then(|begun| begun.map_err(|error| error.to_string()));
        started.unwrap_or_else(StartResult::Refused)
    }

    fn stop(&self, run: &str) -> bool {
        match &*lock(&self.played) {
            // The child has not been waited for, so its process ID cannot belong to another
            // process.
            Some((played, child)) if played == run => terminate(child).is_ok(),
            _ => false,
        }
    }
}

/// Starts a program and waits for its exit; other threads can stop the program in the meantime.
fn play(played: &ActiveRun, run: String, mut command: Command) -> io::Result<ExitStatus> {
    *lock(played) = Some((run, command.spawn()?));
    // The command contains a copy of the lock's descriptor. This copy would keep the lock after the
    // end of the run.
    drop(command);
    loop {
        let mut guard = lock(played);
        let Some((_, child)) = &mut *guard else { return Err(io::ErrorKind::NotFound.into()) };
        if let Some(status) = child.try_wait()? {
            *guard = None;
            return Ok(status);
        }
        drop(guard);
        // The mutex is released during the sleep, so that `stop` can reach the child.
        std::thread::sleep(LOOK);
    }
}

/// Opens a file without following links; errors name the file.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = open_output(path, options.read(true), Links::Refused);
    file.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Returns the flags of a test; the error names an invalid field.
fn flags(wanted: &NewTest) -> Result<Vec<String>, String> {
    RunLock::check_new_name(&wanted.name).map_err(|error| error.to_string())?;
    let elo = |text: &str| {
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| format!("'{text}' is not a number of Elo"))
    };
    let pairs = wanted.pairs.parse().ok().filter(|pairs| (1..=MAX_PAIRS).contains(pairs));
    let pairs: u64 = pairs.ok_or_else(|| format!("give 1 to {MAX_PAIRS} pairs"))?;
    Ok(vec![
        format!("--engine={}", engine(&wanted.dev)?),
        format!("--engine={}", engine(&wanted.base)?),
        format!("--each={}", limit(&wanted.limit)?),
        format!("--elo0={}", elo(&wanted.elo0)?),
        format!("--elo1={}", elo(&wanted.elo1)?),
        format!("--pairs={pairs}"),
        format!("--name={}", wanted.name),
    ])
}

/// Returns, as a value of `--engine`, the engine that a word names: bundled, registered (`engine=`)
/// or a revision (`rev=`), never a file or a program in PATH.
fn engine(word: &str) -> Result<String, String> {
    let bundled = word.strip_prefix(BUNDLED).map(|rest| rest.strip_prefix(':').ok_or(rest));
    match bundled {
        Some(Ok(eval)) => return evaluation(Some(eval), None).map(|_| word.to_owned()),
        Some(Err("")) => return Ok(word.to_owned()),
        Some(Err(_)) | None => {}
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._+/~^".contains(c);
    // A word that starts with `-` would be a flag.
    let is_name = word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.len() <= MAX_NAME
        && word.chars().all(is_plain)
        // Neither a range of commits (`a..b`) nor a parent folder (`..`) is a revision.
        && !word.contains("..");
    if !is_name {
        let expected = "expected a registered engine, bundled, bundled:EVAL or a revision";
        return Err(format!("'{word}': {expected}"));
    }
    let known = registered().map_err(|failure| failure.message)?;
    let key = if known.contains_key(word) { "engine" } else { "rev" };
    Ok(format!("{key}={word}"))
}

/// Checks search limits, and returns the limits as a value of `--each`; a string without a key is a
/// time control.
fn limit(text: &str) -> Result<String, String> {
    let text = if text.contains('=') { text.to_owned() } else { format!("tc={text}") };
    let EngineSpec { limits, .. } = EngineSpec::parse(&text)?;
    let is_all = EngineSpec::parse(&text)? == EngineSpec { limits, ..EngineSpec::default() };
    let mut periods = limits.clock.iter().flat_map(TimeControl::periods);
    let is_long = |time: Duration| time > MAX_TIME;
    let is_bounded = !limits.granted(100).is_some_and(is_long)
        && !periods.any(|one| is_long(one.base.saturating_add(one.increment.saturating_mul(100))))
        && limits.nodes.is_none_or(|nodes| nodes <= MAX_NODES)
        && limits.depth.is_none_or(|depth| depth <= MAX_DEPTH)
        && limits.nodestime.is_none();
    if is_all && is_bounded && !limits.is_empty() {
        Ok(text)
    } else {
        Err(format!(
            "'{text}': expected tc= or st= of {} hours for 100 moves at most, nodes= up to {MAX_NODES}, or \
             depth= up to {MAX_DEPTH}, and nothing else",
            MAX_TIME.as_secs() / 3600
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_and_limits_are_validated() {
        for (word, expected) in [
            ("bundled", "bundled"),
            ("bundled:material", "bundled:material"),
            ("HEAD~3", "rev=HEAD~3"),
            ("feature/lmr-2", "rev=feature/lmr-2"),
            // The word is a revision, not the program in PATH.
            ("sh", "rev=sh"),
        ] {
            assert_eq!(engine(word).as_deref(), Ok(expected));
        }
        let long = "x".repeat(MAX_NAME + 1);
        for word in [
            "",
            "-x",
            ".",
            "./sh",
            "/bin/sh",
            "../sh",
            "a/../sh",
            "cmd=sh",
            "rev=main",
            "sh,args=-c",
            "a b",
            "\"sh\"",
            "bundled:none",
            "bundled:material,args=x",
            "bundled:",
            "main\n",
            "é",
            &long,
        ] {
            assert!(engine(word).is_err(), "{word:?}");
        }
        for (text, expected) in [
            ("8+0.08", "tc=8+0.08"),
            ("tc=40/60+0.6", "tc=40/60+0.6"),
            ("st=0.1", "st=0.1"),
            ("nodes=5000", "nodes=5000"),
        ] {
            assert_eq!(limit(text).as_deref(), Ok(expected));
        }
        for text in [
            "",
            "fast",
            "inf",
            "cmd=sh",
            "nodes=5,cmd=sh",
            "nodes=5,option.Hash=1",
            "depth=101",
            "st=600",
            "100000+0",
            "100/1:9999999",
            "100/1:1+9999",
            "nodes=1000000001",
            "nodes=9,stderr=x",
            "nodes=9\",\"cmd=sh",
            "tc=8+0.08,nodestime=9",
        ] {
            assert!(limit(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn arguments_are_passed_without_a_shell() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        let script = "#!/bin/sh\nprintf 'error:'; printf ' [%s]' \"$@\"\n";
        std::fs::write(&program, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        let results = dir.path().to_owned();
        let starter = TestStarter { program, ..TestStarter::new(results).unwrap() };
        let flag = "--engine=rev=~/a $(echo x) `id`; exit *";
        let started = starter.launch("run", vec![flag.to_owned()]).unwrap();
        let expected = format!("error: [sprt] [--results] [{}] [{flag}]", dir.path().display());
        assert_eq!(started, StartResult::Refused(expected));
    }

    #[test]
    fn a_form_becomes_a_command_line() {
        let words = |words: &str| words.to_owned();
        let wanted = NewTest {
            dev: words("bundled"),
            base: words("main"),
            limit: words("nodes=9"),
            elo0: words("-5"),
            elo1: words("0"),
            pairs: words("7"),
            name: words("run"),
        };
        let expected = "--engine=bundled --engine=rev=main --each=nodes=9 --elo0=-5 --elo1=0 --pairs=7 --name=run";
        assert_eq!(flags(&wanted).map(|flags| flags.join(" ")).as_deref(), Ok(expected));
        for wrong in [
            NewTest { elo0: words("NaN"), ..wanted.clone() },
            NewTest { elo1: words("--pgn=x"), ..wanted.clone() },
            NewTest { pairs: words("0"), ..wanted.clone() },
            NewTest { name: words("../run"), ..wanted.clone() },
            NewTest { name: words("latest"), ..wanted.clone() },
            NewTest { name: words("-x"), ..wanted },
        ] {
            assert!(flags(&wrong).is_err(), "{wrong:?}");
        }
    }
}
