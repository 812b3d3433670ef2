//! A row of `rounds.csv`, read back.

use super::header::{ColumnPlace, TableHeader, TableLine};
use super::read_error::ReadError;
use super::rounds_csv::RoundsCsv;
use crate::clock::{SimTime, Span};
use crate::metric::{Metric, Metrics};
use crate::record::RoundRow;

/// Where the columns of `rounds.csv` are in a file.
pub struct RoundColumns {
    round: ColumnPlace<u64>,
    closed: ColumnPlace<SimTime>,
    waited: ColumnPlace<SimTime>,
    asked: ColumnPlace<u64>,
    arrived: ColumnPlace<u64>,
    tau_eff: ColumnPlace<f64>,
    tau: [ColumnPlace<f64>; 3],
    chi2: ColumnPlace<Option<f64>>,
    missing_mass: ColumnPlace<f64>,
    metrics: Vec<(Metric, ColumnPlace<Option<f64>>)>,
}

impl RoundColumns {
    /// In a file with this header; an error if it lacks one of them.
    pub fn find(header: &TableHeader<RoundsCsv>) -> Result<Self, ReadError> {
        let metric = |metric: Metric| Ok((metric, header.find(metric.name())?));
        Ok(RoundColumns {
            round: header.find("round")?,
            closed: header.find("virtual_seconds")?,
            waited: header.find("waited_seconds")?,
            asked: header.find("asked")?,
            arrived: header.find("arrived")?,
            tau_eff: header.find("tau_eff")?,
            tau: [header.find("tau_min")?, header.find("tau_mean")?, header.find("tau_max")?],
            chi2: header.find("chi2")?,
            missing_mass: header.find("missing_mass")?,
            metrics: Metric::ALL.into_iter().map(metric).collect::<Result<_, ReadError>>()?,
        })
    }

    /// What a line of that file says. What it does not tell is zero: who was on the way, the scale of weights, and how
    /// far gradients were apart.
    pub fn read(&self, line: &TableLine<'_, '_, RoundsCsv>) -> Result<RoundRow, ReadError> {
        let mut metrics = None::<Metrics>;
        for (metric, place) in &self.metrics {
            if let Some(value) = line.get(*place)? {
                metrics.get_or_insert_default().set(*metric, value);
            }
        }
        let [least, mean, most] = self.tau;
        Ok(RoundRow {
            round: line.get(self.round)?,
            closed: line.get(self.closed)?,
            waited: Span::from_nanos(line.get(self.waited)?.nanos()),
            lr_factor: 1.0,
            asked: line.get(self.asked)? as usize,
            arrived: line.get(self.arrived)? as usize,
            busy: 0,
            tau_eff: line.get(self.tau_eff)?,
            tau: [line.get(least)?, line.get(mean)?, line.get(most)?],
            chi2: line.get(self.chi2)?.unwrap_or(f64::NAN),
            missing_mass: line.get(self.missing_mass)?,
            weight_scale: 0.0,
            metrics,
            gradients: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_files::{CellId, RunKey, RunTable};
    use std::path::Path;

    #[test]
    fn what_is_written_reads_back() {
        let mut header = TableHeader::new(Path::new("rounds.csv"), &RoundsCsv::header(&[]));
        let columns = RoundColumns::find(&header).unwrap();
        let mut measured = Metrics::default();
        measured.set(Metric::TrainLoss, 0.1 + 0.2);
        for (metrics, chi2) in [(Some(measured), 0.25), (None, f64::NAN)] {
            let row = RoundRow {
                round: 3,
                closed: SimTime::from_nanos(7_000_000_001),
                waited: Span::from_nanos(5),
                lr_factor: 1.0,
                asked: 9,
                arrived: 8,
                busy: 0,
                tau_eff: 2.5,
                tau: [1.0, 2.0, 3.0],
                chi2,
                missing_mass: 0.125,
                weight_scale: 0.0,
                metrics,
                gradients: None,
            };
            let mut written = Vec::new();
            RoundsCsv::write_row(
                &mut written,
                &RunKey::new(&CellId { variant: "a".into(), seed: 7, ..CellId::default() }),
                &row,
            );
            let text = String::from_utf8(written).unwrap();
            let read = columns.read(&header.line(text.trim_end(), None).unwrap()).unwrap();
            assert_eq!(read.chi2.is_nan(), chi2.is_nan());
            let same = |row: RoundRow| RoundRow { chi2: 0.0, ..row };
            assert_eq!(same(read), same(row));
        }
    }
}
