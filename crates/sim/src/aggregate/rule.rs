//! The choices of the general update rule.

use std::fmt;
use std::sync::Arc;

/// How updates are combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleConfig {
    /// The weights w_i.
    pub weighting: WeightingConfig,
    /// The effective number of steps.
    pub tau_eff: TauEff,
    /// What p_i become when not everyone takes part.
    pub participation: Participation,
}

impl fmt::Display for RuleConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weighting = match self.weighting {
            WeightingConfig::FedNova => "FedNova",
            WeightingConfig::FedAvg => "FedAvg",
            WeightingConfig::Uniform => "uniform",
            WeightingConfig::Plugin => "a plug-in",
        };
        let participation = match self.participation {
            Participation::Renormalize => "renormalised over those who arrive",
            Participation::Unbiased => "unbiased over those who are asked",
            Participation::InverseProbability => "by how often each is heard",
        };
        write!(f, "{weighting}, {participation}")
    }
}

/// The weights w_i of the normalized gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightingConfig {
    /// w_i = p_i: consistent (eq. 10).
    FedNova,
    /// w_i ∝ p_i‖a_i‖₁: who makes more steps counts more (eq. 6).
    FedAvg,
    /// w_i = 1/m: FedNova for clients that count the same, however much data each has.
    Uniform,
    /// By a weighting that the user brings.
    Plugin,
}

impl WeightingConfig {
    /// What every client ought to count: its share of the data, or as much as any.
    pub fn targets(self, p: &Arc<[f64]>) -> Arc<[f64]> {
        match self {
            WeightingConfig::Uniform => vec![1.0 / p.len() as f64; p.len()].into(),
            _ => p.clone(),
        }
    }
}

/// The effective number of steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TauEff {
    /// Σ p_i‖a_i‖₁.
    Accumulation,
    /// Σ p_iτ_i.
    Steps,
    /// A number.
    Fixed(f64),
}

impl TauEff {
    /// Its value where the mean ‖a_i‖₁ and the mean τ_i are these.
    pub fn of(self, accumulation: f64, steps: f64) -> f64 {
        match self {
            TauEff::Accumulation => accumulation,
            TauEff::Steps => steps,
            TauEff::Fixed(value) => value,
        }
    }
}

/// What p_i become when not everyone takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Participation {
    /// p_i / Σ_{j∈S} p_j over those who arrived (Algorithm 1); with by-size sampling, equal weights
    /// for every draw whose client arrived.
    Renormalize,
    /// Unbiased (footnote 1): 1/q per draw with by-size sampling, p_i·m/q with uniform sampling,
    /// where q is the number asked; who does not arrive counts as no progress.
    Unbiased,
    /// p_i / π̂_i, where π̂_i is how often the client's update has been used so far (see
    /// [`super::ParticipationRates`]): who is often late counts more when it does arrive.
    InverseProbability,
}

/// How those who were asked had been drawn: what the unbiased schemes need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Draw {
    /// q of m clients, without replacement, all equally likely.
    Uniform { clients: usize, asked: usize },
    /// q draws with replacement of m clients, with probability p_i.
    BySize { clients: usize, asked: usize },
}

impl Draw {
    /// m.
    pub fn clients(self) -> usize {
        match self {
            Draw::Uniform { clients, .. } | Draw::BySize { clients, .. } => clients,
        }
    }

    /// How often a client with share `p` is drawn in a round, on average.
    pub fn rate(self, p: f64) -> f64 {
        match self {
            Draw::Uniform { clients, asked } => asked as f64 / clients as f64,
            Draw::BySize { asked, .. } => asked as f64 * p,
        }
    }
}
