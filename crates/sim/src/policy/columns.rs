//! What selectors see of the clients, kept up to date as they come, go and report.

use super::selector::{Feedback, Needs, View};
use crate::clock::SimTime;
use crate::record::Outcome;
use std::sync::Arc;

/// One entry for every client in every column.
pub struct Columns {
    present: Vec<bool>,
    busy: Vec<bool>,
    available: Vec<bool>,
    available_count: usize,
    p: Arc<[f64]>,
    /// Empty where no selector looks at them.
    last_duration: Vec<f64>,
    last_norm: Vec<f64>,
    times_used: Vec<u32>,
}

impl Columns {
    /// All clients are present and free.
    pub fn new(p: Arc<[f64]>, needs: Needs) -> Self {
        let clients = p.len();
        let history = if needs == Needs::Everything { clients } else { 0 };
        Columns {
            present: vec![true; clients],
            busy: vec![false; clients],
            available: vec![true; clients],
            available_count: clients,
            p,
            last_duration: vec![f64::NAN; history],
            last_norm: vec![f64::NAN; history],
            times_used: vec![0; history],
        }
    }

    /// A client comes or goes.
    pub fn set_present(&mut self, client: u32, present: bool) {
        self.present[client as usize] = present;
        self.update(client);
    }

    /// A client is asked, or its participation ends.
    pub fn set_busy(&mut self, client: u32, busy: bool) {
        self.busy[client as usize] = busy;
        self.update(client);
    }

    fn update(&mut self, client: u32) {
        let client = client as usize;
        let now = self.present[client] && !self.busy[client];
        let before = std::mem::replace(&mut self.available[client], now);
        self.available_count += usize::from(now);
        self.available_count -= usize::from(before);
    }

    /// A participation ended.
    pub fn hear(&mut self, feedback: &Feedback) {
        let client = feedback.client as usize;
        let Some(duration) = self.last_duration.get_mut(client) else { return };
        *duration = feedback.duration.seconds();
        self.last_norm[client] = feedback.norm;
        self.times_used[client] += u32::from(feedback.outcome == Outcome::Used);
    }

    /// How many clients can be asked.
    pub fn available_count(&self) -> usize {
        self.available_count
    }

    /// Whether a client can be asked.
    pub fn is_available(&self, client: u32) -> bool {
        self.available[client as usize]
    }

    /// Whether a client is there.
    pub fn is_present(&self, client: u32) -> bool {
        self.present[client as usize]
    }

    /// Whether a client takes part.
    pub fn is_busy(&self, client: u32) -> bool {
        self.busy[client as usize]
    }

    /// What a selector sees that is asked for `wanted` clients.
    pub fn view(&self, round: u64, now: SimTime, wanted: usize) -> View<'_> {
        View {
            round,
            now,
            wanted,
            available_count: self.available_count,
            available: &self.available,
            present: &self.present,
            busy: &self.busy,
            p: &self.p,
            last_duration: &self.last_duration,
            last_norm: &self.last_norm,
            times_used: &self.times_used,
        }
    }
}
