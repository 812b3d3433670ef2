//! What a device must be like for a client to go the way it went.
//!
//! A client decides by what it knows: it makes another step if, at the speed it has now, that step
//! and the upload would fit before it is due. So a trace has to say not only how long things took,
//! but also, where a client stopped, that another step would not have fitted.

use super::parts::Part;
use super::rates::{Rates, duration};
use crate::clock::{SimTime, Span};
use crate::device::{Device, Foreseen, Foresight, Payload, RoundTask, STEP};
use crate::record::{Leg, Outcome};

/// What a row of the trace says of the device, from its instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceCell {
    /// Nanoseconds of a step.
    Step(u64),
    /// Bits per second.
    Up(u64),
    /// Bits per second.
    Down(u64),
    /// Whether the device is available.
    There(bool),
    /// The work in progress is lost.
    Lost,
}

/// The conditions of a participation, which its row in `clients.csv` does not contain.
#[derive(Clone, Copy)]
pub(super) struct PartConditions<'a> {
    pub payload: Payload,
    /// The device that the scenario gave the client: its values hold where a row has none.
    pub nominal: &'a Device,
    /// When its update had to be at the server.
    pub due: Option<u64>,
    /// The steps it was to make; `None`: as many as fit.
    pub steps: Option<u64>,
}

/// The way that the replay takes: where it is when, in nanoseconds.
#[derive(Clone, Copy)]
struct Way {
    start: u64,
    downloaded: u64,
    computed: u64,
    arrives: u64,
    tau: u64,
}

impl PartConditions<'_> {
    /// Adds the cells of a participation to the trace, each with its instant.
    pub(super) fn add_cells(&self, part: &Part, cells: &mut Vec<(u64, TraceCell)>) {
        let [start, downloaded, computed] = [part.at, part.downloaded(), part.computed()];
        let way = Way { start, downloaded, computed, arrives: part.end(), tau: part.tau };
        // The instant after which it must still be on its way.
        let last = if part.is_lost() { lost_at(part) } else { part.end() };
        match part.leg {
            _ if part.tau > 0 => self.whole(way, cells),
            _ if part.outcome == Outcome::NoStep && part.leg != Leg::Download => {
                self.no_step(way, cells);
            }
            Leg::Download => {
                let nanos = self.nominal.download.nanos().max(last.saturating_add(1) - start);
                self.down(start, nanos, cells);
            }
            Leg::Compute => self.in_the_middle(way, last, cells),
            Leg::Upload | Leg::Done => {
                // How many steps it made, the row does not say. Any number will do, for they are
                // lost: as many as such a device makes in that time.
                let wanted = match (self.steps, self.due) {
                    (Some(steps), None) => steps,
                    (steps, _) => {
                        let usual = part.compute.div_ceil(self.nominal.step.nanos().max(1));
                        steps.map_or(usual, |steps| steps.min(usual))
                    }
                };
                let tau = wanted.clamp(1, part.compute.max(1));
                let upload = self.nominal.upload.nanos().max(last.saturating_add(1) - computed);
                let arrives = match part.leg {
                    // The run was over at the instant at which it came.
                    Leg::Done => way.arrives,
                    _ => computed.saturating_add(upload),
                };
                self.whole(Way { tau, arrives, ..way }, cells);
            }
        }
    }

    /// One that comes to its end after τ steps.
    fn whole(&self, way: Way, cells: &mut Vec<(u64, TraceCell)>) {
        let Way { start, downloaded, mut computed, arrives, tau } = way;
        let bits = self.payload.up;
        self.down(start, downloaded - start, cells);
        let mut upload = Rates::of(bits, arrives - computed);
        let mut known = upload.fastest();
        let stops_early = self.steps != Some(tau);
        let mut late = false;
        if let Some(due) = self.due
            && computed.saturating_add(duration(bits, known)) > due
        {
            // It came late, because things got worse than it knew when it decided.
            late = true;
            if computed >= due {
                let left = due.saturating_sub(downloaded);
                let step = left.saturating_sub(1) / tau;
                if step > 1 {
                    // Its last step began well, and then took longer.
                    let begun = downloaded + step * (tau - 1);
                    if arrives > computed {
                        known = Rates::of(bits, due - begun - step).fastest();
                    }
                    cells.push((start, TraceCell::Step(step)));
                    let rest = TraceCell::Step(slower(step, computed - begun - 1));
                    cells.push((begun + 1, rest));
                    cells.push((start, TraceCell::Up(known)));
                    self.up(computed, upload, cells);
                    return;
                }
                // There is no room for that: the upload took longer.
                let step = left.saturating_sub(1) / tau;
                let step = if step > 0 { step } else { (left / tau).max(1) };
                computed = downloaded.saturating_add(step.saturating_mul(tau));
                upload = Rates::of(bits, arrives.saturating_sub(computed));
            }
            let left = due.saturating_sub(computed);
            known = Rates::of(bits, left).fastest();
            if stops_early {
                cells.push((computed, TraceCell::Step(left.saturating_add(1))));
            }
        }
        cells.push((start, TraceCell::Up(known)));
        self.up(computed, upload, cells);
        let (step, longer) = ((computed - downloaded) / tau, (computed - downloaded) % tau);
        cells.push((start, TraceCell::Step(step)));
        if longer > 0 {
            cells.push((downloaded + step * (tau - longer), TraceCell::Step(step + 1)));
        }
        if let Some(due) = self.due.filter(|_| stops_early && !late) {
            let left = due.saturating_sub(computed.saturating_add(duration(bits, known)));
            if left >= step + u64::from(longer > 0) {
                // Another such step would fit: the one it would have made next did not.
                cells.push((computed, TraceCell::Step(left + 1)));
            }
        }
    }

    /// One that found that not even a step would fit.
    fn no_step(&self, way: Way, cells: &mut Vec<(u64, TraceCell)>) {
        self.down(way.start, way.downloaded - way.start, cells);
        let upload = self.usual_upload();
        cells.push((way.start, TraceCell::Up(upload)));
        let left = self.due.unwrap_or(0).saturating_sub(way.downloaded);
        let too_long = left.saturating_sub(duration(self.payload.up, upload)).saturating_add(1);
        cells.push((way.start, TraceCell::Step(self.nominal.step.nanos().max(too_long))));
    }

    /// One that is computing at the instant `last`, at which its row ends.
    fn in_the_middle(&self, way: Way, last: u64, cells: &mut Vec<(u64, TraceCell)>) {
        let Way { start, downloaded, .. } = way;
        let (usual, needed) = (self.nominal.step.nanos().max(1), last.saturating_add(1));
        let mut upload = self.usual_upload();
        let step = match self.due {
            None => usual.max((last - downloaded) / self.steps.unwrap_or(1).max(1) + 1),
            Some(due) => {
                let at = SimTime::from_nanos;
                let (steps, foresight) = (self.steps, Foresight::Exact);
                let trip = RoundTask { start: at(start), steps, due: Some(at(due)), foresight };
                let takes = Span::from_nanos(duration(self.payload.up, upload));
                let foreseen = Foreseen { step: Span::from_nanos(usual), upload: takes };
                let tau = trip.completes(0, at(downloaded), at(due), foreseen, foreseen);
                if downloaded.saturating_add(usual.saturating_mul(tau)) > last {
                    usual
                } else if needed <= due {
                    // One long step, after which there is time for an upload.
                    let left = due - needed;
                    if takes.nanos() > left {
                        upload = Rates::of(self.payload.up, left).fastest();
                    }
                    needed - downloaded
                } else {
                    // It was late already.
                    let arrives = needed.saturating_add(self.nominal.upload.nanos());
                    let way = Way { computed: needed, arrives, tau: 1, ..way };
                    return self.whole(way, cells);
                }
            }
        };
        self.down(start, downloaded - start, cells);
        cells.push((start, TraceCell::Up(upload)));
        cells.push((start, TraceCell::Step(step)));
    }

    /// A download that takes so long, from `start` on.
    fn down(&self, start: u64, nanos: u64, cells: &mut Vec<(u64, TraceCell)>) {
        let rates = Rates::of(self.payload.down, nanos);
        cells.push((start, TraceCell::Down(rates.first)));
        cells
            .extend(rates.then.map(|(at, rate)| (start.saturating_add(at), TraceCell::Down(rate))));
    }

    /// An upload from `start` on.
    fn up(&self, start: u64, rates: Rates, cells: &mut Vec<(u64, TraceCell)>) {
        cells.push((start, TraceCell::Up(rates.first)));
        cells.extend(rates.then.map(|(at, rate)| (start.saturating_add(at), TraceCell::Up(rate))));
    }

    /// The downlink of the device that the scenario gave the client, latency included.
    pub(super) fn usual_download(&self) -> u64 {
        Rates::of(self.payload.down, self.nominal.download.nanos()).fastest()
    }

    /// The uplink of the device that the scenario gave the client, latency included.
    pub(super) fn usual_upload(&self) -> u64 {
        Rates::of(self.payload.up, self.nominal.upload.nanos()).fastest()
    }
}

/// How long a step takes of which, after a nanosecond at the rate of a step of length `before`, the
/// rest takes `rest`.
fn slower(before: u64, rest: u64) -> u64 {
    let left = STEP - STEP.div_ceil(u128::from(before));
    u64::try_from(u128::from(rest) * STEP / left).unwrap_or(u64::MAX)
}

/// The instant at which somebody is lost in the replay: who is lost at once, a nanosecond later, for
/// a loss concerns those who set out before it.
pub(super) fn lost_at(part: &Part) -> u64 {
    part.end().max(part.at.saturating_add(1))
}
