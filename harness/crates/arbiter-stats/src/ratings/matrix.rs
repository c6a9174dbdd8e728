//! Dense symmetric matrices, stored by rows, and Cholesky factors of positive definite matrices.

/// Symmetric matrix, stored with all its cells.
pub(super) type Matrix = Vec<Vec<f64>>;

/// Returns a matrix of zeros.
pub(super) fn zero(size: usize) -> Matrix {
    vec![vec![0.0; size]; size]
}

/// Adds `weight`·v·vᵀ to a matrix. `vector` lists the nonzero elements of v with their indices.
pub(super) fn add_outer(matrix: &mut Matrix, vector: &[(usize, f64)], weight: f64) {
    for (i, a) in vector {
        for (j, b) in vector {
            matrix[*i][*j] += weight * a * b;
        }
    }
}

/// Lower triangular Cholesky factor of a positive definite matrix. Row n, counted from 0, has n + 1
/// cells.
#[derive(Debug, Clone)]
pub(super) struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    /// Computes the factor; `None` if the matrix is singular to working precision, or not positive
    /// definite.
    pub(super) fn new(matrix: &Matrix) -> Option<Cholesky> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(matrix.len());
        for (place, cells) in matrix.iter().enumerate() {
            let mut row = Vec::with_capacity(place + 1);
            for (column, above) in rows.iter().enumerate() {
                row.push((cells[column] - product(&row, above)) / above[column]);
            }
            let rest = cells[place] - product(&row, &row);
            // The limit is relative to the diagonal, because the curvature grows with the number of
            // games.
            if rest.is_nan() || rest <= 1e-12 * cells[place].abs() {
                return None;
            }
            row.push(rest.sqrt());
            rows.push(row);
        }
        Some(Cholesky(rows))
    }

    /// Solves A·x = `right`, where A is the factorized matrix.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for (place, row) in self.0.iter().enumerate() {
            x[place] = (x[place] - product(&row[..place], &x)) / row[place];
        }
        for (place, row) in self.0.iter().enumerate().rev() {
            let value = x[place] / row[place];
            x[place] = value;
            x[..place].iter_mut().zip(row).for_each(|(before, cell)| *before -= cell * value);
        }
        x
    }

    /// Returns the inverse A⁻¹ of the factorized matrix.
    pub(super) fn inverse(&self) -> Matrix {
        self.solve_columns(|i, j| f64::from(u8::from(i == j)))
    }

    /// Returns A⁻¹·B·A⁻¹ for the symmetric matrix B = `middle`, where A is the factorized matrix.
    pub(super) fn sandwich(&self, middle: &Matrix) -> Matrix {
        // The columns of A⁻¹·B are the rows of B·A⁻¹.
        let left = self.solve_columns(|i, j| middle[i][j]);
        self.solve_columns(|i, j| left[j][i])
    }

    /// Returns A⁻¹·C for the matrix C with the cells `cell(row, column)`, where A is the factorized
    /// matrix.
    fn solve_columns(&self, cell: impl Fn(usize, usize) -> f64) -> Matrix {
        let size = self.0.len();
        let column = |j| (0..size).map(|i| cell(i, j)).collect::<Vec<_>>();
        let solved: Vec<Vec<f64>> = (0..size).map(|j| self.solve(&column(j))).collect();
        (0..size).map(|i| solved.iter().map(|column| column[i]).collect()).collect()
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Matrix {
        let mut a = zero(3);
        add_outer(&mut a, &[(0, 1.0), (1, 2.0)], 1.0);
        add_outer(&mut a, &[(1, 1.0), (2, -1.0)], 3.0);
        add_outer(&mut a, &[(0, 0.5), (2, 3.0)], 2.0);
        a
    }

    #[test]
    fn solutions_satisfy_the_equations() {
        let a = example();
        let root = Cholesky::new(&a).expect("positive");
        let x = root.solve(&[1.0, -2.0, 0.5]);
        for (row, expected) in [1.0, -2.0, 0.5].iter().enumerate() {
            let got: f64 = (0..3).map(|j| a[row][j] * x[j]).sum();
            assert!((got - expected).abs() < 1e-12);
        }
        let back = root.sandwich(&a);
        let inverse = root.inverse();
        for i in 0..3 {
            for j in 0..3 {
                assert!((back[i][j] - inverse[i][j]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn singular_matrices_are_refused() {
        let mut a = zero(2);
        add_outer(&mut a, &[(0, 1.0), (1, -1.0)], 5.0);
        assert!(Cholesky::new(&a).is_none());
    }
}
