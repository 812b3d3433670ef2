//! `rounds.csv`: a row per aggregation and variant.

use super::row_file::{FileError, RowFile, float, integer, seconds};
use crate::clock::SimTime;
use crate::metric::Metric;
use crate::record::RoundRow;
use crate::theory::Consistency;
use std::path::Path;

/// The file, open for the whole scenario.
pub struct RoundsCsv(RowFile);

impl RoundsCsv {
    /// Creates the file.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let header = "variant,seed,round,virtual_seconds,asked,arrived,tau_eff,tau_min,tau_mean,\
                      tau_max,chi2,missing_mass,train_loss,grad_norm,test_accuracy,test_loss,\
                      distance,grad_norm_squared,kappa2,beta2,floor,waited_seconds";
        RowFile::create(path, header).map(RoundsCsv)
    }

    /// Adds an aggregation of the run called `prefix` ("variant,seed").
    pub fn add(&mut self, prefix: &str, row: &RoundRow) -> Result<(), FileError> {
        self.0.push(|out| {
            out.extend_from_slice(prefix.as_bytes());
            integer(out, row.round);
            seconds(out, row.closed);
            integer(out, row.asked);
            integer(out, row.arrived);
            float(out, row.tau_eff);
            row.tau.iter().for_each(|tau| float(out, *tau));
            // Unknown with an optimiser that collects updates.
            optional(out, Some(row.chi2).filter(|chi2| !chi2.is_nan()));
            float(out, row.missing_mass);
            let metrics = row.metrics.unwrap_or_default();
            Metric::ALL.iter().for_each(|metric| optional(out, metrics.get(*metric)));
            let kappa2 = row.gradients.map(|gradients| gradients.kappa2());
            let (chi2, missing_mass) = (row.chi2, row.missing_mass);
            let consistency = Consistency { chi2, missing_mass };
            optional(out, metrics.get(Metric::GradNorm).map(|norm| norm * norm));
            optional(out, kappa2);
            optional(out, row.gradients.map(|gradients| gradients.beta2()));
            optional(out, kappa2.and_then(|kappa2| consistency.floor(kappa2)));
            seconds(out, SimTime::from_nanos(row.waited.nanos()));
        })?;
        self.0.tick()
    }

    /// Writes everything gathered.
    pub fn flush(&mut self) -> Result<(), FileError> {
        self.0.flush()
    }
}

/// Nothing between the commas where something was not measured or a task has no such metric.
fn optional(out: &mut Vec<u8>, value: Option<f64>) {
    match value {
        Some(value) => float(out, value),
        None => out.push(b','),
    }
}
