//! How long an exchange takes, and how many jobs a second rank 0 can feed. Trainers here compute nothing, or sleep:
//! so many ranks can be tried on few cores. `scripts/bench-mpi` runs it; `docs/scaling.md` has what came out.
//!
//! `mpirun -n 3 exchange [PARAMETERS:MILLISECONDS …]`: a line for each, as CSV.

use gruppetto_mpi::{Joined, Leader, join};
use gruppetto_sim::aggregate::Buffers;
use gruppetto_sim::clock::SimTime;
use gruppetto_sim::solver::{Correction, Solver};
use gruppetto_sim::train::{
    Interrupt, Job, LocalRun, Measured, Model, Pool, Precision, TaskDescription, Trainer,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Every case is measured for about this long, twice.
const SECONDS: f64 = 1.5;

/// Moves the model a little, in single precision, and takes its time.
struct Mover {
    parameters: usize,
    pause: Duration,
}

impl Trainer for Mover {
    fn description(&self) -> TaskDescription {
        let Mover { parameters, .. } = *self;
        let (buffers, p, flops) = (Buffers::NONE, vec![1.0], [0.0, 0.0]);
        TaskDescription { parameters, buffers, p, samples: vec![1], flops, metrics: Vec::new() }
    }

    fn precision(&self) -> Precision {
        Precision::Single
    }

    fn begin(&self, job: Job) -> Box<dyn LocalRun> {
        Box::new(Move { model: job.model, pause: self.pause })
    }

    fn evaluate(&self, _: &Arc<Model>, _: usize, _: Option<&[f64]>) -> Vec<f64> {
        unreachable!("nothing is evaluated")
    }

    fn measured(&self, _: &Model, _: &[f64]) -> Measured {
        unreachable!("nothing is evaluated")
    }
}

struct Move {
    model: Arc<Model>,
    pause: Duration,
}

impl LocalRun for Move {
    fn steps(&mut self, _: u64) {
        if !self.pause.is_zero() {
            std::thread::sleep(self.pause);
        }
    }

    fn change(self: Box<Self>) -> Vec<f64> {
        let moved = |&then: &f32| f64::from(then * 0.999 + 1e-3) - f64::from(then);
        self.model.narrow().iter().map(moved).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cases: Vec<(usize, f64)> =
        std::env::args().skip(1).filter_map(|text| case(&text)).collect();
    let trainer = |case: u64| -> Arc<dyn Trainer> {
        let (parameters, millis) = cases[case as usize];
        Arc::new(Mover { parameters, pause: Duration::from_secs_f64(millis / 1e3) })
    };
    match join()? {
        Joined::Alone => Err("start it with mpirun -n 2 or more".into()),
        Joined::Worker(worker) => Ok(worker.serve(String::new(), 1, |case, _| Ok(trainer(case)))?),
        Joined::Leader(leader) => {
            println!(
                "workers,parameters,job_ms,exchange_us,round_us_per_job,jobs_per_second,idle_us_per_job"
            );
            leader.greet()?;
            for number in 0..cases.len() as u64 {
                measure(&leader, number, trainer(number), cases[number as usize])?;
            }
            Ok(())
        }
    }
}

fn case(text: &str) -> Option<(usize, f64)> {
    let (parameters, millis) = text.split_once(':')?;
    Some((parameters.parse().ok()?, millis.parse().ok()?))
}

fn measure(
    leader: &Leader,
    number: u64,
    own: Arc<dyn Trainer>,
    (parameters, millis): (usize, f64),
) -> Result<(), Box<dyn std::error::Error>> {
    let (remote, elsewhere) = leader.build(number, 0)?.finish(own, Interrupt::default())?;
    let busy = elsewhere.busy.clone();
    let remote: Arc<dyn Trainer> = Arc::new(remote);
    let workers = leader.workers();
    let pool = Pool::elsewhere(Leader::helpers(workers), 8 * parameters, elsewhere)?;
    let mut x: Vec<f64> = (0..parameters).map(|i| (i % 97) as f64 * 0.01).collect();
    // A round: so many jobs from one version, and their sum, which is the next version.
    let mut round = |jobs: usize| {
        let model = Arc::new(Model::new(x.clone()));
        let tickets: Vec<_> = (0..jobs as u64)
            .map(|n| {
                let (remote, model) = (remote.clone(), model.clone());
                let (solver, correction) = (Solver::sgd(0.1), Correction::default());
                let job = Job { model, client: 0, round: n, solver, correction };
                let begin = move || remote.begin(job);
                pool.submit_training(SimTime::from_nanos(n), (1, 1, 1.0), begin, |run| run.change())
            })
            .collect();
        for ticket in tickets {
            let change = ticket.wait().expect("a job that cannot fail").expect("nobody interrupts");
            x.iter_mut().zip(change).for_each(|(x, d)| *x += d / jobs as f64);
        }
    };
    round(2 * workers);
    let mut per_job = |jobs: usize| {
        let (began, mut rounds) = (Instant::now(), 0);
        while began.elapsed().as_secs_f64() < SECONDS || rounds < 3 {
            round(jobs);
            rounds += 1;
        }
        began.elapsed().as_secs_f64() / (rounds * jobs) as f64
    };
    let single = per_job(1);
    let before = (Instant::now(), busy[0].load(Ordering::Relaxed));
    let many = per_job(16 * workers);
    // What a rank spends without training, for each job.
    let (wall, trained) = (before.0.elapsed(), busy[0].load(Ordering::Relaxed) - before.1);
    let jobs = wall.as_secs_f64() / many;
    let idle = (workers as f64 * wall.as_secs_f64() - trained as f64 / 1e9) / jobs;
    let micros = |seconds: f64| seconds * 1e6;
    let (exchange, each, rate) = (micros(single) - 1e3 * millis, micros(many), 1.0 / many);
    let idle = micros(idle);
    println!("{workers},{parameters},{millis},{exchange:.1},{each:.1},{rate:.1},{idle:.1}");
    Ok(())
}
