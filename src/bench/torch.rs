//! Deep models: client training against a bare loop of libtorch and against PyTorch, and what a whole
//! run adds to it.

use super::round_timer::RoundTimer;
use super::{Extent, Figure, median, percent};
use crate::actors::ClockMode;
use crate::data::{Augment, Dataset, Features, Federated, ModelConfig, Samples, Targets};
use crate::random::{Purpose, stream};
use crate::run::{Error, Options, run};
use crate::scenario::Scenario;
use crate::solver::{Correction, Solver};
use crate::train::{DeviceChoice, Job, Model, Trainer};
use gruppetto_torch::{TorchTrainer, bare_loop};
use rand::Rng;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PYTORCH: &str = include_str!("../../benches/pytorch.py");
const BATCH: usize = 32;
/// Steps that a client makes in a round.
const STEPS: u64 = 40;

/// How much is done to measure a model.
#[derive(Clone, Copy)]
struct Work {
    rounds: u64,
    clients: usize,
    repeats: usize,
    /// How long loops that are no runs go on.
    loops: Duration,
}

/// Shows the figures of every model as soon as they are there.
pub(super) fn figures(extent: Extent, show: &mut dyn FnMut(Vec<Figure>)) -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("gruppetto-bench-{}", std::process::id()));
    let work = |millis, repeats, rounds, clients| {
        let loops = Duration::from_millis(millis);
        Work { rounds, clients, repeats, loops }
    };
    let mlp = match extent {
        Extent::Full => work(1500, 5, 41, 10),
        Extent::Quick => work(300, 3, 11, 10),
    };
    // A cnn's step is about fifty times an mlp's.
    let models = [
        ("mlp", ModelConfig::Mlp { hidden: vec![200] }, mlp),
        ("cnn", ModelConfig::CNN, work(4000, 3, 11, 4)),
    ];
    let models = &models[..if extent == Extent::Full { 2 } else { 1 }];
    let measured = models.iter().try_for_each(|(name, model, work)| {
        // As much to evaluate, every ten rounds, for every client.
        let data = Arc::new(noise(600 * work.clients));
        match write(&folder, &data) {
            Ok(()) => show(of_model(name, model, &data, &folder, *work)?),
            Err(error) => show(vec![Figure::new(*name, format!("not measured: {error}"))]),
        }
        Ok(())
    });
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

fn of_model(
    name: &str,
    model: &ModelConfig,
    data: &Arc<Dataset>,
    folder: &Path,
    work: Work,
) -> Result<Vec<Figure>, Error> {
    let Work { clients, repeats, loops, .. } = work;
    let clients = (0..clients as u32)
        .map(|client| (client..data.train.len() as u32).step_by(clients).collect())
        .collect();
    let problem = Federated { data: data.clone(), clients, augment: Augment::None };
    let trainer = TorchTrainer::new(model, problem, BATCH, 1, DeviceChoice::Cpu);
    let trainer = trainer.expect("a fixed model on the processor");
    let mut rates: [Vec<f64>; 5] = Default::default();
    // Side by side, so that all see the same machine; the first of all is a warm-up.
    for repeat in 0..=repeats {
        let alone = clients_rate(&trainer, work);
        let bare = bare_loop(model, data, BATCH as i64, loops);
        if repeat == 0 {
            continue;
        }
        let whole = run_rate(name, folder, work, 1)?;
        let two = run_rate(name, folder, work, 2)?;
        let pytorch = (repeat % 3 == 1).then(|| pytorch_rate(name, loops)).flatten();
        for (rates, rate) in rates.iter_mut().zip([alone / bare, whole / alone, two / whole]) {
            rates.push(rate);
        }
        rates[3].push(alone);
        if let Some(pytorch) = pytorch {
            rates[4].extend([whole / pytorch, two / pytorch]);
        }
    }
    let [bare, outside, workers, alone, pytorch] = rates;
    let (bare, whole, workers) = (median(bare), median(outside), median(workers));
    let rate = format!("{:.0} /s", median(alone));
    let mut figures = vec![
        Figure::new(format!("{name}, batch {BATCH}: samples of client training"), rate),
        Figure::new("  of a bare loop of libtorch", percent(bare))
            .goal("at least 95 %", bare >= 0.95),
        Figure::new("  whole run, of client training", percent(whole))
            .goal("at least 95 %", whole >= 0.95),
        Figure::new("  two workers against one", format!("{workers:.2} x"))
            .goal("at least 1.8", workers >= 1.8),
    ];
    if pytorch.is_empty() {
        figures.push(Figure::new("  times PyTorch (python3 with torch not found)", "-"));
    } else {
        let of = |offset| median(pytorch.iter().skip(offset).step_by(2).copied().collect());
        let (one, two): (f64, f64) = (of(0), of(1));
        let text = format!("{one:.2}, {two:.2}");
        let figure = Figure::new("  times PyTorch in one thread: one worker, two", text);
        figures.push(match name {
            "mlp" => figure.goal("at least 1.8 and 3.4", one >= 1.8 && two >= 3.4),
            _ => figure,
        });
    }
    Ok(figures)
}

/// Images of noise in ten classes.
fn noise(count: usize) -> Dataset {
    let mut rng = stream(1, Purpose::Data, 0, 0);
    let mut samples = |count: usize| {
        let mut bytes = vec![0; count * 784];
        rng.fill_bytes(&mut bytes);
        let classes = (0..count).map(|_| rng.next_u32() % 10).collect();
        Samples { x: Features::Bytes(bytes), y: Targets::Classes(classes) }
    };
    Dataset {
        name: "noise".into(),
        shape: vec![1, 28, 28],
        classes: 10,
        class_names: (0..10).map(|class| class.to_string()).collect(),
        train: samples(count),
        test: samples(count / 6),
        mean: vec![0.5],
        std: vec![0.3],
        clients: None,
    }
}

/// Writes a data set in the form of MNIST.
fn write(folder: &Path, data: &Dataset) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (part, samples) in [("train", &data.train), ("t10k", &data.test)] {
        let count = (samples.len() as u32).to_be_bytes();
        let side = 28u32.to_be_bytes();
        if let (Features::Bytes(x), Targets::Classes(y)) = (&samples.x, &samples.y) {
            let labels: Vec<u8> = y.iter().map(|class| *class as u8).collect();
            let images = [&[0, 0, 8, 3], &count, &side, &side, &x[..]].concat();
            std::fs::write(folder.join(format!("{part}-images-idx3-ubyte")), images)?;
            let labels = [&[0, 0, 8, 1], &count, &labels[..]].concat();
            std::fs::write(folder.join(format!("{part}-labels-idx1-ubyte")), labels)?;
        }
    }
    Ok(())
}

/// Samples per second of client after client, each from the model to its change.
fn clients_rate(trainer: &TorchTrainer, Work { clients, loops, .. }: Work) -> f64 {
    let model = Arc::new(Model::new(trainer.default_start(1)));
    let (began, mut seen) = (Instant::now(), 0);
    let mut order = (0..clients as u32).cycle();
    while let Some(client) = order.next().filter(|_| began.elapsed() < loops) {
        let (solver, correction) = (Solver::sgd(0.02), Correction::default());
        let model = model.clone();
        let mut run = trainer.begin(Job { model, client, round: 1, solver, correction });
        run.steps(STEPS);
        std::hint::black_box(run.change());
        seen += STEPS * BATCH as u64;
    }
    seen as f64 / began.elapsed().as_secs_f64()
}

/// Samples per second of a whole run, from its first aggregation to its last.
fn run_rate(model: &str, folder: &Path, work: Work, threads: usize) -> Result<f64, Error> {
    let Work { rounds, clients, .. } = work;
    let text = format!(
        "name = \"deep\"\nstop.rounds = {rounds}\n[task]\nkind = \"images\"\ndataset = \"mnist\"\n\
         path = {:?}\nmodel = \"{model}\"\nclients = {clients}\n[client]\nbatch = {BATCH}\nlr = 0.02\n\
         work = {{ steps = {STEPS} }}\n[server]\nclose = \"all\"\nevaluate_every = 10\n\
         [record]\nclients = \"off\"\n",
        folder.display().to_string()
    );
    let scenario = Scenario::parse("deep", &text, &[], None).expect("a fixed scenario");
    let (clock_mode, device) = (ClockMode::Virtual, DeviceChoice::Cpu);
    let options = Options { threads, clock_mode, device, ..Options::default() };
    let round_timer = RoundTimer::default();
    run(&scenario, &options, &round_timer.plugins())?;
    let samples = (rounds - 1) * clients as u64 * STEPS * BATCH as u64;
    Ok(samples as f64 / round_timer.between_first_and_last())
}

/// Samples per second of a plain loop of PyTorch, if it is installed.
fn pytorch_rate(model: &str, time: Duration) -> Option<f64> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let seconds = format!("{}", time.as_secs_f64());
    let mut command = Command::new(python);
    command.args(["-c", PYTORCH, "--model", model, "--seconds", &seconds, "--warm-up", &seconds]);
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().last()?.parse().ok().filter(|_| output.status.success())
}
