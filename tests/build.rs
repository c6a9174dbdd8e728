//! Generates a test for each row of the table in `docs/faults.md`, so that rows run in parallel.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let table = "../docs/faults.md";
    println!("cargo::rerun-if-changed={table}");
    let text = fs::read_to_string(table).expect("the table is part of the repository");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut tests = String::new();
    for (index, misdeed) in rows.enumerate() {
        let words = misdeed.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let name = words.join("_").to_ascii_lowercase();
        writeln!(
            tests,
            "#[test]\nfn row_{index:02}_{name}() {{\n    table()[{index}].check();\n}}"
        )
        .expect("a String takes all text");
    }
    let folder = env::var_os("OUT_DIR").expect("Cargo names a folder");
    fs::write(Path::new(&folder).join("rows.rs"), tests).expect("the folder can be written to");
}
