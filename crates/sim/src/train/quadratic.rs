//! Training on quadratics: exact gradients H_i x − e_i, in double precision.

use super::{
    DataDigest, Job, LocalRun, Measured, Model, TaskDescription, Tensor, TensorError, Trainer,
    Values,
};
use crate::data::{LocalCurvature, Quadratic};
use crate::metric::{Gradients, Metric, Metrics};
use crate::random::{Purpose, Stream, stream};
use crate::solver::Solver;
use gruppetto_kernels::{DescentLaw, Hessian, Isa, descend};
use rand_distr::{Distribution, StandardNormal};
use std::sync::Arc;

/// The trainer of `[task] kind = "quadratic"`.
pub struct QuadraticTrainer {
    problem: Arc<Quadratic>,
    seed: u64,
}

impl QuadraticTrainer {
    /// A trainer of `problem`.
    pub fn new(problem: Quadratic, seed: u64) -> Self {
        QuadraticTrainer { problem: Arc::new(problem), seed }
    }
}

impl Trainer for QuadraticTrainer {
    fn description(&self) -> TaskDescription {
        TaskDescription {
            buffers: crate::aggregate::Buffers::NONE,
            parameters: self.problem.dim(),
            p: self.problem.shares().to_vec(),
            samples: Vec::new(),
            flops: [self.problem.flops(), 0.0],
            metrics: vec![Metric::TrainLoss, Metric::GradNorm, Metric::Distance],
        }
    }

    /// The minimum is made of every client's centre and curvature.
    fn digest(&self) -> u64 {
        let mut digest = DataDigest::of(&self.description());
        digest.doubles(&self.problem.optimum);
        digest.finish()
    }

    fn start(&self, seed: u64, std: f64) -> Vec<f64> {
        normal_vector(self.problem.dim(), seed, std)
    }

    fn begin(&self, job: Job) -> Box<dyn LocalRun> {
        let Job { model, client, round, solver, correction } = job;
        let problem = self.problem.clone();
        let x = model.values().to_vec();
        // Hx − e + λx + μ(x − x₀) + c is the gradient with curvature H + λ + μ around the centre
        // e + μx₀ − c.
        let mut center = problem.center(client as usize).to_vec();
        if solver.prox > 0.0 {
            center.iter_mut().zip(&x).for_each(|(e, x)| *e += solver.prox * x);
        }
        if !correction.is_zero() {
            let correction = correction.vector(x.len());
            center.iter_mut().zip(correction).for_each(|(e, c)| *e -= c);
        }
        let noise = (problem.gradient_noise > 0.0)
            .then(|| stream(self.seed, Purpose::Noise, u64::from(client), round));
        let buffer = if solver.momentum > 0.0 { vec![0.0; x.len()] } else { Vec::new() };
        let (client, rate) = (client as usize, solver.lr);
        Box::new(QuadraticRun { problem, solver, client, center, model, x, buffer, rate, noise })
    }

    fn evaluation_parts(&self) -> usize {
        1
    }

    fn evaluate(&self, model: &Arc<Model>, _: usize, weights: Option<&[f64]>) -> Vec<f64> {
        let (x, problem) = (model.values(), &self.problem);
        let (loss, gradient) = problem.global(x);
        let away: f64 = x.iter().zip(&problem.optimum).map(|(x, min)| (x - min).powi(2)).sum();
        let mut sums = vec![loss, squared(&gradient), away];
        if let Some(weights) = weights {
            let mut surrogate = vec![0.0; x.len()];
            let mut mean_square = 0.0;
            for (client, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0)
            {
                let gradient = problem.local_gradient(client, x);
                mean_square += weight * squared(&gradient);
                surrogate.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += weight * g);
            }
            sums.extend([squared(&surrogate), mean_square]);
        }
        sums
    }

    fn measured(&self, _: &Model, sums: &[f64]) -> Measured {
        let mut metrics = Metrics::default();
        metrics.set(Metric::TrainLoss, sums[0]);
        metrics.set(Metric::GradNorm, sums[1].sqrt());
        metrics.set(Metric::Distance, sums[2].sqrt());
        let gradients =
            sums.get(3..5).map(|sums| Gradients { of_surrogate: sums[0], mean_square: sums[1] });
        Measured { metrics, gradients }
    }

    fn tensors(&self, values: &[f64]) -> Vec<Tensor> {
        let shape = vec![values.len()];
        vec![Tensor { name: "x".into(), shape, values: Values::F64(values.to_vec()) }]
    }

    fn values(&self, tensors: &[Tensor]) -> Result<Vec<f64>, TensorError> {
        Tensor::find(tensors, "x", &[self.problem.dim()])
    }
}

/// ‖v‖².
pub(super) fn squared(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum()
}

/// Independent normal entries.
pub fn normal_vector(len: usize, seed: u64, std: f64) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::Init, 0, 0);
    let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
    if std == 0.0 { vec![0.0; len] } else { (0..len).map(|_| std * draw()).collect() }
}

struct QuadraticRun {
    problem: Arc<Quadratic>,
    solver: Solver,
    client: usize,
    /// The centre that the whole gradient vanishes around, noise aside.
    center: Vec<f64>,
    model: Arc<Model>,
    x: Vec<f64>,
    /// Momentum; empty without.
    buffer: Vec<f64>,
    /// The learning rate of the next step.
    rate: f64,
    noise: Option<Stream>,
}

impl QuadraticRun {
    fn descend(&mut self, center: &[f64], count: u64) {
        let hessian = match self.problem.curvature(self.client) {
            LocalCurvature::Identity => Hessian::Identity,
            LocalCurvature::Diagonal(h) => Hessian::Diagonal(h),
            LocalCurvature::Full(h) => Hessian::Full(h.entries()),
        };
        let Solver { momentum, prox, lr_decay, weight_decay, .. } = self.solver;
        let mut law = DescentLaw {
            lr: self.rate,
            decay: lr_decay,
            momentum,
            shrink: prox + weight_decay,
            buffer: (momentum > 0.0).then_some(&mut self.buffer),
        };
        descend(Isa::detect(), hessian, center, &mut self.x, &mut law, count);
        self.rate = law.lr;
    }
}

impl LocalRun for QuadraticRun {
    fn steps(&mut self, count: u64) {
        let center = std::mem::take(&mut self.center);
        match self.noise.take() {
            None => self.descend(&center, count),
            Some(mut stream) => {
                // Noise z is one more gradient: it shifts the centre by −z, anew in every step.
                let mut shifted = vec![0.0; center.len()];
                for _ in 0..count {
                    for (shifted, e) in shifted.iter_mut().zip(&center) {
                        let drawn: f64 = StandardNormal.sample(&mut stream);
                        *shifted = e - self.problem.gradient_noise * drawn;
                    }
                    self.descend(&shifted, 1);
                }
                self.noise = Some(stream);
            }
        }
        self.center = center;
    }

    fn change(self: Box<Self>) -> Vec<f64> {
        self.x.iter().zip(self.model.values()).map(|(now, then)| now - then).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Centers, Curvature, QuadraticConfig};
    use crate::solver::{Correction, Descent};

    fn trainer(gradient_noise: f64) -> QuadraticTrainer {
        let config = QuadraticConfig {
            dim: 2,
            centers: Centers::Explicit(vec![vec![1.0, 2.0]]),
            curvature: Curvature::Full(vec![vec![vec![2.0, 0.3], vec![0.3, 1.0]]]),
            weights: None,
            gradient_noise,
        };
        QuadraticTrainer::new(config.init(1, &[1.0]), 1)
    }

    fn job(start: [f64; 2], round: u64, solver: Solver, correction: Correction) -> Job {
        Job { model: Arc::new(Model::new(start.to_vec())), client: 0, round, solver, correction }
    }

    fn change(trainer: &QuadraticTrainer, start: [f64; 2], round: u64, steps: u64) -> Vec<f64> {
        let mut run = trainer.begin(job(start, round, Solver::sgd(0.1), Correction::default()));
        run.steps(steps);
        run.change()
    }

    /// The accumulated change of the solver's law on the gradient Hx − e, for every mix, in one go
    /// and step by step.
    #[test]
    fn steps_follow_the_solver_on_the_gradient() {
        let (trainer, start) = (trainer(0.0), [0.5, -0.5]);
        let correction = Correction {
            shared: Some(Arc::new(vec![0.3, -0.1])),
            own: Some(Arc::new(vec![0.1, 0.2])),
        };
        for mix in 0..32 {
            let on = |bit: u32, value: f64| if mix >> bit & 1 == 1 { value } else { 0.0 };
            let solver = Solver {
                lr: 0.1,
                momentum: on(0, 0.8),
                prox: on(1, 0.7),
                lr_decay: 1.0 - on(2, 0.1),
                weight_decay: on(3, 0.2),
            };
            let correction = if mix >> 4 == 1 { correction.clone() } else { Correction::default() };
            let vector = correction.vector(2);
            let mut x = start;
            let mut descent = Descent::new(solver, &start, &vector);
            for _ in 0..7 {
                let g = [2.0 * x[0] + 0.3 * x[1] - 1.0, 0.3 * x[0] + x[1] - 2.0];
                descent.step(&mut x, &g);
            }
            let mut at_once = trainer.begin(job(start, 1, solver, correction.clone()));
            at_once.steps(7);
            let at_once = at_once.change();
            let mut singly = trainer.begin(job(start, 1, solver, correction));
            (0..7).for_each(|_| singly.steps(1));
            assert_eq!(at_once, singly.change());
            for (moved, (x, start)) in at_once.iter().zip(x.iter().zip(start)) {
                assert!((moved - (x - start)).abs() < 1e-14, "{solver:?}");
            }
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
