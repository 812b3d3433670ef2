//! Cross-client variance reduction: every local gradient is corrected by `shared − own_i`, what
//! all clients' gradients looked like against what this client's did.
//!
//! The three methods differ in what a client remembers. What they share is here: one vector per
//! client that was ever heard, which survives the rounds in which it does not take part, and one
//! vector for all. When they change, with rounds and without:
//!
//! - The client's own vector changes when its update is accepted: client and server can both work it
//!   out then. VRLSGD's needs the new average, so it changes with the aggregation that uses the update.
//! - The vector for all that clients are given changes with the aggregation.
//! - An update that is not used changes nothing: who arrives too late is as if it had not been asked,
//!   so server and client never disagree.
//!
//! An update is taken for what it was made with: the vectors that the client left with, even if its own
//! has changed since (without rounds a client may be sent off again before an aggregation).
//!
//! Whatever the local law, a correction is one more constant gradient, so it moves a client by
//! exactly −η‖a_i‖₁ times itself; `gain = η‖a_i‖₁` is all that is needed to take it out again.

mod fednova;
mod scaffold;
#[cfg(test)]
mod tests;
mod vrlsgd;

use std::sync::Arc;

/// `[client] variance_reduction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarianceReduction {
    /// FedNova-VR (section 5).
    FedNova,
    /// FedNova-VR as Algorithm 2 prints it.
    FedNovaAsPrinted,
    /// SCAFFOLD, option II.
    Scaffold,
    /// Variance-reduced local SGD.
    Vrlsgd,
}

impl VarianceReduction {
    /// Vectors as long as the model that travel to a client and back.
    pub fn payload(self) -> (u64, u64) {
        match self {
            // Algorithm 2: x and Σ p_i d_i down, d_i up.
            VarianceReduction::FedNova | VarianceReduction::FedNovaAsPrinted => (2, 1),
            // x and c down, Δy and Δc up.
            VarianceReduction::Scaffold => (2, 2),
            // The new model tells a client all it needs.
            VarianceReduction::Vrlsgd => (1, 1),
        }
    }

    /// Whether it is defined for laws other than plain SGD.
    pub fn takes_any_law(self) -> bool {
        matches!(self, VarianceReduction::FedNova | VarianceReduction::FedNovaAsPrinted)
    }
}

/// A vector of variance reduction. It is replaced, never changed, so that clients that are at work
/// keep what they were given. `None` is zero.
pub type ControlVector = Option<Arc<Vec<f64>>>;

/// What a client adds to its gradients: `shared − own`.
#[derive(Clone, Debug, Default)]
pub struct Correction {
    /// The same for everyone asked in a round.
    pub shared: ControlVector,
    /// The client's own.
    pub own: ControlVector,
}

impl Correction {
    /// Whether it is nothing at all.
    pub fn is_zero(&self) -> bool {
        self.shared.is_none() && self.own.is_none()
    }

    /// The vector, with `len` entries.
    pub fn vector(&self, len: usize) -> Vec<f64> {
        let mut vector = self.shared.as_ref().map_or_else(|| vec![0.0; len], |v| v.to_vec());
        if let Some(own) = &self.own {
            vector.iter_mut().zip(&**own).for_each(|(c, own)| *c -= own);
        }
        vector
    }
}

/// An update that is used, as variance reduction sees it.
pub struct Heard<'a> {
    /// Whose.
    pub client: u32,
    /// Δ_i.
    pub delta: &'a [f64],
    /// η‖a_i‖₁.
    pub gain: f64,
    /// What it had added to its gradients.
    pub correction: &'a Correction,
}

/// The state of all clients.
pub struct Controls {
    method: VarianceReduction,
    p: Arc<[f64]>,
    /// The mean over all clients, of all updates that were accepted.
    shared: ControlVector,
    /// What it was at the last aggregation.
    given: ControlVector,
    own: Vec<ControlVector>,
    /// What the clients on their way left with of their own.
    departed: Vec<ControlVector>,
    open: OpenControls,
}

/// What variance reduction remembers, for a checkpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlsState {
    /// The mean over all clients.
    pub shared: ControlVector,
    /// What of it everyone is given.
    pub given: ControlVector,
    /// What each client remembers.
    pub own: Vec<ControlVector>,
    /// What each client left with that is on its way.
    pub departed: Vec<ControlVector>,
    /// What the open round has so far.
    pub open: OpenControls,
}

/// What is known of the open round, for what is known only when it closes.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct OpenControls {
    /// Clients heard, their gains, and what changes their own vectors besides the average.
    pub heard: Vec<(u32, f64, Vec<f64>)>,
    /// Σ p_iΔ_i and Σ p_i over them.
    pub sum: Vec<f64>,
    pub share: f64,
}

impl Controls {
    /// Everything zero, for clients that ought to count `p` each.
    pub fn new(method: VarianceReduction, p: Arc<[f64]>) -> Self {
        let own = vec![None; p.len()];
        Controls {
            method,
            p,
            shared: None,
            given: None,
            departed: own.clone(),
            own,
            open: OpenControls::default(),
        }
    }

    /// What is remembered, for a checkpoint.
    pub fn save(&self) -> ControlsState {
        let Controls { shared, given, own, departed, open, .. } = self;
        let (shared, given, own) = (shared.clone(), given.clone(), own.clone());
        ControlsState { shared, given, own, departed: departed.clone(), open: open.clone() }
    }

    /// Takes over what [`Controls::save`] gave.
    pub fn load(&mut self, state: ControlsState) {
        let ControlsState { shared, given, own, departed, open } = state;
        (self.shared, self.given) = (shared, given);
        (self.own, self.departed, self.open) = (own, departed, open);
    }

    /// What everyone is given in a round that opens now.
    pub fn shared(&self) -> ControlVector {
        self.given.clone()
    }

    /// What `client` remembers.
    pub fn own(&self, client: u32) -> ControlVector {
        self.own[client as usize].clone()
    }

    /// `client` is sent off, and takes along what it remembers.
    pub fn depart(&mut self, client: u32) {
        self.departed[client as usize] = self.own(client);
    }

    /// What `client`, which is on its way, left with.
    pub fn departed(&self, client: u32) -> ControlVector {
        self.departed[client as usize].clone()
    }

    /// An update is used.
    pub fn hear(&mut self, heard: &Heard<'_>) {
        let p = self.p[heard.client as usize];
        let after = match self.method {
            VarianceReduction::FedNova => fednova::control(heard),
            VarianceReduction::FedNovaAsPrinted => fednova::as_printed(heard),
            VarianceReduction::Scaffold => scaffold::control(heard),
            VarianceReduction::Vrlsgd => {
                let open = &mut self.open;
                open.heard.push((heard.client, heard.gain, vrlsgd::own_part(heard)));
                open.sum.resize(heard.delta.len(), 0.0);
                open.sum.iter_mut().zip(heard.delta).for_each(|(sum, delta)| *sum += p * delta);
                open.share += p;
                return;
            }
        };
        // shared = Σ p_i own_i, with zero for those never heard.
        let before = self.own[heard.client as usize].take();
        let shared = self.shared.get_or_insert_with(|| Arc::new(vec![0.0; after.len()]));
        let shared = Arc::make_mut(shared);
        for (i, (shared, after)) in shared.iter_mut().zip(&after).enumerate() {
            *shared += p * (after - before.as_ref().map_or(0.0, |before| before[i]));
        }
        self.own[heard.client as usize] = Some(Arc::new(after));
    }

    /// The round closes.
    pub fn close(&mut self) {
        let OpenControls { heard, sum, share } = std::mem::take(&mut self.open);
        for (client, gain, own_part) in heard {
            let own = &mut self.own[client as usize];
            let own = Arc::make_mut(own.get_or_insert_with(|| Arc::new(vec![0.0; sum.len()])));
            vrlsgd::change(own, &own_part, &sum, share, gain);
        }
        self.given = self.shared.clone();
    }
}
