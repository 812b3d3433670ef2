//! Everything that is known of a run folder.

use super::measure::Measure;
use super::rows::RoundLine;
use super::run::WatchedRun;
use crate::run_files::ClientLine;
use crate::run_files::Summary;
use std::time::Duration;

/// What has been read so far. However long the files are, it stays small.
#[derive(Default)]
pub(super) struct State {
    /// `summary.json`, once it was read; its runs are with those in `runs`.
    pub summary: Option<Summary>,
    /// In the order in which they are run; the last one is the newest.
    pub runs: Vec<WatchedRun>,
    /// Bytes of `rounds.csv` that were left out.
    pub rounds_skipped: u64,
    /// Bytes of `clients.csv` that were left out.
    pub clients_skipped: u64,
    /// Whether there is a `clients.csv`.
    pub has_clients: bool,
    /// Whether there is still something to read that was there already.
    pub is_behind: bool,
    /// How long ago something was written.
    pub silent: Option<Duration>,
    /// Whether the run says that it goes on, and no process holds its folder.
    pub is_gone: bool,
    /// Rows that were read of `rounds.csv` and `clients.csv`.
    pub rows: [u64; 2],
    /// Whose participation was the last one.
    pub(super) last_client: Option<usize>,
}

impl State {
    /// `summary.json` has changed.
    pub(super) fn summarize(&mut self, mut summary: Summary) {
        for over in summary.variants.drain(..) {
            let run = self.find(&over.name, over.seed);
            self.runs[run].end(over);
        }
        self.summary = Some(summary);
    }

    /// The scenario's name; empty until it is known.
    pub(super) fn name(&self) -> &str {
        self.summary.as_ref().map_or("", |summary| &summary.name)
    }

    /// What went wrong, if something did.
    pub(super) fn error(&self) -> Option<&str> {
        self.summary.as_ref()?.error.as_deref()
    }

    /// An aggregation.
    pub(super) fn close(&mut self, line: &RoundLine<'_>) {
        self.rows[0] += 1;
        let run = self.find(&line.variant, line.seed);
        self.runs[run].close(line);
    }

    /// A participation.
    pub(super) fn take_part(&mut self, line: &ClientLine<'_>) {
        self.rows[1] += 1;
        let run = self.find(&line.variant, line.seed);
        if let Some(last) = self.last_client.replace(run)
            && last != run
        {
            // Runs come one after the other.
            self.runs[last].settle();
        }
        self.runs[run].take_part(line);
    }

    /// Rows of participations were left out.
    pub(super) fn lose_sight(&mut self) {
        if let Some(last) = self.last_client {
            self.runs[last].lose_sight();
        }
    }

    /// The measures that anything is known of.
    pub(super) fn measures(&self) -> Vec<Measure> {
        let known = |measure: &Measure| self.runs.iter().any(|run| !run.curve(*measure).is_empty());
        Measure::ALL.into_iter().filter(known).collect()
    }

    /// The variants, each once, in order.
    pub(super) fn variants(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for run in &self.runs {
            if !names.contains(&run.variant.as_str()) {
                names.push(&run.variant);
            }
        }
        names
    }

    /// Whether some variant has several seeds.
    pub(super) fn has_seeds(&self) -> bool {
        self.runs.windows(2).any(|pair| pair[0].variant == pair[1].variant)
    }

    /// The place of a run, which is added if it is new.
    fn find(&mut self, variant: &str, seed: u64) -> usize {
        let same = |run: &WatchedRun| run.seed == seed && run.variant == variant;
        // Nearly always the newest.
        self.runs.iter().rposition(same).unwrap_or_else(|| {
            self.runs.push(WatchedRun::new(variant, seed));
            self.runs.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::{ClientReader, RoundReader};
    use super::*;
    use crate::metric::Metric;
    use crate::run_files::{LatencySummary, Phase, TableHeader, VariantSummary};
    use std::path::Path;

    const ROUNDS: &str = "variant,seed,round,virtual_seconds,asked,arrived,tau_mean,chi2,train_loss,\
                          grad_norm,test_accuracy,test_loss,distance,waited_seconds";
    const CLIENTS: &str = "variant,seed,round,client,class,tau,dispatched_ns,download_ns,compute_ns,\
                           upload_ns,arrived_ns,outcome,staleness,phase";

    fn close(state: &mut State, line: &str) {
        let header = TableHeader::new(Path::new("rounds.csv"), ROUNDS);
        state.close(&RoundReader::new(header).unwrap().read(line).unwrap());
    }

    fn take_part(state: &mut State, line: &str) {
        let header = TableHeader::new(Path::new("clients.csv"), CLIENTS);
        state.take_part(&ClientReader::new(header).unwrap().read(line).unwrap());
    }

    #[test]
    fn runs_are_told_apart_by_variant_and_seed() {
        let mut state = State::default();
        for line in [
            "a,1,1,2.0,10,8,4.0,0.5,1.0,,,,,0.0",
            "a,2,1,3.0,10,9,4.0,0.5,1.5,,,,,0.0",
            "b,1,1,2.0,10,8,4.0,0.5,,,0.7,,,1.5",
            "b,1,2,4.0,10,5,4.0,0.6,,,,,,0.0",
        ] {
            close(&mut state, line);
        }
        assert_eq!(state.variants(), ["a", "b"]);
        assert!(state.has_seeds());
        let run = &state.runs[2];
        assert_eq!((run.round(), run.seconds(), run.chi2()), (2, 4.0, Some(0.6)));
        assert_eq!(run.recent, [(10, 8), (10, 5)]);
        assert_eq!(run.curve(Measure::Metric(Metric::TestAccuracy)).last(), Some(0.7));
        assert_eq!(run.curve(Measure::Arrived).last(), Some(0.5));
        assert_eq!(state.measures()[..2], Measure::ALL[..2]);
        assert_eq!(run.events.last(9).len(), 3, "two rounds and a wait");
    }

    #[test]
    fn latencies_are_those_of_the_rows_until_the_summary_tells() {
        let mut state = State::default();
        for client in 0..10 {
            let arrived = 6 + 100 * client;
            take_part(&mut state, &format!("a,1,1,{client},p,5,0,1,2,3,{arrived},used,0,done"));
        }
        take_part(&mut state, "a,1,1,11,p,0,0,0,0,0,50,no_step,0,compute");
        take_part(&mut state, "b,1,1,0,p,5,0,1,2,3,6,used,0,done");
        let [round, download, ..] = state.runs[0].percentiles();
        assert_eq!((round.count, download.count), (10, 10), "settled, and still there");
        assert_eq!(round.max, 906e-9);
        assert_eq!(
            (state.runs[0].outcomes()[0], state.runs[0].taus.range()),
            (10, Some((5, 5.0, 5)))
        );
        assert_eq!(state.runs[1].busy(), Some(1.0));
        let known = LatencySummary { count: 7, max: 9.0, ..Default::default() };
        let mut over = VariantSummary {
            name: "a".into(),
            seed: 1,
            stopped_by: "rounds".into(),
            rounds: 3,
            virtual_seconds: 9.0,
            ..Default::default()
        };
        over.latency_seconds.set(Phase::Round, known);
        state.summarize(Summary { variants: vec![over], ..Default::default() });
        assert_eq!(state.runs[0].percentiles()[0], known);
        assert_eq!((state.runs[0].round(), state.runs[0].seconds()), (3, 9.0));
        assert_eq!(state.runs.len(), 2);
    }
}
