//! Tests of the JSON Schemas of machine-readable output. The JSON output of all other tests is also
//! checked; see [`crate::support::schema`].

use std::collections::BTreeSet;
use std::path::Path;

use expect_test::expect_file;
use serde_json::Value;

use crate::support::bench::Bench;
use crate::support::schema::folder;

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
    entries.map(|entry| name(entry).into_string().expect("names are ASCII")).collect()
}

#[test]
fn engines_are_checked_in_json() {
    let bench = Bench::new();
    let args = ["engines", "check", "bundled", "false", "--format", "json"];
    let checked = bench.arbiter(args).finish().expect_code(6).json();
    assert_eq!(checked[0]["protocol"], "uci", "{checked:#}");
    assert!(checked[1]["error"].is_string(), "{checked:#}");
}

/// `UPDATE_EXPECT=1 cargo test -p tests --test it schemas` rewrites the schemas.
#[test]
fn schemas_in_the_book_match_the_program() {
    let bench = Bench::new();
    let made = bench.path("schema").display().to_string();
    bench.arbiter(["man", "--format", "json-schema", "--out", &made]).finish().expect_code(0);
    let names_made = names(&bench.path("schema"));
    for name in &names_made {
        expect_file![folder().join(name)].assert_eq(&bench.read(&format!("schema/{name}")));
    }
    assert_eq!(names(&folder()), names_made);
    // The page that lists the schemas.
    let page = folder().with_file_name("formats.md");
    let text = std::fs::read_to_string(&page).expect("the page can be read");
    let (mut expected, _) =
        text.split_once("\n## ").map_or((text.clone(), ""), |(head, rest)| (head.to_owned(), rest));
    for name in &names_made {
        let schema: Value =
            serde_json::from_str(&bench.read(&format!("schema/{name}"))).expect("JSON");
        let word = |key: &str| schema[key].as_str().expect("a schema has words").replace('\n', " ");
        expected += &format!(
            "\n## {}\n\n{} [Keys with their types and meanings](schema/{name})\n",
            word("title"),
            word("description")
        );
    }
    expect_file![page].assert_eq(&expected);
}
