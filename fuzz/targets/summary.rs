//! summary.json of a run, read back, written again and printed.
#![no_main]

use gruppetto::report::{TextStyle, results};
use gruppetto::run_files::Summary;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(summary) = Summary::parse(Path::new("summary.json"), bytes) {
        let _ = (summary.to_json(), results(&summary, TextStyle::Plain));
    }
});
