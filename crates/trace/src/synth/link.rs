//! Links over time: fading from minute to minute, sharing with a crowd, gone in an outage.

use super::{DAY, SECOND, Tier, put};
use gruppetto_sim::clock::Span;
use gruppetto_sim::random::{Dist, Shape, Stream};

/// How the links of a device vary. Both directions vary alike: they go through the same air.
#[derive(Clone, Debug, PartialEq)]
pub struct Air {
    /// How long a rate holds, ns.
    pub every: Dist,
    /// Standard deviation of the logarithm of the rate.
    pub sigma: f64,
    /// How much a rate resembles the one before, from 0 (not at all) to 1 (always the same).
    pub memory: f64,
    /// Others who share the link.
    pub crowd: Option<Crowd>,
}

/// People who come, stay for a while and go, every day at the same hour.
#[derive(Clone, Debug, PartialEq)]
pub struct Crowd {
    /// When most of them are there, since the recording began.
    pub peak: Span,
    /// The standard deviation of when they are there.
    pub width: Span,
    /// How many times slower links are at the peak.
    pub depth: f64,
}

/// A stretch without any network, for every device of the tier.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// When it begins, as a part of the recording.
    pub from: f64,
    /// When the network is back, as a part of the recording.
    pub to: f64,
    /// How much longer a device takes to find it, ns.
    pub back: Dist,
}

impl Crowd {
    /// The part of a rate that is left to each.
    fn part(&self, seconds: f64) -> f64 {
        let day = DAY as f64;
        let apart = (seconds - self.peak.seconds() + 0.5 * day).rem_euclid(day) - 0.5 * day;
        let there = (-0.5 * (apart / self.width.seconds()).powi(2)).exp();
        1.0 / (1.0 + (self.depth - 1.0) * there)
    }
}

/// The part of its rate that a link has, from which second on.
pub(super) fn factors(tier: &Tier, length: f64, mut rng: Stream) -> Vec<(u64, f64)> {
    let mut factors = match &tier.air {
        Some(air) => fading(air, length, &mut rng),
        None => vec![(0, 1.0)],
    };
    if let Some(outage) = &tier.outage {
        let from = (outage.from * length).max(0.0) as u64;
        let found = outage.to * length + outage.back.sample(&mut rng).max(0.0) / SECOND;
        let to = found.min(length) as u64;
        cut(&mut factors, from, to, length as u64);
    }
    factors
}

fn fading(air: &Air, length: f64, rng: &mut Stream) -> Vec<(u64, f64)> {
    let unit = Dist { shape: Shape::Normal { mean: 0.0, std: 1.0 }, ..Dist::fixed(0.0) };
    let part = |at: f64| air.crowd.as_ref().map_or(1.0, |crowd| crowd.part(at));
    let mut factors = Vec::new();
    let (mut at, mut fade) = (0.0, unit.sample(rng));
    while at < length {
        put(&mut factors, at, part(at) * (air.sigma * fade).exp());
        at += (air.every.sample(rng) / SECOND).max(1.0);
        // Keeps its variance at 1, however much it remembers.
        fade = air.memory * fade + (1.0 - air.memory * air.memory).sqrt() * unit.sample(rng);
    }
    factors
}

/// Nothing from `from` to `to`; then what would have been.
fn cut(factors: &mut Vec<(u64, f64)>, from: u64, to: u64, length: u64) {
    if from >= to {
        return;
    }
    let then = factors.iter().rev().find(|(at, _)| *at <= to).map_or(1.0, |(_, part)| *part);
    factors.retain(|(at, _)| *at < from || *at > to);
    factors.push((from, 0.0));
    if to < length {
        factors.push((to, then));
    }
    factors.sort_by_key(|(at, _)| *at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use gruppetto_sim::random::{Purpose, stream};

    #[test]
    fn a_rate_fades_around_its_median() {
        let air = Air { every: Dist::fixed(60.0 * SECOND), sigma: 0.5, memory: 0.7, crowd: None };
        let mut rng = stream(3, Purpose::Synthesis, 0, 0);
        let logs: Vec<f64> =
            fading(&air, 3e6, &mut rng).iter().map(|(_, part)| part.ln() / 0.5).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let var = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / n;
        let with_last = logs.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>();
        assert!(mean.abs() < 0.05 && (var - 1.0).abs() < 0.05, "{mean} {var}");
        assert!((with_last / n / var - 0.7).abs() < 0.02, "{}", with_last / n / var);
    }

    #[test]
    fn a_crowd_takes_most_when_it_is_there() {
        let hours = |hours: u64| Span::from_nanos(hours * 3_600_000_000_000);
        let crowd = Crowd { peak: hours(3), width: hours(1), depth: 5.0 };
        let part = |hour: f64| crowd.part(3600.0 * hour);
        assert_eq!((part(3.0), part(27.0)), (0.2, 0.2));
        assert!(part(0.0) > 0.9 && part(15.0) > 0.999 && part(2.0) == part(4.0));
    }

    #[test]
    fn an_outage_cuts_a_stretch_out() {
        let rates = || vec![(0, 0.5), (10, 0.6), (20, 0.7), (30, 0.8)];
        let mut factors = rates();
        cut(&mut factors, 5, 25, 100);
        assert_eq!(factors, [(0, 0.5), (5, 0.0), (25, 0.7), (30, 0.8)]);
        let mut factors = rates();
        cut(&mut factors, 0, 30, 100);
        assert_eq!(factors, [(0, 0.0), (30, 0.8)]);
        let mut factors = rates();
        cut(&mut factors, 20, 100, 100);
        assert_eq!(factors, [(0, 0.5), (10, 0.6), (20, 0.0)]);
    }
}
