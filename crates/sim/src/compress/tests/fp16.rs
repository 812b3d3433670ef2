//! Half precision against its definition: all numbers there are, and the nearest of them.

use super::super::fp16::{LARGEST, round};
use crate::random::{Purpose, stream};
use rand::Rng;

/// Every finite number from 0 up, in order; its place is its code.
fn numbers() -> Vec<f64> {
    let number = |code: u32| {
        let (exponent, fraction) = (code >> 10, f64::from(code & 0x3ff) / 1024.0);
        match exponent {
            0 => fraction * 2f64.powi(-14),
            _ => (1.0 + fraction) * 2f64.powi(exponent as i32 - 15),
        }
    };
    (0..0x7c00).map(number).collect()
}

/// The nearest by looking at both neighbours.
fn slow(numbers: &[f64], value: f64) -> f64 {
    let size = value.abs();
    let above = numbers.partition_point(|number| *number < size);
    let nearest = match numbers.get(above) {
        None => LARGEST,
        Some(number) if *number == size => size,
        Some(number) => {
            // Both ends have 11 bits: the middle is exact.
            let (low, middle) = (numbers[above - 1], (numbers[above - 1] + number) / 2.0);
            let up = size > middle || (size == middle && above % 2 == 0);
            if up { *number } else { low }
        }
    };
    nearest.copysign(value)
}

#[test]
fn every_number_and_everything_between() {
    let numbers = numbers();
    assert_eq!(numbers.last(), Some(&LARGEST));
    let same = |value: f64| {
        for value in [value, -value] {
            let (fast, slow) = (round(value), slow(&numbers, value));
            assert_eq!(fast.to_bits(), slow.to_bits(), "{value:e}: {fast:e}, not {slow:e}");
        }
    };
    for pair in numbers.windows(2) {
        let middle = (pair[0] + pair[1]) / 2.0;
        for value in [pair[0], middle, pair[1]] {
            same(value);
            same(value.next_up());
            same(value.next_down().max(0.0));
        }
    }
    let mut rng = stream(1, Purpose::Noise, 0, 0);
    for _ in 0..1_000_000 {
        // Any sign, fraction and exponent, and often one that half precision has.
        let bits = rng.next_u64();
        same(Some(f64::from_bits(bits)).filter(|value| value.is_finite()).unwrap_or(0.0));
        let exponent = 1023 - 30 + (bits >> 52) % 50;
        same(f64::from_bits((exponent << 52) | (bits & ((1 << 52) - 1))));
    }
}

#[test]
fn by_hand() {
    assert_eq!(round(1.0 / 3.0), 0.333251953125);
    assert_eq!(round(2049.0), 2048.0, "a tie goes to the even");
    assert_eq!(round(2051.0), 2052.0);
    // Just above a tie, by less than single precision can tell.
    assert_eq!(round(1.0 + 2f64.powi(-11) + 2f64.powi(-40)), 1.0 + 2f64.powi(-10));
    assert_eq!(round(65519.99), LARGEST);
    // Half precision would call these infinite.
    assert_eq!((round(65520.0), round(-1e300)), (LARGEST, -LARGEST));
    assert_eq!(round(2f64.powi(-25)), 0.0);
    assert_eq!(round(2f64.powi(-25).next_up()), 2f64.powi(-24));
    // What has diverged stays so.
    assert_eq!(round(f64::INFINITY), f64::INFINITY);
    assert_eq!(round(f64::NEG_INFINITY), f64::NEG_INFINITY);
    assert!(round(f64::NAN).is_nan());
}
