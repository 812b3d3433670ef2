//! Deep models from the command line to the trained model; only with the feature `torch`.

use crate::data_sets::tiny_images;
use crate::support::{Workshop, is_left_out, stderr, stdout, summary};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const IMAGES: &str = r#"
name = "bands"
stop.rounds = 20

[task]
kind = "images"
dataset = "mnist"
clients = 6
model = MODEL
partition = { scheme = { dirichlet = 0.5 }, min_size = 5 }

[client]
batch = 10
lr = 0.05
work = { steps = 6 }
MORE

[server]
close = "all"
evaluate_every = 5
SERVER

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "50ms", sigma = 0.5 } }
"#;

fn images(model: &str, more: &str, server: &str) -> Workshop {
    let server = match server.contains("close") {
        true => IMAGES.replace("close = \"all\"\n", "").replace("SERVER", server),
        false => IMAGES.replace("SERVER", server),
    };
    let workshop = Workshop::new(&server.replace("MODEL", model).replace("MORE", more));
    fs::create_dir_all(workshop.path("data/mnist")).unwrap();
    tiny_images(&workshop.path("data/mnist"), 20);
    workshop
}

/// Four numbers and which of the first three is largest; or, as a real target, their sum.
fn rows(folder: &Path) {
    let (mut classes, mut sums) = ("a,b,c,d,y\n".to_string(), "a,b,c,d,y\n".to_string());
    for i in 0..200u64 {
        let x = [3, 5, 7, 11].map(|prime| (i * prime * 37 % 101) as f64 / 50.0 - 1.0);
        let most = (0..3).max_by(|a, b| x[*a].total_cmp(&x[*b])).unwrap();
        let row = x.map(|x| x.to_string()).join(",");
        classes += &format!("{row},{most}\n");
        sums += &format!("{row},{}\n", x.iter().sum::<f64>());
    }
    fs::write(folder.join("classes.csv"), classes).unwrap();
    fs::write(folder.join("sums.csv"), sums).unwrap();
}

pub fn script(file: &str, net: &Path, loss: &str) -> Workshop {
    let text = format!(
        "name = \"own\"\nstop.rounds = 15\n[task]\nkind = \"table\"\nfile = \"{file}\"\nlabel = \"y\"\n\
         clients = 4\nmodel = {{ torchscript = '{}', loss = \"{loss}\" }}\n[client]\nbatch = 10\n\
         lr = 0.2\nwork = {{ epochs = 2 }}\n[server]\nclose = \"all\"\n",
        net.display()
    );
    let workshop = Workshop::new(&text);
    rows(&workshop.path("."));
    workshop
}

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub fn metric(folder: &Path, which: &str, name: &str) -> f64 {
    summary(folder)["variants"][0][which][name].as_f64().unwrap()
}

#[test]
fn softmax_is_the_same_by_libtorch_and_by_the_native_kernels() {
    for (more, init) in [
        ("", "\"zeros\""),
        ("momentum = 0.9", "{ normal = 0.2 }"),
        ("prox = 0.1", "\"zeros\""),
        ("variance_reduction = \"scaffold\"", "{ normal = 0.2 }"),
    ] {
        let workshop = images(&format!("\"softmax\"\ninit = {init}"), more, "");
        let native = workshop.run("native", &["--set", "task.backend=\"native\""]);
        let torch = workshop.run("torch", &["--set", "task.backend=\"libtorch\""]);
        for name in ["test_loss", "test_accuracy", "train_loss"] {
            let [a, b] = [&native, &torch].map(|run| metric(run, "metrics", name));
            assert!((a - b).abs() < 1e-4, "{name}: {a} and {b} with {more}");
        }
        assert!(metric(&torch, "metrics", "test_accuracy") > 0.9, "it has learned");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_workers() {
    for (model, more, server) in [
        ("\"mlp\"", "momentum = 0.9\nprox = 0.01", ""),
        (
            "{ mlp = [30, 20] }",
            "variance_reduction = \"fednova\"",
            "close = { deadline = \"250ms\" }",
        ),
        ("\"cnn\"", "work = { steps = 2 }", "close = { buffer = 2 }\nconcurrency = 4"),
        (
            "\"resnet8\"",
            "work = { steps = 2 }\ncompression = \"fp16\"",
            "close = \"each\"\nconcurrency = 3",
        ),
    ] {
        let workshop = images(model, more, server);
        let text = fs::read_to_string(workshop.path("s.toml")).unwrap();
        let text = match more.contains("work") {
            true => text.replace("work = { steps = 6 }\n", "").replace("rounds = 20", "rounds = 4"),
            false => text,
        };
        fs::write(workshop.path("s.toml"), text).unwrap();
        let read = |threads: &str| {
            let run = workshop.run(threads, &["--threads", threads, "--device", "cpu"]);
            let model = fs::read(run.join("model-fednova.safetensors")).unwrap();
            (
                model,
                fs::read(run.join("rounds.csv")).unwrap(),
                fs::read(run.join("clients.csv")).unwrap(),
            )
        };
        assert!(read("1") == read("2"), "{model}");
    }
}

#[test]
fn a_network_learns_and_goes_on_from_where_it_was() {
    let workshop = images("\"mlp\"", "momentum = 0.5", "");
    let first = workshop.run("first", &[]);
    assert!(metric(&first, "metrics", "test_accuracy") > 0.95);
    assert!(metric(&first, "start", "test_accuracy") < 0.5);
    let init =
        format!("task.init={{ file = '{}' }}", first.join("model-fednova.safetensors").display());
    let second = workshop.run("second", &["--set", &init]);
    for name in ["test_loss", "test_accuracy", "train_loss"] {
        let (end, start) = (metric(&first, "metrics", name), metric(&second, "start", name));
        // The file is in single precision.
        assert!((end - start).abs() < 1e-6, "{name}: {end}, then {start}");
    }
    // Names that PyTorch users expect.
    let bytes = fs::read(first.join("model-fednova.safetensors")).unwrap();
    let names = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut names: Vec<_> = names.names().into_iter().map(String::from).collect();
    names.sort();
    assert_eq!(names, ["fc1.bias", "fc1.weight", "fc2.bias", "fc2.weight"]);
}

/// A Python that has PyTorch, of any version; `None` with `PYTORCH=0`.
fn pytorch() -> Option<String> {
    if is_left_out("PYTORCH") {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/check-tools");
    let found = Command::new(script).args(["where", "pytorch"]).output().unwrap();
    assert!(
        found.status.success(),
        "no Python has PyTorch: .ci/setup installs it, PYTORCH=0 leaves this test out"
    );
    Some(stdout(&found).trim_end().to_string())
}

/// What we call accurate, PyTorch finds accurate too, with the network of the README.
#[test]
fn pytorch_computes_the_same_from_the_file() {
    let Some(python) = pytorch() else {
        return;
    };
    let workshop = images("\"mlp\"", "", "");
    let run = workshop.run("out", &[]);
    let code = r#"
import json, struct, sys, torch
from torch import nn
net = nn.Sequential()
net.fc1, net.relu, net.fc2 = nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 10)
raw = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
state = {}
for name, tensor in json.loads(raw[8:8 + size]).items():
    if name != "__metadata__":
        begin, end = (8 + size + place for place in tensor["data_offsets"])
        values = torch.frombuffer(bytearray(raw[begin:end]), dtype=torch.float32)
        state[name] = values.reshape(tensor["shape"])
net.load_state_dict(state)
train, images, labels = (open(file, "rb").read() for file in sys.argv[2:5])
pixels = lambda raw: torch.frombuffer(bytearray(raw[16:]), dtype=torch.uint8).reshape(-1, 784) / 255
mean, std = pixels(train).mean(), pixels(train).std(unbiased=False)
classes = torch.frombuffer(bytearray(labels[8:]), dtype=torch.uint8).long()
output = net((pixels(images) - mean) / std)
print(nn.functional.cross_entropy(output, classes).item())
print((output.argmax(1) == classes).double().mean().item())
"#;
    let data = workshop.path("data/mnist");
    let output = Command::new(python)
        .args(["-c", code])
        .arg(run.join("model-fednova.safetensors"))
        .args(["train-images", "t10k-images"].map(|part| data.join(format!("{part}-idx3-ubyte"))))
        .arg(data.join("t10k-labels-idx1-ubyte"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let found: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert!((found[0] - metric(&run, "metrics", "test_loss")).abs() < 1e-5, "{text}");
    assert_eq!(found[1], metric(&run, "metrics", "test_accuracy"));
}

#[test]
fn networks_that_somebody_exported_learn() {
    let own = tempfile::tempdir().unwrap();
    let net = own.path().join("net.pt");
    let code = "import sys, torch\nfrom torch import nn\ntorch.manual_seed(3)\n\
                net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))\n\
                torch.jit.script(net).save(sys.argv[1])";
    let mut nets = vec![fixture("tiny.pt")];
    if let Some(python) = pytorch() {
        let exported = Command::new(python).args(["-c", code]).arg(&net).output().unwrap();
        assert!(exported.status.success(), "{}", stderr(&exported));
        nets.push(net);
    }
    for net in nets {
        let workshop = script("classes.csv", &net, "cross-entropy");
        let run = workshop.run("out", &[]);
        let [start, end] = ["start", "metrics"].map(|when| metric(&run, when, "train_loss"));
        assert!(end < 0.6 * start, "from {start} to {end}");
        assert!(metric(&run, "metrics", "test_accuracy") > 0.8);
        assert!(stdout(&workshop.call(&["check", "s.toml"])).contains("67 parameters"));
        let [one, two] = ["1", "2"].map(|threads| {
            let run = workshop.run(threads, &["--threads", threads]);
            fs::read(run.join("model-fednova.safetensors")).unwrap()
        });
        assert!(one == two);
    }
    let workshop = script("sums.csv", &fixture("tiny-mse.pt"), "mse");
    let run = workshop.run("out", &[]);
    let [start, end] = ["start", "metrics"].map(|when| metric(&run, when, "test_loss"));
    assert!(end < 0.2 * start, "from {start} to {end}");
    assert!(summary(&run)["variants"][0]["metrics"]["test_accuracy"].is_null());
}

#[test]
fn what_cannot_be_learned_is_refused_with_a_reason() {
    let refused = |workshop: &Workshop, arguments: &[&str]| {
        let output = workshop.call(&[&["run", "s.toml", "--out", "x"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let corrupt = tempfile::NamedTempFile::new().unwrap();
    fs::write(corrupt.path(), b"PK\x03\x04 no zip at all").unwrap();
    for (file, net, loss, said) in [
        (
            "classes.csv",
            fixture("tiny-mse.pt"),
            "cross-entropy",
            "it gives [2, 1] Float, expected [2, 3]",
        ),
        ("sums.csv", fixture("tiny.pt"), "mse", "it gives [2, 3] Float, expected [2]"),
        ("classes.csv", corrupt.path().into(), "cross-entropy", "it is no TorchScript file"),
        ("classes.csv", fixture("missing.pt"), "cross-entropy", "the file does not exist"),
        ("classes.csv", fixture("points.csv"), "cross-entropy", "it is no TorchScript file"),
    ] {
        let error = refused(&script(file, &net, loss), &[]);
        assert!(error.contains(said), "{said}: {error}");
        assert!(!error.contains("frame #"), "no traces of the stack: {error}");
    }
    let net = fixture("tiny.pt").display().to_string();
    let images = images(&format!("{{ torchscript = '{net}' }}"), "", "");
    assert!(refused(&images, &[]).contains("it does not take 2 samples of shape [1, 28, 28]"));
    let rows = script("classes.csv", &fixture("tiny.pt"), "cross-entropy");
    assert!(refused(&rows, &["--set", "task.model=\"cnn\""]).contains("needs images"));
    let images = self::images("\"vgg11\"", "", "");
    assert!(refused(&images, &[]).contains("expected images of 32 × 32 or more"));
    let images = self::images("\"mlp\"", "", "");
    let first = images.run("out", &["--set", "task.model=\"softmax\""]);
    let other = first.join("model-fednova.safetensors");
    let init = format!("task.init={{ file = '{}' }}", other.display());
    let before = fs::read(first.join("summary.json")).unwrap();
    let arguments = ["run", "s.toml", "--out", "out", "--force", "--set", &init];
    let output = images.call(&arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("fc1.weight"), "{}", stderr(&output));
    assert!(
        fs::read(first.join("summary.json")).unwrap() == before,
        "the run before is still there"
    );
    assert!(refused(&rows, &["--device", "gpu"]).contains("expected cpu, cuda, cuda:N or auto"));
    if !gruppetto::torch::cuda_available() {
        let error = refused(&rows, &["--device", "cuda"]);
        assert!(error.contains("there is no GPU") && error.contains("--device cpu"), "{error}");
    }
}

/// The most memory a run has, in kB.
#[cfg(target_os = "linux")]
fn peak(workshop: &Workshop, rounds: &str) -> u64 {
    let arguments = ["run", "s.toml", "-q", "--force", "--threads", "2", "--set", rounds];
    let mut child =
        workshop.command(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = None;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).or(most);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    most.unwrap()
}

/// A copy of 159,010 parameters that is leaked with every evaluation would be 90 MB, with every update 450 MB
/// and more. Results may wait to be taken, by chance up to 32 MB of them: a longer run is no larger than that.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_flat_over_rounds_and_arrivals() {
    for server in ["", "close = \"each\"\nconcurrency = 4"] {
        let workshop = images("\"mlp\"", "momentum = 0.9", server);
        let [few, many] = ["stop.rounds=100", "stop.rounds=800"].map(|set| peak(&workshop, set));
        assert!(many < few + 50_000, "{few} kB for 100 rounds, {many} kB for 800");
    }
}

/// A deep model that was killed goes on to the same bytes, and a run that began on another kind of processor says so.
#[test]
fn a_network_that_was_killed_goes_on() {
    let momentum = "momentum = 0.9\nvariance_reduction = \"fednova\"";
    for (model, more, server) in [
        ("\"mlp\"", momentum, ""),
        ("\"cnn\"", "", "close = { buffer = 3 }\nconcurrency = 4\noptimizer = { kind = \"adam\" }"),
    ] {
        let workshop = images(model, more, server);
        let whole = workshop.run("whole", &["--threads", "1"]);
        let mut killed = workshop.command(&["run", "s.toml", "-q", "--out", "out"]);
        killed.env("GRUPPETTO_FAULT_AFTER", "47").env("GRUPPETTO_CHECKPOINT_EVENTS", "10");
        assert_eq!(killed.output().unwrap().status.code(), None);
        let text = fs::read_to_string(workshop.path("out/summary.json")).unwrap();
        let processor = summary(&workshop.path("out"))["processor"].as_str().unwrap().to_string();
        fs::write(workshop.path("out/summary.json"), text.replace(&processor, "Abacus")).unwrap();
        let call = ["run", "s.toml", "-q", "--out", "out", "--resume", "--threads", "2"];
        let output = workshop.call(&call);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("another kind of processor (Abacus, and this is"), "{said}");
        let [a, b] = ["out", "whole"].map(|run| summary(&workshop.path(run)));
        assert_eq!(a["variants"][0]["model_digest"], b["variants"][0]["model_digest"]);
        let steps = &a["variants"][0]["throughput"];
        assert!(steps["trained_steps"].as_u64() < steps["local_steps"].as_u64(), "{steps}");
        for file in ["rounds.csv", "clients.csv", "findings.json"] {
            let [a, b] =
                [&workshop.path("out"), &whole].map(|run| fs::read(run.join(file)).unwrap());
            assert!(a == b, "{file} of {model}");
        }
    }
}
