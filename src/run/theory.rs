//! What the paper predicts of a scenario: its schedule is run without training, and the theorems
//! are told what everybody did.

mod best_prox;
mod display;
mod prediction;

pub use prediction::{
    BestProx, BoundTerms, ClientWeight, FixedPoint, LrLimit, Outlook, Prediction, TruthTerms,
    least_bound,
};

use super::build::{BuildError, Built, build};
use super::survey::Survey;
use super::{Assumptions, Error, constants};
use crate::actors::{ClockMode, Interrupt, Simulation, simulate};
use crate::aggregate::{OptimizerConfig, WeightingConfig};
use crate::clock::SimTime;
use crate::compress::Compression;
use crate::data::Quadratic;
use crate::observer::Observer;
use crate::policy::Late;
use crate::scenario::{Plan, Scenario, Variant};
use crate::solver::VarianceReduction;
use crate::theory::{Averages, Constants, FedProx, TrueBound, theorem_lr};
use best_prox::ProxSearch;
use std::sync::{Arc, PoisonError};

/// Predicts every variant of a scenario, for its first seed.
pub fn theory(scenario: &Scenario, given: &Assumptions) -> Result<Vec<Outlook>, Error> {
    scenario.variants.iter().map(|variant| predict(scenario, variant, given)).collect()
}

fn predict(scenario: &Scenario, variant: &Variant, given: &Assumptions) -> Result<Outlook, Error> {
    let (plan, seed, name) = (&variant.plan, scenario.seed, variant.name.clone());
    let wrong = |source: BuildError| Error::Build { variant: name.clone(), source };
    let failed = |source| Error::Run { variant: name.clone(), source };
    let Built { server, client_side, .. } = build(plan, seed, 0, None).map_err(wrong)?;
    let shares = plan.task.shares(seed).map_err(|error| wrong(error.into()))?;
    let p: Arc<[f64]> = shares.p.into();
    let quadratic = plan.task.problem.quadratic().is_some();
    let survey = Survey::new(p.clone(), plan.client.recipe.clone(), quadratic);
    let observers: Vec<Box<dyn Observer>> = vec![Box::new(survey.clone())];
    let stop_time = plan.stop.time.map(|time| SimTime::from_nanos(time.nanos()));
    let clock_mode = ClockMode::Virtual;
    let interrupt = Interrupt::default();
    let run = Simulation {
        seed,
        server,
        client_side,
        observers,
        clock_mode,
        stop_time,
        interrupt,
        checkpoints: None,
    };
    let finished = simulate(run).map_err(failed)?;
    finished.result.map_err(failed)?;
    let survey = Arc::into_inner(survey).expect("observers are dropped when a run ends");
    let survey = survey.into_inner().unwrap_or_else(PoisonError::into_inner);
    let now = survey.ended().seconds();
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
    let Averages { rounds, clients, tau, tau_eff, a, b, c, stretch, max_stretch, .. } = run;
    let consistency = survey.consistency();
    let effective = survey.weights();
    let problem = problem(plan, seed, p);
    let known = constants::find(given, plan, seed, problem.as_ref(), &effective);
    let ones = Constants { lipschitz: 1.0, sigma2: 1.0, kappa2: 1.0, beta2: 1.0, gap: 1.0 };
    let lr = plan.client.recipe.lr(plan.client.recipe.factor(1));
    let steepest = survey.budget.largest_lipschitz(known.beta2);
    let not_covered = not_covered(plan, clients, p.len(), consistency.missing_mass);
    let all = known.all();
    let covered = not_covered.is_empty();
    let bound = all.filter(|_| covered).map(|constants| survey.budget.bound(&constants));
    let fedprox = typical_fedprox(&survey, p);
    let best_alpha = ProxSearch {
        plan,
        seed,
        survey: &survey,
        fedprox: &fedprox,
        given,
        known: &known,
        problem: problem.as_ref(),
    }
    .best_alpha();
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
        stretch,
        max_stretch,
        largest_stretch: largest_stretch(plan),
        weights: weights.map(|(client, (p, w))| ClientWeight { client, p: *p, w: *w }).collect(),
        theorem_lr: theorem_lr(&run),
        lr_limit: LrLimit {
            largest_lr_times_lipschitz: lr * steepest,
            largest_lr: known.lipschitz.map(|lipschitz| lr * steepest / lipschitz),
            holds: known.lipschitz.map(|lipschitz| lipschitz <= steepest),
        },
        coefficients: covered.then(|| survey.budget.bound(&ones).into()),
        bound: bound.map(BoundTerms::from),
        true_bound: all.zip(bound).map(|(constants, bound)| {
            let TrueBound { vanishing, floor } =
                constants.true_bound(bound.total(), consistency.chi2);
            TruthTerms { vanishing, floor }
        }),
        not_covered,
        prox: BestProx {
            corollary_alpha: fedprox.corollary_alpha(rounds),
            best_alpha,
            best_prox: best_alpha.map(|alpha| alpha / lr),
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

/// How far the server may stretch. Updates of older models, and corrections by these, leave less than
/// is known here.
fn largest_stretch(plan: &Plan) -> Option<f64> {
    let rule = &plan.server;
    let fresh = rule.late == Late::Drop && !rule.close.is_asynchronous();
    let plain = plan.client.variance_reduction.is_none();
    (fresh && plain).then(|| rule.optimizer.largest_stretch()).flatten()
}

/// The problem, where it is known in closed form.
pub(super) fn problem(plan: &Plan, seed: u64, p: &[f64]) -> Option<Quadratic> {
    plan.task.problem.quadratic().map(|config| config.init(seed, p))
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
            let uniform = plan.server.rule.weighting == WeightingConfig::Uniform;
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
