//! One client with round numbers: a step takes 10 ms, a bit is under way for 30 ms, and the model
//! and the update have 1,000 bits, which its own link carries in 1 ms.

mod links;
mod shared_link_round;
mod wall_clock_round;

use super::*;
use crate::clock::Span;
use crate::compress::Packing;
use crate::device::{
    Assign, ClassConfig, ClientSet, ComputeConfig, Demand, Effort, FleetConfig, Happening,
};
use crate::policy::{Amount, Asked, Batch, Redraw, WorkConfig};
use crate::random::Dist;
use crate::solver::{Schedule, Solver};
use std::sync::OnceLock;

fn ms(millis: u64) -> SimTime {
    SimTime::from_nanos(millis * 1_000_000)
}

fn client_side(dropout: f64) -> ClientSide {
    let class = ClassConfig {
        name: "phone".into(),
        share: 1.0,
        compute: Some(ComputeConfig::StepTime(Dist::fixed(10e6))),
        jitter: 0.0,
        uplink: Some(Dist::fixed(1e6)),
        downlink: Some(Dist::fixed(1e6)),
        latency: Dist::fixed(30e6),
        dropout,
        trace: None,
        links: None,
        availability: None,
        slowdown: None,
        thermal: None,
    };
    let shared = Some(1_000_000_000);
    let config = FleetConfig {
        assign: Assign::InOrder,
        classes: vec![class],
        server_uplink: shared,
        server_downlink: shared,
    };
    let (seed, payload) = (1, Payload { down: 1000, up: 1000 });
    let effort = |_| Effort { samples: 1.0, flops: 1.0 };
    let fleet = config.init(seed, 1, &Demand { payload, effort: &effort, wires: true }).unwrap();
    let work = WorkConfig::Steps(Amount::Drawn(Dist::fixed(4.0), Redraw::Round));
    ClientSide {
        foresight: Foresight::Exact,
        usual: Vec::new(),
        seed,
        history: DeviceHistory::new(seed, &fleet),
        fleet: Arc::new(fleet),
        script: Script::default(),
        scripted: false,
        payload,
        flops: [0.0, 1.0],
        server_uplink: shared,
        server_downlink: shared,
        workload: Workload::new(Batch::Size(1), work.init().unwrap(), seed, Vec::new()),
        recipe: Recipe::new(Solver::sgd(0.1), Schedule::default()),
        foreign_law: None,
        packer: Packer { packing: Packing::default(), parameters: 1, buffers: 0, seed },
        training: None,
    }
}

fn round(due: Option<SimTime>) -> Arc<Round> {
    Arc::new(Round {
        number: 1,
        opened: SimTime::ZERO,
        deadline: due,
        useless_after: None,
        due,
        numbers: OnceLock::new(),
        lr_factor: 1.0,
        lr: 0.1,
        crowd: 1,
        closed: OnceLock::new(),
    })
}

/// The client is asked for four steps at the beginning of the run.
fn request() -> Request {
    let asked = Asked { client: 0, times: 1 };
    Request { asked, idle: None, at: SimTime::ZERO, number: 0, steps: NonZeroU64::new(4) }
}

fn context() -> ClientContext {
    ClientContext { key: 1, own: None, leaves: SimTime::NEVER, residual: None }
}

/// What happens to every device and its links from `from` to `until`.
fn happening(from: SimTime, until: SimTime, slow: f64, link: f64) -> Happening {
    Happening { whom: ClientSet::Everyone, from, until, slow, up: link, down: link }
}
