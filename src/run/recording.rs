//! `gruppetto trace record`: a run turned back into a trace that replays it.
//!
//! ```text
//!   scenario.toml ──► Plan ──► payload, work, devices, who was there when, deadlines
//!   clients.csv ──► Parts, by client ──► what must be said when ──► Recording ──► TraceWriter
//! ```

mod parts;
mod player;
mod rates;
mod times;
mod trips;

use super::build::{BuildError, assemble};
use super::inputs::{changed_input, input_digests};
use crate::clock::TimeOverflow;
use crate::device::{Effect, EventConfig, FleetConfig, Foresight};
use crate::plugins::Plugins;
use crate::run_files::{ClientsCsv, ReadError, RunTable, Status, Summary};
use crate::scenario::{Plan, RecordClients, Scenario, ScenarioError, Variant};
use gruppetto_trace::{Columns, ComputeColumn, TraceError, TraceWriter};
use parts::Part;
use player::Player;
use std::path::Path;
use times::{Dues, Rounds, comings, script};

/// Which run of a folder is recorded.
#[derive(Clone, Debug, Default)]
pub struct RunSelector {
    /// The variant's name; may be left out where there is one.
    pub variant: Option<String>,
    /// May be left out where there is one.
    pub seed: Option<u64>,
}

/// A trace was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The scenario's name.
    pub name: String,
    /// Clients, and so devices.
    pub devices: usize,
    /// Participations.
    pub parts: usize,
    /// Rows of the trace.
    pub changes: usize,
    /// Whether the run came to its end.
    pub complete: bool,
    /// What of the scenario has to go beside its classes, since the trace tells it.
    pub leave_out: Vec<&'static str>,
}

/// A run cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The run's folder.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The trace.
    #[error(transparent)]
    File(#[from] TraceError),
    /// The run's scenario.
    #[error("the scenario of the run cannot be read any more\n{0}")]
    Scenario(#[from] ScenarioError),
    /// The run's devices.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Times that make no sense.
    #[error(transparent)]
    Time(#[from] TimeOverflow),
    /// There is no such run.
    #[error("{0}")]
    Choice(String),
}

/// Writes to `out` a trace that replays a run of the folder `run`.
pub fn record(run: &Path, selector: &RunSelector, out: &Path) -> Result<Recorded, RecordError> {
    let summary = Summary::read(run)?;
    let version = &summary.version;
    if !(1..40).contains(&version.len()) || version.contains(char::is_control) {
        let what = "its `version` is not that of a program";
        return Err(ReadError::broken(run.join(Summary::FILE), what).into());
    }
    let path = run.join("scenario.toml");
    let scenario = Scenario::load(&path, &Plugins::new())?;
    let (variant, seed) = choose(&scenario, selector)?;
    let csv = run.join(ClientsCsv::FILE);
    if scenario.record_clients != RecordClients::All {
        let error = ReadError::broken(csv, "it does not tell of every client");
        return Err(error.help("run it again without `clients` in [record]").into());
    }
    // The bytes on the disk are what the run began with: loaded, a relative name may have changed.
    summary.read_scenario(run)?;
    if let Some(path) = changed_input(&summary.inputs, &input_digests(&scenario)) {
        let error = ReadError::broken(path, "it is not what the run was made with any more");
        return Err(error.help("the devices would be wrong: run the scenario again").into());
    }
    let (plan, name) = (&variant.plan, (variant.name.as_str(), seed));
    let adaptive = plan.server.close.adaptive().is_some();
    let parts = parts::read(run, name, plan.task.clients, adaptive)?;
    if parts.all.is_empty() {
        let what = format!("nobody took part in variant {} with seed {seed}", variant.name);
        return Err(ReadError::broken(csv, what).help("did the run get that far?").into());
    }
    // One that diverged came to its end as well.
    let ended = summary.variants.iter().find(|run| {
        run.name == variant.name && run.seed == seed && run.status != Status::Incomplete
    });
    // A row for every client that was asked: each came to some end.
    let asked = ended.map(|run| run.outcomes.iter().sum::<u64>());
    if let Some(asked) = asked.filter(|asked| *asked != parts.all.len() as u64) {
        let rows = parts.all.len();
        let what = format!("it has {rows} rows of a run that wrote {asked}");
        return Err(ReadError::broken(csv, what).into());
    }
    let rounds = Rounds::read(run, name, plan)?;
    let dues = Dues::of(plan, &parts, &rounds)?;
    let mut client_side = assemble(plan, seed, None)?.client_side;
    client_side.script = script(plan, seed, &client_side.fleet, &rounds)?;
    let end = parts.all.iter().map(Part::end).max().unwrap_or(0);
    let comings = comings(plan, seed, &client_side.fleet, &rounds, end)?;
    let player = Player {
        payload: plan.payload(),
        client_side: &client_side,
        dues: &dues,
        one_by_one: plan.server.close.is_asynchronous(),
        digits: (plan.task.clients - 1).to_string().len().max(4),
    };
    let note = format!(
        "Recorded by Gruppetto {} from a run of Gruppetto {}:\n{}, variant {}, seed {seed}",
        env!("CARGO_PKG_VERSION"),
        version,
        scenario.name,
        variant.name
    );
    let told =
        Columns { compute: Some(ComputeColumn::Step), up: true, down: true, available: true };
    let mut writer = TraceWriter::create(out, told, &note)?;
    let mut changes = 0;
    let (mut parts_left, mut comings_left) = (&parts.all[..], &comings.unwrap_or_default()[..]);
    for client in 0..plan.task.clients as u32 {
        let parts = take(&mut parts_left, |part| part.client == client);
        let comings = take(&mut comings_left, |coming| coming.client == client);
        let recording = player.device(client, parts, comings);
        changes += recording.changes.len();
        writer.write(&recording)?;
    }
    writer.finish()?;
    Ok(Recorded {
        name: scenario.name.clone(),
        devices: plan.task.clients,
        parts: parts.all.len(),
        changes,
        complete: ended.is_some(),
        leave_out: leave_out(plan),
    })
}

/// What a trace tells, and a scenario must not do once more.
fn leave_out(plan: &Plan) -> Vec<&'static str> {
    let FleetConfig { server_uplink, server_downlink, .. } = &plan.fleet;
    let shared = server_uplink.is_some() || server_downlink.is_some();
    let on_devices = |event: &EventConfig| matches!(event.effect, Effect::Devices(..));
    let shared = shared.then_some("server_uplink and server_downlink in [fleet]");
    let events = plan.events.iter().any(on_devices);
    let events = events.then_some("every [[event]] that concerns devices");
    // Who stopped where is in the trace, as if every client had foreseen it.
    let foresight = plan.client.foresight != Foresight::Exact;
    let foresight = foresight.then_some("foresight in [client]");
    [shared, events, foresight].into_iter().flatten().collect()
}

/// The variant and the seed of the selected run.
fn choose<'a>(
    scenario: &'a Scenario,
    selector: &RunSelector,
) -> Result<(&'a Variant, u64), RecordError> {
    let names: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
    let names = names.join(", ");
    let variant = match (&selector.variant, &scenario.variants[..]) {
        (Some(name), variants) => variants
            .iter()
            .find(|variant| variant.name == *name)
            .ok_or_else(|| format!("--variant {name}: the run has {names}")),
        (None, [variant]) => Ok(variant),
        (None, _) => Err(format!("the run has several variants: say --variant, one of {names}")),
    };
    let (first, last) = (scenario.seed, scenario.seed.wrapping_add(scenario.repeats - 1));
    let seed = match selector.seed {
        Some(seed) if seed.wrapping_sub(first) < scenario.repeats => Ok(seed),
        Some(seed) if first == last => Err(format!("--seed {seed}: the run has {first}")),
        Some(seed) => Err(format!("--seed {seed}: the run has {first} to {last}")),
        None if first == last => Ok(first),
        None => Err(format!("the run has several seeds: say --seed, from {first} to {last}")),
    };
    Ok((variant.map_err(RecordError::Choice)?, seed.map_err(RecordError::Choice)?))
}

/// Takes from the beginning of `all` those of which `is_one` holds.
fn take<'a, T>(all: &mut &'a [T], is_one: impl Fn(&T) -> bool) -> &'a [T] {
    let (taken, left) = all.split_at(all.iter().take_while(|one| is_one(one)).count());
    *all = left;
    taken
}
