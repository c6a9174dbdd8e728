//! Bounds what an untrusted program may read, write and reach.
//!
//! Landlock takes the files, TCP ports, and processes of others away, seccomp the system calls with
//! which a program could get them back or attack the kernel. Both hold for all that it starts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, PathFdError, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use libc::c_long;
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// The newest rules of Landlock that are used; what an older kernel lacks is left out.
const RULES: ABI = ABI::V6;

/// Variables that a sandboxed program gets from our environment, besides those that begin with `LC_`.
const VARIABLES: [&str; 5] = ["PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH"];

/// What every program may read and run: the system's programs and libraries, and what says which
/// machine this is.
const READABLE: [&str; 18] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/proc",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/dev/random",
    "/dev/urandom",
];

/// Devices that every program may write, too.
const DEVICES: [&str; 3] = ["/dev/full", "/dev/null", "/dev/zero"];

/// System calls that no engine or compiler needs, and that reach other processes, other namespaces or
/// rarely used parts of the kernel.
const FORBIDDEN: [c_long; 33] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsopen,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_move_mount,
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
    libc::SYS_setns,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

const NO_CAPABILITIES: CapabilitySets = CapabilitySets {
    effective: CapabilitySet::empty(),
    permitted: CapabilitySet::empty(),
    inheritable: CapabilitySet::empty(),
};

/// What a program may reach besides the system's programs and libraries, which it may read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Its home and the folder of its temporary files, where alone it may write. Absolute.
    pub home: PathBuf,
    /// Files and folders that it may read and run, besides its program. Absolute.
    pub readable: Vec<PathBuf>,
    /// Whether it may use the network.
    pub has_network: bool,
}

/// What this system can hold a program to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxSupport {
    /// Files that it may read and write.
    pub files: bool,
    /// TCP ports that it may use.
    pub ports: bool,
    /// System calls.
    pub system_calls: bool,
}

impl SandboxSupport {
    /// That of this system.
    pub fn of_this_system() -> SandboxSupport {
        let (nothing, action) = (std::ptr::null::<u8>(), libc::SECCOMP_RET_ERRNO);
        // SAFETY: both calls ask a question; the kernel reads at most the action, a number.
        let (version, answer) = unsafe {
            (
                libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0, 1),
                libc::syscall(
                    libc::SYS_seccomp,
                    libc::SECCOMP_GET_ACTION_AVAIL,
                    0,
                    &raw const action,
                ),
            )
        };
        SandboxSupport { files: version >= 1, ports: version >= 4, system_calls: answer == 0 }
    }

    /// Whether it is all that a [`Sandbox`] asks for.
    pub fn is_complete(self) -> bool {
        self.files && self.ports && self.system_calls
    }
}

/// A sandbox that only remains to be entered.
pub(super) struct Prepared {
    rules: Option<RulesetCreated>,
    filters: Vec<BpfProgram>,
}

impl Sandbox {
    /// Gives a command the environment of the sandbox, and opens what it may reach.
    pub(super) fn prepare(&self, command: &mut Command, program: &Path) -> io::Result<Prepared> {
        let is_kept = |name: &OsString| {
            name.to_str().is_some_and(|name| name.starts_with("LC_") || VARIABLES.contains(&name))
        };
        command
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| is_kept(name)))
            .env("HOME", &self.home)
            .env("TMPDIR", &self.home);
        if command.get_current_dir().is_none() {
            command.current_dir(&self.home);
        }
        let rules = self.rules(program).map_err(io::Error::other)?;
        let filters = self.filters().map_err(io::Error::other)?;
        let filters = if SandboxSupport::of_this_system().system_calls { filters } else { vec![] };
        Ok(Prepared { rules: Some(rules), filters })
    }

    fn rules(&self, program: &Path) -> Result<RulesetCreated, RulesError> {
        let read = AccessFs::from_read(RULES);
        let write = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
        let mut rules = Ruleset::default().handle_access(AccessFs::from_all(RULES))?;
        if !self.has_network {
            rules = rules.handle_access(AccessNet::from_all(RULES))?;
        }
        let rules = rules.scope(Scope::from_all(RULES))?.create()?;
        let home = PathBeneath::new(PathFd::new(&self.home)?, AccessFs::from_all(RULES));
        Ok(rules
            .add_rules(path_beneath_rules(READABLE, read))?
            .add_rules(path_beneath_rules(DEVICES, write))?
            .add_rules(path_beneath_rules(&self.readable, read))?
            .add_rules(path_beneath_rules([program], read))?
            .add_rule(home)?)
    }

    /// Two filters, as they differ in the error that a call gets.
    fn filters(&self) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
        let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
            FORBIDDEN.into_iter().map(|call| (call, Vec::new())).collect();
        // A namespace of its own would make a program its administrator.
        let flags = [
            libc::CLONE_NEWCGROUP,
            libc::CLONE_NEWIPC,
            libc::CLONE_NEWNET,
            libc::CLONE_NEWNS,
            libc::CLONE_NEWPID,
            libc::CLONE_NEWUSER,
            libc::CLONE_NEWUTS,
        ];
        let has = |flag: i32| {
            let flag = u64::from(flag.unsigned_abs());
            let is_set = SeccompCmpOp::MaskedEq(flag);
            SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Qword, is_set, flag)?])
        };
        let namespaces = flags.into_iter().map(has).collect::<Result<_, _>>()?;
        refused.insert(libc::SYS_clone, namespaces);
        if !self.has_network {
            refused.insert(libc::SYS_socket, Vec::new());
        }
        // Its flags are in memory, where no filter sees them; libraries then use `clone`.
        let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        [(refused, libc::EPERM), (unknown, libc::ENOSYS)]
            .into_iter()
            .map(|(calls, error)| {
                let error = SeccompAction::Errno(error.unsigned_abs());
                let arch = std::env::consts::ARCH.try_into()?;
                SeccompFilter::new(calls, SeccompAction::Allow, error, arch)?.try_into()
            })
            .collect()
    }
}

impl Prepared {
    /// Enters the sandbox, for good. Only system calls: it may be used between fork and exec.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        // So that what root starts is not root, as far as the kernel is concerned.
        rustix::thread::set_no_new_privs(true)?;
        rustix::thread::set_capabilities(None, NO_CAPABILITIES)?;
        if let Some(rules) = self.rules.take()
            && rules.restrict_self().is_err()
        {
            return Err(io::Error::last_os_error());
        }
        for filter in &self.filters {
            if seccompiler::apply_filter(filter).is_err() {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
enum RulesError {
    #[error(transparent)]
    Rules(#[from] RulesetError),
    #[error(transparent)]
    Path(#[from] PathFdError),
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::{Launch, Spawner};

    /// What a shell prints that runs `script` in a sandbox beside a folder of secrets, which is `$1`.
    fn sandboxed(script: &str, change: impl FnOnce(&mut Sandbox, &Path)) -> Vec<String> {
        assert!(SandboxSupport::of_this_system().is_complete());
        let (home, secrets) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(secrets.path().join("key"), "secret\n").unwrap();
        let mut sandbox = Sandbox { home: home.path().to_owned(), ..Sandbox::default() };
        change(&mut sandbox, secrets.path());
        let args = ["-c", script, "sh", secrets.path().to_str().unwrap()];
        let launch = Launch {
            program: "/bin/sh".into(),
            args: args.map(str::to_owned).into(),
            sandbox: Some(sandbox),
            ..Launch::default()
        };
        let (sender, chunks) = mpsc::channel();
        let sink = move |chunk| sender.send(chunk).is_ok();
        let spawner = Spawner::start().unwrap();
        let mut process = spawner.spawn(&launch, sink).unwrap();
        process.exit_within(Duration::from_secs(20)).expect("it ends");
        // Shown if a test fails.
        eprintln!("{}", process.error_tail().join("\n"));
        chunks.into_iter().flat_map(|chunk| chunk.lines).collect()
    }

    #[test]
    fn only_its_home_is_its_own() {
        let script = "cat $1/key; ls $1 ~root; echo x > $1/new; echo x > /tmp/new-file-of-a-test; \
                      echo mine > mine; cat $HOME/mine; [ $PWD = $TMPDIR ] && echo there";
        assert_eq!(sandboxed(script, |_, _| {}), ["mine", "there"]);
        let open = |sandbox: &mut Sandbox, secrets: &Path| sandbox.readable.push(secrets.into());
        assert_eq!(
            sandboxed("cat $1/key; echo x > $1/key; cat $1/key", open),
            ["secret", "secret"]
        );
    }

    #[test]
    fn our_environment_stays_ours() {
        let variables = sandboxed("env | sed 's/=.*//'", |_, _| {});
        let is_known = |name: &str| {
            let usual = ["ARBITER_ENGINE_PROCESS", "HOME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"];
            VARIABLES.contains(&name) || usual.contains(&name) || name.starts_with("LC_")
        };
        assert!(variables.iter().all(|name| is_known(name)), "{variables:?}");
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "there is one to hide");
    }

    #[test]
    fn other_processes_are_out_of_reach() {
        let ours = std::process::id();
        let script = format!(
            "cat /proc/{ours}/environ /proc/{ours}/maps; readlink /proc/{ours}/fd/0; \
             kill -0 {ours} && echo reached; echo end"
        );
        assert_eq!(sandboxed(&script, |_, _| {}), ["end"]);
    }

    #[test]
    fn the_network_and_namespaces_are_closed() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!(
            "perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(\"127.0.0.1:{port}\") \
             ? \"open\n\" : \"$!\n\"'; unshare -r true && echo unshared; echo end"
        );
        assert_eq!(sandboxed(&script, |_, _| {}), ["Operation not permitted", "end"]);
        let open = |sandbox: &mut Sandbox, _: &Path| sandbox.has_network = true;
        assert_eq!(sandboxed(&script, open), ["open", "end"]);
    }

    #[test]
    fn its_privileges_are_those_of_its_children() {
        let words = ["CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"];
        let script = "grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status";
        assert_eq!(sandboxed(script, |_, _| {}), words);
    }
}
