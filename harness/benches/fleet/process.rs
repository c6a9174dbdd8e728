//! CPU time and memory of a child process.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Child process that is killed when this value is dropped.
pub struct Process(Child);

impl Process {
    /// Wraps a child process.
    pub fn new(child: Child) -> Process {
        Process(child)
    }

    /// Returns the user and system CPU time of the process until now.
    pub fn cpu(&self) -> Duration {
        let stat = self.read("stat");
        let (_, after_name) = stat.rsplit_once(')').expect("stat has a name in parentheses");
        // `utime` and `stime` are fields 14 and 15 of proc_pid_stat(5); the first field after the
        // name is field 3.
        let times = after_name.split_ascii_whitespace().skip(11).take(2);
        let ticks: u64 = times.map(|field| field.parse::<u64>().expect("ticks")).sum();
        Duration::from_secs_f64(ticks as f64 / ticks_per_second())
    }

    /// Returns the peak resident set size until now, in MiB.
    pub fn resident_mib(&self) -> f64 {
        let status = self.read("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse::<f64>().ok());
        kib.expect("status has VmHWM") / 1024.0
    }

    /// Sends SIGTERM to the process.
    pub fn terminate(&self) {
        kill_process(Pid::from_child(&self.0), Signal::TERM).expect("it is there");
    }

    /// Waits until the process exits, and returns the time of the exit.
    pub fn wait(mut self) -> Instant {
        self.0.wait().expect("a child can be waited for");
        Instant::now()
    }

    fn read(&self, file: &str) -> String {
        let path = format!("/proc/{}/{file}", self.0.id());
        std::fs::read_to_string(path).expect("the process is there")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ticks_per_second() -> f64 {
    let output = Command::new("getconf").arg("CLK_TCK").output().expect("getconf is installed");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number of ticks")
}
