//! Scenarios: read to a plan, and its clients drawn if they are few.
#![no_main]

use gruppetto::Scenario;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = Scenario::parse("f/f.toml", text, &[], None) {
        assert!(error.to_string().contains("f.toml"), "an error without its place: {error}");
    }
});
