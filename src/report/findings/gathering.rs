//! Listens to a run for its findings.

use super::by_class::{ByClass, Classes, latencies, staleness};
use super::heard::Heard;
use super::lanes::Lanes;
use super::marks::Mark;
use super::thinned::Thinned;
use super::{Detail, rough};
use crate::clock::SimTime;
use crate::metric::{Metric, Metrics};
use crate::record::{Account, ClientRow, RoundRow, Weights};
use crate::run_files::{CellValue, Phases, RoundsCsv, RunTable, WrittenColumn};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Columns of `rounds.csv` that the page draws, beside metrics.
const DRAWN: [&str; 10] = [
    "round",
    "virtual_seconds",
    "asked",
    "arrived",
    "tau_min",
    "tau_mean",
    "tau_max",
    "tau_eff",
    "chi2",
    "missing_mass",
];

/// What is drawn of one run: the contract of the page.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunFindings(Value);

impl RunFindings {
    /// Whether it is of the variant, by its label, with this seed.
    pub fn is_of(&self, name: &str, seed: u64) -> bool {
        self.0["variant"] == *name && self.0["seed"].as_u64() == Some(seed)
    }
}

/// What is known of a run beside the figures of its classes.
#[derive(Clone, Debug)]
pub struct Gathering {
    detail: Detail,
    marks: Vec<Mark>,
    rounds: Thinned<RoundRow>,
    curves: Thinned<(u64, SimTime, Metrics)>,
    lanes: Lanes,
    heard: Option<Weights>,
}

impl Gathering {
    /// For a run of `clients` clients with these events.
    pub fn new(detail: Detail, clients: usize, marks: Vec<Mark>) -> Self {
        Gathering {
            detail,
            marks,
            rounds: Thinned::new(detail.points),
            curves: Thinned::new(detail.points),
            lanes: Lanes::new(clients),
            heard: None,
        }
    }

    pub(in crate::report) fn arrived(&mut self, rows: &[ClientRow]) {
        if self.detail.whole {
            rows.iter().for_each(|row| self.lanes.arrived(row));
        }
    }

    pub(in crate::report) fn closed(&mut self, row: &RoundRow) {
        self.rounds.add(row.clone());
        self.lanes.closed(row);
        self.marks.iter_mut().for_each(|mark| mark.closed(row));
    }

    pub(in crate::report) fn measured(&mut self, round: u64, now: SimTime, metrics: &Metrics) {
        self.curves.add((round, now, *metrics));
    }

    pub(in crate::report) fn ended(&mut self, weights: Weights) {
        self.heard = Some(weights);
    }

    /// Everything, as the page wants it.
    pub(in crate::report) fn findings(
        &self,
        (variant, seed): (&str, u64),
        end: SimTime,
        classes: &Classes,
        figures: &[ByClass],
        accounts: &[Account],
    ) -> RunFindings {
        let numbered = || figures.iter().enumerate();
        let mut everybody = Phases::default();
        figures.iter().for_each(|class| everybody.merge(&class.phases));
        let mut latency: Vec<Value> = latencies(&everybody, None).collect();
        if self.detail.whole && figures.len() > 1 {
            latency.extend(numbered().flat_map(|(i, class)| latencies(&class.phases, Some(i))));
        }
        let place = |class| classes.place(class);
        let nothing = || json!({ "clients": 0, "points": [], "cells": null });
        let heard = match &self.heard {
            Some(weights) if self.detail.whole => Heard(weights).json(self.detail.clients, place),
            _ => nothing(),
        };
        RunFindings(json!({
            "variant": variant,
            "seed": seed,
            "classes": classes.json(),
            "rounds": self.rounds_json(),
            "curves": self.curves_json(),
            "latency": latency,
            "tau": numbered().map(|(i, class)| class.tau_json(i)).collect::<Vec<_>>(),
            "heard": heard,
            "time": time(classes, figures, accounts),
            "staleness": staleness(figures),
            "outcomes": numbered().map(|(i, class)| class.outcomes_json(i)).collect::<Vec<_>>(),
            "lanes": self.lanes.json(place),
            "events": self.marks.iter().filter_map(|mark| mark.json(end)).collect::<Vec<_>>(),
        }))
    }

    /// Columns of `rounds.csv` under their names; the page calls simulated time `time` everywhere.
    fn rounds_json(&self) -> Value {
        let drawn =
            RoundsCsv::WRITTEN.iter().filter(|written| DRAWN.contains(&written.column.name));
        let columns = drawn.map(|written| {
            let name = match written.column.name {
                "virtual_seconds" => "time",
                name => name,
            };
            (name.to_string(), self.rounds.values().map(|row| shown(written, row)).collect())
        });
        Value::Object(columns.collect())
    }

    /// Metrics with all their digits, for they are read.
    fn curves_json(&self) -> Value {
        let mut values = Map::new();
        for metric in Metric::ALL {
            let column: Vec<Option<f64>> =
                self.curves.values().map(|(_, _, metrics)| metrics.get(metric)).collect();
            if column.iter().any(Option::is_some) {
                values.insert(metric.name().into(), json!(column));
            }
        }
        let known = !values.is_empty();
        let points = || self.curves.values().filter(|_| known);
        json!({
            "round": points().map(|(round, ..)| *round).collect::<Vec<_>>(),
            "time": points().map(|(_, at, _)| at.seconds()).collect::<Vec<_>>(),
            "values": values,
        })
    }
}

/// A cell of `rounds.csv` as it is drawn.
fn shown(written: &WrittenColumn<RoundsCsv>, row: &RoundRow) -> Value {
    match written.value {
        CellValue::Text(get) => get(row).into(),
        CellValue::Integer(get) => get(row).into(),
        CellValue::Float(get) => rough(get(row)).into(),
        CellValue::OptionalFloat(get) => get(row).map(rough).into(),
        CellValue::Seconds(get) => rough(get(row).seconds()).into(),
    }
}

/// Where everybody's time went, by class.
fn time(classes: &Classes, figures: &[ByClass], accounts: &[Account]) -> Vec<Value> {
    let mut sums = vec![Account::default(); classes.len()];
    for (class, account) in accounts.iter().enumerate() {
        let sum = &mut sums[classes.place(class as u16)];
        sum.compute += account.compute;
        sum.transfer += account.transfer;
        sum.idle += account.idle;
        sum.offline += account.offline;
    }
    let seconds = |nanos: u128| nanos as f64 / 1e9;
    let class = |(class, (sum, figures)): (usize, (&Account, &ByClass))| {
        json!({
            "class": class,
            "compute": seconds(sum.compute),
            "wasted": seconds(figures.wasted.min(sum.compute)),
            "transfer": seconds(sum.transfer),
            "idle": seconds(sum.idle),
            "offline": seconds(sum.offline),
        })
    };
    sums.iter().zip(figures).enumerate().map(class).collect()
}
