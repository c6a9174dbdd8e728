//! Comparison of computed figures with reference figures. Tests count the comparisons and print the
//! largest errors.
//!
//! This command prints the complete table: `cargo test -p arbiter-stats --lib -- --nocapture
//! --test-threads 1 | grep '^| '`.

/// Comparison of figures of one kind with a reference.
pub(crate) struct Agreement {
    name: &'static str,
    tolerance: f64,
    rows: usize,
    figures: usize,
    worst: f64,
}

impl Agreement {
    /// Creates a comparison of figures that must agree within `tolerance`. The tolerance is an
    /// absolute error for figures up to 1, and a relative error for larger figures.
    pub(crate) fn within(tolerance: f64, name: &'static str) -> Agreement {
        Agreement { name, tolerance, rows: 0, figures: 0, worst: 0.0 }
    }

    /// Starts the next row of the reference.
    pub(crate) fn row(&mut self) {
        self.rows += 1;
    }

    /// Compares a figure of this row.
    pub(crate) fn figure(&mut self, what: &str, got: f64, expected: f64) {
        let error = (got - expected).abs() / expected.abs().max(1.0);
        assert!(error <= self.tolerance, "{}, {what}: {got}, not {expected}", self.name);
        self.figures += 1;
        self.worst = self.worst.max(error);
    }

    /// Prints the agreement of all rows.
    pub(crate) fn print(self) {
        let Agreement { name, tolerance, rows, figures, worst } = self;
        assert!(figures > 0, "{name}: nothing was compared");
        println!(
            "\n| {name} | {rows} rows | {figures} figures | worst {worst:.1e} | {tolerance:.0e} |"
        );
    }
}

#[test]
#[should_panic(expected = "a name, a figure: 2.1, not 2")]
fn disagreements_are_reported() {
    Agreement::within(0.01, "a name").figure("a figure", 2.1, 2.0);
}
