//! npz, NumPy's archive of arrays: features `x` and targets `y`, or `x_train`, `y_train`, `x_test` and
//! `y_test`; and where asked for, whose each training sample is.

use super::super::error::{DataError, shown};
use super::super::{Features, NaturalClients};
use super::npy::{self, Array, Numbers};
use super::{RawTable, Register, most_bytes, too_large};
use std::io::{Cursor, Read};
use std::path::Path;
use zip::ZipArchive;

/// Reads the training and, if there are any, the test samples. `label` and `client` name arrays.
pub(crate) fn parse(
    file: &Path,
    bytes: &[u8],
    label: Option<&str>,
    client: Option<&str>,
) -> Result<(RawTable, Option<RawTable>), DataError> {
    parse_within(most_bytes(), file, bytes, label, client)
}

/// The same, if its arrays together unfold to no more than `most` bytes.
fn parse_within(
    most: u64,
    file: &Path,
    bytes: &[u8],
    label: Option<&str>,
    client: Option<&str>,
) -> Result<(RawTable, Option<RawTable>), DataError> {
    let label = label.unwrap_or("y");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
        DataError::new(file, format!("this is not an npz archive: {error}"))
            .expected("what `np.savez` writes")
    })?;
    let names: Vec<String> = archive
        .file_names()
        .filter_map(|name| name.ok()?.strip_suffix(".npy").map(String::from))
        .collect();
    let has = |name: &str| names.iter().any(|known| known == name);
    let mut room = Room { most, left: most };
    let mut open = |name: &str| open(file, &mut archive, &names, name, &mut room);
    let split = has("x_train");
    let train_of = |name: &str| match split {
        true => format!("{name}_train"),
        false => name.to_string(),
    };
    let features = open(&train_of("x"))?;
    let targets = open(&train_of(label))?;
    let mut train = table(file, features, targets, label)?;
    if let Some(client) = client {
        // Clients of training samples only: with that name, or with `_train` after it.
        let name = if has(client) { client.to_string() } else { train_of(client) };
        let owners = open(&name)?;
        if owners.shape != [train.y.len()] {
            let what = format!("array `{}` has shape {:?}", shown(&name), owners.shape);
            let wanted = format!("one client per training sample: [{}]", train.y.len());
            return Err(DataError::new(file, what).expected(wanted));
        }
        train.clients = Some(clients(owners));
    }
    if !split {
        return Ok((train, None));
    }
    let (features, targets) = (open("x_test")?, open(&format!("{label}_test"))?);
    let test = table(file, features, targets, label)?;
    if test.shape != train.shape {
        let what = format!("samples of `x_test` have shape {:?}", test.shape);
        let wanted = format!("that of `x_train`: {:?}", train.shape);
        return Err(DataError::new(file, what).expected(wanted));
    }
    if std::mem::discriminant(&test.x) != std::mem::discriminant(&train.x) {
        let error = DataError::new(file, "`x_train` and `x_test` have different types");
        return Err(error.expected("both bytes, or both numbers"));
    }
    Ok((train, Some(test)))
}

/// Bytes that arrays may unfold to.
struct Room {
    most: u64,
    left: u64,
}

fn open(
    file: &Path,
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    names: &[String],
    name: &str,
    room: &mut Room,
) -> Result<Array, DataError> {
    let Ok(entry) = archive.by_name(&format!("{name}.npy")) else {
        let list: Vec<String> = names.iter().take(12).map(|name| shown(name)).collect();
        let error = DataError::new(file, format!("there is no array `{}`", shown(name)));
        let list = if list.is_empty() { "it has none".into() } else { list.join(", ") };
        return Err(error
            .expected("arrays `x` and `y`, or `x_train`, `y_train`, `x_test` and `y_test`")
            .help(format!("arrays of the file: {list}; `label = \"…\"` names the targets")));
    };
    // The directory says how large it is before anything is unfolded, and may be wrong.
    if entry.size() > room.left {
        return Err(too_large(file, room.most));
    }
    let mut bytes = Vec::new();
    entry.take(room.left + 1).read_to_end(&mut bytes).map_err(|error| {
        DataError::new(file, format!("array `{}` is broken: {error}", shown(name)))
    })?;
    room.left = match room.left.checked_sub(bytes.len() as u64) {
        Some(left) => left,
        None => return Err(too_large(file, room.most)),
    };
    npy::parse(file, name, &bytes)
}

fn table(file: &Path, x: Array, y: Array, label: &str) -> Result<RawTable, DataError> {
    let wrong = |what: String| Err(DataError::new(file, what));
    let [samples, rest @ ..] = &x.shape[..] else {
        return wrong("array `x` is a single number".into());
    };
    let flat = match y.shape[..] {
        [n] | [n, 1] => n,
        _ => {
            let what = format!("array `{}` has shape {:?}", shown(label), y.shape);
            return Err(DataError::new(file, what).expected("one target per sample"));
        }
    };
    if *samples != flat {
        return wrong(format!("{samples} samples have {flat} targets"));
    }
    let shape = match *rest {
        [] => vec![1],
        [features] => vec![features],
        // A picture without channels has one.
        [height, width] => vec![1, height, width],
        _ => rest.to_vec(),
    };
    if shape.contains(&0) {
        return wrong(format!("samples of shape {rest:?} have no features"));
    }
    let x = match (x.values, shape.len()) {
        (Numbers::Bytes(x), 3) => Features::Bytes(x),
        (Numbers::Bytes(x), _) => Features::Floats(x.into_iter().map(f32::from).collect()),
        (Numbers::Singles(x), _) => Features::Floats(x),
        (Numbers::Floats(x), _) => Features::Floats(x.into_iter().map(|x| x as f32).collect()),
    };
    Ok(RawTable { shape, x, y: y.doubles(), clients: None })
}

fn clients(owners: Array) -> NaturalClients {
    let mut register = Register::default();
    owners.doubles().iter().for_each(|owner| register.add(&owner.to_string()));
    register.finish()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::npy::tests::npy;
    use super::*;
    use std::io::Write;
    use zip::write::{SimpleFileOptions, ZipWriter};

    /// An npz archive by hand.
    pub(crate) fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (index, (name, bytes)) in arrays.iter().enumerate() {
            let method = match index % 2 {
                0 => zip::CompressionMethod::Stored,
                _ => zip::CompressionMethod::Deflated,
            };
            let options = SimpleFileOptions::default().compression_method(method);
            zip.start_file(format!("{name}.npy"), options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn read(arrays: &[(&str, Vec<u8>)]) -> Result<(RawTable, Option<RawTable>), String> {
        parse(Path::new("f.npz"), &npz(arrays), None, None).map_err(|error| error.to_string())
    }

    #[test]
    fn arrays_become_tables() {
        let floats: Vec<u8> =
            [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let x = npy("<f4", "(2, 2)", &floats);
        let y = npy("|u1", "(2,)", &[1, 0]);
        let (train, test) = read(&[("x", x.clone()), ("y", y.clone())]).unwrap();
        assert_eq!(train.x, Features::Floats(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!((train.shape, train.y, test), (vec![2], vec![1.0, 0.0], None));
        let pictures = npy("|u1", "(2, 1, 2)", &[1, 2, 3, 4]);
        let (train, test) = read(&[
            ("x_train", pictures.clone()),
            ("y_train", y.clone()),
            ("x_test", pictures),
            ("y_test", y.clone()),
        ])
        .unwrap();
        assert_eq!(train.shape, [1, 1, 2]);
        assert_eq!(train.x, Features::Bytes(vec![1, 2, 3, 4]));
        assert!(test.is_some());
        let with = npz(&[("x", x), ("t", y), ("user", npy("|u1", "(2,)", &[9, 4]))]);
        let (train, _) = parse(Path::new("f"), &with, Some("t"), Some("user")).unwrap();
        assert_eq!(train.clients.unwrap().names, ["9", "4"]);
    }

    /// What the directory promises is refused before it is unfolded: here it could not even be.
    #[test]
    fn what_is_too_large_is_refused_from_the_directory() {
        let x = npy("|u1", "(2, 600)", &[7; 1200]);
        let y = npy("|u1", "(2,)", &[1, 0]);
        let mut bytes = npz(&[("y", y), ("x", x)]);
        let whole = parse_within(10_000, Path::new("f"), &bytes, None, None);
        assert!(whole.is_ok(), "{whole:?}");
        // The deflated values of x, between its name and the directory.
        let at = bytes.windows(5).position(|window| window == b"x.npy").unwrap();
        bytes[at + 5..at + 15].fill(0xff);
        let error =
            |most| parse_within(most, Path::new("f"), &bytes, None, None).unwrap_err().to_string();
        assert!(error(10_000).contains("array `x` is broken"), "{}", error(10_000));
        assert!(error(1000).contains("it holds more than"), "{}", error(1000));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let y = npy("|u1", "(2,)", &[1, 0]);
        for (arrays, words) in [
            (vec![("z", y.clone())], "no array `x`"),
            (vec![("z", y.clone())], "arrays of the file: z"),
            (vec![("x", y.clone())], "no array `y`"),
            (vec![("x", npy("|u1", "(3, 1)", &[0; 3])), ("y", y.clone())], "3 samples have 2"),
            (vec![("x", npy("|u1", "()", &[0])), ("y", y.clone())], "a single number"),
            (vec![("x", npy("|u1", "(2, 0)", &[])), ("y", y.clone())], "no features"),
            (vec![("x", y.clone()), ("y", npy("|u1", "(1, 2)", &[0; 2]))], "one target"),
        ] {
            let error = read(&arrays).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        let error = parse(Path::new("f"), b"rubbish", None, None).unwrap_err().to_string();
        assert!(error.contains("not an npz archive"), "{error}");
    }
}
