#![expect(clippy::disallowed_methods, reason = "what engines say is stamped where it is read")]
#![doc = include_str!("../README.md")]

mod commands;
mod files;
mod input_file;
mod launch;
#[cfg(target_os = "linux")]
mod linux;
mod lock;
mod output_file;
mod process;
mod reader;
mod run_to_completion;
mod spawn;
mod tail;
mod terminal;
mod writer;

#[cfg(not(target_os = "linux"))]
compile_error!(
    "arbiter-process supports Linux only; another system needs a module like src/linux.rs"
);

#[cfg(target_os = "linux")]
use linux as system;

pub use commands::{TOKEN_VARIABLE, remove_secrets, replace_process, set_own_group, terminate};
pub use files::{
    changed_ms, create_locked_folder, create_private_folder, foreign_owner, has_other_names,
    is_executable, is_open_to_others, is_writable_by_others, leftover_folders, lock_file,
    remove_folder, remove_if_there, replace_link, try_lock, user_folder, working_folder,
};
pub use input_file::{
    MAX_SETTINGS, open_input, read_bounded, read_input, read_settings, read_text, utf8,
};
pub use launch::{FileVersion, Launch, SpawnError, file_version, made_for};
pub use lock::lock;
pub use output_file::{
    FileId, FilesInUse, Links, cannot_write, folder_of, is_at, may_write, open_output, places_near,
    plain_name,
};
pub use process::Process;
pub use reader::{Chunk, MAX_LINE_BYTES, decoded};
pub use run_to_completion::{Cancel, Completed, EndReason, Timeouts, run_to_completion};
pub use spawn::Spawner;
pub use system::access::{end_if_stalled, is_own_peer, lower_priority};
pub use system::c_library::set_up_c_library;
pub use system::cpus::allowed as allowed_cpus;
pub use system::delay::{Delays, stolen};
pub use system::host::{
    FILE_SIZE_SIGNAL, host_name, is_signal_ignored, memory_mib, processor_features, processor_name,
    system_version,
};
pub use system::limits::{ResourceLimits, raise_open_files};
pub use system::local_socket::{LocalSocket, LocalStream, connect_local};
pub use system::machine::{CpuTimes, Machine};
pub use system::mount::remote_source;
pub use system::pulse::Pulse;
pub use system::sandbox::{Sandbox, SandboxSupport};
pub use system::stop::QUIT_GRACE;
pub use system::whole_file::{WholeFile, without_name, write_program, write_secret};
pub use terminal::{Keys, is_journal};
pub use writer::WriteError;
