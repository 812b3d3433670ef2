//! `[task] model`: what learns from a data set.

use super::error::ScenarioError;
use super::schema::entry::Preset::{Nothing, Toml};
use super::schema::entry::{Choice, Key, Table, choice, key};
use super::section::Section;
use super::tree::{Node, Raw};
use crate::data::{Backend, Loss, ModelConfig};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// The models by name.
pub(super) const MODELS: &[Choice] = &[
    choice("\"softmax\"", "softmax regression, on native kernels or libtorch")
        .detail("On libtorch with `backend = \"libtorch\"`; all other models run on libtorch"),
    choice("\"mlp\"", "fully connected, one hidden layer of 200, ReLU").or("{ mlp = [200, 100] }"),
    choice("\"cnn\"", "two 5 × 5 convolutions with 2 × 2 pooling, then a hidden layer")
        .or("{ cnn = { channels = [16, 32], hidden = 128 } }")
        .detail("By default 32 and 64 channels and 512 units (McMahan et al. 2017)"),
    choice("\"vgg11\"", "VGG-11 for small images, without batch norm")
        .or("{ vgg11 = { dropout = 0.5 } }")
        .detail("Two layers of 512 units with dropout before them"),
    choice("\"resnet8\"", "a residual network with blocks of 16, 32 and 64 channels, group norm"),
    choice(
        "{ torchscript = \"net.pt\", loss = \"mse\" }",
        "your own, exported from PyTorch as TorchScript",
    ),
];

/// The table; exactly one of these groups of keys is given.
pub(super) const TABLE: Table = Table::braces("task.model", "a model with parameters", MODEL)
    .exactly_one(&[&[
        &["mlp"],
        &["cnn"],
        &["vgg11"],
        &["torchscript", "loss", "frozen_statistics"],
    ]]);

/// The keys of a model with parameters.
const MODEL: &[Key] = &[
    key("mlp", "list of whole numbers", Nothing, "how wide each hidden layer is; 1 to 100 layers"),
    key("cnn", "table", Nothing, "the size of a CNN"),
    key("vgg11", "table", Nothing, "VGG-11 with another dropout"),
    key("torchscript", "file", Nothing, "what `torch.jit.script(net).save(\"net.pt\")` writes"),
    key("loss", "", Toml("\"cross-entropy\""), "beside `torchscript`: what is minimised").choices(
        &[
            choice("\"cross-entropy\"", "predicts classes"),
            choice("\"mse\"", "the squared error: predicts real numbers"),
        ],
    ),
    key(
        "frozen_statistics",
        "`true` or `false`",
        Toml("false"),
        "beside `torchscript`: batch norm uses the statistics in the file, as after `net.eval()`",
    ),
];

/// The keys of a CNN.
pub(super) const CNN: &[Key] = &[
    key("channels", "two whole numbers", Toml("[32, 64]"), "channels of the convolutions"),
    key("hidden", "whole number", Toml("512"), "units of the hidden layer"),
];

/// The keys of VGG-11.
pub(super) const VGG11: &[Key] =
    &[key("dropout", "0 to below 1", Toml("0.5"), "chance of a unit to be left out of a step")];

/// The widest layer and the most layers somebody may ask for.
const WIDEST: u64 = 10_000_000;
const DEEPEST: usize = 100;
/// The most channels of a convolution.
const MOST_CHANNELS: u64 = 100_000;

/// Reads `model`, without looking at what it is to learn.
pub(super) fn read(node: &Node) -> Result<ModelConfig, ScenarioError> {
    type Usual = fn() -> ModelConfig;
    const NAMES: [(&str, Usual); 5] = [
        ("softmax", || ModelConfig::Softmax),
        ("mlp", || ModelConfig::Mlp { hidden: vec![200] }),
        ("cnn", || ModelConfig::CNN),
        ("vgg11", || ModelConfig::Vgg11 { dropout: 0.5 }),
        ("resnet8", || ModelConfig::Resnet8),
    ];
    let Raw::Table(_) = &node.value else {
        return node.one_of_or_table("task.model", "model", &NAMES).map(|model| model());
    };
    let mut section = Section::open("task.model", node)?;
    let (which, value) = section.exactly_one(&["mlp", "cnn", "vgg11", "torchscript"])?;
    let model = match which {
        "mlp" => ModelConfig::Mlp { hidden: read_hidden(value)? },
        "cnn" => read_cnn(value)?,
        "vgg11" => read_vgg(value)?,
        _ => {
            let path = PathBuf::from(value.text()?);
            let losses = [("cross-entropy", Loss::CrossEntropy), ("mse", Loss::Mse)];
            let loss = section.get("loss");
            let loss = loss.map_or(Ok(Loss::CrossEntropy), |node| {
                node.one_of("task.model.loss", "loss", &losses)
            })?;
            let frozen = section.get("frozen_statistics").map_or(Ok(false), Node::truth)?;
            if !path.is_file() {
                let error = value.at.error("the file does not exist");
                return Err(error.expected(
                    "a model that `torch.jit.script(net).save(…)` wrote, relative to the folder of \
                     the scenario",
                ));
            }
            if !frozen && keeps_statistics(&path) {
                let error =
                    value.at.error("batch norm in this net would not be trained as in PyTorch");
                return Err(error
                    .expected("a net with group norm or layer norm in place of batch norm")
                    .note("running statistics are no parameters: no update carries them to the server")
                    .help(
                        "`frozen_statistics = true` beside it uses those in the file, as after \
                         net.eval()",
                    ));
            }
            ModelConfig::TorchScript { path, loss }
        }
    };
    section.finish("with this model")?;
    Ok(model)
}

/// Whether a module that was exported from PyTorch has layers that keep running statistics. Its code lies
/// in it as text, with what each layer has. What is no archive is told of when it is loaded.
fn keeps_statistics(path: &Path) -> bool {
    /// The code of one kind of layer is a few kilobytes.
    const MOST: u64 = 1 << 20;
    let Some(mut archive) = File::open(path).ok().and_then(|file| ZipArchive::new(file).ok())
    else {
        return false;
    };
    (0..archive.len()).any(|index| {
        let Ok(entry) = archive.by_index(index) else { return false };
        let is_code = |name: &str| name.contains("/code/") && name.ends_with(".py");
        if !entry.name().is_ok_and(|name| is_code(&name)) {
            return false;
        }
        let mut code = Vec::new();
        let read = entry.take(MOST).read_to_end(&mut code);
        let code = String::from_utf8_lossy(&code);
        // With `track_running_stats=False` it has no such tensor, and every batch its own statistics.
        read.is_ok() && code.lines().any(|line| line.trim() == "running_mean : Tensor")
    })
}

fn read_hidden(node: &Node) -> Result<Vec<usize>, ScenarioError> {
    let layers = node.array("how wide each hidden layer is, such as [200, 100]")?;
    if layers.is_empty() || layers.len() > DEEPEST {
        let error = node.at.error(format!("`mlp` has {} hidden layers", layers.len()));
        return Err(error.expected(format_args!("1 to {DEEPEST}")));
    }
    layers.iter().map(|node| node.whole("mlp", 1..=WIDEST).map(|units| units as usize)).collect()
}

fn read_cnn(node: &Node) -> Result<ModelConfig, ScenarioError> {
    let ModelConfig::Cnn { mut channels, mut hidden } = ModelConfig::CNN else {
        unreachable!("that is what it is")
    };
    let mut section = Section::open("task.model.cnn", node)?;
    if let Some(node) = section.get("channels") {
        let given = node.array("the channels of both convolutions, such as [16, 32]")?;
        let [first, second] = given else {
            let error = node.at.error(format!("`channels` has {} entries", given.len()));
            return Err(error.expected("2: one for each convolution"));
        };
        for (channels, node) in channels.iter_mut().zip([first, second]) {
            *channels = node.whole("channels", 1..=MOST_CHANNELS)? as usize;
        }
    }
    if let Some(node) = section.get("hidden") {
        hidden = node.whole("hidden", 1..=WIDEST)? as usize;
    }
    section.finish("here")?;
    Ok(ModelConfig::Cnn { channels, hidden })
}

fn read_vgg(node: &Node) -> Result<ModelConfig, ScenarioError> {
    let mut section = Section::open("task.model.vgg11", node)?;
    let dropout = match section.get("dropout") {
        Some(node) => {
            node.number_that("dropout", "a probability below 1", |p| (0.0..1.0).contains(&p))?
        }
        None => 0.5,
    };
    section.finish("here")?;
    Ok(ModelConfig::Vgg11 { dropout })
}

/// Reads `backend`, and refuses what this program was built without. Both are said at the place of
/// the key to blame.
pub(super) fn read_backend(
    section: &mut Section<'_>,
    model: &ModelConfig,
    model_at: Option<&Node>,
) -> Result<Backend, ScenarioError> {
    let backends = [("native", Backend::Native), ("libtorch", Backend::Libtorch)];
    let given = section.get("backend");
    let chosen = given.map(|node| node.one_of("task.backend", "backend", &backends)).transpose()?;
    let backend = match (chosen, given, model.is_deep()) {
        (Some(Backend::Native), Some(node), true) => {
            let error = node.at.error(format!("model \"{}\" has no native kernel", model.name()));
            return Err(error.expected("\"libtorch\", or model = \"softmax\""));
        }
        (Some(chosen), ..) => chosen,
        (None, _, true) => Backend::Libtorch,
        (None, _, false) => Backend::Native,
    };
    let blame = if model.is_deep() { model_at } else { given };
    match (backend, blame) {
        (Backend::Libtorch, Some(node)) if !cfg!(feature = "torch") => {
            let what = match model.is_deep() {
                true => format!("model \"{}\" needs libtorch", model.name()),
                false => "backend \"libtorch\" needs libtorch".into(),
            };
            let error = node.at.error(format!("{what}, and this program was built without it"));
            Err(error
                .expected("model = \"softmax\" with backend = \"native\"")
                .help("`make torch` builds it with libtorch"))
        }
        _ => Ok(backend),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::write::{SimpleFileOptions, ZipWriter};

    /// An archive with the code that PyTorch writes for a batch norm whose statistics are of a type.
    fn exported(folder: &Path, statistics: &str) -> PathBuf {
        let path = folder.join("net.pt");
        let mut archive = ZipWriter::new(File::create(&path).unwrap());
        let name = "net/code/__torch__/torch/nn/modules/batchnorm.py";
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        let code = format!(
            "class BatchNorm2d(Module):\n  __parameters__ = [\"weight\", \"bias\", ]\n  \
             __buffers__ = [\"running_mean\", ]\n  weight : Tensor\n  running_mean : {statistics}\n"
        );
        archive.write_all(code.as_bytes()).unwrap();
        archive.finish().unwrap();
        path
    }

    #[test]
    fn batch_norm_that_keeps_statistics_is_found() {
        let folder = tempfile::tempdir().unwrap();
        assert!(keeps_statistics(&exported(folder.path(), "Tensor")));
        assert!(!keeps_statistics(&exported(folder.path(), "NoneType")));
        let rubbish = folder.path().join("rubbish.pt");
        std::fs::write(&rubbish, "rubbish").unwrap();
        assert!(!keeps_statistics(&rubbish));
    }
}
