//! `[server] optimizer`: what the server does with the aggregated update.

use super::error::ScenarioError;
use super::section::Section;
use super::tree::Node;
use crate::aggregate::{Moment, OptimizerConfig};

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
    let kind =
        section.require("kind", "\"sgd\", \"momentum\", \"adam\", \"yogi\" or \"adagrad\"")?;
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
