//! The mixtures that have a name.
//!
//! The numbers are plausible, not measured: round medians that lie within what public traces show. But
//! for `capacity`, which is fitted to one.

use super::{Air, Crowd, Load, Mixture, Outage, Rhythm, SECOND, Tier};
use crate::ComputeColumn;
use gruppetto_sim::clock::Span;
use gruppetto_sim::random::{Dist, Shape};

const MS: f64 = 1e6;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;
const MBPS: f64 = 1e6;

impl Mixture {
    /// All that have a name.
    pub fn all() -> Vec<Mixture> {
        vec![phones(), capacity(), campus_wifi(), rack(), outage()]
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Mixture> {
        Mixture::all().into_iter().find(|mixture| mixture.name == name)
    }
}

/// Three tiers of phones that charge at night.
fn phones() -> Mixture {
    let phone = |name: &str, share, sample: (f64, f64), links: (f64, f64), place| Tier {
        place: lognormal(1.0, place),
        rhythm: Some(Rhythm {
            bedtime: normal(23.0 * HOUR, 1.2 * HOUR),
            wobble: normal(0.0, 0.5 * HOUR),
            asleep: Dist { min: Some(2.0 * HOUR), ..normal(7.5 * HOUR, HOUR) },
            nights: 0.88,
            every: exponential(5.0 * HOUR),
            lasting: Dist { max: Some(2.0 * HOUR), ..lognormal(25.0 * MINUTE, 0.7) },
        }),
        ..tier(
            name,
            share,
            lognormal(sample.0 * MS, sample.1),
            lognormal(links.0 * MBPS, 0.3),
            lognormal(links.1 * MBPS, 0.3),
        )
    };
    Mixture {
        name: "phones",
        about: "flagship, midrange and budget phones that charge at night",
        length: span(24.0 * HOUR),
        compute: ComputeColumn::Sample,
        tiers: vec![
            phone("flagship", 0.20, (1.5, 0.20), (20.0, 60.0), 0.4),
            phone("midrange", 0.45, (4.0, 0.25), (8.0, 25.0), 0.5),
            phone("budget", 0.35, (12.0, 0.40), (3.0, 12.0), 0.7),
        ],
    }
}

/// Phones by what is published of the compute times (AI Benchmark) and the bandwidths (MobiPerf) of 51,496
/// of them: three kinds, the old ones six times as slow as the new, and links that have nothing to do
/// with that. Training takes three times as long as the inference that was measured.
fn capacity() -> Mixture {
    let phone = |name: &str, share, inference: f64, sigma| Tier {
        // Both ways are equally fast.
        place: Dist { plus: 0.9, max: Some(204.0), ..lognormal(5.1, 1.33) },
        ..tier(
            name,
            share,
            Dist { max: Some(3.0 * 199.0 * MS), ..lognormal(3.0 * inference * MS, sigma) },
            Dist::fixed(MBPS),
            Dist::fixed(MBPS),
        )
    };
    Mixture {
        name: "capacity",
        about: "phones as fast and as well connected as 51,496 real ones",
        length: span(24.0 * HOUR),
        compute: ComputeColumn::Sample,
        tiers: vec![
            phone("new", 0.46, 23.5, 0.17),
            phone("middling", 0.17, 48.0, 0.23),
            phone("old", 0.37, 154.0, 0.17),
        ],
    }
}

/// Laptops on a wireless network, from six in the evening to midnight.
fn campus_wifi() -> Mixture {
    let laptop = |name: &str, share, peak: f64, depth| Tier {
        place: lognormal(1.0, 0.3),
        air: Some(Air {
            every: Dist { min: Some(0.5 * MINUTE), ..exponential(4.0 * MINUTE) },
            sigma: 0.4,
            memory: 0.8,
            crowd: Some(Crowd { peak: span(peak), width: span(0.9 * HOUR), depth }),
        }),
        ..tier(
            name,
            share,
            lognormal(40.0 * MS, 0.35),
            lognormal(25.0 * MBPS, 0.2),
            lognormal(60.0 * MBPS, 0.2),
        )
    };
    Mixture {
        name: "campus-wifi",
        about: "an evening of laptops whose links sink when everybody is there",
        length: span(6.0 * HOUR),
        compute: ComputeColumn::Step,
        tiers: vec![laptop("library", 0.4, 1.5 * HOUR, 6.0), laptop("dorm", 0.6, 4.0 * HOUR, 10.0)],
    }
}

/// Two generations of servers that also do something else.
fn rack() -> Mixture {
    let server = |name: &str, share, step: f64, every: f64| Tier {
        load: Some(Load {
            every: exponential(every),
            lasting: lognormal(8.0 * MINUTE, 0.8),
            factor: Dist { shape: Shape::Uniform(1.5, 4.0), ..Dist::fixed(0.0) },
        }),
        ..tier(
            name,
            share,
            lognormal(step * MS, 0.05),
            Dist::fixed(10_000.0 * MBPS),
            Dist::fixed(10_000.0 * MBPS),
        )
    };
    Mixture {
        name: "rack",
        about: "old and new servers with background load, on fast links",
        length: span(12.0 * HOUR),
        compute: ComputeColumn::Step,
        tiers: vec![
            server("new", 0.5, 5.0, 60.0 * MINUTE),
            server("old", 0.5, 12.0, 25.0 * MINUTE),
        ],
    }
}

/// Laptops of two districts, one of which loses its network in the middle.
fn outage() -> Mixture {
    let laptop = |name: &str, share| Tier {
        place: lognormal(1.0, 0.5),
        air: Some(Air {
            every: Dist { min: Some(MINUTE), ..exponential(10.0 * MINUTE) },
            sigma: 0.3,
            memory: 0.7,
            crowd: None,
        }),
        ..tier(
            name,
            share,
            lognormal(60.0 * MS, 0.5),
            lognormal(10.0 * MBPS, 0.3),
            lognormal(50.0 * MBPS, 0.3),
        )
    };
    // 72 minutes of 4 hours. A rate of 0, not away: who has a model goes on computing.
    let gone = Outage { from: 0.35, to: 0.65, back: exponential(3.0 * MINUTE) };
    Mixture {
        name: "outage",
        about: "laptops of two districts; the north has no network for a while",
        length: span(4.0 * HOUR),
        compute: ComputeColumn::Step,
        tiers: vec![Tier { outage: Some(gone), ..laptop("north", 0.4) }, laptop("south", 0.6)],
    }
}

fn tier(name: &str, share: f64, compute: Dist, up: Dist, down: Dist) -> Tier {
    let (place, name) = (Dist::fixed(1.0), name.into());
    let (load, air, outage, rhythm) = (None, None, None, None);
    Tier { name, share, compute, place, up, down, load, air, outage, rhythm }
}

fn lognormal(median: f64, sigma: f64) -> Dist {
    Dist { shape: Shape::Lognormal { median, sigma }, ..Dist::fixed(0.0) }
}

fn normal(mean: f64, std: f64) -> Dist {
    Dist { shape: Shape::Normal { mean, std }, ..Dist::fixed(0.0) }
}

fn exponential(mean: f64) -> Dist {
    Dist { shape: Shape::Exponential(mean), ..Dist::fixed(0.0) }
}

fn span(nanos: f64) -> Span {
    Span::from_nanos_f64(nanos).expect("a few hours")
}
