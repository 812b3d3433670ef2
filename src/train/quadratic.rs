//! Training on quadratics: exact gradients H_i x − e_i, in double precision.

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
        let gradient = vec![0.0; x.len()];
        let (problem, solver, client) = (self.problem.clone(), self.solver, client as usize);
        Box::new(QuadraticRun { problem, solver, client, model, x, gradient, noise })
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
    gradient: Vec<f64>,
    noise: Option<Stream>,
}

impl LocalRun for QuadraticRun {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            gradient(
                self.problem.curvature(self.client),
                self.problem.center(self.client),
                &self.x,
                &mut self.gradient,
            );
            if let Some(stream) = &mut self.noise {
                for g in &mut self.gradient {
                    let z: f64 = StandardNormal.sample(stream);
                    *g += self.problem.gradient_noise * z;
                }
            }
            self.solver.step(&mut self.x, &self.gradient);
        }
    }

    fn change(self: Box<Self>) -> Vec<f64> {
        self.x.iter().zip(self.model.values()).map(|(now, then)| now - then).collect()
    }
}

/// g = Hx − e.
fn gradient(curvature: LocalCurvature<'_>, center: &[f64], x: &[f64], out: &mut [f64]) {
    match curvature {
        LocalCurvature::Identity => {
            for ((g, x), e) in out.iter_mut().zip(x).zip(center) {
                *g = x - e;
            }
        }
        LocalCurvature::Diagonal(h) => {
            for (((g, x), e), h) in out.iter_mut().zip(x).zip(center).zip(h) {
                *g = h * x - e;
            }
        }
        LocalCurvature::Full(h) => {
            out.iter_mut().zip(center).for_each(|(g, e)| *g = -e);
            // H is symmetric, so its columns are its rows: added one after another they need no
            // reduction across lanes, and any vector width gives the same bits.
            for (j, x) in x.iter().enumerate() {
                out.iter_mut().zip(h.row(j)).for_each(|(g, h)| *g += h * x);
            }
        }
    }
}
