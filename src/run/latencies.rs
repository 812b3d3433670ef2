//! The latencies of a variant, with a sweep of a combination, over all its seeds.

use crate::clock::Span;
use crate::report::read_latencies;
use crate::run_files::{Latencies, Phases, ReadError, Summary, VariantSummary};
use std::path::Path;

/// Histograms are large, so there are those of one variant at a time.
#[derive(Default)]
pub(super) struct LatenciesOverSeeds {
    variant: String,
    phases: Phases,
}

impl LatenciesOverSeeds {
    /// Adds a run that is in the summary already.
    pub(super) fn add(&mut self, summary: &mut Summary, variant: &str, phases: &Phases) {
        if self.variant != variant {
            (self.variant, self.phases) = (variant.into(), Phases::default());
        }
        self.phases.merge(phases);
        if let Some(first) = summary.variants.iter_mut().find(|run| run.name == variant) {
            first.latency_over_seeds = Some(Latencies::of(&self.phases));
        }
    }

    /// Adds the cells that were over before, from their file: they are shown together with the others.
    pub(super) fn recall(
        &mut self,
        log: &Path,
        summary: &mut Summary,
        several_seeds: bool,
    ) -> Result<(), ReadError> {
        let cells = summary.variants.clone();
        let mut all: Vec<Phases> = Vec::new();
        recall(log, &cells, several_seeds, |cell, phases| {
            all.resize_with(cell, Phases::default);
            all.push(phases);
        })?;
        for (told, phases) in cells.iter().zip(&all) {
            self.add(summary, &told.name, phases);
        }
        Ok(())
    }
}

/// The histograms of these cells, which a log has in their order.
pub(super) fn recall(
    log: &Path,
    cells: &[VariantSummary],
    several_seeds: bool,
    mut take: impl FnMut(usize, Phases),
) -> Result<(), ReadError> {
    let mut cell = 0;
    let mut phases = Phases::default();
    read_latencies(log, |run, phase, histogram| {
        let is_its_own = |told: &VariantSummary| told.id(several_seeds).file_name() == run;
        if !cells.get(cell).is_some_and(is_its_own) {
            take(cell, std::mem::take(&mut phases));
            cell += 1;
        }
        if let Some(told) = cells.get(cell).filter(|told| is_its_own(told)) {
            let longest = Span::from_nanos_f64(told.latency_seconds.get(phase).max * 1e9);
            phases.add_histogram(phase, histogram, longest.unwrap_or_default());
        }
    })?;
    if cell < cells.len() {
        take(cell, phases);
    }
    Ok(())
}
