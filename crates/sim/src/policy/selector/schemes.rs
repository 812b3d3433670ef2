//! The plain selectors: drawn uniformly or by size, or in turn.

use super::draw::{draw_uniform, running_sums};
use super::{Drawing, KeyedRng, Needs, Selector, View};
use rand::RngExt;

/// Without replacement, all clients equally likely.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl Selector for Uniform {
    fn select(&mut self, view: &View<'_>, rng: &KeyedRng) -> Vec<u32> {
        if view.wanted >= view.available_count {
            return view.available_clients().collect();
        }
        draw_uniform(view.wanted, view.available_count, view.available, &mut rng.stream(0))
    }

    fn needs(&self) -> Needs {
        Needs::Availability
    }

    fn drawing(&self) -> Drawing {
        Drawing::Uniform
    }
}

/// With replacement, with probability p_i.
#[derive(Clone, Debug)]
pub struct BySize {
    /// Running sums of p_i over all clients.
    sums: Vec<f64>,
}

impl BySize {
    /// Of clients with shares `p`.
    pub fn new(p: &[f64]) -> Self {
        BySize { sums: running_sums(p, |_| true) }
    }
}

impl Selector for BySize {
    fn select(&mut self, view: &View<'_>, rng: &KeyedRng) -> Vec<u32> {
        let (clients, mut rng) = (view.clients(), rng.stream(0));
        let among_available;
        let sums = if view.available_count == clients {
            &self.sums
        } else {
            among_available = running_sums(view.p, |client| view.available[client as usize]);
            &among_available
        };
        let whole = sums[clients - 1];
        let draw = |_| {
            let at = rng.random::<f64>() * whole;
            // The first client whose sum lies beyond: never one that adds nothing.
            let client = sums.partition_point(|sum| *sum <= at);
            client.min(sums.partition_point(|sum| *sum < whole)) as u32
        };
        (0..view.wanted).map(draw).collect()
    }

    fn needs(&self) -> Needs {
        Needs::Availability
    }

    fn drawing(&self) -> Drawing {
        Drawing::BySize
    }
}

/// In turn, by number. A client that is not available when its turn comes is passed over.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin {
    /// The client whose turn it is.
    next: u32,
}

impl Selector for RoundRobin {
    fn select(&mut self, view: &View<'_>, _: &KeyedRng) -> Vec<u32> {
        let clients = view.clients() as u32;
        let order = (self.next..clients).chain(0..self.next);
        let available = order.filter(|client| view.available[*client as usize]);
        let chosen: Vec<u32> = available.take(view.wanted).collect();
        if let Some(last) = chosen.last() {
            self.next = (last + 1) % clients;
        }
        chosen
    }

    fn needs(&self) -> Needs {
        Needs::Availability
    }
}
