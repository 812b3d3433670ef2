//! A model of your own with its own gradient: Poisson regression of counts.
//!
//! ```console
//! $ cargo run --release --example own_trainer
//! ```

use gruppetto::metric::{Metric, Metrics};
use gruppetto::random::{Purpose, stream};
use gruppetto::solver::Solver;
use gruppetto::train::{Job, LocalRun, Measured, Model, TaskDescription, Trainer};
use gruppetto::{Options, Plugins, Scenario, run};
use rand::RngExt;
use std::sync::Arc;

const FEATURES: usize = 5;

/// A sample: features, and how often something was counted.
type Sample = ([f64; FEATURES], f64);

/// Poisson regression: F_i(w) is the mean of exp(wᵀx) − y wᵀx over the samples of client i.
struct Poisson {
    clients: Arc<Vec<Vec<Sample>>>,
}

impl Poisson {
    fn new(clients: usize, seed: u64) -> Self {
        let draw = |client: usize| {
            let mut rng = stream(seed, Purpose::Data, client as u64, 0);
            let sample = |_| {
                let x = std::array::from_fn(|_| rng.random::<f64>() - 0.5);
                let rate = (0.5 + x[0] - x[1]).exp();
                (x, (rate + rng.random::<f64>()).floor())
            };
            (0..20 + 10 * client).map(sample).collect()
        };
        Poisson { clients: Arc::new((0..clients).map(draw).collect()) }
    }
}

/// Loss and gradient of one sample.
fn sample_loss(w: &[f64], (x, y): &Sample) -> (f64, [f64; FEATURES]) {
    let linear: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
    (linear.exp() - y * linear, x.map(|x| (linear.exp() - y) * x))
}

impl Trainer for Poisson {
    fn description(&self) -> TaskDescription {
        let samples = self.clients.iter().map(|own| own.len() as u32).collect();
        let metrics = vec![Metric::TrainLoss, Metric::GradNorm];
        TaskDescription::by_samples(FEATURES, samples, 4.0 * FEATURES as f64, metrics)
    }

    fn begin(&self, job: Job) -> Box<dyn LocalRun> {
        let w = job.model.values().to_vec();
        Box::new(PoissonRun { clients: self.clients.clone(), job, w })
    }

    fn evaluate(&self, model: &Arc<Model>, _: usize, _: Option<&[f64]>) -> Vec<f64> {
        let mut sums = [0.0; 1 + FEATURES];
        let all = self.clients.iter().flatten();
        for (loss, gradient) in all.map(|sample| sample_loss(model.values(), sample)) {
            sums[0] += loss;
            sums[1..].iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g);
        }
        let samples = self.clients.iter().map(Vec::len).sum::<usize>() as f64;
        sums.iter().map(|sum| sum / samples).collect()
    }

    fn measured(&self, _: &Model, sums: &[f64]) -> Measured {
        let mut metrics = Metrics::default();
        metrics.set(Metric::TrainLoss, sums[0]);
        metrics.set(Metric::GradNorm, sums[1..].iter().map(|g| g * g).sum::<f64>().sqrt());
        Measured { metrics, gradients: None }
    }
}

struct PoissonRun {
    clients: Arc<Vec<Vec<Sample>>>,
    job: Job,
    w: Vec<f64>,
}

impl LocalRun for PoissonRun {
    /// Full-batch gradient descent with the learning rate of the scenario.
    fn steps(&mut self, count: u64) {
        let own = &self.clients[self.job.client as usize];
        let Solver { lr, .. } = self.job.solver;
        for _ in 0..count {
            let mut sum = [0.0; FEATURES];
            for (_, gradient) in own.iter().map(|sample| sample_loss(&self.w, sample)) {
                sum.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g);
            }
            self.w.iter_mut().zip(sum).for_each(|(w, g)| *w -= lr * g / own.len() as f64);
        }
    }

    fn change(self: Box<Self>) -> Vec<f64> {
        self.w.iter().zip(self.job.model.values()).map(|(end, start)| end - start).collect()
    }
}

const SCENARIO: &str = r#"
name = "own-trainer"
stop.rounds = 150

[task]
kind = { plugin = "poisson" }
clients = 12

[client]
lr = 0.5
batch = "full"
work = { until = "deadline" }

[server]
close = { deadline = "1s" }

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "80ms", sigma = 0.7 } }
uplink = "1Mbps"
"#;

/// Trains it under a deadline: the number of local steps emerges from timing, as for any model.
pub fn main() {
    let plugins = Plugins::new()
        .task("poisson", |_, setup| Ok(Box::new(Poisson::new(setup.clients, setup.seed))));
    let scenario = Scenario::parse_with("own-trainer.toml", SCENARIO, &[], None, &plugins)
        .unwrap_or_else(|error| panic!("{error}"));
    let summary = run(&scenario, &Options::default(), &plugins).unwrap_or_else(|e| panic!("{e}"));
    let variant = &summary.variants[0];
    let norm = variant.metrics.get(Metric::GradNorm).unwrap();
    println!("τ from {} to {}, ‖∇F‖ {norm:.2e}", variant.tau.min, variant.tau.max);
    assert!(norm < 0.05, "it comes near the minimum: {norm}");
}
