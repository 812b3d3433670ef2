//! Every way to squeeze, by hand, by definition and by what it must leave alone.

mod feedback;
mod fp16;

use super::quantize::{level, neighbour, parts};
use super::*;
use crate::random::{Purpose, stream};
use proptest::prelude::*;

fn rng(key: u64) -> Stream {
    stream(1, Purpose::Compression, 0, key)
}

fn squeezed(compression: Compression, update: &[f64]) -> Vec<f64> {
    let mut update = update.to_vec();
    let parameters = update.len();
    compression.squeeze(&mut update, parameters, || rng(0));
    update
}

#[test]
fn bits_of_an_update() {
    let bits = |compression: Compression| compression.bits(1000);
    assert_eq!(bits(Compression::None), 32_000);
    assert_eq!(bits(Compression::Fp16), 16_000);
    // 100 numbers, each with one of 1000 places in 10 bits.
    assert_eq!(bits(Compression::TopK(0.1)), 4200);
    assert_eq!(bits(Compression::TopK(1e-9)), 42, "at least one");
    assert_eq!(bits(Compression::TopK(0.0016)), 2 * 42, "rounded, not cut");
    assert_eq!(bits(Compression::TopK(0.9)), 32_000, "never more than everything");
    assert_eq!(bits(Compression::Quantize(8)), 8032);
    // 1024 places take ten bits, one more takes eleven, and one place needs none.
    assert_eq!(Compression::TopK(1e-9).bits(1024), 42);
    assert_eq!(Compression::TopK(1e-9).bits(1025), 43);
    assert_eq!(Compression::TopK(1e-9).bits(1), 32);
    assert_eq!(Compression::None.bits(4_000_000_000), 128_000_000_000);
}

#[test]
fn the_largest_by_hand() {
    let update = [0.5, -3.0, 2.0, -0.0, 3.0, 1.0];
    let keep = |part| squeezed(Compression::TopK(part), &update);
    assert_eq!(keep(0.01), [0.0, -3.0, 0.0, 0.0, 0.0, 0.0], "of equals the first");
    assert_eq!(keep(1.0 / 3.0), [0.0, -3.0, 0.0, 0.0, 3.0, 0.0]);
    assert_eq!(keep(0.5), [0.0, -3.0, 2.0, 0.0, 3.0, 0.0]);
    // Everything is everything, to the sign of a zero.
    let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&keep(1.0)), bits(&update));
    assert_eq!(squeezed(Compression::TopK(0.4), &[7.0; 5]), [7.0, 7.0, 0.0, 0.0, 0.0]);
    let wild = squeezed(Compression::TopK(0.5), &[f64::NAN, 1.0, f64::NEG_INFINITY, 2.0]);
    assert!(wild[0].is_nan() && wild[2].is_infinite() && wild[1] == 0.0 && wild[3] == 0.0);
}

/// A part of the parameters, not of the vector that holds them.
#[test]
fn padding_is_no_parameter() {
    let mut update = vec![1.0, 5.0, 0.0, 0.0, 2.0, 4.0, 0.0, 0.0];
    Compression::TopK(0.5).squeeze(&mut update, 4, || rng(0));
    assert_eq!(update, [0.0, 5.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
    for compression in [Compression::Fp16, Compression::Quantize(2), Compression::Quantize(8)] {
        let mut update = vec![0.3, 0.0, -0.7, 0.0, 0.0];
        compression.squeeze(&mut update, 2, || rng(0));
        assert!(update[1] == 0.0 && update[3] == 0.0 && update[4] == 0.0, "{compression:?}");
    }
}

#[test]
fn a_few_bits_by_hand() {
    // Three bits: a sign and three parts.
    assert_eq!(parts(3), 3.0);
    assert_eq!(neighbour(-6.0, 6.0, 3.0), (3.0, 0.0), "the largest is never rounded");
    assert_eq!(neighbour(5.0, 6.0, 3.0), (2.0, 0.5));
    assert_eq!(neighbour(0.5, 6.0, 3.0), (0.0, 0.25));
    assert_eq!([0.0, 1.0, 2.0, 3.0].map(|n| level(n, 6.0, 3.0)), [0.0, 2.0, 4.0, 6.0]);
    // What has a code of its own is sent exactly, whatever is drawn.
    let exact = [6.0, -4.0, 2.0, 0.0, -2.0];
    assert_eq!(squeezed(Compression::Quantize(3), &exact), exact);
    // Two bits: −1, 0 and 1 times the largest.
    let update: Vec<f64> = (0..1000).map(|i| f64::from(i % 21 - 10)).collect();
    let sent = squeezed(Compression::Quantize(2), &update);
    for (sent, exact) in sent.iter().zip(&update) {
        assert!(*sent == 0.0 || (sent.abs() == 10.0 && sent * exact > 0.0), "{exact} as {sent}");
    }
    let codes = |bits| parts(bits) * 2.0 + 1.0;
    assert_eq!((codes(2), codes(8), codes(16)), (3.0, 255.0, 65535.0));
}

#[test]
fn nothing_to_quantize() {
    assert_eq!(squeezed(Compression::Quantize(4), &[0.0; 3]), [0.0; 3]);
    assert_eq!(squeezed(Compression::Quantize(4), &[5e-324]), [5e-324]);
    assert_eq!(squeezed(Compression::Quantize(4), &[f64::MAX, -f64::MAX]), [f64::MAX, -f64::MAX]);
    let wild = squeezed(Compression::Quantize(4), &[1.0, f64::INFINITY, 0.3]);
    assert_eq!(wild, [1.0, f64::INFINITY, 0.3], "a run that diverges must be seen to");
    assert!(squeezed(Compression::Quantize(4), &[1.0, f64::NAN])[1].is_nan());
}

/// Over many updates a quantised number is right on average, and its variance is p(1 − p) of a
/// part squared; the square itself varies by p(1 − p)(1 − 2p)². 80 z-tests at 5 standard errors, so
/// a right implementation fails with probability below 80 · 5.8e-7 ≈ 5e-5; the seed is fixed.
#[test]
fn quantising_is_unbiased_in_practice() {
    let update: Vec<f64> = (0..20).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let scale = update.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let runs = 20_000;
    for bits in [2, 5] {
        let mut sums = vec![[0.0; 2]; update.len()];
        for key in 0..runs {
            let mut sent = update.clone();
            Compression::Quantize(bits).squeeze(&mut sent, 20, || rng(key));
            for (sums, (sent, exact)) in sums.iter_mut().zip(sent.iter().zip(&update)) {
                let off = sent - exact;
                *sums = [sums[0] + off, sums[1] + off * off];
            }
        }
        for (sums, exact) in sums.iter().zip(&update) {
            let (_, p) = neighbour(*exact, scale, parts(bits));
            let (part, n) = (scale / parts(bits), runs as f64);
            let spread = (p * (1.0 - p)).sqrt() * part;
            let [mean, square] = sums.map(|sum| sum / n);
            let error = spread / n.sqrt();
            assert!(mean.abs() <= 5.0 * error + 1e-15, "{exact} in {bits} bits: {mean} ± {error}");
            let error = spread * part * (1.0 - 2.0 * p).abs() / n.sqrt();
            let off = (square - spread * spread).abs();
            assert!(off <= 5.0 * error + 1e-15, "{exact} in {bits} bits: {square} ± {error}");
        }
    }
}

proptest! {
    /// Exactly the k largest are left as they were; the reference sorts.
    #[test]
    fn exactly_the_largest_are_kept(
        update in proptest::collection::vec(
            prop_oneof![-1e3f64..1e3, (-3i8..3).prop_map(f64::from)], 1..200),
        part in 0.0f64..=1.0,
    ) {
        let count = top_k::count(part, update.len());
        let mut order: Vec<usize> = (0..update.len()).collect();
        order.sort_by(|a, b| update[*b].abs().total_cmp(&update[*a].abs()).then(a.cmp(b)));
        let mut expected = vec![0.0; update.len()];
        order[..count].iter().for_each(|i| expected[*i] = update[*i]);
        let mut kept = update.clone();
        top_k::keep_largest(&mut kept, count);
        prop_assert_eq!(kept, expected);
    }

    /// Both outcomes, weighed by their chances, are the number itself.
    #[test]
    fn quantising_is_unbiased_by_its_chances(
        scale in 1e-300f64..1e300, part in -1.0f64..=1.0, bits in 2u32..=16,
    ) {
        let (value, s) = (part * scale, parts(bits));
        let (below, p) = neighbour(value, scale, s);
        prop_assert!((0.0..1.0).contains(&p) && below >= 0.0 && below + p <= s);
        let mean = (1.0 - p) * level(below, scale, s) + p * level(below + 1.0, scale, s);
        prop_assert!((mean - value.abs()).abs() <= 1e-14 * scale, "{mean} {value}");
    }
}
