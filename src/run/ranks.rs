//! A run whose training is done by the other ranks of an MPI job (the feature `mpi`).
//!
//! Every rank reads the scenario. Before anything begins, each says who it is; ranks that would not compute the
//! same are refused, with what differs. The data is built for every run on every rank, and compared by digest.

use super::build::{BuildError, Built, assemble, trainer};
use super::inputs::{changed_input, input_digests, scenario_digest};
use super::processor::processor;
use super::{Error, Options, Run, run_into};
use crate::plugins::Plugins;
use crate::resume::FORMAT;
use crate::scenario::{Plan, Scenario};
use crate::train::{DeviceChoice, Pool, Trainer, Training};
use gruppetto_mpi::{Greeting, Leader, Worker};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use tracing::warn;

/// Another version than the program's, for tests of what happens then.
const PRETENDED_VERSION: &str = "GRUPPETTO_PRETENDED_VERSION";

/// What a rank says of itself.
#[derive(Serialize, Deserialize)]
struct RankHello {
    version: String,
    /// Of checkpoints.
    format: u32,
    host: String,
    processor: String,
    /// Of the scenario; empty if it cannot be read.
    scenario_digest: String,
    inputs: BTreeMap<String, String>,
    /// Why it cannot be read.
    error: Option<String>,
}

impl RankHello {
    fn new(scenario: Result<&Scenario, String>) -> Self {
        let (inputs, scenario_digest, error) = match scenario {
            Ok(scenario) => {
                let inputs = input_digests(scenario);
                let digest = scenario_digest(scenario, &inputs);
                (inputs, digest, None)
            }
            Err(error) => (BTreeMap::new(), String::new(), Some(error)),
        };
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        RankHello {
            version: std::env::var(PRETENDED_VERSION)
                .unwrap_or_else(|_| env!("CARGO_PKG_VERSION").into()),
            format: FORMAT,
            host: host.trim().into(),
            processor: processor(),
            scenario_digest,
            inputs,
            error,
        }
    }

    /// What keeps `other`, a worker, from training for this one.
    fn difference(&self, other: &RankHello) -> Option<String> {
        if (&other.version, other.format) != (&self.version, self.format) {
            return Some(format!(
                "it is another version of Gruppetto: {} (format {}), and rank 0 is {} (format {})\n  = help: start \
                 the same program on all machines",
                other.version, other.format, self.version, self.format
            ));
        }
        if let Some(error) = &other.error {
            return Some(format!("it cannot read the scenario:\n{error}"));
        }
        if let Some(file) = changed_input(&other.inputs, &self.inputs) {
            return Some(format!(
                "{file} has another content there\n  = help: the files that a scenario names must be the same on \
                 all machines"
            ));
        }
        (other.scenario_digest != self.scenario_digest).then(|| {
            "it has another scenario\n  = help: start all ranks with the same file, --set and --seed; files that \
             the scenario names must be the same on all machines"
                .into()
        })
    }
}

/// Workers that can train together.
pub struct Ranks {
    leader: Leader,
    slots: usize,
}

impl Ranks {
    /// Hears who the workers are. An error says which one cannot take part, and why.
    pub fn gather(leader: Leader, scenario: &Scenario) -> Result<Self, String> {
        let own = RankHello::new(Ok(scenario));
        let mut slots = 0;
        for Greeting { rank, slots: more, text } in leader.greet().map_err(|e| e.to_string())? {
            let Ok(hello) = serde_json::from_str::<RankHello>(&text) else {
                return Err(format!("rank {rank} is another version of Gruppetto"));
            };
            if let Some(difference) = own.difference(&hello) {
                return Err(format!("rank {rank} on {}: {difference}", hello.host));
            }
            let variants = &mut scenario.variants.iter();
            let depends = variants.any(|variant| variant.plan.task.problem.depends_on_processor());
            if depends && hello.processor != own.processor {
                warn!(
                    "rank {rank} on {} has another kind of processor ({}, and rank 0 has {}): libtorch may round \
                     differently there, so results may differ in their last digits from run to run",
                    hello.host, hello.processor, own.processor
                );
            }
            slots += more;
        }
        Ok(Ranks { leader, slots })
    }

    /// How many ranks train.
    pub fn workers(&self) -> usize {
        self.leader.workers()
    }

    /// Runs a scenario as [`run`](super::run()) does, and has the workers train. The same bytes come out.
    pub fn run(
        &self,
        scenario: &Scenario,
        options: &Options,
        plugins: &Plugins,
    ) -> Result<Run, Error> {
        let builder = |plan: &Plan, seed, _| self.build(scenario, plan, seed, options);
        // All ranks train for one cell.
        let options = Options { jobs: Some(1), ..options.clone() };
        let (summary, has_its_place) = run_into(scenario, &options, plugins, &builder)?;
        Ok(Run { summary, folder: options.out.clone().filter(|_| has_its_place) })
    }

    fn build(
        &self,
        scenario: &Scenario,
        plan: &Plan,
        seed: u64,
        options: &Options,
    ) -> Result<Built, BuildError> {
        if options.timing_only {
            return assemble(plan, seed, None);
        }
        let building = self.leader.build(variant(scenario, plan) as u64, seed)?;
        let own = trainer(plan, seed, options.device)?;
        let (remote, elsewhere) = building.finish(own, options.interrupt.clone())?;
        let vectors = 1 + usize::from(plan.client.packing.error_feedback);
        let bytes = vectors * 8 * plan.task.parameters();
        let pool = Pool::elsewhere(Leader::helpers(self.slots), bytes, elsewhere)?;
        let training = Training { trainer: Arc::new(remote), pool: Arc::new(pool) };
        assemble(plan, seed, Some(training))
    }
}

/// The first variant with the same task as a plan: all that have it share what workers have built.
fn variant(scenario: &Scenario, plan: &Plan) -> usize {
    let same = |other: &Plan| {
        Arc::ptr_eq(&other.task.problem, &plan.task.problem) || other.task == plan.task
    };
    let mut plans = scenario.variants.iter().map(|variant| &variant.plan);
    let found = plans
        .position(|other| same(other) && other.client.batch.size() == plan.client.batch.size());
    found.expect("a plan of this scenario")
}

/// Trains what rank 0 sends until it says goodbye. `scenario` may be an error: then rank 0 tells of it.
pub fn train_for_rank_0(
    worker: Worker,
    scenario: Result<Scenario, String>,
    slots: usize,
    device: DeviceChoice,
) -> std::io::Result<()> {
    let hello = RankHello::new(scenario.as_ref().map_err(String::clone));
    let hello = serde_json::to_string(&hello).expect("plain data");
    let device = own_device(device);
    let mut built: Option<((u64, u64), Arc<dyn Trainer>)> = None;
    worker.serve(hello, slots, |variant, seed| {
        if let Some((_, trainer)) = built.take_if(|(which, _)| *which == (variant, seed)) {
            built = Some(((variant, seed), trainer.clone()));
            return Ok(trainer);
        }
        // Two would take twice the memory.
        built = None;
        let scenario = scenario.as_ref().map_err(String::clone)?;
        let plan = &scenario.variants[variant as usize].plan;
        let trainer = trainer(plan, seed, device).map_err(|error| error.to_string())?;
        built = Some(((variant, seed), trainer.clone()));
        Ok(trainer)
    })
}

/// Ranks of a machine with several GPUs take one each, in turn.
fn own_device(choice: DeviceChoice) -> DeviceChoice {
    #[cfg(feature = "torch")]
    if matches!(choice, DeviceChoice::Auto | DeviceChoice::Cuda(None)) {
        let names = ["OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID"];
        let number = |name: &&str| std::env::var(name).ok()?.parse::<usize>().ok();
        let gpus = gruppetto_torch::gpu_count();
        if let (Some(rank), 2..) = (names.iter().find_map(number), gpus) {
            return DeviceChoice::Cuda(Some(rank % gpus));
        }
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> RankHello {
        let text = "name = \"s\"\nstop.rounds = 1\ntask = { kind = \"quadratic\", clients = 2 }\n\
                    client = { lr = 0.1, work = { steps = 1 } }\nserver.close = \"all\"\n\
                    [[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\n";
        let scenario = Scenario::parse("s.toml", text, &[], None).unwrap();
        RankHello::new(Ok(&scenario))
    }

    #[test]
    fn what_differs_is_named() {
        let own = hello();
        assert_eq!(own.difference(&hello()), None);
        let with = |change: fn(&mut RankHello)| {
            let mut other = hello();
            change(&mut other);
            own.difference(&other).unwrap()
        };
        assert!(with(|other| other.version = "0.0.9".into()).contains("0.0.9"));
        assert!(with(|other| other.format += 1).contains("another version"));
        assert!(with(|other| other.error = Some("no file".into())).contains("no file"));
        assert!(with(|other| other.scenario_digest.clear()).contains("--seed"));
        let mut with_input = hello();
        with_input.inputs.insert("t.csv".into(), "1".into());
        let mut other = hello();
        other.inputs.insert("t.csv".into(), "2".into());
        assert!(with_input.difference(&other).unwrap().contains("t.csv"));
    }
}
