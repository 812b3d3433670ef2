//! Numbers in a unit, without rounding twice.
//!
//! A trace says `12.5` in a column of milliseconds and the simulator holds 12,500,000 ns. Shifting
//! the decimal point in the text, rather than multiplying, lets the decimal parser round once; and
//! shifting the shortest digits of a double back gives a text that reads as the same double.

use gruppetto_sim::clock::Span;
use gruppetto_sim::units::{UnitError, parse_duration};

/// What one unit of a column is in the base unit (nanoseconds, bits or operations per second).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// A power of ten.
    Power(i32),
    /// Minutes, hours and days.
    Times(f64),
}

/// Reads a decimal in a unit; none if it is no finite number.
pub(super) fn parse(text: &str, scale: Scale) -> Option<f64> {
    let mut letters = text.bytes().filter(|b| !matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+'));
    let value = match (letters.next(), letters.next(), scale) {
        (None, _, Scale::Power(0)) => text.parse().ok()?,
        (None, _, Scale::Power(power)) => shifted(text, power)?,
        (None, _, Scale::Times(factor)) => text.parse::<f64>().ok()? * factor,
        (Some(b'e' | b'E'), None, scale) => {
            let (mantissa, exponent) = text.split_once(['e', 'E'])?;
            let exponent: i32 = exponent.parse().ok()?;
            match scale {
                Scale::Power(power) => shifted(mantissa, exponent.checked_add(power)?)?,
                Scale::Times(factor) => shifted(mantissa, exponent)? * factor,
            }
        }
        _ => return None,
    };
    value.is_finite().then_some(value)
}

/// `value` · 10^`power`, as if its shortest decimal had been written with the point elsewhere.
pub(super) fn scaled(value: f64, power: i32) -> f64 {
    if !value.is_finite() {
        return value;
    }
    parse(ryu::Buffer::new().format_finite(value), Scale::Power(power)).unwrap_or(f64::INFINITY)
}

fn shifted(mantissa: &str, power: i32) -> Option<f64> {
    // On the stack: this is done for every cell of files with millions of them.
    let mut buffer = [0u8; 64];
    let mut digits = itoa::Buffer::new();
    let exponent = digits.format(power);
    let (m, e) = (mantissa.len(), exponent.len());
    if m + e + 1 > buffer.len() {
        return format!("{mantissa}e{power}").parse().ok();
    }
    buffer[..m].copy_from_slice(mantissa.as_bytes());
    buffer[m] = b'e';
    buffer[m + 1..=m + e].copy_from_slice(exponent.as_bytes());
    std::str::from_utf8(&buffer[..=m + e]).ok()?.parse().ok()
}

/// Appends the shortest decimal that, read in a unit of 10^`power`, is `value` again.
pub(super) fn write(out: &mut Vec<u8>, value: f64, power: i32) {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(value);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let exponent = exponent.parse::<i32>().unwrap_or(0) - fraction.len() as i32 - power;
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_start_matches('0').trim_end_matches('0');
    if trimmed.is_empty() {
        return out.push(b'0');
    }
    let exponent = exponent + (digits.len() - digits.trim_end_matches('0').len()) as i32;
    let point = trimmed.len() as i32 + exponent;
    match point {
        // Within reach of a person's eye, plainly.
        -6..=0 => {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', -point as usize));
            out.extend_from_slice(trimmed.as_bytes());
        }
        1..=18 if exponent >= 0 => {
            out.extend_from_slice(trimmed.as_bytes());
            out.extend(std::iter::repeat_n(b'0', exponent as usize));
        }
        1..=18 => {
            let (whole, fraction) = trimmed.split_at(point as usize);
            out.extend_from_slice(whole.as_bytes());
            out.push(b'.');
            out.extend_from_slice(fraction.as_bytes());
        }
        _ => {
            out.extend_from_slice(trimmed.as_bytes());
            out.push(b'e');
            out.extend_from_slice(itoa::Buffer::new().format(exponent).as_bytes());
        }
    }
}

/// Reads an instant exactly, in whole nanoseconds.
pub(super) fn parse_time(text: &str, unit: &str, scratch: &mut String) -> Result<Span, UnitError> {
    scratch.clear();
    scratch.push_str(text);
    if !text.ends_with(|c: char| c.is_ascii_digit()) {
        return Err(UnitError::NoNumber(text.into()));
    }
    scratch.push_str(unit);
    parse_duration(scratch)
}

/// Reads an instant that others wrote, to the nearest nanosecond.
pub(super) fn nearest_time(text: &str, unit: &str, scale: Scale) -> Option<Span> {
    match parse_time(text, unit, &mut String::new()) {
        Ok(at) => Some(at),
        Err(_) => Span::from_nanos_f64(parse(text, scale)?).ok(),
    }
}

/// Appends an instant in seconds, exactly.
pub(super) fn write_seconds(out: &mut Vec<u8>, at: Span) {
    let mut digits = itoa::Buffer::new();
    out.extend_from_slice(digits.format(at.nanos() / 1_000_000_000).as_bytes());
    let fraction = at.nanos() % 1_000_000_000;
    if fraction > 0 {
        let nine = digits.format(1_000_000_000 + fraction);
        out.push(b'.');
        out.extend_from_slice(nine[1..].trim_end_matches('0').as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: f64, power: i32) -> String {
        let mut out = Vec::new();
        write(&mut out, value, power);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_point_moves_and_the_digits_stay() {
        for (value, power, written) in [
            (0.0, 6, "0"),
            (12_500_000.0, 6, "12.5"),
            (459e6, 6, "459"),
            (1.0, 6, "0.000001"),
            (1.5, 9, "15e-10"),
            (2_209_615.982329485, 6, "2.209615982329485"),
            (1e21, 0, "1e21"),
            (100.0, 0, "100"),
            (5e-324, 0, "5e-324"),
        ] {
            assert_eq!(text(value, power), written);
            assert_eq!(parse(written, Scale::Power(power)), Some(value), "{written}");
        }
    }

    #[test]
    fn only_plain_decimals_are_numbers() {
        for (read, value) in [("1e3", 1e9), ("-2", -2e6), (".5", 5e5), ("0.1", 1e5)] {
            assert_eq!(parse(read, Scale::Power(6)), Some(value), "{read}");
        }
        assert_eq!(parse("1.5", Scale::Times(60e9)), Some(90e9));
        for read in ["", "inf", "nan", "1e", "e5", "1e400", "1e5e5", "0x10", "1 2", "--1", "1,5"] {
            assert_eq!(parse(read, Scale::Power(6)), None, "{read}");
        }
        assert_eq!(parse(&format!("1{}", "0".repeat(70)), Scale::Power(6)), Some(1e76));
        assert_eq!(scaled(0.1, 6), 1e5);
    }

    #[test]
    fn instants_are_whole_nanoseconds() {
        let mut scratch = String::new();
        let nanos = |text: &str, scratch: &mut String| parse_time(text, "s", scratch);
        assert_eq!(nanos("1.000000001", &mut scratch), Ok(Span::from_nanos(1_000_000_001)));
        assert!(nanos("1.0000000001", &mut scratch).is_err());
        assert!(nanos("1m", &mut scratch).is_err());
        let mut out = Vec::new();
        write_seconds(&mut out, Span::from_nanos(1_020_000_000));
        assert_eq!(out, b"1.02");
    }
}
