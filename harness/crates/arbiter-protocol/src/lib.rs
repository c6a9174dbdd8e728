#![doc = include_str!("../README.md")]

mod cecp;
mod clock;
mod session;
mod state;
#[expect(missing_docs, reason = "functions that `serde_conv` makes have none")]
pub mod times;
mod uci;

pub use clock::{Clock, Conditions, Limits, MAX_PERIODS, Period, TimeControl, parse_seconds};
pub use session::{Protocol, QUIT, Restart, Session};
pub use state::{Claim, Game, SessionError, Setup, Step};
pub use times::Deadlines;
pub use uci::{
    Go, Info, InfoWord, OptionDeclaration, OptionError, OptionKind, Score, Variations,
    check_option, info_words,
};
