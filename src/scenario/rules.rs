//! What must fit together across the tables of a scenario.

use super::error::ScenarioError;
use super::foresight;
use super::solver::short_number;
use super::source::Where;
use super::tree::Node;
use crate::aggregate::Participation;
use crate::compress::Packing;
use crate::device::{Effect, EventConfig, FleetConfig, LrEffect};
use crate::policy::{
    ClientConfig, Drawing, Late, Partial, Sample, Scheme, ServerConfig, WorkConfig,
};
use crate::solver::{Solver, VarianceReduction};

/// Checks one plan. The tree tells where things were written.
pub(super) fn check(
    tree: &Node,
    client: &ClientConfig,
    server: &ServerConfig,
    fleet: Option<&FleetConfig>,
) -> Result<(), ScenarioError> {
    if client.work == WorkConfig::UntilDeadline {
        until_deadline(tree, server, fleet)?;
    }
    match server.close {
        close if close.asked().is_some() && server.sample != Sample::All => {
            let error =
                tree.place("server.sample").error("`of` already says how many clients are asked");
            return Err(error.expected("no `sample` beside close = { first, of }"));
        }
        close if close.asked().is_some() => {}
        close if close.is_asynchronous() => one_by_one(tree, server)?,
        _ if server.scheme == Scheme::BySize && server.sample == Sample::All => {
            let error =
                tree.place("server.scheme").error("drawing by size needs a number of draws");
            return Err(error
                .expected("`sample = { clients = 10 }` or `sample = { fraction = 0.3 }` beside it")
                .note("draws are with replacement, so they would not reach all clients"));
        }
        _ => {}
    }
    if server.rule.participation == Participation::Unbiased {
        unbiased(tree, server)?;
    }
    rates(tree, client)?;
    if let Some(method) = client.variance_reduction.filter(|method| !method.takes_any_law()) {
        plain_sgd_only(tree, client, method)?;
    }
    if client.variance_reduction.is_some() {
        whole_updates(tree, &client.packing)?;
    }
    if server.partial == Partial::Discard && !server.close.has_deadline() {
        let error = tree.place("server.partial").error("without a deadline no work is partial");
        return Err(error.expected("`close = { deadline = \"30s\" }`, or no `partial`"));
    }
    foresight::check(tree, client.foresight, server)
}

/// What a schedule makes of the learning rates must still be rates, and leave α = ημ at most 1.
fn rates(tree: &Node, client: &ClientConfig) -> Result<(), ScenarioError> {
    let (least, most) = client.recipe.schedule().extremes();
    for law in &client.recipe.classes {
        if let Some(wrong) = misfit(law, (law.lr * least, law.lr * most)) {
            return Err(wrong.at(tree.place(wrong.key)));
        }
    }
    Ok(())
}

/// What is odd about laws that overshoot: early gradients count against the change.
pub(super) fn overshooting(tree: &Node, client: &ClientConfig) -> Option<ScenarioError> {
    let steps = client.recipe.classes.iter().find_map(Solver::first_negative_entry)?;
    let at = tree.place("client.prox");
    let warning = at.error(format!(
        "momentum and proximal term overshoot: a gradient counts against the change {steps} steps later"
    ));
    Some(warning.note(
        "`accumulation` and τ_eff are Σ a_k, which keeps the objective consistent; the norm ‖a‖₁ is larger",
    ))
}

/// The same for what events make of them, one after another and all at once.
pub(super) fn check_rates(
    tree: &Node,
    client: &ClientConfig,
    events: &[EventConfig],
) -> Result<(), ScenarioError> {
    let (mut least, mut most) = client.recipe.schedule().extremes();
    let common = client.recipe.common.lr;
    let mut commons = vec![common];
    for (index, event) in events.iter().enumerate() {
        match event.effect {
            Effect::Lr(LrEffect::To(lr)) => commons.push(lr),
            Effect::Lr(LrEffect::Times(times)) => {
                (least, most) = (least * times.min(1.0), most * times.max(1.0));
            }
            _ => continue,
        }
        for law in &client.recipe.classes {
            // A rate of a class's own keeps its ratio to the common one.
            let rates = commons.iter().map(|lr| lr / common * law.lr);
            let slowest = rates.clone().fold(f64::INFINITY, f64::min) * least;
            let fastest = rates.fold(0.0, f64::max) * most;
            if let Some(wrong) = misfit(law, (slowest, fastest)) {
                let list = tree.get("event").and_then(|list| list.array("[[event]]").ok());
                let node = list.and_then(|nodes| nodes.get(index)).unwrap_or(tree);
                return Err(wrong.at(node.place("lr")));
            }
        }
    }
    Ok(())
}

/// Why a law cannot have some learning rates.
struct Misfit {
    /// What is to blame in a scenario without events.
    key: &'static str,
    message: String,
    expected: &'static str,
    note: Option<&'static str>,
}

impl Misfit {
    fn at(&self, place: &Where) -> ScenarioError {
        let error = place.error(&self.message).expected(self.expected);
        match self.note {
            Some(note) => error.note(note),
            None => error,
        }
    }
}

fn misfit(law: &Solver, (slowest, fastest): (f64, f64)) -> Option<Misfit> {
    if !(slowest >= 1e-300 && fastest <= 1e300) {
        let rate = if fastest > 1e300 { fastest } else { slowest };
        return Some(Misfit {
            key: "client.lr_schedule",
            message: format!("the learning rate becomes {rate:.1e}"),
            expected: "rates between 1e-300 and 1e300 in every round",
            note: None,
        });
    }
    let (tau, least) = Solver { lr: fastest, ..*law }.least_accumulation();
    if least < 0.1 {
        return Some(Misfit {
            key: "client.prox",
            message: format!(
                "momentum and proximal term swing a client back to its start: Σ a_k is {} after \
                 {tau} steps",
                short_number(least)
            ),
            expected: "a smaller momentum or prox",
            note: Some(
                "the server divides a client's change by Σ a_k, how far the constant gradient 1 leads",
            ),
        });
    }
    let alpha = fastest * law.prox;
    (alpha > 1.0 + 1e-12).then(|| Misfit {
        key: "client.lr_schedule",
        message: format!(
            "lr · prox becomes {}: the proximal term would throw a client back beyond its start",
            short_number(alpha)
        ),
        expected: "lr · prox up to 1 in every round",
        note: None,
    })
}

/// SCAFFOLD and VRLSGD take the mean gradient from how far a client moved, which only plain SGD
/// tells.
fn plain_sgd_only(
    tree: &Node,
    client: &ClientConfig,
    method: VarianceReduction,
) -> Result<(), ScenarioError> {
    let name = if method == VarianceReduction::Scaffold { "scaffold" } else { "vrlsgd" };
    let term = |law: &Solver| match law {
        law if law.momentum > 0.0 => Some("momentum"),
        law if law.prox > 0.0 => Some("prox"),
        law if law.lr_decay < 1.0 => Some("lr_decay"),
        _ => None,
    };
    let Some(term) = client.recipe.classes.iter().find_map(term) else {
        return Ok(());
    };
    let error = tree
        .place("client.variance_reduction")
        .error(format!("\"{name}\" is not defined with `{term}`"));
    Err(error
        .expected("\"fednova\", which takes any local solver, or plain SGD in every class")
        .note("the paper's table 1 says so of FedAvg with momentum and variance reduction"))
}

/// Variance reduction reads every entry of a client's gradients off how far it moved in this round.
fn whole_updates(tree: &Node, packing: &Packing) -> Result<(), ScenarioError> {
    let (what, why) = match packing {
        Packing { error_feedback: true, .. } => {
            ("error feedback", "what is left over from earlier rounds says nothing of this one's")
        }
        Packing { compression, .. } if compression.leaves_numbers_out() => {
            ("`top_k`", "an entry that is not sent would be taken for one that did not move")
        }
        _ => return Ok(()),
    };
    let error =
        tree.place("client.compression").error(format!("variance reduction cannot do with {what}"));
    Err(error
        .expected("\"fp16\" or { quantize = 8 }, or no `variance_reduction`")
        .note(format_args!("it reads the gradients off the update: {why}")))
}

fn until_deadline(
    tree: &Node,
    server: &ServerConfig,
    fleet: Option<&FleetConfig>,
) -> Result<(), ScenarioError> {
    let is_given = tree.get("client").is_some_and(|client| client.get("work").is_some());
    // Point at what was written: work if it was, otherwise at what stands against its default.
    let at = |otherwise| tree.place(if is_given { "client.work" } else { otherwise });
    let default = |error: ScenarioError| match is_given {
        true => error,
        false => error.note("without `work` in [client] it is { until = \"deadline\" }"),
    };
    if !server.close.limits_work() {
        let error = at("server.close").error("work until the deadline needs a deadline");
        let error = error.expected("`close = { deadline = \"30s\" }` in [server]");
        return Err(default(error).help("or say how much work there is: `work = { steps = 10 }`"));
    }
    if fleet.is_none() {
        let error = at("client").error("work until the deadline needs a [fleet]");
        let error = error.expected("devices whose speed decides how many steps they make");
        return Err(default(error).help("or say how much work there is: `work = { steps = 10 }`"));
    }
    if server.partial == Partial::Discard {
        let error = tree.place("server.partial").error("there is no partial work to discard");
        let error = error.expected("\"keep\", or work that is { steps = … } or { epochs = … }");
        return Err(error.note("with work until the deadline every client stops in time"));
    }
    Ok(())
}

/// Where clients are sent off one by one, `concurrency` says how many are on their way.
fn one_by_one(tree: &Node, server: &ServerConfig) -> Result<(), ScenarioError> {
    if server.sample != Sample::All {
        let error = tree.place("server.sample").error("clients are sent off one by one here");
        return Err(error
            .expected("`concurrency = 100`, the clients kept busy, and no `sample`")
            .help("in a variant: `set = { server.sample = \"all\", server.concurrency = 100 }`"));
    }
    if server.rule.participation == Participation::Unbiased {
        let error =
            tree.place("server.participation").error("there is no draw to be unbiased over");
        return Err(error
            .expected("\"renormalize\" or \"inverse-probability\" with buffer, each and window")
            .note(
                "who comes back more often counts more often; inverse probability makes up for it",
            ));
    }
    if server.late != Late::Drop {
        let error = tree.place("server.late").error("nobody is late where no round is waited for");
        return Err(error.expected("`staleness` and `max_staleness`, and no `late`"));
    }
    Ok(())
}

/// Unbiased weights divide by the probability with which a client is drawn. It must be known, and every
/// client that was drawn must be waited for.
fn unbiased(tree: &Node, server: &ServerConfig) -> Result<(), ScenarioError> {
    let (what, note) = if server.close.character().leaves_behind {
        ("the first to arrive are not a random sample", "this closing leaves slow clients behind")
    } else if let Scheme::Plugin(Drawing::Unknown) = server.scheme {
        (
            "the plug-in of `server.scheme` does not say how likely each client is to be asked",
            "a selector says so in its `drawing`",
        )
    } else if server.scheme.drawing() == Drawing::Unknown {
        (
            "this scheme asks clients with probabilities that are unknown",
            "schemes \"uniform\" and \"by-size\" draw with known probabilities",
        )
    } else {
        return Ok(());
    };
    let error = tree.place("server.participation").error(what);
    Err(error.expected("\"renormalize\" or \"inverse-probability\"").note(note))
}
