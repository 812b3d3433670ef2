//! A run that goes on from a checkpoint comes to what it would have come to, wherever the checkpoint was taken, and
//! trains nothing that was trained before.

use crate::simulated::scenario;
use gruppetto::actors::{Checkpoints, ClockMode, Finished, Interrupt, Simulation, simulate};
use gruppetto::clock::SimTime;
use gruppetto::observer::{Observer, ObserverError, RunEnd};
use gruppetto::record::{ClientRow, RoundRow};
use gruppetto::run::{Built, build};
use gruppetto::server::{Checkpoint, Resume, RunLog};
use gruppetto::train::{DeviceChoice, Measured};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Everything that happened, as text.
#[derive(Default)]
struct Told(Vec<String>);

impl Observer for Told {
    fn arrived(&mut self, rows: &[ClientRow]) -> Result<(), ObserverError> {
        self.0.extend(rows.iter().map(|row| format!("{row:?}")));
        Ok(())
    }

    fn closed(&mut self, round: &RoundRow) -> Result<(), ObserverError> {
        self.0.push(format!("{round:?}"));
        Ok(())
    }

    fn measured(&mut self, now: SimTime, measured: &Measured) -> Result<(), ObserverError> {
        self.0.push(format!("{now:?} {measured:?}"));
        Ok(())
    }

    fn ended(&mut self, end: &RunEnd) -> Result<(), ObserverError> {
        self.0.push(format!("{end:?}"));
        Ok(())
    }
}

/// What is kept: the newest checkpoint, and all that was logged up to it.
#[derive(Default)]
struct Kept {
    checkpoint: Option<Checkpoint>,
    log: RunLog,
    events: u64,
}

impl Kept {
    fn keep(&mut self, checkpoint: Checkpoint, log: RunLog) {
        self.checkpoint = Some(checkpoint);
        self.log.measured.extend(log.measured);
        self.log.norms.extend(log.norms);
    }

    fn resume(&self) -> Option<Resume> {
        Some(Resume::new(self.checkpoint.clone()?, self.log.clone()))
    }
}

/// Takes checkpoints after some of the events, and interrupts the run after one of them.
struct Every {
    nth: u64,
    interrupt_after: u64,
    interrupt: Interrupt,
    kept: Rc<RefCell<Kept>>,
}

impl Checkpoints for Every {
    fn is_due(&mut self) -> bool {
        let mut kept = self.kept.borrow_mut();
        kept.events += 1;
        if kept.events == self.interrupt_after {
            self.interrupt.set();
        }
        kept.events.is_multiple_of(self.nth)
    }

    fn keep(&mut self, checkpoint: Checkpoint, log: RunLog, _: Duration) {
        self.kept.borrow_mut().keep(checkpoint, log);
    }
}

/// What came of a run: all that it told, its model, the checkpoints it left, and steps trained.
struct Outcome {
    told: Vec<String>,
    parameters: Vec<u64>,
    kept: Kept,
    steps: u64,
}

fn run(
    text: &str,
    threads: usize,
    (nth, interrupt_after): (u64, u64),
    resume: Option<Kept>,
) -> Outcome {
    let scenario = scenario(text);
    let plan = &scenario.variants[0].plan;
    let device = Some(DeviceChoice::default());
    let built = build(plan, scenario.seed, threads - 1, device).unwrap();
    let Built { mut server, client_side, training } = built;
    if let Some(resume) = resume.as_ref().and_then(Kept::resume) {
        server.replay(resume);
    }
    let told = Arc::new(Mutex::new(Told::default()));
    let interrupt = Interrupt::default();
    let kept = Rc::new(RefCell::new(Kept { events: 0, ..resume.unwrap_or_default() }));
    let every = Every { nth, interrupt_after, interrupt: interrupt.clone(), kept: kept.clone() };
    let simulation = Simulation {
        seed: scenario.seed,
        server,
        client_side,
        observers: vec![Box::new(told.clone())],
        clock_mode: ClockMode::Virtual,
        stop_time: plan.stop.time.map(|time| SimTime::from_nanos(time.nanos())),
        interrupt,
        checkpoints: Some(Box::new(every)),
    };
    let Finished { parameters, result } = simulate(simulation).unwrap();
    result.unwrap_or_else(|error| panic!("{error}"));
    let parameters = parameters.into_iter().map(f64::to_bits).collect();
    let told = std::mem::take(&mut told.lock().unwrap().0);
    let steps = training.unwrap().pool.steps();
    Outcome { told, parameters, kept: kept.take(), steps }
}

const NEVER: u64 = u64::MAX;

/// Interrupts a run after its n-th event and lets it go on; both ends must be the same.
fn goes_on(text: &str, nths: impl Iterator<Item = u64>, threads: usize) {
    let whole = run(text, threads, (NEVER, NEVER), None);
    assert!(whole.kept.events > 5, "{} events", whole.kept.events);
    for n in nths.take_while(|n| *n < whole.kept.events) {
        let first = run(text, threads, (NEVER, n), None);
        let second = run(text, threads, (NEVER, NEVER), Some(first.kept));
        assert_eq!(second.parameters, whole.parameters, "interrupted after event {n} of\n{text}");
        for (a, b) in second.told.iter().zip(&whole.told) {
            assert_eq!(a, b, "interrupted after event {n} of\n{text}");
        }
        assert_eq!(second.told.len(), whole.told.len());
        // Clients that were on their way are trained again, and nothing else is. More threads may begin
        // what is not needed in the end.
        if threads > 1 {
            continue;
        }
        let again = (first.steps + second.steps).saturating_sub(whole.steps);
        assert!(second.steps < whole.steps || n < 4, "{n}: {} of {}", second.steps, whole.steps);
        assert!(again <= on_the_way(text), "{n}: {again} steps were made twice");
    }
}

/// A generous bound on the steps of clients that are on their way at the same time.
fn on_the_way(text: &str) -> u64 {
    let clients = scenario(text).variants[0].plan.task.clients as u64;
    clients * 25
}

const FLEET: &str = r#"
[[fleet.class]]
name = "fast"
share = 0.4
step_time = { lognormal = { median = "20ms", sigma = 0.3 } }
jitter = 0.3
[[fleet.class]]
name = "slow"
share = 0.6
step_time = { lognormal = { median = "90ms", sigma = 0.6 } }
jitter = 0.5
dropout = 0.1
uplink = { lognormal = { median = "9kbps", sigma = 0.5 } }
downlink = "20kbps"
latency = "20ms"
"#;

const COMING_AND_GOING: &str = r#"
availability = { on = { uniform = ["1s", "4s"] }, off = { uniform = ["200ms", "2s"] } }
slowdown = { factor = 3.0, every = { uniform = ["1s", "4s"] }, lasting = "500ms" }
[[event]]
round = 3
select = { fraction = 0.5 }
slow = 4.0
lasting = "1s"
[[event]]
at = "900ms"
network = 0.3
lasting = "800ms"
"#;

fn text(stop: &str, task: &str, client: &str, server: &str, fleet: &str) -> String {
    format!(
        "name = \"again\"\nseed = 3\n[stop]\n{stop}\n[task]\nclients = 8\n{task}\n[client]\n{client}\n\
         [server]\n{server}\n{fleet}"
    )
}

const QUADRATIC: &str =
    "kind = \"quadratic\"\ngradient_noise = 0.1\ninit = { normal = 1.0 }\ndim = 6";
const SOFTMAX: &str = "features = 6\nclasses = 3\nsize = { uniform = [20, 60] }";

/// One of each policy, with everything that keeps numbers from round to round.
pub(crate) fn policies() -> Vec<String> {
    let fleet = FLEET;
    let lively = &format!("{FLEET}{COMING_AND_GOING}");
    let shared =
        &format!("[fleet]\nserver_uplink = \"40kbps\"\nserver_downlink = \"30kbps\"{lively}");
    let (stop, q) = ("rounds = 6", QUADRATIC);
    let steps = "lr = 0.05\nwork = { steps = { uniform = [1, 12] } }";
    let with = |more: &str| format!("{steps}\n{more}");
    vec![
        text(stop, SOFTMAX, "lr = 0.1", "close = { deadline = \"1s\" }", fleet),
        text(
            stop,
            q,
            &with("momentum = 0.5\nvariance_reduction = \"fednova\""),
            "close = \"all\"\nsample.clients = 5",
            lively,
        ),
        text(
            stop,
            q,
            &with("variance_reduction = \"scaffold\""),
            "close = { first = 3, of = 6 }\nlate = \"stale\"\nstaleness = { polynomial = 0.5 }",
            lively,
        ),
        text(
            "rounds = 14",
            q,
            &with("variance_reduction = \"vrlsgd\""),
            "close = { buffer = 3 }\nconcurrency = 5\noptimizer = { kind = \"adam\" }",
            fleet,
        ),
        text(
            "rounds = 20",
            q,
            &with("compression = { top_k = 0.4, error_feedback = true }"),
            "close = \"each\"\nconcurrency = 4\nmax_staleness = 5\noptimizer = { kind = \"momentum\" }",
            lively,
        ),
        text(
            "time = \"5s\"",
            SOFTMAX,
            &with("compression = { quantize = 4 }"),
            "close = { window = \"700ms\" }\nparticipation = \"inverse-probability\"",
            fleet,
        ),
        text(
            stop,
            SOFTMAX,
            &with(""),
            "close = { deadline = { percentile = 60, of = 2 } }\nscheme = \"oort\"\nsample.clients = 4\npartial = \"discard\"\nlate = \"next\"",
            fleet,
        ),
        text(
            "time = \"6s\"",
            q,
            &with(""),
            "close = { deadline = \"900ms\" }\nevaluate_every = 3\nscheme = \"tiers\"\nsample.clients = 1",
            shared,
        ),
        text(
            "rounds = 12",
            q,
            &with("variance_reduction = \"fednova\""),
            "close = { buffer = 2 }\nconcurrency = 4\nparticipation = \"inverse-probability\"",
            shared,
        ),
    ]
}

/// Every event of one small run of each policy.
#[test]
fn every_policy_goes_on_from_every_event() {
    for text in policies() {
        goes_on(&text, 1.., 1);
    }
}

#[test]
fn any_number_of_threads_goes_on() {
    for text in policies() {
        goes_on(&text, (1..).step_by(7), 3);
    }
}

/// From the newest of several checkpoints, and interrupted again while it goes on.
#[test]
fn a_run_that_is_interrupted_twice_goes_on() {
    for text in policies() {
        let whole = run(&text, 2, (NEVER, NEVER), None);
        let events = whole.kept.events;
        let mut kept = run(&text, 2, (5, events / 3), None).kept;
        kept = run(&text, 2, (4, 2 * events / 3), Some(kept)).kept;
        let last = run(&text, 2, (3, NEVER), Some(kept));
        assert_eq!(last.parameters, whole.parameters, "{text}");
        assert!(last.told == whole.told, "{text}");
    }
}

/// Killed when all was done but the end: after the last evaluation of a run that stops in the middle of a round.
#[test]
fn a_checkpoint_after_the_last_event_goes_on() {
    for text in policies() {
        let whole = run(&text, 1, (1, NEVER), None);
        let Outcome { told, parameters, kept, .. } = whole;
        let again = run(&text, 1, (NEVER, NEVER), Some(kept));
        assert_eq!((again.told, again.parameters), (told, parameters), "{text}");
    }
}
