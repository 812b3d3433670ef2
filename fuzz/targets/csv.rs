//! Tables in CSV.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| gruppetto_fuzz::table("f.csv", bytes));
