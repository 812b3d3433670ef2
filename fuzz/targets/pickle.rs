//! FedScale's pickles. The first byte chooses the format and what becomes of bad records.
#![no_main]

use gruppetto::trace::{Format, ImportOptions, Input, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    let format = if first % 2 == 0 { Format::FedscaleCapacity } else { Format::FedscaleBehavior };
    let options = ImportOptions { skip_bad: first & 2 != 0, ..ImportOptions::new(format) };
    let mut changes = 0;
    let done = import(&Input::bytes("f", rest.to_vec()), &options, &mut |recording| {
        changes += recording.changes.len() as u64;
        Ok(())
    });
    if let Ok(summary) = done {
        assert_eq!(summary.changes, changes);
    }
});
