use super::*;

fn values(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const TABLE: &str = "\
figures! {
    /// Depth.
    razor_depth = 3 in 1..=7;
    /// A razor_margin of its own.
    razor_margin = 240 in 80..=720;
    history_skip = 3_200 in 1_066..=9_600;
}
pub const TEMPO: f64 = -1.5; // half a move
    razor = 9;
";

#[test]
fn only_the_numbers_are_replaced() {
    let new = values(&[("razor_margin", "251"), ("History_Skip", "13456"), ("TEMPO", "0.25")]);
    let patched = applied(TABLE, &new).unwrap();
    let expect = TABLE.replace("= 240", "= 251").replace("3_200", "13_456");
    assert_eq!(patched, expect.replace("-1.5", "0.25"));
    assert_eq!(applied(TABLE, &values(&[("razor", "8")])).unwrap(), TABLE.replace("= 9", "= 8"));
}

#[test]
fn a_name_must_occur_exactly_once() {
    let error = |list| applied(TABLE, &values(list)).unwrap_err();
    let ways = "'depth = NUMBER', '#define depth NUMBER' or 'depth, NUMBER'";
    assert_eq!(error(&[("depth", "1")]), format!("no line has the form {ways}"));
    let twice = format!("{TABLE}razor = 1;\n");
    let error = applied(&twice, &values(&[("razor", "1")])).unwrap_err();
    assert_eq!(error, "lines 9 and 10 both have a number of 'razor'");
}

#[test]
fn a_patch_shows_changed_lines_with_context() {
    let new = applied(TABLE, &values(&[("razor_margin", "251"), ("razor", "8")])).unwrap();
    let expect = "\
--- t.rs
+++ t.rs
@@ -2,8 +2,8 @@
     /// Depth.
     razor_depth = 3 in 1..=7;
     /// A razor_margin of its own.
-    razor_margin = 240 in 80..=720;
+    razor_margin = 251 in 80..=720;
     history_skip = 3_200 in 1_066..=9_600;
 }
 pub const TEMPO: f64 = -1.5; // half a move
-    razor = 9;
+    razor = 8;
";
    assert_eq!(unified("t.rs", TABLE, &new), expect);
    assert_eq!(unified("t.rs", TABLE, TABLE), "");
}

#[test]
fn values_are_replaced_in_rust_c_and_c_plus_plus() {
    let patched = |line: &str, value: &str| {
        applied(line, &values(&[("razor_margin", value)])).unwrap_or_else(|e| e.to_string())
    };
    for (line, value, expect) in [
        ("int razor_margin = 240;", "251", "int razor_margin = 251;"),
        ("constexpr int RazorMargin{240};", "251", "constexpr int RazorMargin{251};"),
        ("#define RAZOR_MARGIN 240 /* cp */", "251", "#define RAZOR_MARGIN 251 /* cp */"),
        ("  # define RazorMargin (-240)", "251", "  # define RazorMargin (251)"),
        (
            "constexpr Value RazorMargin = Value(240);",
            "9",
            "constexpr Value RazorMargin = Value(9);",
        ),
        ("int a = 1, razorMargin = 240, b = 2;", "-3", "int a = 1, razorMargin = -3, b = 2;"),
        ("  .razor_margin = 240,", "251", "  .razor_margin = 251,"),
        ("long RazorMargin = 3'200L;", "13456", "long RazorMargin = 13'456L;"),
        ("float RazorMargin = 1.5f;", "2", "float RazorMargin = 2.0f;"),
        ("double RazorMargin = 5.;", "6.25", "double RazorMargin = 6.25;"),
        ("double RazorMargin = .5;", "0.75", "double RazorMargin = 0.75;"),
        ("double RazorMargin = 1.5e-3;", "0.25", "double RazorMargin = 0.25;"),
        ("TUNE_PARAM(RazorMargin, 240, 80, 720)", "251", "TUNE_PARAM(RazorMargin, 251, 80, 720)"),
        ("PARAM(int, razor_margin, 240)", "251", "PARAM(int, razor_margin, 251)"),
        (
            "Param RazorMargin(\"RazorMargin\", 240, 80);",
            "251",
            "Param RazorMargin(\"RazorMargin\", 251, 80);",
        ),
        ("Tunable RazorMargin(240, 80, 720);", "251", "Tunable RazorMargin(251, 80, 720);"),
        ("    razor_margin: 240,", "251", "    razor_margin: 251,"),
        ("const RAZOR_MARGIN: f64 = 1.5;", "2", "const RAZOR_MARGIN: f64 = 2.0;"),
        ("razor_margin = 1..=7;", "3", "razor_margin = 3..=7;"),
        // A definition takes precedence over a use, and comments are ignored.
        (
            "int RazorMargin = 240;\nx = max(RazorMargin, 1);",
            "251",
            "int RazorMargin = 251;\nx = max(RazorMargin, 1);",
        ),
        (
            "// razor_margin = 7\n * razor_margin = 8\nint razor_margin = 240; // razor_margin = 9",
            "1",
            "// razor_margin = 7\n * razor_margin = 8\nint razor_margin = 1; // razor_margin = 9",
        ),
        (
            "if (razor_margin == 240) razor_margin += 3;\nint razor_margin = 4;",
            "5",
            "if (razor_margin == 240) razor_margin += 3;\nint razor_margin = 5;",
        ),
    ] {
        assert_eq!(patched(line, value), expect);
    }
    for line in [
        "int razor_margin = 0x10;",
        "int razor_margin = other;",
        "int razor_margin = S(12, 34);",
        "int razor_margins = 3;",
    ] {
        assert!(patched(line, "1").starts_with("no line has the form"), "{line}");
    }
    let twice = patched("int razor_margin = 3, RAZOR_MARGIN = 4;", "1");
    assert_eq!(twice, "lines 1 and 1 both have a number of 'razor_margin'");
}

#[test]
fn a_patch_keeps_line_endings() {
    let old = "int a = 1;\r\nint b = 2;";
    let new = applied(old, &values(&[("a", "3")])).unwrap();
    assert_eq!(new, "int a = 3;\r\nint b = 2;");
    let expect = "--- t.c\n+++ t.c\n@@ -1,2 +1,2 @@\n-int a = 1;\r\n+int a = 3;\r\n int b = 2;\n\
                      \\ No newline at end of file\n";
    assert_eq!(unified("t.c", old, &new), expect);
}

#[test]
fn digit_separators_are_kept() {
    let grouped = |value| literal("3_200", value);
    assert_eq!([grouped("7"), grouped("-1234567.5")], ["7", "-1_234_567.5"]);
}
