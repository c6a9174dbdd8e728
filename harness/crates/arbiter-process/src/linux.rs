//! Linux: the parts of this crate that other systems do in another way, or cannot do.
//!
//! A system needs a module with the same names. Where it cannot do something, the module refuses,
//! or returns that it is unknown: `None`, an empty list,
//! [`SandboxSupport`](sandbox::SandboxSupport) of nothing. macOS has kqueue for `pidfd` and
//! `epoll`, libproc for `/proc`, and no signal at the death of a parent, so that something else has
//! to end engines when Arbiter is killed; Windows has job objects for all of that.
//!
//! | module | what a system is asked for | here |
//! |---|---|---|
//! | `access` | whose is the other end of a socket, priority, locks, connections that stall | `SO_PEERCRED`, `TCP_USER_TIMEOUT` |
//! | `c_library` | what the C library has to be told | glibc |
//! | `cpus` | which processors there are, moving threads to some | affinity, `/sys` |
//! | `delay` | how long threads waited for a processor | `schedstat` |
//! | `error_output` | reading many pipes in one thread | `epoll` |
//! | `host` | name, processor, memory, version | `/proc` |
//! | `limits` | a child's limits, its end with this process | `setrlimit`, the parent-death signal |
//! | `local_socket` | a socket that is a file, below a path of any length | `/proc/self/fd` |
//! | `machine` | what else runs, and at which speed | `/proc`, `/sys` |
//! | `mount` | whose the file system of a path is | `/proc/self/mountinfo` |
//! | `process_tree` | all that a program has started, wherever it went | child subreaper, `/proc` |
//! | `pulse` | whether this process was stopped or the machine slept | `CLOCK_BOOTTIME`, `schedstat` |
//! | `sandbox` | taking files, network and system calls away | Landlock, seccomp |
//! | `stop` | waiting for the end of a process, signals | `pidfd` |
//! | `whole_file` | a file that has no name until it is whole | `O_TMPFILE` |

pub(crate) mod access;
pub(crate) mod c_library;
pub(crate) mod cpus;
pub(crate) mod delay;
pub(crate) mod error_output;
pub(crate) mod host;
pub(crate) mod limits;
pub(crate) mod local_socket;
pub(crate) mod machine;
pub(crate) mod mount;
pub(crate) mod process_tree;
pub(crate) mod pulse;
pub(crate) mod sandbox;
pub(crate) mod stop;
pub(crate) mod whole_file;
