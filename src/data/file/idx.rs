//! idx, the format of MNIST and its relatives: two zero bytes, a type, the number of dimensions, the
//! dimensions as big-endian 32-bit numbers, then the values.

use super::super::error::DataError;
use std::path::Path;

/// The values of an idx file of bytes, and its dimensions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Idx {
    /// Dimensions, outermost first.
    pub shape: Vec<usize>,
    /// Values, by rows.
    pub values: Vec<u8>,
}

/// The type of unsigned bytes, the only one the image data sets use.
const UNSIGNED_BYTE: u8 = 0x08;

/// Reads the bytes of an idx file with `dims` dimensions.
pub(crate) fn parse(file: &Path, mut bytes: Vec<u8>, dims: usize) -> Result<Idx, DataError> {
    let wrong = |what: String| DataError::new(file, what);
    let header = 4 + 4 * dims;
    let [0, 0, kind, found, ..] = bytes[..] else {
        return Err(wrong("this is not an idx file".into())
            .expected(format!("two zero bytes, 08, and {dims} for the dimensions")));
    };
    if kind != UNSIGNED_BYTE {
        let error = wrong(format!("its values have type {kind:#04x}"));
        return Err(error.expected("unsigned bytes, type 0x08"));
    }
    if found as usize != dims {
        let error = wrong(format!("it has {found} dimensions"));
        let error = error.expected(match dims {
            1 => "labels: 1 dimension",
            _ => "images: 3 dimensions",
        });
        return Err(error.help("were the files of images and labels confused?"));
    }
    if bytes.len() < header {
        return Err(wrong(format!("it ends after {} bytes, in its header", bytes.len())));
    }
    let shape: Vec<usize> = bytes[4..header]
        .chunks_exact(4)
        .map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]) as usize)
        .collect();
    let promised = shape.iter().try_fold(1usize, |all, dim| all.checked_mul(*dim));
    let there = bytes.len() - header;
    match promised {
        Some(promised) if promised == there => {
            bytes.drain(..header);
            Ok(Idx { shape, values: bytes })
        }
        Some(promised) if promised < there => {
            let extra = there - promised;
            Err(wrong(format!("{extra} bytes follow after the last value"))
                .expected(format!("{promised} values after the header, as {shape:?} says")))
        }
        _ => Err(wrong(format!("it is cut off: {there} values are there"))
            .expected(format!("as many as its header says: {shape:?}"))
            .help("fetch the file again")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], dims: usize) -> Result<Idx, String> {
        parse(Path::new("f"), bytes.to_vec(), dims).map_err(|error| error.to_string())
    }

    #[test]
    fn images_and_labels() {
        let labels = read(&[0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9], 1).unwrap();
        assert_eq!(labels, Idx { shape: vec![3], values: vec![7, 8, 9] });
        let header = [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2];
        let images = read(&[&header[..], &[1, 2, 3, 4]].concat(), 3).unwrap();
        assert_eq!(images.shape, [1, 2, 2]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let labels = [0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9];
        for (bytes, dims, words) in [
            (&b""[..], 1, "not an idx file"),
            (b"rubbish", 1, "not an idx file"),
            (&labels[..10], 1, "cut off: 2 values"),
            (&labels[..6], 1, "ends after 6 bytes"),
            (&[&labels[..], &[1]].concat(), 1, "1 bytes follow"),
            (&labels, 3, "has 1 dimensions"),
            (&[0, 0, 13, 1, 0, 0, 0, 0], 1, "type 0x0d"),
            (&[0, 0, 8, 1, 255, 255, 255, 255], 1, "cut off"),
            (&[[0, 0, 8, 3].as_slice(), &[255; 12]].concat(), 3, "cut off"),
        ] {
            let error = read(bytes, dims).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
