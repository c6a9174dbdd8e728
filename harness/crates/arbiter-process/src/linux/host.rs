//! This machine, and how this process was started.

use std::fs;

/// The signal that a process gets whose file is at its size limit.
pub const FILE_SIZE_SIGNAL: i32 = libc::SIGXFSZ;

/// The name of the processor; `None` where the system does not say.
pub fn processor_name() -> Option<String> {
    value("/proc/cpuinfo", "model name")
}

/// What the processor can do, as the line in which the system says it; empty where it does not.
pub fn processor_features() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut lines = text.lines();
    let line = lines.find(|line| line.starts_with("flags") || line.starts_with("Features"));
    line.unwrap_or_default().to_owned()
}

/// The memory, in MiB; 0 where the system does not say.
pub fn memory_mib() -> u64 {
    let memory = value("/proc/meminfo", "MemTotal").unwrap_or_default();
    memory.split(' ').next().and_then(|kib| kib.parse().ok()).unwrap_or(0u64) >> 10
}

/// Resident memory of a process, children aside; `None` where the system does not say.
pub(crate) fn resident_bytes(pid: i32) -> Option<u64> {
    let memory = value(&format!("/proc/{pid}/status"), "VmRSS")?;
    let kilobytes: u64 = memory.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The name of this machine; empty where the system does not say.
pub fn host_name() -> String {
    first_line("/proc/sys/kernel/hostname")
}

/// The version of the system; empty where it does not say.
pub fn system_version() -> String {
    first_line("/proc/sys/kernel/osrelease")
}

/// Whether this process was started to ignore a signal, as `nohup` and scripts do.
pub fn is_signal_ignored(signal: i32) -> bool {
    let mask = value("/proc/self/status", "SigIgn").unwrap_or_default();
    u64::from_str_radix(&mask, 16).is_ok_and(|mask| mask & (1 << (signal - 1)) != 0)
}

fn first_line(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

/// What a file of lines such as `key : value` says first of a key.
fn value(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(found, _)| found.trim() == key).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_what_it_is() {
        assert!(memory_mib() > 0 && !system_version().is_empty());
        assert!(!is_signal_ignored(libc::SIGTERM));
    }
}
