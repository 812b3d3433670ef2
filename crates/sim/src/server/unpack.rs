//! What a client sent is taken in, and what it keeps is kept for it.

use super::{Server, ServerError};
use crate::compress::Parcel;
use crate::participation::Round;
use crate::record::ClientRow;
use crate::train::Ticket;
use std::sync::Arc;

/// What a client has trained, or will have.
type PendingParcel = Option<Box<Ticket<Option<Parcel>>>>;

impl Server {
    /// The update that a client sent; empty if nothing was trained. Blocks until it is there.
    pub(super) fn unpack(
        &mut self,
        row: &ClientRow,
        round: &Arc<Round>,
        change: PendingParcel,
    ) -> Result<Vec<f64>, ServerError> {
        let client = row.client;
        let Some(ticket) = change else {
            let unknown = self.training.is_none() || self.is_replaying();
            // Everything a client needs to train is in the checkpoint, or its round opened after it.
            let missing = ServerError::Replay("a client whose model the checkpoint does not have");
            return unknown.then(Vec::new).ok_or(missing);
        };
        let training = |source| ServerError::Training { client, source };
        let Some(Parcel { update, residual }) = ticket.wait().map_err(training)? else {
            // A checkpoint that is taken now still needs what this client was given.
            self.left = Some((*row, round.clone()));
            return Err(ServerError::Interrupted);
        };
        self.residuals.keep(client, residual);
        Ok(update)
    }

    /// Nobody listens to what a client sent. With error feedback it is computed all the same: the
    /// client does not know, and begins its next update with what this one lost.
    pub(super) fn ignore(
        &mut self,
        row: &ClientRow,
        round: &Arc<Round>,
        change: PendingParcel,
    ) -> Result<(), ServerError> {
        match self.residuals.are_kept() {
            true => self.unpack(row, round, change).map(drop),
            false => Ok(()),
        }
    }
}
