//! libsvm's sparse text: `label index:value …`, indices from 1 and ascending, `#` begins a comment.

use super::super::Features;
use super::super::error::{DataError, shown};
use super::RawTable;
use super::columns::MOST_NUMBERS;
use super::most_bytes;
use std::path::Path;

/// Numbers that a table may have for every one that the file gives; real sparse tables have up to a thousand.
const MOST_PER_ENTRY: usize = 10_000;
/// A table of so many numbers is always made.
const SMALL: usize = 1 << 26;

/// Reads a table; what a row does not mention is 0. As many features as the highest index.
pub(crate) fn parse(file: &Path, bytes: &[u8]) -> Result<RawTable, DataError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| DataError::new(file, "this is not a text").expected("lines of text"))?;
    let mut entries: Vec<(u32, u32, f32)> = Vec::new();
    let (mut y, mut features) = (Vec::new(), 0);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("");
        let mut words = line.split_ascii_whitespace();
        let Some(label) = words.next() else {
            continue;
        };
        let wrong = |found: &str, wanted: &str| {
            let what = format!("line {}: found `{}`", number + 1, shown(found));
            DataError::new(file, what).expected(wanted.to_string())
        };
        let label = label
            .parse::<f64>()
            .ok()
            .filter(|label| label.is_finite())
            .ok_or_else(|| wrong(label, "a number as label, then `index:value` pairs"))?;
        let (row, mut last) = (y.len() as u32, 0);
        for word in words {
            let pair = word.split_once(':').and_then(|(index, value)| {
                let value = value.parse::<f32>().ok().filter(|value| value.is_finite())?;
                Some((index.parse::<u32>().ok()?, value))
            });
            let (index, value) =
                pair.ok_or_else(|| wrong(word, "`index:value` with a finite number"))?;
            if index <= last {
                return Err(wrong(word, "indices from 1 that ascend within a line"));
            }
            last = index;
            entries.push((row, index - 1, value));
        }
        features = features.max(last as usize);
        y.push(label);
    }
    let most = MOST_NUMBERS.min(most_bytes() as usize / 4);
    let dense = y.len().checked_mul(features).filter(|count| *count <= most);
    let Some(dense) = dense else {
        let what = format!("{} rows of {features} features do not fit into memory", y.len());
        return Err(DataError::new(file, what).expected(format!("up to {most} numbers")));
    };
    // One wrong index would turn a few lines into gigabytes of zeros.
    if dense > SMALL.max(entries.len().saturating_mul(MOST_PER_ENTRY)) {
        let what = format!("{} rows of {features} features have {} values", y.len(), entries.len());
        let error = DataError::new(file, what).expected("at least one in 10,000 that is not 0");
        return Err(error.help("is an index wrong?"));
    }
    if features == 0 && !y.is_empty() {
        return Err(DataError::new(file, "no line has a feature").expected("`index:value` pairs"));
    }
    let mut x = vec![0.0; dense];
    for (row, feature, value) in entries {
        x[row as usize * features + feature as usize] = value;
    }
    Ok(RawTable { shape: vec![features], x: Features::Floats(x), y, clients: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RawTable, String> {
        parse(Path::new("f.svm"), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_are_filled_up_with_zeros() {
        let table = read("+1 1:0.5 3:2\n\n-1 2:1 # a comment 9:9\n").unwrap();
        assert_eq!(table.x, Features::Floats(vec![0.5, 0.0, 2.0, 0.0, 1.0, 0.0]));
        assert_eq!((table.y, table.shape), (vec![1.0, -1.0], vec![3]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("1 1:2\nx 1:2\n", "line 2: found `x`"),
            ("1 0:2\n", "found `0:2`"),
            ("1 2:1 2:1\n", "ascend"),
            ("1 2:nan\n", "found `2:nan`"),
            ("1 2\n", "found `2`"),
            ("1 qid:3 1:2\n", "found `qid:3`"),
            ("1\n", "no line has a feature"),
            ("1 4294967295:1\n", "do not fit into memory"),
            ("1 1:1\n0 1:2\n1 39999999:1\n", "3 rows of 39999999 features have 3 values"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
