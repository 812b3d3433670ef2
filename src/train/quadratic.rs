//! Training on quadratics: exact gradients H_i x − e_i, in double precision.

use super::kernel::{Hessian, Isa, descend};
use super::{LocalRun, Model, Tensor, TensorError, Trainer, Values};
use crate::data::{LocalCurvature, Quadratic};
use crate::metric::{Metric, Metrics};
use crate::random::{Purpose, Stream, stream};
use crate::solver::Solver;
use rand_distr::{Distribution, StandardNormal};
use std::sync::Arc;

/// The trainer of `[task] kind = "quadratic"`.
pub struct QuadraticTrainer {
    problem: Arc<Quadratic>,
    solver: Solver,
    seed: u64,
}

impl QuadraticTrainer {
    /// A trainer of `problem`.
    pub fn new(problem: Quadratic, solver: Solver, seed: u64) -> Self {
        QuadraticTrainer { problem: Arc::new(problem), solver, seed }
    }
}

impl Trainer for QuadraticTrainer {
    fn start(&self, seed: u64, std: f64) -> Vec<f64> {
        normal_vector(self.problem.dim(), seed, std)
    }

    fn begin(&self, model: Arc<Model>, client: u32, round: u64) -> Box<dyn LocalRun> {
        let x = model.values().to_vec();
        let noise = (self.problem.gradient_noise > 0.0)
            .then(|| stream(self.seed, Purpose::Noise, u64::from(client), round));
        let (problem, solver, client) = (self.problem.clone(), self.solver, client as usize);
        Box::new(QuadraticRun { problem, solver, client, model, x, noise })
    }

    fn evaluation_parts(&self) -> usize {
        1
    }

    fn evaluate(&self, model: &Model, _: usize) -> Vec<f64> {
        let (loss, gradient) = self.problem.global(model.values());
        let away =
            model.values().iter().zip(&self.problem.optimum).map(|(x, min)| (x - min).powi(2));
        let squares = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>();
        vec![loss, squares(&mut gradient.iter().map(|g| g * g)), squares(&mut away.into_iter())]
    }

    fn metrics(&self, _: &Model, sums: &[f64]) -> Metrics {
        let mut metrics = Metrics::default();
        metrics.set(Metric::TrainLoss, sums[0]);
        metrics.set(Metric::GradNorm, sums[1].sqrt());
        metrics.set(Metric::Distance, sums[2].sqrt());
        metrics
    }

    fn tensors(&self, values: &[f64]) -> Vec<Tensor> {
        let shape = vec![values.len()];
        vec![Tensor { name: "x".into(), shape, values: Values::F64(values.to_vec()) }]
    }

    fn values(&self, tensors: &[Tensor]) -> Result<Vec<f64>, TensorError> {
        Tensor::find(tensors, "x", &[self.problem.dim()])
    }
}

/// Independent normal entries.
pub(super) fn normal_vector(len: usize, seed: u64, std: f64) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::Init, 0, 0);
    let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
    if std == 0.0 { vec![0.0; len] } else { (0..len).map(|_| std * draw()).collect() }
}

struct QuadraticRun {
    problem: Arc<Quadratic>,
    solver: Solver,
    client: usize,
    model: Arc<Model>,
    x: Vec<f64>,
    noise: Option<Stream>,
}

impl LocalRun for QuadraticRun {
    fn steps(&mut self, count: u64) {
        let center = self.problem.center(self.client);
        let hessian = match self.problem.curvature(self.client) {
            LocalCurvature::Identity => Hessian::Identity,
            LocalCurvature::Diagonal(h) => Hessian::Diagonal(h),
            LocalCurvature::Full(h) => Hessian::Full(h.entries()),
        };
        let Some(stream) = &mut self.noise else {
            descend(Isa::detect(), hessian, center, &mut self.x, self.solver.lr, count);
            return;
        };
        // Noise is one more gradient: a step without it, then the noise's own step.
        let mut noise = vec![0.0; self.x.len()];
        for _ in 0..count {
            descend(Isa::detect(), hessian, center, &mut self.x, self.solver.lr, 1);
            for z in &mut noise {
                let drawn: f64 = StandardNormal.sample(stream);
                *z = self.problem.gradient_noise * drawn;
            }
            self.solver.step(&mut self.x, &noise);
        }
    }

    fn change(self: Box<Self>) -> Vec<f64> {
        self.x.iter().zip(self.model.values()).map(|(now, then)| now - then).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Centers, Curvature, QuadraticConfig};

    fn trainer(gradient_noise: f64) -> QuadraticTrainer {
        let config = QuadraticConfig {
            dim: 2,
            centers: Centers::Explicit(vec![vec![1.0, 2.0]]),
            curvature: Curvature::Full(vec![vec![vec![2.0, 0.3], vec![0.3, 1.0]]]),
            weights: None,
            gradient_noise,
        };
        QuadraticTrainer::new(config.init(1, &[1.0]), Solver { lr: 0.1 }, 1)
    }

    fn change(trainer: &QuadraticTrainer, start: [f64; 2], round: u64, steps: u64) -> Vec<f64> {
        let mut run = trainer.begin(Arc::new(Model::new(start.to_vec())), 0, round);
        run.steps(steps);
        run.change()
    }

    /// The accumulated change of the solver's law on the gradient Hx − e.
    #[test]
    fn steps_follow_the_solver_on_the_gradient() {
        let (trainer, start) = (trainer(0.0), [0.5, -0.5]);
        let mut x = start;
        for _ in 0..7 {
            let g = [2.0 * x[0] + 0.3 * x[1] - 1.0, 0.3 * x[0] + x[1] - 2.0];
            trainer.solver.step(&mut x, &g);
        }
        for (moved, (x, start)) in change(&trainer, start, 1, 7).iter().zip(x.iter().zip(start)) {
            assert!((moved - (x - start)).abs() < 1e-15);
        }
    }

    #[test]
    fn gradient_noise_has_its_standard_deviation_and_no_bias() {
        let (noisy, plain) = (trainer(0.5), change(&trainer(0.0), [0.0; 2], 1, 1));
        let n = 20_000;
        let noise: Vec<f64> = (1..=n)
            .map(|round| (change(&noisy, [0.0; 2], round, 1)[0] - plain[0]) / -0.1)
            .collect();
        let mean = noise.iter().sum::<f64>() / n as f64;
        let std = (noise.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        assert!(mean.abs() < 0.015 && (std - 0.5).abs() < 0.01, "{mean} {std}");
    }
}
