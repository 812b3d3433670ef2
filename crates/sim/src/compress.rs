//! What a client's update loses on its way up, and how few bits it then takes.
//!
//! A [`Compression`] says both: [`Compression::bits`] decides how long an upload takes, and
//! [`Compression::squeeze`] what the server gets to see. With error feedback a client remembers
//! what an update lost and adds it to the next one; a [`Packer`] does that for all clients, and
//! [`Residuals`] keeps what they remember.
//!
//! ```text
//!   Δ_i ──(+)──► squeeze ──► to the server
//!          ▲        │
//!          e_i ◄────┘  what was lost
//! ```
//!
//! Models travel in single precision. That rounding is not imitated: without compression the
//! server adds what was computed, to the bit. An update that is not finite is not made to look as
//! if it were: the run must be seen to diverge.

mod feedback;
mod fp16;
mod quantize;
#[cfg(test)]
mod tests;
mod top_k;

pub use feedback::{Packer, Packing, Parcel, Residual, Residuals};

use crate::random::Stream;

/// Bits of a number that is sent as it is.
const NUMBER: u64 = 32;

/// How an update is made smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// Every number in half precision.
    Fp16,
    /// This part of the numbers, those that are largest; the others are taken as 0.
    TopK(f64),
    /// Every number in so many bits, rounded at random so that it is right on average.
    Quantize(u32),
}

impl Compression {
    /// Whether numbers are left out, so that the server cannot tell them from those that did not move.
    pub fn leaves_numbers_out(self) -> bool {
        match self {
            Compression::TopK(_) => true,
            Compression::None | Compression::Fp16 | Compression::Quantize(_) => false,
        }
    }

    /// Bits of an update of a model with so many parameters.
    pub fn bits(self, parameters: usize) -> u64 {
        let n = parameters as u64;
        match self {
            Compression::None => NUMBER * n,
            Compression::Fp16 => 16 * n,
            // Each with its place in as few bits as tell n places apart. Nobody would send more
            // than everything.
            Compression::TopK(part) => {
                let place = u64::from(n.next_power_of_two().trailing_zeros());
                (top_k::count(part, parameters) as u64 * (NUMBER + place)).min(NUMBER * n)
            }
            // And what the largest is, which they are parts of.
            Compression::Quantize(bits) => u64::from(bits) * n + NUMBER,
        }
    }

    /// Makes of an update what the server gets. The model has so many `parameters`; the other entries
    /// of `update` are padding, anywhere in it, and stay zero. `rng` is asked for only where something is
    /// drawn.
    pub fn squeeze(self, update: &mut [f64], parameters: usize, rng: impl FnOnce() -> Stream) {
        match self {
            Compression::None => {}
            Compression::Fp16 => update.iter_mut().for_each(|value| *value = fp16::round(*value)),
            Compression::TopK(part) => match top_k::count(part, parameters) {
                all if all == parameters => {}
                count => top_k::keep_largest(update, count),
            },
            Compression::Quantize(bits) => quantize::quantize(update, bits, &mut rng()),
        }
    }
}
