//! How a client moves its model, and the accumulation vector a_i that its law implies.
//!
//! Whatever the law, a client's change is a linear combination of its gradients,
//! `Δ_i = −η G_i a_i`, and the server must know ‖a_i‖₁ to normalise it (section 4.1 of the paper).
//! Linear means that ‖a_i‖₁ can be read off the law itself: run it from 0 on the constant
//! gradient 1 and divide where it ends by −η. The tests hold each closed form to that.

/// A local update law. Today plain (stochastic) gradient descent, x ← x − η g.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solver {
    /// Learning rate η.
    pub lr: f64,
}

impl Solver {
    /// ‖a‖₁ after `tau` steps: a = [1, …, 1].
    pub fn accumulation(&self, tau: u64) -> f64 {
        tau as f64
    }

    /// One step on the gradient `g`.
    pub fn step(&self, x: &mut [f64], g: &[f64]) {
        for (x, g) in x.iter_mut().zip(g) {
            *x -= self.lr * g;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accumulation_is_the_displacement_on_a_constant_gradient() {
        let solver = Solver { lr: 0.05 };
        for tau in [0u64, 1, 2, 17, 400] {
            let mut x = [0.0];
            for _ in 0..tau {
                solver.step(&mut x, &[1.0]);
            }
            let displaced = -x[0] / solver.lr;
            assert!((solver.accumulation(tau) - displaced).abs() <= 1e-12 * displaced.max(1.0));
        }
    }
}
