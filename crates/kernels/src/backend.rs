//! What each instruction set implements, and the scratch memory they share.
//!
//! A batch is copied to panels of 16 features: in a panel the feature rows of
//! consecutive samples lie exactly 64 bytes apart. The inner loops of both
//! directions then address their operands by constant offsets, whatever the
//! number of features, and the random rows of a data set are touched once.

use super::{LANES, Law, SoftmaxShape};

/// Samples whose softmax is computed together.
pub(super) const GROUP: usize = 4;

/// One vector, aligned so that it never crosses a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Lane(pub(super) [f32; LANES]);

impl Lane {
    pub(super) const ZERO: Self = Self([0.0; LANES]);
}

/// What the softmax of one sample says about its label.
#[derive(Clone, Copy, Default)]
pub(super) struct Outcome {
    /// Largest logit minus that of the label.
    pub(super) gap: f32,
    /// Sum of `exp(logit - largest)`, at least 1.
    pub(super) sum: f32,
    /// Whether the label is the first of the largest logits.
    pub(super) hit: bool,
}

/// Whether a gradient replaces or is added to what it is written to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    Replace,
    Add,
}

/// Buffers of one batch. They only grow.
pub(super) struct Scratch {
    pub(super) shape: SoftmaxShape,
    pub(super) count: usize,
    labels: Vec<u32>,
    panels: Vec<Lane>,
    logits: Vec<Lane>,
    outcomes: Vec<Outcome>,
    groups: Vec<Lane>,
    sums: Vec<Lane>,
}

/// The buffers of a batch, cut to their exact lengths.
pub(super) struct Parts<'a> {
    /// Labels, padded with 0 to [`Parts::padded`].
    pub(super) labels: &'a [u32],
    /// Features `16k..16k + 16` of sample `s` are at `k * count + s`.
    pub(super) panels: &'a mut [Lane],
    /// Logits, later residuals: block `b` of sample `s` is at `b * padded + s`.
    pub(super) logits: &'a mut [Lane],
    /// One per sample, padded.
    pub(super) outcomes: &'a mut [Outcome],
    /// One vector per group of the softmax (only the AVX-512 softmax works in groups).
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
    pub(super) groups: &'a mut [Lane],
    /// One vector per sample, padded (only the AVX-512 softmax works in groups).
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
    pub(super) sums: &'a mut [Lane],
    /// The number of samples rounded up to whole groups. The softmax computes
    /// the surplus ones from whatever the buffers hold and nobody reads them.
    pub(super) padded: usize,
}

impl Scratch {
    pub(super) fn new(shape: SoftmaxShape) -> Self {
        Self {
            shape,
            count: 0,
            labels: Vec::new(),
            panels: Vec::new(),
            logits: Vec::new(),
            outcomes: Vec::new(),
            groups: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Makes room for a batch and copies its labels.
    pub(super) fn prepare(&mut self, y: &[u32], batch: &[u32]) {
        self.count = batch.len();
        let padded = self.padded();
        let panels = self.panel_count() * self.count;
        self.labels.clear();
        self.labels.extend(batch.iter().map(|&i| y[i as usize]));
        let largest = self.labels.iter().fold(0, |m, &label| m.max(label));
        assert!((largest as usize) < self.shape.classes, "label {largest} is not a class");
        self.labels.resize(padded, 0);
        grow(&mut self.panels, panels, Lane::ZERO);
        grow(&mut self.logits, self.shape.blocks() * padded, Lane::ZERO);
        grow(&mut self.outcomes, padded, Outcome::default());
        grow(&mut self.groups, padded / GROUP, Lane::ZERO);
        grow(&mut self.sums, padded, Lane::ZERO);
    }

    pub(super) fn parts(&mut self) -> Parts<'_> {
        let padded = self.padded();
        let panels = self.panel_count() * self.count;
        Parts {
            labels: &self.labels[..padded],
            panels: &mut self.panels[..panels],
            logits: &mut self.logits[..self.shape.blocks() * padded],
            outcomes: &mut self.outcomes[..padded],
            groups: &mut self.groups[..padded / GROUP],
            sums: &mut self.sums[..padded],
            padded,
        }
    }

    pub(super) fn panels(&self) -> &[Lane] {
        &self.panels[..self.panel_count() * self.count]
    }

    /// Residuals of one block of classes, one vector per sample.
    pub(super) fn residuals(&self, block: usize) -> &[Lane] {
        &self.logits[block * self.padded()..][..self.count]
    }

    pub(super) fn outcomes(&self) -> &[Outcome] {
        &self.outcomes[..self.count]
    }

    pub(super) fn panel_count(&self) -> usize {
        self.shape.rows().div_ceil(LANES)
    }

    fn padded(&self) -> usize {
        self.count.next_multiple_of(GROUP)
    }
}

fn grow<T: Clone>(buffer: &mut Vec<T>, len: usize, value: T) {
    if buffer.len() < len {
        buffer.resize(len, value);
    }
}

/// Number of classes in `block`.
pub(super) fn lanes_used(shape: SoftmaxShape, block: usize) -> usize {
    LANES.min(shape.classes - block * LANES)
}

/// Cuts `0..len` into the fewest parts of at most `max`, as equal as possible:
/// a short last part would leave the multipliers idle.
pub(super) fn even_parts(len: usize, max: usize) -> impl Iterator<Item = (usize, usize)> {
    let parts = len.div_ceil(max);
    let (size, longer) = (len / parts.max(1), len % parts.max(1));
    (0..parts).map(move |i| (i * size + i.min(longer), size + usize::from(i < longer)))
}

/// Calls a function with a run-time number as its constant parameter.
macro_rules! with_const {
    ($n:expr, $function:ident $arguments:tt, $($k:literal)+) => {
        match $n {
            $($k => $function::<$k> $arguments,)+
            n => unreachable!("no variant for {n}"),
        }
    };
}
pub(super) use with_const;

/// The operations of one instruction set.
pub(super) trait Backend: Sync {
    /// Copies the batch to the panels and computes its logits: for each class
    /// a chain of fused multiply-adds over the rows, from 0.
    fn forward(&self, scratch: &mut Scratch, w: &[f32], x: &[f32], batch: &[u32]);

    /// Replaces the logits by `scale * (softmax - onehot(label))`, 0 in pad
    /// lanes. Maximum and sum go lane by lane over the blocks in order, then
    /// over the lanes by halving: lane i with i + 8, i + 4, i + 2, i + 1.
    /// The outcomes are only needed, and may only be valid, with `score`.
    fn residuals(&self, scratch: &mut Scratch, scale: f32, score: bool);

    /// The gradient: for each parameter a chain of fused multiply-adds over
    /// the samples in order, from 0.
    fn backward(&self, scratch: &Scratch, out: &mut [f32], write: Write);

    /// Moves `w` by the law on a gradient: [`Law::apply`].
    fn apply(&self, law: Law<'_>, gradient: &[f32], w: &mut [f32]);

    /// Runs `rounds` of independent register-only multiply-adds, and returns
    /// their number and a value that depends on all of them.
    fn fma_burst(&self, rounds: u32) -> (u64, f32);
}
