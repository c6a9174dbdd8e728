//! Namespaces for one program. The processes of the program end with the program and see no other
//! processes. A build can change only one folder.
//!
//! Landlock does not restrict changes of modes, owners, times and attributes of files, but a
//! read-only mount rejects all of these changes.
//!
//! A program in a namespace has three processes. The child that Arbiter started waits outside the
//! namespace and exits with the status of the program. The first process in the namespace exits
//! after the program has ended, and the kernel then kills all other processes in the namespace. The
//! second process in the namespace becomes the program, with normal signal handling.

#![expect(
    clippy::disallowed_types,
    reason = "support by the system, which does not change while this process runs"
)]

use std::ffi::{CStr, CString, c_void};
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};
use rustix::process::{
    DumpableBehavior, Pid, WaitOptions, chdir, getegid, geteuid, set_dumpable_behavior, waitpid,
};

use super::Sandbox;

/// Numbers of the standard signals, without the real-time signals.
const SIGNALS: std::ops::Range<i32> = 1..32;

/// Stack size of the first process in a namespace, in units of 16 bytes.
const STACK: usize = 2048;

/// Result of [`are_supported`].
static ARE_SUPPORTED: OnceLock<bool> = OnceLock::new();

/// Prepared namespaces of one program.
pub(super) struct Namespaces {
    /// Writable folder and working folder of a build; `None` if all mounts stay writable.
    folders: Option<[CString; 2]>,
    /// User ID map of the user namespace. The map contains only the user's ID, which is mapped to
    /// itself.
    user: String,
    /// Group ID map of the user namespace. The map contains only the group's ID, which is mapped to
    /// itself.
    group: String,
    /// Stack of the first process in the namespaces.
    stack: Vec<u128>,
}

impl Namespaces {
    pub(super) fn new(writable: Option<[&Path; 2]>) -> io::Result<Namespaces> {
        let text =
            |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        let folders = writable.map(|[home, dir]| io::Result::Ok([text(home)?, text(dir)?]));
        let identity = |id: u32| format!("{id} {id} 1");
        let user = identity(geteuid().as_raw());
        let group = identity(getegid().as_raw());
        Ok(Namespaces { folders: folders.transpose()?, user, group, stack: vec![0; STACK] })
    }

    /// Enters the namespaces permanently, if the system supports namespaces. Makes only system
    /// calls, so this function may be called between fork and exec.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        if self.unshare().is_ok() {
            self.become_second()?;
            // If the system refuses to change mounts, the user has already been warned.
            let _ = self.mount();
            // In a container that hides parts of /proc, /proc cannot be mounted again.
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            // All mounts of /proc share the modes of files such as /proc/uptime, so a build must
            // not change modes in this mount either.
            let _ = mount(c"proc", c"/proc", c"proc", flags | MountFlags::RDONLY, None);
        }
        Ok(())
    }

    /// Creates the mount and PID namespaces, as root or within a new user namespace.
    fn unshare(&self) -> io::Result<()> {
        // This call closes nothing, but fails if the kernel lacks `close_range`. Without
        // `close_range`, the other processes would not end with the program.
        close_from(u32::MAX)?;
        let namespaces = libc::CLONE_NEWNS | libc::CLONE_NEWPID;
        if unshare(namespaces).is_ok() {
            return Ok(());
        }
        unshare(namespaces | libc::CLONE_NEWUSER)?;
        // The kernel requires this write before an unprivileged user may map a group.
        write(c"/proc/self/setgroups", "deny")?;
        write(c"/proc/self/uid_map", &self.user)?;
        write(c"/proc/self/gid_map", &self.group)
    }

    /// Makes all mounts private. For builds, also makes all mounts read-only, except the writable
    /// folder.
    fn mount(&self) -> io::Result<()> {
        mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let Some([home, dir]) = &self.folders else { return Ok(()) };
        mount_bind_recursive(&**home, &**home)?;
        set_read_only(c"/", true)?;
        set_read_only(home, false)?;
        // The working folder is entered again, because the current working folder still belongs to
        // the mount that is now read-only.
        Ok(chdir(&**dir)?)
    }

    /// Starts the two processes of a namespace and returns in the second process.
    fn become_second(&mut self) -> io::Result<()> {
        let (alive, held) = io::pipe()?;
        let end = self.stack.as_mut_ptr_range().end;
        let flags = libc::CLONE_VM | libc::SIGCHLD;
        let argument = std::ptr::without_provenance_mut(alive.into_raw_fd() as usize);
        // SAFETY: the first process has a separate stack, which lives as long as this process, and
        // makes only system calls. Sharing the memory avoids a copy.
        let first = unsafe { libc::clone(be_first, end.cast(), flags, argument) };
        succeeded(first.into())?;
        // SAFETY: this process has one thread, and after the fork both processes make only system
        // calls.
        let second = unsafe { libc::fork() };
        succeeded(second.into())?;
        if second == 0 {
            return Ok(());
        }
        ignore_signals();
        // If SIGCHLD stayed ignored, the kernel would reap the program, and the exit status of the
        // program would be lost.
        handle(libc::SIGCHLD, libc::SIG_DFL);
        // This process has a copy of Arbiter's memory, which the program must not read.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        keep_only(held.as_raw_fd());
        let ended = waitpid(Pid::from_raw(second), WaitOptions::empty());
        // When the pipe is closed, the first process exits, and the kernel kills all other
        // processes in the namespace.
        let _ = close_from(0);
        let _ = waitpid(Pid::from_raw(first), WaitOptions::empty());
        let status = ended.ok().flatten().map(|(_, status)| status);
        if let Some(signal) = status.and_then(|status| status.terminating_signal()) {
            // This process ends with the signal that ended the program, so that Arbiter sees the
            // signal.
            handle(signal, libc::SIG_DFL);
            // SAFETY: the call takes a number.
            unsafe { libc::raise(signal) };
        }
        exit(status.and_then(|status| status.exit_status()).unwrap_or(1))
    }
}

impl Sandbox {
    /// Returns whether the sandbox can prevent builds from changing modes, owners and times of
    /// files outside the home folder of the build. This protection needs mount namespaces and,
    /// unless the user is root, user namespaces. The first call starts a process to test whether
    /// these namespaces are available.
    pub fn keeps_attributes() -> bool {
        *ARE_SUPPORTED.get_or_init(are_supported)
    }
}

fn are_supported() -> bool {
    let root = Path::new("/");
    let home = std::env::temp_dir();
    let Ok(namespaces) = Namespaces::new(Some([&home, root])) else { return false };
    let mut command = Command::new(root);
    // The child never executes a program: it reports this error code if all steps succeed.
    let arrived = Errno::CANCELED;
    let enter = move || namespaces.unshare().and_then(|()| namespaces.mount());
    // SAFETY: between fork and exec, `enter` makes only system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || enter().and(Err(arrived.into())));
    }
    let ended = command.spawn().err();
    ended.and_then(|error| error.raw_os_error()) == Some(arrived.raw_os_error())
}

/// Runs the first process of a namespace. When the other end of the pipe `alive` closes, the
/// process exits, and the kernel kills all other processes in the namespace.
extern "C" fn be_first(alive: *mut c_void) -> i32 {
    ignore_signals();
    let alive = alive.addr() as i32;
    keep_only(alive);
    // SAFETY: the file is open, and the kernel writes at most one byte to the buffer.
    unsafe { libc::read(alive, [0u8].as_mut_ptr().cast(), 1) };
    exit(0)
}

fn exit(code: i32) -> ! {
    // SAFETY: the call ends this process immediately.
    unsafe { libc::_exit(code) }
}

/// Ignores all signals, because this process is a copy of Arbiter with Arbiter's handlers. Ignoring
/// SIGCHLD makes the kernel reap the children of this process.
fn ignore_signals() {
    SIGNALS.for_each(|signal| handle(signal, libc::SIG_IGN));
}

fn handle(signal: i32, handler: libc::sighandler_t) {
    // SAFETY: the handler is SIG_DFL or SIG_IGN, not a function. For SIGKILL and SIGSTOP the call
    // fails without effect.
    unsafe { libc::signal(signal, handler) };
}

/// Closes all files except one, so that readers of the program's pipes notice the end of the
/// program.
fn keep_only(file: i32) {
    let number = file.unsigned_abs();
    // `unshare` has checked that the kernel has this call.
    let _ = close_range(0, number - 1).and(close_from(number + 1));
}

fn close_from(first: u32) -> io::Result<()> {
    close_range(first, u32::MAX)
}

fn close_range(first: u32, last: u32) -> io::Result<()> {
    // SAFETY: the callers no longer use the closed files.
    succeeded(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) })
}

fn unshare(namespaces: i32) -> io::Result<()> {
    // SAFETY: the call takes a number and touches no memory of this process.
    succeeded(unsafe { libc::unshare(namespaces) }.into())
}

/// Makes a mount, and all mounts below this mount, read-only or writable.
fn set_read_only(path: &CStr, is_read_only: bool) -> io::Result<()> {
    let flag = |is_set| if is_set { libc::MOUNT_ATTR_RDONLY } else { 0 };
    // Fields of `struct mount_attr`: attr_set, attr_clr, propagation, userns_fd.
    let attributes: [u64; 4] = [flag(is_read_only), flag(!is_read_only), 0, 0];
    // SAFETY: the path ends with a zero byte, and the size of the attributes is correct.
    succeeded(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    })
}

fn succeeded(answer: i64) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn write(path: &CStr, text: &str) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    let written = rustix::io::write(file, text.as_bytes())?;
    if written == text.len() { Ok(()) } else { Err(Errno::IO.into()) }
}
