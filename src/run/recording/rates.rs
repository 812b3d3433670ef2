//! Rates at which a transfer takes a time, to the nanosecond.

use crate::device::NO_LIMIT;

/// A link told by a rate, and if need be by another from some nanosecond on: rates in a trace are
/// whole bits per second, and the two differ by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rates {
    /// From the beginning.
    pub first: u64,
    /// From so many nanoseconds on.
    pub then: Option<(u64, u64)>,
}

impl Rates {
    /// Rates at which `bits` take `nanos`, exactly.
    pub(super) fn of(bits: u64, nanos: u64) -> Rates {
        if nanos == 0 {
            return Rates { first: NO_LIMIT, then: None };
        }
        let (work, nanos) = (work(bits), u128::from(nanos));
        let fast = work.div_ceil(nanos);
        if fast == 0 || work.div_ceil(fast) == nanos {
            // Not the one that means no limit.
            let first = u64::try_from(fast).unwrap_or(NO_LIMIT).clamp(1, NO_LIMIT - 1);
            return Rates { first, then: None };
        }
        // Here nanoseconds are more than bits per second, so that the faster rate is needed for
        // some of them and not for all.
        let (slow, at_fast) = (fast - 1, work - (fast - 1) * nanos);
        let whole = |number: u128| number as u64;
        match slow {
            // The end of the work must be at the end: what stands still waits first.
            0 => Rates { first: 0, then: Some((whole(nanos - at_fast), 1)) },
            slow => Rates { first: whole(fast), then: Some((whole(at_fast), whole(slow))) },
        }
    }

    /// The faster of the two: by it, a transfer takes at most the time that it will.
    pub(super) fn fastest(&self) -> u64 {
        self.then.map_or(self.first, |(_, rate)| rate.max(self.first))
    }
}

/// How long `bits` take at a `rate`, in nanoseconds.
pub(super) fn duration(bits: u64, rate: u64) -> u64 {
    match rate {
        NO_LIMIT => 0,
        rate => u64::try_from(work(bits).div_ceil(u128::from(rate.max(1)))).unwrap_or(u64::MAX),
    }
}

/// A rate as a trace tells it: the nearest double that is not slower. What is too fast for 64 bits
/// is no limit.
pub(super) fn told(rate: u64) -> f64 {
    let near = rate as f64;
    if near as u64 >= rate { near } else { near.next_up() }
}

fn work(bits: u64) -> u128 {
    u128::from(bits) * 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The nanosecond in which the last bit is through.
    fn taken(bits: u64, rates: Rates) -> u64 {
        let Some((at, then)) = rates.then else {
            return duration(bits, rates.first);
        };
        let done = u128::from(rates.first) * u128::from(at);
        assert!(done < work(bits), "not through before");
        let left = work(bits) - done;
        at + left.div_ceil(u128::from(then)) as u64
    }

    #[test]
    fn a_single_rate_is_enough_for_much_in_a_short_time() {
        assert_eq!(Rates::of(1_000_000, 1_000_000_000), Rates { first: 1_000_000, then: None });
        assert_eq!(Rates::of(320, 1_500_000_000).first, 214, "213.3 bit/s");
        assert_eq!(Rates::of(320, 0).first, NO_LIMIT);
        assert_eq!(told(NO_LIMIT) as u64, NO_LIMIT);
        assert_eq!(told(2_000_001), 2_000_001.0);
    }

    proptest! {
        #[test]
        fn any_time_is_met_to_the_nanosecond(
            bits in prop_oneof![1u64..2000, 1u64..1_000_000_000_000],
            nanos in prop_oneof![1u64..2000, 1u64..100_000_000_000, 1u64..1_000_000_000_000_000],
        ) {
            let rates = Rates::of(bits, nanos);
            prop_assume!(u128::from(bits) * 1_000_000_000 / u128::from(nanos) < 1 << 53);
            prop_assert_eq!(taken(bits, rates), nanos);
            prop_assert!(duration(bits, rates.fastest()) <= nanos);
        }
    }
}
