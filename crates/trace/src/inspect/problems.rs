//! What looks wrong in a trace, how often, and where first.

use super::Aspect;
use crate::reader::Names;
use crate::{Change, Compute, Recording};
use serde::Serialize;

/// Something that looks wrong.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    /// What.
    pub what: &'static str,
    /// How often.
    pub count: u64,
    /// Where first.
    pub first: String,
}

/// Kinds of problems, in the order they are told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    Malformed,
    Order,
    Duplicate,
    NeverAvailable,
    Unknown,
    NoConnection,
    AbsurdCompute,
    AbsurdRate,
    AbsurdTime,
}

const TEXTS: [(Doubt, &str); 9] = [
    (Doubt::Malformed, "rows that cannot be read"),
    (Doubt::Order, "rows out of order, twice at one instant or after the end"),
    (Doubt::Duplicate, "devices that come again after others"),
    (Doubt::NeverAvailable, "devices that are never available"),
    (Doubt::Unknown, "devices of which a column tells nothing"),
    (Doubt::NoConnection, "devices whose link stays at 0"),
    (Doubt::AbsurdCompute, "compute speeds no device has"),
    (Doubt::AbsurdRate, "links no device has: below 100 bit/s or above 100 Gbit/s"),
    (Doubt::AbsurdTime, "rows later than ten years"),
];

/// Collects problems.
#[derive(Default)]
pub(super) struct Problems {
    found: [(u64, String); TEXTS.len()],
    names: Names,
}

impl Problems {
    /// One more; `place` is asked for the first of its kind.
    pub(super) fn note(&mut self, doubt: Doubt, place: impl FnOnce() -> String) {
        let (count, first) = &mut self.found[doubt as usize];
        if *count == 0 {
            *first = place();
        }
        *count += 1;
    }

    /// A device begins.
    pub(super) fn meet(&mut self, device: &str, line: u64) {
        if !self.names.is_new(device) {
            self.note(Doubt::Duplicate, || format!("line {line}, device `{device}`"));
        }
    }

    /// Looks at the numbers of a row.
    pub(super) fn judge(&mut self, change: &Change, line: u64) {
        let place = || format!("line {line}");
        let compute = change.compute.is_none_or(|compute| match compute {
            // From a microsecond to a day for a step, and a thousandth of it for a sample.
            Compute::Step(nanos) => (1e3..=86_400e9).contains(&nanos),
            Compute::Sample(nanos) => (1.0..=86_400e9).contains(&nanos),
            Compute::Flops(flops) => (1e5..=1e18).contains(&flops),
        });
        if !compute {
            self.note(Doubt::AbsurdCompute, place);
        }
        let links = || [change.up, change.down].into_iter().flatten();
        if links().any(|rate| rate > 0.0 && !(1e2..=1e11).contains(&rate)) {
            self.note(Doubt::AbsurdRate, place);
        }
        if change.at.seconds() > 10.0 * 365.0 * 86_400.0 {
            self.note(Doubt::AbsurdTime, place);
        }
    }

    /// Looks at the links of a device. One that is 0 for a while is an outage; one that is 0 for
    /// good, or at the end of a recording that does not say when it ended, never comes back.
    pub(super) fn judge_links(&mut self, recording: &Recording) {
        let links: [fn(&Change) -> Option<f64>; 2] = [|change| change.up, |change| change.down];
        let is_gone = |link: fn(&Change) -> Option<f64>| {
            let mut told = recording.changes.iter().rev().filter_map(link);
            let last = told.next();
            last == Some(0.0) && (recording.end.is_none() || told.all(|rate| rate == 0.0))
        };
        if links.into_iter().any(is_gone) {
            self.note(Doubt::NoConnection, || format!("device `{}`", recording.device));
        }
    }

    /// Columns that are empty for some devices.
    pub(super) fn check_known(&mut self, devices: u64, aspects: &[Aspect]) {
        for aspect in aspects.iter().filter(|aspect| aspect.devices < devices) {
            let told = format!("`{}` is told of {} of {devices}", aspect.name, aspect.devices);
            self.note(Doubt::Unknown, || told);
            self.found[Doubt::Unknown as usize].0 += devices - aspect.devices - 1;
        }
    }

    /// What was found.
    pub(super) fn list(&self) -> Vec<Problem> {
        let found = |(doubt, what): &(Doubt, &'static str)| {
            let (count, first) = &self.found[*doubt as usize];
            (*count > 0).then(|| Problem { what, count: *count, first: first.clone() })
        };
        TEXTS.iter().filter_map(found).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gruppetto_sim::clock::Span;

    #[test]
    fn texts_are_in_the_order_of_their_kinds() {
        assert!(TEXTS.iter().enumerate().all(|(index, (doubt, _))| *doubt as usize == index));
    }

    #[test]
    fn a_link_that_comes_back_is_no_problem() {
        let rates = |rates: &[f64], end: Option<u64>| {
            let change = |(at, up): (usize, &f64)| Change {
                at: Span::from_nanos(at as u64),
                up: Some(*up),
                ..Change::default()
            };
            let changes = rates.iter().enumerate().map(change).collect();
            let mut problems = Problems::default();
            let end = end.map(Span::from_nanos);
            problems.judge_links(&Recording { device: "a".into(), changes, end });
            problems.list().len()
        };
        assert_eq!((rates(&[1.0, 0.0, 1.0], None), rates(&[1.0, 0.0], Some(9))), (0, 0));
        assert_eq!((rates(&[1.0, 0.0], None), rates(&[0.0, 0.0], Some(9))), (1, 1));
        assert_eq!(rates(&[], Some(9)), 0);
    }

    #[test]
    fn absurd_numbers_are_told() {
        let mut problems = Problems::default();
        let up = |rate| Change { up: Some(rate), ..Change::default() };
        for (line, rate) in [1e6, 0.0, 1e12, 0.0].into_iter().enumerate() {
            problems.judge(&up(rate), line as u64);
        }
        let compute = Some(Compute::Step(1e-3));
        problems.judge(&Change { compute, ..Change::default() }, 9);
        let told: Vec<_> = problems.list().iter().map(|p| (p.count, p.first.clone())).collect();
        let told: Vec<_> = told.iter().map(|(count, first)| (*count, first.as_str())).collect();
        assert_eq!(told, [(1, "line 9"), (1, "line 2")]);
    }
}
