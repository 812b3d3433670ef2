//! Randomness that depends on what it is for, never on who asked first.
//!
//! Every random choice is drawn from a stream keyed by *(seed, purpose, client, round)*. The key
//! is the whole 256-bit ChaCha key, so two different keys are two different streams, always. A
//! client's jitter in round 7 is therefore the same whether one thread ran or sixty-four, whether
//! the client was selected in round 6, and whichever weighting the variant uses.

mod dist;
mod time_left;

pub use dist::{Dist, Shape};
pub use time_left::TimeLeft;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A keyed stream of random numbers.
pub type Stream = ChaCha8Rng;

/// What a stream is for. The numbers are part of the file format of every seed: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Which class a client belongs to.
    Assignment = 1,
    /// A client's device: step time, links, latency.
    Device = 2,
    /// Duration of every local step.
    Jitter = 3,
    /// How much work a client is given.
    Work = 4,
    /// Which clients the server asks.
    Selection = 5,
    /// The learning task: data, centres, curvature.
    Data = 6,
    /// The model's starting point.
    Init = 7,
    /// Order of samples in local training.
    Batches = 8,
    /// Added gradient noise.
    Noise = 9,
    /// Which clients are written to `clients.csv`.
    Recording = 10,
    /// Whether and when a client vanishes in the middle of a round.
    Dropout = 11,
    /// How the numbers of an update are rounded on its way up.
    Compression = 12,
    /// When a device is slower, and for how long.
    Slowdown = 13,
    /// When a device comes and goes.
    Availability = 14,
    /// Which recording a client gets, and where in it it begins.
    Replay = 15,
    /// Whom a scripted event selects.
    Event = 16,
    /// Devices that a trace makes up.
    Synthesis = 20,
    /// Which samples of a data set a client gets, and which are put aside for testing.
    Partition = 21,
    /// How training images are shifted and mirrored.
    Augmentation = 22,
    /// Which units of a network are dropped in a step.
    Mask = 23,
}

/// The stream for one purpose, client and round. Pass 0 where client or round has no meaning.
pub fn stream(seed: u64, purpose: Purpose, client: u64, round: u64) -> Stream {
    let mut key = [0u8; 32];
    for (part, value) in key.chunks_exact_mut(8).zip([seed, purpose as u64, client, round]) {
        part.copy_from_slice(&value.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// A whole number below `below`, all but equally likely: the multiplication of a 32-bit draw is off
/// by less than one part in 2³²/below, and costs no loop.
#[inline]
pub fn index(rng: &mut Stream, below: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(below)) >> 32) as u32
}

/// Puts `items` in random order. Written out so that the order belongs to our seeds and not to the
/// version of a library.
pub fn shuffle<T>(items: &mut [T], rng: &mut Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, index(rng, last as u32 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_one_stream() {
        let draw = |seed, purpose, client, round| stream(seed, purpose, client, round).next_u64();
        let base = draw(1, Purpose::Jitter, 2, 3);
        assert_eq!(base, draw(1, Purpose::Jitter, 2, 3));
        for other in [
            draw(2, Purpose::Jitter, 2, 3),
            draw(1, Purpose::Work, 2, 3),
            draw(1, Purpose::Jitter, 3, 3),
            draw(1, Purpose::Jitter, 2, 4),
            draw(1, Purpose::Jitter, 3, 2),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn every_order_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        let mut rng = stream(1, Purpose::Batches, 0, 0);
        for _ in 0..24_000 {
            let mut items = [0, 1, 2, 3];
            shuffle(&mut items, &mut rng);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        assert!(counts.values().all(|n| (850..1150).contains(n)), "{counts:?}");
    }

    /// Pins the bits: a change here silently changes every published run.
    #[test]
    fn streams_do_not_change_between_versions() {
        assert_eq!(stream(1, Purpose::Device, 0, 0).next_u64(), 6_082_804_599_785_255_738);
    }
}
