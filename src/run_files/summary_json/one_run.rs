//! A variant with a seed.

use super::by_name;
use super::parts::{
    Bytes, Diverged, Losses, ScheduleSummary, TargetReached, TauSummary, TheorySummary, Throughput,
    Waited,
};
use super::{Status, nan_if_null};
use crate::metric::Metrics;
use crate::record::{Account, OUTCOMES};
use crate::run_files::cell_columns::CellId;
use crate::run_files::latency::Latencies;
use crate::sweep::Swept;
use serde::{Deserialize, Serialize};

/// One run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct VariantSummary {
    /// Name of the variant; with a sweep, the label of the combination, such as `fednova deadline=5s`.
    pub name: String,
    /// With a sweep: the name of the variant.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// With a sweep: the value of every swept key.
    #[serde(skip_serializing_if = "Swept::is_empty")]
    pub swept: Swept,
    /// With a sweep: the number of the run, from 0, in the names of files such as `model-fednova-7.safetensors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<u64>,
    /// Seed of the run.
    pub seed: u64,
    /// `complete`, `diverged`, `interrupted`, or `incomplete` if the run failed.
    pub status: Status,
    /// Why the run ended: `rounds`, `time`, `target`, `diverged` or `interrupted`; `deserted`: too few
    /// clients for another round will ever be there; `unreachable`: every client that is asked vanishes
    /// at that very instant, so that time stands still; empty if the run failed.
    pub stopped_by: String,
    /// If the model diverged: in which `round`, and the `cause`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverged: Option<Diverged>,
    /// Aggregations.
    pub rounds: u64,
    /// Simulated time at the end.
    #[serde(deserialize_with = "nan_if_null")]
    pub virtual_seconds: f64,
    /// Metrics before the first round.
    #[serde(with = "by_name::metrics")]
    pub start: Metrics,
    /// Metrics at the end; of a run that was interrupted, those that were measured last.
    #[serde(with = "by_name::metrics")]
    pub metrics: Metrics,
    /// Best metrics of the run.
    #[serde(with = "by_name::metrics")]
    pub best: Metrics,
    /// With `[stop] target`: whether it was `reached`, after how many `rounds` and `virtual_seconds`.
    pub target: Option<TargetReached>,
    /// χ² of the effective weights, as in `rounds.csv`, at the end.
    #[serde(deserialize_with = "nan_if_null")]
    pub chi2: f64,
    /// Share of the data whose clients were never heard, as in `rounds.csv`, at the end.
    #[serde(deserialize_with = "nan_if_null")]
    pub missing_mass: f64,
    /// Measured beside predicted (Theorem 2), where gradients were compared: `kappa2` and `floor` as in
    /// `rounds.csv`, `grad_norm_squared`, and `tightest_beta2` and `tightest_kappa2`, the tightest
    /// constants that hold for all models compared.
    pub theory: Option<TheorySummary>,
    /// Only where an `[[expect]]` speaks of it: `tau_eff`, `slowdown`, `A`, `B` and `C` of Theorem 1,
    /// means over the rounds; for quadratics `fixed_point`, where the theory says that the run rests: its
    /// `distance` from the optimum, the `gap` between it and where the run ended, and whether that is so
    /// only `on_average`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleSummary>,
    /// `min`, `mean` and `max` of the local steps of the updates used.
    pub tau: TauSummary,
    /// `count`, `mean`, percentiles `p50`, `p90`, `p99`, `p999` and `max` of `download`, `compute`,
    /// `upload`, of a whole `round` from being asked to being back, of `staleness`, how long an update's
    /// model had been out of date, and of `idle`, from being back to being asked again, without the time
    /// away; a client that was lost counts in what it came to the end of, one that made no step in `idle` alone.
    #[serde(with = "by_name::latencies")]
    pub latency_seconds: Latencies,
    /// With the first run of a variant, these latencies over all its seeds; not in the file.
    #[serde(skip)]
    pub latency_over_seeds: Option<Latencies>,
    /// What the trainer says of how it trained, such as that updates are divided by τ; only if it says something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Participations by outcome.
    #[serde(with = "by_name::outcomes")]
    pub outcomes: [u64; OUTCOMES],
    /// Participations that were `dropped` or `offline`, by where the client was: `download`, `compute`,
    /// `upload`.
    pub losses: Losses,
    /// `rounds` before which the server had to wait for clients, and `seconds` of that in all.
    pub waited: Waited,
    /// Device time by class: `compute_seconds`, `transfer_seconds`, `idle_seconds` (present, and not
    /// asked), `offline_seconds`; together the clients of the class times the length of the run.
    #[serde(with = "by_name::device_time")]
    pub time: Vec<(String, Account)>,
    /// Bytes of models that clients received (`down`) and of updates that they sent (`up`), as compressed, of transfers
    /// that came to their end; `down_wasted` and `up_wasted` are those of participations whose update was not used.
    pub bytes: Bytes,
    /// Share of the computing time of clients that arrived or were lost that was not used.
    #[serde(deserialize_with = "nan_if_null")]
    pub waste: f64,
    /// Speed of this machine: `wall_seconds`, `train_seconds` and `evaluate_seconds` over all threads, `local_steps`,
    /// `trained_steps`, those of them that this process has computed (fewer in a run that was resumed),
    /// `client_rounds`.
    pub throughput: Throughput,
    /// Digest of everything that happened, in order.
    pub digest: String,
    /// Digest of the final parameters; empty if nothing was trained.
    pub model_digest: String,
}

impl VariantSummary {
    /// How its files name it, in a run with several seeds or not.
    pub fn id(&self, several_seeds: bool) -> CellId {
        CellId {
            name: self.name.clone(),
            variant: self.variant().into(),
            swept: self.swept.clone(),
            seed: self.seed,
            cell: self.cell,
            several_seeds,
        }
    }

    /// The name of its variant, without swept values.
    pub fn variant(&self) -> &str {
        if self.variant.is_empty() { &self.name } else { &self.variant }
    }

    /// Whether it came to its end; not so if it was interrupted, was killed, failed or goes on.
    pub fn is_over(&self) -> bool {
        matches!(self.status, Status::Complete | Status::Diverged)
    }

    /// Whether it ended before `[stop]` said so because no client could come or be reached.
    pub fn is_abandoned(&self) -> bool {
        matches!(self.stopped_by.as_str(), "deserted" | "unreachable")
    }
}
