//! From a validated plan to something that can be run.

use super::trainer::trainer;
use crate::aggregate::{Participation, WeightingConfig};
use crate::client::{Habits, World};
use crate::clock::TimeOverflow;
use crate::compress::{Compression, Packer};
use crate::data::{
    Backend, FilesConfig, Init, PartitionError, SyntheticConfig, TaskConfig, TaskKind,
};
use crate::device::{Demand, Device, Effect, Effort, EventConfig, FleetError, Payload};
use crate::policy::{Selection, Workload};
use crate::report::{LoadError, load_tensors};
use crate::scenario::Plan;
use crate::server::{Agenda, Attendance, Server, Setup};
use crate::train::{DeviceChoice, Pool, Tensor, TensorError, Trainer, Training};
use gruppetto_kernels::SoftmaxShape;
use std::sync::Arc;

/// A run cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A device is impossible.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// An event lies behind the end of the clock.
    #[error("[[event]]: {0}")]
    Event(#[from] TimeOverflow),
    /// The file of initial parameters cannot be read.
    #[error("[task] init: {0}")]
    Load(#[from] LoadError),
    /// The file of initial parameters is another model's.
    #[error("[task] init: {}: {source}", path.display())]
    #[allow(missing_docs)]
    Init { path: std::path::PathBuf, source: TensorError },
    /// The data cannot be spread over the clients with this seed.
    #[error("[task.partition]: {0}")]
    Partition(#[from] PartitionError),
    /// The model needs libtorch.
    #[error("[task] model: \"{0}\" needs libtorch, and this program was built without it")]
    NoTorch(&'static str),
    /// libtorch cannot do what is asked.
    #[cfg(feature = "torch")]
    #[error(transparent)]
    Torch(#[from] gruppetto_torch::TorchError),
    /// The worker threads cannot be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(#[from] std::io::Error),
}

/// A run that is ready to go.
pub struct Built {
    /// The server.
    pub server: Server,
    /// The clients' side.
    pub world: World,
    /// The task and its workers; `None` if the schedule alone is run.
    pub training: Option<Training>,
}

/// Draws the task and the fleet for `seed` and puts everything together, with that many threads
/// to help the simulation's own. `device` is where deep models are computed; `None`: nothing is
/// trained.
pub fn build(
    plan: &Plan,
    seed: u64,
    helpers: usize,
    device: Option<DeviceChoice>,
) -> Result<Built, BuildError> {
    let training = if let Some(device) = device {
        let trainer = trainer(plan, seed, device)?;
        // An update, and with error feedback what it lost.
        let vectors = 1 + usize::from(plan.client.packing.error_feedback);
        let pool = Pool::new(helpers, vectors * 8 * plan.task.parameters())?;
        Some(Training { trainer, pool: Arc::new(pool) })
    } else {
        None
    };
    assemble(plan, seed, training)
}

/// Puts a run together around a trainer that may be anybody's.
pub fn assemble(plan: &Plan, seed: u64, training: Option<Training>) -> Result<Built, BuildError> {
    let shares = plan.task.shares(seed)?;
    let p: Arc<[f64]> = shares.p.into();
    let work = plan.client.work.init().expect("plug-ins are built apart");
    let workload = Workload::new(plan.client.batch, work, seed, shares.samples);
    let effort = |client: usize| {
        let samples = workload.batch(client as u32);
        Effort { samples: samples as f64, flops: plan.task.flops(samples) }
    };
    let wires = !plan.events.is_empty()
        || plan.fleet.server_uplink.is_some()
        || plan.fleet.server_downlink.is_some();
    let demand = Demand { payload: payload(plan), effort: &effort, wires };
    let fleet = plan.fleet.init(seed, plan.task.clients, &demand)?;
    let start = match &training {
        None => Vec::new(),
        Some(training) => start(plan, seed, &*training.trainer)?,
    };
    let profile = |client| {
        let device: &Device = &fleet.devices[client as usize];
        profile(device, workload.typical_steps(client, device.step).flatten())
    };
    let selector = plan.server.scheme.init(&p, profile).expect("plug-ins are built apart");
    let selection = Selection::new(&plan.server, seed, selector, p.clone());
    let closing = plan.server.close.init().expect("plug-ins are built apart");
    let weighting = plan.server.rule.init(selection.draw()).expect("plug-ins are built apart");
    let optimizer = plan.server.optimizer.init(start.len()).expect("plug-ins are built apart");
    let (config, stop) = (plan.server.clone(), plan.stop.clone());
    let recipe = plan.client.recipe.clone();
    let classes: Arc<[u16]> = fleet.devices.iter().map(|device| device.class).collect();
    let concerns_presence = |event: &EventConfig| match &event.effect {
        Effect::Devices(_, effect) => effect.concerns_presence(),
        _ => false,
    };
    let scripted = plan.events.iter().any(concerns_presence);
    let presence = plan.fleet.presence(seed, &fleet, scripted);
    let mut attendance = Attendance::new(presence, classes.clone(), p.clone(), selection.needs());
    let agenda = Agenda::new(&plan.events, seed, &classes, |absence| attendance.add(absence))?;
    let script = agenda.script();
    let server = Server::new(Setup {
        config,
        stop,
        selection,
        closing,
        weighting,
        optimizer,
        training: training.clone(),
        p,
        x: start,
        recipe: recipe.clone(),
        variance_reduction: plan.client.variance_reduction,
        attendance,
        agenda,
        error_feedback: plan.client.packing.error_feedback,
    });
    let packer = Packer { packing: plan.client.packing, parameters: plan.task.parameters(), seed };
    let flops = plan.task.flops(0);
    let world = World {
        seed,
        habits: Habits::new(seed, &fleet),
        fleet,
        script,
        scripted: !plan.events.is_empty(),
        payload: payload(plan),
        flops: [flops, plan.task.flops(1) - flops],
        server_uplink: plan.fleet.server_uplink,
        server_downlink: plan.fleet.server_downlink,
        workload,
        recipe,
        packer,
        training: training.clone(),
    };
    Ok(Built { server, world, training })
}

/// How long a client's round takes when nothing disturbs it, in nanoseconds; with work until the
/// deadline, which all rounds take, how long one of its steps does.
fn profile(device: &Device, steps: Option<u64>) -> u64 {
    let transfers = || device.download.nanos().saturating_add(device.upload.nanos());
    match steps {
        None => device.step.nanos(),
        Some(steps) => device.step.nanos().saturating_mul(steps).saturating_add(transfers()),
    }
}

/// What travels to a client and back: single-precision parameters, and with variance reduction as
/// many again. Whatever goes up is compressed.
pub(super) fn payload(plan: &Plan) -> Payload {
    let parameters = plan.task.parameters();
    let (down, up) = plan.client.variance_reduction.map_or((1, 1), |method| method.payload());
    let bits = |compression: Compression| compression.bits(parameters);
    let squeezed = bits(plan.client.packing.compression);
    Payload { down: down * bits(Compression::None), up: up * squeezed }
}

/// Entries of a parameter vector as trainers keep it, padding included.
pub(super) fn stored_parameters(plan: &Plan) -> usize {
    softmax_shape(&plan.task).map_or(plan.task.parameters(), SoftmaxShape::len)
}

/// The shape of a task's model, if that is a softmax regression of the native kernels.
fn softmax_shape(task: &TaskConfig) -> Option<SoftmaxShape> {
    match &task.kind {
        TaskKind::Quadratic(_) => None,
        TaskKind::Synthetic(SyntheticConfig { features, classes, .. }) => {
            Some(SoftmaxShape { features: *features, classes: *classes })
        }
        TaskKind::Files(FilesConfig { data, backend: Backend::Native, .. }) => {
            Some(SoftmaxShape { features: data.features(), classes: data.classes })
        }
        TaskKind::Files(_) => None,
    }
}

pub(super) fn start(plan: &Plan, seed: u64, trainer: &dyn Trainer) -> Result<Vec<f64>, BuildError> {
    match &plan.task.init {
        Init::Default => Ok(trainer.default_start(seed)),
        Init::Zeros => Ok(trainer.start(seed, 0.0)),
        Init::Normal(std) => Ok(trainer.start(seed, *std)),
        Init::File(path) => {
            let tensors = load_tensors(path)?;
            let init = |source| BuildError::Init { path: path.clone(), source };
            trainer.values(&tensors).map_err(init)
        }
    }
}

/// Whether the file of initial parameters, if there is one, holds this task's tensors.
pub(super) fn check_start(plan: &Plan) -> Result<(), BuildError> {
    let Init::File(path) = &plan.task.init else {
        return Ok(());
    };
    let tensors = load_tensors(path)?;
    let found = match (&plan.task.kind, softmax_shape(&plan.task)) {
        (TaskKind::Quadratic(task), _) => Tensor::find(&tensors, "x", &[task.dim]).map(drop),
        (_, Some(SoftmaxShape { features, classes })) => {
            Tensor::find(&tensors, "weight", &[classes, features])
                .and_then(|_| Tensor::find(&tensors, "bias", &[classes]))
                .map(drop)
        }
        #[cfg(feature = "torch")]
        (TaskKind::Files(FilesConfig { model, data, .. }), None) => {
            let wanted = gruppetto_torch::tensor_shapes(model, data)?;
            wanted
                .iter()
                .try_for_each(|(name, shape)| Tensor::find(&tensors, name, shape).map(drop))
        }
        // Without libtorch there is nothing that could be started.
        _ => Ok(()),
    };
    let init = |source| BuildError::Init { path: path.clone(), source };
    found.map_err(init)?;
    let broken = tensors.iter().find(|tensor| !tensor.values.all_finite());
    broken.map_or(Ok(()), |tensor| Err(init(TensorError::NotFinite(tensor.name.clone()))))
}

/// Weighting and participation in words, for those who read a plan.
pub(super) fn rule_in_words(weighting: WeightingConfig, participation: Participation) -> String {
    let weighting = match weighting {
        WeightingConfig::FedNova => "FedNova",
        WeightingConfig::FedAvg => "FedAvg",
        WeightingConfig::Uniform => "uniform",
        WeightingConfig::Plugin => "a plug-in",
    };
    let participation = match participation {
        Participation::Renormalize => "renormalised over those who arrive",
        Participation::Unbiased => "unbiased over those who are asked",
        Participation::InverseProbability => "by how often each is heard",
    };
    format!("{weighting}, {participation}")
}
