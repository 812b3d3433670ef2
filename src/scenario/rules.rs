//! What must fit together across the tables of a scenario.

use super::error::ScenarioError;
use super::tree::Node;
use crate::aggregate::Participation;
use crate::device::FleetConfig;
use crate::policy::{ClientConfig, Close, Partial, Sample, Scheme, ServerConfig, Work};

/// Checks one plan. The tree tells where things were written.
pub(super) fn check(
    tree: &Node,
    client: &ClientConfig,
    server: &ServerConfig,
    fleet: Option<&FleetConfig>,
) -> Result<(), ScenarioError> {
    if client.work == Work::UntilDeadline {
        until_deadline(tree, server, fleet)?;
    }
    match server.close {
        Close::First { .. } => first_of(tree, server)?,
        _ if server.scheme == Scheme::BySize && server.sample == Sample::All => {
            let error =
                tree.place("server.scheme").error("drawing by size needs a number of draws");
            return Err(error
                .expected("`sample = { clients = 10 }` or `sample = { fraction = 0.3 }` beside it")
                .note("draws are with replacement, so they would not reach all clients"));
        }
        _ => {}
    }
    if server.partial == Partial::Discard && !matches!(server.close, Close::Deadline(_)) {
        let error = tree.place("server.partial").error("without a deadline no work is partial");
        return Err(error.expected("`close = { deadline = \"30s\" }`, or no `partial`"));
    }
    Ok(())
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
    if !matches!(server.close, Close::Deadline(_)) {
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

fn first_of(tree: &Node, server: &ServerConfig) -> Result<(), ScenarioError> {
    if server.sample != Sample::All {
        let error =
            tree.place("server.sample").error("`of` already says how many clients are asked");
        return Err(error.expected("no `sample` beside close = { first, of }"));
    }
    if server.rule.participation == Participation::Unbiased {
        let error =
            tree.place("server.participation").error("the first to arrive are not a random sample");
        return Err(error
            .expected("\"renormalize\" with close = { first, of }")
            .note("no weighting by sampling chances makes the fastest clients unbiased"));
    }
    Ok(())
}
