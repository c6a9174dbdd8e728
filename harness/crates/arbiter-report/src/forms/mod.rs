//! Output formats of documents and values: HTML, text, Markdown, CSV and JUnit XML.

mod csv;
mod html;
mod junit;
mod markdown;
mod plain;

pub(crate) use junit::*;
pub use {csv::*, html::*, markdown::*, plain::*};
