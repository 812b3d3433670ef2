//! Checkpoints that do not fit the run: each is refused with a word, and nothing panics.

use crate::support::{Workshop, stderr};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Error feedback, an optimiser with a state, and clients that are on their way over several rounds.
fn scenario(client: &str) -> String {
    format!(
        r#"
name = "again"
stop.rounds = 8
[task]
kind = "quadratic"
clients = 6
dim = 4
[client]
lr = 0.05
work = {{ steps = 4 }}
{client}
[server]
close = {{ deadline = "1s" }}
late = "stale"
optimizer = {{ kind = "adam" }}
[[fleet.class]]
name = "all"
step_time = {{ lognormal = {{ median = "300ms", sigma = 0.6 }} }}
"#
    )
}

/// A name, and the bytes of numbers.
type NamedTensor = (String, Vec<u8>);

/// The tensors of a file, and its metadata.
fn tensors(path: &Path) -> (Vec<NamedTensor>, HashMap<String, String>) {
    let bytes = fs::read(path).unwrap();
    let meta = SafeTensors::read_metadata(&bytes).unwrap().1.metadata().clone().unwrap_or_default();
    let all = SafeTensors::deserialize(&bytes).unwrap();
    let mut all: Vec<_> =
        all.tensors().into_iter().map(|(name, view)| (name, view.data().to_vec())).collect();
    all.sort();
    (all, meta)
}

/// Writes tensors as a file, with a digest as a run would write it: what is behind it must hold as well.
fn write(path: &Path, tensors: &[NamedTensor], meta: &HashMap<String, String>) {
    let mut meta = meta.clone();
    let mut hash = Xxh3::new();
    hash.update(meta.get("gruppetto").map_or("", String::as_str).as_bytes());
    for (name, data) in tensors {
        hash.update(name.as_bytes());
        hash.update(&(data.len() as u64 / 8).to_le_bytes());
        hash.update(data);
    }
    meta.insert("digest".into(), format!("{:016x}", hash.digest()));
    let views = tensors.iter().map(|(name, data)| {
        (name, TensorView::new(Dtype::F64, vec![data.len() / 8], data).unwrap())
    });
    fs::write(path, safetensors::serialize(views, Some(meta)).unwrap()).unwrap();
}

/// One number less.
fn shorten((_, data): &mut NamedTensor) {
    data.truncate(data.len().saturating_sub(8));
}

fn refused(workshop: &Workshop, what: &str) {
    let output = workshop.call(&["run", "s.toml", "-q", "--out", "out", "--resume"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{what}: {said}");
    assert!(said.contains("cannot be resumed"), "{what}: {said}");
    assert!(!said.contains("panicked"), "{what}: {said}");
}

#[test]
fn numbers_that_are_too_few_or_missing_are_refused() {
    let (mut broken, mut missing) = (0, 0);
    let feedback = "compression = { top_k = 0.5, error_feedback = true }";
    for client in [feedback, "variance_reduction = \"scaffold\""] {
        let workshop = Workshop::new(&scenario(client));
        let mut command = workshop.command(&["run", "s.toml", "-q", "--out", "out"]);
        command.env("GRUPPETTO_FAULT_AFTER", "21").env("GRUPPETTO_CHECKPOINT_EVENTS", "4");
        assert!(!command.output().unwrap().status.success());
        let cell = workshop.path("out/cells/0");
        let path = cell.join("checkpoint.safetensors");
        let (good, meta) = tensors(&path);
        for place in (0..good.len()).filter(|place| !good[*place].1.is_empty()) {
            let mut bad = good.clone();
            shorten(&mut bad[place]);
            write(&path, &bad, &meta);
            refused(&workshop, &format!("{client}: {} is short", bad[place].0));
            broken += 1;
        }
        // A round that clients on their way train in is not told of any more.
        let mut fewer = meta.clone();
        let text = fewer.get_mut("gruppetto").unwrap();
        let mut json: serde_json::Value = serde_json::from_str(text).unwrap();
        if json["models"].as_array().is_some_and(|models| !models.is_empty()) {
            json["models"] = serde_json::json!([]);
            *text = json.to_string();
            write(&path, &good, &fewer);
            refused(&workshop, &format!("{client}: no models"));
            missing += 1;
        }
        write(&path, &good, &meta);
        // A log by which the run diverged before the checkpoint: it would end without a model.
        let log = cell.join("log");
        let before = fs::read_to_string(&log).unwrap();
        let (head, last) = before.trim_end().rsplit_once('\n').unwrap();
        let number = last.split(' ').find(|cell| cell.len() == 16).unwrap();
        let last = last.replacen(number, "7ff8000000000000", 1);
        let text = format!("{head}\n{last}\n");
        let mut told: serde_json::Value = serde_json::from_str(&meta["gruppetto"]).unwrap();
        let length = told["log_bytes"].as_u64().unwrap() as usize;
        told["log_digest"] = xxh3_64(&text.as_bytes()[..length]).into();
        fs::write(&log, text).unwrap();
        write(&path, &good, &HashMap::from([("gruppetto".into(), told.to_string())]));
        refused(&workshop, &format!("{client}: a log that diverges"));
        fs::write(&log, before).unwrap();
        write(&path, &good, &meta);
        // Of the vectors of single clients not all are needed, but some are.
        let vectors = fs::read_dir(&cell).unwrap().map(|entry| entry.unwrap().path());
        for path in vectors.filter(|path| path.to_string_lossy().contains("vectors-")) {
            let (mut all, meta) = tensors(&path);
            all.iter_mut().for_each(shorten);
            write(&path, &all, &meta);
        }
        refused(&workshop, &format!("{client}: vectors of clients are short"));
    }
    assert!(broken >= 8 && missing >= 1, "{broken} tensors were broken, {missing} times models");
}
