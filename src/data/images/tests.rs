//! Data sets by name: found, read, refused.

use super::*;
use std::fs;

/// An idx file by hand.
fn idx(dims: &[u32], values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, dims.len() as u8];
    dims.iter().for_each(|dim| bytes.extend(dim.to_be_bytes()));
    bytes.extend(values);
    bytes
}

/// A tiny MNIST in `folder`: three training images and one to test with.
fn mnist(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let pixels: Vec<u8> = (0..3 * 784).map(|i| (i / 784 * 100) as u8).collect();
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.join(name), bytes).unwrap();
    write("train-images-idx3-ubyte", idx(&[3, 28, 28], &pixels));
    write("train-labels-idx1-ubyte", idx(&[3], &[7, 0, 9]));
    write("t10k-images.idx3-ubyte", idx(&[1, 28, 28], &pixels[..784]));
    write("t10k-labels-idx1-ubyte", idx(&[1], &[3]));
}

fn load(name: &str, places: &DataFolders) -> Result<Dataset, String> {
    KnownDataset::named(name).unwrap().load(places).map_err(|error| error.to_string())
}

#[test]
fn a_data_set_is_found_wherever_it_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let below = DataFolders::Below(vec![root.join("nothing"), root.into()]);
    for place in ["mnist", "MNIST/raw"] {
        mnist(&root.join(place));
        let data = load("mnist", &below).unwrap();
        assert_eq!(data.shape, [1, 28, 28]);
        assert_eq!(data.train.labels(), Some(&[7, 0, 9][..]));
        assert_eq!((data.test.len(), data.classes), (1, 10));
        assert!((data.mean[0] - 100.0 / 255.0).abs() < 1e-15);
        assert_eq!(load("mnist", &DataFolders::Only(root.join(place))).unwrap(), data);
        fs::remove_dir_all(root.join(place)).unwrap();
    }
    let error = load("mnist", &below).unwrap_err();
    for words in ["\"mnist\" is not here", "train-images-idx3-ubyte", "scripts/get-data mnist"] {
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn gzip_is_read_and_broken_gzip_is_told() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    mnist(folder.path());
    let plain = folder.path().join("train-images-idx3-ubyte");
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zip.write_all(&fs::read(&plain).unwrap()).unwrap();
    let zipped = zip.finish().unwrap();
    fs::remove_file(&plain).unwrap();
    let gz = folder.path().join("train-images-idx3-ubyte.gz");
    fs::write(&gz, &zipped).unwrap();
    let places = DataFolders::Only(folder.path().into());
    assert_eq!(load("mnist", &places).unwrap().train.len(), 3);
    fs::write(&gz, &zipped[..zipped.len() / 2]).unwrap();
    assert!(load("mnist", &places).unwrap_err().contains("gzip archive is broken"));
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let places = DataFolders::Only(folder.path().into());
    for (name, bytes, words) in [
        ("train-labels-idx1-ubyte", idx(&[2], &[1, 2]), "2 labels for 3 images"),
        ("train-labels-idx1-ubyte", idx(&[3], &[1, 10, 2]), "label 10 of image 1 is out of range"),
        ("train-labels-idx1-ubyte", idx(&[3, 1, 1], &[1, 1, 2]), "has 3 dimensions"),
        ("train-images-idx3-ubyte", idx(&[1, 2, 2], &[0; 4]), "2 × 2 pixels"),
        ("train-images-idx3-ubyte", idx(&[3, 28, 28], &[0; 9]), "cut off"),
        ("train-images-idx3-ubyte", b"<html>".to_vec(), "not an idx file"),
    ] {
        mnist(folder.path());
        fs::write(folder.path().join(name), bytes).unwrap();
        let error = load("mnist", &places).unwrap_err();
        assert!(error.contains(words) && error.contains(name), "{error}");
    }
    fs::remove_file(folder.path().join("t10k-labels-idx1-ubyte")).unwrap();
    mnist(folder.path());
    fs::remove_file(folder.path().join("t10k-labels-idx1-ubyte")).unwrap();
    assert!(load("mnist", &places).unwrap_err().contains("the file is missing"));
}

#[test]
fn letters_count_from_one_and_cifar_has_colours() {
    let folder = tempfile::tempdir().unwrap();
    for (part, label) in [("train", 26), ("test", 1)] {
        let write = |tail: &str, bytes: Vec<u8>| {
            let name = format!("emnist-letters-{part}-{tail}");
            fs::write(folder.path().join(name), bytes).unwrap();
        };
        write("images-idx3-ubyte", idx(&[1, 28, 28], &[9; 784]));
        write("labels-idx1-ubyte", idx(&[1], &[label]));
    }
    let places = DataFolders::Only(folder.path().into());
    let letters = load("emnist-letters", &places).unwrap();
    assert_eq!(letters.train.labels(), Some(&[25][..]));
    assert_eq!(letters.class_names.first().unwrap(), "1");
    for name in KnownDataset::named("cifar10").unwrap().names() {
        let record = [&[4][..], &[100; 1024], &[50; 1024], &[0; 1024]].concat();
        fs::write(folder.path().join(name), record.repeat(2)).unwrap();
    }
    let cifar = load("cifar10", &places).unwrap();
    assert_eq!((cifar.train.len(), cifar.test.len()), (10, 2));
    assert_eq!(cifar.mean, [100.0 / 255.0, 50.0 / 255.0, 0.0]);
}
