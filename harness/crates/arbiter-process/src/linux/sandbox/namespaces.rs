//! Namespaces for one program: its processes end with it and see no others, and a build can change
//! only one folder of the file systems.
//!
//! Landlock does not restrict changes of modes, owners, times and attributes of files; a file
//! system that is mounted read-only refuses all of these.
//!
//! Three processes belong to a program in a namespace: the child that Arbiter has started waits
//! outside and ends as the program does, the first process inside ends all others when the child
//! has ended, and the second one becomes the program, for which signals are those of any program.

use std::ffi::{CStr, CString, c_void};
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};
use rustix::process::{
    DumpableBehavior, Pid, WaitOptions, chdir, getegid, geteuid, set_dumpable_behavior, waitpid,
};

/// Numbers of the ordinary signals, without those of real time.
const SIGNALS: std::ops::Range<i32> = 1..32;

/// Size of a stack on which a process waits, in units of 16 bytes.
const STACK: usize = 2048;

/// Namespaces that are ready to be entered.
pub(super) struct Namespaces {
    /// Writable folder and working folder, for a program that may write no other.
    folders: Option<[CString; 2]>,
    /// Maps of the user namespace: a user and a group, each to itself.
    user: String,
    group: String,
    /// Stack of the first process inside.
    stack: Vec<u128>,
}

impl Namespaces {
    pub(super) fn new(writable: Option<[&Path; 2]>) -> io::Result<Namespaces> {
        let text =
            |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        let folders = match writable {
            Some([home, dir]) => Some([text(home)?, text(dir)?]),
            None => None,
        };
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        let (user, group) = (format!("{user} {user} 1"), format!("{group} {group} 1"));
        Ok(Namespaces { folders, user, group, stack: vec![0; STACK] })
    }

    /// Returns whether this system lets the user keep a program from writing. Forks.
    pub(super) fn are_possible() -> bool {
        let root = Path::new("/");
        let home = std::env::temp_dir();
        let Ok(namespaces) = Namespaces::new(Some([&home, root])) else { return false };
        let mut command = Command::new(root);
        // The child has nothing to run: that it gets so far is the answer.
        let arrived = Errno::CANCELED;
        let enter = move || namespaces.unshare().and_then(|()| namespaces.mount());
        // SAFETY: between fork and exec, `enter` makes system calls only and allocates nothing.
        unsafe {
            command.pre_exec(move || enter().and(Err(arrived.into())));
        }
        let ended = command.spawn().err();
        ended.and_then(|error| error.raw_os_error()) == Some(arrived.raw_os_error())
    }

    /// Enters the namespaces that the system supports, permanently. Only system calls: it may be
    /// used between fork and exec.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        if self.unshare().is_ok() {
            self.become_second()?;
            // Where the system refuses, the user of a build was told so.
            let _ = self.mount();
            // A container that hides parts of /proc has no other one.
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            let _ = mount(c"proc", c"/proc", c"proc", flags, None);
        }
        Ok(())
    }

    /// Creates the namespaces, as root or within a user namespace.
    fn unshare(&self) -> io::Result<()> {
        // The call closes nothing and shows whether the kernel has `close_range`, without which the
        // end of the program would not end its processes.
        close_from(u32::MAX)?;
        let namespaces = libc::CLONE_NEWNS | libc::CLONE_NEWPID;
        if unshare(namespaces).is_ok() {
            return Ok(());
        }
        unshare(namespaces | libc::CLONE_NEWUSER)?;
        // The kernel demands this before a user without privileges may map a group.
        write(c"/proc/self/setgroups", "deny")?;
        write(c"/proc/self/uid_map", &self.user)?;
        write(c"/proc/self/gid_map", &self.group)
    }

    /// Makes the mounts private and all but one read-only.
    fn mount(&self) -> io::Result<()> {
        mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let Some([home, dir]) = &self.folders else { return Ok(()) };
        mount_bind_recursive(&**home, &**home)?;
        set_read_only(c"/", true)?;
        set_read_only(home, false)?;
        // The old working folder is one of the mount that is read-only now.
        Ok(chdir(&**dir)?)
    }

    /// Starts the two processes of a namespace and returns in the second one.
    fn become_second(&mut self) -> io::Result<()> {
        let (alive, held) = io::pipe()?;
        let end = self.stack.as_mut_ptr_range().end;
        let (flags, alive) = (libc::CLONE_VM | libc::SIGCHLD, alive.into_raw_fd());
        let argument = std::ptr::without_provenance_mut(alive as usize);
        // SAFETY: the first process has a stack of its own, which lives as long as this process
        // does, and makes system calls only. To share the memory saves a copy of it.
        let first = unsafe { libc::clone(be_first, end.cast(), flags, argument) };
        succeeded(first.into())?;
        // SAFETY: this process has one thread, and after it both go on with system calls only.
        let second = unsafe { libc::fork() };
        succeeded(second.into())?;
        if second == 0 {
            return Ok(());
        }
        ignore_signals();
        // If SIGCHLD stayed ignored, the kernel would collect the program, and its status would be
        // lost.
        handle(libc::SIGCHLD, libc::SIG_DFL);
        // This process has a copy of Arbiter's memory, which other processes of the user must not
        // read.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        keep_only(held.as_raw_fd());
        let ended = waitpid(Pid::from_raw(second), WaitOptions::empty());
        // The first process reads the end of its pipe, and has ended when all others inside have.
        let _ = close_from(0);
        let _ = waitpid(Pid::from_raw(first), WaitOptions::empty());
        let status = ended.ok().flatten().map(|(_, status)| status);
        if let Some(signal) = status.and_then(|status| status.terminating_signal()) {
            // This process ends as the program did, so that Arbiter sees the same signal.
            handle(signal, libc::SIG_DFL);
            // SAFETY: the call takes a number.
            unsafe { libc::raise(signal) };
        }
        exit(status.and_then(|status| status.exit_status()).unwrap_or(1))
    }
}

/// Runs the first process of a namespace, which ends with all others when the other end of its pipe
/// closes.
extern "C" fn be_first(alive: *mut c_void) -> i32 {
    ignore_signals();
    let alive = alive.addr() as i32;
    keep_only(alive);
    // SAFETY: the file is open, and the kernel writes at most the byte that is there.
    unsafe { libc::read(alive, [0u8].as_mut_ptr().cast(), 1) };
    exit(0)
}

fn exit(code: i32) -> ! {
    // SAFETY: the call ends this process and runs nothing before.
    unsafe { libc::_exit(code) }
}

/// Ignores the signals that Arbiter would handle, of which this process is a copy; the kernel
/// collects its children.
fn ignore_signals() {
    SIGNALS.for_each(|signal| handle(signal, libc::SIG_IGN));
}

fn handle(signal: i32, handler: libc::sighandler_t) {
    // SAFETY: neither default nor ignoring is a function of ours. Of two signals the kernel refuses
    // it.
    unsafe { libc::signal(signal, handler) };
}

/// Closes all files but one: the end of the others shows their readers that the program has ended.
fn keep_only(file: i32) {
    let number = file.unsigned_abs();
    // The kernel was asked before whether it has this call.
    let _ = close_range(0, number - 1).and(close_from(number + 1));
}

fn close_from(first: u32) -> io::Result<()> {
    close_range(first, u32::MAX)
}

fn close_range(first: u32, last: u32) -> io::Result<()> {
    // SAFETY: only processes that are to end or to have no files call it, with files that they do
    // not use.
    succeeded(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) })
}

fn unshare(namespaces: i32) -> io::Result<()> {
    // SAFETY: the call takes a number and touches no memory of this process.
    succeeded(unsafe { libc::unshare(namespaces) }.into())
}

/// Makes a mount and all below it read-only, or writable.
fn set_read_only(path: &CStr, is_read_only: bool) -> io::Result<()> {
    let flag = |is_set| if is_set { libc::MOUNT_ATTR_RDONLY } else { 0 };
    // attr_set, attr_clr, propagation and userns_fd of `struct mount_attr`.
    let attributes: [u64; 4] = [flag(is_read_only), flag(!is_read_only), 0, 0];
    // SAFETY: the kernel reads a path that ends in a zero and as many bytes of attributes as it is
    // told.
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
