//! Search for processes by a word of their command line.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use super::wait_for;

/// Returns the processes that have `marker` as a word of their command line.
///
/// A zombie has no command line and is not counted: it has ended, and the init process decides when
/// it disappears.
pub fn marked(marker: &str) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").expect("/proc can be listed");
    entries
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let is_marked = line.split(|&byte| byte == 0).any(|word| word == marker.as_bytes());
            if is_marked { Pid::from_raw(pid) } else { None }
        })
        .collect()
}

/// Waits until no process with `marker` is left.
pub fn wait_until_gone(marker: &str) {
    wait_for(&format!("no process with {marker} is left: {:?}", marked(marker)), || {
        marked(marker).is_empty().then_some(())
    });
}

/// Kills every process with `marker`.
pub fn kill_marked(marker: &str) {
    for pid in marked(marker) {
        // The process may have ended in the meantime, as intended.
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[test]
fn a_process_is_found_by_its_marker_until_it_is_gone() {
    let marker = "the-only-test-that-uses-this-marker";
    let mut child = std::process::Command::new(super::programs::puppet())
        .args(["--mode", "mute", "--marker", marker])
        .spawn()
        .expect("the puppet can be started");
    wait_for("the puppet is seen", || (marked(marker).len() == 1).then_some(()));
    assert!(marked(&marker[1..]).is_empty(), "part of a word must not count");
    kill_marked(marker);
    child.wait().expect("a child can be waited for");
    wait_until_gone(marker);
}
