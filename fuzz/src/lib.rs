//! What the fuzz targets share.
//!
//! A target gets bytes and hands them to a reader of the library. Where a format protects its content with a
//! length, a checksum or a compression, random bytes would be refused at the door. So the first byte of an input
//! decides: even, the rest is the file as it is; odd, the rest is the content, and the target wraps it up.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// What an input is.
pub enum Shape<'a> {
    /// A whole file.
    File(&'a [u8]),
    /// What belongs behind a valid header.
    Content(&'a [u8]),
}

/// The shape of an input; `None` if it is empty.
pub fn shape(input: &[u8]) -> Option<Shape<'_>> {
    let (first, rest) = input.split_first()?;
    Some(if first % 2 == 0 { Shape::File(rest) } else { Shape::Content(rest) })
}

/// The parts of an input between separators of four equal bytes.
pub fn parts(input: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = input;
    while let Some(at) = rest.windows(4).position(|four| four == [0xfe; 4]) {
        parts.push(&rest[..at]);
        rest = &rest[at + 4..];
    }
    parts.push(rest);
    parts
}

/// A folder for the files of this process.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| TempDir::with_prefix("gruppetto-fuzz-").expect("a folder for files"))
        .path()
}

/// Writes a file for a reader that takes a path.
pub fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for files");
    std::fs::write(&path, content).expect("room for a file");
    path
}

/// Reads a table of data; labels that come out are below the number of classes.
pub fn table(name: &str, bytes: &[u8]) {
    if let Ok(data) = gruppetto::data::parse_bytes(name, bytes) {
        let classes = data.classes as u32;
        assert!(
            data.train.labels().is_none_or(|labels| labels.iter().all(|label| *label < classes))
        );
    }
}

/// Bytes behind the length and the checks of safetensors: a JSON header, a separator, the numbers.
pub fn safetensors(content: &[u8]) -> Vec<u8> {
    let parts = parts(content);
    let header = parts[0];
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    parts[1..].iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}
