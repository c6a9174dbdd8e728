//! Sandbox for untrusted programs: restricts access to files, network and processes.
//!
//! Landlock blocks access to files, TCP ports and other processes; seccomp blocks system calls that
//! could evade Landlock or attack the kernel. Both restrictions apply to all processes that the
//! program starts.

mod filters;
mod home;
mod namespaces;

use std::error::Error;
use std::ffi::{CStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use rustix::fs::{Mode, OFlags};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::BpfProgram;

pub(crate) use self::home::Home;
use self::namespaces::Namespaces;
use crate::Launch;

/// Newest Landlock version (ABI) whose rules are used. Rules that the kernel does not support are
/// omitted.
const RULES: ABI = ABI::V6;

/// Environment variables that a sandboxed program inherits, in addition to variables that begin
/// with `LC_`.
const VARIABLES: [&str; 5] = ["PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH"];

/// Files and folders that every program may read and execute: programs and libraries of the system,
/// and descriptions of the machine.
const READABLE: [&str; 17] = [
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
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/dev/random",
    "/dev/urandom",
];

/// Files of `/proc` that every program may read. The entries of other processes are excluded,
/// because command lines may contain secrets. The machine's connections (`net`) are excluded too,
/// and so is `task`, which also contains `net`.
const PROC: [&CStr; 18] = [
    c"/proc/cpuinfo",
    c"/proc/meminfo",
    c"/proc/self/auxv",
    c"/proc/self/cgroup",
    c"/proc/self/cmdline",
    c"/proc/self/comm",
    c"/proc/self/environ",
    c"/proc/self/fd/",
    c"/proc/self/limits",
    c"/proc/self/maps",
    c"/proc/self/mountinfo",
    c"/proc/self/smaps",
    c"/proc/self/stat",
    c"/proc/self/statm",
    c"/proc/self/status",
    c"/proc/stat",
    c"/proc/sys/",
    c"/proc/version",
];

/// Devices that every program may read and write.
const DEVICES: [&str; 3] = ["/dev/full", "/dev/null", "/dev/zero"];

const NO_CAPABILITIES: CapabilitySets = CapabilitySets {
    effective: CapabilitySet::empty(),
    permitted: CapabilitySet::empty(),
    inheritable: CapabilitySet::empty(),
};

/// Oldest Landlock version that supports all restrictions of a [`Sandbox`]. This version added
/// restrictions on signals and abstract sockets.
const COMPLETE: u32 = 6;

/// Permissions of a sandboxed program, in addition to reading the system's programs and libraries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Absolute path of the program's home folder. The program may write files, including temporary
    /// files, only in this folder. If `None`, each process gets an empty home folder, which is
    /// removed after the process has ended.
    pub home: Option<PathBuf>,
    /// Absolute paths of additional files and folders that the program may read and execute.
    pub readable: Vec<PathBuf>,
    /// `true` if the program may change modes, owners and times of files, as builds do. The
    /// permission covers the files in the home folder or, if [`Sandbox::keeps_attributes`] returns
    /// `false`, all files of the user.
    pub is_builder: bool,
    /// `true` if the program may use the network.
    pub has_network: bool,
    /// `true` if the program must not start unless the system can enforce all restrictions.
    pub is_required: bool,
}

/// Sandbox support of this system. Displayed as "landlock 7, seccomp", as "partial: landlock 4,
/// seccomp, no namespaces" if a restriction of [`Sandbox`] is unsupported, or as "none" without
/// Landlock and seccomp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxSupport {
    /// Landlock version; 0 if Landlock is unsupported.
    landlock: u32,
    /// `true` if seccomp is supported.
    seccomp: bool,
    /// `true` if process and mount namespaces are supported.
    namespaces: bool,
}

impl SandboxSupport {
    /// Queries the sandbox support of this system.
    pub fn detect() -> SandboxSupport {
        let nothing = std::ptr::null::<u8>();
        let action = libc::SECCOMP_RET_ERRNO;
        // SAFETY: both calls are queries; the only memory that the kernel reads is the action, a
        // number.
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
        SandboxSupport {
            landlock: u32::try_from(version).unwrap_or(0),
            seccomp: answer == 0,
            namespaces: Sandbox::keeps_attributes(),
        }
    }

    fn is_complete(self) -> bool {
        self.landlock >= COMPLETE && self.seccomp && self.namespaces
    }

    /// Returns an error message unless the system supports a complete [`Sandbox`].
    pub fn complete(self) -> Result<(), String> {
        if self.is_complete() {
            Ok(())
        } else {
            Err(format!(
                "a complete sandbox needs landlock {COMPLETE} (Linux 6.12), seccomp, and user, mount and \
                 process namespaces; this system has {self}"
            ))
        }
    }
}

impl fmt::Display for SandboxSupport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let partial = if self.is_complete() { "" } else { "partial: " };
        let namespaces = if self.namespaces { "" } else { ", no namespaces" };
        match (self.landlock, self.seccomp) {
            (0, false) => write!(f, "none"),
            (0, true) => write!(f, "{partial}seccomp{namespaces}"),
            (version, false) => write!(f, "{partial}landlock {version}{namespaces}"),
            (version, true) => write!(f, "{partial}landlock {version}, seccomp{namespaces}"),
        }
    }
}

/// Sandbox that is ready to be entered.
pub(crate) struct PreparedSandbox {
    rules: Option<RulesetCreated>,
    filters: Vec<BpfProgram>,
    namespaces: Namespaces,
}

impl Sandbox {
    /// Sets the environment of a command for the sandbox, and opens the files that the command may
    /// access. Also returns the temporary home folder, if one was created. The caller must not drop
    /// the home folder before the process has ended.
    pub(crate) fn prepare(
        &self,
        command: &mut Command,
        launch: &Launch,
    ) -> io::Result<(PreparedSandbox, Option<Home>)> {
        let support = SandboxSupport::detect();
        if self.is_required {
            let unsupported = |reason| io::Error::new(io::ErrorKind::Unsupported, reason);
            support.complete().map_err(unsupported)?;
        }
        let made = self.home.is_none().then(Home::make).transpose()?;
        let home =
            made.as_ref().map(|home| &*home.path).or(self.home.as_deref()).expect("made if absent");
        let is_kept = |name: &OsString| {
            name.to_str().is_some_and(|name| name.starts_with("LC_") || VARIABLES.contains(&name))
        };
        if launch.environment.is_none() {
            // Variables may contain secrets, so a program gets only the listed variables.
            command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_kept(name)));
        }
        command.env("HOME", home).env("TMPDIR", home);
        if command.get_current_dir().is_none() {
            command.current_dir(home);
        }
        let rules = self.rules(home, &launch.program).map_err(io::Error::other)?;
        let filters =
            filters::filters(self.is_builder, self.has_network).map_err(io::Error::other)?;
        let filters = if support.seccomp { filters } else { vec![] };
        let dir = command.get_current_dir().unwrap_or(home);
        let namespaces = Namespaces::new(self.is_builder.then_some([home, dir]))?;
        Ok((PreparedSandbox { rules: Some(rules), filters, namespaces }, made))
    }

    fn rules(
        &self,
        home: &Path,
        program: &Path,
    ) -> Result<RulesetCreated, Box<dyn Error + Send + Sync>> {
        let read = AccessFs::from_read(RULES);
        let write = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
        let mut rules = Ruleset::default().handle_access(AccessFs::from_all(RULES))?;
        if !self.has_network {
            rules = rules.handle_access(AccessNet::from_all(RULES))?;
        }
        let rules = rules.scope(Scope::from_all(RULES))?.create()?;
        let home = PathBeneath::new(PathFd::new(home)?, AccessFs::from_all(RULES));
        Ok(rules
            .add_rules(path_beneath_rules(READABLE, read))?
            .add_rules(path_beneath_rules(DEVICES, write))?
            .add_rules(path_beneath_rules(&self.readable, read))?
            .add_rules(path_beneath_rules([program], read))?
            .add_rule(home)?)
    }
}

impl PreparedSandbox {
    /// Enters the sandbox permanently. Makes only system calls, so this function may be called
    /// between fork and exec.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        // Namespaces come first, because creating namespaces needs privileges that the next steps
        // drop.
        self.namespaces.enter()?;
        // `no_new_privs` disables setuid programs, and is required to install filters without
        // privileges. Without capabilities, even root has no special rights.
        rustix::thread::set_no_new_privs(true)?;
        rustix::thread::set_capabilities(None, NO_CAPABILITIES)?;
        if let Some(rules) = self.rules.take() {
            // These paths are opened only now, because `/proc/self` must refer to the process in
            // the new namespace.
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let read = AccessFs::from_read(RULES);
            let opened = PROC.iter().filter_map(|path| {
                rustix::fs::open(*path, flags, Mode::empty()).ok().map(|own| {
                    // A rule for a file must not contain access rights that apply only to folders.
                    let is_folder = path.to_bytes().ends_with(b"/");
                    let access = if is_folder { read } else { AccessFs::ReadFile.into() };
                    Ok::<_, RulesetError>(PathBeneath::new(own, access))
                })
            });
            if rules.add_rules(opened).and_then(RulesetCreated::restrict_self).is_err() {
                return Err(io::Error::last_os_error());
            }
        }
        // The filters come last, because the filters forbid calls that the preceding steps need.
        for filter in &self.filters {
            if seccompiler::apply_filter(filter).is_err() {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::Spawner;

    /// Returns the output of a shell that runs `script` in a sandbox; `$1` is a folder with
    /// secrets.
    fn sandboxed(script: &str, change: impl FnOnce(&mut Sandbox, &Path)) -> Vec<String> {
        let secrets = tempfile::tempdir().unwrap();
        std::fs::write(secrets.path().join("key"), "secret\n").unwrap();
        let mut sandbox = Sandbox { is_required: true, ..Sandbox::default() };
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
        // The output on stderr is shown if a test fails.
        eprintln!("{}", process.error_tail().join("\n"));
        chunks.into_iter().flat_map(|chunk| chunk.lines).collect()
    }

    #[test]
    fn a_sandbox_shares_only_its_home_by_default() {
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
    fn the_sandbox_home_is_removed_with_the_process() {
        let home = &sandboxed("pwd; mkdir -p a/b; echo x > a/b/c", |_, _| {})[0];
        assert!(home.contains("/arbiter-home-"), "{home}");
        for _ in 0..500 {
            if !Path::new(home).exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{home} is still there");
    }

    #[test]
    fn sandboxed_processes_cannot_change_file_attributes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let seen = || {
            let data = file.path().metadata().unwrap();
            (data.permissions(), data.modified().unwrap())
        };
        let before = seen();
        let path = file.path().display();
        let script =
            format!("chmod 777 {path}; touch -d 2000-01-01 {path}; chown 1 {path}; echo end");
        assert_eq!(sandboxed(&script, |_, _| {}), ["end"]);
        assert_eq!(seen(), before);
        let builder = |sandbox: &mut Sandbox, _: &Path| sandbox.is_builder = true;
        assert_eq!(sandboxed("echo > a; chmod 500 a && echo end", builder), ["end"]);
        if Sandbox::keeps_attributes() {
            assert_eq!(sandboxed(&script, builder), ["end"]);
            assert_eq!(seen(), before);
            // The mode stays the same, so that a failure of this test changes nothing.
            let proc = "chmod $(stat -c %a /proc/uptime) /proc/uptime && echo set; echo end";
            assert_eq!(sandboxed(proc, builder), ["end"]);
        }
    }

    #[test]
    fn an_incomplete_required_sandbox_is_an_error() {
        let of = |landlock, seccomp, namespaces| SandboxSupport { landlock, seccomp, namespaces };
        for (support, expected) in [
            (of(7, true, true), "landlock 7, seccomp"),
            (of(7, true, false), "partial: landlock 7, seccomp, no namespaces"),
            (of(4, true, true), "partial: landlock 4, seccomp"),
            (of(0, true, true), "partial: seccomp"),
            (of(0, false, true), "none"),
        ] {
            assert_eq!(support.to_string(), expected);
            assert_eq!(support.complete().is_ok(), support == of(7, true, true), "{expected}");
        }
        let error = of(5, true, true).complete().unwrap_err();
        assert!(error.ends_with("this system has partial: landlock 5, seccomp"), "{error}");
    }

    #[test]
    fn only_listed_environment_variables_are_inherited() {
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
            "cat /proc/{ours}/environ /proc/{ours}/cmdline; readlink /proc/{ours}/fd/0; ls /proc; \
             kill -0 {ours} && echo reached; renice 19 {ours} && echo slowed; \
             prlimit --pid {ours} --core=0:0 && echo limited; echo end"
        );
        assert_eq!(sandboxed(&script, |_, _| {}), ["end"]);
    }

    #[test]
    fn network_and_namespaces_are_forbidden_by_default() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!(
            "perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(\"127.0.0.1:{port}\") \
             ? \"open\n\" : \"$!\n\"'; unshare -r true && echo unshared; echo end"
        );
        assert_eq!(sandboxed(&script, |_, _| {}), ["Operation not permitted", "end"]);
        let builder = |sandbox: &mut Sandbox, _: &Path| sandbox.is_builder = true;
        assert_eq!(sandboxed(&script, builder), ["Operation not permitted", "end"]);
        let open = |sandbox: &mut Sandbox, _: &Path| {
            (sandbox.is_builder, sandbox.has_network) = (true, true);
        };
        assert_eq!(sandboxed(&script, open), ["open", "end"]);
    }

    #[test]
    fn unix_sockets_are_forbidden_except_connected_pairs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let script = format!(
            "perl -MSocket -e 'for my $kind (SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET) \
             {{ print socketpair(my $a, my $b, AF_UNIX, $kind, 0) ? \"pair\n\" : \"$!\n\"; }} \
             print socketpair(my $a, my $b, AF_INET, SOCK_STREAM, 0) ? \"pair\n\" : \"$!\n\"'; \
             perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => \"{}\") ? \"open\n\" \
             : \"$!\n\"'; \
             perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0); \
             print bind($a, pack_sockaddr_un(\"\\0arbiter-$$\")) ? \"named\n\" : \"$!\n\"'",
            path.display()
        );
        let refused = "Operation not permitted";
        for (is_builder, has_network) in [(false, false), (true, false), (true, true)] {
            let change = |sandbox: &mut Sandbox, _: &Path| {
                (sandbox.is_builder, sandbox.has_network) = (is_builder, has_network);
            };
            let named = if has_network { "named" } else { refused };
            let expected = ["pair", refused, "pair", refused, refused, named];
            assert_eq!(sandboxed(&script, change), expected, "{is_builder} {has_network}");
        }
    }

    #[test]
    fn leases_file_flags_and_lists_of_connections_are_forbidden() {
        // F_SETLEASE with F_WRLCK; FS_IOC_SETFLAGS, FS_IOC_SETVERSION and FS_IOC_ENABLE_VERITY,
        // which leave the file unchanged here; and FIONREAD, which is allowed.
        let script = "echo > a; perl -e 'open(my $f, \"<\", \"a\"); \
             print fcntl($f, 1024, 1) ? \"leased\n\" : \"$!\n\"; \
             for my $command (0x40086602, 0x40087602, 0x40806685, 0x541b) { my $zeros = \"\\0\" x 128; \
             print ioctl($f, $command, $zeros) ? \"done\n\" : \"$!\n\"; }'; \
             for file in net/tcp task/$$/net/tcp comm; do read line < /proc/self/$file && echo $line; done";
        let refused = "Operation not permitted";
        let expected = [refused, refused, refused, refused, "done", "sh"];
        for (is_builder, has_network) in [(false, false), (true, false), (true, true)] {
            let change = |sandbox: &mut Sandbox, _: &Path| {
                (sandbox.is_builder, sandbox.has_network) = (is_builder, has_network);
            };
            assert_eq!(sandboxed(script, change), expected, "{is_builder} {has_network}");
        }
    }

    #[test]
    fn sandboxed_processes_have_no_privileges() {
        let words = ["CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"];
        let script = "exec grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status";
        assert_eq!(sandboxed(script, |_, _| {}), words);
    }
}
