//! `clients.csv`: a row per client participation.

use super::row_file::{FileError, RowFile, float, integer, text};
use crate::random::{Purpose, shuffle, stream};
use crate::record::ClientRow;
use crate::scenario::RecordClients;
use std::path::Path;

/// The file, open for the whole scenario.
pub struct ClientsCsv(RowFile);

impl ClientsCsv {
    /// Creates the file.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let header = "variant,seed,round,client,class,version,tau,accumulation,dispatched_ns,\
                      download_ns,compute_ns,upload_ns,arrived_ns,outcome,staleness,weight,phase";
        RowFile::create(path, header).map(ClientsCsv)
    }

    /// Adds a row of the run called `prefix` ("variant,seed"), with its weight w.
    pub fn add(
        &mut self,
        prefix: &str,
        classes: &[String],
        row: &ClientRow,
        weight: f64,
    ) -> Result<(), FileError> {
        self.0.push(|out| {
            out.extend_from_slice(prefix.as_bytes());
            integer(out, row.round);
            integer(out, row.client);
            text(out, &classes[usize::from(row.class)]);
            integer(out, row.round - 1);
            integer(out, row.tau);
            float(out, row.accumulation);
            integer(out, row.dispatched.nanos());
            integer(out, row.download.nanos());
            integer(out, row.compute.nanos());
            integer(out, row.upload.nanos());
            integer(out, row.arrived.nanos());
            text(out, row.outcome.name());
            integer(out, row.staleness);
            float(out, weight);
            text(out, row.leg.name());
        })
    }

    /// Writes what has waited long enough.
    pub fn tick(&mut self) -> Result<(), FileError> {
        self.0.tick()
    }

    /// Writes everything gathered.
    pub fn flush(&mut self) -> Result<(), FileError> {
        self.0.flush()
    }
}

/// Which clients get rows: `None` for all. The set depends on the scenario's seed alone, so every
/// variant and repeat tells of the same clients.
pub fn recorded(which: RecordClients, seed: u64, clients: usize) -> Option<Vec<bool>> {
    match which {
        RecordClients::All => None,
        RecordClients::Off => Some(Vec::new()),
        RecordClients::Sample(count) => {
            let mut chosen = vec![false; clients];
            chosen.iter_mut().take(count).for_each(|chosen| *chosen = true);
            shuffle(&mut chosen, &mut stream(seed, Purpose::Recording, 0, 0));
            Some(chosen)
        }
    }
}
