//! End-to-end tests, in one binary so that they link once.
//!
//! [`tidy`] holds the repository to its plan.

mod tidy;
