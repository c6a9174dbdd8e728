//! Parts that all reports share: documents, tables, charts, and formats of individual values.

mod chart;
mod document;
mod options;
mod table;
mod terminal;
mod text;
mod value;

pub use {chart::*, document::*, options::*, table::*, terminal::*, text::*, value::*};
