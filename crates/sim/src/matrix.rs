//! Small dense matrices: as much linear algebra as quadratics need.

/// A square matrix, by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    n: usize,
    entries: Vec<f64>,
}

/// The matrix is not symmetric positive definite (or not to rounding).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite")]
pub struct NotPositiveDefinite;

impl Matrix {
    /// The zero matrix.
    pub fn zero(n: usize) -> Self {
        Matrix { n, entries: vec![0.0; n * n] }
    }

    /// A diagonal matrix.
    pub fn diagonal(diagonal: &[f64]) -> Self {
        let mut matrix = Matrix::zero(diagonal.len());
        for (i, value) in diagonal.iter().enumerate() {
            matrix.entries[i * matrix.n + i] = *value;
        }
        matrix
    }

    /// The identity.
    pub fn identity(n: usize) -> Self {
        Matrix::diagonal(&vec![1.0; n])
    }

    /// A matrix from its rows, which must be as long as they are many.
    pub fn from_rows(rows: &[Vec<f64>]) -> Self {
        let n = rows.len();
        assert!(rows.iter().all(|row| row.len() == n), "a square matrix");
        Matrix { n, entries: rows.concat() }
    }

    /// All entries, row by row.
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.n..(i + 1) * self.n]
    }

    /// `self += factor · other`.
    pub fn add_scaled(&mut self, factor: f64, other: &Matrix) {
        for (a, b) in self.entries.iter_mut().zip(&other.entries) {
            *a += factor * b;
        }
    }

    /// The matrix product.
    pub fn times(&self, other: &Matrix) -> Matrix {
        let mut product = Matrix::zero(self.n);
        for i in 0..self.n {
            for (k, a) in self.row(i).iter().enumerate() {
                let row = &mut product.entries[i * self.n..(i + 1) * self.n];
                for (sum, b) in row.iter_mut().zip(other.row(k)) {
                    *sum += a * b;
                }
            }
        }
        product
    }

    /// The product with a vector.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        (0..self.n).map(|i| self.row(i).iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    }

    /// The largest eigenvalue of a symmetric matrix, by Jacobi's rotations: they make entries off the
    /// diagonal as small as rounding allows, and leave the eigenvalues on it.
    pub fn largest_eigenvalue(&self) -> f64 {
        let (n, mut a) = (self.n, self.entries.clone());
        let size: f64 = a.iter().map(|entry| entry * entry).sum();
        // Each sweep squares what is left once that is small: six or so are enough.
        for _ in 0..64 {
            let off =
                |(at, entry): (usize, &f64)| if at / n == at % n { 0.0 } else { entry * entry };
            if a.iter().enumerate().map(off).sum::<f64>() <= size * f64::EPSILON.powi(2) {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotate(&mut a, n, (p, q));
                }
            }
        }
        (0..n).map(|i| a[i * n + i]).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Solves `self · x = b` by Cholesky; `self` must be symmetric.
    pub fn solve(&self, b: &[f64]) -> Result<Vec<f64>, NotPositiveDefinite> {
        let n = self.n;
        let mut l = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
                let rest = self.entries[i * n + j] - dot;
                if i != j {
                    l[i * n + j] = rest / l[j * n + j];
                } else if rest > 0.0 {
                    l[i * n + i] = rest.sqrt();
                } else {
                    return Err(NotPositiveDefinite);
                }
            }
        }
        let mut x = b.to_vec();
        for i in 0..n {
            let dot: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
            x[i] = (x[i] - dot) / l[i * n + i];
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
            x[i] = (x[i] - dot) / l[i * n + i];
        }
        Ok(x)
    }
}

/// Turns the plane of two axes so that a symmetric matrix has 0 where they meet (Golub and Van Loan,
/// section 8.5.2).
fn rotate(a: &mut [f64], n: usize, (p, q): (usize, usize)) {
    let off = a[p * n + q];
    if off == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_eigenvalue_is_that_of_the_matrix() {
        let golden = Matrix::from_rows(&[vec![2.0, 1.0], vec![1.0, 1.0]]);
        assert!((golden.largest_eigenvalue() - (3.0 + 5f64.sqrt()) / 2.0).abs() < 1e-15);
        let diagonal = Matrix::diagonal(&[3.0, 7.0, 5.0]);
        assert_eq!(diagonal.largest_eigenvalue(), 7.0);
        let alike = Matrix::from_rows(&[vec![2.0, 2.0], vec![2.0, 2.0]]);
        assert!((alike.largest_eigenvalue() - 4.0).abs() < 1e-15, "equal entries on the diagonal");
        // Second differences on 30 points have the eigenvalues 2 − 2 cos(πk/31).
        let n = 30;
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let rows: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        let expected = 2.0 - 2.0 * (std::f64::consts::PI * 30.0 / 31.0).cos();
        let found = Matrix::from_rows(&rows).largest_eigenvalue();
        assert!((found - expected).abs() < 1e-13, "{found} {expected}");
    }

    #[test]
    fn solves_and_multiplies() {
        let a =
            Matrix::from_rows(&[vec![4.0, 1.0, 0.5], vec![1.0, 3.0, -1.0], vec![0.5, -1.0, 2.0]]);
        let x = [1.0, -2.0, 3.0];
        let solved = a.solve(&a.apply(&x)).unwrap();
        assert!(solved.iter().zip(x).all(|(a, b)| (a - b).abs() < 1e-14));
        let twice = a.times(&a).apply(&x);
        let once_more = a.apply(&a.apply(&x));
        assert!(twice.iter().zip(once_more).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn refuses_what_is_not_positive_definite() {
        let saddle = Matrix::from_rows(&[vec![1.0, 2.0], vec![2.0, 1.0]]);
        assert_eq!(saddle.solve(&[1.0, 1.0]), Err(NotPositiveDefinite));
    }
}
