//! Simulated time: exact, integer, and either virtual or tied to the wall.
//!
//! Everything in Gruppetto that happens, happens at a [`SimTime`], a whole number of nanoseconds
//! since the run began. The [`Clock`] hands out sleeps; who sleeps cannot tell whether the clock
//! is *virtual* (it jumps to the next instant anybody waits for, as soon as nobody has anything
//! left to do) or the *wall* (it waits, divided by a speed-up).
//!
//! ```text
//!   sleep_until(t) ──► (t, order, waker) in a heap
//!                                │
//!   runtime has nothing to run ──► park hook: take the earliest, now ← t, wake it
//! ```
//!
//! Ties are a rule, not an accident. An instant has three parts: what arrives, what is lost
//! ([`Clock::sleep_until_losses_of`]), and what decides on both ([`Clock::sleep_until_end_of`]). Within a part
//! entries wake in the order in which they were asked for. So a deadline still admits an update that
//! arrives exactly on it, and a client that is lost at a deadline is missed before the round closes.

mod sleep;
mod time;
mod timers;

pub use sleep::{Clock, Sleep, advance};
pub use time::{SimTime, Span, TimeOverflow};
