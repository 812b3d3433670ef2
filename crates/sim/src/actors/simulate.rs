//! Sets the actors up, waits for the end, and takes them down.

use super::ending::{Ending, RunError};
use super::recorder::Recorder;
use super::server::{Checkpoints, Post, ServerActor, TakeModel};
use crate::client::ClientSide;
use crate::clock::{self, Clock, SimTime};
use crate::observer::Observer;
use crate::record::StopReason;
use crate::server::Server;
use crate::train::Interrupt;
use actix::prelude::*;
use std::rc::Rc;

/// Which clock drives a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClockMode {
    /// Time jumps.
    Virtual,
    /// Time passes, this many times as fast as on the wall.
    Wall(f64),
}

/// Everything one run needs.
pub struct Simulation {
    /// Its seed, for messages.
    pub seed: u64,
    /// The server.
    pub server: Server,
    /// The clients' side.
    pub client_side: ClientSide,
    /// Told of everything, in this order.
    pub observers: Vec<Box<dyn Observer>>,
    /// Which clock.
    pub clock_mode: ClockMode,
    /// `[stop] time`.
    pub stop_time: Option<SimTime>,
    /// Who may want it to end.
    pub interrupt: Interrupt,
    /// Who keeps checkpoints, if anybody does.
    pub checkpoints: Option<Box<dyn Checkpoints>>,
}

/// A run that ended.
pub struct Finished {
    /// The model; empty in runs that do not train.
    pub parameters: Vec<f64>,
    /// How it ended.
    pub result: Result<StopReason, RunError>,
}

/// Runs a simulation to its end on the calling thread. An `Err` means that it could not even be
/// started; a run that fails on the way is still [`Finished`].
pub fn simulate(simulation: Simulation) -> Result<Finished, RunError> {
    let runtime = runtime(simulation.clock_mode)?;
    let system = System::with_tokio_rt(move || runtime);
    system.block_on(drive(simulation))
}

fn runtime(clock_mode: ClockMode) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    match clock_mode {
        ClockMode::Wall(_) => builder.enable_time(),
        // No driver at all: the runtime never looks outside, it parks and our clock moves.
        ClockMode::Virtual => builder.on_thread_park(clock::advance),
    };
    builder.build()
}

async fn drive(simulation: Simulation) -> Result<Finished, RunError> {
    let Simulation { seed, mut server, client_side, observers, clock_mode, stop_time, .. } =
        simulation;
    let (interrupt, checkpoints) = (simulation.interrupt, simulation.checkpoints);
    if let Some(training) = &client_side.training {
        training.pool.heed(interrupt.clone());
    }
    if checkpoints.is_some() {
        server.keep_log();
    }
    let clock = match clock_mode {
        ClockMode::Virtual => Clock::virtual_time(),
        ClockMode::Wall(speedup) => Clock::wall(speedup),
    };
    clock.reserve(client_side.fleet.devices.len() + 2);
    let ending = Rc::new(Ending::new(seed));
    let recorder = Rc::new(Recorder::start(observers, ending.clone())?);
    let post = Post { ending: ending.clone(), recorder: recorder.clone(), interrupt, checkpoints };
    let server = ServerActor::new(server, client_side, clock.clone(), post, stop_time).start();
    let stalled = tokio::select! {
        biased;
        () = ending.wait() => false,
        () = clock.stalled() => true,
    };
    let (parameters, round) = server.send(TakeModel).await.unwrap_or_default();
    if stalled {
        ending.announce(Err(RunError::Stalled { now: clock.now(), round, seed }));
    }
    recorder.finish();
    let result = ending.take().expect("it has just ended");
    Ok(Finished { parameters, result })
}
