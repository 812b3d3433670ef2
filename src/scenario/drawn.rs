//! What a plan comes to for one seed: its clients' work and devices.

use super::Plan;
use crate::clock::Span;
use crate::compress::Compression;
use crate::data::ShareError;
use crate::device::{Demand, Effort, Fleet, FleetError, Payload};
use crate::plugins::{FleetView, PluginError};
use crate::policy::{Work, Workload};
use std::sync::Arc;

/// A plan cannot be drawn for a seed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// The data cannot be divided among the clients.
    #[error(transparent)]
    Shares(#[from] ShareError),
    /// A device is impossible.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// A plug-in cannot be made.
    #[error("plug-in: {0}")]
    Plugin(#[from] PluginError),
}

/// The clients of a plan, drawn at random for one seed.
pub struct DrawnClients {
    /// Shares of the data.
    pub p: Arc<[f64]>,
    /// What clients have to do.
    pub workload: Workload,
    /// Their devices.
    pub fleet: Arc<Fleet>,
}

/// What plans that differ in other things may have in common.
#[derive(Clone)]
pub(crate) struct DrawnFleet {
    p: Arc<[f64]>,
    samples: Arc<[u32]>,
    fleet: Arc<Fleet>,
}

impl Plan {
    /// What travels to a client and back: single-precision parameters, and with variance reduction as
    /// many again. Whatever goes up is compressed, buffers apart.
    pub fn payload(&self) -> Payload {
        let buffers = self.task.problem.buffers().len();
        let parameters = self.task.parameters() - buffers;
        let (down, up) = self.client.variance_reduction.map_or((1, 1), |method| method.payload());
        let bits = |compression: Compression| compression.bits(parameters);
        let compressed = bits(self.client.packing.compression);
        let buffered = Compression::None.bits(buffers);
        Payload { down: down * bits(Compression::None) + buffered, up: up * compressed + buffered }
    }

    /// Whether links are looked at one by one.
    pub(crate) fn has_wires(&self) -> bool {
        !self.events.is_empty()
            || self.fleet.server_uplink.is_some()
            || self.fleet.server_downlink.is_some()
    }

    /// Draws shares, work and devices.
    pub fn draw(&self, seed: u64) -> Result<DrawnClients, DrawError> {
        self.draw_with(seed, self.draw_fleet(seed)?)
    }

    /// Draws shares and devices: what other plans may have in common with this one.
    pub(crate) fn draw_fleet(&self, seed: u64) -> Result<DrawnFleet, DrawError> {
        let shares = self.task.shares(seed)?;
        let effort = |client: usize| {
            let samples = self.client.batch.of(shares.samples.get(client).copied());
            Effort { samples: samples as f64, flops: self.task.flops(samples) }
        };
        let (payload, wires) = (self.payload(), self.has_wires());
        let demand = Demand { payload, effort: &effort, wires };
        let fleet = Arc::new(self.fleet.init(seed, self.task.clients, &demand)?);
        Ok(DrawnFleet { p: shares.p.into(), samples: shares.samples.into(), fleet })
    }

    /// Draws the work of clients whose shares and devices are drawn.
    pub(crate) fn draw_with(
        &self,
        seed: u64,
        DrawnFleet { p, samples, fleet }: DrawnFleet,
    ) -> Result<DrawnClients, DrawError> {
        let work: Box<dyn Work> = match (self.client.work.init(), &self.plugins.work) {
            (Some(work), _) => work,
            // A work policy sees no durations.
            (None, Some(chosen)) => chosen.make(&self.view(seed, p.clone(), Vec::new()))?,
            (None, None) => unreachable!("work is built in or a plug-in"),
        };
        let workload = Workload::new(self.client.batch, work, seed, samples.to_vec());
        Ok(DrawnClients { p, workload, fleet })
    }

    fn view(&self, seed: u64, p: Arc<[f64]>, durations: Vec<Span>) -> FleetView {
        FleetView::new(seed, p, durations.into(), self.task.parameters())
    }

    /// What plug-ins are told of the clients.
    pub fn fleet_view(&self, seed: u64, drawn: &DrawnClients) -> FleetView {
        let clients = 0..self.task.clients as u32;
        let durations = clients.map(|client| Span::from_nanos(drawn.profile(client))).collect();
        self.view(seed, drawn.p.clone(), durations)
    }
}

impl DrawnClients {
    /// How long a client's round takes when nothing disturbs it, in nanoseconds; where work lasts
    /// until the deadline, which all rounds take, or is unknown, how long one of its steps does.
    pub fn profile(&self, client: u32) -> u64 {
        let device = &self.fleet.devices[client as usize];
        match self.workload.typical_steps(client, device.step).flatten() {
            None => device.step.nanos(),
            Some(steps) => {
                let transfers = device.download.nanos().saturating_add(device.upload.nanos());
                device.step.nanos().saturating_mul(steps).saturating_add(transfers)
            }
        }
    }
}
