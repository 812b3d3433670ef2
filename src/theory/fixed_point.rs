//! Where the general update rule comes to rest on quadratics (appendix A, eq. 22).

use crate::matrix::{Matrix, NotPositiveDefinite};

/// One client of a quadratic problem, as the fixed point sees it.
pub struct QuadraticClient {
    /// c_i = τ_eff·w_i, up to a common factor.
    pub movement: f64,
    /// Local steps τ_i of gradient descent.
    pub tau: u64,
    /// H_i.
    pub curvature: Matrix,
    /// e_i.
    pub center: Vec<f64>,
}

/// The limit x̃ of x ← x + Σ (c_i/τ_i)·K_i·(e_i − H_i x) with K_i = [I − (I − ηH_i)^τ_i]·H_i⁻¹:
/// the solution of (Σ (c_i/τ_i) K_i H_i) x̃ = Σ (c_i/τ_i) K_i e_i.
///
/// FedAvg has c_i ∝ p_iτ_i, which is the paper's eq. 22 with μ = 0; FedNova has c_i ∝ p_i.
pub fn fixed_point(lr: f64, clients: &[QuadraticClient]) -> Result<Vec<f64>, NotPositiveDefinite> {
    let n = clients.first().map_or(0, |client| client.center.len());
    let mut left = Matrix::zero(n);
    let mut right = vec![0.0; n];
    for client in clients {
        let factor = client.movement / client.tau as f64;
        let k = local_gain(lr, client.tau, &client.curvature);
        left.add_scaled(factor, &k.times(&client.curvature));
        for (sum, value) in right.iter_mut().zip(k.apply(&client.center)) {
            *sum += factor * value;
        }
    }
    left.solve(&right)
}

/// K = η Σ_{k<τ} (I − ηH)^k, which is [I − (I − ηH)^τ]·H⁻¹ without the inverse.
fn local_gain(lr: f64, tau: u64, curvature: &Matrix) -> Matrix {
    let n = curvature.row(0).len();
    let mut contraction = Matrix::identity(n);
    contraction.add_scaled(-lr, curvature);
    let mut power = Matrix::identity(n);
    let mut gain = Matrix::zero(n);
    for _ in 0..tau {
        gain.add_scaled(lr, &power);
        power = power.times(&contraction);
    }
    gain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lemma 1's concrete example: H_i = I gives Σ[1−(1−η)^τ_i]e_i / Σ[1−(1−η)^τ_i].
    #[test]
    fn identity_curvature_gives_lemma_one() {
        let (lr, taus, centers) = (0.05, [3u64, 20, 96], [1.0, -2.0, 5.0]);
        let clients: Vec<_> = taus
            .iter()
            .zip(centers)
            .map(|(&tau, center)| QuadraticClient {
                movement: tau as f64 / 3.0,
                tau,
                curvature: Matrix::identity(1),
                center: vec![center],
            })
            .collect();
        let gain = |tau: u64| 1.0 - (1.0f64 - lr).powi(tau as i32);
        let above: f64 = taus.iter().zip(centers).map(|(&tau, e)| gain(tau) * e).sum();
        let below: f64 = taus.iter().map(|&tau| gain(tau)).sum();
        let x = fixed_point(lr, &clients).unwrap();
        assert!((x[0] - above / below).abs() < 1e-13);
    }
}
