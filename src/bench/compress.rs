//! Compressing a client's update.

use super::{Extent, Figure, median};
use crate::compress::Compression;
use crate::random::{Purpose, stream};
use rand::RngExt;
use std::hint::black_box;
use std::time::Instant;

pub(super) fn figures(extent: Extent) -> Vec<Figure> {
    let (len, round_timer) = if extent == Extent::Full { (10_000_000, 7) } else { (1_000_000, 3) };
    let mut rng = stream(1, Purpose::Noise, 0, 0);
    let update: Vec<f64> = (0..len).map(|_| rng.random::<f64>() - 0.5).collect();
    let ways = [
        ("half precision", Compression::Fp16),
        ("the largest 1 %", Compression::TopK(0.01)),
        ("8 bits", Compression::Quantize(8)),
    ];
    let figure = |(name, compression): (&str, Compression)| {
        let lap = |_| {
            let mut update = update.clone();
            let began = Instant::now();
            compression.squeeze(&mut update, len, || stream(1, Purpose::Compression, 0, 0));
            let seconds = began.elapsed().as_secs_f64();
            black_box(update);
            1e9 * seconds / len as f64
        };
        let nanos = median((0..round_timer).map(lap).collect());
        let what = format!("squeezing {} M parameters to {name}", len / 1_000_000);
        Figure::new(what, format!("{nanos:.2} ns each"))
    };
    ways.into_iter().map(figure).collect()
}
