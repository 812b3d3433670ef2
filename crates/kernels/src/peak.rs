//! Measures the multiply-add peak of this core.
//!
//! A kernel's speed means little without the speed the core could reach, and
//! clock frequencies under wide vectors are rarely documented.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::isa::Isa;

const ROUNDS: u32 = 200_000;
const TIME: Duration = Duration::from_millis(50);

/// Peak of this core in GFLOP/s for the best instruction set, measured for
/// about 50 ms. The fastest of many short bursts counts, since other programs
/// can only slow a burst down.
pub fn fma_peak() -> f64 {
    let backend = Isa::detect().backend().expect("a detected ISA is available");
    let start = Instant::now();
    let mut rounds = 1_000;
    let mut best: f64 = 0.0;
    while start.elapsed() < TIME {
        let burst = Instant::now();
        let (operations, value) = backend.fma_burst(black_box(rounds));
        black_box(value);
        let seconds = burst.elapsed().as_secs_f64();
        best = best.max(2.0 * operations as f64 / seconds / 1e9);
        // Slow code must not overrun the time by much, fast code needs bursts
        // that are long compared to the clock.
        if seconds < 1e-3 {
            rounds = (rounds * 2).min(ROUNDS);
        }
    }
    best
}
