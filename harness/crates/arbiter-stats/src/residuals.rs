//! Comparison of the results of each source of pairs (a worker or a machine) with the results of
//! all sources.
//!
//! The comparison is Pearson's χ² test on the table of lost, level and won pairs of each source.
//! The residual of a source is its share of χ², converted to a standard normal deviate. fishtest
//! applies the same rules to its workers, with one exception: in Arbiter, no source weighs more in
//! the results of all sources than a source of median size. Otherwise, the source with the most
//! pairs would define the usual results.

use statrs::function::erf::erfc_inv;

use super::elo::normal_cdf;
use super::pentanomial::Pentanomial;

/// Expected count that each cell of a source must exceed, because χ² is inaccurate for small
/// counts.
const MIN_EXPECTED: f64 = 5.0;

/// Returns the residual of each source, a standard normal deviate of at least 0. The residual is
/// `None` for a source with too few pairs, and for all sources if fewer than two sources have
/// enough pairs.
pub fn compare(sources: &[Pentanomial]) -> Vec<Option<f64>> {
    let mut sizes: Vec<u64> = sources.iter().map(Pentanomial::pairs).collect();
    sizes.retain(|pairs| *pairs > 0);
    sizes.sort_unstable();
    compare_capped(sources, sizes.get(sizes.len() / 2).map_or(0.0, |median| *median as f64))
}

/// Compares sources, each of which weighs at most as much as `cap` pairs in the totals.
fn compare_capped(sources: &[Pentanomial], cap: f64) -> Vec<Option<f64>> {
    let rows: Vec<[f64; 3]> = sources.iter().map(columns).collect();
    let sizes: Vec<f64> = rows.iter().map(|row| row.iter().sum()).collect();
    let weights: Vec<f64> = sizes.iter().map(|size| (cap / size).min(1.0)).collect();
    let mut found = vec![None; rows.len()];
    let mut kept: Vec<usize> = (0..rows.len()).collect();
    let (totals, all) = loop {
        let total = |column| kept.iter().map(|row| weights[*row] * rows[*row][column]).sum();
        let totals: [f64; 3] = std::array::from_fn(total);
        let all: f64 = totals.iter().sum();
        let is_large =
            |row: &usize| totals.iter().all(|total| sizes[*row] * total / all > MIN_EXPECTED);
        // Removing a small source changes the expected counts of all other sources, so the loop
        // repeats until no source is removed.
        let large: Vec<usize> = kept.iter().copied().filter(is_large).collect();
        if large.len() < 2 {
            return found;
        }
        if large.len() == kept.len() {
            break (totals, all);
        }
        kept = large;
    };
    let part = |row: usize| weights[row] * sizes[row] / all;
    let variance: f64 = kept.iter().map(|row| part(*row).powi(2) / sizes[*row]).sum();
    for &row in &kept {
        let size = sizes[row];
        let cell = |(count, total): (&f64, &f64)| {
            let expected = size * total / all;
            (count - expected).powi(2) / expected
        };
        let share: f64 = rows[row].iter().zip(&totals).map(cell).sum();
        // χ² with two degrees of freedom exceeds x with a probability of e^(−x/2). The share of χ²
        // is divided by its mean, because the totals with which the source is compared vary, too,
        // and include the source. Without weights, this mean is one minus the source's share of
        // all pairs.
        let mean = 1.0 - 2.0 * part(row) + size * variance;
        found[row] = Some(deviate(-0.5 * share / mean).max(0.0));
    }
    found
}

/// Returns the numbers of lost, level and won pairs.
fn columns(pairs: &Pentanomial) -> [f64; 3] {
    let [ll, ld, even, wd, ww] = pairs.0;
    [(ll + ld) as f64, even as f64, (wd + ww) as f64]
}

/// Returns the value that a standard normal variable exceeds with the probability e^`ln_p`, even if
/// this probability is too small for an `f64`.
fn deviate(ln_p: f64) -> f64 {
    // An `f64` loses digits of probabilities below about e^(−708). For logarithms below −600, the
    // deviate is therefore computed from the logarithm.
    if ln_p < -600.0 {
        // Fixed-point iteration for ln P(z) ≈ −z²/2 − ln(z·√(2π)).
        let mut z = (-2.0 * ln_p).sqrt();
        for _ in 0..50 {
            z = (-2.0 * (ln_p + (z * (2.0 * std::f64::consts::PI).sqrt()).ln())).sqrt();
        }
        return z;
    }
    let p = ln_p.exp();
    if p >= 1.0 {
        return f64::MIN;
    }
    let mut z = std::f64::consts::SQRT_2 * erfc_inv(2.0 * p);
    // Newton's method refines the approximate result of `erfc_inv`.
    for _ in 0..3 {
        let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        if density > 0.0 {
            z += (normal_cdf(-z) - p) / density;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::super::tests::agreement::Agreement;
    use super::*;

    fn equal_workers() -> Vec<Pentanomial> {
        vec![
            Pentanomial([4, 60, 120, 66, 5]),
            Pentanomial([6, 110, 260, 121, 7]),
            Pentanomial([2, 31, 58, 30, 3]),
        ]
    }

    /// The expected residuals are computed by fishtest's code.
    #[test]
    fn residuals_match_fishtest() {
        let mut agreement = Agreement::within(1e-9, "worker_residuals");
        let mut one_bad = equal_workers();
        one_bad[2] = Pentanomial([40, 131, 58, 30, 3]);
        for (sources, expected) in [
            (equal_workers(), [0.0, 0.273268463061, 0.0]),
            (one_bad, [3.08896335637, 7.22450670369, 11.9301488288]),
        ] {
            agreement.row();
            for (residual, expected) in
                compare_capped(&sources, f64::INFINITY).into_iter().zip(expected)
            {
                agreement.figure("residual", residual.expect("enough pairs"), expected);
            }
        }
        agreement.print();
    }

    #[test]
    fn sources_with_many_pairs_do_not_define_the_usual_results() {
        let honest = [3, 53, 88, 53, 3];
        let false_results = [0, 80, 320, 320, 80];
        let found =
            compare(&[false_results, false_results, honest, honest, honest].map(Pentanomial));
        let found: Vec<f64> = found.into_iter().flatten().collect();
        assert!(found.len() == 5 && found[0] > 6.0 && found[0] > found[2] + 1.0, "{found:?}");
    }

    #[test]
    fn sources_with_too_few_pairs_are_not_compared() {
        assert_eq!(compare(&[]), []);
        assert_eq!(compare(&[Pentanomial([3, 20, 44, 21, 2])]), [None]);
        let mut sources = equal_workers();
        sources.push(Pentanomial([0, 1, 2, 1, 0]));
        let found = compare(&sources);
        assert!(found[..3].iter().all(Option::is_some) && found[3].is_none(), "{found:?}");
    }

    #[test]
    fn quantiles_invert_the_distribution() {
        for z in [0.1, 1.0, 3.0, 8.0, 20.0, 30.0] {
            assert!((deviate(normal_cdf(-z).ln()) - z).abs() < 1e-9, "{z}");
        }
        assert!((deviate(-599.0) - deviate(-601.0)).abs() < 0.1);
        assert!(deviate(-1e6) > 1400.0);
    }
}
