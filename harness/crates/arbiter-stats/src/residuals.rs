//! Whether the pairs of some source (a worker, a machine) are distributed unlike the others'.
//!
//! Pearson's χ² on the table of sources against pairs lost, even and won. The residual of one
//! source is its share of χ², made comparable as a normal deviate. The rules are those of
//! fishtest, which colours and purges its workers so.

use statrs::function::erf::erfc_inv;
use statrs::function::gamma::gamma_ur;

use super::elo::normal_cdf;
use super::pentanomial::Pentanomial;

/// Expected counts up to this are too small for χ².
const MIN_EXPECTED: f64 = 5.0;

/// A source is removed if all sources fit worse than this.
const PURGE_P: f64 = 0.001;

/// Or if its residual is above this.
const PURGE_RESIDUAL: f64 = 7.0;

/// How conspicuous a source is, allowing for their number (Bonferroni).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Nothing to see at the 5 % level.
    Green,
    /// Conspicuous at 5 %, not at 1 %.
    Yellow,
    /// Conspicuous at 1 %.
    Red,
}

/// The comparison of all sources.
#[derive(Debug, Clone, PartialEq)]
pub struct Residuals {
    /// Pearson's χ².
    pub chi_squared: f64,
    /// Its degrees of freedom.
    pub freedom: u64,
    /// Probability of a greater one if all sources are alike.
    pub p: f64,
    /// Residuals from which a source is yellow and red.
    pub limits: (f64, f64),
    /// Residual and colour of each source, as a normal deviate of at least 0; `None` for those
    /// with too few pairs to be compared.
    pub sources: Vec<Option<(f64, Colour)>>,
}

impl Residuals {
    /// The source to leave out before looking again: a bad one makes good ones conspicuous too.
    pub fn to_remove(&self) -> Option<usize> {
        let found = self.sources.iter().enumerate().filter_map(|(i, s)| Some((i, (*s)?.0)));
        let (worst, residual) = found.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (self.p < PURGE_P || residual > PURGE_RESIDUAL).then_some(worst)
    }
}

/// Compares the sources; `None` if fewer than two have enough pairs.
pub fn compare(sources: &[Pentanomial]) -> Option<Residuals> {
    let rows: Vec<[f64; 3]> = sources.iter().map(columns).collect();
    let mut kept: Vec<usize> = (0..rows.len()).collect();
    let (totals, all) = loop {
        let totals = column_totals(&rows, &kept);
        let all: f64 = totals.iter().sum();
        let is_large = |row: &usize| {
            let size: f64 = rows[*row].iter().sum();
            totals.iter().all(|total| size * total / all > MIN_EXPECTED)
        };
        let large: Vec<usize> = kept.iter().copied().filter(is_large).collect();
        if large.len() < 2 {
            return None;
        }
        if large.len() == kept.len() {
            break (totals, all);
        }
        kept = large;
    };
    let limit = |share: f64| deviate((share / kept.len() as f64).ln());
    let limits = (limit(0.05), limit(0.01));
    let mut found = vec![None; rows.len()];
    let mut chi_squared = 0.0;
    for &row in &kept {
        let size: f64 = rows[row].iter().sum();
        let cell = |(count, total): (&f64, &f64)| {
            let expected = size * total / all;
            (count - expected).powi(2) / expected
        };
        let own: f64 = rows[row].iter().zip(&totals).map(cell).sum();
        chi_squared += own;
        // χ² with two degrees of freedom exceeds x with probability e^(−x/2).
        let residual = deviate(-0.5 * own / (1.0 - size / all)).max(0.0);
        let colour = match residual {
            z if z < limits.0 => Colour::Green,
            z if z < limits.1 => Colour::Yellow,
            _ => Colour::Red,
        };
        found[row] = Some((residual, colour));
    }
    let freedom = 2 * (kept.len() as u64 - 1);
    let p = gamma_ur(0.5 * freedom as f64, (0.5 * chi_squared).max(f64::MIN_POSITIVE));
    Some(Residuals { chi_squared, freedom, p, limits, sources: found })
}

/// Pairs lost, even and won.
fn columns(pairs: &Pentanomial) -> [f64; 3] {
    let [ll, ld, even, wd, ww] = pairs.0;
    [(ll + ld) as f64, even as f64, (wd + ww) as f64]
}

fn column_totals(rows: &[[f64; 3]], kept: &[usize]) -> [f64; 3] {
    std::array::from_fn(|column| kept.iter().map(|row| rows[*row][column]).sum())
}

/// The value that a standard normal variable exceeds with probability e^`ln_p`, also where that is
/// too small for a float.
fn deviate(ln_p: f64) -> f64 {
    if ln_p < -600.0 {
        // From ln P(z) ≈ −z²/2 − ln(z·√2π), which contracts.
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

    fn alike() -> Vec<Pentanomial> {
        vec![
            Pentanomial([4, 60, 120, 66, 5]),
            Pentanomial([6, 110, 260, 121, 7]),
            Pentanomial([2, 31, 58, 30, 3]),
        ]
    }

    /// Figures by running fishtest's residual code.
    #[test]
    fn residuals_match_fishtest() {
        let found = compare(&alike()).expect("enough pairs");
        let mut agreement = Agreement::within(1e-9, "worker_residuals: χ², p, limits, residuals");
        agreement.row();
        agreement.figure("χ²", found.chi_squared, 2.0001276193);
        assert_eq!(found.freedom, 4);
        agreement.figure("p", found.p, 0.735735408084);
        agreement.figure("limit", found.limits.0, 2.12804523418);
        agreement.figure("limit", found.limits.1, 2.71305188847);
        let green = Colour::Green;
        let expected = [(0.0, green), (0.273268463061, green), (0.0, green)];
        check(&mut agreement, &found, &expected);
        assert_eq!(found.to_remove(), None);
        let found = compare(&one_bad()).expect("enough pairs");
        agreement.row();
        agreement.figure("χ²", found.chi_squared, 150.607213576);
        let red = Colour::Red;
        let expected = [(3.08896335637, red), (7.22450670369, red), (11.9301488288, red)];
        check(&mut agreement, &found, &expected);
        agreement.row();
        assert_eq!(compare(&[Pentanomial([3, 20, 44, 21, 2])]), None);
        agreement.print();
    }

    fn one_bad() -> Vec<Pentanomial> {
        let mut sources = alike();
        sources[2] = Pentanomial([40, 131, 58, 30, 3]);
        sources
    }

    #[test]
    fn one_bad_source_colours_the_good_ones_until_it_is_removed() {
        let mut sources = one_bad();
        assert_eq!(compare(&sources).expect("enough pairs").to_remove(), Some(2));
        sources.remove(2);
        assert_eq!(compare(&sources).expect("enough pairs").to_remove(), None);
    }

    fn check(agreement: &mut Agreement, found: &Residuals, expected: &[(f64, Colour)]) {
        for (got, (z, colour)) in found.sources.iter().zip(expected) {
            let (residual, painted) = got.expect("compared");
            agreement.figure("residual", residual, *z);
            assert_eq!(painted, *colour);
        }
    }

    #[test]
    fn too_little_to_compare_is_not_compared() {
        assert_eq!(compare(&[]), None);
        let mut sources = alike();
        sources.push(Pentanomial([0, 1, 2, 1, 0]));
        let found = compare(&sources).expect("enough pairs");
        assert_eq!((found.sources[3], found.freedom), (None, 4));
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
