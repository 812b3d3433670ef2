//! Tables in npz: a zip archive as it is, or made of the arrays x, y, x_test and y_test.
#![no_main]

use gruppetto_fuzz::{Shape, parts, shape, table};
use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Write};
use zip::write::{SimpleFileOptions, ZipWriter};

fuzz_target!(|input: &[u8]| match shape(input) {
    None => {}
    Some(Shape::File(bytes)) => table("f.npz", bytes),
    Some(Shape::Content(content)) => {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let plain = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for (name, array) in
            ["x.npy", "y.npy", "x_test.npy", "y_test.npy"].iter().zip(parts(content))
        {
            zip.start_file(*name, plain).expect("writing to memory");
            zip.write_all(array).expect("writing to memory");
        }
        table("f.npz", zip.finish().expect("writing to memory").get_ref());
    }
});
