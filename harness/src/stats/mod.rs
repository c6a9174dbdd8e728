//! Match statistics: pure functions over counts.
