use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;

use super::*;
use crate::{Sandbox, Spawner};

fn launch(program: &str, args: &[&str]) -> Launch {
    Launch {
        program: program.into(),
        args: args.iter().map(|arg| arg.to_string()).collect(),
        ..Launch::default()
    }
}

fn shell(script: &str) -> (Process, mpsc::Receiver<Chunk>) {
    shell_with(script, |_| {})
}

fn shell_with(script: &str, change: impl FnOnce(&mut Launch)) -> (Process, mpsc::Receiver<Chunk>) {
    let (sender, chunks) = mpsc::channel();
    let mut launch = launch("sh", &["-c", script]);
    change(&mut launch);
    let spawner = Spawner::start().unwrap();
    let process = spawner.spawn(&launch, move |chunk| sender.send(chunk).is_ok()).unwrap();
    // The spawner must outlive the process, so the spawner is leaked.
    std::mem::forget(spawner);
    (process, chunks)
}

fn all_lines(chunks: mpsc::Receiver<Chunk>) -> Vec<String> {
    chunks.into_iter().flat_map(|chunk| chunk.lines).collect()
}

#[test]
fn output_and_errors_are_read() {
    let (mut process, chunks) = shell("echo out; echo err >&2; exit 3");
    assert_eq!(all_lines(chunks), ["out"]);
    assert_eq!(process.exit_within(Duration::from_secs(5)).as_deref(), Some("exit code 3"));
    assert_eq!(process.error_tail(), ["err"]);
}

#[test]
fn a_program_that_has_changed_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("engine");
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    };
    write(&program, "#!/bin/sh\n");
    let version = file_version(&program);
    let launch = Launch { version, ..launch(program.to_str().unwrap(), &[]) };
    let spawner = Spawner::start().unwrap();
    let error = || spawner.spawn(&launch, |_| true).err().map(|error| error.to_string());
    assert_eq!(error(), None);
    let other = folder.path().join("other");
    write(&other, "#!/bin/cat\n");
    std::fs::rename(&other, &program).unwrap();
    let text = format!("'{}' has changed since the run started; restore it, ", program.display());
    assert_eq!(error(), Some(text + "or start a new run"));
    std::fs::remove_file(&program).unwrap();
    assert!(error().unwrap().contains("No such file"));
}

#[test]
fn a_stopped_process_is_recognised() {
    let (process, chunks) = shell("echo ready; kill -STOP $$; sleep 1000");
    assert_eq!(chunks.recv().unwrap().lines, ["ready"]);
    let becomes = |is_stopped| {
        (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            process.is_stopped() == is_stopped
        })
    };
    assert!(becomes(true));
    process.signal(Signal::CONT);
    assert!(becomes(false));
}

#[test]
fn a_process_that_ignores_everything_is_killed_with_its_children() {
    let (process, chunks) = shell("trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000");
    let child: i32 = chunks.recv().unwrap().lines[0].parse().unwrap();
    process.stop(Duration::from_millis(10));
    assert_gone(child);
}

#[track_caller]
fn assert_gone(child: i32) {
    let stat = || std::fs::read_to_string(format!("/proc/{child}/stat"));
    for _ in 0..200 {
        // Orphans of the test process may stay unreaped for a moment.
        if stat().map_or(true, |stat| stat.contains(") Z")) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("process {child} survived its engine");
}

#[test]
fn processes_in_another_session_are_found() {
    // The first process stays a child of the engine; the second process is an orphan.
    let script = "setsid sleep 1000 & echo $!; \
                  setsid --fork sh -c 'echo $$; exec sleep 1000'; wait";
    let (process, chunks) = shell(script);
    let numbers = || chunks.iter().flat_map(|chunk| chunk.lines);
    let strays: Vec<i32> = numbers().take(2).map(|line| line.parse().unwrap()).collect();
    process.stop(Duration::from_millis(10));
    strays.into_iter().for_each(assert_gone);
}

/// Returns whether any process has the argument `mark`.
fn is_argument(mark: &str) -> bool {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let mut arguments = folders.map(|of| std::fs::read(of.path().join("cmdline")));
    arguments
        .any(|text| text.is_ok_and(|text| text.split(|b| *b == 0).any(|a| a == mark.as_bytes())))
}

#[test]
fn daemons_end_with_their_sandbox() {
    if !Sandbox::keeps_attributes() {
        return;
    }
    for (number, last_words) in ["exit 3", "kill -ABRT $$", "sleep 1000"].into_iter().enumerate() {
        let mark = format!("1000.{}{number}", std::process::id());
        // Neither process keeps the parent, group, session or environment of the engine; the second
        // process keeps changing its process ID.
        let script = format!(
            "setsid --fork env -i sleep {mark}; \
             setsid --fork env -i perl -e 'fork && exit while 1' {mark}; \
             sleep 0.2; echo started; read x; {last_words}"
        );
        let (mut process, chunks) =
            shell_with(&script, |launch| launch.sandbox = Some(Sandbox::default()));
        assert_eq!(chunks.recv().unwrap().lines, ["started"]);
        assert!((0..100).any(|_| is_argument(&mark)), "it was started");
        process.write(b"\n").unwrap();
        let ended = process.exit_within(Duration::from_secs(2));
        let expected = [Some("exit code 3"), Some("killed by signal 6"), None];
        assert_eq!(ended.as_deref(), expected[number]);
        process.stop(Duration::from_millis(10));
        assert!((0..100).all(|_| !is_argument(&mark)), "it is still there after {last_words}");
    }
}

#[test]
fn a_sandboxed_process_is_signalled_and_measured_like_any_other() {
    let script = "trap 'echo bye; exit' INT; echo $$; while :; do sleep 0.01; done";
    let (process, chunks) = shell_with(script, |launch| launch.sandbox = Some(Sandbox::default()));
    let number = chunks.recv().unwrap().lines.remove(0);
    let expected = if Sandbox::keeps_attributes() { "2" } else { &process.tree.engine.to_string() };
    assert_eq!(number, expected);
    let program = std::fs::read_link(format!("/proc/{}/exe", process.tree.engine)).unwrap();
    assert_eq!(program, std::fs::canonicalize("/bin/sh").unwrap());
    process.signal(Signal::INT);
    assert_eq!(chunks.recv().unwrap().lines, ["bye"]);
}

#[test]
fn foreign_orphans_are_left_alone() {
    let script = "setsid --fork sh -c 'echo $$; exec sleep 1000'; sleep 1000";
    let [(one, ones), (other, others)] = [shell(script), shell(script)];
    let stray = |chunks: &mpsc::Receiver<Chunk>| -> i32 {
        chunks.recv().unwrap().lines[0].parse().unwrap()
    };
    let mine = stray(&ones);
    let foreign = stray(&others);
    one.stop(Duration::from_millis(10));
    assert_gone(mine);
    assert!(std::path::Path::new(&format!("/proc/{foreign}")).exists());
    other.stop(Duration::from_millis(10));
    assert_gone(foreign);
}

#[test]
fn memory_has_a_limit_if_one_is_set() {
    let script = "head -c 400000000 /dev/zero | tail -c 400000000 | wc -c; exit 0";
    let (mut limited, chunks) =
        shell_with(script, |launch| launch.limits.memory_bytes = Some(100 << 20));
    assert_eq!(all_lines(chunks), ["0"], "tail must not get its buffer");
    assert!(limited.exit_within(Duration::from_secs(5)).is_some());
    assert!(limited.error_tail().iter().any(|line| line.contains("memory")));
}

#[test]
fn a_process_runs_on_its_processors() {
    let last = *cpus::allowed().last().unwrap();
    let script = "grep Cpus_allowed_list /proc/self/status; read x; \
                  grep Cpus_allowed_list /proc/self/status";
    let (mut process, chunks) = shell_with(script, |launch| launch.cpus = vec![last]);
    let expected = format!("Cpus_allowed_list:\t{last}");
    assert_eq!(chunks.recv().unwrap().lines, [expected]);
    let first = cpus::allowed()[0];
    process.move_to(&[first]);
    process.write(b"\n").unwrap();
    assert_eq!(all_lines(chunks), [format!("Cpus_allowed_list:\t{first}")]);
}

#[test]
fn engines_have_separate_error_output() {
    let spawner = Spawner::start().unwrap();
    let script = |word: &str| format!("read x; echo {word} >&2; seq 30 >&2; echo last {word} >&2");
    let start = |word| spawner.spawn(&launch("sh", &["-c", &script(word)]), |_| true).unwrap();
    let [mut one, mut other] = ["one", "other"].map(start);
    for (process, last) in [(&mut other, "last other"), (&mut one, "last one")] {
        assert!(process.error_tail().is_empty());
        process.write(b"\n").unwrap();
        process.exit_within(Duration::from_secs(5)).unwrap();
        assert_eq!(process.error_tail().last().unwrap(), last);
        assert_eq!(process.error_tail()[0], "12");
    }
}

#[test]
fn error_output_is_appended_to_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("errors.txt");
    for word in ["one", "two"] {
        let (mut process, _chunks) = shell_with(&format!("echo {word} >&2"), |launch| {
            launch.stderr = Some(path.clone());
        });
        process.exit_within(Duration::from_secs(5)).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    let mut launch = launch("sh", &[]);
    launch.stderr = Some(dir.path().join("no/such/folder/errors.txt"));
    let error = Spawner::start().unwrap().spawn(&launch, |_| true).unwrap_err();
    assert!(error.is_environment && error.to_string().contains("no/such/folder"));
}

#[test]
fn a_reader_that_never_reads_is_noticed() {
    let (mut process, _chunks) = shell("sleep 1000");
    let block = [b'x'; 8192];
    let error = (0..1000).find_map(|_| process.write(&block).err());
    assert!(matches!(error, Some(WriteError::Full)), "{error:?}");
}
