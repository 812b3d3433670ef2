//! What a step of softmax regression does with the mean gradient of its batch.
//!
//! Besides the gradient, the law of `gruppetto_sim::solver` has only two constants in a round: with
//! weight decay λ, a proximal term μ around x₀ and a correction c it is G = g + (λ + μ)x + (c − μx₀).
//! So a number, a vector and a buffer say everything.
//!
//! The gradient is written once and then passed over once more, which costs a few percent of a
//! step: forward and backward read every parameter as often as the batch has samples. Only the
//! plain law goes without, because its factor fits into the residuals.

/// What a step does with the mean gradient g over its batch:
/// `G = g + shrink·w + pull`, `u = momentum·u + G`, `w −= lr·u`.
///
/// In pad lanes `pull` and `buffer` must be 0; there they and `w` stay 0.
#[derive(Debug)]
pub struct Law<'a> {
    /// Learning rate of this step.
    pub lr: f32,
    /// Momentum factor ρ; of no effect without a buffer.
    pub momentum: f32,
    /// λ + μ: what pulls every parameter to 0.
    pub shrink: f32,
    /// c − μx₀: the constant part of the gradient.
    pub pull: Option<&'a [f32]>,
    /// u, carried from step to step; without it u = G.
    pub buffer: Option<&'a mut [f32]>,
}

impl Law<'_> {
    /// Plain SGD.
    pub const fn sgd(lr: f32) -> Self {
        Law { lr, momentum: 0.0, shrink: 0.0, pull: None, buffer: None }
    }

    pub(super) fn is_plain(&self) -> bool {
        self.shrink == 0.0 && self.pull.is_none() && self.buffer.is_none()
    }

    pub(super) fn fits(&self, len: usize) -> bool {
        self.pull.is_none_or(|pull| pull.len() == len)
            && self.buffer.as_ref().is_none_or(|buffer| buffer.len() == len)
    }

    /// Moves `w` on the gradient. Always inlined, so that it is compiled once for each instruction
    /// set. All of them give the same bits, because the order is fixed: a fused multiply-add of
    /// `shrink`, then `pull` is added, then one of `momentum`, and one of `lr`.
    #[inline(always)]
    pub(super) fn apply(self, gradient: &[f32], w: &mut [f32]) {
        let Law { lr, momentum, shrink, pull, buffer } = self;
        let pairs = w.iter_mut().zip(gradient);
        // Four loops over single numbers: the compiler makes vectors of these, but not of loops
        // that ask in between or go lane by lane.
        match (pull, buffer) {
            (None, None) => {
                for (w, g) in pairs {
                    *w = (-lr).mul_add(shrink.mul_add(*w, *g), *w);
                }
            }
            (Some(pull), None) => {
                for ((w, g), q) in pairs.zip(pull) {
                    *w = (-lr).mul_add(shrink.mul_add(*w, *g) + q, *w);
                }
            }
            (None, Some(buffer)) => {
                for ((w, g), u) in pairs.zip(buffer) {
                    *u = flushed(momentum.mul_add(*u, shrink.mul_add(*w, *g)));
                    *w = (-lr).mul_add(*u, *w);
                }
            }
            (Some(pull), Some(buffer)) => {
                for (((w, g), q), u) in pairs.zip(pull).zip(buffer) {
                    *u = flushed(momentum.mul_add(*u, shrink.mul_add(*w, *g) + q));
                    *w = (-lr).mul_add(*u, *w);
                }
            }
        }
    }
}

/// Buffers below this become 0. Where the gradient stays 0, a buffer would sink to the smallest
/// numbers there are and never reach 0 (0.9 of the least rounds to itself), and x86 takes a hundred
/// times as long for those.
const FLUSH: f32 = 1e-30;

#[inline(always)]
fn flushed(u: f32) -> f32 {
    if u.abs() < FLUSH { 0.0 } else { u }
}
