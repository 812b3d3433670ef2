//! Quadratic local objectives, the paper's case study.

use crate::random::Dist;

/// `[task] kind = "quadratic"`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuadraticConfig {
    /// Dimension d of x.
    pub dim: usize,
    /// The vectors e_i.
    pub centers: Centers,
    /// The matrices H_i.
    pub curvature: Curvature,
    /// The weights p_i, one per client, positive and summing to 1; `None` for equal ones.
    pub weights: Option<Vec<f64>>,
    /// Standard deviation of normal noise added to every entry of every gradient.
    pub gradient_noise: f64,
}

/// The vectors e_i.
#[derive(Clone, Debug, PartialEq)]
pub enum Centers {
    /// Every entry drawn independently.
    Random(Dist),
    /// One vector per client.
    Explicit(Vec<Vec<f64>>),
}

/// The matrices H_i, symmetric and positive definite.
#[derive(Clone, Debug, PartialEq)]
pub enum Curvature {
    /// H_i = I.
    Identity,
    /// One diagonal per client.
    Diagonal(Vec<Vec<f64>>),
    /// One full matrix per client, by rows.
    Full(Vec<Vec<Vec<f64>>>),
}

/// A drawn problem.
pub struct Quadratic {}
