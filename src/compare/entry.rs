//! A variant of a run, over all its seeds.

use crate::metric::Metric;
use crate::run_files::{OverSeeds, Spread, VariantSummary};

/// A variant that is compared with others.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ComparedVariant {
    pub run: String,
    pub variant: String,
    pub seeds: u64,
    /// Whether none of them came to its end: the figures are of what there is.
    pub is_unfinished: bool,
    /// In the order of [`Metric::ALL`].
    pub metrics: Vec<(Metric, Spread)>,
    pub virtual_seconds: Spread,
    pub rounds: Spread,
    /// Simulated seconds to the target, if every seed reached it.
    pub to_target: Option<Spread>,
    pub waste: Spread,
    pub chi2: Spread,
    pub missing_mass: Spread,
}

impl ComparedVariant {
    pub(super) fn of(run: &str, over_seeds: &OverSeeds, runs: &[VariantSummary]) -> Self {
        let metric = |metric: Metric| Some((metric, *over_seeds.metrics.get(metric.name())?));
        let own = runs.iter().filter(|run| run.name == over_seeds.name);
        let (over, rest): (Vec<&VariantSummary>, Vec<_>) = own.partition(|run| run.is_over());
        let is_unfinished = over.is_empty();
        let own = if is_unfinished { rest } else { over };
        let times: Option<Vec<f64>> =
            own.iter().map(|run| run.target.and_then(|target| target.virtual_seconds)).collect();
        ComparedVariant {
            run: run.into(),
            variant: over_seeds.name.clone(),
            seeds: own.len() as u64,
            is_unfinished,
            metrics: Metric::ALL.into_iter().filter_map(metric).collect(),
            virtual_seconds: over_seeds.virtual_seconds,
            rounds: over_seeds.rounds,
            to_target: times.filter(|times| !times.is_empty()).map(|times| Spread::of(&times)),
            waste: over_seeds.waste,
            chi2: over_seeds.chi2,
            missing_mass: over_seeds.missing_mass,
        }
    }

    pub(super) fn metric(&self, metric: Metric) -> Option<Spread> {
        self.metrics.iter().find(|(own, _)| *own == metric).map(|(_, spread)| *spread)
    }
}
