//! Universal Chess Interface (UCI), on the side of the GUI.

pub(super) mod dialect;
mod go;
mod info;
mod info_words;
mod option;
mod score;

pub use go::Go;
pub use info::{Info, Variations};
pub use info_words::{InfoWord, info_words};
pub use option::{OptionDeclaration, OptionError, OptionKind, check_option};
pub use score::Score;
