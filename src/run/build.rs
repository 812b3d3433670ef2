//! From a validated plan to something that can be run.

use super::shared::SharedParts;
use crate::aggregate::{ServerOptimizer, Weighting};
use crate::client::{ClientSide, DeviceHistory};
use crate::clock::TimeOverflow;
use crate::compress::Packer;
use crate::data::{Init, ShareError, TaskError, TrainerSetup};
use crate::device::{Class, Effect, EventConfig, Foresight};
use crate::plugins::{Chosen, ChosenPlugins, FleetView, PluginError};
use crate::policy::{Closing, Selection};
use crate::report::{LoadError, load_tensors};
use crate::scenario::{DrawError, DrawnClients, Plan};
use crate::server::{Attendance, EventSchedule, Server, Setup};
use crate::train::{DeviceChoice, Pool, Tensor, TensorError, Trainer, Training};
use std::sync::Arc;

/// A run cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
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
    /// The clients and their devices cannot be drawn with this seed.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// The data cannot be divided among the clients with this seed.
    #[error(transparent)]
    Shares(#[from] ShareError),
    /// A plug-in refuses.
    #[error("plug-in: {0}")]
    Plugin(#[from] PluginError),
    /// The task cannot be learned.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The ranks of an MPI job cannot train together.
    #[cfg(feature = "mpi")]
    #[error(transparent)]
    Ranks(#[from] gruppetto_mpi::RankError),
    /// The worker threads cannot be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(#[from] std::io::Error),
}

/// A run that is ready to go.
pub struct Built {
    /// The server.
    pub server: Server,
    /// The clients' side.
    pub client_side: ClientSide,
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
    build_with(plan, seed, helpers, device, &SharedParts::new())
}

/// The same, of parts that other cells may have made.
pub(super) fn build_with(
    plan: &Plan,
    seed: u64,
    helpers: usize,
    device: Option<DeviceChoice>,
    shared: &SharedParts,
) -> Result<Built, BuildError> {
    let training = if let Some(device) = device {
        let make = || trainer(plan, seed, device);
        let trainer = shared.trainer(plan, (seed, device), make)?;
        // An update, and with error feedback what it lost.
        let vectors = 1 + usize::from(plan.client.packing.error_feedback);
        let pool = Pool::new(helpers, vectors * 8 * plan.task.parameters())?;
        Some(Training { trainer, pool: Arc::new(pool) })
    } else {
        None
    };
    assemble_drawn(plan, seed, training, plan.draw_with(seed, shared.fleet(plan, seed)?)?)
}

/// Puts a run together around a trainer that may be anybody's.
pub fn assemble(plan: &Plan, seed: u64, training: Option<Training>) -> Result<Built, BuildError> {
    assemble_drawn(plan, seed, training, plan.draw(seed)?)
}

fn assemble_drawn(
    plan: &Plan,
    seed: u64,
    training: Option<Training>,
    drawn: DrawnClients,
) -> Result<Built, BuildError> {
    let start = match &training {
        None => Vec::new(),
        Some(training) => start(plan, seed, &*training.trainer)?,
    };
    let buffers = plan.task.problem.buffers();
    let policies = Policies::new(plan, seed, &drawn, buffers.begin(start.len()))?;
    let Policies { selection, closing, weighting, optimizer } = policies;
    let DrawnClients { p, workload, fleet } = drawn;
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
    let schedule =
        EventSchedule::new(&plan.events, seed, &classes, |absence| attendance.add(absence))?;
    let script = schedule.script();
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
        buffers,
        recipe: recipe.clone(),
        variance_reduction: plan.client.variance_reduction,
        attendance,
        schedule,
        error_feedback: plan.client.packing.error_feedback,
    });
    let parameters = plan.task.parameters() - buffers.len();
    let packer = Packer { packing: plan.client.packing, parameters, buffers: buffers.len(), seed };
    let flops = plan.task.flops(0);
    let mut client_side = ClientSide {
        seed,
        history: DeviceHistory::new(seed, &fleet),
        fleet,
        script,
        scripted: !plan.events.is_empty(),
        payload: plan.payload(),
        flops: [flops, plan.task.flops(1) - flops],
        server_uplink: plan.fleet.server_uplink,
        server_downlink: plan.fleet.server_downlink,
        foresight: plan.client.foresight,
        usual: Vec::new(),
        workload,
        recipe,
        foreign_law: plan.task.problem.foreign_law(seed)?,
        packer,
        training: training.clone(),
    };
    let recorded = client_side.fleet.classes.iter().any(Class::is_recorded);
    if plan.client.foresight == Foresight::Expected && recorded {
        client_side.know_recordings();
    }
    Ok(Built { server, client_side, training })
}

/// The policies of a run: built in, or the user's.
struct Policies {
    selection: Selection,
    closing: Box<dyn Closing>,
    weighting: Box<dyn Weighting>,
    optimizer: Box<dyn ServerOptimizer>,
}

impl Policies {
    fn new(plan: &Plan, seed: u64, drawn: &DrawnClients, len: usize) -> Result<Self, BuildError> {
        let ChosenPlugins { selector, closing, weighting, optimizer, .. } = &plan.plugins;
        let view = (!plan.plugins.is_empty()).then(|| plan.fleet_view(seed, drawn));
        let (server, view) = (&plan.server, view.as_ref());
        let selector =
            either(server.scheme.init(&drawn.p, |client| drawn.profile(client)), selector, view)?;
        let selection = Selection::new(server, seed, selector, drawn.p.clone());
        Ok(Policies {
            closing: either(server.close.init(), closing, view)?,
            weighting: either(server.rule.init(selection.draw()), weighting, view)?,
            optimizer: either(server.optimizer.init(len), optimizer, view)?,
            selection,
        })
    }
}

/// What is built in, or the plug-in that was chosen instead.
fn either<T: ?Sized>(
    built_in: Option<Box<T>>,
    chosen: &Option<Chosen<T>>,
    view: Option<&FleetView>,
) -> Result<Box<T>, BuildError> {
    match (built_in, chosen, view) {
        (Some(built_in), ..) => Ok(built_in),
        (None, Some(chosen), Some(view)) => Ok(chosen.make(view)?),
        _ => unreachable!("a policy is built in or a plug-in"),
    }
}

/// The trainer of a plan's task, with the data of `seed`.
pub fn trainer(
    plan: &Plan,
    seed: u64,
    device: DeviceChoice,
) -> Result<Arc<dyn Trainer>, BuildError> {
    let (clients, batch) = (plan.task.clients, plan.client.batch.size());
    Ok(plan.task.problem.trainer(&TrainerSetup { clients, batch, seed, device })?)
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
    let wanted = plan.task.problem.tensors()?;
    let found =
        wanted.iter().try_for_each(|(name, shape)| Tensor::find(&tensors, name, shape).map(drop));
    let init = |source| BuildError::Init { path: path.clone(), source };
    found.map_err(init)?;
    let broken = tensors.iter().find(|tensor| !tensor.values.all_finite());
    broken.map_or(Ok(()), |tensor| Err(init(TensorError::NotFinite(tensor.name.clone()))))
}
