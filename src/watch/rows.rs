//! What the lines of `rounds.csv` and `clients.csv` say.
//!
//! Columns are found by name, so that files of another version can be followed as long as they have
//! what is shown.

use crate::clock::SimTime;
use crate::metric::{Metric, Metrics};
use crate::run_files::{
    CellColumns, ClientColumns, ClientLine, ClientsCsv, ColumnPlace, ReadError, RoundsCsv,
    TableHeader,
};
use std::borrow::Cow;

/// An aggregation.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub(super) struct RoundLine<'a> {
    pub variant: Cow<'a, str>,
    pub seed: u64,
    pub round: u64,
    pub seconds: f64,
    pub asked: u64,
    pub arrived: u64,
    pub tau_mean: f64,
    pub chi2: Option<f64>,
    pub metrics: Metrics,
    pub waited: f64,
}

/// Reads the rows of `rounds.csv`.
pub(super) struct RoundReader {
    header: TableHeader<RoundsCsv>,
    cell: CellColumns,
    round: ColumnPlace<u64>,
    closed: ColumnPlace<SimTime>,
    asked: ColumnPlace<u64>,
    arrived: ColumnPlace<u64>,
    tau_mean: ColumnPlace<f64>,
    chi2: ColumnPlace<Option<f64>>,
    metrics: Vec<(Metric, ColumnPlace<Option<f64>>)>,
    waited: ColumnPlace<SimTime>,
}

impl RoundReader {
    /// For a file with this header; an error if it lacks a column that is shown.
    pub(super) fn new(header: TableHeader<RoundsCsv>) -> Result<Self, ReadError> {
        let metric = |metric: Metric| Ok((metric, header.find(metric.name())?));
        Ok(RoundReader {
            cell: CellColumns::find(&header)?,
            round: header.find("round")?,
            closed: header.find("virtual_seconds")?,
            asked: header.find("asked")?,
            arrived: header.find("arrived")?,
            tau_mean: header.find("tau_mean")?,
            chi2: header.find("chi2")?,
            metrics: Metric::ALL.into_iter().map(metric).collect::<Result<_, ReadError>>()?,
            waited: header.find("waited_seconds")?,
            header,
        })
    }

    /// What a row says.
    pub(super) fn read<'a>(&mut self, line: &'a str) -> Result<RoundLine<'a>, ReadError> {
        let line = self.header.line(line, None)?;
        let mut metrics = Metrics::default();
        for (metric, place) in &self.metrics {
            if let Some(value) = line.get(*place)? {
                metrics.set(*metric, value);
            }
        }
        let (variant, seed) = self.cell.read(&line)?;
        Ok(RoundLine {
            variant,
            seed,
            round: line.get(self.round)?,
            seconds: line.get(self.closed)?.seconds(),
            asked: line.get(self.asked)?,
            arrived: line.get(self.arrived)?,
            tau_mean: line.get(self.tau_mean)?,
            chi2: line.get(self.chi2)?,
            metrics,
            waited: line.get(self.waited)?.seconds(),
        })
    }
}

/// Reads the rows of `clients.csv`.
pub(super) struct ClientReader {
    header: TableHeader<ClientsCsv>,
    columns: ClientColumns,
}

impl ClientReader {
    /// For a file with this header; an error if it lacks a column that is shown.
    pub(super) fn new(header: TableHeader<ClientsCsv>) -> Result<Self, ReadError> {
        Ok(ClientReader { columns: ClientColumns::find(&header)?, header })
    }

    /// What a row says.
    pub(super) fn read<'a>(&mut self, line: &'a str) -> Result<ClientLine<'a>, ReadError> {
        self.columns.read(&self.header.line(line, None)?, u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn columns_are_found_by_name_wherever_they_are() {
        let names = "new,waited_seconds,variant,seed,round,virtual_seconds,asked,arrived,tau_mean,\
                     chi2,train_loss,grad_norm,test_accuracy,test_loss,distance";
        let header = |line: &str| TableHeader::new(Path::new("rounds.csv"), line);
        let mut reader = RoundReader::new(header(names)).unwrap();
        let row = reader.read("9,0.1,a,7,3,1.5,10,8,4.0,0.25,NaN,,0.5,,").unwrap();
        assert_eq!((&*row.variant, row.seed, row.round, row.seconds), ("a", 7, 3, 1.5));
        assert_eq!((row.asked, row.arrived, row.waited), (10, 8, 0.1));
        assert_eq!(row.metrics.get(Metric::TestAccuracy), Some(0.5));
        assert!(row.metrics.get(Metric::TrainLoss).unwrap().is_nan(), "measured, and not finite");
        assert_eq!(row.metrics.get(Metric::GradNorm), None);
        let error = RoundReader::new(header("variant,seed")).err().unwrap().to_string();
        assert!(error.contains("rounds.csv, line 1: there is no column `round`"), "{error}");
    }
}
