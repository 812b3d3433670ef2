//! Traces: looked into, and read to be replayed.
#![no_main]

use gruppetto::trace::{Input, inspect, read_store};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let input = Input::bytes("f.csv", bytes.to_vec());
    let looked = inspect(&input);
    if let Ok(store) = read_store(&input, "") {
        // What can be replayed can be looked into; the reverse need not be so.
        assert!(looked.is_ok());
        (0..store.len()).for_each(|device| drop((store.points(device), store.toggles(device))));
    }
});
