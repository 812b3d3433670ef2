//! What a client sent is taken in, and what it keeps is kept for it.

use super::{Server, ServerError};
use crate::compress::Parcel;
use crate::train::Ticket;

impl Server {
    /// The update that a client sent; empty if nothing was trained. Blocks until it is there.
    pub(super) fn unpack(
        &mut self,
        client: u32,
        change: Option<Box<Ticket<Parcel>>>,
    ) -> Result<Vec<f64>, ServerError> {
        let Some(ticket) = change else {
            assert!(self.training.is_none(), "client {client} made steps that nobody trained");
            return Ok(Vec::new());
        };
        let training = |source| ServerError::Training { client, source };
        let Parcel { update, residual } = ticket.wait().map_err(training)?;
        self.residuals.keep(client, residual);
        Ok(update)
    }

    /// Nobody listens to what a client sent. With error feedback it is computed all the same: the
    /// client does not know, and begins its next update with what this one lost.
    pub(super) fn ignore(
        &mut self,
        client: u32,
        change: Option<Box<Ticket<Parcel>>>,
    ) -> Result<(), ServerError> {
        match self.residuals.are_kept() {
            true => self.unpack(client, change).map(drop),
            false => Ok(()),
        }
    }
}
