//! What became of clients that took part, read back from `clients.csv`.

use super::table::{Line, Table};
use crate::record::{Leg, Outcome};
use gruppetto_trace::TraceError;
use std::path::Path;

/// A client takes part once: 56 bytes, for there may be millions.
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

const COLUMNS: [&str; 11] = [
    "round",
    "client",
    "tau",
    "dispatched_ns",
    "download_ns",
    "compute_ns",
    "upload_ns",
    "arrived_ns",
    "outcome",
    "staleness",
    "phase",
];

/// All participations of a run.
pub(super) struct Parts {
    /// By client and time.
    pub all: Vec<Part>,
    /// How long those took that a deadline may follow, by the round in which they were heard.
    pub durations: Vec<(u32, u64)>,
}

/// Reads the participations of a run of `clients` clients; `adaptive`: with the durations that a
/// deadline follows.
pub(super) fn read(
    path: &Path,
    run: (&str, u64),
    clients: usize,
    adaptive: bool,
) -> Result<Parts, TraceError> {
    let mut table = Table::open(path, run, &COLUMNS)?;
    let (mut all, mut durations) = (Vec::new(), Vec::new());
    while let Some(line) = table.next(&COLUMNS)? {
        let (part, heard) = read_one(&line, clients)?;
        if adaptive && part.tau > 0 && matches!(part.outcome, Outcome::Used | Outcome::Late) {
            durations.push((heard, part.end() - part.at));
        }
        all.push(part);
    }
    // Somebody lost at once may be asked again at the same instant.
    all.sort_unstable_by_key(|part: &Part| (part.client, part.at, part.end(), part.round));
    for pair in all.windows(2).filter(|pair| pair[0].client == pair[1].client) {
        if pair[1].at < pair[0].end() {
            return Err(TraceError::new(
                path,
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

/// A participation, and the round in which it was heard.
fn read_one(line: &Line<'_>, clients: usize) -> Result<(Part, u32), TraceError> {
    let round = line.whole(0)?;
    let client = line.whole(1)?;
    if client >= clients as u64 {
        return Err(line.odd(1, &format!("a client below {clients}, as the scenario says")));
    }
    let heard = line.whole(9)?.checked_add(round).and_then(|heard| u32::try_from(heard).ok());
    let (Some(heard), 1..) = (heard, round) else {
        return Err(line.odd(0, "a round from 1 on"));
    };
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == line.text(8));
    let leg = Leg::ALL.into_iter().find(|leg| leg.name() == line.text(10));
    let part = Part {
        client: client as u32,
        round: round as u32,
        outcome: outcome.ok_or_else(|| line.odd(8, "an outcome such as used or late"))?,
        leg: leg.ok_or_else(|| line.odd(10, "download, compute, upload or done"))?,
        tau: line.whole(2)?,
        at: line.whole(3)?,
        download: line.whole(4)?,
        compute: line.whole(5)?,
        upload: line.whole(6)?,
    };
    let times = [part.download, part.compute, part.upload];
    let end = times.iter().try_fold(part.at, |sum, time| sum.checked_add(*time));
    if end != Some(line.whole(7)?) {
        return Err(line.wrong("download, compute and upload do not lead to its arrival"));
    }
    if part.compute < part.tau {
        return Err(line.wrong(format!("{} steps in {} ns", part.tau, part.compute)));
    }
    Ok((part, heard))
}
