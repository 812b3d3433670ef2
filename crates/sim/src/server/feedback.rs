//! What the selector learns of those who come back.

use super::Server;
use crate::policy::Feedback;
use crate::record::ClientRow;

impl Server {
    /// Tells the selector of a client that is back, if it wants to know. `norm` is ‖d_i‖, as
    /// [`Feedback`] has it.
    pub(super) fn tell(&mut self, row: &ClientRow, norm: impl FnOnce() -> Option<f64>) {
        if self.selector.listens() {
            let duration = row.arrived.since(row.dispatched);
            let feedback = Feedback { round: row.round, duration, norm: norm() };
            self.selector.heard(row.client, feedback);
        }
    }
}

/// ‖d_i‖ = ‖Δ_i‖/(η‖a_i‖₁), with `gain` = η‖a_i‖₁; 1 if nothing was trained.
pub(super) fn norm(delta: &[f64], gain: f64) -> Option<f64> {
    let squares = delta.iter().map(|entry| entry * entry).sum::<f64>();
    Some(if delta.is_empty() { 1.0 } else { squares.sqrt() / gain })
}
