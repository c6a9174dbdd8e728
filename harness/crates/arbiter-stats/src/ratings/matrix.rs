//! Dense symmetric matrices, and the Cholesky roots of positive definite ones.

/// A symmetric matrix.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SymmetricMatrix {
    size: usize,
    /// All cells, row by row.
    cells: Vec<f64>,
}

/// The lower triangular root of a positive definite matrix.
#[derive(Debug, Clone)]
pub(super) struct Cholesky {
    size: usize,
    cells: Vec<f64>,
}

impl SymmetricMatrix {
    /// All cells 0.
    pub(super) fn zero(size: usize) -> SymmetricMatrix {
        SymmetricMatrix { size, cells: vec![0.0; size * size] }
    }

    /// Number of rows.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// One cell.
    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.size + column]
    }

    /// Adds to one cell.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.cells[row * self.size + column] += value;
    }

    /// Adds `weight`·v·vᵀ for a vector with few entries.
    pub(super) fn add_outer(&mut self, vector: &[(usize, f64)], weight: f64) {
        for (i, a) in vector {
            for (j, b) in vector {
                self.add(*i, *j, weight * a * b);
            }
        }
    }

    /// The root; `None` if the matrix is singular to working precision, or not positive.
    pub(super) fn cholesky(&self) -> Option<Cholesky> {
        let n = self.size;
        let mut cells = vec![0.0; n * n];
        for row in 0..n {
            for column in 0..=row {
                let (upper, lower) = cells.split_at(row * n);
                let left = &lower[..column];
                let other =
                    if column == row { left } else { &upper[column * n..column * n + column] };
                let product: f64 = left.iter().zip(other).map(|(a, b)| a * b).sum();
                let rest = self.get(row, column) - product;
                if column < row {
                    cells[row * n + column] = rest / cells[column * n + column];
                } else if rest > 1e-12 * self.get(row, row).abs() {
                    cells[row * n + row] = rest.sqrt();
                } else {
                    return None;
                }
            }
        }
        Some(Cholesky { size: n, cells })
    }
}

impl Cholesky {
    /// Solves A·x = `right`.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let n = self.size;
        let mut x = right.to_vec();
        for row in 0..n {
            let known: f64 =
                self.cells[row * n..row * n + row].iter().zip(&x).map(|(a, b)| a * b).sum();
            x[row] = (x[row] - known) / self.cells[row * n + row];
        }
        for row in (0..n).rev() {
            x[row] /= self.cells[row * n + row];
            let value = x[row];
            for (before, cell) in x[..row].iter_mut().zip(&self.cells[row * n..row * n + row]) {
                *before -= cell * value;
            }
        }
        x
    }

    /// The inverse of the matrix.
    pub(super) fn inverse(&self) -> SymmetricMatrix {
        self.sandwich(None)
    }

    /// A⁻¹·B·A⁻¹; without B, A⁻¹.
    pub(super) fn sandwich(&self, middle: Option<&SymmetricMatrix>) -> SymmetricMatrix {
        let n = self.size;
        let columns = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..n).map(|j| self.solve(&(0..n).map(|i| of(i, j)).collect::<Vec<_>>())).collect()
        };
        let once = match middle {
            None => columns(&|i, j| f64::from(u8::from(i == j))),
            Some(b) => {
                // The columns of A⁻¹·B are the rows of B·A⁻¹.
                let left = columns(&|i, j| b.get(i, j));
                columns(&|i, j| left[i][j])
            }
        };
        let mut found = SymmetricMatrix::zero(n);
        for (j, column) in once.iter().enumerate() {
            for (i, value) in column.iter().enumerate() {
                found.add(i, j, *value);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> SymmetricMatrix {
        let mut a = SymmetricMatrix::zero(3);
        a.add_outer(&[(0, 1.0), (1, 2.0)], 1.0);
        a.add_outer(&[(1, 1.0), (2, -1.0)], 3.0);
        a.add_outer(&[(0, 0.5), (2, 3.0)], 2.0);
        a
    }

    #[test]
    fn solutions_solve() {
        let a = example();
        let root = a.cholesky().expect("positive");
        let x = root.solve(&[1.0, -2.0, 0.5]);
        for (row, expected) in [1.0, -2.0, 0.5].iter().enumerate() {
            let got: f64 = (0..3).map(|j| a.get(row, j) * x[j]).sum();
            assert!((got - expected).abs() < 1e-12);
        }
        let back = root.sandwich(Some(&a));
        let inverse = root.inverse();
        for i in 0..3 {
            for j in 0..3 {
                assert!((back.get(i, j) - inverse.get(i, j)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn singular_matrices_are_refused() {
        let mut a = SymmetricMatrix::zero(2);
        a.add_outer(&[(0, 1.0), (1, -1.0)], 5.0);
        assert!(a.cholesky().is_none());
    }
}
