//! Costs of another process.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A process that is killed when it is dropped.
pub struct Process(Child);

impl Process {
    /// Wraps a child process.
    pub fn new(child: Child) -> Process {
        Process(child)
    }

    /// Returns user and system time until now.
    pub fn cpu(&self) -> Duration {
        let stat = self.read("stat");
        let (_, after_name) = stat.rsplit_once(')').expect("stat has a name in parentheses");
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

    /// Sends the process a signal to end.
    pub fn terminate(&self) {
        kill_process(Pid::from_child(&self.0), Signal::TERM).expect("it is there");
    }

    /// Waits for the end of the process, and returns its time.
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
