//! Instants and durations in whole nanoseconds, with arithmetic that refuses to wrap.

use std::fmt;

/// An instant: nanoseconds since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// Simulated time went past what 64 bits of nanoseconds can say (584 years).
///
/// The run cannot go on: every later instant would be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "simulated time passed {} years, the end of the clock; use shorter steps, faster links or an earlier [stop]",
    u64::MAX / (365 * 24 * 3600 * 1_000_000_000)
)]
pub struct TimeOverflow;

impl SimTime {
    /// The beginning of the run.
    pub const ZERO: SimTime = SimTime(0);

    /// After everything: the end of the clock, which nothing is due at.
    pub const NEVER: SimTime = SimTime(u64::MAX);

    /// The instant `nanos` nanoseconds after the beginning.
    pub const fn from_nanos(nanos: u64) -> Self {
        SimTime(nanos)
    }

    /// Nanoseconds since the beginning.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the beginning, rounded to the nearest double.
    pub fn seconds(self) -> f64 {
        Span(self.0).seconds()
    }

    /// The instant `span` later.
    pub fn after(self, span: Span) -> Result<SimTime, TimeOverflow> {
        self.0.checked_add(span.0).map(SimTime).ok_or(TimeOverflow)
    }

    /// The time from `earlier` to `self`; zero if `earlier` is not earlier.
    pub fn since(self, earlier: SimTime) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` earlier, if the run had begun by then.
    pub fn before(self, span: Span) -> Option<SimTime> {
        self.0.checked_sub(span.0).map(SimTime)
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// A duration of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Span(nanos)
    }

    /// The nearest whole number of nanoseconds to `nanos`; an error if it is negative, not a
    /// number, or too long.
    pub fn from_nanos_f64(nanos: f64) -> Result<Self, TimeOverflow> {
        // 2^64 as a double; everything below it converts exactly after rounding.
        if (0.0..18_446_744_073_709_551_616.0).contains(&nanos) {
            Ok(Span(nanos.round_ties_even() as u64))
        } else {
            Err(TimeOverflow)
        }
    }

    /// Whole nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest double.
    pub fn seconds(self) -> f64 {
        // Splitting keeps whole seconds exact however long the run.
        (self.0 / 1_000_000_000) as f64 + (self.0 % 1_000_000_000) as f64 / 1e9
    }

    /// The sum of two durations.
    pub fn plus(self, other: Span) -> Result<Span, TimeOverflow> {
        self.0.checked_add(other.0).map(Span).ok_or(TimeOverflow)
    }

    /// `count` times this duration.
    pub fn times(self, count: u64) -> Result<Span, TimeOverflow> {
        self.0.checked_mul(count).map(Span).ok_or(TimeOverflow)
    }
}

impl fmt::Display for Span {
    /// Three or four significant digits and one unit: `1.25s`, `48.1ms`, `2h 05m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.seconds();
        let text = match self.0 {
            0 => "0s".to_string(),
            1..1_000 => format!("{}ns", self.0),
            1_000..1_000_000 => format!("{:.3}us", s * 1e6),
            1_000_000..1_000_000_000 => format!("{:.1}ms", s * 1e3),
            _ if s < 99.95 => format!("{s:.2}s"),
            _ if s < 3600.0 => format!("{}m {:02}s", (s / 60.0) as u64, (s % 60.0) as u64),
            _ if s < 172_800.0 => {
                format!("{}h {:02}m", (s / 3600.0) as u64, (s / 60.0) as u64 % 60)
            }
            _ => format!("{:.1}d", s / 86_400.0),
        };
        f.pad(&text)
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_refuses_to_wrap() {
        let end = SimTime::from_nanos(u64::MAX);
        assert_eq!(end.after(Span::from_nanos(1)), Err(TimeOverflow));
        assert_eq!(end.after(Span::ZERO), Ok(end));
        assert_eq!(Span::from_nanos(u64::MAX).times(2), Err(TimeOverflow));
        assert_eq!(Span::from_nanos(u64::MAX).plus(Span::from_nanos(1)), Err(TimeOverflow));
        assert_eq!(SimTime::ZERO.before(Span::from_nanos(1)), None);
    }

    #[test]
    fn doubles_that_are_no_time_are_refused() {
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1.9e19] {
            assert_eq!(Span::from_nanos_f64(bad), Err(TimeOverflow), "{bad}");
        }
        assert_eq!(Span::from_nanos_f64(2.5).unwrap().nanos(), 2);
        assert_eq!(Span::from_nanos_f64(3.5).unwrap().nanos(), 4);
    }

    #[test]
    fn durations_read_well() {
        for (nanos, text) in [
            (0, "0s"),
            (999, "999ns"),
            (1_500, "1.500us"),
            (48_100_000, "48.1ms"),
            (1_250_000_000, "1.25s"),
            (125_000_000_000, "2m 05s"),
            (7_500_000_000_000, "2h 05m"),
            (259_200_000_000_000, "3.0d"),
        ] {
            assert_eq!(Span::from_nanos(nanos).to_string(), text);
        }
    }
}
