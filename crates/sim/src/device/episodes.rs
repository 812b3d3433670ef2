//! Two states that alternate at random: there and away, undisturbed and slowed down.

use crate::clock::{SimTime, Span};
use crate::random::{Dist, Purpose, stream};
use rand::RngExt;

/// Cycles among which a run begins: long periods are more likely to be met than short ones, and
/// this many make the difference to the true law of the first period small.
const CYCLES: usize = 16;

/// How long each of two states lasts, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternation {
    purpose: Purpose,
    off: Dist,
    on: Dist,
}

/// One period of an alternation. The next can always be drawn from it: nothing else is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Which of the two states.
    pub on: bool,
    /// When the other begins.
    pub until: SimTime,
    index: u32,
}

impl Alternation {
    /// An alternation whose draws are for `purpose`.
    pub fn new(purpose: Purpose, on: Dist, off: Dist) -> Self {
        Alternation { purpose, on, off }
    }

    /// How `client` finds it when the run begins: at a uniformly drawn moment of some cycles.
    pub fn first(&self, seed: u64, client: u64) -> Episode {
        let mut rng = stream(seed, self.purpose, client, 0);
        let mut periods = [0u64; 2 * CYCLES];
        for pair in periods.chunks_exact_mut(2) {
            pair[0] = nanos(self.on.sample(&mut rng));
            pair[1] = nanos(self.off.sample(&mut rng));
        }
        let whole: f64 = periods.iter().map(|period| *period as f64).sum();
        let mut at = rng.random::<f64>() * whole;
        for (i, period) in periods.iter().enumerate() {
            if at < *period as f64 {
                let left = ((*period as f64 - at) as u64).clamp(1, *period);
                return Episode { on: i % 2 == 0, until: SimTime::from_nanos(left), index: 0 };
            }
            at -= *period as f64;
        }
        Episode { on: false, until: SimTime::from_nanos(periods[2 * CYCLES - 1]), index: 0 }
    }

    /// The period after `episode`. One that would end after the clock does never ends.
    pub fn next(&self, seed: u64, client: u64, episode: Episode) -> Episode {
        let index = episode.index.wrapping_add(1);
        let law = if episode.on { &self.off } else { &self.on };
        let mut rng = stream(seed, self.purpose, client, u64::from(index));
        let length = Span::from_nanos(nanos(law.sample(&mut rng)));
        let until = episode.until.after(length).unwrap_or(SimTime::NEVER);
        Episode { on: !episode.on, until, index }
    }

    /// The period that covers `at`, from `episode` on.
    pub fn at(&self, seed: u64, client: u64, mut episode: Episode, at: SimTime) -> Episode {
        while episode.until <= at && episode.until < SimTime::NEVER {
            episode = self.next(seed, client, episode);
        }
        episode
    }
}

/// At least a nanosecond, so that time moves on, and less than the clock.
fn nanos(drawn: f64) -> u64 {
    drawn.clamp(1.0, 9e18) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Shape;

    fn alternation(on: Shape, off: Shape) -> Alternation {
        let dist = |shape| Dist { shape, plus: 0.0, min: None, max: None };
        Alternation::new(Purpose::Availability, dist(on), dist(off))
    }

    /// Part of the clients that are in the on state at `at`.
    fn part_on(law: &Alternation, at: u64) -> f64 {
        let n = 4000;
        let on = |client| {
            let first = law.first(1, client);
            law.at(1, client, first, SimTime::from_nanos(at)).on
        };
        (0..n).filter(|client| on(*client)).count() as f64 / n as f64
    }

    #[test]
    fn the_share_of_time_is_the_share_of_clients_at_any_instant() {
        let laws = [
            alternation(Shape::Exponential(20e9), Shape::Exponential(40e9)),
            alternation(Shape::Fixed(8e9), Shape::Fixed(16e9)),
            alternation(Shape::Uniform(0.0, 4e9), Shape::Lognormal { median: 3.5e9, sigma: 0.5 }),
        ];
        for law in &laws {
            for at in [0, 5_000_000_000, 100_000_000_000] {
                let part = part_on(law, at);
                assert!((part - 1.0 / 3.0).abs() < 0.035, "{law:?} at {at}: {part}");
            }
        }
    }

    #[test]
    fn fixed_periods_are_exact() {
        let law = alternation(Shape::Fixed(10.0), Shape::Fixed(5.0));
        let first = law.first(7, 3);
        let second = law.next(7, 3, first);
        let third = law.next(7, 3, second);
        let lengths = [second.until.since(first.until), third.until.since(second.until)];
        let expected = if first.on { [5, 10] } else { [10, 5] };
        assert_eq!(lengths.map(Span::nanos), expected);
        assert_eq!((second.on, third.on), (!first.on, first.on));
        assert_eq!(law.at(7, 3, first, second.until), third, "an end belongs to what follows");
    }

    #[test]
    fn what_never_ends_ends_the_drawing() {
        let law = alternation(Shape::Fixed(1e300), Shape::Fixed(1e300));
        let first = law.first(1, 1);
        let later = law.at(1, 1, first, SimTime::from_nanos(u64::MAX - 1));
        assert_eq!(later.until, SimTime::NEVER);
    }
}
