//! Shares, draws and impossible devices.

use super::*;
use crate::device::class::ComputeConfig;
use crate::random::{Dist, Shape};

pub(crate) fn class(name: &str, share: f64) -> ClassConfig {
    ClassConfig {
        name: name.into(),
        share,
        compute: Some(ComputeConfig::StepTime(Dist::fixed(10e6))),
        jitter: 0.0,
        uplink: None,
        downlink: None,
        latency: Dist::fixed(0.0),
        dropout: 0.0,
        trace: None,
        links: None,
        availability: None,
        slowdown: None,
        thermal: None,
    }
}

fn fleet_of(assign: Assign, classes: Vec<ClassConfig>) -> FleetConfig {
    FleetConfig { assign, classes, server_uplink: None, server_downlink: None }
}

fn sized(bits: u64) -> Demand<'static> {
    let payload = Payload { down: bits, up: bits };
    Demand { payload, effort: &|_| Effort { samples: 1.0, flops: 1.0 }, wires: false }
}

#[test]
fn counts_follow_shares_exactly() {
    let fleet =
        |shares: &[f64]| fleet_of(Assign::InOrder, shares.iter().map(|s| class("c", *s)).collect());
    assert_eq!(fleet(&[0.2, 0.8]).counts(30), [6, 24]);
    assert_eq!(fleet(&[0.5, 0.5]).counts(3), [2, 1]);
    assert_eq!(fleet(&[1.0 / 3.0; 3]).counts(10), [4, 3, 3]);
    assert_eq!(fleet(&[0.05, 0.95]).counts(4), [0, 4]);
    assert_eq!(fleet(&[0.1; 10]).counts(1_000_000), [100_000; 10]);
}

#[test]
fn transfers_take_latency_and_the_last_bit() {
    let config = ClassConfig {
        uplink: Some(Dist::fixed(3e6)),
        downlink: Some(Dist::fixed(8e6)),
        latency: Dist::fixed(30e6),
        ..class("phone", 1.0)
    };
    let fleet = fleet_of(Assign::InOrder, vec![config]);
    let device = fleet.init(1, 1, &sized(1_000_000)).unwrap().devices[0];
    assert_eq!(device.download.nanos(), 30_000_000 + 125_000_000);
    // 1e6 bits at 3 Mbit/s is 333,333,333.3… ns.
    assert_eq!(device.upload.nanos(), 30_000_000 + 333_333_334);
}

#[test]
fn one_aspect_does_not_disturb_another() {
    let spread =
        |median| Dist { shape: Shape::Lognormal { median, sigma: 0.5 }, ..Dist::fixed(0.0) };
    let one =
        ClassConfig { compute: Some(ComputeConfig::StepTime(spread(1e7))), ..class("a", 1.0) };
    let two = ClassConfig { uplink: Some(spread(1e6)), ..one.clone() };
    let draw = |class| fleet_of(Assign::Random, vec![class]).init(3, 20, &sized(800)).unwrap();
    let (one, two) = (draw(one), draw(two));
    for (a, b) in one.devices.iter().zip(&two.devices) {
        assert_eq!(a.step, b.step);
        assert_ne!(a.upload, b.upload);
    }
}

#[test]
fn impossible_times_name_the_client() {
    let slow = ClassConfig { uplink: Some(Dist::fixed(1.0)), ..class("modem", 1.0) };
    let fleet = fleet_of(Assign::InOrder, vec![slow]);
    let error = fleet.init(1, 2, &sized(u64::MAX)).unwrap_err();
    assert_eq!((error.client, error.what), (0, "upload"));
    assert!(error.to_string().contains("class modem"));
}
