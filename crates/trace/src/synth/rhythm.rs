//! Days and nights: when a device is there.

use super::{DAY, SECOND};
use gruppetto_sim::random::{Dist, Stream};
use rand::RngExt;

/// A device that hangs on its charger at night and is free for short whiles by day. Durations are
/// in nanoseconds; recordings begin at midnight.
#[derive(Clone, Debug, PartialEq)]
pub struct Rhythm {
    /// When it is usually put on the charger, after midnight; drawn once per device.
    pub bedtime: Dist,
    /// How much earlier or later one night is.
    pub wobble: Dist,
    /// How long it hangs there; drawn for every night.
    pub asleep: Dist,
    /// The chance that a night goes like this at all.
    pub nights: f64,
    /// How long it is not free by day.
    pub every: Dist,
    /// How long it then is.
    pub lasting: Dist,
}

/// From one second to another; outside of the recording until it is wound up.
type Window = (i64, i64);

/// Whether a device is there, from which second on. A night that goes on when the recording ends
/// goes on where it begins: repeated, no night is cut in two.
pub(super) fn changes(rhythm: Option<&Rhythm>, length: u64, mut rng: Stream) -> Vec<(u64, bool)> {
    let Some(rhythm) = rhythm else {
        return vec![(0, true)];
    };
    let (mut windows, spare) = rhythm.nights(length, &mut rng);
    rhythm.add_days(&mut windows, length, &mut rng);
    // A device that is never there would be of no use in a trace.
    if windows.is_empty() {
        windows.extend(spare);
    }
    union(windows, length)
}

impl Rhythm {
    /// Nights on the charger, and one that was not to be.
    fn nights(&self, length: u64, rng: &mut Stream) -> (Vec<Window>, Option<Window>) {
        let seconds = |dist: &Dist, rng: &mut Stream| (dist.sample(rng) / SECOND) as i64;
        let habit = seconds(&self.bedtime, rng);
        let mut nights = Vec::new();
        let mut spare = None;
        for day in 0..length.div_ceil(DAY) {
            let from = (day * DAY) as i64 + habit + seconds(&self.wobble, rng);
            let night = (from, from + seconds(&self.asleep, rng).max(1));
            match rng.random::<f64>() < self.nights {
                true => nights.push(night),
                false => spare = Some(night),
            }
        }
        (nights, spare)
    }

    fn add_days(&self, windows: &mut Vec<Window>, length: u64, rng: &mut Stream) {
        // A second at least, so that any distribution comes to the end.
        let seconds = |dist: &Dist, rng: &mut Stream| ((dist.sample(rng) / SECOND) as i64).max(1);
        let mut at = seconds(&self.every, rng);
        while at < length as i64 {
            let until = at + seconds(&self.lasting, rng);
            windows.push((at, until));
            at = until + seconds(&self.every, rng);
        }
    }
}

/// Windows on a circle of `length` seconds, as changes.
fn union(windows: Vec<Window>, length: u64) -> Vec<(u64, bool)> {
    let length = length as i64;
    let mut parts = Vec::with_capacity(windows.len() + 1);
    for (from, until) in windows {
        let lasts = (until - from).min(length);
        let from = from.rem_euclid(length);
        parts.push((from, (from + lasts).min(length)));
        if from + lasts > length {
            parts.push((0, from + lasts - length));
        }
    }
    parts.sort_unstable();
    let mut changes: Vec<(u64, bool)> = Vec::new();
    let mut until = -1;
    for (from, to) in parts {
        if from > until {
            if until >= 0 {
                changes.push((until as u64, false));
            } else if from > 0 {
                changes.push((0, false));
            }
            changes.push((from as u64, true));
        }
        until = until.max(to);
    }
    if changes.is_empty() {
        changes.push((0, false));
    } else if until < length {
        changes.push((until as u64, false));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use gruppetto_sim::random::{Purpose, stream};

    const HOUR: f64 = 3600.0 * SECOND;

    #[test]
    fn windows_on_a_circle() {
        for (windows, changes) in [
            (vec![(2, 5), (4, 7)], vec![(0, false), (2, true), (7, false)]),
            (vec![(0, 3), (3, 4)], vec![(0, true), (4, false)]),
            (vec![(8, 12)], vec![(0, true), (2, false), (8, true)]),
            (
                vec![(-1, 1), (23, 24)],
                vec![(0, true), (1, false), (3, true), (4, false), (9, true)],
            ),
            (vec![(3, 99)], vec![(0, true)]),
            (vec![], vec![(0, false)]),
        ] {
            assert_eq!(union(windows.clone(), 10), changes, "{windows:?}");
        }
    }

    #[test]
    fn nights_are_whole_and_nobody_is_away_for_ever() {
        let rhythm = Rhythm {
            bedtime: Dist::fixed(23.0 * HOUR),
            wobble: Dist::fixed(0.0),
            asleep: Dist::fixed(8.0 * HOUR),
            nights: 1.0,
            every: Dist::fixed(1e3 * HOUR),
            lasting: Dist::fixed(HOUR),
        };
        let rng = || stream(1, Purpose::Synthesis, 0, 0);
        let two = [(0, true), (7, false), (23, true), (31, false), (47, true)];
        let two = two.map(|(hour, on)| (hour * 3600, on));
        assert_eq!(changes(Some(&rhythm), 2 * DAY, rng()), two);
        let never = Rhythm { nights: 0.0, ..rhythm };
        assert_eq!(changes(Some(&never), 2 * DAY, rng()).len(), 3, "one night all the same");
        assert_eq!(changes(None, DAY, rng()), [(0, true)]);
    }
}
