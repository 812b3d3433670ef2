//! What is kept of a run that goes on: cells that are over, and the checkpoint of the first that is not. Parts are
//! the list of cells, the log, the header of the checkpoint and its numbers.
#![no_main]

use gruppetto::report::RunFolder;
use gruppetto::resume::CellsFolder;
use gruppetto_fuzz::{file, folder, parts, safetensors};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let parts = parts(input);
    let part = |number: usize| parts.get(number).copied().unwrap_or_default();
    file("run/cells/finished.jsonl", part(0));
    file("run/cells/0/log", part(1));
    let checkpoint = safetensors(&[part(2), &[0xfe; 4], part(3)].concat());
    file("run/cells/0/checkpoint.safetensors", &checkpoint);
    file("run/cells/0/vectors-0.safetensors", &checkpoint);
    let Ok(run) = RunFolder::resume(&folder().join("run")) else { return };
    let mut cells = CellsFolder::of(run.run_path());
    let _ = cells.finished();
    let _ = cells.resume(0, 4);
});
