//! Universal Chess Interface (UCI), on the side of the GUI.

pub(super) mod dialect;
mod go;
mod info;
mod option;
mod score;

pub use go::Go;
pub use info::{Info, InfoWord, Variations, info_words};
pub use option::{OptionDeclaration, OptionError, OptionKind, check_option};
pub use score::Score;
