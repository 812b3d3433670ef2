//! The choices of the general update rule.

/// How updates are combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleConfig {
    /// The weights w_i.
    pub weighting: Weighting,
    /// The effective number of steps.
    pub tau_eff: TauEff,
    /// What p_i become when not everyone takes part.
    pub participation: Participation,
}

/// The weights w_i of the normalized gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighting {
    /// w_i = p_i: consistent (eq. 10).
    FedNova,
    /// w_i ∝ p_i‖a_i‖₁: who makes more steps counts more (eq. 6).
    FedAvg,
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

/// What p_i become when not everyone takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Participation {
    /// p_i / Σ_{j∈S} p_j over those who arrived (Algorithm 1); with by-size sampling, equal weights
    /// for every draw whose client arrived.
    Renormalize,
    /// Unbiased (footnote 1): 1/q per draw with by-size sampling, p_i·m/q with uniform sampling,
    /// where q is the number asked; who does not arrive counts as no progress.
    Unbiased,
}

/// How those who were asked had been drawn: what the unbiased schemes need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// q of m clients, without replacement, all equally likely.
    #[allow(missing_docs)]
    Uniform { clients: usize, asked: usize },
    /// q draws with replacement, with probability p_i.
    #[allow(missing_docs)]
    BySize { asked: usize },
}

impl Participation {
    /// What stands for p_i in this round, before any renormalisation: the paper's p_i, p_i·m/q,
    /// or an equal part for each time the client was drawn by size.
    pub fn weight(self, draw: Draw, p: f64, times_drawn: u32) -> f64 {
        match (self, draw) {
            (Participation::Renormalize, Draw::Uniform { .. }) => p,
            // Who was drawn by size has had its size counted.
            (Participation::Renormalize, Draw::BySize { .. }) => f64::from(times_drawn),
            (Participation::Unbiased, Draw::Uniform { clients, asked }) => {
                p * clients as f64 / asked as f64
            }
            (Participation::Unbiased, Draw::BySize { asked }) => {
                f64::from(times_drawn) / asked as f64
            }
        }
    }
}
