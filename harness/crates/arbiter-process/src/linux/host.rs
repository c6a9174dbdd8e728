//! Properties of this machine, and the signals that this process ignores.

use std::fs;
use std::path::Path;

/// Number of the signal that the kernel sends to a process that exceeds its file size limit.
pub const FILE_SIZE_SIGNAL: i32 = libc::SIGXFSZ;

/// Returns the name of the processor; `None` if the name is unknown.
pub fn processor_name() -> Option<String> {
    value("/proc/cpuinfo", "model name")
}

/// Returns the line of `/proc/cpuinfo` that lists the processor features; empty if the file
/// contains no such line.
pub fn processor_features() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut lines = text.lines();
    let line = lines.find(|line| line.starts_with("flags") || line.starts_with("Features"));
    line.unwrap_or_default().to_owned()
}

/// Returns the total memory of the machine, in MiB; 0 if the size is unknown.
pub fn memory_mib() -> u64 {
    kib("/proc/meminfo", "MemTotal").unwrap_or(0) >> 10
}

/// Returns the resident memory of a process without its children, in bytes; `None` if the size is
/// unknown.
pub(crate) fn resident_bytes(pid: i32) -> Option<u64> {
    Some(kib(format!("/proc/{pid}/status"), "VmRSS")? * 1024)
}

/// Returns the host name of this machine; empty if the name is unknown.
pub fn host_name() -> String {
    first_line("/proc/sys/kernel/hostname")
}

/// Returns the kernel version; empty if the version is unknown.
pub fn system_version() -> String {
    first_line("/proc/sys/kernel/osrelease")
}

/// Returns whether this process ignores a signal, for example because `nohup`, or a script in a
/// background job, started this process.
pub fn is_signal_ignored(signal: i32) -> bool {
    let mask = value("/proc/self/status", "SigIgn").unwrap_or_default();
    // Bit 0 of the mask stands for signal 1.
    u64::from_str_radix(&mask, 16).is_ok_and(|mask| mask & (1 << (signal - 1)) != 0)
}

fn first_line(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

/// Returns whether a process is stopped, for example by SIGSTOP.
pub(crate) fn is_stopped(pid: i32) -> bool {
    let state = value(format!("/proc/{pid}/status"), "State");
    state.is_some_and(|state| state.starts_with('T'))
}

/// Returns the first value of `key`, in KiB, in a file with lines such as `key : 8 kB`.
pub(crate) fn kib(file: impl AsRef<Path>, key: &str) -> Option<u64> {
    value(file, key)?.strip_suffix(" kB")?.parse().ok()
}

/// Returns the first value of `key` in a file with lines such as `key : value`.
fn value(file: impl AsRef<Path>, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(found, _)| found.trim() == key).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_identified() {
        assert!(memory_mib() > 0 && !system_version().is_empty());
        assert!(!is_signal_ignored(libc::SIGTERM));
    }
}
