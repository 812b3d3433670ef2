//! All cells of a scenario, one after the other.

use super::one::One;
use super::{Builder, Error, Options, all_runs, run_name};
use crate::actors::ClockMode;
use crate::clock::Span;
use crate::plugins::{Plugins, RunContext};
use crate::report::{
    Detail, FileError, Files, Findings, LatencyLog, MOST_RUNS, RunFolder, TableFile, Timeline,
    read_latencies, recorded, sync_folder,
};
use crate::resume::{CellsFolder, FinishedCell};
use crate::run_files::{Latencies, Phases, ReadError, Summary, VariantSummary};
use crate::scenario::{RecordClients, Scenario};
use std::path::Path;
use std::time::{Duration, Instant};
use tracing::info;

/// All cells of a scenario, each a variant with a seed.
pub(super) struct Whole<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) options: &'a Options,
    pub(super) folder: Option<&'a RunFolder>,
    pub(super) plugins: &'a Plugins,
    pub(super) builder: Builder<'a>,
}

impl Whole<'_> {
    pub(super) fn run_all(
        &mut self,
        (summary, findings): (&mut Summary, &mut Findings),
    ) -> Result<(), Error> {
        let Whole { scenario, options, folder, plugins, builder } = *self;
        let mut cells = folder.map(|folder| CellsFolder::of(folder.run_path()));
        let finished = match &mut cells {
            Some(cells) if options.resume => cells.finished()?,
            _ => Vec::new(),
        };
        let mut files = match folder {
            Some(folder) => {
                let files = self.open_files(folder, summary, &finished)?;
                // Without runs, until they are over: killed before that, the run still tells what it is about.
                folder.write_findings(findings)?;
                Some(files)
            }
            None => None,
        };
        let over = finished.len();
        for FinishedCell { summary: told, findings: drawn, .. } in finished {
            summary.variants.push(told);
            findings.runs.extend(drawn);
        }
        let mut latencies = LatenciesOverSeeds::default();
        if let Some(folder) = folder.filter(|_| over > 0) {
            latencies.recall(&folder.path(), summary, scenario.repeats)?;
        }
        let clock_mode = options.clock_mode;
        let mut told = Instant::now();
        let seeds = |variant| {
            (0..scenario.repeats).map(move |repeat| (variant, scenario.seed.wrapping_add(repeat)))
        };
        let all = scenario.variants.iter().flat_map(seeds).enumerate();
        for (number, (variant, seed)) in all.skip(over) {
            let has_room = folder.is_some() && findings.runs.len() < MOST_RUNS;
            let detail = has_room.then(|| Detail::of(all_runs(scenario), seed == scenario.seed));
            let interrupt = options.interrupt.clone();
            let one =
                One { scenario, variant, seed, builder, clock_mode, folder, detail, interrupt };
            info!(variant = variant.name, seed, "run begins");
            let checkpoints = match &cells {
                Some(cells) if !options.timing_only && clock_mode == ClockMode::Virtual => {
                    let resume = match options.resume {
                        true => cells.resume(number, variant.plan.task.clients)?,
                        false => None,
                    };
                    Some((cells.folder(number), options.checkpoint, resume))
                }
                _ => None,
            };
            let resume = checkpoints.as_ref().and_then(|(.., resume)| resume.as_ref());
            let replayed = resume.map_or(0, |resume| resume.checkpoint.position.rounds);
            let context = RunContext::new(&variant.name, seed, &variant.plan.stop, replayed);
            let observers = plugins.observers(&context);
            let drawn = findings.runs.len();
            let tell = (&mut *summary, &mut *findings, &mut latencies);
            let result = one.run(&mut files, observers, checkpoints, tell);
            one.log_end(&result, summary);
            result?;
            if one.interrupt.is_set() {
                break;
            }
            if let (Some(cells), Some(files), Some(run)) =
                (&mut cells, &mut files, summary.variants.last())
            {
                let findings = findings.runs.get(drawn);
                cells.finish(number, run, findings, files)?;
            }
            // Killed in a later run, the folder still tells of those that are over; thousands of
            // short ones need not be told one by one.
            if let Some(folder) = folder
                && (summary.variants.len() < 64 || told.elapsed() > Duration::from_secs(1))
            {
                folder.write_summary(summary)?;
                told = Instant::now();
            }
        }
        let Some(mut files) = files else { return Ok(()) };
        if let Some(cells) = &mut cells {
            cells.flush(&files)?;
        }
        files.latencies.flush()?;
        summary.files.rounds = Some(files.rounds.length().rows);
        summary.files.clients = files.clients.as_ref().map(|clients| clients.length().rows);
        Ok(files.finish()?)
    }

    /// Opens the files of the run, to go on after the cells that are over.
    fn open_files(
        &self,
        folder: &RunFolder,
        summary: &Summary,
        finished: &[FinishedCell],
    ) -> Result<Files, Error> {
        let scenario = self.scenario;
        // Killed at any moment from now on, the folder says that it is incomplete.
        let mut known = summary.clone();
        known.variants.extend(finished.iter().map(|cell| cell.summary.clone()));
        folder.write_summary(&known)?;
        // A run that goes on may find its files elsewhere.
        folder.write("scenario.toml", scenario.resolved.as_bytes())?;
        let all = scenario.variants.iter().map(|variant| variant.plan.task.clients).max();
        let shown = |which| recorded(which, scenario.seed, all.unwrap_or(0));
        let (path, timeline) = (&*folder.path(), folder.file("timeline.json.gz"));
        let latencies = folder.file("latency.hlog");
        let has_rows = scenario.record_clients != RecordClients::Off;
        let has_timeline = scenario.record_timeline != RecordClients::Off;
        // Made of a part of the run, they would stay as they are.
        for exported in ["rounds.parquet", "clients.parquet"] {
            let _ = std::fs::remove_file(folder.file(exported));
        }
        if let Some(FinishedCell { lengths, .. }) = finished.last() {
            let (bytes, arrows) = lengths.timeline;
            let place = (bytes, finished.len() as u64, arrows);
            let shown = || shown(scenario.record_timeline);
            return Ok(Files {
                rounds: TableFile::resume(path, lengths.rounds)?,
                clients: has_rows.then(|| TableFile::resume(path, lengths.clients)).transpose()?,
                timeline: has_timeline
                    .then(|| Timeline::resume(&timeline, shown(), place))
                    .transpose()?,
                latencies: LatencyLog::resume(&latencies, lengths.latencies)?,
            });
        }
        let shown = || shown(scenario.record_timeline);
        let files = Files {
            clients: has_rows.then(|| TableFile::create(path)).transpose()?,
            rounds: TableFile::create(path)?,
            timeline: has_timeline.then(|| Timeline::create(&timeline, shown())).transpose()?,
            latencies: LatencyLog::create(&latencies)?,
        };
        // Checkpoints and cells that are over rely on these files.
        sync_folder(path).map_err(|source| FileError { path: path.to_owned(), source })?;
        Ok(files)
    }
}

/// The latencies of a variant over its seeds. Histograms are large, so there are those of one variant at a time.
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
        folder: &Path,
        summary: &mut Summary,
        repeats: u64,
    ) -> Result<(), ReadError> {
        let mut cell = 0;
        let mut phases = Phases::default();
        read_latencies(&folder.join("latency.hlog"), |run, phase, histogram| {
            // The file has the cells in their order.
            let is_its_own =
                |told: &VariantSummary| run_name(&told.name, told.seed, repeats) == run;
            if !summary.variants.get(cell).is_some_and(is_its_own) {
                self.add_cell(summary, cell, std::mem::take(&mut phases));
                cell += 1;
            }
            if let Some(told) = summary.variants.get(cell).filter(|told| is_its_own(told)) {
                let longest = Span::from_nanos_f64(told.latency_seconds.get(phase).max * 1e9);
                phases.add_histogram(phase, histogram, longest.unwrap_or_default());
            }
        })?;
        self.add_cell(summary, cell, phases);
        Ok(())
    }

    fn add_cell(&mut self, summary: &mut Summary, cell: usize, phases: Phases) {
        if let Some(name) = summary.variants.get(cell).map(|told| told.name.clone()) {
            self.add(summary, &name, &phases);
        }
    }
}
