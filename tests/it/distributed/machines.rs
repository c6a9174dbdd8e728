//! Tests of the sandbox on other machines and for other users than in most tests.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::sandbox::{answer, attempts_at};
use crate::support::bench::Bench;
use crate::support::plan::Plan;
use crate::support::programs;
use crate::support::snapshot::{expect_next, without_machine};

/// ID of the user and group `nobody` on most systems.
const NOBODY: &str = "65534";

/// The worker of an ordinary user restricts engines as a worker of root does. The results of root's
/// worker are in the table.
#[test]
fn the_sandbox_of_an_ordinary_user_equals_that_of_root() {
    if !rustix::process::geteuid().is_root() {
        // Without root, all tests run as an ordinary user anyway.
        return;
    }
    let user = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
    let mut reached = Command::new(user[0]);
    reached.args(&user[1..]).arg("test").arg("-x").arg(programs::arbiter());
    if !reached.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: nobody else may run {}", programs::arbiter().display());
        return;
    }
    let rows = attempts_at("require", |bench| {
        let owner = format!("{NOBODY}:{NOBODY}");
        let owned = Command::new("chown").args(["-R", &owner]).arg(bench.path("")).status();
        assert!(owned.is_ok_and(|status| status.success()));
        user.map(str::to_owned).to_vec()
    });
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/security.md"));
    let text = text.expect("it is there");
    for row in &rows {
        let attempt = row.split('|').nth(1).expect("a cell");
        let documented: Vec<String> =
            text.lines().filter(|line| line.contains(attempt)).map(str::to_owned).collect();
        assert_eq!(answer(&rows, attempt), answer(&documented, attempt), "{attempt}");
    }
}

/// Program that hides system calls from another program: they do not exist. Its arguments are the
/// numbers of the first and the last call, and the command.
pub const WITHOUT_CALLS: &str = r#"
    my ($first, $last) = (shift, shift);
    my $filter = join "", map { pack "S C C L", @$_ }
        [0x20, 0, 0, 0], [0x35, 0, 2, $first], [0x25, 1, 0, $last], [0x06, 0, 0, 0x50026], [0x06, 0, 0, 0x7fff0000];
    my $program = pack "S x6 P", 5, $filter;
    syscall(157, 38, 1, 0, 0, 0) == 0 && syscall(157, 22, 2, $program) == 0 or die $!;
    exec @ARGV or die $!;
"#;

/// System calls of Landlock, and `unshare`.
const LANDLOCK: [&str; 2] = ["444", "446"];
const UNSHARE: [&str; 2] = ["272", "272"];

/// Returns the command line that hides system calls from the command that follows.
fn without(calls: [&str; 2]) -> Vec<String> {
    ["perl", "-e", WITHOUT_CALLS, calls[0], calls[1]].map(str::to_owned).to_vec()
}

/// A worker without Landlock or namespaces exits if a complete sandbox is required.
#[test]
fn a_worker_that_requires_a_sandbox_refuses_an_incomplete_one() {
    for (calls, lacking) in [(LANDLOCK, "partial: seccomp"), (UNSHARE, "seccomp, no namespaces")] {
        let bench = Bench::new();
        let arbiter = programs::arbiter().display().to_string();
        let trust = crate::support::nats::key(&bench);
        let flags =
            ["worker", "--on", "nats://127.0.0.1:1", "--trust", &trust, "--sandbox", "require"];
        let by = without(calls);
        let command_line = by.iter().skip(1).map(String::as_str).chain([arbiter.as_str()]);
        let refused = bench.start(Path::new("perl"), command_line.chain(flags)).finish();
        refused.expect_refusal(7, &["landlock 6", lacking]);
    }
}

/// Without Landlock, the rest of the sandbox still applies.
#[test]
fn without_landlock_seccomp_still_applies() {
    let by = without(LANDLOCK);
    let rows = attempts_at("auto", |_| by);
    if rows.is_empty() {
        return;
    }
    for attempt in [
        "see a secret variable",
        "change mode or time",
        "hear which files",
        "trace the worker",
        "connect to the NATS server",
        "send a datagram",
        "connect to a Unix socket",
        "mount a file system",
        "gain privileges by a setuid",
        "have privileges of root",
        "use io_uring",
    ] {
        assert_eq!(answer(&rows, attempt), "no", "{attempt}: {rows:#?}");
    }
    assert_eq!(answer(&rows, "read a file in the home"), "yes", "it was Landlock that held it");
}

/// Returns a 32-bit Linux program that immediately ends with exit code 3: the file header, the
/// header of its only segment, and `mov eax, 1; mov ebx, 3; int 0x80`.
fn small_program() -> Vec<u8> {
    let (header, segment, code) = (52, 32, [184, 1, 0, 0, 0, 187, 3, 0, 0, 0, 205, 128]);
    let (base, length) = (0x0804_8000_u32, header + segment + code.len() as u32);
    let mut bytes = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let short = |bytes: &mut Vec<u8>, numbers: &[u16]| {
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    };
    let long = |bytes: &mut Vec<u8>, numbers: &[u32]| {
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    };
    short(&mut bytes, &[2, 3]);
    long(&mut bytes, &[1, base + header + segment, header, 0, 0]);
    short(&mut bytes, &[52, 32, 1, 0, 0, 0]);
    long(&mut bytes, &[1, 0, base, base, length, length, 5, 0x1000]);
    bytes.extend(code);
    bytes
}

#[test]
fn a_32_bit_program_is_ended_in_the_sandbox_with_a_reason() {
    let bench = Bench::new();
    let engine = bench.write("small", small_program());
    std::fs::set_permissions(&engine, PermissionsExt::from_mode(0o755)).expect("a file of ours");
    if Command::new(&engine).status().ok().and_then(|status| status.code()) != Some(3) {
        eprintln!("skipped: the kernel has no programs of 32 bits");
        return;
    }
    for sandbox in ["off", "require"] {
        let plan = Plan::new(&bench, "match", 1).puppet("Good", "--seed 1");
        let plan = plan.engine(format!("name=Small,cmd=\"{}\"", engine.display()));
        let finished = plan.set("sandbox", sandbox).run().expect_code(3);
        let place = bench.path("").display().to_string();
        expect_next(&without_machine(&finished.stderr).replace(&place, "PLACE/"));
    }
}
