//! Mount namespaces, in which a program can change nothing of the file systems but one folder.
//!
//! Landlock does not restrict who changes modes, owners, times and attributes of files; a file system
//! that is mounted read-only refuses all of these.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_bind_recursive, mount_change};
use rustix::process::{chdir, getegid, geteuid};

/// A mount namespace that only remains to be entered.
pub(super) struct ReadOnlyMounts {
    /// The folder that stays writable.
    home: CString,
    /// The working folder, which has to be entered again.
    dir: CString,
    /// Maps of the user namespace: a user and a group, each to itself.
    user: String,
    group: String,
}

impl ReadOnlyMounts {
    pub(super) fn new(home: &Path, dir: &Path) -> io::Result<ReadOnlyMounts> {
        let text =
            |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        Ok(ReadOnlyMounts {
            home: text(home)?,
            dir: text(dir)?,
            user: format!("{user} {user} 1"),
            group: format!("{group} {group} 1"),
        })
    }

    /// Returns whether this system lets the user have such namespaces. Forks.
    pub(super) fn are_possible() -> bool {
        let root = Path::new("/");
        let Ok(mounts) = ReadOnlyMounts::new(root, root) else { return false };
        let mut command = Command::new(root);
        // The child has nothing to run: that it gets so far is the answer.
        let arrived = Errno::CANCELED;
        // SAFETY: between fork and exec, `unshare` makes system calls only and allocates nothing.
        unsafe {
            command.pre_exec(move || mounts.unshare().and(Err(arrived.into())));
        }
        let ended = command.spawn().err();
        ended.and_then(|error| error.raw_os_error()) == Some(arrived.raw_os_error())
    }

    /// Enters the namespace, for good. Only system calls: it may be used between fork and exec.
    pub(super) fn enter(&self) -> io::Result<()> {
        self.unshare()?;
        mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        mount_bind_recursive(&*self.home, &*self.home)?;
        set_read_only(c"/", true)?;
        set_read_only(&self.home, false)?;
        // The old working folder is one of the mount that is read-only now.
        Ok(chdir(&*self.dir)?)
    }

    /// Makes the namespace, as root or within a user namespace.
    fn unshare(&self) -> io::Result<()> {
        if unshare(libc::CLONE_NEWNS).is_ok() {
            return Ok(());
        }
        unshare(libc::CLONE_NEWNS | libc::CLONE_NEWUSER)?;
        write(c"/proc/self/setgroups", "deny")?;
        write(c"/proc/self/uid_map", &self.user)?;
        write(c"/proc/self/gid_map", &self.group)
    }
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
    // SAFETY: the kernel reads a path that ends in a zero and as many bytes of attributes as it is told.
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
