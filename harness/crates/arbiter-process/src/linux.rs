//! Linux implementation of the system-dependent parts of this crate.
//!
//! A port to another system needs a module that exports the same names as this module. For features
//! that the system does not support, the module returns an error or an empty value: `None`, an
//! empty list, or a [`SandboxSupport`](sandbox::SandboxSupport) with nothing supported. macOS has
//! kqueue in place of `pidfd` and `epoll`, and libproc in place of `/proc`. macOS has no
//! parent-death signal, so a port needs another way to kill engines when Arbiter is killed. Windows
//! has job objects for this purpose.
//!
//! The other modules of this crate work on every Unix, except that `input_file` needs a substitute
//! for `O_PATH`. For Windows, `commands`, `files`, `input_file`, `launch`, `output_file`,
//! `process`, `run_to_completion`, `terminal` and `writer` need changes.
//!
//! | module | task | on Linux |
//! |---|---|---|
//! | `access` | user at the other end of a socket, timeout of stalled connections, priority | `SO_PEERCRED`, `TCP_USER_TIMEOUT` |
//! | `c_library` | setup of the C library | glibc |
//! | `cpus` | available processors, pinning of threads | affinity, `/sys` |
//! | `delay` | time that threads waited for a processor | `schedstat` |
//! | `error_output` | reading of many pipes in one thread | `epoll` |
//! | `host` | name, processor, memory and version of the machine | `/proc` |
//! | `limits` | resource limits of a child process, killing of the child when this process ends | `setrlimit`, parent-death signal |
//! | `local_socket` | socket files in folders with paths of any length | `/proc/self/fd` |
//! | `machine` | load, frequency scaling, clock source, free memory | `/proc`, `/sys` |
//! | `mount` | machine that holds the file system of a path | `/proc/self/mountinfo` |
//! | `process_tree` | all processes that a program has started | child subreaper, `/proc` |
//! | `pulse` | detection of a stopped process or a suspended machine | `CLOCK_BOOTTIME`, `schedstat` |
//! | `sandbox` | restricted access to files, network and system calls | Landlock, seccomp |
//! | `stop` | waiting for the exit of a process, signals | `pidfd` |
//! | `whole_file` | files that have no name until they are complete | `O_TMPFILE` |

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
