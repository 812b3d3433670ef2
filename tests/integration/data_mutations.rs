//! Ten thousand broken files of every format: each is read or refused, quickly, and nothing panics.

use crate::trace_mutations::Mutator;
use gruppetto::data::parse_bytes;
use std::io::{Cursor, Write};
use std::time::{Duration, Instant};
use zip::write::{SimpleFileOptions, ZipWriter};

/// Cases per format.
const CASES: u32 = 10_000;

fn break_all(name: &str, seeds: &[Vec<u8>]) {
    let mut mutator = Mutator(11);
    let (mut good, mut slowest) = (0, Duration::ZERO);
    for case in 0..CASES as usize {
        let mut bytes = seeds[case % seeds.len()].clone();
        if case >= seeds.len() {
            mutator.mutate(&mut bytes);
        }
        let begun = Instant::now();
        match parse_bytes(name, &bytes) {
            Ok(data) => {
                good += 1;
                let classes = data.classes as u32;
                assert!(data.train.labels().unwrap().iter().all(|label| *label < classes));
            }
            Err(error) => {
                assert!(case >= seeds.len(), "{error}");
                assert!(error.to_string().starts_with(name), "{error}");
            }
        }
        slowest = slowest.max(begun.elapsed());
    }
    assert!((1..CASES).contains(&good), "{name}: {good} of {CASES} were read");
    assert!(slowest < Duration::from_secs(5), "{name}: one took {slowest:?}");
}

#[test]
fn broken_idx() {
    break_all("labels-idx1-ubyte", &[vec![0, 0, 8, 1, 0, 0, 0, 6, 1, 0, 2, 1, 0, 2]]);
}

#[test]
fn broken_cifar() {
    let record = |label: u8| [&[label][..], &[label; 3072]].concat();
    break_all("data_batch_1.bin", &[[record(1), record(7), record(1)].concat()]);
}

#[test]
fn broken_csv() {
    break_all("t.csv", &[b"y,a,b\n0,1.5,2\n1,-3,4e2\n0,\"5\",6\n".to_vec()]);
}

#[test]
fn broken_libsvm() {
    break_all("t.svm", &[b"+1 1:0.5 3:2 # x\n-1 2:1e-3\n1 4:7\n".to_vec()]);
}

#[test]
fn broken_npz() {
    let array = |descr: &str, shape: &str, data: &[u8]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    };
    let archive = |method| {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(method);
        let x: Vec<u8> = (0..6).flat_map(|v| (v as f32).to_le_bytes()).collect();
        for (name, bytes) in
            [("x.npy", array("<f4", "(3, 2)", &x)), ("y.npy", array("|u1", "(3,)", &[0, 1, 0]))]
        {
            zip.start_file(name, options).unwrap();
            zip.write_all(&bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    let seeds =
        [archive(zip::CompressionMethod::Stored), archive(zip::CompressionMethod::Deflated)];
    break_all("t.npz", &seeds);
}
