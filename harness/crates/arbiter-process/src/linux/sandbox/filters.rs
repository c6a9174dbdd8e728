//! Seccomp filters: system calls that sandboxed programs are not allowed to use.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};

/// System calls that affect other processes, namespaces or rarely used parts of the kernel. Neither
/// engines nor compilers need these calls.
const FORBIDDEN: [c_long; 49] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsopen,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_ioprio_set,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_move_mount,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_setns,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// System calls that are forbidden without network access. `socket` is forbidden too, but a socket
/// of a pair could still take an abstract name, which all processes of the machine see.
const FORBIDDEN_WITHOUT_NETWORK: [c_long; 5] =
    [libc::SYS_accept, libc::SYS_accept4, libc::SYS_bind, libc::SYS_connect, libc::SYS_listen];

/// System calls that compilers need but engines do not: calls for file attributes and file
/// notifications. Landlock does not restrict these calls.
const FORBIDDEN_TO_ENGINES: [c_long; 18] = [
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    // fchmodat2, which libc does not define for all architectures.
    452,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fgetxattr,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_getxattr,
    libc::SYS_inotify_add_watch,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    libc::SYS_utimensat,
];

/// Older variants of the calls in [`FORBIDDEN_TO_ENGINES`].
#[cfg(target_arch = "x86_64")]
const OLD: [c_long; 6] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_futimesat,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: [c_long; 0] = [];

/// System calls that change the process given by their first argument. Only 0, which stands for the
/// caller, is allowed.
const OF_PROCESSES: [c_long; 6] = [
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_setpriority,
];

/// Flags with which `clone` creates namespaces. Within a new user namespace, a program would have
/// administrator rights.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Commands of `fcntl` that delay or watch other processes that open a file.
const FCNTL: [i32; 2] = [libc::F_SETLEASE, libc::F_NOTIFY];

/// Commands of `ioctl` that are allowed. Most other commands change file attributes (which Landlock
/// does not restrict), or control terminals and devices.
const IOCTL: [u32; 8] = [
    0x5401,      // TCGETS
    0x802c_542a, // TCGETS2
    0x540f,      // TIOCGPGRP
    0x5413,      // TIOCGWINSZ
    0x541b,      // FIONREAD
    0x5421,      // FIONBIO
    0x5450,      // FIONCLEX
    0x5451,      // FIOCLEX
];

/// Commands of `ioctl` for sockets; these commands are also allowed if network access is allowed.
/// Commands that change a network interface need privileges.
const SOCKET_IOCTL: RangeInclusive<i32> = 0x8900..=0x89ff;

/// Socket types that are forbidden for `socketpair`: all except SOCK_STREAM and SOCK_SEQPACKET.
/// Rust's standard library uses SOCK_SEQPACKET to start processes. A socket of another type could
/// send data to the sockets of other processes.
const UNCONNECTED: [u64; 14] = [0, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Number of `mseal`, the newest system call that was reviewed for these filters. Calls with higher
/// numbers, which include all calls of the x32 ABI, are refused.
const NEWEST: u32 = 462;

/// Returns two filters, because each filter can return only one error code: EPERM for forbidden
/// calls, and ENOSYS for unknown calls.
pub(super) fn filters(
    is_builder: bool,
    has_network: bool,
) -> Result<Vec<BpfProgram>, BackendError> {
    let always = |call| (call, Vec::new());
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = FORBIDDEN.into_iter().map(always).collect();
    if !has_network {
        refused.extend(FORBIDDEN_WITHOUT_NETWORK.map(always));
    }
    if !is_builder {
        refused.extend(FORBIDDEN_TO_ENGINES.into_iter().chain(OLD).map(always));
    }
    let if_argument = |number, operator, value| {
        let is_so = SeccompCondition::new(number, SeccompCmpArgLen::Qword, operator, value)?;
        SeccompRule::new(vec![is_so])
    };
    // The kernel reads 32 bits of an `int` argument. A comparison of all 64 bits could be evaded by
    // setting upper bits.
    let int = |number, operator, value: i32| {
        let value = u64::from(value.cast_unsigned());
        SeccompCondition::new(number, SeccompCmpArgLen::Dword, operator, value)
    };
    let is_int = |number, value| SeccompRule::new(vec![int(number, SeccompCmpOp::Eq, value)?]);
    refused.insert(
        libc::SYS_fcntl,
        FCNTL.map(|is| is_int(1, is)).into_iter().collect::<Result<_, _>>()?,
    );
    let unlisted = IOCTL.map(|is| int(1, SeccompCmpOp::Ne, is.cast_signed()));
    let unlisted = unlisted.into_iter().collect::<Result<Vec<_>, _>>()?;
    let commands = if has_network {
        let below = int(1, SeccompCmpOp::Lt, *SOCKET_IOCTL.start())?;
        let above = int(1, SeccompCmpOp::Gt, *SOCKET_IOCTL.end())?;
        vec![[unlisted.clone(), vec![below]].concat(), [unlisted, vec![above]].concat()]
    } else {
        vec![unlisted]
    };
    let commands = commands.into_iter().map(SeccompRule::new).collect::<Result<_, _>>()?;
    refused.insert(libc::SYS_ioctl, commands);
    // The socket type is in the lower four bits; flags such as `SOCK_CLOEXEC` are in the upper
    // bits.
    let kind = |kind| if_argument(1, SeccompCmpOp::MaskedEq(0xf), kind);
    let mut kinds = UNCONNECTED.into_iter().map(kind).collect::<Result<Vec<_>, _>>()?;
    let is_elsewhere = |domain| int(0, SeccompCmpOp::Ne, domain);
    // Other families, such as TIPC, reach other processes and parts of the kernel.
    kinds.push(SeccompRule::new(vec![is_elsewhere(libc::AF_UNIX)?])?);
    refused.insert(libc::SYS_socketpair, kinds);
    let elsewhere = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(is_elsewhere);
    // Name resolution needs the routing protocol of netlink; the other protocols configure the
    // kernel.
    let netlink = [int(0, SeccompCmpOp::Eq, libc::AF_NETLINK)?, int(2, SeccompCmpOp::Ne, 0)?];
    let sockets = if has_network {
        let elsewhere = elsewhere.into_iter().collect::<Result<_, _>>()?;
        vec![SeccompRule::new(elsewhere)?, SeccompRule::new(netlink.into())?]
    } else {
        Vec::new()
    };
    // A call with an empty list of rules is refused for all arguments.
    refused.insert(libc::SYS_socket, sockets);
    for call in OF_PROCESSES {
        refused.insert(call, vec![if_argument(0, SeccompCmpOp::Ne, 0)?]);
    }
    // The second argument of `setpriority` is the target; the first argument is the kind of target:
    // process, group or user.
    let other = if_argument(1, SeccompCmpOp::Ne, 0)?;
    refused.entry(libc::SYS_setpriority).or_default().push(other);
    let has = |flag: i32| {
        let flag = u64::from(flag.unsigned_abs());
        if_argument(0, SeccompCmpOp::MaskedEq(flag), flag)
    };
    let namespaces = NAMESPACES.into_iter().map(has).collect::<Result<_, _>>()?;
    refused.insert(libc::SYS_clone, namespaces);
    let error = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into()?;
    let listed = SeccompFilter::new(refused, SeccompAction::Allow, error, arch)?.try_into()?;
    Ok(vec![listed, refuse_unknown()])
}

/// Makes system calls newer than `NEWEST`, and `clone3`, fail as if these calls did not exist. The
/// flags of `clone3` are in memory, where no filter can check the flags; libraries fall back to
/// `clone`.
fn refuse_unknown() -> BpfProgram {
    let step = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let error = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    vec![
        // The number of the system call is the first field of the filter's input.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, 0, libc::SYS_clone3 as u32),
        step(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 0, 1, NEWEST),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, error),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
