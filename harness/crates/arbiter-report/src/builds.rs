//! The list of what is kept of builds.

use serde_json::{Value, json};

use crate::table::Table;

/// One build.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of its folder.
    pub name: String,
    /// When it was used last, in UTC.
    pub used: String,
    /// Size of all its files.
    pub bytes: u64,
    /// Whether there is a program.
    pub is_built: bool,
    /// The commit.
    pub commit: Option<String>,
    /// The command.
    pub command: Option<String>,
    /// How long the build took.
    pub seconds: Option<f64>,
    /// Nodes of its benchmark, if that was run.
    pub bench: Option<u64>,
}

/// For a terminal.
pub fn text(rows: &[Row], width: Option<usize>) -> String {
    format!("{}{}\n", table(rows).fitted(width), sum(rows))
}

/// For a document.
pub fn markdown(rows: &[Row]) -> String {
    format!("{}\n{}\n", table(rows).markdown(), sum(rows))
}

/// A list.
pub fn json(rows: &[Row]) -> Value {
    let object = |row: &Row| {
        json!({
            "build": row.name,
            "used": row.used,
            "bytes": row.bytes,
            "built": row.is_built,
            "commit": row.commit,
            "command": row.command,
            "seconds": row.seconds,
            "bench_nodes": row.bench,
        })
    };
    rows.iter().map(object).collect()
}

/// A size for people.
pub fn size(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(["build", "last used", "size", "built in", "bench", "command"]);
    for row in rows {
        let seconds = row.seconds.map(|seconds| format!("{seconds:.0} s"));
        table.push([
            row.name.clone(),
            row.used.clone(),
            size(row.bytes),
            seconds.unwrap_or_else(|| "not built".to_owned()),
            row.bench.map(|nodes| nodes.to_string()).unwrap_or_default(),
            row.command.clone().unwrap_or_default(),
        ]);
    }
    table
}

fn sum(rows: &[Row]) -> String {
    let builds = if rows.len() == 1 { "build" } else { "builds" };
    format!("{} {builds}, {}", rows.len(), size(rows.iter().map(|row| row.bytes).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_listed_with_their_sum() {
        let built = Row {
            name: "abc-1".to_owned(),
            used: "2026-11-20T01:02:03Z".to_owned(),
            bytes: 3 << 19,
            is_built: true,
            commit: Some("abc".to_owned()),
            command: Some("make".to_owned()),
            seconds: Some(1.6),
            bench: Some(7),
        };
        let failed =
            Row { is_built: false, seconds: None, bench: None, command: None, ..built.clone() };
        let text = markdown(&[built.clone(), failed]);
        let expect = "| abc-1 | 2026-11-20T01:02:03Z | 1.5 MiB | 2 s       | 7     | make    |\n\
                      | abc-1 | 2026-11-20T01:02:03Z | 1.5 MiB | not built |       |         |\n\
                      \n2 builds, 3.0 MiB\n";
        assert!(text.ends_with(expect), "{text}");
        assert_eq!(json(&[built])[0]["bench_nodes"], 7);
    }
}
