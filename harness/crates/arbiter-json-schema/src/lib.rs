//! The library `schemars` if the feature `json-schema` is enabled, otherwise a derive macro
//! `JsonSchema` that generates nothing: few users print schemas, but all users would have to
//! compile the library.

#[cfg(not(feature = "json-schema"))]
pub use arbiter_json_schema_derive::JsonSchema;
#[cfg(feature = "json-schema")]
pub use schemars::*;
