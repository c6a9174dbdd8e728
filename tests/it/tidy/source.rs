//! Rust source by lines, for rules that no lint covers. The code is formatted by rustfmt.

/// Returns the code of a file by lines, numbered from 1, without comments and without test modules,
/// which end a file or are separate files.
pub fn code<'a>(path: &str, text: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let end = text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let text = if is_test_file(path) { "" } else { &text[..end] };
    text.lines().enumerate().map(|(index, line)| {
        let comment = line.find("// ").filter(|at| line[..*at].trim_end().len() < *at || *at == 0);
        let code = &line[..comment.unwrap_or(line.len())];
        (index + 1, if code.trim_start().starts_with("//") { "" } else { code })
    })
}

/// Returns whether the complete file is a test module.
pub fn is_test_file(path: &str) -> bool {
    path.split_once("/src/").is_some_and(|(_, inner)| {
        inner.split('/').any(|part| part == "tests" || part == "tests.rs")
    })
}

#[test]
fn code_is_distinguished_from_comments_and_tests() {
    let text = "//! A.\nuse a; // b\n    /// c\nlet d = \"https://e\";\n#[cfg(test)]\nmod tests {\n    use f;\n}\n";
    let found: Vec<_> = code("engine/src/a.rs", text).collect();
    assert_eq!(found, [(1, ""), (2, "use a; "), (3, ""), (4, "let d = \"https://e\";")]);
    assert_eq!(code("engine/src/a/tests.rs", text).count(), 0);
}
