//! CIFAR's binary form: records of one or two label bytes and 3 × 32 × 32 pixels, channel by channel.

use super::super::error::DataError;
use std::path::Path;

/// Bytes of an image.
pub(crate) const PIXELS: usize = 3 * 32 * 32;

/// Appends the images and labels of a file to `pixels` and `labels`. A record begins with
/// `label_bytes` labels, of which the last (the finest) is taken; it must be below `classes`.
pub(crate) fn parse(
    file: &Path,
    bytes: &[u8],
    label_bytes: usize,
    classes: u32,
    (pixels, labels): (&mut Vec<u8>, &mut Vec<u32>),
) -> Result<(), DataError> {
    let record = label_bytes + PIXELS;
    let over = bytes.len() % record;
    if over != 0 || bytes.is_empty() {
        let what = format!("{} bytes are no whole number of records", bytes.len());
        return Err(DataError::new(file, what)
            .expected(format!("records of {record} bytes: labels, then 3 × 32 × 32 pixels"))
            .help("is this the binary version of the data set, unpacked and whole?"));
    }
    for (index, record) in bytes.chunks_exact(record).enumerate() {
        let (head, image) = record.split_at(label_bytes);
        let label = u32::from(head[label_bytes - 1]);
        if label >= classes {
            let what = format!("record {index} has label {label}");
            return Err(DataError::new(file, what).expected(format!("0 to {}", classes - 1)));
        }
        labels.push(label);
        pixels.extend_from_slice(image);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], label_bytes: usize) -> Result<(Vec<u8>, Vec<u32>), String> {
        let (mut pixels, mut labels) = (Vec::new(), Vec::new());
        parse(Path::new("f"), bytes, label_bytes, 10, (&mut pixels, &mut labels))
            .map(|()| (pixels, labels))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn records_are_taken_apart() {
        let record = |labels: &[u8], pixel: u8| [labels, &[pixel; PIXELS]].concat();
        let (pixels, labels) = read(&[record(&[3], 1), record(&[9], 2)].concat(), 1).unwrap();
        assert_eq!((labels, pixels.len(), pixels[PIXELS]), (vec![3, 9], 2 * PIXELS, 2));
        assert_eq!(read(&record(&[77, 4], 0), 2).unwrap().1, [4], "the fine label");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let whole = [&[10][..], &[0; PIXELS]].concat();
        assert!(read(&whole, 1).unwrap_err().contains("record 0 has label 10"));
        assert!(read(&whole[1..], 1).unwrap_err().contains("no whole number of records"));
        assert!(read(b"", 1).is_err());
    }
}
