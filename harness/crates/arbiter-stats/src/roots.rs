//! Bracketed root finding: Newton's method, with bisection if a step would leave the bracket.

/// Maximum number of steps, enough to find any root in this crate to full precision by bisection
/// alone.
const MAX_STEPS: usize = 200;

/// Half-width of the interval around the root in which the sign must change, relative to the
/// distance between the root and the nearer end of the bracket.
const CHECK_WIDTH: f64 = 1e-9;

/// Finds the root of a function that decreases from positive values at `low` to negative values at
/// `high`. The search starts at `start`, between `low` and `high`.
///
/// `f` returns the value and the derivative of the function. The function may have poles at both
/// ends of the bracket; `f` is not evaluated at the ends. The root may be next to a pole. If the
/// pole is at 0, the distance of the root from the pole is found to full precision.
///
/// # Panics
///
/// Panics if `start` is not inside the bracket, or if the sign of `f` does not change at the root
/// found. In the second case, `f` does not decrease through zero in the bracket, and all numbers
/// computed from the root would be wrong.
pub(crate) fn falling_root(f: impl Fn(f64) -> (f64, f64), low: f64, start: f64, high: f64) -> f64 {
    assert!(low < start && start < high, "bad bracket {low}..{start}..{high}");
    let (mut left, mut right) = (low, high);
    let mut x = start;
    for _ in 0..MAX_STEPS {
        let (value, slope) = f(x);
        if value == 0.0 {
            break;
        }
        if value > 0.0 {
            left = x;
        } else {
            right = x;
        }
        let newton = x - value / slope;
        // Each end is halved first, because the sum of the ends could overflow.
        let next = if newton > left && newton < right { newton } else { 0.5 * left + 0.5 * right };
        let done = (next - x).abs() <= f64::EPSILON * x.abs() || next == left || next == right;
        x = next;
        if done {
            break;
        }
    }
    // The margin is proportional to the distance from the nearer end of the bracket, because for a
    // root next to a pole, this distance has a small relative error.
    let margin = CHECK_WIDTH * (x - low).min(high - x);
    let above = f(x - margin).0;
    let below = f(x + margin).0;
    assert!(above >= 0.0 && below <= 0.0, "no root at {x}: {above} before, {below} after");
    x
}

/// Finds, by bisection, the point between `low` and `high` at which a decreasing function crosses
/// `target`. Returns -∞ if the point is below `low`, and ∞ if the point is above `high`.
///
/// # Panics
///
/// Panics if the function does not decrease through `target` at the point found.
pub(crate) fn falling_crossing(f: impl Fn(f64) -> f64, target: f64, low: f64, high: f64) -> f64 {
    if f(low) < target {
        return f64::NEG_INFINITY;
    }
    if f(high) > target {
        return f64::INFINITY;
    }
    let (mut left, mut right) = (low, high);
    for _ in 0..MAX_STEPS {
        let middle = 0.5 * (left + right);
        if middle <= left || middle >= right {
            break;
        }
        if f(middle) >= target {
            left = middle;
        } else {
            right = middle;
        }
    }
    let (above, below) = (f(left), f(right));
    assert!(above >= target && below <= target, "no crossing: {above} before, {below} after");
    0.5 * (left + right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(f: impl Fn(f64) -> (f64, f64), low: f64, high: f64, expected: f64) {
        let root = falling_root(f, low, 0.3 * low + 0.7 * high, high);
        assert!((root - expected).abs() <= 1e-14 * expected.abs().max(1e-300), "{root}");
    }

    #[test]
    fn finds_roots_of_flat_and_steep_functions() {
        check(|x| (2.0 - x * x, -2.0 * x), 0.0, 5.0, 2f64.sqrt());
        check(|x| (8.0 - x.powi(3), -3.0 * x * x), -1.0, 5.5, 2.0);
        check(|x| ((1.0 - x).cbrt(), -(1.0 - x).cbrt().powi(-2) / 3.0), -3.0, 10.0, 1.0);
    }

    #[test]
    fn finds_a_root_next_to_a_pole() {
        for tiny in [1e-3, 1e-9, 1e-13] {
            let f = |x: f64| (tiny / x - 1.0, -tiny / (x * x));
            check(f, 0.0, 1.0, tiny);
        }
    }

    #[test]
    #[should_panic(expected = "no root")]
    fn refuses_a_function_without_a_root() {
        falling_root(|x| (2.0 - x, -1.0), 0.0, 0.5, 1.0);
    }

    #[test]
    #[should_panic(expected = "no root")]
    fn refuses_a_rising_function() {
        falling_root(|x| (x, 1.0), -1.0, 0.5, 1.0);
    }

    #[test]
    fn crossings_are_found_or_reported_outside() {
        let f = |x: f64| (-x).exp();
        let root = falling_crossing(f, 0.5, -10.0, 10.0);
        assert!((root - 2f64.ln()).abs() < 1e-14);
        assert_eq!(falling_crossing(f, 0.5, 1.0, 10.0), f64::NEG_INFINITY);
        assert_eq!(falling_crossing(f, 0.5, -10.0, 0.0), f64::INFINITY);
    }
}
