//! The entry of `summary.json` that a ledger makes of a run.

use super::Ledger;
use super::used::Used;
use crate::metric::Metric;
use crate::record::{OUTCOMES, StopReason};
use crate::run_files::{
    Bytes, Diverged, Latencies, Losses, Phases, Status, TauSummary, TheorySummary, Throughput,
    VariantSummary,
};
use std::time::Duration;

impl Ledger {
    /// The run in numbers, and its latencies: it took `wall`, was busy with training and with evaluation, and trained so many steps.
    pub fn summary(
        &self,
        stopped: Option<StopReason>,
        wall: Duration,
        ([training, evaluation], trained_steps): ([Duration; 2], u64),
        model_digest: String,
    ) -> (VariantSummary, Phases) {
        let Used { count: used, tau: [least, sum, most], compute: kept } = self.used;
        let (mut phases, mut losses) = (Phases::default(), Losses::default());
        let (mut outcomes, mut lost) = ([0; OUTCOMES], 0);
        for class in &self.by_class {
            phases.merge(&class.phases);
            losses.merge(&class.losses);
            outcomes.iter_mut().zip(class.outcomes).for_each(|(sum, count)| *sum += count);
            lost += class.wasted;
        }
        let (lost, kept) = (lost as f64, kept as f64);
        let told = VariantSummary {
            name: self.cell.name.clone(),
            variant: match self.cell.swept.is_empty() {
                true => String::new(),
                false => self.cell.variant.clone(),
            },
            swept: self.cell.swept.clone(),
            cell: self.cell.cell,
            seed: self.cell.seed,
            status: match stopped {
                None => Status::Incomplete,
                Some(StopReason::Diverged(_)) => Status::Diverged,
                Some(StopReason::Interrupted) => Status::Interrupted,
                Some(_) => Status::Complete,
            },
            stopped_by: stopped.map_or("", StopReason::name).into(),
            diverged: match stopped {
                Some(StopReason::Diverged(divergence)) => {
                    Some(Diverged { round: self.rounds, cause: divergence.to_string() })
                }
                _ => None,
            },
            rounds: self.rounds,
            virtual_seconds: self.now.seconds(),
            start: self.start,
            metrics: self.metrics,
            best: self.best,
            target: self.target.map(|(_, reached)| reached),
            chi2: self.consistency.chi2,
            missing_mass: self.consistency.missing_mass,
            theory: self.theory(),
            schedule: None,
            tau: TauSummary {
                min: if used == 0 { 0 } else { least },
                mean: if used == 0 { 0.0 } else { sum as f64 / used as f64 },
                max: most,
            },
            latency_seconds: Latencies::of(&phases),
            latency_over_seeds: None,
            remarks: Vec::new(),
            outcomes,
            losses,
            waited: self.waited,
            time: self.classes.iter().cloned().zip(self.accounts.iter().copied()).collect(),
            bytes: self.bytes(),
            waste: if lost > 0.0 { lost / (lost + kept) } else { 0.0 },
            throughput: Throughput {
                wall_seconds: wall.as_secs_f64(),
                train_seconds: training.as_secs_f64(),
                evaluate_seconds: evaluation.as_secs_f64(),
                local_steps: self.local_steps,
                trained_steps,
                client_rounds: outcomes.iter().sum(),
            },
            digest: format!("{:032x}", self.digest.digest128()),
            model_digest,
        };
        (told, phases)
    }

    /// What travelled; for an update that was used, once in each direction.
    fn bytes(&self) -> Bytes {
        let [downloads, uploads] = self.travelled;
        let [down, up] = [downloads * self.payload.down, uploads * self.payload.up];
        Bytes {
            up,
            down,
            up_wasted: (uploads - self.used.count) * self.payload.up,
            down_wasted: (downloads - self.used.count) * self.payload.down,
        }
    }

    /// What Theorem 2 makes of what was measured.
    fn theory(&self) -> Option<TheorySummary> {
        let kappa2 = self.gradients?.kappa2();
        let tightest = self.spread.tightest()?;
        let grad_norm = self.metrics.get(Metric::GradNorm)?;
        Some(TheorySummary {
            kappa2,
            floor: self.consistency.floor(kappa2),
            grad_norm_squared: Some(grad_norm * grad_norm).filter(|square| square.is_finite()),
            tightest_beta2: tightest.beta2,
            tightest_kappa2: tightest.kappa2,
        })
    }
}
