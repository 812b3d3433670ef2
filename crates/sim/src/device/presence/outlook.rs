//! Whether enough clients will ever be there together, as far as that can be known.
//!
//! Periods of fixed lengths and recordings that repeat come back to where they were: after the least
//! common multiple of all their periods everything happens again, so one look at that long a time
//! decides. That multiple may be longer than the clock. Then clients of equal periods are looked at
//! together, each group for one period: more than the sum of what the groups have at most are never there.
//!
//! Random periods never repeat. There the expected number of instants at which enough are
//! there is bounded from above (Chernoff), for all the time that the clock has left: where it is next to
//! nothing, the server need not look.

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
        self.clients.iter().filter(|state| !state.is_gone()).map(part).sum()
    }

    /// How many clients are taken as there, whatever they do: those who do not come and go at random.
    pub fn not_random(&self) -> usize {
        self.clients.iter().filter(|state| !state.is_gone() && !self.is_random(state)).count()
    }

    /// How many of [`Presence::not_random`] are there together at most. The script only takes clients
    /// away, so what was once found stays true.
    pub fn most_not_random(&self) -> usize {
        *self
            .most_periodic
            .get_or_init(|| self.look_at_periods().unwrap_or_else(|| self.not_random()))
    }

    /// Sums up what groups of equal periods have at most; `None` if that is too much to look at.
    fn look_at_periods(&self) -> Option<usize> {
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
        let most = groups.into_iter().map(|(period, mut changes)| {
            changes.sort_unstable();
            let (mut now, mut most) = (here[&period], here[&period]);
            for instant in changes.chunk_by(|a, b| a.0 == b.0) {
                now += instant.iter().map(|(_, step)| i64::from(*step)).sum::<i64>();
                most = most.max(now);
            }
            most as usize
        });
        Some(sure + most.sum::<usize>())
    }

    /// Whether `wanted` clients will not be there together before the clock ends, whatever the script
    /// has in store, if at most `sure` of those are there who do not come and go at random.
    pub fn is_hopeless(&self, wanted: usize, sure: usize) -> bool {
        let mut classes = vec![0usize; self.laws.len()];
        for state in self.clients.iter().filter(|state| state.gone == 0 && self.is_random(state)) {
            classes[usize::from(state.class)] += 1;
        }
        let Some(others) = wanted.checked_sub(sure + 1) else { return false };
        let random: Vec<(f64, f64)> = self
            .laws
            .iter()
            .zip(&classes)
            .filter_map(|(law, count)| match law {
                Coming::OnOff(law) if *count > 0 => Some((*count as f64, law.part_on())),
                _ => None,
            })
            .collect();
        let comings: f64 = self
            .laws
            .iter()
            .zip(&classes)
            .map(|(law, count)| match law {
                Coming::OnOff(law) => *count as f64 / law.mean_cycle(),
                _ => 0.0,
            })
            .sum();
        if random.is_empty() {
            return true;
        }
        let left = SimTime::NEVER.since(self.now).nanos() as f64;
        // A client comes while as many others are there as are wanted besides it.
        (comings * left).ln() + log_tail(&random, others as f64) < NEVER.ln()
    }
}

/// An upper bound on ln P(N ≥ k), N the number of those who are there out of groups of (how many, with
/// what probability): min over θ ≥ 0 of Σ n ln(1 − p + p·e^θ) − θk.
fn log_tail(groups: &[(f64, f64)], k: f64) -> f64 {
    let slope = |theta: f64| {
        let expected = groups.iter().map(|(n, p)| {
            let odds = p * theta.exp();
            n * odds / (1.0 - p + odds)
        });
        expected.sum::<f64>() - k
    };
    if slope(0.0) >= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 700.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if slope(middle) < 0.0 { low = middle } else { high = middle }
    }
    let log = groups.iter().map(|(n, p)| n * (p * (high.exp() - 1.0)).ln_1p());
    log.sum::<f64>() - high * k
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

    #[test]
    fn the_bound_is_above_the_tail_of_a_binomial_and_not_far() {
        let binomial = |n: u64, p: f64, from: u64| {
            let choose = |k: u64| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
            let tail =
                (from..=n).map(|k| choose(k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32));
            tail.sum::<f64>()
        };
        for (n, p, k) in [(20, 1.0 / 14.0, 10), (20, 1.0 / 14.0, 20), (100, 0.3, 60), (5, 0.5, 5)] {
            let (bound, exact) = (log_tail(&[(n as f64, p)], k as f64), binomial(n, p, k).ln());
            assert!(bound >= exact - 1e-9 && bound < exact + 3.0, "{n} {p} {k}: {bound} {exact}");
        }
        assert_eq!(log_tail(&[(100.0, 0.3)], 30.0), 0.0, "as many as usual");
    }

    #[test]
    fn rare_is_not_never() {
        // Twenty clients, each there 1/14 of the time: ten at once are rare, twenty unheard of.
        let twenty = presence(Shape::Exponential(2e9), Shape::Exponential(26e9), 20);
        assert!(!twenty.is_hopeless(10, 0) && twenty.is_hopeless(20, 0));
        assert_eq!(twenty.repeats_after(), None);
    }

    #[test]
    fn fixed_periods_repeat() {
        let fixed = presence(Shape::Fixed(2e9), Shape::Fixed(26e9), 20);
        assert_eq!(fixed.repeats_after(), Some(Span::from_nanos(28_000_000_000)));
        assert_eq!(fixed.not_random(), 20);
        assert!(!fixed.is_hopeless(20, 20), "to be looked at, not to be guessed");
        let most = fixed.most_not_random();
        assert!((2..10).contains(&most) && fixed.is_hopeless(most + 1, most), "{most}");
    }
}
