//! The tables of latencies.

use super::{Group, TextStyle, wrapped};
use crate::clock::Span;
use crate::run_files::Phase;
use std::fmt::Write;

/// Latencies of every variant, or once for all whose devices behaved alike.
pub(super) fn latency_tables(out: &mut String, groups: &[Group<'_>], style: TextStyle) {
    let tables: Vec<String> = groups.iter().map(latency_table).collect();
    let mut shown = vec![false; groups.len()];
    for first in 0..groups.len() {
        if shown[first] {
            continue;
        }
        let alike: Vec<usize> =
            (first..groups.len()).filter(|i| tables[*i] == tables[first]).collect();
        alike.iter().for_each(|i| shown[*i] = true);
        let whose = if alike.len() == groups.len() && groups.len() > 1 {
            "all variants alike".to_string()
        } else {
            alike.iter().map(|i| groups[*i].name).collect::<Vec<_>>().join(", ")
        };
        // The names of those it speaks of, when there is a choice.
        if groups.len() > 1 {
            for line in wrapped(&whose, 80) {
                let _ = writeln!(out, "{}", style.dim(&line));
            }
        }
        let mut head = format!("{:12}", "latency");
        for column in ["p50", "p90", "p99", "p99.9", "max"] {
            let _ = write!(head, "{column:>10}");
        }
        let _ = writeln!(out, "{}", style.bold(&head));
        let _ = writeln!(out, "{}", tables[first]);
    }
}

fn latency_table(group: &Group<'_>) -> String {
    let mut out = String::new();
    let latencies = group.runs.iter().find_map(|run| run.latency_over_seeds.as_ref());
    for phase in [Phase::Download, Phase::Compute, Phase::Upload, Phase::Round] {
        let s = latencies.map(|latencies| latencies.get(phase)).unwrap_or_default();
        let _ = write!(out, "{:12}", phase.name());
        for seconds in [s.p50, s.p90, s.p99, s.p999, s.max] {
            let span = Span::from_nanos_f64(seconds * 1e9).unwrap_or_default();
            let _ = write!(out, "{:>10}", span.to_string());
        }
        out.push('\n');
    }
    out
}
