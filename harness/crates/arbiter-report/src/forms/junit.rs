//! Parts of JUnit XML, the report format of continuous integration services.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::parts::shown_output;

/// Formats a JUnit report with one test suite.
pub(crate) fn junit_text(name: &str, suite: TestSuite) -> Result<String, SerializeError> {
    let mut report = Report::new(name);
    report.add_test_suite(suite);
    report.to_string().map(|xml| shown_output(&xml))
}

/// Returns a test case of a class; `output` is the standard output of the test case.
pub(crate) fn case(name: &str, class: &str, output: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class).set_system_out(output);
    case
}

/// Returns the status, with a type and a message, of a test case that did not succeed.
pub(crate) fn failed(kind: NonSuccessKind, ty: &str, message: &str) -> TestCaseStatus {
    with_message(TestCaseStatus::non_success(kind), ty, message)
}

/// Adds a type and a message to a status.
pub(crate) fn with_message(mut status: TestCaseStatus, ty: &str, message: &str) -> TestCaseStatus {
    status.set_message(message).set_type(ty);
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_xml_forbids_are_escaped() {
        let xml = junit_text("a\u{fffe}", TestSuite::new("b\u{ffff}")).unwrap();
        assert!(xml.contains("\"a\\ufffe\"") && xml.contains("\"b\\uffff\""), "{xml}");
    }
}
