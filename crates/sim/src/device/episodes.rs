//! Two states that alternate at random: there and away, undisturbed and slowed down.

use crate::clock::{SimTime, Span};
use crate::random::{Dist, Purpose, Shape, TimeLeft, stream};
use rand::RngExt;

/// No period is shorter than a nanosecond, so that time moves on, or as long as the clock.
const BOUNDS: (f64, f64) = (1.0, 9e18);

/// How long each of two states lasts, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternation {
    purpose: Purpose,
    on: Dist,
    off: Dist,
    /// What is left of a period in each state at a random moment.
    left: Box<[TimeLeft; 2]>,
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
        let left = [&on, &off].map(|dist| TimeLeft::new(dist, BOUNDS.0, BOUNDS.1));
        Alternation { purpose, on, off, left: Box::new(left) }
    }

    /// How `client` finds it when the run begins, as if it had gone on for ever: in either state for as
    /// large a part of the clients as of the time.
    pub fn first(&self, seed: u64, client: u64) -> Episode {
        let mut rng = stream(seed, self.purpose, client, 0);
        let [on, off] = &*self.left;
        let is_on = rng.random::<f64>() * (on.mean() + off.mean()) < on.mean();
        let left = if is_on { on } else { off }.sample(&mut rng);
        Episode { on: is_on, until: SimTime::from_nanos(nanos(left.ceil())), index: 0 }
    }

    /// The part of the time that is on.
    pub fn part_on(&self) -> f64 {
        self.left[0].mean() / self.mean_cycle()
    }

    /// How long both states last together, on average, in nanoseconds.
    pub fn mean_cycle(&self) -> f64 {
        self.left[0].mean() + self.left[1].mean()
    }

    /// How long both states last together, in nanoseconds, if that is always the same.
    pub fn fixed_cycle(&self) -> Option<u64> {
        let [on, off] = [&self.on, &self.off].map(|dist| match dist.shape {
            Shape::Fixed(value) => Some(nanos(dist.bounded(value))),
            _ => None,
        });
        on?.checked_add(off?)
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

fn nanos(drawn: f64) -> u64 {
    drawn.clamp(BOUNDS.0, BOUNDS.1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Off periods that are rarely very long: a long time must pass before their share of the time
    /// shows, but a run begins with it.
    #[test]
    fn rare_long_periods_count_from_the_start() {
        let median = 10e9;
        let off = Shape::Lognormal { median, sigma: 2.0 };
        let law = alternation(Shape::Fixed(median * 2f64.exp()), off);
        let n = 40_000;
        let on = (0..n).filter(|client| law.first(1, *client).on).count() as f64 / n as f64;
        assert!((on - 0.5).abs() < 0.01, "{on}");
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
