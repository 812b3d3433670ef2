//! `[server] optimizer`: what the server does with the aggregated update.

use super::error::ScenarioError;
use super::schema::entry::Preset::{Required, Toml, Words};
use super::schema::entry::{Choice, Key, choice, key};
use super::section::Section;
use super::tree::Node;
use crate::aggregate::{Moment, OptimizerConfig};

/// The keys of an optimiser.
pub(super) const OPTIMIZER: &[Key] = &[
    key("kind", "", Required, "the method; δ = −τ_eff Σ w_i η d_i is the aggregated update")
        .choices(OPTIMIZERS)
        .listed("server optimisers"),
    key(
        "lr",
        "number above 0",
        Words("1.0 with `\"sgd\"` and `\"momentum\"`, else 0.01"),
        "the server's learning rate",
    ),
    key("momentum", "0 to below 1", Toml("0.9"), "β").with(&["momentum"]),
    key(
        "beta1",
        "0 to below 1",
        Words("0.9; 0.0 with `\"adagrad\"`"),
        "β₁, how much of the mean of δ is kept",
    )
    .with(&["adam", "yogi", "adagrad"]),
    key("beta2", "0 to below 1", Toml("0.99"), "β₂, how much of the mean of δ² is kept")
        .with(&["adam", "yogi"]),
    key("epsilon", "number above 0", Toml("0.001"), "ε; v begins at ε²")
        .with(&["adam", "yogi", "adagrad"]),
];

const OPTIMIZERS: &[Choice] = &[
    choice("\"sgd\"", "x ← x + lr·δ"),
    choice("\"momentum\"", "u ← βu − δ/η, x ← x − lr·η·u (SlowMo)").detail(
        "The buffer is in units of a gradient, so it keeps its meaning when the clients' η changes",
    ),
    choice("\"adam\"", "m ← β₁m + (1−β₁)δ, v ← β₂v + (1−β₂)δ², x ← x + lr·m/(√v + ε)"),
    choice("\"yogi\"", "as \"adam\" with v ← v − (1−β₂)δ²·sign(v − δ²)"),
    choice("\"adagrad\"", "as \"adam\" with v ← v + δ²"),
];

#[derive(Clone, Copy)]
enum Kind {
    Sgd,
    Momentum,
    Adam,
    Yogi,
    Adagrad,
}

const KINDS: [(&str, Kind); 5] = [
    ("sgd", Kind::Sgd),
    ("momentum", Kind::Momentum),
    ("adam", Kind::Adam),
    ("yogi", Kind::Yogi),
    ("adagrad", Kind::Adagrad),
];

/// Reads `optimizer = { kind = "…", … }`. The adaptive methods' defaults are those of Reddi et al.
pub(super) fn read(node: &Node) -> Result<OptimizerConfig, ScenarioError> {
    let mut section = Section::open("server.optimizer", node)?;
    let names = KINDS.map(|(name, _)| format!("\"{name}\"")).join(", ");
    let kind = section.require("kind", &format!("one of {names}"))?;
    let kind = kind.one_of("server.optimizer.kind", "optimizer", &KINDS)?;
    let mut positive = |key, default| {
        let read = |node: &Node| node.number_that(key, "a number above 0", |value| value > 0.0);
        section.get(key).map_or(Ok(default), read)
    };
    let config = match kind {
        Kind::Sgd => OptimizerConfig::Sgd { lr: positive("lr", 1.0)? },
        Kind::Momentum => {
            let lr = positive("lr", 1.0)?;
            OptimizerConfig::Momentum { lr, momentum: factor(&mut section, "momentum", 0.9)? }
        }
        Kind::Adam | Kind::Yogi | Kind::Adagrad => {
            let (lr, epsilon) = (positive("lr", 0.01)?, positive("epsilon", 1e-3)?);
            let (beta1, moment) = match kind {
                Kind::Adagrad => (0.0, Moment::Adagrad),
                Kind::Adam => (0.9, Moment::Adam { beta2: factor(&mut section, "beta2", 0.99)? }),
                _ => (0.9, Moment::Yogi { beta2: factor(&mut section, "beta2", 0.99)? }),
            };
            let beta1 = factor(&mut section, "beta1", beta1)?;
            OptimizerConfig::Adaptive { moment, lr, beta1, epsilon }
        }
    };
    section.finish("with this optimizer").map_err(|error| {
        error.help("--set 'server.optimizer={ kind = \"adam\" }' replaces all of its keys")
    })?;
    Ok(config)
}

/// A number that forgets: from 0 to below 1.
fn factor(
    section: &mut Section<'_>,
    key: &'static str,
    default: f64,
) -> Result<f64, ScenarioError> {
    let read = |node: &Node| {
        node.number_that(key, "a number from 0 to below 1", |value| (0.0..1.0).contains(&value))
    };
    section.get(key).map_or(Ok(default), read)
}
