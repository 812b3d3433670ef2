//! What checkpoints cost: how long a run waits for the copy of a large model, and how much longer a run takes.

use super::{Extent, Figure, median};
use crate::actors::{Checkpoints, ClockMode, Interrupt, Simulation, simulate};
use crate::plugins::Plugins;
use crate::run::{Built, Error, Options, build, run};
use crate::scenario::Scenario;
use crate::server::{Checkpoint, RunLog};
use crate::train::DeviceChoice;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Parameters of the large model.
const LARGE: usize = 10_000_000;

pub(super) fn figures(extent: Extent) -> Result<Vec<Figure>, Error> {
    let (rounds, repeats) = if extent == Extent::Full { (4000, 7) } else { (400, 3) };
    let (waited, copied) = copies();
    let ratio = median(waited.clone()) / median(copied);
    let mut costs = Vec::new();
    for _ in 0..repeats {
        let without = trained(rounds, None)?;
        costs.push(trained(rounds, Some(Duration::from_millis(200)))? / without - 1.0);
    }
    let cost = median(costs);
    let milliseconds = 1e3 * median(waited);
    Ok(vec![
        Figure::new(
            "checkpoint of 10 M parameters: the run waits",
            format!("{milliseconds:.0} ms, {ratio:.2} x a copy"),
        )
        .goal("at most 1.5", ratio <= 1.5),
        Figure::new("  a checkpoint every 0.2 s", format!("{:+.1} % time", 100.0 * cost))
            .goal("at most +2 %", cost <= 0.02),
    ])
}

/// Seconds that a run waited for each of its checkpoints, and that plain copies of as many numbers took.
type Copies = Arc<Mutex<(Vec<f64>, Vec<f64>)>>;

/// Takes a checkpoint after every event, and copies as much beside it.
struct TimedCopies(Copies);

impl Checkpoints for TimedCopies {
    fn is_due(&mut self) -> bool {
        true
    }

    fn keep(&mut self, checkpoint: Checkpoint, _: RunLog, copying: Duration) {
        // What is shared with the run is not copied.
        let Checkpoint { x, optimizer, direction, held, .. } = &checkpoint;
        let began = Instant::now();
        let copy = (x.clone(), optimizer.clone(), direction.clone(), held.clone());
        let plain = began.elapsed().as_secs_f64();
        drop(std::hint::black_box(copy));
        let mut copies = self.0.lock().expect("one thread");
        copies.0.push(copying.as_secs_f64());
        copies.1.push(plain);
    }
}

fn copies() -> (Vec<f64>, Vec<f64>) {
    let text = format!(
        "name = \"large\"\nstop.rounds = 3\n[task]\nkind = \"quadratic\"\nclients = 2\ndim = {LARGE}\n\
         [client]\nwork = {{ steps = 1 }}\n[server]\nclose = \"all\"\noptimizer = {{ kind = \"momentum\" }}\n"
    );
    let scenario = Scenario::parse("large", &text, &[], None).expect("a fixed scenario");
    let built = build(&scenario.variants[0].plan, 1, 0, Some(DeviceChoice::Cpu));
    let Built { server, client_side, .. } = built.expect("a fixed scenario");
    let copies = Copies::default();
    let simulation = Simulation {
        seed: 1,
        server,
        client_side,
        observers: Vec::new(),
        clock_mode: ClockMode::Virtual,
        stop_time: None,
        interrupt: Interrupt::default(),
        checkpoints: Some(Box::new(TimedCopies(copies.clone()))),
    };
    simulate(simulation).expect("a fixed scenario").result.expect("a fixed scenario");
    std::mem::take(&mut *copies.lock().expect("one thread"))
}

/// Seconds of a whole run that trains, with checkpoints or without.
fn trained(rounds: u64, checkpoint: Option<Duration>) -> Result<f64, Error> {
    let text = format!(
        "name = \"kept\"\nstop.rounds = {rounds}\n[client]\nwork = {{ epochs = 2 }}\n\
         variance_reduction = \"scaffold\"\n[server]\nclose = \"all\"\nevaluate_every = 50\n\
         [record]\nclients = \"off\"\n"
    );
    let scenario = Scenario::parse("kept", &text, &[], None).expect("a fixed scenario");
    let out = std::env::temp_dir().join(format!("gruppetto-kept-{}", std::process::id()));
    let options = Options {
        out: Some(out.clone()),
        force: true,
        threads: 1,
        checkpoint,
        ..Options::default()
    };
    let began = Instant::now();
    let done = run(&scenario, &options, &Plugins::new());
    let seconds = began.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(&out);
    done.map(|_| seconds)
}
