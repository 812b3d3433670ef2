//! Events that change devices during a run, as the scenario defines them.

use crate::clock::SimTime;
use std::sync::Arc;

/// A set of clients: all or some of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientSet {
    /// All of them.
    Everyone,
    /// A bit for every client.
    Some(Arc<[u64]>),
}

impl ClientSet {
    /// Of `clients` clients those in `chosen`.
    pub fn of(clients: usize, chosen: impl IntoIterator<Item = u32>) -> Self {
        let mut bits = vec![0u64; clients.div_ceil(64)];
        for client in chosen {
            bits[client as usize / 64] |= 1 << (client % 64);
        }
        ClientSet::Some(bits.into())
    }

    /// Whether `client` is among them.
    pub fn has(&self, client: u32) -> bool {
        match self {
            ClientSet::Everyone => true,
            ClientSet::Some(bits) => {
                bits.get(client as usize / 64).is_some_and(|word| word >> (client % 64) & 1 == 1)
            }
        }
    }
}

/// Something that makes devices slower or their links worse for a while. Those that overlap
/// multiply.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// Whom it happens to.
    pub whom: ClientSet,
    /// When it begins.
    pub from: SimTime,
    /// When it is over.
    pub until: SimTime,
    /// A step takes so many times as long.
    pub slow: f64,
    /// Uplinks keep so much of their rate; 0: no connection.
    pub up: f64,
    /// Downlinks likewise.
    pub down: f64,
}
