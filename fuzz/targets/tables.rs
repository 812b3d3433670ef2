//! rounds.csv and clients.csv of a run, as they are read back.
#![no_main]

use gruppetto::run_files::{ClientColumns, ClientsCsv, RoundsCsv, TableRows};
use gruppetto_fuzz::{file, folder};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    file("rounds.csv", bytes);
    if let Ok(mut rows) = TableRows::<RoundsCsv>::open(folder()) {
        while let Ok(Some(row)) = rows.next_row() {
            let _ = row.cell(0);
        }
    }
    file("clients.csv", bytes);
    let Ok(mut rows) = TableRows::<ClientsCsv>::open(folder()) else { return };
    let Ok(columns) = ClientColumns::find(rows.header()) else { return };
    while let Ok(Some(row)) = rows.next_row() {
        let _ = columns.read(&row, 1000);
    }
});
