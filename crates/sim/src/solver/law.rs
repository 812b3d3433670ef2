//! The local update law (appendix B of the paper).

/// A local update law: SGD with every term the paper names, in any mix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solver {
    /// Learning rate η.
    pub lr: f64,
    /// Momentum factor ρ, in 0..1.
    pub momentum: f64,
    /// μ of the proximal term.
    pub prox: f64,
    /// γ: step k uses ηγᵏ.
    pub lr_decay: f64,
    /// λ of the weight decay.
    pub weight_decay: f64,
}

impl Solver {
    /// Plain (stochastic) gradient descent.
    pub const fn sgd(lr: f64) -> Self {
        Solver { lr, momentum: 0.0, prox: 0.0, lr_decay: 1.0, weight_decay: 0.0 }
    }

    /// One step of one coordinate: on the gradient `g`, from `x` with buffer `u`, in a round that
    /// began at `start`, with the step's own learning rate.
    #[inline]
    pub fn step(&self, rate: f64, (x, u): (f64, f64), start: f64, g: f64) -> (f64, f64) {
        let gradient = g + self.weight_decay * x + self.prox * (x - start);
        let u = self.momentum * u + gradient;
        (x - rate * u, u)
    }
}

/// The law at work on whole vectors, one round of one client: the plain form that fast kernels
/// are held to.
pub struct Descent<'a> {
    solver: Solver,
    start: &'a [f64],
    /// What variance reduction adds to every gradient; empty: nothing.
    correction: &'a [f64],
    buffer: Vec<f64>,
    rate: f64,
}

impl<'a> Descent<'a> {
    /// A round that begins at `start`.
    pub fn new(solver: Solver, start: &'a [f64], correction: &'a [f64]) -> Self {
        Descent { solver, start, correction, buffer: vec![0.0; start.len()], rate: solver.lr }
    }

    /// One step on the gradient `g`.
    pub fn step(&mut self, x: &mut [f64], g: &[f64]) {
        for (i, x) in x.iter_mut().enumerate() {
            let g = g[i] + self.correction.get(i).copied().unwrap_or(0.0);
            (*x, self.buffer[i]) =
                self.solver.step(self.rate, (*x, self.buffer[i]), self.start[i], g);
        }
        self.rate *= self.solver.lr_decay;
    }
}
