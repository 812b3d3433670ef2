//! What is predicted of a variant, as it is printed and as JSON has it.

use crate::run::KnownConstants;
use crate::theory::{ErrorBound, FedProx, ProxPoint};
use serde::Serialize;

/// What is said of one variant.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Outlook {
    /// A prediction.
    Predicted(Box<Prediction>),
    /// There is nothing to predict.
    #[allow(missing_docs)]
    Silent { variant: String, error: String },
}

/// The prediction for one variant.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Prediction {
    pub variant: String,
    pub seed: u64,
    /// Aggregations in which somebody was heard.
    pub rounds: u64,
    pub virtual_seconds: f64,
    /// Updates used in a round, on average: the paper's m, or q with sampling.
    pub participants: f64,
    /// The common learning rate η of the first round.
    pub lr: f64,
    /// τ̃: local steps of those heard, averaged over clients and rounds.
    pub tau: f64,
    pub tau_eff: f64,
    /// τ̃/τ_eff.
    pub slowdown: f64,
    #[serde(rename = "A")]
    pub a: f64,
    #[serde(rename = "B")]
    pub b: f64,
    #[serde(rename = "C")]
    pub c: f64,
    pub chi2: f64,
    pub missing_mass: f64,
    /// S = τ_eff Σ w_i/‖a_i‖₁, its mean over the rounds, its maximum, and how large it may be.
    pub stretch: f64,
    pub max_stretch: f64,
    pub largest_stretch: Option<f64>,
    /// Every client's share p_i and weight w_i over the whole schedule.
    pub weights: Vec<ClientWeight>,
    /// √(m/(τ̃T)), the rate that Theorems 1 and 3 assume.
    pub theorem_lr: f64,
    /// The constraint ηL ≤ ½ min{1/(max‖a‖₁√(2β²+1)), 1/τ_eff}.
    pub lr_limit: LrLimit,
    /// Constants of the problem, and where they come from.
    pub constants: KnownConstants,
    /// What the theorems do not cover, so that nothing is bounded.
    pub not_covered: Vec<&'static str>,
    /// What multiplies the constants in the four terms of the bound.
    pub coefficients: Option<BoundTerms>,
    /// The bound, where all constants are known.
    pub bound: Option<BoundTerms>,
    /// Theorem 2, where all constants are known.
    pub true_bound: Option<TruthTerms>,
    pub prox: BestProx,
    pub fixed_point: Option<FixedPoint>,
    #[serde(skip)]
    pub(super) fedprox: FedProx,
}

/// A client's share of the data and of the movement.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ClientWeight {
    pub client: u32,
    pub p: f64,
    pub w: f64,
}

/// The learning rate that the theorems allow.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct LrLimit {
    /// The largest ηL.
    pub largest_lr_times_lipschitz: f64,
    /// The largest η, where L is known.
    pub largest_lr: Option<f64>,
    pub holds: Option<bool>,
}

/// The four terms of Theorem 1 with their constants (eq. final_fixed_lr, appendix C.6).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BoundTerms {
    /// 4[F̃(x₀) − F̃_inf]/(ητ_effT).
    pub distance: f64,
    /// 4ηLσ²A/m.
    pub noise: f64,
    /// 6η²L²σ²B.
    pub noise_drift: f64,
    /// 12η²L²κ²C.
    pub dissimilarity_drift: f64,
}

impl From<ErrorBound> for BoundTerms {
    fn from(bound: ErrorBound) -> Self {
        let ErrorBound { distance, noise, noise_drift, dissimilarity_drift } = bound;
        BoundTerms { distance, noise, noise_drift, dissimilarity_drift }
    }
}

/// Theorem 2's two terms.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct TruthTerms {
    pub vanishing: f64,
    pub floor: f64,
}

/// FedProx's trade-off for these clients.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct BestProx {
    /// √m/(√τ̄T^{1/6}), the corollary's order.
    pub corollary_alpha: f64,
    /// The α in [0, 1] with the least bound at this scenario's learning rates and weights; constants that
    /// are not known count 1. Unknown where a plug-in weighs the updates.
    pub best_alpha: Option<f64>,
    /// α/η.
    pub best_prox: Option<f64>,
}

/// Where a quadratic comes to rest (appendix A), at the learning rate of the last round.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct FixedPoint {
    pub x: Vec<f64>,
    pub distance: f64,
    pub train_loss: f64,
    pub grad_norm: f64,
    /// Steps or participants change from round to round, so the model keeps moving about it.
    pub on_average: bool,
}

/// The variant of which the theorems promise most, and its bound on ‖∇F‖²; `None` unless there are
/// bounds to choose from. With `[stop] time` that is the choice of a deadline for that time.
pub fn least_bound(outlooks: &[Outlook]) -> Option<(&str, f64)> {
    let bounds: Vec<(&str, f64)> = outlooks
        .iter()
        .filter_map(|outlook| match outlook {
            Outlook::Predicted(prediction) => {
                let TruthTerms { vanishing, floor } = prediction.true_bound?;
                Some((prediction.variant.as_str(), vanishing + floor))
            }
            Outlook::Silent { .. } => None,
        })
        .collect();
    let least = bounds.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    least.copied().filter(|_| bounds.len() > 1)
}

impl Prediction {
    /// The three curves of Figure 4 at a proximal μ: α = ημ.
    pub fn at_prox(&self, prox: f64) -> ProxPoint {
        self.fedprox.at(self.lr * prox)
    }
}
