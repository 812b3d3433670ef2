//! What the lines of `rounds.csv` and `clients.csv` say.
//!
//! Columns are found by name, so that files of another version can be followed as long as they have
//! what is shown.

use crate::clock::{SimTime, Span};
use crate::metric::{Metric, Metrics};
use crate::record::{ClientRow, Leg, Outcome};
use crate::run_files::{ClientsCsv, ColumnPlace, ReadError, RoundsCsv, TableHeader};

/// An aggregation.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub(super) struct RoundLine<'a> {
    pub variant: &'a str,
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
    variant: ColumnPlace<str>,
    seed: ColumnPlace<u64>,
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
            variant: header.find("variant")?,
            seed: header.find("seed")?,
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
        Ok(RoundLine {
            variant: line.get(self.variant)?,
            seed: line.get(self.seed)?,
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

/// A participation.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub(super) struct ClientLine<'a> {
    pub variant: &'a str,
    pub seed: u64,
    pub class: &'a str,
    /// What the file does not tell is zero here.
    pub row: ClientRow,
}

/// Reads the rows of `clients.csv`.
pub(super) struct ClientReader {
    header: TableHeader<ClientsCsv>,
    variant: ColumnPlace<str>,
    seed: ColumnPlace<u64>,
    round: ColumnPlace<u64>,
    client: ColumnPlace<u64>,
    class: ColumnPlace<str>,
    tau: ColumnPlace<u64>,
    dispatched: ColumnPlace<u64>,
    download: ColumnPlace<u64>,
    compute: ColumnPlace<u64>,
    upload: ColumnPlace<u64>,
    arrived: ColumnPlace<u64>,
    outcome: ColumnPlace<Outcome>,
    phase: ColumnPlace<Leg>,
}

impl ClientReader {
    /// For a file with this header; an error if it lacks a column that is shown.
    pub(super) fn new(header: TableHeader<ClientsCsv>) -> Result<Self, ReadError> {
        Ok(ClientReader {
            variant: header.find("variant")?,
            seed: header.find("seed")?,
            round: header.find("round")?,
            client: header.find("client")?,
            class: header.find("class")?,
            tau: header.find("tau")?,
            dispatched: header.find("dispatched_ns")?,
            download: header.find("download_ns")?,
            compute: header.find("compute_ns")?,
            upload: header.find("upload_ns")?,
            arrived: header.find("arrived_ns")?,
            outcome: header.find("outcome")?,
            phase: header.find("phase")?,
            header,
        })
    }

    /// What a row says.
    pub(super) fn read<'a>(&mut self, line: &'a str) -> Result<ClientLine<'a>, ReadError> {
        let line = self.header.line(line, None)?;
        let client = u32::try_from(line.get(self.client)?);
        let span = |place| line.get(place).map(Span::from_nanos);
        let instant = |place| line.get(place).map(SimTime::from_nanos);
        let row = ClientRow {
            round: line.get(self.round)?,
            client: client.map_err(|_| line.odd(self.client.index(), "a client below 2^32"))?,
            class: 0,
            outcome: line.get(self.outcome)?,
            leg: line.get(self.phase)?,
            staleness: 0,
            tau: line.get(self.tau)?,
            accumulation: 0.0,
            dispatched: instant(self.dispatched)?,
            download: span(self.download)?,
            compute: span(self.compute)?,
            upload: span(self.upload)?,
            arrived: instant(self.arrived)?,
            idle: Span::ZERO,
            superseded: Span::ZERO,
            raw_weight: 0.0,
        };
        let (variant, seed) = (line.get(self.variant)?, line.get(self.seed)?);
        Ok(ClientLine { variant, seed, class: line.get(self.class)?, row })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_files::RunTable;
    use std::path::Path;

    #[test]
    fn columns_are_found_by_name_wherever_they_are() {
        let names = "new,waited_seconds,variant,seed,round,virtual_seconds,asked,arrived,tau_mean,\
                     chi2,train_loss,grad_norm,test_accuracy,test_loss,distance";
        let header = |line: &str| TableHeader::new(Path::new("rounds.csv"), line);
        let mut reader = RoundReader::new(header(names)).unwrap();
        let row = reader.read("9,0.1,a,7,3,1.5,10,8,4.0,0.25,NaN,,0.5,,").unwrap();
        assert_eq!((row.variant, row.seed, row.round, row.seconds), ("a", 7, 3, 1.5));
        assert_eq!((row.asked, row.arrived, row.waited), (10, 8, 0.1));
        assert_eq!(row.metrics.get(Metric::TestAccuracy), Some(0.5));
        assert!(row.metrics.get(Metric::TrainLoss).unwrap().is_nan(), "measured, and not finite");
        assert_eq!(row.metrics.get(Metric::GradNorm), None);
        let error = RoundReader::new(header("variant,seed")).err().unwrap().to_string();
        assert!(error.contains("rounds.csv, line 1: there is no column `round`"), "{error}");
    }

    #[test]
    fn lines_that_make_no_sense_say_what_is_wrong() {
        let header = TableHeader::new(Path::new("clients.csv"), &ClientsCsv::header());
        let mut reader = ClientReader::new(header).unwrap();
        let good = "a,1,2,17,phone,1,5,5.0,100,1,2,3,106,late,0,0.0,done";
        let row = reader.read(good).unwrap();
        assert_eq!((row.class, row.row.client, row.row.outcome), ("phone", 17, Outcome::Late));
        for (bad, wrong) in [
            (String::new(), "found 1 cells, expected 17"),
            ("a,1,2".into(), "found 3 cells"),
            (format!("{good},x"), "found 18 cells"),
            (good.replace("late", "later"), "column `outcome`: found `later`, expected an outcome"),
            (good.replace("106", "-6"), "column `arrived_ns`: found `-6`, expected a whole number"),
            (good.replace(",17,", ",4294967296,"), "expected a client below 2^32"),
        ] {
            let error = reader.read(&bad).unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
