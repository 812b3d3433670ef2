//! The shipped scenarios that need a data set, on one that is tiny and made up: they can be read, they
//! run, and their networks fit. What they promise can only be seen with the real data.

use crate::data_sets::tiny_images;
use crate::support::{Workshop, stderr, stdout};
use std::fs;
use std::path::Path;

/// Pictures in the form of CIFAR-10, a colour for each class.
fn tiny_colours(folder: &Path) {
    let names = (1..=5).map(|i| format!("data_batch_{i}.bin")).chain(["test_batch.bin".into()]);
    for name in names {
        let mut bytes = Vec::new();
        for i in 0..20usize {
            bytes.push((i % 10) as u8);
            bytes.extend(
                (0..3072).map(|pixel| ((i % 10) * 20 + pixel / 1024 * 25 + pixel % 7) as u8),
            );
        }
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// A place with tiny data sets in the form of the real ones.
fn tiny_sets() -> Workshop {
    let workshop = Workshop::new("");
    for (name, make) in [
        ("fashion-mnist", &(|path: &Path| tiny_images(path, 60)) as &dyn Fn(&Path)),
        ("cifar10", &tiny_colours),
    ] {
        let path = workshop.path("sets").join(name);
        fs::create_dir_all(&path).unwrap();
        make(&path);
    }
    workshop
}

/// Every figure and table of the paper that needs images can be read, and the versions for a
/// processor run.
#[test]
fn the_papers_deep_scenarios_are_valid() {
    let workshop = tiny_sets();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/paper");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let deep = files.filter(|file| fs::read_to_string(file).unwrap().contains("kind = \"images\""));
    let mut count = 0;
    for file in deep {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let runs = name.ends_with("-small") || name.ends_with("-fashion");
        let mut command = workshop.command(&[if runs { "run" } else { "check" }]);
        command.arg(&file).env("GRUPPETTO_DATA", workshop.path("sets"));
        for set in ["repeats=1", "task.clients=2", "task.partition.scheme=iid", "stop.rounds=4"] {
            command.args(["--set", set]);
        }
        // A step is enough; the last batch has no meaning for it.
        command.args(["--set", "client.work.steps=1"]);
        let output = command.output().unwrap();
        // What is promised can only be seen with the real data.
        let code = output.status.code();
        assert!(code == Some(0) || runs && code == Some(3), "{name}: {}", stderr(&output));
        assert!(stdout(&output).contains(name), "{name}");
        count += 1;
    }
    assert!(count >= 15, "{count}");
}

#[test]
fn deep_scenarios_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let workshop = tiny_sets();
    for (name, clients) in [
        ("fashion-mlp-deadline", "6"),
        ("fashion-cnn-async", "6"),
        ("your-own-model", "6"),
        ("cifar-cnn-dirichlet", "2"),
        ("cifar-vgg11-gpu", "2"),
    ] {
        let file = folder.join(format!("{name}.toml"));
        let mut command = workshop.command(&["run", file.to_str().unwrap(), "--force"]);
        // Learning rates that change half way need a way.
        let rounds = if name == "cifar-vgg11-gpu" { "stop.rounds=4" } else { "stop.rounds=1" };
        command.env("GRUPPETTO_DATA", workshop.path("sets")).args(["--set", rounds]);
        command.args(["--set", &format!("task.clients={clients}")]);
        command.args(["--set", "task.partition.scheme=iid", "--set", "client.work.steps=1"]);
        if name == "fashion-cnn-async" {
            command.args(["--set", "server.concurrency=5"]);
        }
        let output = command.output().unwrap();
        // A promise may be broken here, for nothing is learned in one step.
        let code = output.status.code();
        assert!(code == Some(0) || code == Some(3), "{name}: {}", stderr(&output));
        assert!(stdout(&output).contains("test accuracy"), "{name}: {}", stdout(&output));
    }
}
