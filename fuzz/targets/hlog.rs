//! Logs of latencies: a file as it is, or one histogram behind its compression and its text.
#![no_main]

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use gruppetto::report::read_latencies;
use gruppetto_fuzz::{Shape, file, shape};
use libfuzzer_sys::fuzz_target;
use std::io::Write;

fuzz_target!(|input: &[u8]| {
    let path = match shape(input) {
        None => return,
        Some(Shape::File(bytes)) => file("latency.hlog", bytes),
        Some(Shape::Content(content)) => file("latency.hlog", &log(content)),
    };
    let _ = read_latencies(&path, |_, _, histogram| {
        let _ = (histogram.max(), histogram.mean(), histogram.value_at_quantile(0.99));
    });
});

/// A log with one histogram.
fn log(content: &[u8]) -> Vec<u8> {
    let mut deflated = ZlibEncoder::new(Vec::new(), Compression::fast());
    deflated.write_all(content).expect("writing to memory");
    let deflated = deflated.finish().expect("writing to memory");
    let mut whole = 0x1c84_9304_u32.to_be_bytes().to_vec();
    whole.extend_from_slice(&(deflated.len() as u32).to_be_bytes());
    whole.extend_from_slice(&deflated);
    format!("Tag=a/1.round,0.000,9.000,1.0,{}\n", BASE64.encode(whole)).into_bytes()
}
