//! Durations, rates and speeds as people write them: `"250ms"`, `"1h30m"`, `"20Mbps"`, `"4 GFLOPS"`.
//!
//! Durations are exact: `"0.1s"` is 100,000,000 ns, never a neighbouring double. What cannot be
//! said in whole nanoseconds, or in 64 bits of them, is an error rather than a rounded value.

use crate::clock::Span;

/// The units of time and how many nanoseconds each holds, longest first.
const TIME: [(&str, u64); 9] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000), // micro sign
    ("μs", 1_000), // Greek mu, which looks the same
    ("ns", 1),
];

/// The units of data rates, in bits per second, and their powers of ten.
const RATE: [(&str, u32); 4] = [("bps", 0), ("kbps", 3), ("Mbps", 6), ("Gbps", 9)];

/// The units of compute speeds, in floating-point operations per second, and their powers of ten.
const SPEED: [(&str, u32); 4] = [("FLOPS", 0), ("MFLOPS", 6), ("GFLOPS", 9), ("TFLOPS", 12)];

/// Why a text is not a quantity with a unit. The text comes from a user who can fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Nothing but spaces.
    #[error("an empty string is no quantity")]
    Empty,
    /// No number where one should be.
    #[error("`{0}` does not start with a number")]
    NoNumber(String),
    /// A number without a unit.
    #[error("`{0}` has no unit")]
    NoUnit(String),
    /// A unit nobody knows; perhaps one that was meant.
    #[error("unknown unit `{unit}`")]
    #[allow(missing_docs)]
    UnknownUnit { unit: String, nearest: Option<&'static str> },
    /// Below zero.
    #[error("`{0}` is negative")]
    Negative(String),
    /// Parts of a composite duration that do not go from long to short.
    #[error("`{0}`: the parts of a duration go from long units to short ones, each once")]
    Order(String),
    /// Not a whole number of nanoseconds.
    #[error("`{0}` is finer than a nanosecond, the smallest step of the clock")]
    TooFine(String),
    /// More than 64 bits of nanoseconds, or more than a double can hold.
    #[error("`{0}` is too large: the clock ends after 584 years")]
    TooLong(String),
    /// A rate or a speed that no double can hold.
    #[error("`{0}` is too large")]
    TooFast(String),
}

/// Reads a duration: one or more numbers with units, from long to short.
pub fn parse_duration(text: &str) -> Result<Span, UnitError> {
    let mut rest = start(text)?;
    let (mut total, mut last) = (0u64, u64::MAX);
    while !rest.is_empty() {
        let (number, unit, tail) = split(rest)?;
        let nanos = TIME
            .iter()
            .find(|(name, _)| *name == unit)
            .map(|(_, nanos)| *nanos)
            .ok_or_else(|| unknown(unit, &TIME.map(|(name, _)| name)))?;
        if nanos >= last {
            return Err(UnitError::Order(text.trim().into()));
        }
        let part = exact(number, nanos, text)?;
        total = total.checked_add(part).ok_or_else(|| UnitError::TooLong(text.trim().into()))?;
        (rest, last) = (tail, nanos);
    }
    Ok(Span::from_nanos(total))
}

/// Reads a data rate; the result is in bits per second.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    decimal(text, &RATE)
}

/// Reads a compute speed; the result is in floating-point operations per second.
pub fn parse_speed(text: &str) -> Result<f64, UnitError> {
    decimal(text, &SPEED)
}

/// A number with one of the `units`, each a power of ten.
fn decimal<const N: usize>(text: &str, units: &[(&'static str, u32); N]) -> Result<f64, UnitError> {
    let (number, unit, tail) = split(start(text)?)?;
    let (_, power) = units
        .iter()
        .find(|(name, _)| *name == unit && tail.is_empty())
        .ok_or_else(|| unknown(&format!("{unit}{tail}"), &units.map(|(name, _)| name)))?;
    // Letting the decimal parser see the power of ten rounds once, not twice.
    match format!("{number}e{power}").parse::<f64>() {
        Ok(rate) if rate.is_finite() => Ok(rate),
        _ => Err(UnitError::TooFast(text.trim().into())),
    }
}

fn start(text: &str) -> Result<&str, UnitError> {
    let text = text.trim();
    match text.chars().next() {
        None => Err(UnitError::Empty),
        Some('-') => Err(UnitError::Negative(text.into())),
        Some(_) => Ok(text),
    }
}

/// Splits `1.5h 30m` into `1.5`, `h` and `30m`.
fn split(text: &str) -> Result<(&str, &str, &str), UnitError> {
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(number_end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(UnitError::NoNumber(text.into()));
    }
    let rest = rest.trim_start();
    let unit_end =
        rest.find(|c: char| c.is_ascii_digit() || c.is_whitespace()).unwrap_or(rest.len());
    let (unit, tail) = rest.split_at(unit_end);
    match unit {
        "" => Err(UnitError::NoUnit(number.into())),
        _ => Ok((number, unit, tail.trim_start())),
    }
}

/// `number` units of `nanos` nanoseconds, in integers throughout.
fn exact(number: &str, nanos: u64, text: &str) -> Result<u64, UnitError> {
    let too_long = || UnitError::TooLong(text.trim().into());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    // The longest unit, a day, is 2^16·3^3·5^10·… ns: more than 16 decimals never come out even.
    if fraction.len() > 16 {
        return Err(UnitError::TooFine(text.trim().into()));
    }
    let digits = |part: &str| {
        if part.is_empty() { Ok(0) } else { part.parse::<u64>() }
    };
    let whole = u128::from(digits(whole).map_err(|_| too_long())?);
    let part = u128::from(digits(fraction).map_err(|_| too_long())?) * u128::from(nanos);
    let scale = 10u128.pow(fraction.len() as u32);
    if !part.is_multiple_of(scale) {
        return Err(UnitError::TooFine(text.trim().into()));
    }
    u64::try_from(whole * u128::from(nanos) + part / scale).map_err(|_| too_long())
}

fn unknown(unit: &str, known: &[&'static str]) -> UnitError {
    let spelled = unit
        .to_lowercase()
        .replace("bits/s", "bps")
        .replace("bit/s", "bps")
        .replace("b/s", "bps")
        .replace("flops/s", "flops")
        .replace("flop/s", "flops");
    let long = match spelled.trim_end_matches('s') {
        "second" | "sec" => "s",
        "minute" | "min" => "m",
        "hour" | "hr" => "h",
        "day" => "d",
        "msec" | "millisecond" | "milli" => "ms",
        "usec" | "microsecond" | "micro" => "us",
        "nsec" | "nanosecond" | "nano" => "ns",
        _ => &spelled,
    };
    let nearest = known.iter().find(|name| name.to_lowercase() == long).copied();
    UnitError::UnknownUnit { unit: unit.into(), nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact() {
        for (text, nanos) in [
            ("0s", 0),
            ("1ns", 1),
            ("0.1s", 100_000_000),
            ("0.3ms", 300_000),
            ("2.5us", 2_500),
            ("7µs", 7_000),
            ("7μs", 7_000),
            ("30 s", 30_000_000_000),
            ("0.25h", 900_000_000_000),
            ("1h30m", 5_400_000_000_000),
            (" 1d 2h 3m 4.5s ", 93_784_500_000_000),
            ("0.000000001s", 1),
            ("1.0000000000000000000s", 1_000_000_000),
            ("18446744073709551615ns", u64::MAX),
        ] {
            assert_eq!(parse_duration(text).map(Span::nanos), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn durations_that_are_none() {
        let owned = String::from;
        for (text, error) in [
            ("", UnitError::Empty),
            ("  ", UnitError::Empty),
            ("30", UnitError::NoUnit(owned("30"))),
            ("1h30", UnitError::NoUnit(owned("30"))),
            ("s", UnitError::NoNumber(owned("s"))),
            (".5s", UnitError::NoNumber(owned(".5s"))),
            ("5.s", UnitError::NoNumber(owned("5.s"))),
            ("1.2.3s", UnitError::NoNumber(owned("1.2.3s"))),
            ("-1s", UnitError::Negative(owned("-1s"))),
            ("1m2h", UnitError::Order(owned("1m2h"))),
            ("1s1s", UnitError::Order(owned("1s1s"))),
            ("1.5ns", UnitError::TooFine(owned("1.5ns"))),
            ("0.00000000000000000001d", UnitError::TooFine(owned("0.00000000000000000001d"))),
            ("18446744073709551616ns", UnitError::TooLong(owned("18446744073709551616ns"))),
            ("300000d", UnitError::TooLong(owned("300000d"))),
            ("200000d 200000h 9999999999h", UnitError::Order(owned("200000d 200000h 9999999999h"))),
            ("213000d 99999999h", UnitError::TooLong(owned("213000d 99999999h"))),
            ("5 sec", UnitError::UnknownUnit { unit: owned("sec"), nearest: Some("s") }),
            ("5 MS", UnitError::UnknownUnit { unit: owned("MS"), nearest: Some("ms") }),
            ("5y", UnitError::UnknownUnit { unit: owned("y"), nearest: None }),
        ] {
            assert_eq!(parse_duration(text), Err(error), "{text}");
        }
    }

    #[test]
    fn rates_round_once() {
        for (text, rate) in [
            ("20Mbps", 2e7),
            ("0.1 Mbps", 1e5),
            ("1.1Gbps", 1.1e9),
            ("56kbps", 56e3),
            ("1bps", 1.0),
        ] {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
    }

    #[test]
    fn speeds_are_operations_per_second() {
        for (text, speed) in
            [("4 GFLOPS", 4e9), ("0.1TFLOPS", 1e11), (" 250  MFLOPS ", 2.5e8), ("1FLOPS", 1.0)]
        {
            assert_eq!(parse_speed(text), Ok(speed), "{text}");
        }
        let unknown = |unit: &str, nearest| UnitError::UnknownUnit { unit: unit.into(), nearest };
        assert_eq!(parse_speed("4 Gflop/s"), Err(unknown("Gflop/s", Some("GFLOPS"))));
        assert_eq!(parse_speed("4 gflops"), Err(unknown("gflops", Some("GFLOPS"))));
        assert_eq!(parse_speed("4 GHz"), Err(unknown("GHz", None)));
        assert_eq!(parse_speed("4"), Err(UnitError::NoUnit("4".into())));
        assert_eq!(parse_speed("-4 GFLOPS"), Err(UnitError::Negative("-4 GFLOPS".into())));
    }

    #[test]
    fn rates_that_are_none() {
        let unknown = |unit: &str, nearest| UnitError::UnknownUnit { unit: unit.into(), nearest };
        assert_eq!(parse_rate("20mbps"), Err(unknown("mbps", Some("Mbps"))));
        assert_eq!(parse_rate("20Mbit/s"), Err(unknown("Mbit/s", Some("Mbps"))));
        assert_eq!(parse_rate("20MBps2"), Err(unknown("MBps2", None)));
        assert_eq!(parse_rate("20s"), Err(unknown("s", None)));
        assert_eq!(parse_rate("20"), Err(UnitError::NoUnit("20".into())));
        assert_eq!(parse_rate("-2Mbps"), Err(UnitError::Negative("-2Mbps".into())));
        let huge = format!("{}bps", "9".repeat(400));
        assert_eq!(parse_rate(&huge), Err(UnitError::TooFast(huge.clone())));
    }
}
