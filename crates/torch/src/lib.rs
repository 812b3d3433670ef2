//! Deep models, computed by libtorch: the only place where `tch` appears.
//!
//! ```text
//!   ModelConfig ─► Network ─► networks ─┐
//!   net.pt ─► script ───────────────────┴─► Worker: parameters on a device, gradients
//!   Federated ─► Feed: samples on a device ─► batches ─┘        │
//!                      TorchRun: τ steps of one client by the law of `solver`
//! ```
//!
//! libtorch computes gradients; how a client moves along them is the same law as everywhere
//! ([`gruppetto_sim::solver`]). libtorch brings habits of its own, and what is kept here keeps them inside.
//! It computes with as many threads as there are cores, while here every worker is a thread already:
//! each takes [`one_thread`]. It draws from a generator that all threads share: nothing here draws
//! from it. Between rounds parameters travel as plain numbers; networks and data stay on the device.

mod bare;
mod devices;
mod evaluation;
mod feed;
mod networks;
mod run;
mod script;
#[cfg(test)]
mod tests;
mod worker;

pub use bare::bare_loop;

use crossbeam::queue::SegQueue;
use evaluation::Plan;
use feed::Feed;
use gruppetto_sim::data::{Cost, Dataset, Federated, Law, Loss, ModelConfig, Network, Parameter};
use gruppetto_sim::metric::Metric;
use gruppetto_sim::random::{Purpose, stream};
use gruppetto_sim::train::{
    DataDigest, DeviceChoice, Job, LocalRun, Measured, Model, Precision, TaskDescription, Tensor,
    TensorError, Trainer, Values, normal_vector,
};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use run::TorchRun;
use script::{Script, reason};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tch::{Device, Kind, Reduction};
use worker::Worker;

/// A deep model cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TorchError {
    /// `--device cuda` without a GPU.
    #[error(
        "--device cuda: there is no GPU that this libtorch can use\n  \
         --device cpu computes on the processor; README.md says how to build for a GPU"
    )]
    NoGpu,
    /// `--device cuda:N` beyond the last GPU.
    #[error("--device cuda:{wanted}: there are {count} GPUs, counted from 0; or --device cpu")]
    #[allow(missing_docs)]
    NoSuchGpu { wanted: usize, count: usize },
    /// A TorchScript file is not what it should be.
    #[error("{}: {what}", path.display())]
    #[allow(missing_docs)]
    Script { path: PathBuf, what: String },
}

/// What computes outputs from parameters and inputs.
enum Net {
    Network(Network),
    Script(PathBuf),
}

/// The trainer of data from files by libtorch.
pub struct TorchTrainer {
    shared: Arc<Shared>,
}

struct Shared {
    net: Net,
    parameters: Vec<Parameter>,
    /// The starting point that the file of a script has; empty for other networks.
    own_start: Vec<f32>,
    /// Floating-point operations of learning from one sample.
    flops: f64,
    problem: Federated,
    batch: usize,
    seed: u64,
    loss: Loss,
    evaluation: Plan,
    devices: Vec<Device>,
    /// Training and test samples on each device, once somebody computes there.
    feeds: Vec<OnceLock<Mutex<[Feed; 2]>>>,
    /// As many are made as are ever used side by side.
    workers: SegQueue<Worker>,
    made: AtomicUsize,
}

impl Shared {
    fn worker(&self) -> Worker {
        self.workers.pop().unwrap_or_else(|| {
            let made = self.made.fetch_add(1, Ordering::Relaxed);
            let device = self.devices[made % self.devices.len()];
            Worker::new(&self.net, device).unwrap_or_else(|error| panic!("{error}"))
        })
    }

    /// The training samples on a device.
    fn feed(&self, device: Device) -> Feed {
        self.with_feeds(device, |[train, _]| train.share())
    }

    fn with_feeds<T>(&self, device: Device, look: impl FnOnce(&[Feed; 2]) -> T) -> T {
        let place = self.devices.iter().position(|own| *own == device).expect("one of ours");
        let feeds = self.feeds[place].get_or_init(|| {
            let data = &self.problem.data;
            Mutex::new([&data.train, &data.test].map(|samples| Feed::new(data, samples, device)))
        });
        look(&feeds.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TorchTrainer {
    /// A trainer of `problem` in batches of `batch` samples, or of all a client has if it has fewer.
    pub fn new(
        model: &ModelConfig,
        problem: Federated,
        batch: usize,
        seed: u64,
        choice: DeviceChoice,
    ) -> Result<Self, TorchError> {
        one_thread();
        let devices = devices::devices(choice)?;
        let data = &*problem.data;
        let (net, loss) = match model {
            ModelConfig::TorchScript { path, loss } => (Net::Script(path.clone()), *loss),
            model => (Net::Network(network(model, data)), Loss::CrossEntropy),
        };
        let (parameters, own_start, flops) = match &net {
            Net::Network(network) => {
                (network.parameters().to_vec(), Vec::new(), network.cost().flops)
            }
            Net::Script(path) => {
                let script = Script::load(path, Device::Cpu)?;
                let size: usize = script.parameters.iter().map(Parameter::size).sum();
                // How often a script uses its weights is not known: once forward and twice backward here.
                (script.parameters, worker::flat(&script.leaves), 6.0 * size as f64)
            }
        };
        let shared = Shared {
            evaluation: Plan::new(&problem),
            feeds: devices.iter().map(|_| OnceLock::new()).collect(),
            net,
            parameters,
            own_start,
            flops,
            problem,
            batch,
            seed,
            loss,
            devices,
            workers: SegQueue::new(),
            made: AtomicUsize::new(0),
        };
        Ok(TorchTrainer { shared: Arc::new(shared) })
    }

    fn len(&self) -> usize {
        self.shared.parameters.iter().map(Parameter::size).sum()
    }
}

impl Trainer for TorchTrainer {
    fn description(&self) -> TaskDescription {
        let Shared { problem, flops, .. } = &*self.shared;
        let (classified, tested) = (problem.data.classes > 0, !problem.data.test.is_empty());
        let mut metrics = vec![Metric::TrainLoss, Metric::GradNorm];
        metrics.extend((classified && tested).then_some(Metric::TestAccuracy));
        metrics.extend(tested.then_some(Metric::TestLoss));
        let samples = problem.clients.iter().map(|own| own.len() as u32).collect();
        TaskDescription::by_samples(self.len(), samples, *flops, metrics)
    }

    fn precision(&self) -> Precision {
        Precision::Single
    }

    fn digest(&self) -> u64 {
        let mut digest = DataDigest::of(&self.description());
        digest.federated(&self.shared.problem);
        digest.singles(&self.shared.own_start);
        digest.finish()
    }

    fn start(&self, seed: u64, std: f64) -> Vec<f64> {
        let drawn = normal_vector(self.len(), seed, std);
        let [Parameter { name, shape, .. }, bias] = &self.shared.parameters[..] else {
            return drawn;
        };
        if (name.as_str(), bias.name.as_str()) != ("weight", "bias") {
            return drawn;
        }
        // A softmax begins where the native one does, which draws a class after the other.
        let rows = || drawn.chunks_exact(shape[1] + 1);
        let weights = rows().flat_map(|row| &row[..row.len() - 1]);
        weights.chain(rows().map(|row| &row[row.len() - 1])).copied().collect()
    }

    fn default_start(&self, seed: u64) -> Vec<f64> {
        if !self.shared.own_start.is_empty() {
            return self.shared.own_start.iter().map(|value| f64::from(*value)).collect();
        }
        let mut values = Vec::with_capacity(self.len());
        for (number, parameter) in (1..).zip(&self.shared.parameters) {
            // A stream for each, so that one layer more leaves the others as they are.
            let mut rng = stream(seed, Purpose::Init, number, 0);
            values.extend((0..parameter.size()).map(|_| match parameter.law {
                Law::Constant(value) => value,
                Law::Uniform(bound) => bound * (2.0 * rng.random::<f64>() - 1.0),
                Law::Normal(std) => {
                    let normal: f64 = StandardNormal.sample(&mut rng);
                    std * normal
                }
            }));
        }
        values
    }

    fn begin(&self, job: Job) -> Box<dyn LocalRun> {
        Box::new(TorchRun::begin(self.shared.clone(), job))
    }

    fn evaluation_parts(&self) -> usize {
        self.shared.evaluation.parts()
    }

    fn evaluate(&self, model: &Arc<Model>, part: usize, _: Option<&[f64]>) -> Vec<f64> {
        self.shared.evaluate(model, part)
    }

    fn measured(&self, _: &Model, sums: &[f64]) -> Measured {
        let metrics = self.shared.evaluation.metrics(sums);
        // Every client's whole gradient would cost more than the training.
        Measured { metrics, gradients: None }
    }

    fn tensors(&self, values: &[f64]) -> Vec<Tensor> {
        let mut rest = values;
        let tensor = |parameter: &Parameter| {
            let (own, others) = rest.split_at(parameter.size());
            rest = others;
            let values = Values::F32(own.iter().map(|value| *value as f32).collect());
            Tensor { name: parameter.name.clone(), shape: parameter.shape.clone(), values }
        };
        self.shared.parameters.iter().map(tensor).collect()
    }

    fn values(&self, tensors: &[Tensor]) -> Result<Vec<f64>, TensorError> {
        let find = |own: &Parameter| Tensor::find(tensors, &own.name, &own.shape);
        let found: Result<Vec<_>, _> = self.shared.parameters.iter().map(find).collect();
        Ok(found?.concat())
    }
}

/// The description of a model that was not exported.
fn network(model: &ModelConfig, data: &Dataset) -> Network {
    model.network(&data.shape, data.classes).expect("checked with the scenario")
}

/// What a batch of outputs costs.
fn loss(output: &tch::Tensor, y: &tch::Tensor, loss: Loss, reduction: Reduction) -> tch::Tensor {
    match loss {
        Loss::CrossEntropy => {
            output.cross_entropy_loss::<tch::Tensor>(y, None, reduction, -100, 0.0)
        }
        Loss::Mse if y.kind() == Kind::Int64 => {
            let classes = *output.size().last().expect("outputs of a batch");
            output.mse_loss(&y.one_hot(classes).to_kind(output.kind()), reduction)
        }
        Loss::Mse => output.view_as(y).mse_loss(&y.to_kind(output.kind()), reduction),
    }
}

/// Makes libtorch compute in the thread that calls it, and in no other.
pub fn one_thread() {
    thread_local!(static DONE: Cell<bool> = const { Cell::new(false) });
    if !DONE.replace(true) {
        tch::set_num_threads(1);
        script::still();
    }
}

/// Whether there is such a device.
pub fn check_device(choice: DeviceChoice) -> Result<(), TorchError> {
    devices::devices(choice).map(drop)
}

/// How many GPUs this libtorch can use.
pub fn gpu_count() -> usize {
    devices::count()
}

/// Whether there is a GPU, and a libtorch that can use it.
pub fn cuda_available() -> bool {
    tch::Cuda::is_available()
}

/// Tries a TorchScript file on a few samples of `data`: how large it is, or what is wrong with it.
/// How much work a sample is only its author knows; here six operations for every parameter.
pub fn inspect_script(path: &Path, data: &Dataset, kind: Loss) -> Result<Cost, TorchError> {
    one_thread();
    let wrong = |what: String| TorchError::Script { path: path.into(), what };
    let script = Script::load(path, Device::Cpu)?;
    if worker::flat(&script.leaves).iter().any(|value| !value.is_finite()) {
        return Err(wrong("it has parameters that are no numbers".into()));
    }
    let feed = Feed::new(data, &data.train.first(3), Device::Cpu);
    // A batch may have any size: what was traced with one may be good for that one alone.
    for samples in [2, 3, 1].map(|count| data.train.len().min(count)) {
        let tried = || {
            let (x, y) = feed.slice(0, samples);
            let output = script.forward(&x).map_err(|error| {
                let what = format!("it does not take {samples} samples of shape {:?}", data.shape);
                wrong(format!("{what}: {}", reason(&error.to_string())))
            })?;
            let (found, samples) = (output.size(), samples as i64);
            let wanted = match data.classes {
                0 => vec![vec![samples], vec![samples, 1]],
                classes => vec![vec![samples, classes as i64]],
            };
            if !wanted.contains(&found) || output.kind() != Kind::Float {
                let what = format!("{found:?} {:?}, expected {:?} Float", output.kind(), wanted[0]);
                return Err(wrong(format!("for {samples} samples it gives {what}")));
            }
            let loss = loss(&output, &y, kind, Reduction::Mean);
            if !loss.requires_grad() {
                let what = "its output does not depend on its parameters: nothing can be learned";
                return Err(wrong(what.into()));
            }
            let values = worker::flat(&[output]);
            if values.iter().any(|value| !value.is_finite()) {
                return Err(wrong(format!("for {samples} samples it gives what is no number")));
            }
            tch::Tensor::f_run_backward(&[loss], &script.leaves, false, false)
                .map_err(|error| wrong(format!("no gradient: {}", reason(&error.to_string()))))?;
            Ok(values)
        };
        let [first, second] = [tried()?, tried()?];
        if first.iter().zip(&second).any(|(a, b)| a.to_bits() != b.to_bits()) {
            let what =
                "it gives something else every time: is there dropout that eval() does not reach?";
            return Err(wrong(what.into()));
        }
    }
    let parameters = script.parameters.iter().map(Parameter::size).sum();
    // Nor can anybody else tell how much it keeps on the way.
    Ok(Cost { parameters, flops: 6.0 * parameters as f64, units: 0.0 })
}

/// The names and shapes of a model's tensors.
pub fn tensor_shapes(
    model: &ModelConfig,
    data: &Dataset,
) -> Result<Vec<(String, Vec<usize>)>, TorchError> {
    let parameters = match model {
        ModelConfig::TorchScript { path, .. } => Script::load(path, Device::Cpu)?.parameters,
        model => network(model, data).parameters().to_vec(),
    };
    Ok(parameters.into_iter().map(|own| (own.name, own.shape)).collect())
}
