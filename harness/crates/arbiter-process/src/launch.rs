//! Program to start, and the reasons why a program cannot be started.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::io::Errno;
use thiserror::Error;

use super::files::{is_executable, working_folder};
use super::output_file::FileId;
use crate::system::limits::ResourceLimits;
use crate::system::sandbox::Sandbox;

/// Maximum number of bytes read from the first line of a script. The kernel has the same limit.
const FIRST_LINE: u64 = 256;

/// Program to start, and the settings for its process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// Path of the program; a bare name is looked up in `PATH`.
    pub program: PathBuf,
    /// Version of the program that may start; if `None`, every version may start.
    pub version: Option<FileVersion>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Working folder. If `None`, the program starts in the home folder of the sandbox or, without
    /// a sandbox, in the working folder of this process.
    pub dir: Option<PathBuf>,
    /// File to which stderr is appended, if any.
    pub stderr: Option<PathBuf>,
    /// Resource limits of the program and each of its children.
    pub limits: ResourceLimits,
    /// Processors on which the program may run; if empty, all processors that this process may use.
    pub cpus: Vec<usize>,
    /// Environment variables; a sandbox also sets `HOME` and `TMPDIR`. If `None`, the program
    /// inherits the environment except Arbiter's secrets or, in a sandbox, only the variables that
    /// the sandbox allows.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Sandbox of the program, if any.
    pub sandbox: Option<Sandbox>,
}

/// Identity of a file, and the time of its last modification.
pub type FileVersion = (FileId, SystemTime);

/// Returns the version of the file at `path`; `None` if the file does not exist.
pub fn file_version(path: &Path) -> Option<FileVersion> {
    let about = path.metadata().ok()?;
    Some((FileId::from(&about), about.modified().ok()?))
}

/// Reason why a process could not be started.
#[derive(Debug, Error)]
#[error("{text}")]
pub struct SpawnError {
    text: String,
    /// `true` if the machine, not the program, caused the failure, for example because the machine
    /// has run out of memory, processes or file descriptors.
    pub is_environment: bool,
}

impl SpawnError {
    pub(super) fn of_program(launch: &Launch, source: &io::Error) -> SpawnError {
        let scarce = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
        // The kind `Unsupported` means that the system cannot enforce the sandbox.
        let is_environment = source.kind() == io::ErrorKind::Unsupported
            || Errno::from_io_error(source).is_some_and(|no| scarce.contains(&no));
        let program = &launch.program;
        let cause = cause(program, launch.dir.as_deref(), source);
        let text = format!("cannot start '{}': {cause}", program.display());
        SpawnError { text, is_environment }
    }

    pub(super) fn of_environment(text: String) -> SpawnError {
        SpawnError { text, is_environment: true }
    }
}

/// Explains the system's error, which does not name a missing folder or interpreter.
fn cause(program: &Path, dir: Option<&Path>, error: &io::Error) -> String {
    let kind = Errno::from_io_error(error);
    match (kind, dir) {
        (_, Some(dir)) if !dir.is_dir() => format!("its folder '{}' does not exist", dir.display()),
        (Some(Errno::NOENT), None) if let Err(why) = working_folder() => why,
        (Some(Errno::NOENT), _) if program.is_file() => match interpreter(program) {
            Some(interpreter) if interpreter.exists() => {
                let program = program.display();
                format!("its lines have Windows endings: sed -i 's/\\r$//' '{program}'")
            }
            Some(interpreter) => {
                format!("its interpreter '{}' does not exist", interpreter.display())
            }
            None => "its dynamic loader does not exist: is the program for this system?".to_owned(),
        },
        (Some(Errno::ACCESS), _) if program.is_file() && !is_executable(program) => {
            format!("it is not executable: chmod +x '{}'", program.display())
        }
        (Some(Errno::NOEXEC), _) => match made_for(program) {
            Some(other) => format!("it is a program for {other}"),
            None => "it is neither a program nor a script that begins with #!".to_owned(),
        },
        (Some(Errno::MFILE), _) => format!("{error}; lower --concurrency or raise ulimit -n"),
        _ => error.to_string(),
    }
}

/// Returns the interpreter that the first line of a script names.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    let file = File::open(program).ok()?.take(FIRST_LINE);
    BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8_lossy(&line);
    line.strip_prefix("#!")?.split_whitespace().next().map(PathBuf::from)
}

/// Returns the system or processor for which a program was built; `None` if the program was built
/// for this machine or if its format is unknown.
pub fn made_for(program: &Path) -> Option<&'static str> {
    let head = |path: &Path| {
        let mut head = [0; 20];
        File::open(path).and_then(|mut file| file.read_exact(&mut head)).ok()?;
        Some(head)
    };
    let own = head(Path::new("/proc/self/exe"))?;
    match head(program)? {
        [b'M', b'Z', ..] => Some("Windows"),
        [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => Some("macOS"),
        // The last two bytes identify the processor. 32-bit x86 programs (3) may run on a 64-bit
        // processor.
        [0x7f, b'E', b'L', b'F', .., 3, 0] => None,
        other @ [0x7f, b'E', b'L', b'F', ..] if other[18..] != own[18..] => {
            Some("another processor")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::Spawner;

    #[test]
    fn the_cause_of_a_failed_start_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("engine.py");
        let check = |text: &str, mode: u32, dir: Option<&str>, words: &str| {
            std::fs::write(&script, text).unwrap();
            std::fs::set_permissions(&script, PermissionsExt::from_mode(mode)).unwrap();
            let dir = dir.map(PathBuf::from);
            let launch = Launch { program: script.clone(), dir, ..Launch::default() };
            let error = Spawner::start().unwrap().spawn(&launch, |_| true).unwrap_err().to_string();
            assert!(error.starts_with("cannot start '") && error.contains(words), "{error}");
        };
        let script = "#!/bin/sh\n";
        check("#!/nonexistent/python -u\n", 0o755, None, "interpreter '/nonexistent/python' does");
        check("#!/nonexistent/python\r\n", 0o755, None, "interpreter '/nonexistent/python' does");
        check("#!/bin/sh\r\n", 0o755, None, "its lines have Windows endings: sed -i 's/\\r$//' '");
        check(script, 0o755, Some("/nonexistent"), "its folder '/nonexistent' does not exist");
        check(script, 0o644, None, "it is not executable: chmod +x '");
    }

    #[test]
    fn programs_for_other_systems_are_named_for_every_error() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("engine");
        let mut arm = std::fs::read("/proc/self/exe").unwrap();
        arm.truncate(64);
        arm[18..20].copy_from_slice(&[183, 0]);
        let windows = b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\xb8\0\0\0";
        let files = cause(&program, None, &io::Error::from(Errno::MFILE));
        assert!(files.ends_with("; lower --concurrency or raise ulimit -n"), "{files}");
        for (bytes, other) in [(&arm[..], "another processor"), (windows, "Windows")] {
            std::fs::write(&program, bytes).unwrap();
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
            let launch = Launch { program: program.clone(), ..Launch::default() };
            let words = format!("it is a program for {other}");
            // Some C libraries start a shell for such a program.
            let how = match Spawner::start().unwrap().spawn(&launch, |_| true) {
                Ok(mut process) => process.exit_within(std::time::Duration::from_secs(5)).unwrap(),
                Err(error) => error.to_string(),
            };
            assert!(how.ends_with(&words), "{how}");
            assert_eq!(cause(&program, None, &io::Error::from(Errno::NOEXEC)), words);
        }
    }

    #[test]
    fn programs_of_other_systems_are_distinguished() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("engine");
        let own = std::fs::read("/proc/self/exe").unwrap();
        let mut arm = own[..20].to_vec();
        arm[18] = 183;
        let mut intel = arm.clone();
        intel[18] = 3;
        let universal = b"\xca\xfe\xba\xbe\0\0\0\x02\x01\0\0\x07\0\0\0\x03\0\0\x40\0";
        for (bytes, expect) in [
            (&own[..20], None),
            (&arm[..], Some("another processor")),
            (&intel[..], None),
            (b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\xb8\0\0\0", Some("Windows")),
            (universal, Some("macOS")),
            (b"#!/bin/sh\nexec /usr/games/gnuchess\n", None),
            (b"", None),
        ] {
            std::fs::write(&program, bytes).unwrap();
            assert_eq!(made_for(&program), expect);
        }
    }
}
