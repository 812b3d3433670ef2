//! What the paper predicts of a scenario: its schedule is run without training, and the theorems
//! are told what everybody did.

mod words;

use super::build::{BuildError, Built, build};
use super::survey::Survey;
use super::{Assumptions, Error, Known, constants};
use crate::actors::{Interrupt, Pacemaker, Simulation, simulate};
use crate::aggregate::{OptimizerConfig, Weighting};
use crate::clock::SimTime;
use crate::compress::Compression;
use crate::data::{Quadratic, TaskKind};
use crate::report::Ledger;
use crate::scenario::{Plan, RecordClients, Scenario, Variant};
use crate::solver::VarianceReduction;
use crate::theory::{Averages, Bound, Constants, FedProx, ProxPoint, TrueBound, theorem_lr};
use serde::Serialize;
use std::sync::{Arc, PoisonError};

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
    /// Every client's share p_i and weight w_i over the whole schedule.
    pub weights: Vec<ClientWeight>,
    /// √(m/(τ̃T)), the rate that Theorems 1 and 3 assume.
    pub theorem_lr: f64,
    /// The constraint ηL ≤ ½ min{1/(max‖a‖₁√(2β²+1)), 1/τ_eff}.
    pub lr_limit: LrLimit,
    /// Constants of the problem, and where they come from.
    pub constants: Known,
    /// What the theorems do not cover, so that nothing is bounded.
    pub not_covered: Vec<&'static str>,
    /// What multiplies the constants in the four terms of the bound.
    pub coefficients: Option<Terms>,
    /// The bound, where all constants are known.
    pub bound: Option<Terms>,
    /// Theorem 2, where all constants are known.
    pub true_bound: Option<TruthTerms>,
    pub prox: BestProx,
    pub fixed_point: Option<FixedPoint>,
    #[serde(skip)]
    fedprox: FedProx,
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
pub struct Terms {
    /// 4[F̃(x₀) − F̃_inf]/(ητ_effT).
    pub distance: f64,
    /// 4ηLσ²A/m.
    pub noise: f64,
    /// 6η²L²σ²B.
    pub noise_drift: f64,
    /// 12η²L²κ²C.
    pub dissimilarity_drift: f64,
}

impl From<Bound> for Terms {
    fn from(bound: Bound) -> Self {
        let Bound { distance, noise, noise_drift, dissimilarity_drift } = bound;
        Terms { distance, noise, noise_drift, dissimilarity_drift }
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
    /// The α in [0, 1] with the least bound; constants that are not known count 1.
    pub best_alpha: f64,
    /// α/η.
    pub best_prox: f64,
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

/// Predicts every variant of a scenario, for its first seed.
pub fn theory(scenario: &Scenario, given: &Assumptions) -> Result<Vec<Outlook>, Error> {
    scenario.variants.iter().map(|variant| predict(scenario, variant, given)).collect()
}

fn predict(scenario: &Scenario, variant: &Variant, given: &Assumptions) -> Result<Outlook, Error> {
    let (plan, seed, name) = (&variant.plan, scenario.seed, variant.name.clone());
    let wrong = |source: BuildError| Error::Build { variant: name.clone(), source };
    let failed = |source| Error::Run { variant: name.clone(), source };
    let Built { server, world, .. } = build(plan, seed, 0, None).map_err(wrong)?;
    let shares = plan.task.shares(seed).map_err(|error| wrong(error.into()))?;
    let p: Arc<[f64]> = shares.p.into();
    let quadratic = matches!(plan.task.kind, TaskKind::Quadratic(_));
    let survey = Survey::new(p.clone(), plan.client.recipe.clone(), quadratic);
    let (classes, sizes) = (world.fleet.class_names(), world.fleet.class_sizes());
    let record = (RecordClients::Off, seed);
    let mut ledger = Ledger::new(&name, seed, (classes, &sizes), None, record, None);
    ledger.listen(Box::new(survey.clone()));
    let stop_time = plan.stop.time.map(|time| SimTime::from_nanos(time.nanos()));
    let pacemaker = Pacemaker::Virtual;
    let progress = None;
    let interrupt = Interrupt::default();
    let run = Simulation { seed, server, world, ledger, pacemaker, stop_time, progress, interrupt };
    let finished = simulate(run).map_err(failed)?;
    finished.result.map_err(failed)?;
    let (_, now, _) = finished.ledger.progress();
    let now = now.seconds();
    drop(finished.ledger);
    let survey = Arc::into_inner(survey).expect("the ledger is gone");
    let survey = survey.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(match conclude(plan, seed, &name, now, survey, &p, given) {
        Some(prediction) => Outlook::Predicted(Box::new(prediction)),
        None => {
            let error = "nobody is ever heard, so there is nothing to predict".into();
            Outlook::Silent { variant: name.clone(), error }
        }
    })
}

fn conclude(
    plan: &Plan,
    seed: u64,
    name: &str,
    virtual_seconds: f64,
    mut survey: Survey,
    p: &[f64],
    given: &Assumptions,
) -> Option<Prediction> {
    let run = survey.rounds.average()?;
    let Averages { rounds, clients, tau, tau_eff, a, b, c, .. } = run;
    let consistency = survey.consistency();
    let effective = survey.weights();
    let problem = problem(plan, seed, p);
    let known = constants::find(given, plan, seed, problem.as_ref(), &effective);
    let ones = Constants { lipschitz: 1.0, sigma2: 1.0, kappa2: 1.0, beta2: 1.0, gap: 1.0 };
    let lr = plan.client.recipe.lr(plan.client.recipe.factor(1));
    let with_beta = Constants { beta2: known.beta2, ..ones };
    let steepest = survey.budget.largest_lipschitz(known.beta2);
    let not_covered = not_covered(plan, clients, p.len(), consistency.missing_mass);
    let all = known.all();
    let covered = not_covered.is_empty();
    let bound = all.filter(|_| covered).map(|constants| survey.budget.bound(&constants));
    let fedprox = typical_fedprox(&survey, p);
    let best_alpha = fedprox.best_alpha(&all.unwrap_or(with_beta), rounds);
    let weights = (0u32..).zip(p.iter().zip(&effective));
    Some(Prediction {
        variant: name.into(),
        seed,
        rounds,
        virtual_seconds,
        participants: clients,
        lr,
        tau,
        tau_eff,
        slowdown: tau / tau_eff,
        a,
        b,
        c,
        chi2: consistency.chi2,
        missing_mass: consistency.missing_mass,
        weights: weights.map(|(client, (p, w))| ClientWeight { client, p: *p, w: *w }).collect(),
        theorem_lr: theorem_lr(&run),
        lr_limit: LrLimit {
            largest_lr_times_lipschitz: lr * steepest,
            largest_lr: known.lipschitz.map(|lipschitz| lr * steepest / lipschitz),
            holds: known.lipschitz.map(|lipschitz| lipschitz <= steepest),
        },
        coefficients: covered.then(|| survey.budget.bound(&ones).into()),
        bound: bound.map(Terms::from),
        true_bound: all.zip(bound).map(|(constants, bound)| {
            let TrueBound { vanishing, floor } =
                constants.true_bound(bound.total(), consistency.chi2);
            TruthTerms { vanishing, floor }
        }),
        not_covered,
        prox: BestProx {
            corollary_alpha: fedprox.corollary_alpha(rounds),
            best_alpha,
            best_prox: best_alpha / lr,
        },
        fixed_point: problem.and_then(|problem| fixed_point(plan, &problem, &survey)),
        constants: known,
        fedprox,
    })
}

/// Every client heard, with the steps it usually makes.
fn typical_fedprox(survey: &Survey, p: &[f64]) -> FedProx {
    let heard: f64 = survey.typical().map(|(client, ..)| p[client as usize]).sum();
    let shares: Vec<f64> =
        survey.typical().map(|(client, ..)| p[client as usize] / heard).collect();
    let taus: Vec<u64> = survey.typical().map(|(_, _, tau)| tau.max(1)).collect();
    FedProx::new(&shares, &taus)
}

/// What of a plan the theorems do not speak of.
fn not_covered(plan: &Plan, heard: f64, clients: usize, missing_mass: f64) -> Vec<&'static str> {
    let laws = &plan.client.recipe.classes;
    let reasons = [
        (missing_mass > 0.0, "clients that are never heard"),
        (missing_mass == 0.0 && heard < clients as f64, "rounds without some clients"),
        (plan.server.optimizer != OptimizerConfig::PLAIN, "the server's optimiser"),
        (laws.iter().any(|law| law.weight_decay > 0.0), "weight decay"),
        (plan.client.variance_reduction.is_some(), "variance reduction"),
        (plan.client.packing.compression != Compression::None, "compression"),
    ];
    reasons.into_iter().filter_map(|(is, reason)| is.then_some(reason)).collect()
}

/// The problem, where it is known in closed form.
pub(super) fn problem(plan: &Plan, seed: u64, p: &[f64]) -> Option<Quadratic> {
    match &plan.task.kind {
        TaskKind::Quadratic(config) => Some(config.init(seed, p)),
        TaskKind::Synthetic(_) | TaskKind::Files(_) => None,
    }
}

/// x̃. With variance reduction whose corrected gradients all agree in the end, everybody pulls by
/// its share alone. What compression takes away may hold a model up anywhere.
pub(super) fn fixed_point(plan: &Plan, problem: &Quadratic, survey: &Survey) -> Option<FixedPoint> {
    if plan.client.packing.compression != Compression::None {
        return None;
    }
    let of = |client| (problem.curvature(client), problem.center(client));
    let (x, on_average) = match plan.client.variance_reduction {
        None => (survey.resting.as_ref()?.solve(problem.dim(), of)?, survey.steps_vary),
        Some(VarianceReduction::FedNova | VarianceReduction::Scaffold) => {
            let uniform = plan.server.rule.weighting == Weighting::Uniform;
            (survey.settled(uniform).solve(problem.dim(), of)?, false)
        }
        Some(VarianceReduction::FedNovaAsPrinted | VarianceReduction::Vrlsgd) => return None,
    };
    let (train_loss, gradient) = problem.global(&x);
    let length = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    let distance = length(&mut x.iter().zip(&problem.optimum).map(|(x, min)| x - min));
    let grad_norm = length(&mut gradient.into_iter());
    Some(FixedPoint { x, distance, train_loss, grad_norm, on_average })
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
