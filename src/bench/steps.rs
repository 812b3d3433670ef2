//! Steps of softmax regression, 60 features, 10 classes, batch 20, with any law.

use crate::data::{Shards, SyntheticConfig};
use crate::random::{Dist, Purpose, index, stream};
use gruppetto_kernels::{Isa, Law, Samples, SoftmaxKernel, SoftmaxShape};
use std::time::Instant;

const SHAPE: SoftmaxShape = SoftmaxShape { features: 60, classes: 10 };
const BATCH: usize = 20;
const LR: f32 = 0.02;

/// The terms of a step besides the gradient.
#[derive(Clone, Copy)]
pub(super) struct BenchedTerms {
    pub(super) momentum: bool,
    pub(super) shrink: bool,
    pub(super) pull: bool,
    pub(super) lr_decay: bool,
}

impl BenchedTerms {
    /// Plain SGD.
    pub(super) const NONE: Self =
        BenchedTerms { momentum: false, shrink: false, pull: false, lr_decay: false };
}

/// What all measurements work on.
pub(super) struct Steps {
    data: Shards,
    batches: Vec<[u32; BATCH]>,
    pull: Vec<f32>,
}

impl Steps {
    pub(super) fn new() -> Self {
        let size = Dist::fixed(556.0);
        let SoftmaxShape { features, classes } = SHAPE;
        let data = SyntheticConfig {
            alpha: 1.0,
            beta: 1.0,
            model_difference: 1.0,
            features,
            classes,
            size,
        }
        .init(1, 1);
        let mut rng = stream(1, Purpose::Batches, 0, 0);
        let samples = data.train[0].y.len() as u32;
        let batches = (0..500).map(|_| std::array::from_fn(|_| index(&mut rng, samples))).collect();
        let mut pull = vec![0.0; SHAPE.len()];
        for class in 0..classes {
            (0..SHAPE.rows()).for_each(|row| pull[SHAPE.index(class, row)] = 1e-3);
        }
        Steps { data, batches, pull }
    }

    /// Steps per second on one core, each from where the last one ended; after every 500 a new
    /// round begins.
    pub(super) fn rate(&self, isa: Isa, steps: usize, terms: BenchedTerms) -> f64 {
        let shard = &self.data.train[0];
        let samples = Samples { x: &shard.x, y: &shard.y };
        let mut kernel = SoftmaxKernel::with_isa(SHAPE, isa).expect("listed as available");
        let (mut w, mut buffer) = (vec![0.0; SHAPE.len()], vec![0.0; SHAPE.len()]);
        let shrink = if terms.shrink { 0.1 } else { 0.0 };
        let decay = if terms.lr_decay { 0.999 } else { 1.0 };
        let mut lr = LR;
        let began = Instant::now();
        for step in 0..steps {
            let at = step % self.batches.len();
            if at == 0 && terms.momentum {
                buffer.fill(0.0);
            }
            lr = if at == 0 { LR } else { lr * decay };
            let pull = terms.pull.then_some(&self.pull[..]);
            let buffer = terms.momentum.then_some(&mut buffer[..]);
            let law = Law { lr, momentum: 0.9, shrink, pull, buffer };
            kernel.step(&mut w, samples, &self.batches[at], law);
        }
        let rate = steps as f64 / began.elapsed().as_secs_f64();
        assert!(w.iter().all(|w| w.is_finite()), "the steps were really taken");
        rate
    }
}
