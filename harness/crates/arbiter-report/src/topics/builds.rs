//! List of the builds in the build cache.

use schemars::JsonSchema;
use serde::Serialize;

use arbiter_names::quantity;

use crate::parts::{Document, Table};

/// Build as listed by `arbiter builds list`; the list starts with the least recently used build.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "arbiter.builds.list")]
pub struct BuildRow {
    /// Name of the build's folder in the cache.
    #[serde(rename = "build")]
    pub name: String,
    /// Time of the last use, in UTC.
    pub used: String,
    /// Total size of the build's files, in bytes.
    pub bytes: u64,
    /// `true` if the build produced a program.
    #[serde(rename = "built")]
    pub is_built: bool,
    /// Full hash of the commit.
    pub commit: Option<String>,
    /// Command of the build.
    pub command: Option<String>,
    /// Duration of the build, in seconds.
    pub seconds: Option<f64>,
    /// Node count of the bench, if the bench was run.
    #[serde(rename = "bench_nodes")]
    pub bench: Option<u64>,
}

/// Formats a size in MiB.
pub fn size_in_mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Returns a document that lists the builds and their total size.
pub fn builds_document(rows: &[BuildRow]) -> Document {
    let mut table = Table::new(["build", "last used", "size", "built in", "bench", "command"]);
    for BuildRow { name, used, bytes, command, seconds, bench, .. } in rows {
        let time = seconds.map_or("not built".to_owned(), |seconds| format!("{seconds:.0} s"));
        let bench = bench.map(|nodes| nodes.to_string()).unwrap_or_default();
        let command = command.as_deref().unwrap_or_default();
        table.push([name, used, &size_in_mib(*bytes), &time, &bench, &command]);
    }
    let bytes = size_in_mib(rows.iter().map(|row| row.bytes).sum());
    let mut document = Document::new("Builds".to_owned());
    document.table(table);
    document.paragraph(format!("{}, {bytes}", quantity(rows.len(), "build")));
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_listed_with_their_sum() {
        let built = BuildRow {
            name: "abc-1".to_owned(),
            used: "2026-11-20T01:02:03Z".to_owned(),
            bytes: 3 << 19,
            is_built: true,
            commit: Some("abc".to_owned()),
            command: Some("make".to_owned()),
            seconds: Some(1.6),
            bench: Some(7),
        };
        let failed = BuildRow {
            is_built: false,
            seconds: None,
            bench: None,
            command: None,
            ..built.clone()
        };
        let text = crate::forms::markdown(&builds_document(&[built.clone(), failed]));
        let expect = "| abc-1 | 2026-11-20T01:02:03Z | 1.5 MiB | 2 s       | 7     | make    |\n\
                      | abc-1 | 2026-11-20T01:02:03Z | 1.5 MiB | not built |       |         |\n\
                      \n2 builds, 3.0 MiB\n";
        assert!(text.ends_with(expect), "{text}");
        assert_eq!(crate::parts::to_value(&[built])[0]["bench_nodes"], 7);
    }
}
