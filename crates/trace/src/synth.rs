//! Devices that nobody recorded: made up from a [`Mixture`], the same ones for the same seed.
//!
//! A mixture is plain data: tiers of devices, each with distributions for what a device is like
//! and processes for what becomes of it over time.
//!
//! ```text
//!   Tier: compute, place, up, down ──one draw each──► a device
//!           load    ──► compute over time ─┐
//!           air     ──► links over time    ├──► Recording, with an end: it can repeat
//!           outage  ──► no links at all    │
//!           rhythm  ──► available or not ──┘
//! ```
//!
//! Every device has streams of its own, so a trace of a hundred devices is the beginning of one of
//! a million, and only one device is in memory at a time.

mod link;
mod load;
mod mixtures;
mod rhythm;

pub use link::{Air, Crowd, Outage};
pub use load::Load;
pub use rhythm::Rhythm;

use super::{Change, Columns, Compute, ComputeColumn, Recording};
use gruppetto_sim::clock::Span;
use gruppetto_sim::random::{Dist, Purpose, Stream, stream};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;
/// Seconds in a day.
const DAY: u64 = 86_400;

/// What devices are made up from.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub about: &'static str,
    /// How long a recording is unless told otherwise.
    pub length: Span,
    /// What the draws of [`Tier::compute`] are.
    pub compute: ComputeColumn,
    /// Kinds of devices, one or more.
    pub tiers: Vec<Tier>,
}

/// Devices of one kind. Times are in nanoseconds, rates in bits per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Tier {
    /// Devices are called by it: `flagship-0001`.
    pub name: String,
    /// The part of all devices, in proportion to the shares of the others.
    pub share: f64,
    /// Time of a step or a sample, or floating-point operations per second; drawn once per device.
    pub compute: Dist,
    /// How good the place of a device is for both its links: a factor, drawn once per device.
    pub place: Dist,
    /// From client to server; drawn once per device.
    pub up: Dist,
    /// From server to client; drawn once per device.
    pub down: Dist,
    /// Other work, which slows the device down at times.
    pub load: Option<Load>,
    /// How links vary.
    pub air: Option<Air>,
    /// When there is no network.
    pub outage: Option<Outage>,
    /// When devices are there; always, without.
    pub rhythm: Option<Rhythm>,
}

/// What a stream of a device is for. The numbers belong to the bytes of every seed.
#[derive(Clone, Copy)]
enum Aspect {
    Constants = 0,
    Load = 1,
    Links = 2,
    Rhythm = 3,
}

impl Mixture {
    /// The columns of its traces.
    pub fn columns(&self) -> Columns {
        let available = self.is_daily();
        Columns { compute: Some(self.compute), up: true, down: true, available }
    }

    /// Whether recordings have a daily rhythm, and so must last whole days.
    pub fn is_daily(&self) -> bool {
        self.tiers.iter().any(|tier| tier.rhythm.is_some())
    }

    /// All devices there could ever be, one after the other, each recorded for `length` (whole
    /// seconds; for a daily mixture whole days). Tiers alternate, so that any beginning has each
    /// of them by its share.
    pub fn devices(&self, seed: u64, length: Span) -> impl Iterator<Item = Recording> + '_ {
        let total: f64 = self.tiers.iter().map(|tier| tier.share).sum();
        let mut counts = vec![0u64; self.tiers.len()];
        (0u64..).map(move |index| {
            // Whoever is furthest behind its share; the first of those that are.
            let behind = |tier: usize| {
                self.tiers[tier].share / total * (index + 1) as f64 - counts[tier] as f64
            };
            let most = (1..counts.len())
                .fold(0, |best, tier| if behind(tier) > behind(best) { tier } else { best });
            counts[most] += 1;
            let tier = &self.tiers[most];
            let device = format!("{}-{:04}", tier.name, counts[most]);
            let draw = |aspect: Aspect| stream(seed, Purpose::Synthesis, index, aspect as u64);
            let changes = self.changes(tier, length.nanos() as f64 / SECOND, draw);
            Recording { device, changes, end: Some(length) }
        })
    }

    /// What happens to a device of `tier` in so many seconds.
    fn changes(&self, tier: &Tier, length: f64, draw: impl Fn(Aspect) -> Stream) -> Vec<Change> {
        let mut rng = draw(Aspect::Constants);
        let compute = tier.compute.sample(&mut rng);
        let place = tier.place.sample(&mut rng);
        let (up, down) = (place * tier.up.sample(&mut rng), place * tier.down.sample(&mut rng));
        let told = |value: f64| match self.compute {
            ComputeColumn::Step => Compute::Step(rounded(value)),
            ComputeColumn::Sample => Compute::Sample(rounded(value)),
            ComputeColumn::Speed => Compute::Flops(rounded(value)),
        };
        let mut changes = Vec::new();
        let at = |seconds: u64| Span::from_nanos(seconds.saturating_mul(1_000_000_000));
        for (seconds, slower) in load::factors(tier.load.as_ref(), length, draw(Aspect::Load)) {
            let value = match self.compute {
                ComputeColumn::Speed => compute / slower,
                ComputeColumn::Step | ComputeColumn::Sample => compute * slower,
            };
            changes.push(Change {
                at: at(seconds),
                compute: Some(told(value)),
                ..Change::default()
            });
        }
        for (seconds, part) in link::factors(tier, length, draw(Aspect::Links)) {
            let (up, down) = (Some(rounded(up * part)), Some(rounded(down * part)));
            changes.push(Change { at: at(seconds), up, down, ..Change::default() });
        }
        if self.is_daily() {
            for (seconds, on) in
                rhythm::changes(tier.rhythm.as_ref(), length as u64, draw(Aspect::Rhythm))
            {
                changes.push(Change { at: at(seconds), available: Some(on), ..Change::default() });
            }
        }
        joined(changes)
    }
}

/// Puts changes in order and makes one of those of an instant.
fn joined(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by_key(|change| change.at);
    changes.dedup_by(|later, kept| {
        let same = later.at == kept.at;
        if same {
            kept.compute = later.compute.or(kept.compute);
            kept.up = later.up.or(kept.up);
            kept.down = later.down.or(kept.down);
            kept.available = later.available.or(kept.available);
        }
        same
    });
    changes
}

/// Adds a change at a whole second: one that comes within a second of the last takes its place,
/// and one that changes nothing is none.
fn put<T: PartialEq>(changes: &mut Vec<(u64, T)>, seconds: f64, value: T) {
    let at = seconds as u64;
    if changes.last().is_some_and(|(last, _)| *last >= at) {
        changes.pop();
    }
    if changes.last().is_none_or(|(_, last)| *last != value) {
        changes.push((at, value));
    }
}

/// To three digits: what is made up is not known better, and files are smaller. It also hides the
/// last bit of `exp`, which is not the same on every machine.
fn rounded(value: f64) -> f64 {
    const DIGITS: i32 = 3;
    // Nothing here is below a nanosecond, a bit or an operation per second, but 0.
    if value < 1.0 {
        return value.round();
    }
    let power = value.log10().floor() as i32 - (DIGITS - 1);
    // Whole numbers and powers of ten are exact: one rounding, to the double of the decimal.
    let scale = 10f64.powi(power.abs());
    match power < 0 {
        true => (value * scale).round() / scale,
        false => (value / scale).round() * scale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept() {
        for (value, kept) in [
            (0.0, 0.0),
            (1.2345, 1.23),
            (9.996, 10.0),
            (123_456.0, 123_000.0),
            (999_600.0, 1e6),
            (2.675e9, 2.68e9),
            (1e21, 1e21),
        ] {
            assert_eq!(rounded(value), kept);
        }
    }

    #[test]
    fn changes_of_one_instant_are_one() {
        let at = |seconds| Change { at: Span::from_nanos(seconds), ..Change::default() };
        let all = joined(vec![
            Change { compute: Some(Compute::Step(5.0)), ..at(0) },
            Change { up: Some(1.0), ..at(0) },
            Change { up: Some(2.0), ..at(9) },
            Change { available: Some(true), ..at(0) },
            Change { available: Some(false), ..at(4) },
        ]);
        assert_eq!(all.len(), 3);
        assert_eq!((all[0].up, all[0].available), (Some(1.0), Some(true)));
        assert_eq!((all[1].at.nanos(), all[2].up), (4, Some(2.0)));
        let mut seconds = vec![(0, 1)];
        for (at, value) in [(0.5, 2), (7.2, 2), (8.0, 3), (8.9, 2), (9.0, 4)] {
            put(&mut seconds, at, value);
        }
        assert_eq!(seconds, [(0, 2), (9, 4)]);
    }

    #[test]
    fn tiers_come_by_their_shares() {
        let mixture = Mixture::named("phones").unwrap();
        let names = |n| mixture.devices(1, mixture.length).take(n).map(|device| device.device);
        let of = |n, tier: &str| names(n).filter(|name| name.starts_with(tier)).count();
        assert_eq!((of(100, "flagship-"), of(100, "midrange-"), of(100, "budget-")), (20, 45, 35));
        assert_eq!((of(10, "flagship-"), of(10, "budget-")), (2, 3));
    }
}
