//! What the selector learns of those who come back.

use super::Server;
use crate::policy::{Feedback, Needs};
use crate::record::ClientRow;

impl Server {
    /// Tells the selector of a participation that ended, if it wants to know. `norm` is ‖d_i‖, as
    /// [`Feedback`] has it.
    pub(super) fn tell(&mut self, row: &ClientRow, norm: impl FnOnce() -> f64) {
        if self.selection.needs() == Needs::Everything {
            let &ClientRow { client, round, outcome, tau, .. } = row;
            let duration = row.arrived.since(row.dispatched);
            let feedback = Feedback { client, round, outcome, tau, duration, norm: norm() };
            self.attendance.hear(&feedback);
            self.selection.heard(&feedback);
        }
    }
}

impl Server {
    /// Tells the selector of an update that is used, with its norm.
    pub(super) fn tell_norm(&mut self, row: &ClientRow, delta: &[f64], gain: f64) {
        if self.selection.needs() != Needs::Everything {
            return;
        }
        let norm = self.replayed_norm().unwrap_or_else(|| {
            let norm = norm(delta, gain);
            self.log.iter_mut().for_each(|log| log.norms.push(norm));
            norm
        });
        self.tell(row, || norm);
    }
}

/// ‖d_i‖ = ‖Δ_i‖/(η‖a_i‖₁), with `gain` = η‖a_i‖₁; 1 if nothing was trained.
fn norm(delta: &[f64], gain: f64) -> f64 {
    let squares = delta.iter().map(|entry| entry * entry).sum::<f64>();
    if delta.is_empty() { 1.0 } else { squares.sqrt() / gain }
}
