//! All cells of a scenario, one after the other.

use super::one::One;
use super::{Builder, Error, Options, all_runs, run_name};
use crate::actors::ClockMode;
use crate::clock::Span;
use crate::plugins::{Plugins, RunContext};
use crate::report::{
    Detail, FileError, Files, Findings, LatencyLog, MOST_RUNS, RunFolder, TableFile, Timeline,
    read_latencies, recorded,
};
use crate::resume::{CellsFolder, FinishedCell};
use crate::run_files::{Phases, Summary, VariantSummary};
use crate::scenario::{RecordClients, Scenario};
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
            Some(folder) => Some(self.open_files(folder, summary, &finished)?),
            None => None,
        };
        let over = finished.len();
        for FinishedCell { summary: told, findings: drawn, .. } in finished {
            summary.variants.push(told);
            findings.runs.extend(drawn);
        }
        if let Some(folder) = folder.filter(|_| over > 0) {
            recall_latencies(folder, summary, scenario.repeats)?;
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
                    let resume = if options.resume { cells.resume(number)? } else { None };
                    Some((cells.folder(number), options.checkpoint, resume))
                }
                _ => None,
            };
            let resume = checkpoints.as_ref().and_then(|(.., resume)| resume.as_ref());
            let replayed = resume.map_or(0, |resume| resume.checkpoint.position.rounds);
            let context = RunContext::new(&variant.name, seed, &variant.plan.stop, replayed);
            let observers = plugins.observers(&context);
            let drawn = findings.runs.len();
            let result = one.run(&mut files, observers, checkpoints, (summary, findings));
            one.log_end(&result, summary);
            result?;
            if one.interrupt.is_set() {
                break;
            }
            if let (Some(cells), Some(files), Some(run)) =
                (&mut cells, &mut files, summary.variants.last())
            {
                let findings = findings.runs.get(drawn);
                cells.finish(number, run, findings, || files.checkpoint())?;
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
        if let Some(cells) = &mut cells {
            cells.flush()?;
        }
        let Some(mut files) = files else { return Ok(()) };
        files.latencies.flush()?;
        match files.timeline {
            Some(timeline) => Ok(timeline.finish()?),
            None => Ok(()),
        }
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
        let all = scenario.variants.iter().map(|variant| variant.plan.task.clients).max();
        let shown = |which| recorded(which, scenario.seed, all.unwrap_or(0));
        let (path, timeline) = (&*folder.path(), folder.file("timeline.json.gz"));
        let latencies = folder.file("latency.hlog");
        let has_rows = scenario.record_clients != RecordClients::Off;
        let has_timeline = scenario.record_timeline != RecordClients::Off;
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
        folder.write("scenario.toml", scenario.resolved.as_bytes())?;
        let shown = || shown(scenario.record_timeline);
        Ok(Files {
            clients: has_rows.then(|| TableFile::create(path)).transpose()?,
            rounds: TableFile::create(path)?,
            timeline: has_timeline.then(|| Timeline::create(&timeline, shown())).transpose()?,
            latencies: LatencyLog::create(&latencies)?,
        })
    }
}

/// Latencies of cells that were over before, from their file: they are shown together with the others.
fn recall_latencies(
    folder: &RunFolder,
    summary: &mut Summary,
    repeats: u64,
) -> Result<(), FileError> {
    for (run, phase, histogram) in read_latencies(&folder.file("latency.hlog"))? {
        let its_own = |told: &VariantSummary| run_name(&told.name, told.seed, repeats) == run;
        let Some(told) = summary.variants.iter().find(|told| its_own(told)) else { continue };
        let longest = Span::from_nanos_f64(told.latency_seconds.get(phase).max * 1e9);
        let name = told.name.clone();
        if let Some(phases) = phases_of(summary, &name) {
            phases.add_histogram(phase, &histogram, longest.unwrap_or_default());
        }
    }
    Ok(())
}

/// Where the latencies of a variant are kept, over all seeds: with its first run.
pub(super) fn phases_of<'a>(summary: &'a mut Summary, variant: &str) -> Option<&'a mut Phases> {
    let first = summary.variants.iter_mut().find(|run| run.name == variant)?;
    Some(first.histograms.get_or_insert_default())
}
