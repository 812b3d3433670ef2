//! The columns of `clients.csv`: a row per participation.

use super::columns::{CellValue, ColumnKind, RunTable, WrittenColumn};
use super::header::Readable;
use crate::record::{ClientRow, Leg, Outcome};

/// The table.
pub struct ClientsCsv;

/// A participation with what its round and its fleet add to it.
#[derive(Clone, Copy, Debug)]
pub struct WeightedRow<'a> {
    /// The participation.
    pub row: &'a ClientRow,
    /// The name of the client's class.
    pub class: &'a str,
    /// Its weight w in the aggregation; 0 if it was not used.
    pub weight: f64,
}

impl RunTable for ClientsCsv {
    const FILE: &'static str = "clients.csv";
    type Row<'a> = WeightedRow<'a>;
    #[rustfmt::skip] // An entry is read as a row of a table.
    const WRITTEN: &'static [WrittenColumn<Self>] = {
        use CellValue::{Float, Integer, Text};
        &[
            WrittenColumn::new("round", Integer(|of| of.row.round),
                "round in which the client was asked, from 1"),
            WrittenColumn::new("client", Integer(|of| of.row.client.into()), "number of the client, from 0"),
            WrittenColumn::new("class", Text(|of| of.class), "class of the client's device"),
            WrittenColumn::new("version", Integer(|of| of.row.round - 1),
                "aggregations behind the model that the client was given"),
            WrittenColumn::new("tau", Integer(|of| of.row.tau), "local steps τ_i; 0 of a client that was lost, gave up, or was still on its way at the end"),
            WrittenColumn::new("accumulation", Float(|of| of.row.accumulation),
                "Σ a_k of these steps: ‖a_i‖₁, unless momentum and a proximal term make entries negative"),
            WrittenColumn::new("dispatched_ns", Integer(|of| of.row.dispatched.nanos()),
                "when the client was asked, in nanoseconds"),
            WrittenColumn::new("download_ns", Integer(|of| of.row.download.nanos()),
                "time of the download, as far as the client got"),
            WrittenColumn::new("compute_ns", Integer(|of| of.row.compute.nanos()),
                "time of the local steps, as far as the client got"),
            WrittenColumn::new("upload_ns", Integer(|of| of.row.upload.nanos()),
                "time of the upload, as far as the client got"),
            WrittenColumn::new("arrived_ns", Integer(|of| of.row.arrived.nanos()),
                "when the client was back, lost or gave up"),
            WrittenColumn::new("outcome", Text(|of| of.row.outcome.name()),
                "how the participation ended, see below"),
            WrittenColumn::new("staleness", Integer(|of| of.row.staleness),
                "aggregations between the model that the client was given and its arrival, beyond its own"),
            WrittenColumn::new("weight", Float(|of| of.weight),
                "weight w_i of the update in the aggregation; 0 if it was not used"),
            WrittenColumn::new("phase", Text(|of| of.row.leg.name()),
                "where the participation ended: `download`, `compute`, `upload`, or `done`"),
        ]
    };
}

impl Readable for Outcome {
    type Value<'a> = Outcome;
    const KIND: ColumnKind = ColumnKind::Text;
    const EXPECTED: &'static str = "an outcome such as used or late";

    fn read(cell: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.name() == cell)
    }
}

impl Readable for Leg {
    type Value<'a> = Leg;
    const KIND: ColumnKind = ColumnKind::Text;
    const EXPECTED: &'static str = "download, compute, upload or done";

    fn read(cell: &str) -> Option<Leg> {
        Leg::ALL.into_iter().find(|leg| leg.name() == cell)
    }
}
