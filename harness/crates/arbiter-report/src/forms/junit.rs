//! Parts of JUnit XML, the report format of continuous integration services.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

/// Formats a report of one test suite.
pub(crate) fn whole(name: &str, suite: TestSuite) -> Result<String, SerializeError> {
    let mut report = Report::new(name);
    report.add_test_suite(suite);
    report.to_string()
}

/// Returns a test case of a class, with its output.
pub(crate) fn case(name: &str, class: &str, words: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class).set_system_out(words);
    case
}

/// Returns the status of an unsuccessful test case, with message and type.
pub(crate) fn failed(kind: NonSuccessKind, what: &str, words: &str) -> TestCaseStatus {
    with_message(TestCaseStatus::non_success(kind), what, words)
}

/// Adds a message and a type to a status.
pub(crate) fn with_message(mut status: TestCaseStatus, what: &str, words: &str) -> TestCaseStatus {
    status.set_message(words).set_type(what);
    status
}
