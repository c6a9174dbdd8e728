//! Parsing and formatting of numbers.

use std::str::FromStr;

/// Maximum count. Twice the sum of five such counts is still exact as `f64`.
const MAX_COUNT: u64 = 1_000_000_000_000_000;

/// Parses exactly `N` numbers separated by commas.
pub(crate) fn list<T: FromStr, const N: usize>(text: &str) -> Result<[T; N], String> {
    let wrong = || format!("expected {N} numbers separated by commas, got '{text}'");
    let words: Vec<T> = text
        .split(',')
        .map(|word| word.trim().parse().map_err(|_| wrong()))
        .collect::<Result<_, _>>()?;
    words.try_into().map_err(|_| wrong())
}

/// Parses exactly `N` counts separated by commas.
pub(crate) fn counts<const N: usize>(text: &str) -> Result<[u64; N], String> {
    if let Some(word) = text.split(',').map(str::trim).find(|word| word.starts_with('-')) {
        return Err(format!("a count is negative: {word}"));
    }
    let counts = list::<u64, N>(text)?;
    match counts.iter().find(|count| **count > MAX_COUNT) {
        Some(count) => Err(format!("expected counts of at most {MAX_COUNT}, got {count}")),
        None => Ok(counts),
    }
}

/// Returns a number with the given number of decimals, or a dash if the number is undefined.
pub(crate) fn format_number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_wrong_length_are_rejected() {
        assert_eq!(counts::<3>("1, 2,3"), Ok([1, 2, 3]));
        for bad in ["", "1,2", "1,2,3,4", "1,2,x", "1,2,-3", "1,2,1000000000000001"] {
            assert!(counts::<3>(bad).is_err(), "{bad}");
        }
        let negative = Err("a count is negative: -1".to_owned());
        assert_eq!(counts::<3>("-1,2,3"), negative);
        assert_eq!(counts::<3>("1, -1"), negative);
        assert_eq!(list::<f64, 2>("0.5,1e-3"), Ok([0.5, 1e-3]));
    }
}
