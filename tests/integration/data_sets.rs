//! Data from files, from the command line to the trained model.

use crate::simulated::Simulated;
use crate::support::{Workshop, stderr, stdout, summary};
use std::fs;
use std::path::Path;

fn idx(dims: &[usize], values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, dims.len() as u8];
    dims.iter().for_each(|dim| bytes.extend((*dim as u32).to_be_bytes()));
    bytes.extend(values);
    bytes
}

/// A tiny data set in the form of MNIST: images of class k have a bright band at height k, of ten
/// classes, and as many test images as training images of a class.
pub fn tiny_images(folder: &Path, per_class: usize) {
    for (part, count) in [("train", 10 * per_class), ("t10k", per_class)] {
        let labels: Vec<u8> = (0..count).map(|i| (i % 10) as u8).collect();
        let mut pixels = vec![0; count * 784];
        for (i, image) in pixels.chunks_exact_mut(784).enumerate() {
            // A little different every time.
            let band = 28 * (2 * (i % 10) + 4);
            image[band..band + 56].fill(200 - (i * 7 % 100) as u8);
            image[i * 31 % 784] = 255;
        }
        let write = |name: &str, bytes: Vec<u8>| {
            fs::write(folder.join(format!("{part}-{name}")), bytes).unwrap();
        };
        write("images-idx3-ubyte", idx(&[count, 28, 28], &pixels));
        write("labels-idx1-ubyte", idx(&[count], &labels));
    }
}

const IMAGES: &str = r#"
name = "bands"
stop.rounds = 15

[task]
kind = "images"
dataset = "mnist"
clients = 5
partition = { scheme = { dirichlet = 0.5 }, min_size = 5 }

[client]
lr = 0.05
batch = 10
work = { epochs = 1 }

[server]
close = "all"
"#;

fn images() -> Workshop {
    let workshop = Workshop::new(IMAGES);
    fs::create_dir_all(workshop.path("data/mnist")).unwrap();
    tiny_images(&workshop.path("data/mnist"), 30);
    workshop
}

#[test]
fn softmax_learns_images() {
    let workshop = images();
    let folder = workshop.run("out", &[]);
    let summary = summary(&folder);
    let metrics = &summary["variants"][0]["metrics"];
    assert!(metrics["test_accuracy"].as_f64().unwrap() > 0.95, "{metrics}");
    let one = fs::read(workshop.run("one", &["--threads", "1"]).join("rounds.csv")).unwrap();
    let two = fs::read(workshop.run("two", &["--threads", "2"]).join("rounds.csv")).unwrap();
    assert_eq!(one, two);
    // What is written down can be run again, from anywhere.
    let again = workshop.call(&["check", "out/scenario.toml"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert!(stdout(&again).contains("7850 parameters"));
}

#[test]
fn softmax_learns_tables_of_natural_clients() {
    let text = r#"
name = "points"
stop.rounds = 40
task = { kind = "table", file = "tests/data/points.csv", client = "user", standardize = true }
client = { lr = 0.3, batch = 5, work = { epochs = 1 } }
server.close = "all"
"#;
    let run = Simulated::run(text, 2);
    let metrics = &run.summary.variants[0].metrics;
    let accuracy = metrics.get(gruppetto::metric::Metric::TestAccuracy).unwrap();
    assert!(accuracy > 0.7, "{accuracy}");
}

/// Refused by `check` and `run` alike, with exit code 2 and nothing written.
fn refused(workshop: &Workshop, words: &[&str]) {
    for arguments in [&["check", "s.toml"][..], &["run", "s.toml", "--out", "out"]] {
        let output = workshop.call(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        for word in words {
            assert!(stderr(&output).contains(word), "{word}: {}", stderr(&output));
        }
    }
    assert!(!workshop.path("out").exists());
}

#[test]
fn broken_data_is_refused_before_anything_runs() {
    let workshop = images();
    let file = |name: &str| workshop.path("data/mnist").join(name);
    let (pictures, labels) = (file("train-images-idx3-ubyte"), file("train-labels-idx1-ubyte"));
    let (whole, labelled) = (fs::read(&pictures).unwrap(), fs::read(&labels).unwrap());
    fs::write(&pictures, &whole[..5000]).unwrap();
    refused(&workshop, &["train-images-idx3-ubyte: it is cut off", "dataset = \"mnist\""]);
    fs::write(&pictures, idx(&[300, 14, 56], &whole[16..])).unwrap();
    refused(&workshop, &["14 × 56 pixels", "28 × 28"]);
    fs::write(&pictures, b"<html>not found</html>").unwrap();
    refused(&workshop, &["not an idx file"]);
    fs::write(&pictures, &whole).unwrap();
    let mut wrong = labelled.clone();
    wrong[8 + 77] = 10;
    fs::write(&labels, wrong).unwrap();
    refused(&workshop, &["label 10 of image 77 is out of range", "0 to 9"]);
    fs::write(&labels, idx(&[2], &[1, 2])).unwrap();
    refused(&workshop, &["2 labels for 300 images"]);
    fs::remove_dir_all(workshop.path("data")).unwrap();
    let missing = IMAGES.replace("dataset = \"mnist\"", "dataset = \"mnist\"\npath = \"data\"");
    fs::write(workshop.path("s.toml"), missing).unwrap();
    refused(&workshop, &["\"mnist\" is not here", "scripts/get-data mnist"]);
}

#[test]
#[cfg(not(feature = "torch"))]
fn deep_models_say_what_they_need() {
    let workshop = images();
    let deep = IMAGES.replace("clients = 5", "clients = 5\nmodel = \"cnn\"");
    fs::write(workshop.path("s.toml"), deep).unwrap();
    refused(&workshop, &["model \"cnn\" needs libtorch", "make torch"]);
    let softmax = IMAGES.replace("clients = 5", "clients = 5\nbackend = \"libtorch\"");
    fs::write(workshop.path("s.toml"), softmax).unwrap();
    refused(&workshop, &["backend \"libtorch\" needs libtorch"]);
}

/// Pieces of a class differ by a sample, and who gets the smaller ones depends on the seed.
#[test]
fn every_seed_of_shards_is_checked() {
    let rows: String = (0..10).map(|i| format!("{i},{}\n", i % 2)).collect();
    let text = "name = \"t\"\nstop.rounds = 1\nrepeats = 30\n[task]\nkind = \"table\"\nfile = \"t.csv\"\n\
                clients = 3\npartition = { scheme = { shards = 2 }, min_size = 3, test_fraction = 0.0 }\n\
                [client]\nbatch = 2\nlr = 0.1\nwork = { steps = 1 }\n[server]\nclose = \"all\"\n";
    let workshop = Workshop::new(text);
    fs::write(workshop.path("t.csv"), format!("a,y\n{rows}")).unwrap();
    refused(&workshop, &["fewer than min_size = 3"]);
}

#[test]
fn every_seed_is_checked() {
    let workshop = images();
    // Three of five clients with 55 of 300 samples is rare, and some of many seeds fail.
    let rare = IMAGES.replace("min_size = 5", "min_size = 55").replace("0.5", "0.05");
    fs::write(workshop.path("s.toml"), format!("repeats = 50\n{rare}")).unwrap();
    refused(&workshop, &["never gave 5 clients min_size = 55 samples", "a larger `dirichlet`"]);
}

const INSPECTED: &str = "\
mnist
  samples        images of 1 × 28 × 28, 10 classes
  train, test    300, 30
  pixels / 255   mean 0.0434, std 0.1586
  clients        5, shards = 2, seed 1
  n per client   60 to 60 (10 %: 60, 50 %: 60, 90 %: 60)
  heterogeneity  0.800 (total variation; 0: all alike, 1: apart)
                 χ² 4.0000, 0.1204 if dealt at random

   client      n      0     1     2     3     4     5     6     7     8     9
";

#[test]
fn data_is_shown_as_it_is_spread() {
    let workshop = images();
    let call = |arguments: &[&str]| {
        let all = [&["data", "inspect"], arguments].concat();
        workshop.command(&all).env("LC_ALL", "C.UTF-8").output().unwrap()
    };
    let shards = ["--set", "task.partition.scheme={ shards = 2 }"];
    let output = call(&[&["s.toml"], &shards[..]].concat());
    let shown = stdout(&output);
    assert!(shown.starts_with(INSPECTED), "{shown}{}", stderr(&output));
    assert_eq!(shown.matches("█  30").count(), 10, "two classes each: {shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let ascii = call(&[&["s.toml", "--ascii"], &shards[..]].concat());
    assert!(stdout(&ascii).is_ascii());
    let json = call(&["--dataset", "mnist", "--set", "task.clients=3", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&json["sizes"], &json["train"]),
        (&serde_json::json!([100, 100, 100]), &300.into())
    );
    let other = call(&["s.toml", "--seed", "2"]);
    assert!(stdout(&other).contains("dirichlet = 0.5, seed 2"));
    let unknown = call(&["s.toml", "--variant", "x"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("there is no variant `x`"));
    let none = call(&["--dataset", "mnits"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("did you mean `mnist`?"), "{}", stderr(&none));
    let quadratic = Workshop::new(
        "name = \"q\"\nstop.rounds = 1\ntask.kind = \"quadratic\"\nclient.work.steps = 1\nserver.close = \"all\"\n",
    );
    let output = quadratic.call(&["data", "inspect", "s.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no data to look at"));
}
