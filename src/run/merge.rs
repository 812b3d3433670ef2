//! `gruppetto merge`: one run of several that were made apart.
//!
//! Parts of one run ([`--part`](super::RunPart)) become the run that one process would have made, to the byte, but for how
//! fast it was. Runs of the same scenario that differ in seeds or in swept values alone become one as well: their rows
//! side by side, summary and page anew.
//!
//! ```text
//!   folders ──► sources: read, complete, of one scenario ──► order: whose cell comes where
//!                                                                       │
//!                    rows, latencies, timeline, models, findings ◄──────┘
//! ```

mod error;
mod latencies;
mod order;
mod rows;
mod source;
mod timeline;

pub use error::MergeError;

use super::expect::judge;
use super::inputs::{digest, input_digests, scenario_digest};
use super::latencies::LatenciesOverSeeds;
use super::processor::other_processor;
use super::{Run, settle, write_all};
use crate::plugins::Plugins;
use crate::report::{Files, FilesWanted, Findings, LATENCIES, MOST_RUNS, RunFolder, TIMELINE};
use crate::run_files::{
    CellId, ClientsCsv, FilesSummary, OverSeeds, RoundsCsv, RunTable, Status, Summary,
};
use crate::scenario::Scenario;
use order::{MergeOrder, MergedCell};
use rows::RowRanges;
use source::MergedRun;
use std::fs;
use std::path::{Path, PathBuf};
use tracing::warn;

/// Merges the runs in `folders` into `out`, where an earlier run may be replaced if `force` says so. Plug-ins are needed
/// to judge what the scenario expects, if it names some.
pub fn merge(
    folders: &[PathBuf],
    out: &Path,
    force: bool,
    plugins: &Plugins,
) -> Result<(Run, Option<Scenario>), MergeError> {
    let sources = source::read_all(folders)?;
    if let Some(source) = sources.iter().find(|source| source.is_at(out)) {
        return Err(MergeError::Itself { folder: source.folder.clone() });
    }
    let ordered = order::order(&sources)?;
    let loaded = Scenario::parse_with("scenario.toml", &ordered.scenario, &[], None, plugins);
    let scenario = loaded.inspect_err(|error| {
        warn!("what the scenario expects is not judged, for it cannot be read here: {error}");
    });
    let scenario = scenario.ok();
    warn_of_processors(&sources, scenario.as_ref());
    let folder = RunFolder::create(out, force)?;
    let (summary, findings) = put_together(&sources, &ordered, &folder, scenario.as_ref())?;
    settle(&folder, summary.status)?;
    write_all(&folder, &summary, &findings)?;
    Ok((Run { summary, folder: Some(out.to_owned()) }, scenario))
}

fn put_together(
    sources: &[MergedRun],
    ordered: &MergeOrder,
    folder: &RunFolder,
    scenario: Option<&Scenario>,
) -> Result<(Summary, Findings), MergeError> {
    let first = &sources[0];
    let text = scenario.map_or(&ordered.scenario, |scenario| &scenario.resolved);
    let mut summary = Summary {
        status: Status::Incomplete,
        scenario_digest: match (ordered.is_of_parts, scenario) {
            (false, Some(scenario)) => scenario_digest(scenario, &input_digests(scenario)),
            (false, None) => digest(text.as_bytes()),
            (true, _) => first.summary.scenario_digest.clone(),
        },
        files: FilesSummary { scenario: Some(digest(text.as_bytes())), ..FilesSummary::default() },
        swept: ordered.swept.clone(),
        part: None,
        variants: Vec::new(),
        over_seeds: Vec::new(),
        expect: Vec::new(),
        ..first.summary.clone()
    };
    folder.write_summary(&summary)?;
    folder.write("scenario.toml", text.as_bytes())?;
    let has = |name: &str| sources.iter().all(|source| source.folder.join(name).exists());
    let wanted = FilesWanted {
        swept: ordered.swept.clone(),
        clients: has(ClientsCsv::FILE),
        timeline: has(TIMELINE).then_some(None),
    };
    let path = folder.path();
    let mut files = Files::create(&path, &wanted)?;
    let mut findings = Findings {
        scenario_digest: summary.scenario_digest.clone(),
        runs: Vec::new(),
        left_out: ordered.places.len().saturating_sub(MOST_RUNS),
        ..first.findings.clone()
    };
    findings.flags = without_part(&findings.flags);
    let mut open: Vec<Option<OpenRun<'_>>> = sources.iter().map(|_| None).collect();
    for (number, place) in ordered.places.iter().enumerate() {
        let own = match &mut open[place.source] {
            Some(own) => own,
            none => none.insert(OpenRun::open(&sources[place.source], &wanted)?),
        };
        own.add(place, number as u64, ordered, &mut files)?;
        let cell = ordered.told(place, number, sources);
        copy_model(
            &sources[place.source],
            place,
            &cell.id(ordered.several_seeds).file_name(),
            &path,
        )?;
        let drawn = sources[place.source].findings_of(place.cell);
        findings.runs.extend(drawn.filter(|_| number < MOST_RUNS));
        summary.variants.push(cell);
        // As often as a run that is made here does it: so the compressed file is the same.
        files.lengths()?;
    }
    let lengths = files.lengths()?;
    summary.files.rounds = Some(lengths.rounds.rows);
    summary.files.clients = files.clients.as_ref().map(|_| lengths.clients.rows);
    files.finish()?;
    summary.over_seeds = OverSeeds::of(&summary.variants);
    if let Some(scenario) = scenario {
        summary.expect = judge(scenario, &summary.variants, summary.timing_only);
    }
    summary.status = Status::Complete;
    let log = path.join(LATENCIES);
    LatenciesOverSeeds::default().recall(&log, &mut summary, ordered.several_seeds)?;
    Ok((summary, findings))
}

/// A source whose files are read.
struct OpenRun<'a> {
    source: &'a MergedRun,
    rounds: RowRanges,
    clients: Option<RowRanges>,
    latencies: latencies::LatencyLines,
    timeline: Option<timeline::TimelineEvents>,
}

impl<'a> OpenRun<'a> {
    fn open(source: &'a MergedRun, wanted: &FilesWanted) -> Result<Self, MergeError> {
        let folder = &source.folder;
        Ok(OpenRun {
            source,
            rounds: RowRanges::of::<RoundsCsv>(source)?,
            clients: wanted.clients.then(|| RowRanges::of::<ClientsCsv>(source)).transpose()?,
            latencies: latencies::LatencyLines::read(&folder.join(LATENCIES))?,
            timeline: match wanted.timeline {
                Some(_) => Some(timeline::TimelineEvents::read(&folder.join(TIMELINE))?),
                None => None,
            },
        })
    }

    /// Adds what there is of a cell.
    fn add(
        &mut self,
        place: &MergedCell,
        number: u64,
        ordered: &MergeOrder,
        files: &mut Files,
    ) -> Result<(), MergeError> {
        let told = &self.source.summary.variants[place.cell];
        let key = (told.name.as_str(), told.seed);
        files.rounds.append_range(&self.source.folder, self.rounds.get(key))?;
        if let (Some(into), Some(clients)) = (&mut files.clients, &self.clients) {
            into.append_range(&self.source.folder, clients.get(key))?;
        }
        let then = told.id(self.source.several_seeds());
        let now = CellId {
            cell: then.cell.map(|_| number),
            several_seeds: ordered.several_seeds,
            ..then.clone()
        };
        let lines = self.latencies.of(&then.file_name(), &now.file_name())?;
        files.latencies.add(&lines)?;
        if let (Some(into), Some(events)) = (&mut files.timeline, &self.timeline) {
            into.add_text(&events.of(place.number, number, (&then, &now)))?;
        }
        Ok(())
    }
}

/// Copies the model of a cell, under the name that it has now.
fn copy_model(
    source: &MergedRun,
    place: &MergedCell,
    name: &str,
    out: &Path,
) -> Result<(), MergeError> {
    let told = &source.summary.variants[place.cell];
    let then = told.id(source.several_seeds()).file_name();
    let from = source.folder.join(format!("model-{then}.safetensors"));
    // Nothing was trained, or it was removed.
    if from.exists() {
        let to = out.join(format!("model-{name}.safetensors"));
        let copied = fs::copy(&from, &to);
        copied.map_err(|source| MergeError::Copy { from, source })?;
    }
    Ok(())
}

fn without_part(flags: &str) -> String {
    match flags.find(" --part ") {
        Some(at) => {
            let rest = &flags[at + " --part ".len()..];
            format!("{}{}", &flags[..at], rest.find(' ').map_or("", |end| &rest[end..]))
        }
        None => flags.to_string(),
    }
}

/// Where results depend on the kind of processor, all should be of one kind.
fn warn_of_processors(sources: &[MergedRun], scenario: Option<&Scenario>) {
    let kinds = sources.iter().map(|source| source.summary.processor.as_str());
    let Some(scenario) = scenario else { return };
    let mut kinds: Vec<&str> = kinds.filter(|kind| !kind.is_empty()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.len() > 1 && other_processor(scenario, "another kind").is_some() {
        warn!(
            "the runs were made on different kinds of processors ({}): with libtorch or PyTorch the same seed gives \
             other bits on each",
            kinds.join(", ")
        );
    }
}
