//! Settings of a run. Each setting is one field, which is both a flag and a key of `arbiter.toml`;
//! only this field defines the name, type, help and heading of the setting.

// Macros refer to this crate by the same path as other crates do.
extern crate self as arbiter_settings;

#[macro_use]
mod setting;

mod command;
mod file;
mod run;
mod values;

pub use command::{command_flags, command_line, difference, filled, on_resume};
pub use file::build::build_settings_of;
pub use file::tune::TuneTable;
pub use file::{DEFAULT_SETTINGS, RENAMED, SWITCHES, load_engines, load_settings};
pub use run::{ScheduleKeys, Settings, TestSettings, at_least_one};
pub use setting::{Combine, Key, Keys, OnResume, help, merged};
pub use values::{CORRECTIONS, Choices, MODELS, SANDBOXES, number, one_of, text, truth};
