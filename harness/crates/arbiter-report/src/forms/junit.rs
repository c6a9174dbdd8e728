//! Parts of JUnit XML, which every service for continuous integration reads.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

/// Returns a report of one suite.
pub(crate) fn whole(name: &str, suite: TestSuite) -> Result<String, SerializeError> {
    let mut report = Report::new(name);
    report.add_test_suite(suite);
    report.to_string()
}

/// Returns a case of a class, with its output.
pub(crate) fn case(name: &str, class: &str, words: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class).set_system_out(words);
    case
}

/// Returns a status that is no success: its message and its type.
pub(crate) fn failed(kind: NonSuccessKind, what: &str, words: &str) -> TestCaseStatus {
    with_message(TestCaseStatus::non_success(kind), what, words)
}

/// Adds a message and a type to a status.
pub(crate) fn with_message(mut status: TestCaseStatus, what: &str, words: &str) -> TestCaseStatus {
    status.set_message(words).set_type(what);
    status
}
