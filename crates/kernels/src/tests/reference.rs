//! A plain `f64` softmax regression, and random data.
//!
//! It keeps the parameters class by class, without blocks or pad lanes, so
//! that an error in the kernel's layout cannot cancel out.

use std::ops::Range;

use super::super::SoftmaxShape;

pub(super) struct Reference {
    shape: SoftmaxShape,
    w: Vec<Vec<f64>>,
}

impl Reference {
    pub(super) fn new(shape: SoftmaxShape, w: &[f32]) -> Self {
        let row = |class| {
            (0..=shape.features).map(move |f| {
                let block = class / 16 * (shape.features + 1);
                f64::from(w[(block + f) * 16 + class % 16])
            })
        };
        let w = (0..shape.classes).map(|class| row(class).collect()).collect();
        Self { shape, w }
    }

    fn logits(&self, x: &[f32]) -> Vec<f64> {
        let dot = |w: &Vec<f64>| w.iter().zip(x).map(|(w, x)| w * f64::from(*x)).sum();
        self.w.iter().map(dot).collect()
    }

    fn sample<'a>(&self, x: &'a [f32], s: usize) -> &'a [f32] {
        let stride = self.shape.features + 1;
        &x[s * stride..(s + 1) * stride]
    }

    /// In the layout of the kernel.
    pub(super) fn mean_gradient(&self, x: &[f32], y: &[u32], batch: &[u32]) -> Vec<f64> {
        let blocks = self.shape.classes.div_ceil(16);
        let mut out = vec![0.0; blocks * 16 * (self.shape.features + 1)];
        for &s in batch {
            let x = self.sample(x, s as usize);
            let logits = self.logits(x);
            let total: f64 = logits.iter().map(|z| z.exp()).sum();
            for (class, z) in logits.iter().enumerate() {
                let hot = f64::from(u8::from(class == y[s as usize] as usize));
                let d = (z.exp() / total - hot) / batch.len() as f64;
                for (f, x) in x.iter().enumerate() {
                    let block = class / 16 * (self.shape.features + 1);
                    out[(block + f) * 16 + class % 16] += d * f64::from(*x);
                }
            }
        }
        out
    }

    /// Summed loss and correct predictions.
    pub(super) fn evaluate(&self, x: &[f32], y: &[u32], range: Range<usize>) -> (f64, u64) {
        let (mut loss, mut correct) = (0.0, 0);
        for s in range {
            let logits = self.logits(self.sample(x, s));
            let target = logits[y[s] as usize];
            loss += logits.iter().map(|z| z.exp()).sum::<f64>().ln() - target;
            correct += u64::from(logits.iter().all(|z| *z <= target));
        }
        (loss, correct)
    }
}

/// Uniform numbers in -1..1, the same for the same seed.
pub(super) fn noise(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed.wrapping_mul(0x5851_F42D_4C95_7F2D) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Features and labels of `samples` samples.
pub(super) fn data_set(shape: SoftmaxShape, samples: usize, seed: u64) -> (Vec<f32>, Vec<u32>) {
    let mut random = noise(seed);
    let mut x = Vec::new();
    for _ in 0..samples {
        x.extend((0..shape.features).map(|_| random()));
        x.push(1.0);
    }
    let label = |u: f32| ((u + 1.0) / 2.0 * shape.classes as f32) as u32;
    let last = shape.classes as u32 - 1;
    (x, (0..samples).map(|_| label(random()).min(last)).collect())
}

/// Parameters in ±`size`, 0 in pad lanes.
pub(super) fn parameters(shape: SoftmaxShape, size: f32, seed: u64) -> Vec<f32> {
    let mut random = noise(seed);
    let mut w = vec![0.0; shape.len()];
    for class in 0..shape.classes {
        for row in 0..shape.rows() {
            w[shape.index(class, row)] = size * random();
        }
    }
    w
}
