//! The library `schemars` in a build with the feature `json-schema`, and in any other build a
//! derive of its name that generates nothing: few users print schemas, and all would compile them.

#[cfg(not(feature = "json-schema"))]
pub use arbiter_json_schema_derive::JsonSchema;
#[cfg(feature = "json-schema")]
pub use schemars::*;
