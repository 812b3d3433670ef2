//! How fast a link is, finer than whole bits per second.
//!
//! Links are drawn and recorded in whole bits per second, but an event may leave any part of one. Rounded to
//! whole bits a second, a slow link would be off by microseconds in a transfer.

use super::speed_profile::NO_LIMIT;
use crate::clock::Span;

/// Binary places after the point of a rate in bits per second.
const FRACTION: u32 = 20;

/// The rate of a link, in 2⁻²⁰ bit/s. Rates of more than 17 Tbit/s count as that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkRate(u64);

impl LinkRate {
    /// No connection.
    pub const NONE: LinkRate = LinkRate(0);
    /// No limit.
    pub const UNLIMITED: LinkRate = LinkRate(u64::MAX);

    /// Whole bits per second, or [`NO_LIMIT`].
    pub fn bps(rate: u64) -> LinkRate {
        match rate {
            NO_LIMIT => LinkRate::UNLIMITED,
            rate => LinkRate(rate.min((u64::MAX >> FRACTION) - 1) << FRACTION),
        }
    }

    /// A part of it. A link without a limit has none in part either, unless nothing is left.
    pub fn times(self, factor: f64) -> LinkRate {
        match (self, factor) {
            (_, 1.0) => self,
            (LinkRate::UNLIMITED, factor) if factor > 0.0 => self,
            (LinkRate(rate), factor) => {
                LinkRate(((rate as f64 * factor).round() as u64).min(u64::MAX - 1))
            }
        }
    }

    /// The equal share of each of so many.
    pub fn among(self, many: usize) -> LinkRate {
        match self {
            LinkRate::UNLIMITED => self,
            LinkRate(rate) => LinkRate((rate / many.max(1) as u64).max(1)),
        }
    }

    /// In 2⁻²⁰ bit/s.
    pub fn fixed_point(self) -> u64 {
        self.0
    }

    /// How many times 2⁻²⁰ bit so many bits are.
    pub fn fixed_point_bits(bits: u64) -> u64 {
        bits.checked_mul(1 << FRACTION).expect("no model is larger than a terabyte")
    }

    /// What carries `bits`, in units that a rate carries in a nanosecond.
    pub(super) fn work(bits: u64) -> u128 {
        (u128::from(bits) * 1_000_000_000) << FRACTION
    }

    /// What is carried in so long.
    pub(super) fn carries(self, time: Span) -> u128 {
        u128::from(self.0) * u128::from(time.nanos())
    }

    /// How long so much work takes, rounded up; `None` if it never ends, or not before the clock.
    pub(super) fn time_for(self, work: u128) -> Option<Span> {
        match (work, self) {
            (0, _) | (_, LinkRate::UNLIMITED) => Some(Span::ZERO),
            (_, LinkRate::NONE) => None,
            (work, LinkRate(rate)) => {
                let nanos = u64::try_from(work.div_ceil(u128::from(rate))).ok();
                nanos.filter(|nanos| *nanos < u64::MAX).map(Span::from_nanos)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_rates_take_the_time_that_they_took() {
        for (bits, rate, nanos) in
            [(320, 640, 500_000_000), (1, 3, 333_333_334), (0, 5, 0), (7, NO_LIMIT, 0)]
        {
            let time = LinkRate::bps(rate).time_for(LinkRate::work(bits));
            assert_eq!(time, Some(Span::from_nanos(nanos)), "{bits} at {rate}");
        }
        assert_eq!(LinkRate::NONE.time_for(LinkRate::work(1)), None);
        assert_eq!(LinkRate::bps(1).time_for(LinkRate::work(u64::MAX)), None, "after the clock");
    }

    /// A third of 13 kbit/s is not 4,333 bit/s: 160 bits take 36.923 ms, not 36.926.
    #[test]
    fn parts_of_a_rate_are_not_rounded_to_whole_bits() {
        let part = LinkRate::bps(13_000).times(1.0 / 3.0);
        let nanos = part.time_for(LinkRate::work(160)).unwrap().nanos();
        let exact = 160.0 / (13_000.0 / 3.0) * 1e9;
        assert!((nanos as f64 - exact).abs() <= 1.0, "{nanos} {exact}");
        let whole = LinkRate::bps(4_333).time_for(LinkRate::work(160)).unwrap().nanos();
        assert!(whole - nanos > 2_000, "{whole}");
    }

    #[test]
    fn parts_of_what_has_no_limit_have_none() {
        assert_eq!(LinkRate::UNLIMITED.times(0.1), LinkRate::UNLIMITED);
        assert_eq!(LinkRate::UNLIMITED.times(0.0), LinkRate::NONE);
        assert!(LinkRate::bps(u64::MAX - 1).times(1e9) < LinkRate::UNLIMITED);
    }
}
