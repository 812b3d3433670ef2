//! Whether enough clients will ever be there together, as far as that can be known.
//!
//! Periods of fixed lengths and recordings that repeat come back to where they were: after the least
//! common multiple of all their periods everything happens again, so one look at that long a time
//! decides. That multiple may be longer than the clock. Then clients of equal periods are looked at
//! together, each group for one period: more than the sum of what the groups have at most are never there.
//!
//! Random periods never repeat. There the expected number of instants at which enough are
//! there is bounded from above (Chernoff), for all the time that the clock has left: where it is next to
//! nothing, the server need not look. So it is for groups of other periods each, for as far as the clock goes one
//! group is found at any phase of another: within a group the bound counts what really happens in its period.

use super::{ClientState, Coming, Cursor, Presence};
use crate::clock::{SimTime, Span};
use std::collections::BTreeMap;

/// If enough clients are expected to be there less often than this in all the time there is, they
/// will not be.
const NEVER: f64 = 1e-9;

/// Comings and goings in one period of all clients that are looked at for a bound.
const MOST_CHANGES: usize = 8_000_000;

impl Presence {
    /// After how long everything happens again, if it does: every client comes and goes by fixed periods,
    /// and no absence ends. Those that are still to begin only take clients away.
    pub fn repeats_after(&self) -> Option<Span> {
        if self.awaits_an_end() {
            return None;
        }
        let mut all = 1u64;
        for state in self.clients.iter().filter(|state| state.gone == 0) {
            if state.cursor.until() == SimTime::NEVER {
                continue;
            }
            // A recording that has an end comes to it.
            let period = self.period(state)?;
            all = (all / gcd(all, period)).checked_mul(period)?;
        }
        Some(Span::from_nanos(all))
    }

    /// The fixed period by which a client comes and goes, if it does.
    fn period(&self, state: &ClientState) -> Option<u64> {
        match (&self.laws[usize::from(state.class)], state.cursor) {
            (Coming::OnOff(law), _) => law.fixed_cycle(),
            (_, Cursor::Recorded { trace_cursor, .. }) => {
                Some(trace_cursor.period).filter(|period| *period > 0)
            }
            _ => None,
        }
    }

    fn is_random(&self, state: &ClientState) -> bool {
        match &self.laws[usize::from(state.class)] {
            Coming::OnOff(law) => law.fixed_cycle().is_none(),
            _ => false,
        }
    }

    /// How many are there on average, of those who are not gone for good.
    pub fn usually_here(&self) -> f64 {
        let part = |state: &ClientState| match &self.laws[usize::from(state.class)] {
            Coming::OnOff(law) => law.part_on(),
            _ => f64::from(u8::from(state.cursor.there())),
        };
        let known = self.periodic.get();
        let is_counted =
            |state: &&ClientState| !state.is_gone() && (known.is_none() || self.is_random(state));
        let counted: f64 = self.clients.iter().filter(is_counted).map(part).sum();
        counted
            + known.map_or(0.0, |(sure, groups)| {
                *sure as f64 + groups.iter().map(PeriodGroup::mean).sum::<f64>()
            })
    }

    /// How many clients are taken as there, whatever they do: those who do not come and go at random.
    pub fn not_random(&self) -> usize {
        self.clients.iter().filter(|state| !state.is_gone() && !self.is_random(state)).count()
    }

    /// How many of [`Presence::not_random`] are there together at most. The script only takes clients
    /// away, so what was once found stays true.
    pub fn most_not_random(&self) -> usize {
        let (sure, groups) = self.periodic();
        sure + groups.iter().map(|group| group.most).sum::<usize>()
    }

    /// Clients that are taken as there, and groups of equal periods. Where that is too much to look at, everybody is
    /// taken as there.
    fn periodic(&self) -> &(usize, Vec<PeriodGroup>) {
        self.periodic
            .get_or_init(|| self.look_at_periods().unwrap_or_else(|| (self.not_random(), vec![])))
    }

    /// Looks at every group of equal periods for one period; `None` if that is too much.
    fn look_at_periods(&self) -> Option<(usize, Vec<PeriodGroup>)> {
        let mut sure = 0;
        let mut groups: BTreeMap<u64, Vec<(u64, i32)>> = BTreeMap::new();
        let mut here: BTreeMap<u64, i64> = BTreeMap::new();
        let mut changes = 0;
        for (client, state) in (0..).zip(&self.clients) {
            if self.is_random(state) {
                continue;
            }
            // Who is gone for good may be given back by a script.
            let Some(period) = self.period(state) else {
                sure += 1;
                continue;
            };
            let (mut state, mut is_known) = (*state, false);
            let group = groups.entry(period).or_default();
            let end = self.now.nanos().saturating_add(period);
            while state.cursor.until().nanos() < end {
                changes += 1;
                if changes > MOST_CHANGES {
                    return None;
                }
                // The cursor of who is kept away stays behind.
                if state.cursor.until() > self.now {
                    let there = state.cursor.there();
                    *here.entry(period).or_default() += i64::from(there && !is_known);
                    is_known = true;
                    group.push((state.cursor.until().nanos(), if there { -1 } else { 1 }));
                }
                state.cursor = self.after(client, &state);
            }
            *here.entry(period).or_default() += i64::from(state.cursor.there() && !is_known);
        }
        let group =
            |(period, changes)| PeriodGroup::new(self.now.nanos(), period, here[&period], changes);
        Some((sure, groups.into_iter().map(group).collect()))
    }

    /// Whether `wanted` clients will not be there together before the clock ends, whatever the script
    /// has in store, if all of those are there who do not come and go at random.
    pub fn is_hopeless(&self, wanted: usize) -> bool {
        self.is_beyond(wanted, self.not_random(), &[])
    }

    /// The same, after a look at those who come and go by fixed periods.
    pub fn is_hopeless_by_periods(&self, wanted: usize) -> bool {
        let (sure, groups) = self.periodic();
        self.is_beyond(wanted, (*sure).min(self.not_random()), groups)
    }

    /// Whether more than `sure` clients, members of `groups` and those who come at random make `wanted` next to
    /// never.
    fn is_beyond(&self, wanted: usize, sure: usize, groups: &[PeriodGroup]) -> bool {
        let Some(missing) = wanted.checked_sub(sure).filter(|missing| *missing > 0) else {
            return false;
        };
        let mut classes = vec![0usize; self.laws.len()];
        for state in self.clients.iter().filter(|state| state.gone == 0 && self.is_random(state)) {
            classes[usize::from(state.class)] += 1;
        }
        let random = self.laws.iter().zip(&classes).filter_map(|(law, count)| match law {
            Coming::OnOff(law) if *count > 0 => {
                Some(PeriodGroup::alone(law.part_on(), law.mean_cycle(), *count))
            }
            _ => None,
        });
        let all: Vec<PeriodGroup> = groups.iter().cloned().chain(random).collect();
        let left = SimTime::NEVER.since(self.now).nanos() as f64;
        log_expected(&all, missing as f64, left) < NEVER.ln()
    }
}

/// Clients that come and go together: how many of them are there, in which part of the time.
#[derive(Clone, Debug)]
pub(super) struct PeriodGroup {
    /// How many are there, and in which part of the time.
    levels: Vec<(f64, f64)>,
    /// How many are there at most.
    most: usize,
    /// How often a client comes, in a nanosecond.
    comings: f64,
    /// So many groups like this one, each by itself.
    times: f64,
}

impl PeriodGroup {
    /// Of equal periods: `here` are there at `now`, and these are the changes of one period.
    fn new(now: u64, period: u64, here: i64, mut changes: Vec<(u64, i32)>) -> Self {
        changes.sort_unstable();
        let mut parts: BTreeMap<i64, u64> = BTreeMap::new();
        let (mut count, mut since, mut comings) = (here, now, 0);
        for instant in changes.chunk_by(|a, b| a.0 == b.0) {
            *parts.entry(count).or_default() += instant[0].0 - since;
            since = instant[0].0;
            count += instant.iter().map(|(_, step)| i64::from(*step)).sum::<i64>();
            comings += instant.iter().filter(|(_, step)| *step > 0).count();
        }
        *parts.entry(count).or_default() += now.saturating_add(period) - since;
        let most = parts.last_key_value().map_or(0, |(count, _)| *count) as usize;
        let part = |(count, time): (i64, u64)| (count as f64, time as f64 / period as f64);
        let levels = parts.into_iter().map(part).collect();
        PeriodGroup { levels, most, comings: comings as f64 / period as f64, times: 1.0 }
    }

    /// So many clients that come and go each by itself.
    fn alone(part: f64, cycle: f64, times: usize) -> Self {
        let levels = vec![(0.0, 1.0 - part), (1.0, part)];
        PeriodGroup { levels, most: 1, comings: 1.0 / cycle, times: times as f64 }
    }

    fn mean(&self) -> f64 {
        self.levels.iter().map(|(count, part)| count * part).sum::<f64>() * self.times
    }

    /// ln E[e^(θN)] of one group, and its derivative.
    fn log_moment(&self, theta: f64) -> (f64, f64) {
        let top = self.most as f64;
        let terms =
            self.levels.iter().map(|(count, part)| (*count, part * (theta * (count - top)).exp()));
        let (sum, weighted) = terms.fold((0.0, 0.0), |(sum, weighted), (count, term)| {
            (sum + term, weighted + count * term)
        });
        (sum.ln() + theta * top, weighted / sum)
    }
}

/// An upper bound on the logarithm of how often `k` clients or more are there together, in a time of `left`
/// nanoseconds. A client of a group comes while its group has `most` at most, and those of all other groups N make up
/// for the rest: P(N ≥ k − most) ≤ E[e^(θN)] e^(−θ(k − most)) for any θ ≥ 0.
fn log_expected(groups: &[PeriodGroup], k: f64, left: f64) -> f64 {
    let moments = |theta: f64| {
        let sum = |(log, mean): (f64, f64), group: &PeriodGroup| {
            let (own, slope) = group.log_moment(theta);
            (log + group.times * own, mean + group.times * slope)
        };
        groups.iter().fold((0.0, 0.0), sum)
    };
    // Where the bound for all of them together is the lowest.
    let (mut low, mut high) = (0.0, 700.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if moments(middle).1 < k { low = middle } else { high = middle }
    }
    let (all, theta) = (moments(high).0, high);
    let often = groups.iter().map(|group| {
        let rest = all - group.log_moment(theta).0 - theta * (k - group.most as f64);
        (left * group.times * group.comings).ln() + rest
    });
    let most = often.clone().fold(f64::NEG_INFINITY, f64::max);
    match most == f64::NEG_INFINITY {
        true => most,
        false => most + often.map(|log| (log - most).exp()).sum::<f64>().ln(),
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Alternation;
    use crate::random::{Dist, Purpose, Shape};

    fn presence(on: Shape, off: Shape, clients: usize) -> Presence {
        let dist = |shape| Dist { shape, plus: 0.0, min: None, max: None };
        let law = Alternation::new(Purpose::Availability, dist(on), dist(off));
        Presence::new(1, vec![Coming::OnOff(law), Coming::Always], &vec![0; clients], &[])
    }

    /// How often n clients of which each is there a part p of the time, for a unit of time in every n, make up k.
    #[test]
    fn the_bound_is_above_what_binomials_give_and_not_far() {
        let binomial = |n: u64, p: f64, from: u64| {
            let choose = |k: u64| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
            let tail =
                (from..=n).map(|k| choose(k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32));
            tail.sum::<f64>()
        };
        for (n, p, k) in [(20, 1.0 / 14.0, 10), (20, 1.0 / 14.0, 20), (100, 0.3, 60), (5, 0.5, 5)] {
            // Each client comes once a nanosecond, to n − 1 others.
            let exact = (n as f64 * binomial(n - 1, p, k - 1)).ln();
            let group = PeriodGroup::alone(p, 1.0, n as usize);
            let bound = log_expected(&[group], k as f64, 1.0);
            assert!(bound >= exact - 1e-9 && bound < exact + 3.0, "{n} {p} {k}: {bound} {exact}");
        }
    }

    #[test]
    fn rare_is_not_never() {
        // Twenty clients, each there 1/14 of the time: ten at once are rare, twenty unheard of.
        let twenty = presence(Shape::Exponential(2e9), Shape::Exponential(26e9), 20);
        assert!(!twenty.is_hopeless(10) && twenty.is_hopeless(20));
        assert_eq!(twenty.repeats_after(), None);
    }

    #[test]
    fn fixed_periods_repeat() {
        let fixed = presence(Shape::Fixed(2e9), Shape::Fixed(26e9), 20);
        assert_eq!(fixed.repeats_after(), Some(Span::from_nanos(28_000_000_000)));
        assert_eq!(fixed.not_random(), 20);
        assert!(!fixed.is_hopeless(20), "to be looked at, not to be guessed");
        let most = fixed.most_not_random();
        assert!((2..10).contains(&most), "{most}");
        assert!(fixed.is_hopeless_by_periods(most + 1) && !fixed.is_hopeless_by_periods(most));
    }

    /// Periods that are all different: any phase of one meets any phase of another, sooner or later.
    #[test]
    fn unequal_periods_are_decided_by_how_often_they_meet() {
        let dist = |nanos: u64| Dist {
            shape: Shape::Fixed(nanos as f64),
            plus: 0.0,
            min: None,
            max: None,
        };
        let law = |client: u64| {
            Coming::OnOff(Alternation::new(
                Purpose::Availability,
                dist(1_000_000_007 + 2_000_003 * client),
                dist(9_000_000_011 + 7_000_009 * client),
            ))
        };
        let classes: Vec<u16> = (0..60).collect();
        let sixty = Presence::new(1, (0..60).map(law).collect(), &classes, &[]);
        assert_eq!((sixty.repeats_after(), sixty.most_not_random()), (None, 60));
        assert!(!sixty.is_hopeless(50), "nothing is known before a look");
        assert!(sixty.is_hopeless_by_periods(50) && sixty.is_hopeless_by_periods(40));
        // Every tenth of the time each: six on average, and twelve once in a while.
        assert!(!sixty.is_hopeless_by_periods(12));
    }
}
