//! Softmax regression: its laws, its evaluation, its tensors.

use super::*;
use crate::data::SyntheticConfig;
use crate::metric::Metric;
use crate::random::Dist;
use crate::solver::Correction;
use crate::train::quadratic::squared;
use crate::train::{Pool, evaluate};

fn trainer(batch: usize) -> SoftmaxTrainer {
    let size = Dist::fixed(60.0);
    let config = SyntheticConfig {
        alpha: 1.0,
        beta: 1.0,
        model_difference: 1.0,
        features: 7,
        classes: 5,
        size,
    };
    SoftmaxTrainer::new(config.init(2, 4), batch, 2)
}

fn job(model: Arc<Model>, client: u32, solver: Solver) -> Job {
    Job { model, client, round: 5, solver, correction: Correction::default() }
}

#[test]
fn steps_in_one_go_and_one_by_one_are_the_same() {
    let trainer = trainer(8);
    let model = Arc::new(Model::new(trainer.start(3, 0.1)));
    let solver = Solver { lr: 0.1, momentum: 0.9, prox: 0.1, lr_decay: 0.98, weight_decay: 0.01 };
    for solver in [Solver::sgd(0.1), solver] {
        let mut at_once = trainer.begin(job(model.clone(), 1, solver));
        at_once.steps(23);
        let mut singly = trainer.begin(job(model.clone(), 1, solver));
        (0..23).for_each(|_| singly.steps(1));
        assert_eq!(at_once.change(), singly.change());
    }
}

/// Every term of the law, against the plain law in double precision on the kernel's own
/// gradients.
#[test]
fn steps_follow_the_law() {
    let trainer = trainer(usize::MAX);
    let start: Vec<f64> =
        trainer.start(3, 0.3).iter().map(|value| f64::from(*value as f32)).collect();
    let len = start.len();
    // Pad lanes are and stay zero, in corrections too.
    let wave = |scale: f64| {
        let used = |(i, value): (usize, &f64)| {
            if *value == 0.0 { 0.0 } else { scale * (i as f64).sin() }
        };
        Some(Arc::new(start.iter().enumerate().map(used).collect::<Vec<f64>>()))
    };
    let plain = Solver::sgd(0.1);
    for (solver, correction) in [
        (Solver { momentum: 0.8, ..plain }, Correction::default()),
        (Solver { prox: 2.0, ..plain }, Correction::default()),
        (Solver { lr_decay: 0.7, ..plain }, Correction::default()),
        (Solver { weight_decay: 0.5, ..plain }, Correction::default()),
        (plain, Correction { shared: wave(0.2), own: wave(-0.3) }),
        (
            Solver { lr: 0.1, momentum: 0.5, prox: 1.0, lr_decay: 0.9, weight_decay: 0.2 },
            Correction { shared: wave(0.1), own: None },
        ),
    ] {
        let model = Arc::new(Model::new(start.clone()));
        let mut run =
            trainer.begin(Job { correction: correction.clone(), ..job(model, 1, solver) });
        run.steps(9);
        let moved = run.change();
        let vector = correction.vector(len);
        let mut descent = crate::solver::Descent::new(solver, &start, &vector);
        let (mut x, shard) = (start.clone(), &trainer.shared.data.train[1]);
        let everyone: Vec<u32> = (0..shard.y.len() as u32).collect();
        let mut kernel = trainer.shared.kernel();
        for _ in 0..9 {
            let narrow: Vec<f32> = x.iter().map(|x| *x as f32).collect();
            let mut gradient = vec![0.0f32; len];
            kernel.gradient(&narrow, samples(shard), &everyone, &mut gradient);
            let gradient: Vec<f64> = gradient.iter().map(|g| f64::from(*g)).collect();
            descent.step(&mut x, &gradient);
        }
        for ((moved, x), start) in moved.iter().zip(&x).zip(&start) {
            assert!((moved - (x - start)).abs() < 5e-6, "{solver:?}: {moved} {}", x - start);
        }
    }
}

/// Full-batch steps on all clients follow −∇F: the evaluation's gradient and the kernel's
/// steps are two ways to the same thing.
#[test]
fn one_full_step_of_everyone_is_a_step_down_the_global_gradient() {
    let trainer = trainer(usize::MAX);
    let model = Arc::new(Model::new(trainer.start(3, 0.3)));
    let shares =
        trainer.shared.data.train.iter().map(|s| s.y.len() as f64 / trainer.shared.samples as f64);
    let mut moved = vec![0.0; model.values().len()];
    let mut steps = 0.0;
    for (client, p) in shares.clone().enumerate() {
        let mut run = trainer.begin(job(model.clone(), client as u32, Solver::sgd(0.1)));
        run.steps(1);
        let change = run.change();
        steps += p * squared(&change);
        moved.iter_mut().zip(change).for_each(|(sum, d)| *sum += p * d);
    }
    let pool = Pool::new(0, 1).unwrap();
    let weights: Vec<f64> = shares.collect();
    let trainer: Arc<dyn Trainer> = Arc::new(trainer);
    let measured = evaluate(&trainer, &pool, &model, Some(Arc::new(weights))).unwrap().unwrap();
    let norm = measured.metrics.get(Metric::GradNorm).unwrap();
    let length = moved.iter().map(|m| m * m).sum::<f64>().sqrt();
    assert!((length - 0.1 * norm).abs() < 1e-6);
    // With the true weights the surrogate is F, and every client's gradient is its step.
    let gradients = measured.gradients.unwrap();
    assert!((gradients.of_surrogate.sqrt() - norm).abs() < 1e-9);
    assert!((gradients.mean_square - steps / 0.01).abs() < 1e-6);
}

#[test]
fn tensors_have_pytorchs_layout_and_come_back() {
    let trainer = trainer(usize::MAX);
    let values: Vec<f64> = trainer.start(3, 0.3).iter().map(|v| f64::from(*v as f32)).collect();
    let tensors = trainer.tensors(&values);
    assert_eq!((tensors[0].shape.clone(), tensors[1].shape.clone()), (vec![5, 7], vec![5]));
    assert_eq!(trainer.values(&tensors).unwrap(), values);
    assert!(trainer.values(&tensors[..1]).unwrap_err().to_string().contains("no tensor `bias`"));
}
