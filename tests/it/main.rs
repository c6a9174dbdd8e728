//! End-to-end tests, in one binary so that they link once.
//!
//! [`tidy`] holds the repository to its plan; [`puppet`] holds the misbehaving
//! engine to its promises, because the other tests believe it.

mod puppet;
mod support;
mod tidy;
