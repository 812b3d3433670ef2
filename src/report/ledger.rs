//! Listens to one run.

mod summary;
mod used;

use super::files::Files;
use super::findings::{ByClass, Classes, Gathering, RunFindings};
use super::recorded::recorded;
use super::row_file::{FileError, TableFile};
use crate::clock::SimTime;
use crate::device::{AvailabilityChange, Payload};
use crate::metric::{Gradients, Metric, Metrics};
use crate::observer::{Observer, ObserverError, RunEnd};
use crate::policy::Target;
use crate::record::{Account, ClientRow, Leg, Outcome, RoundRow};
use crate::run_files::{CellId, RunKey, TargetReached, Waited, WeightedRow};
use crate::scenario::RecordClients;
use crate::theory::{Consistency, GradientSpread};
use crate::train::Measured;
use std::path::Path;
use used::Used;
use xxhash_rust::xxh3::Xxh3;

/// An update that arrived in the round that is still open.
struct OpenRoundUpdate {
    /// The index of its class in the report.
    class: usize,
    tau: u64,
    staleness: u64,
    compute: u64,
}

/// What is known of a run so far.
pub struct Ledger {
    cell: CellId,
    key: RunKey,
    /// What travels to a client and back, in bytes.
    payload: Payload,
    classes: Vec<String>,
    /// Which clients get rows; `None`: all.
    recorded: Option<Vec<bool>>,
    files: Option<Files>,
    /// Rows that wait for the end of their round, which gives them their weight.
    waiting: Vec<ClientRow>,
    /// The newest row of `rounds.csv`, while something in it is not measured: if the run ends before
    /// another round closes, it is.
    newest: Option<RoundRow>,
    target: Option<(Target, TargetReached)>,
    told_apart: Classes,
    by_class: Vec<ByClass>,
    gathering: Option<Gathering>,
    accounts: Vec<Account>,
    waited: Waited,
    used: Used,
    /// Updates of the open round: used once it closes, unfinished if it never does.
    open: Vec<OpenRoundUpdate>,
    local_steps: u64,
    /// Downloads and uploads that came to their end.
    travelled: [u64; 2],
    rounds: u64,
    now: SimTime,
    start: Metrics,
    metrics: Metrics,
    best: Metrics,
    gradients: Option<Gradients>,
    spread: GradientSpread,
    consistency: Consistency,
    digest: Xxh3,
}

impl Ledger {
    /// A ledger for the run of a cell, in which so many bits travel. Rows of the clients in `record` go to
    /// `files`; the chosen set depends on `record_seed`, the scenario's.
    pub fn new(
        cell: CellId,
        payload: Payload,
        (classes, sizes): (Vec<String>, &[u64]),
        target: Option<Target>,
        (record, record_seed): (RecordClients, u64),
        files: Option<Files>,
    ) -> Self {
        let clients = sizes.iter().sum::<u64>() as usize;
        let told_apart = Classes::new(&classes, sizes);
        let none = TargetReached { reached: false, rounds: None, virtual_seconds: None };
        Ledger {
            key: RunKey::new(&cell),
            cell,
            payload: Payload { down: payload.down.div_ceil(8), up: payload.up.div_ceil(8) },
            travelled: [0; 2],
            classes,
            recorded: recorded(record, record_seed, clients),
            files,
            waiting: Vec::new(),
            newest: None,
            target: target.map(|target| (target, none)),
            by_class: vec![ByClass::default(); told_apart.len()],
            told_apart,
            gathering: None,
            accounts: Vec::new(),
            waited: Waited::default(),
            used: Used::NONE,
            open: Vec::new(),
            local_steps: 0,
            rounds: 0,
            now: SimTime::ZERO,
            start: Metrics::default(),
            metrics: Metrics::default(),
            best: Metrics::default(),
            gradients: None,
            spread: GradientSpread::default(),
            consistency: Consistency { chi2: 0.0, missing_mass: 1.0 },
            digest: Xxh3::new(),
        }
    }

    /// Somebody will want to look at the run.
    pub fn gather(&mut self, gathering: Gathering) {
        self.gathering = Some(gathering);
    }

    fn note_metrics(&mut self, now: SimTime, Measured { metrics, gradients }: &Measured) {
        if let Some(gradients) = gradients {
            self.gradients = Some(*gradients);
            self.spread.add(gradients.of_surrogate, gradients.mean_square);
        }
        if let Some(gathering) = &mut self.gathering {
            gathering.measured(self.rounds, now, metrics);
        }
        self.metrics = *metrics;
        self.best.keep_best(metrics);
        for (_, value) in metrics.iter() {
            self.digest.update(&value.to_bits().to_le_bytes());
        }
        if let Some((target, reached)) = &mut self.target
            && !reached.reached
            && metrics.get(target.metric).is_some_and(|value| target.bound.met(value))
        {
            let (rounds, seconds) = (Some(self.rounds), Some(now.seconds()));
            *reached = TargetReached { reached: true, rounds, virtual_seconds: seconds };
        }
    }

    /// The open round will not close: its updates were for nothing.
    fn give_up_open(&mut self) {
        for OpenRoundUpdate { class, compute, .. } in self.open.drain(..) {
            self.by_class[class].unfinished(compute);
        }
    }

    /// Goes on with the files at the top of the run's folder instead of those in the cell's own, if the cell has not
    /// ended: then it gives the files back.
    pub fn move_to(&mut self, mut top: Files, cell: &Path) -> Result<Option<Files>, FileError> {
        let Some(own) = self.files.take() else { return Ok(Some(top)) };
        top.take_over(cell, own)?;
        self.files = Some(top);
        Ok(None)
    }

    /// Gives the files back, with everything in them that is known; rows of a round that never
    /// closed have no weight and were not used.
    pub fn take_files(&mut self) -> Result<Option<Files>, FileError> {
        self.give_up_open();
        for row in self.waiting.iter_mut().filter(|row| row.outcome == Outcome::Used) {
            row.outcome = Outcome::Unfinished;
        }
        self.write_waiting(0.0)?;
        self.write_newest()?;
        if let Some(files) = &mut self.files {
            files.rounds.flush()?;
            files.clients.as_mut().map_or(Ok(()), TableFile::flush)?;
        }
        Ok(self.files.take())
    }

    /// The run as it can be drawn, if somebody wanted that.
    pub fn findings(&self) -> Option<RunFindings> {
        let (name, classes) = ((self.cell.name.as_str(), self.cell.seed), &self.told_apart);
        let gathering = self.gathering.as_ref()?;
        Some(gathering.findings(name, self.now, classes, &self.by_class, &self.accounts))
    }

    fn digest_row(&mut self, row: &ClientRow) {
        let mut bytes = [0u8; 64];
        let parts = [
            row.round,
            u64::from(row.client) << 8 | row.outcome as u64,
            row.tau,
            row.dispatched.nanos(),
            row.download.nanos(),
            row.compute.nanos(),
            row.arrived.nanos(),
            row.raw_weight.to_bits(),
        ];
        for (into, part) in bytes.chunks_exact_mut(8).zip(parts) {
            into.copy_from_slice(&part.to_le_bytes());
        }
        self.digest.update(&bytes);
    }

    /// Whether the model of a row would have more to tell than the row says, if the run ended with it.
    fn is_incomplete(&self, row: &RoundRow) -> bool {
        let compared = self.start.get(Metric::GradNorm).is_some();
        let trains = self.start.iter().next().is_some();
        trains && (row.metrics.is_none() || (compared && row.gradients.is_none()))
    }

    fn write_newest(&mut self) -> Result<(), FileError> {
        match (self.newest.take(), &mut self.files) {
            (Some(row), Some(files)) => files.rounds.add(&self.key, &row),
            _ => Ok(()),
        }
    }

    /// Writes the rows that wait, in the order of arrival.
    fn write_waiting(&mut self, weight_scale: f64) -> Result<(), FileError> {
        self.write_first(self.waiting.len(), weight_scale)
    }

    /// Rows of updates that were not used weigh nothing, so those before the first that was used need not wait for
    /// the end of a round, which may never come.
    fn write_unused(&mut self) -> Result<(), FileError> {
        let used = self.waiting.iter().position(|row| row.outcome == Outcome::Used);
        self.write_first(used.unwrap_or(self.waiting.len()), 0.0)
    }

    fn write_first(&mut self, count: usize, weight_scale: f64) -> Result<(), FileError> {
        let clients = self.files.as_mut().and_then(|files| files.clients.as_mut());
        if let Some(clients) = clients.filter(|_| count > 0) {
            for row in self.waiting.drain(..count) {
                let class = &self.classes[usize::from(row.class)];
                let weight = row.raw_weight * weight_scale;
                clients.add(&self.key, &WeightedRow { row: &row, class, weight })?;
            }
            clients.tick()?;
        }
        Ok(())
    }
}

impl Observer for Ledger {
    fn started(&mut self, metrics: &Metrics) -> Result<(), ObserverError> {
        if let Some(gathering) = &mut self.gathering {
            gathering.measured(0, SimTime::ZERO, metrics);
        }
        self.start = *metrics;
        self.metrics = *metrics;
        Ok(())
    }

    fn availability(&mut self, changes: &[AvailabilityChange]) -> Result<(), ObserverError> {
        if let Some(timeline) = self.files.as_mut().and_then(|files| files.timeline.as_mut()) {
            changes.iter().for_each(|change| timeline.availability_changed(change));
        }
        Ok(())
    }

    fn arrived(&mut self, rows: &[ClientRow]) -> Result<(), ObserverError> {
        if let Some(gathering) = &mut self.gathering {
            gathering.arrived(rows);
        }
        if let Some(timeline) = self.files.as_mut().and_then(|files| files.timeline.as_mut()) {
            rows.iter().for_each(|row| timeline.arrived(row));
        }
        for row in rows {
            self.digest_row(row);
            let class = self.told_apart.place(row.class);
            self.by_class[class].arrived(row);
            if row.outcome != Outcome::Unfinished {
                self.local_steps += row.tau;
            }
            self.travelled[0] += u64::from(row.leg > Leg::Download);
            // A client that made no step has nothing to send.
            self.travelled[1] += u64::from(row.leg == Leg::Done && row.tau > 0);
            if row.outcome == Outcome::Used {
                let (tau, staleness, compute) = (row.tau, row.staleness, row.compute.nanos());
                self.open.push(OpenRoundUpdate { class, tau, staleness, compute });
            }
        }
        let files = self.files.as_ref().and_then(|files| files.clients.as_ref());
        match (&self.recorded, files) {
            (_, None) => {}
            (None, _) => self.waiting.extend_from_slice(rows),
            (Some(chosen), _) => {
                self.waiting.extend(rows.iter().filter(|row| chosen[row.client as usize]));
            }
        }
        Ok(self.write_unused()?)
    }

    fn closed(&mut self, row: &RoundRow) -> Result<(), ObserverError> {
        self.rounds = row.round;
        self.waited.add(row.waited);
        for OpenRoundUpdate { class, tau, staleness, compute } in self.open.drain(..) {
            self.by_class[class].used(tau, staleness);
            self.used.add(Used { count: 1, tau: [tau; 3], compute: compute.into() });
        }
        if let Some(gathering) = &mut self.gathering {
            gathering.closed(row);
        }
        self.consistency = Consistency { chi2: row.chi2, missing_mass: row.missing_mass };
        for bits in [row.round, row.closed.nanos(), row.arrived as u64, row.tau_eff.to_bits()] {
            self.digest.update(&bits.to_le_bytes());
        }
        if let Some(metrics) = row.metrics {
            self.note_metrics(row.closed, &Measured { metrics, gradients: row.gradients });
        }
        self.now = row.closed;
        self.write_waiting(row.weight_scale)?;
        self.write_newest()?;
        let incomplete = self.is_incomplete(row);
        let Some(files) = &mut self.files else { return Ok(()) };
        if let Some(timeline) = &mut files.timeline {
            timeline.closed(row);
            timeline.tick()?;
        }
        if incomplete {
            self.newest = Some(row.clone());
        } else {
            files.rounds.add(&self.key, row)?;
        }
        Ok(files.rounds.tick()?)
    }

    fn measured(&mut self, now: SimTime, measured: &Measured) -> Result<(), ObserverError> {
        self.note_metrics(now, measured);
        // Nothing has moved the model since its row.
        if let Some(row) = &mut self.newest {
            row.metrics.get_or_insert(measured.metrics);
            row.gradients = row.gradients.or(measured.gradients);
        }
        Ok(())
    }

    fn idle(&mut self) -> Result<(), ObserverError> {
        let Some(files) = &mut self.files else { return Ok(()) };
        if let Some(clients) = &mut files.clients {
            clients.tick()?;
        }
        if let Some(timeline) = &mut files.timeline {
            timeline.tick()?;
        }
        Ok(files.rounds.tick()?)
    }

    fn ended(&mut self, end: &RunEnd) -> Result<(), ObserverError> {
        self.now = end.now;
        if let Some(timeline) = self.files.as_mut().and_then(|files| files.timeline.as_mut()) {
            timeline.ended(end.now);
        }
        self.accounts = end.accounts.clone();
        self.consistency = end.consistency;
        if let Some(gathering) = &mut self.gathering {
            gathering.ended(end.weights.clone());
        }
        self.give_up_open();
        Ok(())
    }
}
