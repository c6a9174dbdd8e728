//! The library `schemars` if the feature `json-schema` is enabled, otherwise a derive macro
//! `JsonSchema` that generates nothing. Without this feature flag, all users would have to compile
//! the library, although few users print schemas.

#[cfg(not(feature = "json-schema"))]
pub use arbiter_json_schema_derive::JsonSchema;
#[cfg(feature = "json-schema")]
pub use schemars::*;
