//! Error feedback: what an update lost is added to the next (Seide et al., 2014; Karimireddy et
//! al., 2019).
//!
//! A client sends C(Δ + e) and keeps e ← Δ + e − C(Δ + e), so that nothing is lost for good. It
//! keeps e whenever it sent something: whether the server used it, it cannot know. The residual
//! travels with a client's context and comes back with its parcel, so packing is a pure function
//! that any worker may compute.

use super::Compression;
use crate::random::{Purpose, stream};
use std::sync::Arc;

/// `[client] compression`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packing {
    /// How updates are made smaller.
    pub compression: Compression,
    /// Whether clients remember what they lost.
    pub error_feedback: bool,
}

/// What a client remembers: a vector that is replaced, never changed. `None` is zero.
pub type Residual = Option<Arc<Vec<f64>>>;

/// What a client sends, and what it keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Parcel {
    /// The update as the server gets it.
    pub update: Vec<f64>,
    /// What it lost, with error feedback.
    pub residual: Residual,
}

/// Packs every client's updates.
#[derive(Clone, Copy, Debug)]
pub struct Packer {
    /// How.
    pub packing: Packing,
    /// Weights of the model, without padding.
    pub parameters: usize,
    /// Entries behind them that are sent as they are.
    pub buffers: usize,
    /// The run's seed.
    pub seed: u64,
}

impl Packer {
    /// Packs a client's change Δ, with what it remembers. Draws are keyed by `client` and `key`.
    pub fn pack(&self, mut change: Vec<f64>, residual: Residual, client: u32, key: u64) -> Parcel {
        let mut buffers = change.split_off(change.len().saturating_sub(self.buffers));
        let mut parcel = self.pack_weights(change, residual, client, key);
        parcel.update.append(&mut buffers);
        parcel
    }

    fn pack_weights(
        &self,
        mut change: Vec<f64>,
        residual: Residual,
        client: u32,
        key: u64,
    ) -> Parcel {
        let rng = || stream(self.seed, Purpose::Compression, u64::from(client), key);
        let Packing { compression, error_feedback } = self.packing;
        if !error_feedback {
            compression.squeeze(&mut change, self.parameters, rng);
            return Parcel { update: change, residual: None };
        }
        if let Some(residual) = residual {
            change.iter_mut().zip(&*residual).for_each(|(change, e)| *change += e);
        }
        let mut lost = change.clone();
        compression.squeeze(&mut change, self.parameters, rng);
        lost.iter_mut().zip(&change).for_each(|(lost, sent)| *lost -= sent);
        Parcel { update: change, residual: Some(Arc::new(lost)) }
    }
}

/// What all clients remember.
pub struct Residuals(Vec<Residual>);

impl Residuals {
    /// Nothing yet, for so many clients; for none where there is no error feedback.
    pub fn new(clients: usize) -> Self {
        Residuals(vec![None; clients])
    }

    /// Whether anything is remembered at all.
    pub fn are_kept(&self) -> bool {
        !self.0.is_empty()
    }

    /// What `client` remembers.
    pub fn of(&self, client: u32) -> Residual {
        self.0.get(client as usize).cloned().flatten()
    }

    /// What everybody remembers, for a checkpoint.
    pub fn save(&self) -> Vec<Residual> {
        self.0.clone()
    }

    /// Takes over what [`Residuals::save`] gave.
    pub fn load(&mut self, residuals: Vec<Residual>) {
        self.0 = residuals;
    }

    /// `client` has sent something and lost this.
    pub fn keep(&mut self, client: u32, residual: Residual) {
        if let Some(own) = self.0.get_mut(client as usize) {
            *own = residual;
        }
    }
}
