//! `[task] kind = "quadratic"`: centres, curvatures and weights, drawn or written out.

use super::{Found, Given};
use crate::data::{
    Centers, Curvature, Init, QuadraticConfig, ShareError, Shares, Task, TaskError, TrainerSetup,
};
use crate::matrix::{Matrix, NotPositiveDefinite};
use crate::metric::Metric;
use crate::random::{Dist, Shape};
use crate::scenario::dist;
use crate::scenario::error::ScenarioError;
use crate::scenario::section::Section;
use crate::scenario::tree::{Node, Raw};
use crate::scenario::value::Unit;
use crate::train::{QuadraticTrainer, Trainer};
use std::any::Any;
use std::sync::Arc;

/// Reads the keys of a quadratic task.
pub(super) fn read(section: &mut Section<'_>, given: &Given<'_>) -> Result<Found, ScenarioError> {
    let clients = given.clients();
    let dim = section.get("dim").map(|node| node.whole("dim", 1..=10_000_000)).transpose()?;
    let dim = dim.map(|dim| dim as usize);
    let (centers, dim) = match section.get("centers") {
        Some(node) => read_centers(node, clients, dim)?,
        None => {
            let shape = Shape::Normal { mean: 0.0, std: 0.1 };
            let dist = Dist { shape, plus: 0.0, min: None, max: None };
            (Centers::Random(dist), dim.unwrap_or(10))
        }
    };
    let curvature = section
        .get("curvature")
        .map_or(Ok(Curvature::Identity), |node| read_curvature(node, clients, dim))?;
    let weights = section.get("weights").map_or(Ok(None), |node| read_weights(node, clients))?;
    let gradient_noise = match section.get("gradient_noise") {
        Some(node) => {
            node.number_that("gradient_noise", "a standard deviation, 0 or more", |std| std >= 0.0)?
        }
        None => 0.0,
    };
    let problem = QuadraticConfig { dim, centers, curvature, weights, gradient_noise };
    Ok(Found { clients, init: Init::Zeros, problem: Arc::new(problem) })
}

impl Task for QuadraticConfig {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn model(&self) -> &'static str {
        "quadratic"
    }

    fn parameters(&self) -> usize {
        self.dim
    }

    /// A multiplication and an addition for every entry of H_i.
    fn flops(&self, _samples: usize) -> f64 {
        match self.curvature {
            Curvature::Full(_) => 2.0 * (self.dim * self.dim) as f64,
            Curvature::Identity | Curvature::Diagonal(_) => 2.0 * self.dim as f64,
        }
    }

    fn measures(&self, metric: Metric) -> bool {
        !matches!(metric, Metric::TestAccuracy | Metric::TestLoss)
    }

    fn shares(&self, clients: usize, _seed: u64) -> Result<Shares, ShareError> {
        let equal = || vec![1.0 / clients as f64; clients];
        Ok(Shares { p: self.weights.clone().unwrap_or_else(equal), samples: Vec::new() })
    }

    fn trainer(&self, setup: &TrainerSetup) -> Result<Arc<dyn Trainer>, TaskError> {
        let p = self.shares(setup.clients, setup.seed)?.p;
        Ok(Arc::new(QuadraticTrainer::new(self.init(setup.seed, &p), setup.seed)))
    }

    fn data_bytes(&self, clients: usize, _samples: f64) -> f64 {
        clients as f64 * self.dim as f64 * 8.0
    }

    fn tensors(&self) -> Result<Vec<(String, Vec<usize>)>, TaskError> {
        Ok(vec![("x".into(), vec![self.dim])])
    }

    fn without_samples(&self) -> Option<&'static str> {
        Some("for noisy gradients set `gradient_noise` in [task]")
    }

    fn quadratic(&self) -> Option<&QuadraticConfig> {
        Some(self)
    }
}

/// The centres, and the dimension they settle.
fn read_centers(
    node: &Node,
    clients: usize,
    dim: Option<usize>,
) -> Result<(Centers, usize), ScenarioError> {
    let Raw::Array(_) = &node.value else {
        return Ok((Centers::Random(dist::read(node, Unit::Plain)?), dim.unwrap_or(10)));
    };
    let rows = one_per_client(node, "centers", "vector", clients)?;
    let first = rows.first().map_or(Ok(0), |row| row.array(A_VECTOR).map(<[Node]>::len))?;
    let dim = dim.unwrap_or(first).max(1);
    let vectors = rows.iter().enumerate().map(|(index, row)| vector(row, "centers", index, dim));
    Ok((Centers::Explicit(vectors.collect::<Result<_, _>>()?), dim))
}

const A_VECTOR: &str = "an array of numbers";

fn read_curvature(node: &Node, clients: usize, dim: usize) -> Result<Curvature, ScenarioError> {
    if let Raw::String(_) = node.value {
        return node
            .one_of("task.curvature", "curvature", &[("identity", ())])
            .map(|()| Curvature::Identity);
    }
    let rows = one_per_client(node, "curvature", "diagonal or matrix", clients)?;
    let is_array = |node: &Node| matches!(node.value, Raw::Array(_));
    let is_matrix = |row: &Node| match &row.value {
        Raw::Array(entries) => entries.first().is_some_and(is_array),
        _ => false,
    };
    if rows.first().is_some_and(is_matrix) {
        let matrices = rows.iter().enumerate().map(|(index, row)| matrix(row, index, dim));
        return Ok(Curvature::Full(matrices.collect::<Result<_, _>>()?));
    }
    let diagonals = rows.iter().enumerate().map(|(index, row)| {
        let diagonal = vector(row, "curvature", index, dim)?;
        match diagonal.iter().all(|entry| *entry > 0.0) {
            true => Ok(diagonal),
            false => Err(row
                .at
                .error(format!(
                    "the diagonal `curvature[{index}]` has an entry that is not positive"
                ))
                .expected("every entry above 0")),
        }
    });
    Ok(Curvature::Diagonal(diagonals.collect::<Result<_, _>>()?))
}

/// The weights, scaled so that rounding in the file does not show.
fn read_weights(node: &Node, clients: usize) -> Result<Option<Vec<f64>>, ScenarioError> {
    if let Raw::String(_) = node.value {
        return node.one_of("task.weights", "weights", &[("equal", ())]).map(|()| None);
    }
    let rows = one_per_client(node, "weights", "number", clients)?;
    let positive =
        |row: &Node| row.number_that("weights", "a weight above 0", |weight| weight > 0.0);
    let weights: Vec<f64> = rows.iter().map(positive).collect::<Result<_, _>>()?;
    normalized(weights, node, "weights").map(Some)
}

/// Divides by the sum, which must be 1 but for rounding.
pub(in crate::scenario) fn normalized(
    parts: Vec<f64>,
    node: &Node,
    name: &str,
) -> Result<Vec<f64>, ScenarioError> {
    let sum: f64 = parts.iter().sum();
    match (sum - 1.0).abs() <= 1e-6 {
        true => Ok(parts.into_iter().map(|part| part / sum).collect()),
        false => {
            Err(node.at.error(format!("`{name}` sum to {sum:.6}, not to 1")).expected("a sum of 1"))
        }
    }
}

fn one_per_client<'a>(
    node: &'a Node,
    name: &str,
    what: &str,
    clients: usize,
) -> Result<&'a [Node], ScenarioError> {
    let wanted = format!("one {what} per client: {clients}");
    let rows = node.array(&wanted)?;
    match rows.len() == clients {
        true => Ok(rows),
        false => Err(node
            .at
            .error(format!("`{name}` has {} entries for {clients} clients", rows.len()))
            .expected(wanted)
            .help(format_args!("or set `clients = {}` in [task]", rows.len()))),
    }
}

fn vector(row: &Node, name: &str, index: usize, dim: usize) -> Result<Vec<f64>, ScenarioError> {
    let entries = row.array(A_VECTOR)?;
    match entries.len() == dim {
        true => entries.iter().map(Node::number).collect(),
        false => Err(row
            .at
            .error(format!("`{name}[{index}]` has {} entries, not dim = {dim}", entries.len()))
            .expected(format_args!("{dim} numbers"))),
    }
}

fn matrix(node: &Node, index: usize, dim: usize) -> Result<Vec<Vec<f64>>, ScenarioError> {
    let wrong = |what: &str| node.at.error(format!("the matrix `curvature[{index}]` {what}"));
    let rows = node.array("a matrix, by rows")?;
    if rows.len() != dim {
        let error = wrong(&format!("has {} rows, not dim = {dim}", rows.len()));
        return Err(error.expected(format_args!("{dim} rows of {dim} numbers")));
    }
    let name = format!("curvature[{index}]");
    let rows = rows.iter().enumerate();
    let rows: Vec<Vec<f64>> =
        rows.map(|(index, row)| vector(row, &name, index, dim)).collect::<Result<_, _>>()?;
    let asymmetric = |i: usize, j: usize| (rows[i][j] - rows[j][i]).abs() > 1e-9;
    if let Some((i, j)) = pairs(dim).find(|&(i, j)| asymmetric(i, j)) {
        let error = wrong(&format!("is not symmetric: row {i}, column {j}"));
        return Err(error.expected("the same number on both sides of the diagonal"));
    }
    let any = vec![0.0; dim];
    match Matrix::from_rows(&rows).solve(&any) {
        Ok(_) => Ok(rows),
        Err(NotPositiveDefinite) => {
            Err(wrong("is not positive definite").expected("all eigenvalues above 0"))
        }
    }
}

fn pairs(dim: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dim).flat_map(|i| (0..i).map(move |j| (i, j)))
}
