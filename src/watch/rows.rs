//! What the lines of `rounds.csv` and `clients.csv` say.
//!
//! Columns are found by name, so that files of another version can be followed as long as they have
//! what is shown. A line that cannot be understood says nothing.

use crate::clock::{SimTime, Span};
use crate::metric::{Metric, Metrics};
use crate::record::{ClientRow, Leg, Outcome};

const OF_ROUNDS: [&str; 14] = [
    "variant",
    "seed",
    "round",
    "virtual_seconds",
    "asked",
    "arrived",
    "tau_mean",
    "chi2",
    "train_loss",
    "grad_norm",
    "test_accuracy",
    "test_loss",
    "distance",
    "waited_seconds",
];

const OF_CLIENTS: [&str; 13] = [
    "variant",
    "seed",
    "round",
    "client",
    "class",
    "tau",
    "dispatched_ns",
    "download_ns",
    "compute_ns",
    "upload_ns",
    "arrived_ns",
    "outcome",
    "phase",
];

/// Where in a line the wanted cells are.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Columns<const N: usize>(Vec<Option<usize>>);

impl<const N: usize> Columns<N> {
    /// `None`: the file is another one than it should be.
    fn find(header: &str, wanted: &[&str; N]) -> Option<Self> {
        let place = |name: &str| wanted.iter().position(|wanted| *wanted == name);
        let columns: Vec<Option<usize>> = header.split(',').map(place).collect();
        (columns.iter().flatten().count() == N).then_some(Columns(columns))
    }

    fn pick<'a>(&self, line: &'a str) -> Option<[&'a str; N]> {
        let mut cells = [""; N];
        let mut found = 0;
        for cell in line.split(',') {
            if let Some(column) = self.0.get(found)? {
                cells[*column] = cell;
            }
            found += 1;
        }
        (found == self.0.len()).then_some(cells)
    }
}

/// An aggregation.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct RoundLine<'a> {
    pub variant: &'a str,
    pub seed: u64,
    pub round: u64,
    pub seconds: f64,
    pub asked: u64,
    pub arrived: u64,
    pub tau_mean: f64,
    pub chi2: f64,
    pub metrics: Metrics,
    pub waited: f64,
}

/// Reads the rows of `rounds.csv`.
pub struct RoundReader(Columns<14>);

impl RoundReader {
    /// For a file with this header; `None` if it lacks something.
    pub fn new(header: &str) -> Option<Self> {
        Columns::find(header, &OF_ROUNDS).map(RoundReader)
    }

    /// What a row says.
    pub fn read<'a>(&self, line: &'a str) -> Option<RoundLine<'a>> {
        let cells = self.0.pick(line)?;
        let mut metrics = Metrics::default();
        for metric in Metric::ALL {
            let column = OF_ROUNDS.iter().position(|name| *name == metric.name())?;
            if let Ok(value) = cells[column].parse() {
                metrics.set(metric, value);
            }
        }
        Some(RoundLine {
            variant: cells[0],
            seed: cells[1].parse().ok()?,
            round: cells[2].parse().ok()?,
            seconds: cells[3].parse().ok()?,
            asked: cells[4].parse().ok()?,
            arrived: cells[5].parse().ok()?,
            tau_mean: cells[6].parse().ok()?,
            chi2: cells[7].parse().ok()?,
            metrics,
            waited: cells[13].parse().ok()?,
        })
    }
}

/// A participation.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct ClientLine<'a> {
    pub variant: &'a str,
    pub seed: u64,
    pub class: &'a str,
    /// What the file does not tell is zero here.
    pub row: ClientRow,
}

/// Reads the rows of `clients.csv`.
pub struct ClientReader(Columns<13>);

impl ClientReader {
    /// For a file with this header; `None` if it lacks something.
    pub fn new(header: &str) -> Option<Self> {
        Columns::find(header, &OF_CLIENTS).map(ClientReader)
    }

    /// What a row says.
    pub fn read<'a>(&self, line: &'a str) -> Option<ClientLine<'a>> {
        let cells = self.0.pick(line)?;
        let number = |at: usize| cells[at].parse::<u64>().ok();
        let span = |at: usize| number(at).map(Span::from_nanos);
        let instant = |at: usize| number(at).map(SimTime::from_nanos);
        let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == cells[11])?;
        let leg = Leg::ALL.into_iter().find(|leg| leg.name() == cells[12])?;
        let row = ClientRow {
            round: number(2)?,
            client: cells[3].parse().ok()?,
            class: 0,
            outcome,
            leg,
            staleness: 0,
            tau: number(5)?,
            accumulation: 0.0,
            dispatched: instant(6)?,
            download: span(7)?,
            compute: span(8)?,
            upload: span(9)?,
            arrived: instant(10)?,
            idle: Span::ZERO,
            superseded: Span::ZERO,
            raw_weight: 0.0,
        };
        Some(ClientLine { variant: cells[0], seed: number(1)?, class: cells[4], row })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_wherever_they_are() {
        let header = format!("new,{}", OF_ROUNDS.join(","));
        let reader = RoundReader::new(&header).unwrap();
        let row = reader.read("9,a,7,3,1.5,10,8,4.0,0.25,NaN,,0.5,,,0.1").unwrap();
        assert_eq!((row.variant, row.seed, row.round, row.seconds), ("a", 7, 3, 1.5));
        assert_eq!((row.asked, row.arrived, row.waited), (10, 8, 0.1));
        assert_eq!(row.metrics.get(Metric::TestAccuracy), Some(0.5));
        assert!(row.metrics.get(Metric::TrainLoss).unwrap().is_nan(), "measured, and not finite");
        assert_eq!(row.metrics.get(Metric::GradNorm), None);
        assert!(RoundReader::new("variant,seed").is_none());
    }

    #[test]
    fn lines_that_make_no_sense_say_nothing() {
        let reader = ClientReader::new(&OF_CLIENTS.join(",")).unwrap();
        let good = "a,1,2,17,phone,5,100,1,2,3,106,late,done";
        let row = reader.read(good).unwrap();
        assert_eq!((row.class, row.row.client, row.row.outcome), ("phone", 17, Outcome::Late));
        for bad in ["", "a,1,2", &format!("{good},x"), &good.replace("late", "later")] {
            assert_eq!(reader.read(bad), None, "{bad}");
        }
    }
}
