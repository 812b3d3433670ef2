//! The cells of a scenario: every variant, with every combination of swept values, with every seed.

use crate::run_files::CellId;
use crate::scenario::{Scenario, Variant};

/// One run of a scenario.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    /// Its number, from 0, in the order of the scenario: the same in every part of a run.
    pub number: usize,
    /// What is run.
    pub variant: &'a Variant,
    /// With which seed.
    pub seed: u64,
}

/// How many cells a scenario has.
pub fn cell_count(scenario: &Scenario) -> usize {
    scenario.variants.len() * scenario.repeats as usize
}

/// The cells of a scenario, in order: seeds change first, then swept values, then variants.
pub fn cells(scenario: &Scenario) -> impl Iterator<Item = Cell<'_>> {
    let seeds = move |variant| {
        (0..scenario.repeats).map(move |repeat| (variant, scenario.seed.wrapping_add(repeat)))
    };
    let all = scenario.variants.iter().flat_map(seeds).enumerate();
    all.map(|(number, (variant, seed))| Cell { number, variant, seed })
}

impl Cell<'_> {
    /// How it is called in files.
    pub fn id(&self, scenario: &Scenario) -> CellId {
        let Variant { name, variant, swept, .. } = self.variant;
        let is_swept = !swept.is_empty();
        CellId {
            name: name.clone(),
            variant: variant.clone(),
            swept: swept.clone(),
            seed: self.seed,
            cell: is_swept.then_some(self.number as u64),
            several_seeds: scenario.repeats > 1,
        }
    }
}
