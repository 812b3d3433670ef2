//! npy, one array of NumPy: a magic, a header in Python's notation, then the values.
//!
//! Only plain numbers in C order are read. Arrays of objects are pickles, which can run anything, and
//! are never opened.

use super::super::error::{DataError, shown};
use std::path::Path;

/// An array.
#[derive(Debug, PartialEq)]
pub(crate) struct Array {
    /// Dimensions, outermost first.
    pub shape: Vec<usize>,
    /// Values, by rows.
    pub values: Numbers,
}

/// Values of an array.
#[derive(Debug, PartialEq)]
pub(crate) enum Numbers {
    /// Unsigned bytes, as pixels are.
    Bytes(Vec<u8>),
    /// Any other number. Whole numbers of 64 bits keep 53 of them.
    Floats(Vec<f64>),
    /// Single precision, as it is stored.
    Singles(Vec<f32>),
}

impl Array {
    /// The values as doubles.
    pub(crate) fn doubles(self) -> Vec<f64> {
        match self.values {
            Numbers::Bytes(values) => values.into_iter().map(f64::from).collect(),
            Numbers::Singles(values) => values.into_iter().map(f64::from).collect(),
            Numbers::Floats(values) => values,
        }
    }
}

/// Reads the array `name` of `file`.
pub(crate) fn parse(file: &Path, name: &str, bytes: &[u8]) -> Result<Array, DataError> {
    let wrong = |what: String| DataError::new(file, format!("array `{}` {what}", shown(name)));
    let (header, data) = split(bytes).ok_or_else(|| wrong("has no NumPy header".into()))?;
    let entry = |key: &str| {
        let text = value_of(header, key);
        text.ok_or_else(|| wrong(format!("has no `{key}` in its header")))
    };
    let (descr, order, shape) = (entry("descr")?, entry("fortran_order")?, entry("shape")?);
    if order.starts_with("True") {
        return Err(wrong("is stored by columns".into())
            .expected("C order")
            .help("save it again after `np.ascontiguousarray(...)`"));
    }
    let shape = tuple(shape).ok_or_else(|| wrong(format!("has the shape {}", shown(shape))))?;
    let descr = descr.split(['\'', '"']).nth(1).unwrap_or("");
    let size = width(descr).ok_or_else(|| unusable(file, name, descr))?;
    let count = shape.iter().try_fold(1usize, |all, dim| all.checked_mul(*dim));
    if count.and_then(|count| count.checked_mul(size)) != Some(data.len()) {
        let what = format!("has {} bytes of values for the shape {shape:?}", data.len());
        return Err(wrong(what).expected(format!("{size} bytes for each")));
    }
    Ok(Array { shape, values: numbers(descr, data) })
}

/// Header and values.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (&[major, _], rest) = rest.split_first_chunk::<2>()?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// What stands after `'key':` in a Python dictionary.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{key}'"))? + key.len() + 2;
    Some(header[at..].trim_start().strip_prefix(':')?.trim_start())
}

/// `(3, 4)`.
fn tuple(text: &str) -> Option<Vec<usize>> {
    let inner = text.strip_prefix('(')?.split(')').next()?;
    let parts = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().ok()).collect()
}

/// Bytes of a value, of the types that are read.
fn width(descr: &str) -> Option<usize> {
    match descr {
        "|u1" | "|i1" | "|b1" => Some(1),
        "<u2" | "<i2" => Some(2),
        "<u4" | "<i4" | "<f4" => Some(4),
        "<u8" | "<i8" | "<f8" => Some(8),
        _ => None,
    }
}

fn unusable(file: &Path, name: &str, descr: &str) -> DataError {
    let (what, help) = match descr {
        "|O" => ("Python objects, which are never opened", ".astype(\"float32\")"),
        _ if descr.starts_with('>') => ("big-endian numbers", ".astype(\"<f4\")"),
        _ if descr.contains('U') || descr.contains('S') => ("texts", ".astype(\"int64\")"),
        _ => ("values of a type that is not read", ".astype(\"float32\")"),
    };
    let what = format!("array `{}` holds {what}: `{}`", shown(name), shown(descr));
    DataError::new(file, what)
        .expected("float32, float64, or whole numbers of 8 to 64 bits")
        .help(format!("convert it with `{help}` before `np.savez`"))
}

fn numbers(descr: &str, data: &[u8]) -> Numbers {
    fn each<const N: usize, T>(data: &[u8], from: fn([u8; N]) -> T) -> Vec<T> {
        data.as_chunks::<N>().0.iter().map(|chunk| from(*chunk)).collect()
    }
    Numbers::Floats(match descr {
        "|u1" => return Numbers::Bytes(data.to_vec()),
        "<f4" => return Numbers::Singles(each(data, f32::from_le_bytes)),
        "|b1" => each(data, |byte: [u8; 1]| f64::from(byte[0] != 0)),
        "|i1" => each(data, |byte| f64::from(i8::from_le_bytes(byte))),
        "<u2" => each(data, |two| f64::from(u16::from_le_bytes(two))),
        "<i2" => each(data, |two| f64::from(i16::from_le_bytes(two))),
        "<u4" => each(data, |four| f64::from(u32::from_le_bytes(four))),
        "<i4" => each(data, |four| f64::from(i32::from_le_bytes(four))),
        "<u8" => each(data, |eight| u64::from_le_bytes(eight) as f64),
        "<i8" => each(data, |eight| i64::from_le_bytes(eight) as f64),
        _ => each(data, f64::from_le_bytes),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An npy file by hand.
    pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    }

    fn read(bytes: &[u8]) -> Result<Array, String> {
        parse(Path::new("f.npz"), "x", bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn every_type_is_read() {
        let values = |descr: &str, data: &[u8]| {
            read(&npy(descr, "(2,)", data)).unwrap_or_else(|e| panic!("{e}")).doubles()
        };
        assert_eq!(values("|u1", &[1, 255]), [1.0, 255.0]);
        assert_eq!(values("|i1", &[1, 255]), [1.0, -1.0]);
        assert_eq!(values("|b1", &[0, 1]), [0.0, 1.0]);
        assert_eq!(values("<i2", &[255, 255, 0, 1]), [-1.0, 256.0]);
        assert_eq!(values("<u4", &[1, 0, 0, 0, 255, 255, 255, 255]), [1.0, 4_294_967_295.0]);
        let long: Vec<u8> = [-5i64, 7].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(values("<i8", &long), [-5.0, 7.0]);
        let single: Vec<u8> = [0.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(values("<f4", &single), [0.5, -2.0]);
        let double: Vec<u8> = [0.1f64, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(values("<f8", &double), [0.1, -2.0]);
        assert_eq!(read(&npy("|u1", "(1, 2)", &[1, 2])).unwrap().shape, [1, 2]);
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let by_columns = String::from_utf8_lossy(&npy("|u1", "(1,)", &[1])[6..]).into_owned();
        let by_columns = [b"\x93NUMPY", by_columns.replace("False", "True ").as_bytes()].concat();
        for (bytes, words) in [
            (b"PK".to_vec(), "no NumPy header"),
            (npy("|u1", "(3,)", &[1, 2]), "2 bytes of values for the shape [3]"),
            (npy("|u1", "(99999999999, 99999999999)", &[]), "0 bytes of values"),
            (npy("|u1", "(-1,)", &[]), "the shape (-1,)"),
            (npy("|O", "(1,)", &[0; 8]), "Python objects, which are never opened"),
            (npy(">f4", "(1,)", &[0; 4]), "big-endian"),
            (npy("<U3", "(1,)", &[0; 12]), "texts"),
            (npy("<c8", "(1,)", &[0; 8]), "not read"),
            (by_columns, "stored by columns"),
        ] {
            let error = read(&bytes).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
