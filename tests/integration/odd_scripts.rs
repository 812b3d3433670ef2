//! TorchScript files that do what a network should not; only with the feature `torch`. They are made
//! from the committed one by editing the code in its archive.

use crate::deep::{fixture, metric, script};
use crate::support::{Workshop, stderr, stdout};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// What the network gives in the end.
const LAST: &str = "    return (_2).forward(input1, )";
/// Its first layer, and what that gets.
const FIRST: &str = "    input0 = (_0)";
const INPUT: &str = ".forward(input, )";

/// A copy of the committed network, with every file of its archive changed by `edit`.
fn edited(folder: &TempDir, edit: impl Fn(&str, Vec<u8>) -> Vec<u8>) -> PathBuf {
    let mut archive = ZipArchive::new(File::open(fixture("tiny.pt")).unwrap()).unwrap();
    let path = folder.path().join("net.pt");
    let mut out = ZipWriter::new(File::create(&path).unwrap());
    // libtorch maps what is stored as it is.
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let name = file.name().unwrap().into_owned();
        if !name.ends_with(".debug_pkl") {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            out.start_file(&name, stored).unwrap();
            out.write_all(&edit(&name, bytes)).unwrap();
        }
    }
    out.finish().unwrap();
    path
}

/// With other code: each text must be there.
fn rewritten(folder: &TempDir, edits: &[(&str, &str)]) -> PathBuf {
    edited(folder, |name, bytes| {
        if !name.ends_with("container.py") {
            return bytes;
        }
        let text = String::from_utf8(bytes).unwrap();
        let edit = |text: String, (from, to): &(&str, &str)| {
            assert!(text.contains(from), "{from} in {text}");
            text.replace(from, to)
        };
        edits.iter().fold(text, edit).into_bytes()
    })
}

/// With something done to its input.
fn with_input(folder: &TempDir, expression: &str) -> PathBuf {
    let first = format!("    input2 = {expression}\n{FIRST}");
    rewritten(folder, &[(FIRST, &first), (INPUT, ".forward(input2, )")])
}

fn classes(net: &Path) -> Workshop {
    script("classes.csv", net, "cross-entropy")
}

#[test]
fn what_is_no_function_of_its_samples_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = |expression: &str| rewritten(&folder, &[(LAST, expression)]);
    for (make, said) in [
        (
            &(|| output("    return torch.to((_2).forward(input1, ), 4)")) as &dyn Fn() -> PathBuf,
            "it gives [2, 3] Int64, expected [2, 3] Float",
        ),
        (
            &|| output("    return torch.gt((_2).forward(input1, ), 0.)"),
            "it gives [2, 3] Bool, expected [2, 3] Float",
        ),
        (
            &|| with_input(&folder, "torch.dropout(input, 0.5, True)"),
            "it gives something else every time",
        ),
        (&|| with_input(&folder, "torch.view(input, [2, 4])"), "it does not take 3 samples"),
        (
            &|| output("    return torch.detach((_2).forward(input1, ))"),
            "its output does not depend on its parameters",
        ),
        (
            &|| output("    return torch.div((_2).forward(input1, ), 0.)"),
            "it gives what is no number",
        ),
    ] {
        let workshop = classes(&make());
        let output = workshop.call(&["check", "s.toml"]);
        assert_eq!(output.status.code(), Some(2), "{said}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{said}: {}", stderr(&output));
    }
}

#[test]
fn what_is_done_to_the_input_in_place_is_done_to_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let mut losses = Vec::new();
    for operation in ["mul_", "mul"] {
        let net = with_input(&folder, &format!("torch.{operation}(input, 1.5)"));
        for every in ["1", "5"] {
            let workshop = classes(&net);
            let set = format!("server.evaluate_every={every}");
            losses.push(metric(&workshop.run("out", &["--set", &set]), "metrics", "test_loss"));
        }
    }
    assert!(losses.iter().all(|loss| *loss == losses[0]), "{losses:?}");
}

/// An auxiliary layer, a frozen half: whatever the loss does not depend on stays where it is.
#[test]
fn parameters_without_a_gradient_stay_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let cut = "    return (_2).forward(torch.detach(input1), )";
    let workshop = classes(&rewritten(&folder, &[(LAST, cut)]));
    let model = |out: &str, set: &[&str]| {
        let run = workshop.run(out, set);
        let file = fs::read(run.join("model-fednova.safetensors")).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&file).unwrap();
        let data = |name: &str| tensors.tensor(name).unwrap().data().to_vec();
        [data("0.weight"), data("2.weight")]
    };
    let short = model("short", &["--set", "stop.rounds=1"]);
    for set in [&["--set", "stop.rounds=3"][..], &["--set", "client.momentum=0.9"]] {
        let long = model(set[1], set);
        assert!(short[0] == long[0] && short[1] != long[1], "{set:?}");
    }
}

#[test]
fn a_parameter_that_layers_share_is_one() {
    let folder = tempfile::tempdir().unwrap();
    // The first layer once more, under another name; nothing computes with it.
    let net = edited(&folder, |name, bytes| {
        if name.ends_with("data.pkl") {
            let end = bytes.windows(2).rposition(|pair| pair == b"ub").unwrap();
            return [&bytes[..end], b"h\x18h\x11", &bytes[end..]].concat();
        }
        if !name.ends_with("container.py") {
            return bytes;
        }
        let text = String::from_utf8(bytes).unwrap();
        let more =
            "  __annotations__[\"3\"] = __torch__.torch.nn.modules.linear.Linear\n  def forward";
        text.replacen("  def forward", more, 1).into_bytes()
    });
    let [plain, tied] = [fixture("tiny.pt"), net].map(|net| {
        let workshop = classes(&net);
        assert!(stdout(&workshop.call(&["check", "s.toml"])).contains("67 parameters"));
        let run = workshop.run("out", &[]);
        fs::read(run.join("rounds.csv")).unwrap()
    });
    assert!(plain == tied);
}
