//! The log of a run: what evaluations found, and norms of updates that a selector looked at. Numbers are
//! written as their bits, so that they come back as they were.

use crate::metric::{Gradients, Metric, Metrics};
use crate::server::RunLog;
use crate::train::Measured;
use std::fmt::Write;

/// The lines of some entries.
pub(super) fn lines(log: &RunLog) -> String {
    let mut text = String::new();
    for Measured { metrics, gradients } in &log.measured {
        text.push('m');
        for metric in Metric::ALL {
            push(&mut text, metrics.get(metric));
        }
        push(&mut text, gradients.map(|gradients| gradients.of_surrogate));
        push(&mut text, gradients.map(|gradients| gradients.mean_square));
        text.push('\n');
    }
    for norm in &log.norms {
        text.push('n');
        push(&mut text, Some(*norm));
        text.push('\n');
    }
    text
}

fn push(text: &mut String, number: Option<f64>) {
    match number {
        Some(number) => {
            let _ = write!(text, " {:016x}", number.to_bits());
        }
        None => text.push_str(" -"),
    }
}

/// The entries of a whole log; `None` if it is not one.
pub(super) fn parse(text: &str) -> Option<RunLog> {
    let mut log = RunLog::default();
    for line in text.lines() {
        let mut cells = line.split(' ');
        let kind = cells.next()?;
        let numbers: Vec<Option<f64>> = cells.map(cell).collect::<Option<_>>()?;
        match (kind, &numbers[..]) {
            ("n", [Some(norm)]) => log.norms.push(*norm),
            ("m", [metrics @ .., of_surrogate, mean_square])
                if metrics.len() == Metric::ALL.len() =>
            {
                let mut measured = Measured { metrics: Metrics::default(), gradients: None };
                for (metric, value) in Metric::ALL.into_iter().zip(metrics) {
                    value.iter().for_each(|value| measured.metrics.set(metric, *value));
                }
                measured.gradients = of_surrogate
                    .zip(*mean_square)
                    .map(|(of_surrogate, mean_square)| Gradients { of_surrogate, mean_square });
                log.measured.push(measured);
            }
            _ => return None,
        }
    }
    Some(log)
}

/// The number of a cell.
fn cell(text: &str) -> Option<Option<f64>> {
    match text {
        "-" => Some(None),
        bits if bits.len() == 16 => {
            u64::from_str_radix(bits, 16).ok().map(|bits| Some(f64::from_bits(bits)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_bit_by_bit() {
        let mut metrics = Metrics::default();
        metrics.set(Metric::TrainLoss, 0.1 + 0.2);
        metrics.set(Metric::Distance, f64::INFINITY);
        let gradients = Some(Gradients { of_surrogate: -0.0, mean_square: 1e-310 });
        let log = RunLog {
            measured: vec![
                Measured { metrics, gradients },
                Measured { metrics: Metrics::default(), gradients: None },
            ],
            norms: vec![1.5, f64::MIN_POSITIVE],
        };
        assert_eq!(parse(&lines(&log)), Some(log));
        assert_eq!(parse(""), Some(RunLog::default()));
        let nan = RunLog { norms: vec![f64::NAN], ..RunLog::default() };
        assert!(parse(&lines(&nan)).unwrap().norms[0].is_nan());
        for broken in ["x 0", "n", "n -", "n 12", "m - -", "n 0000000000000000 -"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }
}
