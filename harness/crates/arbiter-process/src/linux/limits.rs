//! Resource limits of processes.

#![expect(
    clippy::disallowed_types,
    reason = "limits with which the process was started, which are its own"
)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::cpus;
use super::sandbox::{Home, PreparedSandbox};
use crate::{Launch, remove_secrets};

/// Number of files that a process can have open unless the administrator raises the kernel's limit.
const MAX_FILES: u64 = 1 << 20;

/// Limit on open files at the start of this process.
static OPEN_FILES: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit on open files to the maximum that the system allows, because each engine needs
/// several open files. Keeps the limit if the system refuses. Child processes get the original
/// limit.
///
/// Returns the maximum number of open files.
pub fn raise_open_files() -> u64 {
    OPEN_FILES.get_or_init(|| {
        let before = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before });
        before
    });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Limits that the system enforces on a process and each of its children; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Address space, in bytes.
    pub memory_bytes: Option<u64>,
    /// Maximum size of a written file, in bytes.
    pub file_bytes: Option<u64>,
    /// Total CPU time, in seconds.
    pub cpu_seconds: Option<u64>,
    /// Maximum number of processes and threads of the user, including the processes and threads of
    /// other programs. The limit does not apply to root.
    pub processes: Option<u64>,
}

impl ResourceLimits {
    /// Returns, for each resource, the lower of the two limits.
    pub fn and(self, other: ResourceLimits) -> ResourceLimits {
        let least = |one: Option<u64>, two: Option<u64>| [one, two].into_iter().flatten().min();
        ResourceLimits {
            memory_bytes: least(self.memory_bytes, other.memory_bytes),
            file_bytes: least(self.file_bytes, other.file_bytes),
            cpu_seconds: least(self.cpu_seconds, other.cpu_seconds),
            processes: least(self.processes, other.processes),
        }
    }

    /// Sets the limits for the calling process. A lower hard limit of the system stays in force.
    /// Makes only system calls, so this function may be called between fork and exec.
    pub(crate) fn set(self) -> io::Result<()> {
        if let Some(before) = OPEN_FILES.get() {
            // Programs that use `select` cannot handle more than the usual 1024 descriptors.
            setrlimit(Resource::Nofile, *before)?;
        }
        let limits = [
            (Resource::As, self.memory_bytes),
            (Resource::Fsize, self.file_bytes),
            (Resource::Cpu, self.cpu_seconds),
            (Resource::Nproc, self.processes),
        ];
        for (resource, most) in limits {
            if let Some(most) = most {
                // Only privileged processes can raise a hard limit.
                let hard = getrlimit(resource).maximum;
                let most = Some(hard.map_or(most, |hard| hard.min(most)));
                // The hard limit is set too, so that the program cannot raise its limit.
                setrlimit(resource, Rlimit { current: most, maximum: most })?;
            }
        }
        Ok(())
    }
}

/// Makes the child of `command` apply the environment, resource limits, processors and sandbox of
/// `launch` before the program starts. The kernel kills the child when the spawner thread ends.
///
/// Returns the temporary home folder of the child, if one was created. The folder is removed when
/// the returned value is dropped, so the caller must keep the value until the child has ended.
pub(crate) fn prepare_child(command: &mut Command, launch: &Launch) -> io::Result<Option<Home>> {
    match &launch.environment {
        Some(environment) => drop(command.env_clear().envs(environment.iter().cloned())),
        None => remove_secrets(command),
    }
    let prepared = launch.sandbox.as_ref().map(|sandbox| sandbox.prepare(command, launch));
    let (mut sandbox, home) = prepared.transpose()?.unzip();
    let limits = launch.limits;
    let cpus = (!launch.cpus.is_empty()).then(|| cpus::set(&launch.cpus));
    let parent = rustix::process::getpid();
    let no_core = Rlimit { current: Some(0), maximum: Some(0) };
    let prepare = move || {
        close_others_at_exec();
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        setrlimit(Resource::Core, no_core)?;
        limits.set()?;
        if let Some(cpus) = &cpus {
            rustix::thread::sched_setaffinity(None, cpus)?;
        }
        // If Arbiter died before the signal was set, the child has another parent and will get no
        // signal.
        if rustix::process::getppid() != Some(parent) {
            return Err(Errno::SRCH.into());
        }
        // The sandbox comes last, because entering the sandbox forks this process, and the new
        // processes inherit the settings above.
        sandbox.as_mut().map_or(Ok(()), PreparedSandbox::enter)
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; the closure makes
    // a few system calls and allocates nothing.
    unsafe {
        command.pre_exec(prepare);
    }
    Ok(home.flatten())
}

/// Marks all files except standard input, output and error to be closed when the program starts,
/// because a program can use inherited files even if the sandbox forbids opening these files. Makes
/// only system calls.
fn close_others_at_exec() {
    let close = libc::CLOSE_RANGE_CLOEXEC;
    // SAFETY: the call takes numbers and closes nothing now.
    if unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, close) } == 0 {
        return;
    }
    // Linux before 5.11, and some containers, lack the call.
    let most = getrlimit(Resource::Nofile).maximum.unwrap_or(MAX_FILES).min(MAX_FILES);
    for file in 3..most as libc::c_int {
        // SAFETY: the call takes numbers; for a file that is not open, the call fails without
        // effect.
        unsafe { libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_program_inherits_no_other_files() {
        let file = File::open("/dev/null").unwrap();
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        let shown = format!("[ ! -e /proc/self/fd/{} ]", file.as_raw_fd());
        for sandbox in [None, Some(crate::Sandbox::default())] {
            let launch = Launch { program: "/bin/sh".into(), sandbox, ..Launch::default() };
            let mut command = Command::new(&launch.program);
            command.args(["-c", &shown]);
            let _home = prepare_child(&mut command, &launch).unwrap();
            assert!(command.status().unwrap().success(), "{launch:?}");
        }
    }

    #[test]
    fn a_lower_hard_limit_of_the_system_stays_in_force() {
        // The limit is too high to affect other tests in this process.
        let hard = 1 << 40;
        let limit = Rlimit { current: Some(hard), maximum: Some(hard) };
        setrlimit(Resource::Fsize, limit).unwrap();
        let limits = ResourceLimits { file_bytes: Some(hard * 2), ..ResourceLimits::default() };
        let launch = Launch { program: "/bin/sh".into(), limits, ..Launch::default() };
        let mut command = Command::new(&launch.program);
        command.args(["-c", "grep 'Max file size' /proc/self/limits"]);
        let _home = prepare_child(&mut command, &launch).unwrap();
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert_eq!(output.matches(&hard.to_string()).count(), 2, "{output}");
    }

    #[test]
    fn the_lower_limit_counts() {
        let limits = |memory_bytes, file_bytes| ResourceLimits {
            memory_bytes,
            file_bytes,
            ..ResourceLimits::default()
        };
        let both = limits(Some(5), Some(7)).and(limits(Some(6), None));
        assert_eq!(both, limits(Some(5), Some(7)));
        assert_eq!(limits(None, Some(9)).and(both), limits(Some(5), Some(7)));
    }
}
