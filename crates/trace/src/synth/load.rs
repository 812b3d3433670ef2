//! Other work on a device: at times it computes more slowly.

use super::{SECOND, put};
use gruppetto_sim::random::{Dist, Stream};

/// Spells in which a device is busy with something else. Durations are in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// How long nothing else is to do.
    pub every: Dist,
    /// How long a spell lasts.
    pub lasting: Dist,
    /// How many times slower the device computes; drawn for every spell.
    pub factor: Dist,
}

/// How many times slower a device is, from which second on.
pub(super) fn factors(load: Option<&Load>, length: f64, mut rng: Stream) -> Vec<(u64, f64)> {
    let mut factors = vec![(0, 1.0)];
    let Some(load) = load else {
        return factors;
    };
    let mut at = 0.0;
    // A second at least, so that any distribution comes to the end.
    let later = |at: &mut f64, dist: &Dist, rng: &mut Stream| {
        *at += (dist.sample(rng) / SECOND).max(1.0);
        *at < length
    };
    while later(&mut at, &load.every, &mut rng) {
        put(&mut factors, at, load.factor.sample(&mut rng).max(1.0));
        if !later(&mut at, &load.lasting, &mut rng) {
            break;
        }
        put(&mut factors, at, 1.0);
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;
    use gruppetto_sim::random::{Purpose, stream};

    #[test]
    fn spells_come_and_go() {
        let load = Load {
            every: Dist::fixed(100.0 * SECOND),
            lasting: Dist::fixed(20.0 * SECOND),
            factor: Dist::fixed(3.0),
        };
        let rng = || stream(1, Purpose::Synthesis, 0, 0);
        let told = factors(Some(&load), 250.0, rng());
        assert_eq!(told, [(0, 1.0), (100, 3.0), (120, 1.0), (220, 3.0), (240, 1.0)]);
        assert_eq!(factors(None, 250.0, rng()), [(0, 1.0)]);
        let never = Load { every: Dist::fixed(0.0), lasting: Dist::fixed(0.0), ..load };
        assert!(factors(Some(&never), 250.0, rng()).len() <= 250);
    }
}
