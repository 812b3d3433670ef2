//! The participations of clients, read back from `clients.csv`.

use crate::record::{Leg, Outcome};
use crate::run_files::{ClientColumns, ClientsCsv, ReadError, RowsOfRun, TableLine};
use std::path::Path;

/// One participation of a client in a round. It takes 56 bytes, for there may be millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub client: u32,
    pub round: u32,
    pub outcome: Outcome,
    pub leg: Leg,
    pub tau: u64,
    /// When it was asked.
    pub at: u64,
    pub download: u64,
    pub compute: u64,
    pub upload: u64,
}

impl Part {
    /// When the model is there.
    pub(super) fn downloaded(&self) -> u64 {
        self.at + self.download
    }

    /// When the last step is done.
    pub(super) fn computed(&self) -> u64 {
        self.downloaded() + self.compute
    }

    /// When it is back, gives up or is lost.
    pub(super) fn end(&self) -> u64 {
        self.computed() + self.upload
    }

    /// Whether it vanished on its way.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self.outcome, Outcome::Dropped | Outcome::Offline)
    }
}

/// A participation, and the round in which it was heard.
fn part(
    line: &TableLine<'_, '_, ClientsCsv>,
    columns: &ClientColumns,
    clients: usize,
) -> Result<(Part, u32), ReadError> {
    let row = columns.read(line, clients as u32)?.row;
    let heard = row.staleness.checked_add(row.round);
    let heard = heard.and_then(|heard| u32::try_from(heard).ok());
    let heard = heard.ok_or_else(|| line.wrong("expected a round below 2^32"))?;
    let part = Part {
        client: row.client,
        round: row.round as u32,
        outcome: row.outcome,
        leg: row.leg,
        tau: row.tau,
        at: row.dispatched.nanos(),
        download: row.download.nanos(),
        compute: row.compute.nanos(),
        upload: row.upload.nanos(),
    };
    let times = [part.download, part.compute, part.upload];
    let end = times.iter().try_fold(part.at, |sum, time| sum.checked_add(*time));
    if end != Some(row.arrived.nanos()) {
        return Err(line.wrong("download, compute and upload do not lead to its arrival"));
    }
    if part.compute < part.tau {
        return Err(line.wrong(format!("{} steps in {} ns", part.tau, part.compute)));
    }
    Ok((part, heard))
}

/// All participations of a run.
pub(super) struct Parts {
    /// By client and time.
    pub all: Vec<Part>,
    /// How long those took that a deadline may follow, by the round in which they were heard.
    pub durations: Vec<(u32, u64)>,
}

/// Reads the participations of a run of `clients` clients in `folder`; `adaptive`: with the durations that a
/// deadline follows.
pub(super) fn read(
    folder: &Path,
    run: (&str, u64),
    clients: usize,
    adaptive: bool,
) -> Result<Parts, ReadError> {
    let mut rows = RowsOfRun::open(folder, run)?;
    let columns = ClientColumns::find(rows.header())?;
    let (mut all, mut durations) = (Vec::new(), Vec::new());
    rows.each(|line| {
        let (part, heard) = part(line, &columns, clients)?;
        if adaptive && part.tau > 0 && matches!(part.outcome, Outcome::Used | Outcome::Late) {
            durations.push((heard, part.end() - part.at));
        }
        all.push(part);
        Ok(())
    })?;
    // A client that was lost at once may be asked again at the same instant.
    all.sort_unstable_by_key(|part: &Part| (part.client, part.at, part.end(), part.round));
    for pair in all.windows(2).filter(|pair| pair[0].client == pair[1].client) {
        if pair[1].at < pair[0].end() {
            return Err(ReadError::broken(
                rows.header().path(),
                format!(
                    "client {} is asked at {} ns, and is on its way until {} ns",
                    pair[0].client,
                    pair[1].at,
                    pair[0].end()
                ),
            ));
        }
    }
    durations.sort_unstable();
    Ok(Parts { all, durations })
}
