//! The columns of `runs.csv`: a row per run, that is a variant with swept values and a seed.

use super::columns::{CellValue, RunTable, WrittenColumn};
use super::summary_json::VariantSummary;
use crate::metric::Metric;
use crate::record::Outcome;

/// The table.
pub struct RunsCsv;

impl RunTable for RunsCsv {
    const FILE: &'static str = "runs.csv";
    type Row<'a> = VariantSummary;
    #[rustfmt::skip] // An entry is read as a row of a table.
    const WRITTEN: &'static [WrittenColumn<Self>] = {
        use CellValue::{Float, Integer, OptionalFloat, Text};
        &[
            WrittenColumn::new("status", Text(|run| run.status.name()),
                "`complete`, `diverged`, `interrupted` or `incomplete`"),
            WrittenColumn::new("stopped_by", Text(|run| &run.stopped_by), "why the run ended, as in `summary.json`"),
            WrittenColumn::new("rounds", Integer(|run| run.rounds), "aggregations"),
            WrittenColumn::new("virtual_seconds", Float(|run| run.virtual_seconds), "simulated time at the end"),
            WrittenColumn::new(Metric::TrainLoss.name(), OptionalFloat(|run| run.metrics.get(Metric::TrainLoss)),
                "training loss at the end"),
            WrittenColumn::new(Metric::GradNorm.name(), OptionalFloat(|run| run.metrics.get(Metric::GradNorm)),
                "gradient norm at the end"),
            WrittenColumn::new(Metric::TestAccuracy.name(), OptionalFloat(|run| run.metrics.get(Metric::TestAccuracy)),
                "test accuracy at the end"),
            WrittenColumn::new(Metric::TestLoss.name(), OptionalFloat(|run| run.metrics.get(Metric::TestLoss)),
                "test loss at the end"),
            WrittenColumn::new(Metric::Distance.name(), OptionalFloat(|run| run.metrics.get(Metric::Distance)),
                "distance from the optimum at the end"),
            WrittenColumn::new("target_seconds", OptionalFloat(|run| run.target?.virtual_seconds),
                "simulated time at which `[stop] target` was met; empty if it was not"),
            WrittenColumn::new("target_rounds", OptionalFloat(|run| Some(run.target?.rounds? as f64)),
                "rounds until then"),
            WrittenColumn::new("chi2", OptionalFloat(|run| Some(run.chi2).filter(|chi2| !chi2.is_nan())),
                "χ² of the effective weights at the end"),
            WrittenColumn::new("missing_mass", Float(|run| run.missing_mass),
                "share of the data whose clients were never heard"),
            WrittenColumn::new("waste", Float(|run| run.waste), "share of the computing time that was not used"),
            WrittenColumn::new("tau_min", Integer(|run| run.tau.min), "fewest local steps of an update used"),
            WrittenColumn::new("tau_mean", Float(|run| run.tau.mean), "mean of the local steps of the updates used"),
            WrittenColumn::new("tau_max", Integer(|run| run.tau.max), "most local steps of an update used"),
            WrittenColumn::new("used", Integer(|run| run.outcomes[Outcome::Used as usize]), "updates used"),
            WrittenColumn::new("late", Integer(|run| run.outcomes[Outcome::Late as usize]), "updates that came too late"),
            WrittenColumn::new("bytes_up", Integer(|run| run.bytes.up), "bytes of the updates that clients sent"),
            WrittenColumn::new("bytes_down", Integer(|run| run.bytes.down), "bytes of the models that clients received"),
            WrittenColumn::new("bytes_up_wasted", Integer(|run| run.bytes.up_wasted), "those of updates that were not used"),
            WrittenColumn::new("bytes_down_wasted", Integer(|run| run.bytes.down_wasted),
                "those of models from which no update came that was used"),
            WrittenColumn::new("client_rounds", Integer(|run| run.throughput.client_rounds), "participations"),
            WrittenColumn::new("local_steps", Integer(|run| run.throughput.local_steps), "local steps of all clients"),
            WrittenColumn::new("wall_seconds", Float(|run| run.throughput.wall_seconds), "real time that the run took"),
            WrittenColumn::new("train_seconds", Float(|run| run.throughput.train_seconds),
                "real time of training, over all threads"),
            WrittenColumn::new("evaluate_seconds", Float(|run| run.throughput.evaluate_seconds),
                "real time of evaluation, over all threads"),
            WrittenColumn::new("digest", Text(|run| &run.digest), "digest of everything that happened"),
            WrittenColumn::new("model_digest", Text(|run| &run.model_digest), "digest of the final parameters"),
        ]
    };
}
