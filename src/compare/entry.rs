//! A variant of a run, over all its seeds.

use crate::metric::Metric;
use crate::run_files::{OverSeeds, Spread, Status, VariantSummary};

/// A variant that is compared with others.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ComparedVariant {
    pub run: String,
    pub variant: String,
    /// Over how many seeds the figures are.
    pub seeds: u64,
    /// How many seeds the scenario has.
    pub all_seeds: u64,
    /// How many of the seeds diverged.
    pub diverged: u64,
    /// Whether no seed came to its end: the figures are of what there is.
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
    pub(super) fn of(
        run: &str,
        over_seeds: &OverSeeds,
        runs: &[VariantSummary],
        all_seeds: u64,
    ) -> Self {
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
            all_seeds: all_seeds.max(own.len() as u64),
            diverged: own.iter().filter(|run| run.status == Status::Diverged).count() as u64,
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

    /// `complete`, or the worst that is to be said: no seed came to its end, some did not, some diverged.
    pub(super) fn status(&self) -> &'static str {
        match self {
            _ if self.is_unfinished => "unfinished",
            _ if self.seeds < self.all_seeds => "partial",
            _ if self.diverged > 0 => "diverged",
            _ => "complete",
        }
    }

    /// What a reader of its row must know; empty if it is complete.
    pub(super) fn remark(&self) -> String {
        let of = |count: u64| match self.all_seeds {
            1 => String::new(),
            all => format!("{count} of {all} seeds "),
        };
        match (self.status(), self.diverged) {
            ("unfinished", _) => "*".into(),
            ("partial", 0) => format!("({})", of(self.seeds).trim_end()),
            ("partial", diverged) => {
                format!("({}, {diverged} diverged)", of(self.seeds).trim_end())
            }
            ("diverged", diverged) => format!("({}diverged)", of(diverged)),
            _ => String::new(),
        }
    }

    pub(super) fn metric(&self, metric: Metric) -> Option<Spread> {
        self.metrics.iter().find(|(own, _)| *own == metric).map(|(_, spread)| *spread)
    }
}
