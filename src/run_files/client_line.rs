//! A row of `clients.csv`, read back.

use super::cell_columns::CellColumns;
use super::clients_csv::ClientsCsv;
use super::header::{ColumnPlace, TableHeader, TableLine};
use super::read_error::ReadError;
use crate::clock::{SimTime, Span};
use crate::record::{ClientRow, Leg, Outcome};
use std::borrow::Cow;

/// A participation, and the run that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientLine<'a> {
    /// The name of the variant; with a sweep, the label of the combination.
    pub variant: Cow<'a, str>,
    /// The seed of the run.
    pub seed: u64,
    /// The name of the client's class.
    pub class: &'a str,
    /// The participation. What readers do not ask for is zero here: the class's number, ‖a_i‖₁, idle
    /// time and the weight.
    pub row: ClientRow,
}

/// Where the columns of `clients.csv` are in a file.
pub struct ClientColumns {
    cell: CellColumns,
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
    staleness: ColumnPlace<u64>,
    phase: ColumnPlace<Leg>,
}

impl ClientColumns {
    /// In a file with this header; an error if it lacks one of them.
    pub fn find(header: &TableHeader<ClientsCsv>) -> Result<Self, ReadError> {
        Ok(ClientColumns {
            cell: CellColumns::find(header)?,
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
            staleness: header.find("staleness")?,
            phase: header.find("phase")?,
        })
    }

    /// What a line of that file says; clients have numbers below `clients`.
    pub fn read<'a>(
        &self,
        line: &TableLine<'_, 'a, ClientsCsv>,
        clients: u32,
    ) -> Result<ClientLine<'a>, ReadError> {
        let client = u32::try_from(line.get(self.client)?).ok().filter(|client| *client < clients);
        let client = client
            .ok_or_else(|| line.odd(self.client.index(), &format!("a client below {clients}")))?;
        let round = line.get(self.round)?;
        if round == 0 {
            return Err(line.odd(self.round.index(), "a round from 1 on"));
        }
        let span = |place| line.get(place).map(Span::from_nanos);
        let instant = |place| line.get(place).map(SimTime::from_nanos);
        let row = ClientRow {
            round,
            client,
            class: 0,
            outcome: line.get(self.outcome)?,
            leg: line.get(self.phase)?,
            staleness: line.get(self.staleness)?,
            tau: line.get(self.tau)?,
            accumulation: 0.0,
            dispatched: instant(self.dispatched)?,
            download: span(self.download)?,
            compute: span(self.compute)?,
            upload: span(self.upload)?,
            arrived: instant(self.arrived)?,
            idle: None,
            superseded: Span::ZERO,
            raw_weight: 0.0,
        };
        let (variant, seed) = self.cell.read(line)?;
        Ok(ClientLine { variant, seed, class: line.get(self.class)?, row })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_files::{CellId, RunKey, RunTable, WeightedRow};
    use std::path::Path;

    const ROW: ClientRow = ClientRow {
        round: 2,
        client: 17,
        class: 0,
        outcome: Outcome::Late,
        leg: Leg::Done,
        staleness: 3,
        tau: 5,
        accumulation: 0.0,
        dispatched: SimTime::from_nanos(100),
        download: Span::from_nanos(1),
        compute: Span::from_nanos(2),
        upload: Span::from_nanos(3),
        arrived: SimTime::from_nanos(106),
        idle: None,
        superseded: Span::ZERO,
        raw_weight: 0.0,
    };

    #[test]
    fn what_is_written_reads_back_and_lines_that_make_no_sense_say_what_is_wrong() {
        let mut header = TableHeader::new(Path::new("clients.csv"), &ClientsCsv::header(&[]));
        let columns = ClientColumns::find(&header).unwrap();
        let mut written = Vec::new();
        let row = WeightedRow { row: &ROW, class: "phone", weight: 0.0 };
        ClientsCsv::write_row(
            &mut written,
            &RunKey::new(&CellId { variant: "a".into(), seed: 7, ..CellId::default() }),
            &row,
        );
        let good = String::from_utf8(written).unwrap().trim_end().to_string();
        let mut read = |text: &str| {
            let line = header.line(text, None).map_err(|error| error.to_string())?;
            let line = columns.read(&line, 1000).map_err(|error| error.to_string())?;
            Ok::<_, String>((line.variant.to_string(), line.seed, line.class.to_string(), line.row))
        };
        assert_eq!(read(&good), Ok(("a".into(), 7, "phone".into(), ROW)));
        let cells = ClientsCsv::columns().count();
        for (bad, wrong) in [
            (String::new(), format!("found 1 cells, expected {cells}")),
            ("a,1,2".into(), "found 3 cells".into()),
            (format!("{good},x"), format!("found {} cells", cells + 1)),
            (good.replace("late", "later"), "column `outcome`: found `later`, expected an".into()),
            (good.replace("106", "-6"), "column `arrived_ns`: found `-6`, expected a whole".into()),
            (good.replace(",17,", ",4294967296,"), "expected a client below 1000".into()),
            (good.replace(",17,", ",1000,"), "found `1000`, expected a client below".into()),
            (
                good.replace("a,7,2,", "a,7,0,"),
                "column `round`: found `0`, expected a round".into(),
            ),
        ] {
            let error = read(&bad).unwrap_err();
            assert!(error.contains(&wrong), "{error}");
        }
    }
}
