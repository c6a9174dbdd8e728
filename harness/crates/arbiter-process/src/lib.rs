//! Engine processes: starting, reading with time stamps, writing, ending.
//!
//! Knows nothing of chess or of the protocol's meaning. One blocking thread per engine stamps its
//! output as `read` returns, because an async task would see it milliseconds late under load.

mod bounds;
mod cpus;
mod delay;
mod process_tree;
mod reader;
mod run_to_completion;
mod spawn;
mod stop;
mod tail;
mod writer;

pub use bounds::Bounds;
pub use cpus::allowed as allowed_cpus;
pub use delay::{Delays, stolen};
pub use reader::{Chunk, MAX_LINE_BYTES};
pub use run_to_completion::{Cancel, Completed, EndReason, Timeouts, run_to_completion};
pub use spawn::{Launch, Process, SpawnError, Spawner};
pub use stop::QUIT_GRACE;
pub use writer::WriteError;
