//! The form in which plans and games are stored as JSON and sent over the network.
//!
//! A type whose name ends in `Def` mirrors a type of another crate for serde's `remote` and is named
//! in `with`; one that ends in `Row` is a form of its own. A mirror has exactly the fields of its
//! type, or it does not compile, so a new field is added to the type and to its mirror. The names
//! in JSON never change: stores of every earlier version can be read. A field that earlier versions
//! did not write has a default, which is what they did.

#[expect(missing_docs, reason = "functions that `serde_conv` makes have none")]
mod convert;
mod engine;
mod game;
mod plan;

pub use convert::{DeadlinesMs, Millis};
pub use engine::EngineDef;
pub use game::GameRow;
pub use plan::{AnnotationDef, Fingerprints, PlanRow};
