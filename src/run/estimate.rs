//! What a plan will cost, found by sending one round's clients off without training.

use super::build::{BuildError, Built, build};
use super::first_round::first_opening;
use crate::client::ClientSide;
use crate::clock::{SimTime, Span};
use crate::device::{ClassConfig, Payload};
use crate::participation::Round;
use crate::policy::{Sent, WorkConfig, rehearse};
use crate::record::Outcome;
use crate::scenario::{Plan, Scenario};
use crate::server::Opening;
use std::fmt;
use std::sync::Arc;

/// Bytes of a client on its way: its actor, mailbox, sleep, device and bookkeeping, as measured
/// with a million of them.
const LIVE_CLIENT: u64 = 1200;

/// Bytes of the training that waits for a client's arrival.
const JOB: u64 = 400;

/// Steps of a client that are drawn one by one to estimate its round.
const MOST_DRAWN: u64 = 10_000;

/// Rounds that are assumed of a run that ends with its target.
const UNKNOWN_ROUNDS: u64 = 100;

/// How long the first round waits for clients.
#[derive(Clone, Copy, PartialEq)]
enum FirstWait {
    For(Span),
    /// Enough may come, but not as early as this.
    LongerThan(Span),
    /// Enough will never come.
    Forever,
}

/// What one variant will do and cost.
#[non_exhaustive]
pub struct Estimate {
    variant: String,
    rule: String,
    clients: usize,
    classes: Vec<(String, usize)>,
    parameters: usize,
    payload: Payload,
    asked: usize,
    tau: Option<[u64; 3]>,
    no_step: usize,
    late: usize,
    vanished: usize,
    offline: usize,
    /// How many clients are there at the start, where that varies.
    there: Option<usize>,
    longest: Span,
    waits: FirstWait,
    /// Floating-point operations of learning from one sample; of a step, where a task has no samples.
    flops: f64,
    /// Samples of all local steps in a round.
    pub(super) trained: f64,
    /// Samples of an evaluation.
    pub(super) evaluated: f64,
    /// Rounds between evaluations, where something is measured.
    evaluates: u64,
    /// Whether transfers share links, which nobody knows the load of here.
    shared: bool,
    pub(super) rounds: Option<u64>,
    /// Whether the run has a target.
    aims: bool,
    /// Whether that number follows from how long the first round takes.
    by_time: bool,
    /// Who keeps something from round to round, and its bytes.
    state: Option<(String, u64)>,
    memory: u64,
    overflow: Option<String>,
}

/// Estimates every variant of a scenario, for its first seed.
pub fn estimate(scenario: &Scenario, threads: usize) -> Result<Vec<Estimate>, BuildError> {
    let of = |plan, name| estimate_one(plan, name, scenario.seed, threads);
    scenario.variants.iter().map(|variant| of(&variant.plan, &variant.name)).collect()
}

fn estimate_one(
    plan: &Plan,
    name: &str,
    seed: u64,
    threads: usize,
) -> Result<Estimate, BuildError> {
    let Built { mut server, mut client_side, .. } = build(plan, seed, 0, None)?;
    let (mut taus, mut no_step, mut late, mut arrivals) = (Vec::new(), 0, 0, Vec::new());
    let (mut vanished, mut offline, mut trained) = (0, 0, 0.0);
    let mut overflow = None;
    let mut asked = 0;
    let there = server.clients_come_and_go().then(|| server.can_be_asked());
    let (opens, opening) = first_opening(&mut server);
    let mut waits = FirstWait::For(opens.since(SimTime::ZERO));
    match opening {
        Err(error) => overflow = Some(error.to_string()),
        Ok(Opening::Wait(Some(_))) => waits = FirstWait::LongerThan(opens.since(SimTime::ZERO)),
        Ok(Opening::Nobody | Opening::Wait(None)) => waits = FirstWait::Forever,
        Ok(Opening::Asked(selected)) => {
            asked = selected.len();
            let closes = server.wake();
            for selected in selected {
                let request = server.send_off(selected, opens);
                let context = server.client_context(selected.client, server.round());
                let round = server.round().clone();
                let (client, key, deadline) = (selected.client, context.key, round.deadline);
                let sent = Sent { client, round: round.number, now: opens, deadline, key };
                if makes_many_steps(plan, &client_side, &round, sent) {
                    Arc::make_mut(&mut client_side.fleet).devices[client as usize].jitter = 0.0;
                }
                match client_side.set_out(round, request, context) {
                    Err(error) => overflow = Some(format!("client {}: {error}", selected.client)),
                    Ok(arrival) if arrival.lost == Some(Outcome::Offline) => offline += 1,
                    Ok(arrival) if arrival.lost.is_some() => vanished += 1,
                    Ok(arrival) if arrival.way.tau == 0 => no_step += 1,
                    Ok(arrival) => {
                        let batch = client_side.workload.batch(selected.client);
                        trained += arrival.way.tau as f64 * batch as f64;
                        taus.push(arrival.way.tau);
                        arrivals.push(arrival.way.arrives.since(opens));
                        late += usize::from(closes.is_some_and(|at| arrival.way.arrives > at));
                    }
                }
            }
        }
    }
    let tau = taus
        .iter()
        .min()
        .zip(taus.iter().max())
        .map(|(least, most)| [*least, taus.iter().sum::<u64>() / taus.len() as u64, *most]);
    arrivals.sort();
    let longest = arrivals.last().copied().unwrap_or_default();
    let round = rehearsed(plan, seed, asked, &arrivals)?.unwrap_or(longest);
    let by_time = plan
        .stop
        .time
        .filter(|_| round > Span::ZERO)
        .map(|time| time.nanos().div_ceil(round.nanos()));
    let rounds = match (plan.stop.rounds, by_time) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let counts = plan.fleet.counts(plan.task.clients);
    Ok(Estimate {
        variant: name.into(),
        rule: plan.server.rule.to_string(),
        clients: plan.task.clients,
        classes: client_side.fleet.class_names().into_iter().zip(counts).collect(),
        parameters: plan.task.parameters(),
        payload: plan.payload(),
        asked,
        flops: plan.task.flops(1),
        tau,
        no_step,
        late,
        vanished,
        offline,
        there,
        longest,
        waits,
        trained: trained * plan.server.close.counted(asked) as f64 / asked.max(1) as f64,
        evaluated: plan.task.problem.evaluation_samples(client_side.workload.samples() as f64),
        evaluates: plan.server.evaluate_every,
        shared: plan.fleet.server_uplink.or(plan.fleet.server_downlink).is_some(),
        by_time: rounds.is_some() && rounds == by_time && rounds != plan.stop.rounds,
        rounds,
        aims: plan.stop.target.is_some(),
        state: state(plan),
        memory: memory(plan, &client_side.workload, asked, threads),
        overflow,
    })
}

/// Whether a client makes so many steps that an estimate need not draw them one by one: together they
/// take as long as as many usual ones, to within a hundredth of the jitter.
fn makes_many_steps(plan: &Plan, side: &ClientSide, round: &Round, sent: Sent) -> bool {
    let step = side.fleet.devices[sent.client as usize].step;
    let until = round.due.map(|due| due.since(sent.now).nanos() / step.nanos().max(1));
    let given = match plan.client.work {
        // A plug-in is asked once a participation.
        WorkConfig::Plugin => side.workload.typical_steps(sent.client, step).unwrap_or(Some(0)),
        _ => side.workload.steps(sent, step),
    };
    given.unwrap_or(u64::MAX).min(until.unwrap_or(u64::MAX)) > MOST_DRAWN
}

/// What is kept from round to round: a vector for everybody who may be heard and one for all with
/// variance reduction, one for everybody with error feedback, and the server optimiser's own.
fn state(plan: &Plan) -> Option<(String, u64)> {
    let clients = plan.task.clients as u64;
    let keepers = [
        ("variance reduction", plan.client.variance_reduction.map_or(0, |_| 1 + clients)),
        ("error feedback", if plan.client.packing.error_feedback { clients } else { 0 }),
        ("the server's optimiser", plan.server.optimizer.vectors() as u64),
    ];
    let vectors: u64 = keepers.iter().map(|(_, vectors)| vectors).sum();
    let names: Vec<_> =
        keepers.iter().filter(|(_, vectors)| *vectors > 0).map(|(name, _)| *name).collect();
    (vectors > 0)
        .then(|| (names.join(" and "), vectors * 8 * plan.task.problem.stored_parameters() as u64))
}

/// How long a first round takes whose updates arrive so long after it opened; `None` if it stays open.
fn rehearsed(
    plan: &Plan,
    seed: u64,
    asked: usize,
    arrivals: &[Span],
) -> Result<Option<Span>, BuildError> {
    let mut closing = match (plan.server.close.init(), &plan.plugins.closing) {
        (Some(built_in), _) => built_in,
        (None, Some(chosen)) => chosen.make(&plan.fleet_view(seed, &plan.draw(seed)?))?,
        (None, None) => return Ok(None),
    };
    Ok(rehearse(&mut *closing, asked, arrivals))
}

/// Bytes at the same time: everyone on the way, everyone's bookkeeping, the data, and as many
/// models as workers may hold.
fn memory(plan: &Plan, workload: &crate::policy::Workload, asked: usize, threads: usize) -> u64 {
    let clients = plan.task.clients as u64;
    let parameters = plan.task.parameters() as u64;
    // A tenth of the samples is there for testing.
    let data = plan.task.data_bytes(workload.samples() as f64 / 0.9);
    // Allocators round up, and the test set grows by doubling.
    let data = (1.2 * data) as u64;
    let models = 4 + 6 * threads as u64;
    // Links, places in recordings and presence are kept of devices that change.
    let changes = |class: &ClassConfig| {
        class.trace.is_some()
            || class.links.is_some()
            || class.availability.is_some()
            || class.slowdown.is_some()
    };
    let lively = !plan.events.is_empty() || plan.fleet.classes.iter().any(changes);
    let bookkeeping = if lively { 280 } else { 80 };
    let state = state(plan).map_or(0, |(_, bytes)| bytes);
    asked as u64 * (LIVE_CLIENT + JOB)
        + clients * bookkeeping
        + data
        + models * parameters * 8
        + threads as u64 * plan.task.problem.evaluation_bytes() as u64
        + state
}

impl Estimate {
    /// The combination that it is of.
    pub fn name(&self) -> &str {
        &self.variant
    }

    /// Bytes that a run of it needs.
    pub fn bytes(&self) -> u64 {
        self.memory
    }

    /// Whether it is known to fail.
    pub fn will_fail(&self) -> bool {
        self.overflow.is_some()
    }

    /// Participations of a whole run, as far as they can be told.
    pub fn client_rounds(&self) -> f64 {
        self.rounds.unwrap_or(UNKNOWN_ROUNDS) as f64 * self.asked as f64
    }

    /// Floating-point operations of training and evaluation in a whole run, as far as they can be told.
    pub fn operations(&self) -> f64 {
        let rounds = self.rounds.unwrap_or(UNKNOWN_ROUNDS) as f64;
        let evaluations = 1.0 + rounds / self.evaluates.max(1) as f64;
        // An evaluation goes one way, a step both.
        rounds * self.trained * self.flops + evaluations * self.evaluated * self.flops / 2.0
    }

    /// What a whole run costs beside others: it depends on the scenario alone. A participation counts as much as so many
    /// operations.
    pub fn cost(&self) -> f64 {
        self.operations() + 2e4 * self.client_rounds()
    }

    /// Whether not even the first round opens, as far as it has been looked.
    fn opens_never(&self) -> bool {
        !matches!(self.waits, FirstWait::For(_))
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, label: &str, text: String| {
            writeln!(f, "  {label:14}{text}")
        };
        writeln!(f, "{}", self.variant)?;
        line(f, "rule", self.rule.clone())?;
        let mut classes: Vec<String> =
            self.classes.iter().map(|(name, count)| format!("{count} {name}")).collect();
        if classes.len() > 8 {
            let more = format!("{} other classes", classes.split_off(6).len());
            classes.push(more);
        }
        line(f, "clients", format!("{} ({})", self.clients, classes.join(", ")))?;
        let [down, up] = [self.payload.down, self.payload.up].map(|bits| size(bits.div_ceil(8)));
        let ways = match down == up {
            true => format!("{down} each way"),
            false => format!("{down} down, {up} up"),
        };
        line(f, "model", format!("{} parameters, {ways}", self.parameters))?;
        if let Some(there) = self.there {
            line(f, "there", format!("{there} at the start"))?;
        }
        match self.waits {
            FirstWait::Forever => {
                line(f, "waits", "for ever: too few clients are ever there".into())?
            }
            FirstWait::LongerThan(wait) => {
                line(f, "waits", format!("longer than {wait} for clients (round 1)"))?;
            }
            FirstWait::For(Span::ZERO) => {}
            FirstWait::For(wait) => line(f, "waits", format!("{wait} for clients (round 1)"))?,
        }
        line(f, "asked a round", self.asked.to_string())?;
        match self.tau {
            None if self.opens_never() => {}
            None if self.asked == 0 => {
                line(f, "local steps", "none: nobody is there at first".into())?
            }
            Some([least, mean, most]) => {
                line(f, "local steps", format!("{least} to {most}, {mean} on average (round 1)"))?;
                let shared =
                    if self.shared { ", were the server's links without limit" } else { "" };
                line(f, "slowest", format!("back after {}{shared}", self.longest))?;
            }
            None => line(f, "local steps", "none: nobody makes a single step in time".into())?,
        }
        if self.no_step + self.late + self.vanished + self.offline > 0 {
            let mut text = format!("{} make no step, {} come late", self.no_step, self.late);
            if self.vanished > 0 {
                text.push_str(&format!(", {} vanish", self.vanished));
            }
            if self.offline > 0 {
                text.push_str(&format!(", {} go offline", self.offline));
            }
            line(f, "lost", format!("{text} (round 1)"))?;
        }
        match self.rounds {
            _ if self.opens_never() => line(f, "rounds", "none".into())?,
            Some(rounds) => {
                let events = rounds.saturating_mul(self.asked as u64);
                let text = format!("about {rounds}, {} client-rounds", count(events));
                let like = if self.by_time { ", if all take as long as round 1" } else { "" };
                line(f, "rounds", format!("{text}{like}"))?;
            }
            None if self.aims => line(f, "rounds", "until the target is reached".into())?,
            None => line(f, "rounds", "until the time is up".into())?,
        }
        match self.evaluates {
            1 => line(f, "evaluates", "after every round".into())?,
            rounds => line(f, "evaluates", format!("after every {rounds} rounds"))?,
        }
        if let Some(overflow) = &self.overflow {
            line(f, "WILL FAIL", overflow.clone())?;
        }
        if let Some((what, bytes)) = &self.state {
            line(f, "state kept", format!("up to {} ({what})", size(*bytes)))?;
        }
        line(f, "memory", format!("about {}", size(self.memory)))
    }
}

pub(super) fn size(bytes: u64) -> String {
    let b = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", b / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", b / 1e6),
        _ => format!("{:.1} GB", b / 1e9),
    }
}

pub(super) fn count(n: u64) -> String {
    match n {
        0..100_000 => n.to_string(),
        100_000..1_000_000_000 => format!("{:.1} million", n as f64 / 1e6),
        _ => format!("{:.1e}", n as f64),
    }
}
