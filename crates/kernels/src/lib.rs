//! Native kernels: softmax regression (multinomial logistic regression), and quadratics.
//!
//! A simulated device trains with many small minibatch steps, so the cost of
//! one step decides how many devices a core can simulate. Parameters are kept
//! with classes in the 16 lanes of a vector: a lane then never needs another
//! lane, except in the softmax itself, and every instruction set performs the
//! same operations in the same order. Results are therefore bit-identical on
//! all of them, and a run does not depend on the machine that performed it.
//! (Only the payload of a NaN, once a model has diverged, is unspecified.)

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod backend;
mod exp;
mod isa;
mod law;
mod peak;
mod portable;
mod quadratic;
#[cfg(test)]
mod tests;

use backend::{Backend, Scratch, Write};
pub use isa::Isa;
pub use law::Law;
pub use peak::fma_peak;
pub use quadratic::{DescentLaw, Hessian, descend};

/// Classes per parameter block: one 512-bit vector of `f32`.
pub const LANES: usize = 16;

/// Samples per chunk of [`SoftmaxKernel::evaluate`]. Long enough to amortise
/// the `f64` additions of a chunk's gradient, short enough to stay in L1.
const CHUNK: usize = 128;

/// Softmax terms whose logarithms are taken together. Each lies in
/// `1..=classes`, so a product of 16 cannot overflow an `f64`.
const LOG_GROUP: usize = 16;

/// Size of a softmax regression and the layout of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftmaxShape {
    /// Features of a sample, without the constant 1 of the bias.
    pub features: usize,
    /// Number of classes.
    pub classes: usize,
}

impl SoftmaxShape {
    /// Rows of a parameter block, which is also the stride of a sample: the
    /// features and the bias.
    pub fn rows(self) -> usize {
        self.features + 1
    }

    /// Blocks of [`LANES`] classes.
    pub fn blocks(self) -> usize {
        self.classes.div_ceil(LANES)
    }

    /// Length of a parameter vector, pad lanes included.
    #[allow(clippy::len_without_is_empty)] // a model is never empty
    pub fn len(self) -> usize {
        self.blocks() * self.rows() * LANES
    }

    /// Position of the parameter of `class` for feature `row`; the bias is the
    /// last row.
    pub fn index(self, class: usize, row: usize) -> usize {
        ((class / LANES) * self.rows() + row) * LANES + class % LANES
    }
}

/// Borrowed training or test data. The features must be finite.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Row-major features; each row ends with the constant 1 of the bias.
    pub x: &'a [f32],
    /// Class of each row.
    pub y: &'a [u32],
}

/// Sums over a range of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// Sum of the cross-entropy losses.
    pub loss_sum: f64,
    /// Samples whose most likely class (the lowest, if tied) is their label.
    pub correct: u64,
}

/// The kernel with its scratch memory; each worker owns one.
pub struct SoftmaxKernel {
    shape: SoftmaxShape,
    isa: Isa,
    backend: &'static dyn Backend,
    scratch: Scratch,
    chunk: Vec<u32>,
    /// The gradient of a batch or a chunk, where it is not added to something at once.
    spare: Vec<f32>,
}

impl SoftmaxKernel {
    /// A kernel for the best instruction set of this processor.
    pub fn new(shape: SoftmaxShape) -> Self {
        Self::with_isa(shape, Isa::detect()).expect("a detected ISA is available")
    }

    /// A kernel for a given instruction set, if this processor has it.
    ///
    /// # Panics
    /// If the shape has no classes.
    pub fn with_isa(shape: SoftmaxShape, isa: Isa) -> Option<Self> {
        assert!(shape.classes > 0, "a softmax needs at least one class");
        Some(Self {
            shape,
            isa,
            backend: isa.backend()?,
            scratch: Scratch::new(shape),
            chunk: Vec::with_capacity(CHUNK),
            spare: Vec::new(),
        })
    }

    /// The shape this kernel was built for.
    pub fn shape(&self) -> SoftmaxShape {
        self.shape
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// One minibatch step: `w` follows `law` on the mean gradient over the batch.
    ///
    /// # Panics
    /// If the batch is empty, a length does not fit the shape, an index is out
    /// of range or a label is not a class.
    pub fn step(&mut self, w: &mut [f32], data: Samples, batch: &[u32], law: Law<'_>) {
        if law.is_plain() {
            let scale = -(law.lr / batch.len() as f32);
            self.residuals(w, data, batch, scale, false);
            self.backend.backward(&self.scratch, w, Write::Add);
            return;
        }
        assert!(law.fits(self.shape.len()), "length of pull or buffer");
        self.residuals(w, data, batch, 1.0 / batch.len() as f32, false);
        self.spare.resize(self.shape.len(), 0.0);
        self.backend.backward(&self.scratch, &mut self.spare, Write::Replace);
        self.backend.apply(law, &self.spare, w);
    }

    /// Writes the mean gradient over the batch to `out`.
    ///
    /// # Panics
    /// As [`Self::step`].
    pub fn gradient(&mut self, w: &[f32], data: Samples, batch: &[u32], out: &mut [f32]) {
        assert_eq!(out.len(), self.shape.len(), "gradient length");
        self.residuals(w, data, batch, 1.0 / batch.len() as f32, false);
        self.backend.backward(&self.scratch, out, Write::Replace);
    }

    /// Loss and correct predictions summed over `range`; the sum of the
    /// gradients is added to `gradient`, if given.
    ///
    /// # Panics
    /// If a length does not fit the shape, the range exceeds the samples or a
    /// label is not a class.
    pub fn evaluate(
        &mut self,
        w: &[f32],
        data: Samples,
        range: Range<usize>,
        mut gradient: Option<&mut [f64]>,
    ) -> Evaluation {
        if let Some(sum) = &gradient {
            assert_eq!(sum.len(), self.shape.len(), "gradient length");
            self.spare.resize(self.shape.len(), 0.0);
        }
        assert!(range.end <= data.y.len(), "range exceeds the samples");
        assert!(u32::try_from(data.y.len()).is_ok(), "too many samples");
        let mut total = Evaluation::default();
        for start in range.clone().step_by(CHUNK) {
            let end = range.end.min(start + CHUNK);
            let mut chunk = std::mem::take(&mut self.chunk);
            chunk.clear();
            chunk.extend(start as u32..end as u32);
            self.residuals(w, data, &chunk, 1.0, true);
            self.chunk = chunk;
            self.score(&mut total);
            if let Some(sum) = &mut gradient {
                self.backend.backward(&self.scratch, &mut self.spare, Write::Replace);
                for (total, &part) in sum.iter_mut().zip(&self.spare) {
                    *total += f64::from(part);
                }
            }
        }
        total
    }

    /// Leaves `scale * (p - onehot(y))` of each sample of the batch, its
    /// features and its outcome in the scratch memory.
    fn residuals(&mut self, w: &[f32], data: Samples, batch: &[u32], scale: f32, score: bool) {
        let shape = self.shape;
        assert!(!batch.is_empty(), "the mean over no samples is undefined");
        assert_eq!(w.len(), shape.len(), "parameter length");
        assert_eq!(data.x.len(), data.y.len() * shape.rows(), "samples length");
        self.scratch.prepare(data.y, batch);
        self.backend.forward(&mut self.scratch, w, data.x, batch);
        self.backend.residuals(&mut self.scratch, scale, score);
    }

    fn score(&self, total: &mut Evaluation) {
        for group in self.scratch.outcomes().chunks(LOG_GROUP) {
            let mut product = 1.0;
            for outcome in group {
                product *= f64::from(outcome.sum);
                total.loss_sum += f64::from(outcome.gap);
                total.correct += u64::from(outcome.hit);
            }
            total.loss_sum += product.ln();
        }
    }
}
