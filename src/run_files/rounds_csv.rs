//! The columns of `rounds.csv`: a row per aggregation.

use super::columns::{CellValue, RunTable, WrittenColumn};
use crate::clock::SimTime;
use crate::metric::Metric;
use crate::record::RoundRow;
use crate::theory::Consistency;

/// The table.
pub struct RoundsCsv;

impl RunTable for RoundsCsv {
    const FILE: &'static str = "rounds.csv";
    type Row<'a> = RoundRow;
    #[rustfmt::skip] // An entry is read as a row of a table.
    const WRITTEN: &'static [WrittenColumn<Self>] = {
        use CellValue::{Float, Integer, OptionalFloat, Seconds};
        &[
            WrittenColumn::new("round", Integer(|row| row.round), "number of the round, from 1"),
            WrittenColumn::new("virtual_seconds", Seconds(|row| row.closed), "when the round closed"),
            WrittenColumn::new("asked", Integer(|row| row.asked as u64),
                "clients asked in this round; with `buffer`, `\"each\"` and `window`, clients sent off since the round before"),
            WrittenColumn::new("arrived", Integer(|row| row.arrived as u64), "updates used"),
            WrittenColumn::new("tau_eff", Float(|row| row.tau_eff), "effective steps τ_eff"),
            WrittenColumn::new("tau_min", Float(|row| row.tau[0]),
                "fewest local steps of an update used; 0 if there was none"),
            WrittenColumn::new("tau_mean", Float(|row| row.tau[1]),
                "mean of the local steps of the updates used; 0 if there was none"),
            WrittenColumn::new("tau_max", Float(|row| row.tau[2]),
                "most local steps of an update used; 0 if there was none"),
            WrittenColumn::new("chi2", OptionalFloat(|row| Some(row.chi2).filter(|chi2| !chi2.is_nan())),
                "χ² of the effective weights, of the run so far; empty where it is unknown, with an optimiser that collects updates"),
            WrittenColumn::new("missing_mass", Float(|row| row.missing_mass),
                "share of the data whose clients were never heard, of the run so far"),
            WrittenColumn::new(Metric::TrainLoss.name(), OptionalFloat(|row| metric(row, Metric::TrainLoss)),
                "training loss F(x)"),
            WrittenColumn::new(Metric::GradNorm.name(), OptionalFloat(|row| metric(row, Metric::GradNorm)),
                "gradient norm ‖∇F(x)‖"),
            WrittenColumn::new(Metric::TestAccuracy.name(), OptionalFloat(|row| metric(row, Metric::TestAccuracy)),
                "share of the test samples that are classified rightly"),
            WrittenColumn::new(Metric::TestLoss.name(), OptionalFloat(|row| metric(row, Metric::TestLoss)),
                "mean loss on the test samples"),
            WrittenColumn::new(Metric::Distance.name(), OptionalFloat(|row| metric(row, Metric::Distance)),
                "distance ‖x − x*‖ from the optimum, where that is known"),
            WrittenColumn::new("grad_norm_squared", OptionalFloat(|row| metric(row, Metric::GradNorm).map(|norm| norm * norm)),
                "‖∇F(x)‖², beside which `floor` stands"),
            WrittenColumn::new("kappa2", OptionalFloat(|row| kappa2(row)),
                "κ² of the clients' gradients at this model, with β² = 1"),
            WrittenColumn::new("beta2", OptionalFloat(|row| row.gradients.map(|gradients| gradients.beta2())),
                "β² of the clients' gradients at this model, with κ² = 0"),
            WrittenColumn::new("floor", OptionalFloat(|row| floor(row)),
                "error floor 2χ²κ² of Theorem 2; empty while some client was never heard"),
            WrittenColumn::new("waited_seconds", Seconds(|row| SimTime::from_nanos(row.waited.nanos())),
                "how long the server waited for clients before this round opened"),
        ]
    };
}

/// Nothing where the model was not evaluated, or the task has no such metric.
fn metric(row: &RoundRow, metric: Metric) -> Option<f64> {
    row.metrics?.get(metric)
}

fn kappa2(row: &RoundRow) -> Option<f64> {
    row.gradients.map(|gradients| gradients.kappa2())
}

fn floor(row: &RoundRow) -> Option<f64> {
    let consistency = Consistency { chi2: row.chi2, missing_mass: row.missing_mass };
    consistency.floor(kappa2(row)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_column() {
        for metric in Metric::ALL {
            assert!(RoundsCsv::column(metric.name()).is_some(), "{metric}");
        }
    }
}
