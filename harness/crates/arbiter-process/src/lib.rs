#![doc = include_str!("../README.md")]

mod c_library;
mod cpus;
mod delay;
mod error_output;
mod host;
mod input_file;
mod limits;
mod local_socket;
mod machine;
mod process_tree;
mod reader;
mod run_to_completion;
mod sandbox;
mod spawn;
mod stop;
mod system;
mod tail;
mod terminal;
mod writer;

pub use c_library::set_up_c_library;
pub use cpus::allowed as allowed_cpus;
pub use delay::{Delays, stolen};
pub use host::{
    FILE_SIZE_SIGNAL, host_name, is_signal_ignored, memory_mib, processor_features, processor_name,
    system_version,
};
pub use input_file::{open_input, read_input, read_text};
pub use limits::{ResourceLimits, raise_open_files};
pub use local_socket::{LocalSocket, connect_local};
pub use machine::{CpuTimes, Machine};
pub use reader::{Chunk, MAX_LINE_BYTES};
pub use run_to_completion::{
    Cancel, Completed, EndReason, Timeouts, run_and_read, run_to_completion,
};
pub use sandbox::{Sandbox, SandboxSupport};
pub use spawn::{Launch, Process, SpawnError, Spawner};
pub use stop::QUIT_GRACE;
pub use system::{end_if_stalled, has_no_locks, is_own_peer, lower_priority};
pub use terminal::{Keys, is_journal};
pub use writer::WriteError;
