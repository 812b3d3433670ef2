//! Sentences of `docs/` that were once wrong or missing, each with a small run that would show it if the
//! program did otherwise. The numbers are worked out by hand.

mod amounts;
mod ending;
mod events;
mod latencies;
mod links;
mod variance;
mod weights;

use crate::simulated::Simulated;

/// A quadratic in one dimension, F_i = ½(x − e_i)², from x = 0: `clients` are further keys of `[task]`.
fn quadratic(stop: &str, clients: &str, client: &str, server: &str, rest: &str) -> String {
    format!(
        "name = \"documented\"\nstop.{stop}\n[task]\nkind = \"quadratic\"\n{clients}\n\
         [client]\n{client}\n[server]\n{server}\n{rest}\n"
    )
}

/// The numbers in a column.
fn numbers(run: &Simulated, file: &str, column: &str) -> Vec<f64> {
    let cells = run.columns(file, [column]);
    cells.iter().map(|[cell]| cell.parse().unwrap()).collect()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
}

#[track_caller]
fn all_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    found.iter().zip(expected).for_each(|(found, expected)| near(*found, *expected));
}
