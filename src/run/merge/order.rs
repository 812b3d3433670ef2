//! Whose cell comes where in the merged run, and whether the runs belong together at all.

use super::MergeError;
use super::source::MergedRun;
use crate::run_files::VariantSummary;
use crate::scenario::united;
use crate::sweep::{SweptKey, shown};
use std::collections::BTreeMap;

/// The cells of the merged run.
pub(super) struct MergeOrder {
    pub(super) is_of_parts: bool,
    pub(super) places: Vec<MergedCell>,
    pub(super) several_seeds: bool,
    pub(super) swept: Vec<SweptKey>,
    /// The scenario of all of them.
    pub(super) scenario: String,
}

/// Where a cell is now.
pub(super) struct MergedCell {
    pub(super) source: usize,
    /// Its index in the summary of that run.
    pub(super) cell: usize,
    /// Its number in that run.
    pub(super) number: u64,
}

impl MergeOrder {
    /// What is told of a cell in the merged run.
    pub(super) fn told(
        &self,
        place: &MergedCell,
        number: usize,
        sources: &[MergedRun],
    ) -> VariantSummary {
        let told = sources[place.source].summary.variants[place.cell].clone();
        VariantSummary { cell: told.cell.map(|_| number as u64), ..told }
    }
}

/// Puts the cells of all runs in order.
pub(super) fn order(sources: &[MergedRun]) -> Result<MergeOrder, MergeError> {
    let first = &sources[0];
    for other in &sources[1..] {
        let differ = |what: String| {
            let (one, other) = (first.folder.clone(), other.folder.clone());
            Err(MergeError::Foreign { one, other, what })
        };
        let pair = [&first.summary, &other.summary];
        let [a, b] = pair.map(|summary| summary.version.as_str());
        if a != b {
            return differ(format!("they were made by Gruppetto {a} and {b}"));
        }
        let [a, b] = pair.map(|summary| summary.timing_only);
        if a != b {
            let word = |timing| if timing { "with --timing-only" } else { "with training" };
            return differ(format!("they were made {} and {}", word(a), word(b)));
        }
        let [a, b] = pair.map(|summary| summary.part.is_some());
        if a != b {
            let word = |part| if part { "a part" } else { "a whole run" };
            return differ(format!("they are {} and {}", word(a), word(b)));
        }
        let [a, b] = pair.map(|summary| summary.wall_clock);
        if a != b {
            return differ("one was made on the wall clock".into());
        }
    }
    match first.summary.part {
        Some(_) => of_parts(sources),
        None => of_runs(sources),
    }
}

fn of_parts(sources: &[MergedRun]) -> Result<MergeOrder, MergeError> {
    let first = &sources[0];
    let of = first.summary.part.as_ref().map_or(0, |part| part.of);
    let mut by_number = BTreeMap::<u64, &MergedRun>::new();
    let mut places = BTreeMap::<u64, MergedCell>::new();
    for (index, source) in sources.iter().enumerate() {
        let Some(part) = &source.summary.part else { continue };
        let (one, other) = (first.folder.clone(), source.folder.clone());
        if source.summary.scenario_digest != first.summary.scenario_digest {
            let what = difference(&first.scenario, &source.scenario, |_| false);
            let what = what.unwrap_or_else(|| "files that the scenario names differ".into());
            return Err(MergeError::Foreign { one, other, what });
        }
        if part.of != of {
            let what = format!("one is of {of} parts, the other of {}", part.of);
            return Err(MergeError::Foreign { one, other, what });
        }
        if let Some(before) = by_number.insert(part.number, source) {
            let (one, other) = (before.folder.clone(), source.folder.clone());
            let cell = format!("part {} of {of}", part.number);
            return Err(MergeError::Twice { one, other, cell });
        }
        for (cell, number) in part.cells.iter().enumerate() {
            if cell < source.summary.variants.len() {
                places.insert(*number, MergedCell { source: index, cell, number: *number });
            }
        }
    }
    let missing: Vec<u64> = (1..=of).filter(|number| !by_number.contains_key(number)).collect();
    if !missing.is_empty() {
        let list = |all: &[u64], before: &str| {
            let shown = all.iter().take(8).map(|number| format!("{before}{number}"));
            let more = if all.len() > 8 { ", …" } else { "" };
            shown.collect::<Vec<_>>().join(", ") + more
        };
        let several = missing.len() > 1;
        let word = if several { "parts" } else { "part" };
        let missing_text = format!("{word} {}", list(&missing, ""));
        let calls = format!("it with --part {}/{of}", list(&missing[..1], ""));
        return Err(MergeError::Missing { missing: missing_text, of, several, calls });
    }
    Ok(MergeOrder {
        is_of_parts: true,
        places: places.into_values().collect(),
        several_seeds: first.several_seeds(),
        swept: first.summary.swept.clone(),
        scenario: first.scenario.clone(),
    })
}

/// Lines of a scenario in which runs that are merged may differ.
fn may_differ(line: &str, in_sweep: bool) -> bool {
    let key = line.split('=').next().unwrap_or_default().trim();
    in_sweep || matches!(key, "seed" | "repeats")
}

/// The first line in which two scenarios differ, but for those that may.
fn difference(one: &str, other: &str, ignored: impl Fn(&str) -> bool) -> Option<String> {
    let kept = |text: &str| {
        let mut section = String::new();
        let mut lines = Vec::new();
        for line in text.lines() {
            if line.starts_with('[') {
                section = line.to_string();
            }
            let is_top = section.is_empty();
            let in_sweep = section == "[sweep]";
            if (is_top || in_sweep) && ignored("") && may_differ(line, in_sweep) || line.is_empty()
            {
                continue;
            }
            lines.push(line.to_string());
        }
        lines
    };
    let (a, b) = (kept(one), kept(other));
    let longest = a.len().max(b.len());
    let word = |line: Option<&String>| line.map_or("nothing".into(), |line| format!("`{line}`"));
    (0..longest)
        .find(|at| a.get(*at) != b.get(*at))
        .map(|at| format!("{} in the one is {} in the other", word(a.get(at)), word(b.get(at))))
}

fn of_runs(sources: &[MergedRun]) -> Result<MergeOrder, MergeError> {
    let first = &sources[0];
    for other in &sources[1..] {
        let foreign = |what: String| {
            let (one, other) = (first.folder.clone(), other.folder.clone());
            Err(MergeError::Foreign { one, other, what })
        };
        if let Some(what) = difference(&first.scenario, &other.scenario, |_| true) {
            return foreign(format!(
                "{what}\n  = help: seeds and values of [sweep] may differ; --sweep KEY=V names a value that does"
            ));
        }
        let keys = |source: &MergedRun| -> Vec<String> {
            source.summary.swept.iter().map(|swept| swept.key.clone()).collect()
        };
        if keys(first) != keys(other) {
            let [a, b] = [first, other].map(|source| keys(source).join(", "));
            return foreign(format!("the one sweeps `{a}`, the other `{b}`"));
        }
        let digests = |source: &MergedRun| -> Vec<String> {
            source.summary.inputs.values().cloned().collect()
        };
        if digests(first) != digests(other) {
            return foreign("files that the scenario names have changed in between".into());
        }
    }
    let swept = united_sweep(sources);
    let mut variants: Vec<&str> = Vec::new();
    let mut cells = BTreeMap::<(usize, Vec<usize>, u64), MergedCell>::new();
    for (index, source) in sources.iter().enumerate() {
        for (cell, told) in source.summary.variants.iter().enumerate() {
            let variant = match variants.iter().position(|name| *name == told.variant()) {
                Some(known) => known,
                None => {
                    variants.push(told.variant());
                    variants.len() - 1
                }
            };
            let at = |key: &SweptKey| {
                let own = told.swept.iter().find(|(name, _)| *name == key.key);
                let text = own.map_or(String::new(), |(_, value)| shown(value));
                key.values.iter().position(|value| shown(value) == text).unwrap_or(0)
            };
            let key = (variant, swept.iter().map(at).collect(), told.seed);
            let number = told.cell.unwrap_or(cell as u64);
            if let Some(before) = cells.insert(key, MergedCell { source: index, cell, number }) {
                let (one, other) = (sources[before.source].folder.clone(), source.folder.clone());
                let cell = format!("{} with seed {}", told.name, told.seed);
                return Err(MergeError::Twice { one, other, cell });
            }
        }
    }
    let seeds: std::collections::BTreeSet<u64> =
        sources.iter().flat_map(MergedRun::seeds).collect();
    let range = (seeds.first().copied().unwrap_or(1), seeds.last().copied().unwrap_or(1));
    let scenario = united(&first.scenario, &swept, range);
    let places = cells.into_values().collect();
    Ok(MergeOrder { is_of_parts: false, places, several_seeds: seeds.len() > 1, swept, scenario })
}

/// The values of all runs: numbers in their order, others as they come.
fn united_sweep(sources: &[MergedRun]) -> Vec<SweptKey> {
    let mut all = sources[0].summary.swept.clone();
    for (at, key) in all.iter_mut().enumerate() {
        for other in sources[1..].iter().filter_map(|source| source.summary.swept.get(at)) {
            for value in &other.values {
                if key.values.iter().all(|known| shown(known) != shown(value)) {
                    key.values.push(value.clone());
                }
            }
        }
        if key.values.iter().all(serde_json::Value::is_number) {
            let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
            key.values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
    }
    all
}
