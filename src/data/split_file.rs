//! A partition that somebody wrote down: JSON, `{ "indices": [[…], […]] }` or the bare lists.

use crate::data::error::DataError;
use crate::memory::read_at_most;
use serde::Deserialize;
use std::path::Path;

/// Bytes that a split may have beside its numbers.
const MOST_AROUND: u64 = 16 << 20;

#[derive(Deserialize)]
struct SplitFile {
    indices: Vec<Vec<u32>>,
    /// Says again how long the lists are, to be sure.
    sizes: Option<Vec<usize>>,
}

/// Reads a split of `samples` training samples, which it counts from 0.
pub fn read_split(path: &Path, samples: usize) -> Result<Vec<Vec<u32>>, DataError> {
    // A number and what stands around it, well spaced, for each sample.
    let most = MOST_AROUND + 64 * samples as u64;
    let bytes = read_at_most(path, most).map_err(|error| DataError::io(path, &error))?;
    parse(path, &bytes, samples)
}

fn parse(path: &Path, bytes: &[u8], samples: usize) -> Result<Vec<Vec<u32>>, DataError> {
    let wrong = |what: String| DataError::new(path, what);
    let bare = bytes.trim_ascii_start().first() == Some(&b'[');
    let read = match bare {
        true => serde_json::from_slice(bytes).map(|indices| SplitFile { indices, sizes: None }),
        false => serde_json::from_slice(bytes),
    };
    let SplitFile { indices, sizes } = read.map_err(|error| {
        let error = wrong(format!("this is not a split: {error}"));
        error.expected("JSON: `{ \"indices\": [[…], […]] }`, a list of samples per client")
    })?;
    if indices.is_empty() {
        return Err(wrong("it has no clients".into()).expected("one list or more"));
    }
    if let Some(sizes) = sizes
        && !sizes.iter().copied().eq(indices.iter().map(Vec::len))
    {
        return Err(wrong("`sizes` are not the lengths of the lists of `indices`".into()));
    }
    let mut owner = vec![u32::MAX; samples];
    for (client, own) in indices.iter().enumerate() {
        if own.is_empty() {
            return Err(wrong(format!("client {client} has no samples")).expected("one or more"));
        }
        for index in own {
            let Some(owner) = owner.get_mut(*index as usize) else {
                let error = wrong(format!("client {client} has sample {index}"));
                return Err(error
                    .expected(format!("the training set's: 0 to {}", samples - 1))
                    .help("is the split one of this data set?"));
            };
            if *owner != u32::MAX {
                let what = format!("sample {index} belongs to clients {owner} and {client}");
                return Err(wrong(what).expected("every sample at most once"));
            }
            *owner = client as u32;
        }
    }
    Ok(indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<u32>>, String> {
        parse(Path::new("s.json"), text.as_bytes(), 4).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_are_taken_as_they_are() {
        let expected = vec![vec![3, 0], vec![1]];
        assert_eq!(read("[[3, 0], [1]]").unwrap(), expected);
        let whole = r#"{ "dataset": "x", "sizes": [2, 1], "indices": [[3, 0], [1]] }"#;
        assert_eq!(read(whole).unwrap(), expected);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("", "not a split"),
            ("[]", "no clients"),
            ("[[0], []]", "client 1 has no samples"),
            ("[[0], [4]]", "client 1 has sample 4"),
            ("[[0, 1], [1]]", "sample 1 belongs to clients 0 and 1"),
            ("[[-1]]", "not a split"),
            (r#"{ "sizes": [2], "indices": [[1]] }"#, "`sizes` are not"),
            (r#"{ "index": [[1]] }"#, "missing field `indices`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
