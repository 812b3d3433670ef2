//! Models that a run begins with: a file as it is, or a header and numbers.
#![no_main]

use gruppetto::report::load_tensors;
use gruppetto_fuzz::{Shape, file, safetensors, shape};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let path = match shape(input) {
        None => return,
        Some(Shape::File(bytes)) => file("model.safetensors", bytes),
        Some(Shape::Content(content)) => file("model.safetensors", &safetensors(content)),
    };
    let _ = load_tensors(&path);
});
