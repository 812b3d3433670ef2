//! `{ plugin = "name", … }`: what users bring, where a scenario may name it.
//!
//! A plug-in's table is not of the scenario's own language, so it is taken out of the tree before that
//! is read. It is made once while the scenario is read: what is wrong with its parameters is told with
//! their place, and what has to be known of it beforehand is asked.

use super::error::ScenarioError;
use super::plan::Plan;
use super::source::Where;
use super::suggest::nearest;
use super::tree::{KeyValue, Node, Raw};
use crate::aggregate::{OptimizerConfig, WeightingConfig};
use crate::plugins::{ChosenPlugins, ChosenTask, Parameter, Parameters, PluginError, Plugins};
use crate::policy::{Character, Close, Drawing, Scheme, WorkConfig};

/// The keys that may name a plug-in.
const KEYS: [&str; 6] = [
    "server.scheme",
    "client.work",
    "server.close",
    "server.weighting",
    "server.optimizer",
    "task.kind",
];

/// The plug-ins of a scenario, before they are known to be right.
pub(super) struct Lifted {
    /// The policies.
    pub chosen: ChosenPlugins,
    /// `[task] kind`.
    pub task: Option<(ChosenTask, Node)>,
    /// Key, and the table it was written in.
    nodes: Vec<(&'static str, Node)>,
}

/// Takes the tables of plug-ins out of a tree.
pub(super) fn lift(tree: &mut Node, plugins: &Plugins) -> Result<Lifted, ScenarioError> {
    let mut lifted = Lifted { chosen: ChosenPlugins::default(), task: None, nodes: Vec::new() };
    for key in KEYS {
        let Some(node) = take(tree, key) else { continue };
        let named = node.get("plugin").unwrap_or(&node);
        let name = named.text()?;
        let parameters = Parameters::new(parameters(&node)?);
        let chosen = &mut lifted.chosen;
        let found = match key {
            "server.scheme" => {
                plugins.choose_selector(name, parameters).map(|one| chosen.selector = Some(one))
            }
            "client.work" => {
                plugins.choose_work(name, parameters).map(|one| chosen.work = Some(one))
            }
            "server.close" => {
                plugins.choose_closing(name, parameters).map(|one| chosen.closing = Some(one))
            }
            "server.weighting" => {
                plugins.choose_weighting(name, parameters).map(|one| chosen.weighting = Some(one))
            }
            "server.optimizer" => {
                plugins.choose_optimizer(name, parameters).map(|one| chosen.optimizer = Some(one))
            }
            _ => {
                let task = plugins.choose_task(name, parameters);
                task.map(|task| lifted.task = Some((task, node.clone())))
            }
        };
        found.map_err(|names| unknown(key, name, &names, &named.at))?;
        lifted.nodes.push((key, node));
    }
    Ok(lifted)
}

/// Takes the table at `path` out of the tree, if it names a plug-in.
fn take(tree: &mut Node, path: &str) -> Option<Node> {
    let (table, key) = path.split_once('.')?;
    let Raw::Table(root) = &mut tree.value else { return None };
    let section = root.entries.iter_mut().find(|entry| entry.key == table)?;
    let Raw::Table(section) = &mut section.node.value else { return None };
    let place = section.entries.iter().position(|entry| entry.key == key)?;
    section.entries[place].node.get("plugin")?;
    Some(section.entries.remove(place).node)
}

fn unknown(key: &str, name: &str, names: &[String], at: &Where) -> ScenarioError {
    let error = at.error(format!("no plug-in \"{name}\" is registered for `{key}`"));
    match names {
        [] => error.expected("one that the program registers; none is registered for this key"),
        names => {
            let near = nearest(name, names.iter().map(String::as_str)).map(str::to_string);
            let list = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>();
            error.expected(format_args!("one of: {}", list.join(", "))).meant(near)
        }
    }
}

/// Everything beside the name.
fn parameters(node: &Node) -> Result<Vec<(String, Parameter)>, ScenarioError> {
    let Raw::Table(table) = &node.value else { return Ok(Vec::new()) };
    let others = table.entries.iter().filter(|entry| entry.key != "plugin");
    others.map(|entry: &KeyValue| Ok((entry.key.clone(), parameter(&entry.node)?))).collect()
}

fn parameter(node: &Node) -> Result<Parameter, ScenarioError> {
    Ok(match &node.value {
        Raw::String(text) => Parameter::Text(text.clone()),
        Raw::Integer(number) => Parameter::Integer(*number),
        Raw::Float(number) => Parameter::Number(*number),
        Raw::Bool(truth) => Parameter::Truth(*truth),
        Raw::Date => {
            let error = node.at.error("a date or time of day cannot be a parameter");
            return Err(error.expected("text, a number, `true` or `false`, an array or a table"));
        }
        Raw::Array(nodes) => {
            Parameter::List(nodes.iter().map(parameter).collect::<Result<_, _>>()?)
        }
        Raw::Table(table) => {
            let entry = |entry: &KeyValue| Ok((entry.key.clone(), parameter(&entry.node)?));
            Parameter::Table(table.entries.iter().map(entry).collect::<Result<_, _>>()?)
        }
    })
}

/// An error of a plug-in, at its parameter.
pub(super) fn at(node: &Node, error: &PluginError) -> ScenarioError {
    let at = error.parameter().map_or(&node.at, |parameter| node.place(parameter));
    let said = at.error(error.message());
    match error.wanted() {
        Some(expected) => said.expected(expected),
        None => said,
    }
}

impl Lifted {
    fn node(&self, key: &str) -> &Node {
        let found = self.nodes.iter().find(|(other, _)| *other == key);
        &found.expect("it was lifted").1
    }

    /// Says in a plan which of its policies are plug-ins, before any of them is made.
    pub(super) fn announce(&self, plan: &mut Plan) {
        let ChosenPlugins { selector, work, closing, weighting, optimizer } = &self.chosen;
        if selector.is_some() {
            plan.server.scheme = Scheme::Plugin(Drawing::Unknown);
        }
        if work.is_some() {
            plan.client.work = WorkConfig::Plugin;
        }
        if closing.is_some() {
            plan.server.close = Close::Plugin(Character::ROUNDS);
        }
        if weighting.is_some() {
            plan.server.rule.weighting = WeightingConfig::Plugin;
        }
        if optimizer.is_some() {
            plan.server.optimizer = OptimizerConfig::Plugin { collects: false };
        }
        plan.plugins = self.chosen.clone();
    }

    /// Makes every plug-in of a plan once, and asks what has to be known beforehand.
    pub(super) fn try_out(&self, plan: &mut Plan, seed: u64) -> Result<(), ScenarioError> {
        if self.chosen.is_empty() {
            return Ok(());
        }
        // A plug-in of `client.work` is made where the clients are drawn.
        let key = if self.chosen.work.is_some() { "client.work" } else { self.nodes[0].0 };
        let drawn = plan.draw(seed).map_err(|error| match error {
            super::DrawError::Plugin(error) => at(self.node(key), &error),
            other => self.node(key).at.error(other.to_string()),
        })?;
        let view = plan.fleet_view(seed, &drawn);
        let wrong = |key: &'static str| move |error: PluginError| at(self.node(key), &error);
        if let Some(selector) = &self.chosen.selector {
            let made = selector.make(&view).map_err(wrong("server.scheme"))?;
            plan.server.scheme = Scheme::Plugin(made.drawing());
        }
        if let Some(closing) = &self.chosen.closing {
            let made = closing.make(&view).map_err(wrong("server.close"))?;
            plan.server.close = Close::Plugin(made.character());
        }
        if let Some(weighting) = &self.chosen.weighting {
            weighting.make(&view).map_err(wrong("server.weighting"))?;
        }
        if let Some(optimizer) = &self.chosen.optimizer {
            let made = optimizer.make(&view).map_err(wrong("server.optimizer"))?;
            plan.server.optimizer = OptimizerConfig::Plugin { collects: made.collects() };
        }
        Ok(())
    }
}
