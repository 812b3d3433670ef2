//! Runs that fail leave what they had, marked incomplete, and say where it happened.

use crate::simulated::{options, scenario};
use gruppetto::actors::ClockMode;
use gruppetto::plugins::Plugins;
use gruppetto::policy::{Amount, WorkConfig, Workload};
use gruppetto::run::{self, Built, Options, assemble, trainer};
use gruppetto::scenario::Plan;
use gruppetto::train::Training;
use gruppetto::train::{
    Job, LocalRun, Measured, Model, Pool, TaskDescription, Tensor, TensorError, Trainer,
};
use std::path::Path;
use std::sync::Arc;

const TEXT: &str = r#"
name = "breaks"
seed = 77
stop.rounds = 9
[task]
kind = "quadratic"
clients = 5
[client]
work = { steps = 4 }
[server]
close = "all"
"#;

/// The native trainer, but for one client in one round.
struct Breaks {
    inner: Arc<dyn Trainer>,
    evaluation: bool,
}

impl Trainer for Breaks {
    fn description(&self) -> TaskDescription {
        self.inner.description()
    }
    fn start(&self, seed: u64, std: f64) -> Vec<f64> {
        self.inner.start(seed, std)
    }
    fn begin(&self, job: Job) -> Box<dyn LocalRun> {
        assert!(self.evaluation || (job.client, job.round) != (3, 4), "matrix is singular");
        self.inner.begin(job)
    }
    fn evaluation_parts(&self) -> usize {
        self.inner.evaluation_parts()
    }
    fn evaluate(&self, model: &Arc<Model>, part: usize, weights: Option<&[f64]>) -> Vec<f64> {
        // Not before the first round has moved the model.
        assert!(!self.evaluation || model.values()[0] == 0.0, "no test data");
        self.inner.evaluate(model, part, weights)
    }
    fn measured(&self, model: &Model, sums: &[f64]) -> Measured {
        self.inner.measured(model, sums)
    }
    fn tensors(&self, values: &[f64]) -> Vec<Tensor> {
        self.inner.tensors(values)
    }
    fn values(&self, tensors: &[Tensor]) -> Result<Vec<f64>, TensorError> {
        self.inner.values(tensors)
    }
}

fn breaking(plan: &Plan, seed: u64, evaluation: bool) -> Option<Training> {
    let trainer =
        Arc::new(Breaks { inner: trainer(plan, seed, Default::default()).unwrap(), evaluation });
    Some(Training { trainer, pool: Arc::new(Pool::new(2, 80).unwrap()) })
}

/// Runs `TEXT` with parts that fail, checks that the folder says so, and returns the message.
fn fails(built: impl Fn(&Plan, u64) -> Built + Sync, whole_rounds: usize) -> String {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), 2);
    let result = run::run_with(&scenario(TEXT), &options, &Plugins::new(), &|plan, seed, _| {
        Ok(built(plan, seed))
    });
    let message = result.unwrap_err().to_string();
    is_incomplete(&folder.path().join("run"), &message, whole_rounds);
    message
}

fn is_incomplete(folder: &Path, message: &str, whole_rounds: usize) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(summary["status"], "incomplete");
    assert_eq!(summary["error"], message);
    assert_eq!(summary["variants"][0]["status"], "incomplete");
    assert_eq!(summary["variants"][0]["rounds"], whole_rounds);
    assert_eq!(read("rounds.csv").lines().count(), 1 + whole_rounds);
    assert!(read("clients.csv").lines().count() > 5 * whole_rounds);
    assert!(read("clients.csv").ends_with('\n'));
}

#[test]
fn a_worker_that_panics_names_client_round_and_seed() {
    let message = fails(|plan, seed| assemble(plan, seed, breaking(plan, seed, false)).unwrap(), 3);
    for part in ["client 3", "round 4", "seed 77", "matrix is singular", "fednova"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn an_evaluation_that_panics_does_too() {
    let message = fails(|plan, seed| assemble(plan, seed, breaking(plan, seed, true)).unwrap(), 0);
    for part in ["evaluation", "round 1", "seed 77", "no test data"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn a_client_actor_that_panics_does_too() {
    // There is work for four clients only: the actor of client 4 looks for its own in vain.
    let broken = |plan: &Plan, seed| {
        let mut built = run::build(plan, seed, 2, Some(Default::default())).unwrap();
        let work = WorkConfig::Steps(Amount::Each(vec![4.0; 4]));
        built.client_side.workload =
            Workload::new(plan.client.batch, work.init().unwrap(), seed, Vec::new());
        built
    };
    let message = fails(broken, 0);
    for part in ["client 4", "round 1", "seed 77", "index out of bounds"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn a_server_actor_that_panics_does_too() {
    // The server seats as many clients as there are devices, and asks one more.
    let broken = |plan: &Plan, seed| {
        let mut built = run::build(plan, seed, 2, Some(Default::default())).unwrap();
        std::sync::Arc::make_mut(&mut built.client_side.fleet).devices.truncate(4);
        built
    };
    let message = fails(broken, 0);
    for part in ["the server", "round 1", "seed 77", "index out of bounds"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

/// On the wall clock training is begun and stepped by tasks of the runtime, which drops those that
/// panic without a word; the run must not wait for them for ever.
#[test]
fn panics_under_the_wall_clock_end_the_run() {
    for server in ["close = \"all\"", "close = { deadline = \"1s\" }"] {
        let text = TEXT.replace("close = \"all\"", server);
        let folder = tempfile::tempdir().unwrap();
        let options = Options { clock_mode: ClockMode::Wall(4.0), ..options(folder.path(), 1) };
        let built = |plan: &Plan, seed, _| assemble(plan, seed, breaking(plan, seed, false));
        let result = run::run_with(&scenario(&text), &options, &Plugins::new(), &built);
        let message = result.unwrap_err().to_string();
        for part in ["client 3", "round 4", "seed 77", "matrix is singular"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        is_incomplete(&folder.path().join("run"), &message, 3);
    }
}

/// 600 years of simulated time are more than the clock can tell.
#[test]
fn time_past_the_end_of_the_clock_is_an_error_that_says_so() {
    let text = TEXT.to_string() + "[[fleet.class]]\nname = \"glacier\"\nstep_time = \"20000d\"\n";
    let folder = tempfile::tempdir().unwrap();
    let result = run::run(&scenario(&text), &options(folder.path(), 1), &Plugins::new());
    let message = result.unwrap_err().to_string();
    for part in ["client 0", "round 3", "seed 77", "584 years"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    is_incomplete(&folder.path().join("run"), &message, 2);
}
