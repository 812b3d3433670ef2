//! `rounds.csv`: a row per aggregation and variant.

use super::row_file::{FileError, RowFile, float, integer, seconds};
use crate::metric::{Metric, Metrics};
use crate::record::RoundRow;
use std::path::Path;

/// The file, open for the whole scenario.
pub struct RoundsCsv(RowFile);

impl RoundsCsv {
    /// Creates the file.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let header = "variant,seed,round,virtual_seconds,asked,arrived,tau_eff,tau_min,tau_mean,\
                      tau_max,chi2,missing_mass,train_loss,grad_norm,test_accuracy,test_loss,\
                      distance";
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
            float(out, row.chi2);
            float(out, row.missing_mass);
            let metrics = row.metrics.unwrap_or_default();
            Metric::ALL.iter().for_each(|metric| optional(out, &metrics, *metric));
        })?;
        self.0.tick()
    }

    /// Writes everything gathered.
    pub fn flush(&mut self) -> Result<(), FileError> {
        self.0.flush()
    }
}

/// Nothing between the commas where a round was not evaluated or a task has no such metric.
fn optional(out: &mut Vec<u8>, metrics: &Metrics, metric: Metric) {
    match metrics.get(metric) {
        Some(value) => float(out, value),
        None => out.push(b','),
    }
}
