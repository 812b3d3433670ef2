//! One participation: what passes between the server and a client, from being asked to being back.
//!
//! ```text
//!   Round (what every client of it knows) ┐
//!   Request (who, when, how often drawn)  ├─► the client's round ─► Arrival ─► ClientRow
//!   ClientContext (what is this client's own)    ┘
//! ```
//!
//! Server and clients know this room and not each other.

mod messages;

pub use messages::{Arrival, ClientContext, Request, Round, RoundNumbers};

use crate::device::Happening;
use std::cell::RefCell;
use std::rc::Rc;

/// What is scripted to happen to devices, as far as it is known: the server adds what begins with
/// a round.
pub type Script = Rc<RefCell<Vec<Happening>>>;
