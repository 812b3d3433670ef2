//! CSV: a header, then a sample per row. One column is the target, one may name the client, and all
//! others are features.

use super::super::Features;
use super::super::error::{DataError, shown};
use super::{RawTable, Register};
use std::path::Path;

/// The most numbers a table may hold in memory.
pub(super) const MOST_NUMBERS: usize = 2_000_000_000;

/// Reads a table whose column `label` (or `y`) is the target, and `client`, if given, the client.
pub(crate) fn parse(
    file: &Path,
    bytes: &[u8],
    label: Option<&str>,
    client: Option<&str>,
) -> Result<RawTable, DataError> {
    let broken = |error: csv::Error| DataError::new(file, format!("{error}"));
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let headers = reader.headers().map_err(broken)?.clone();
    let column = |name: &str, key: &str| {
        headers.iter().position(|header| header == name).ok_or_else(|| {
            let list: Vec<String> = headers.iter().take(12).map(shown).collect();
            DataError::new(file, format!("there is no column `{}`", shown(name)))
                .expected(format!("one of: {}", list.join(", ")))
                .help(format!("name it in [task] with `{key} = \"…\"`"))
        })
    };
    let target = column(label.unwrap_or("y"), "label")?;
    let owner = client.map(|client| column(client, "client")).transpose()?;
    if owner == Some(target) {
        return Err(DataError::new(file, "one column cannot be the target and the client"));
    }
    let features = headers.len() - 1 - usize::from(owner.is_some());
    if features == 0 {
        let error = DataError::new(file, "there is no column left to be a feature");
        return Err(error.expected("one column or more beside the target and the client"));
    }
    let (mut x, mut y, mut register) = (Vec::new(), Vec::new(), Register::default());
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(broken)? {
        let line = record.position().map_or(0, csv::Position::line);
        for (index, cell) in record.iter().enumerate() {
            if Some(index) == owner {
                register.add(cell);
                continue;
            }
            let value = cell.parse::<f64>().ok().filter(|value| (*value as f32).is_finite());
            let Some(value) = value else {
                let column = shown(&headers[index]);
                let what = format!("line {line}, column `{column}`: found `{}`", shown(cell));
                let error = DataError::new(file, what).expected("a finite number");
                return Err(match cell {
                    "" => error.help("fill in or remove rows with missing cells"),
                    _ => error.help("turn texts into numbers, one column per category"),
                });
            };
            if index == target { y.push(value) } else { x.push(value as f32) }
        }
        if x.len() > MOST_NUMBERS {
            return Err(DataError::new(file, "it has more than 2 billion numbers"));
        }
    }
    let clients = owner.map(|_| register.finish());
    Ok(RawTable { shape: vec![features], x: Features::Floats(x), y, clients })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, client: Option<&str>) -> Result<RawTable, String> {
        parse(Path::new("f.csv"), text.as_bytes(), None, client).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_told_apart() {
        let table = read("a, y, user, b\n1, 0, ann, 2\n3, 1, bob, 4\n5, 1, ann, 6\n", Some("user"));
        let table = table.unwrap();
        assert_eq!(table.x, Features::Floats(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!((table.y, table.shape), (vec![0.0, 1.0, 1.0], vec![2]));
        let clients = table.clients.unwrap();
        assert_eq!((clients.of, clients.names), (vec![0, 1, 0], vec!["ann".into(), "bob".into()]));
    }

    #[test]
    fn what_is_wrong_is_said_by_line_and_column() {
        for (text, client, words) in [
            ("a,y\n1,2\nred,3\n", None, "line 3, column `a`: found `red`"),
            ("a,y\n1,\n", None, "line 2, column `y`: found ``"),
            ("a,y\n1e99,1\n", None, "found `1e99`"),
            ("a,y\nnan,1\n", None, "found `nan`"),
            ("a,y\n1,2,3\n", None, "3 fields"),
            ("a,b\n1,2\n", None, "no column `y`"),
            ("a,y\n1,2\n", Some("who"), "no column `who`"),
            ("a,y\n1,2\n", Some("y"), "cannot be the target and the client"),
            ("y\n1\n", None, "no column left"),
            ("", None, "no column `y`"),
        ] {
            let error = read(text, client).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
