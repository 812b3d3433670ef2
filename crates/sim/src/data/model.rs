//! Which model learns from a data set, and the layers of each.
//!
//! [`ModelConfig::network`] is the only place that knows an architecture: size, work and parameters
//! follow from it, and libtorch computes what it describes.

use super::network::{Cost, Initialisation, Kernel, Layer, Network};
use std::path::PathBuf;

/// `[task] model`.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelConfig {
    /// Softmax regression.
    Softmax,
    /// Fully connected layers with ReLU between them.
    #[allow(missing_docs)]
    Mlp { hidden: Vec<usize> },
    /// Two 5 × 5 convolutions, each followed by 2 × 2 pooling, then a layer of hidden units.
    #[allow(missing_docs)]
    Cnn { channels: [usize; 2], hidden: usize },
    /// VGG-11 for small images: eight 3 × 3 convolutions, five poolings, two layers of 512 units with
    /// dropout before them.
    #[allow(missing_docs)]
    Vgg11 { dropout: f64 },
    /// A residual network of eight layers: 16, 32 and 64 channels, a block of two convolutions each.
    Resnet8,
    /// A module that was exported from PyTorch.
    #[allow(missing_docs)]
    TorchScript { path: PathBuf, loss: Loss },
}

/// What a model minimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Cross-entropy over classes.
    CrossEntropy,
    /// Mean squared error of real targets.
    Mse,
}

/// Who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The kernels of this program.
    Native,
    /// libtorch.
    Libtorch,
}

impl ModelConfig {
    /// McMahan et al.'s network.
    pub const CNN: ModelConfig = ModelConfig::Cnn { channels: [32, 64], hidden: 512 };

    /// The side that square images must have for every layer to have something to work on.
    pub fn least_side(&self) -> usize {
        const LARGEST: usize = 1024;
        // A module that was exported answers for itself.
        (1..=LARGEST).find(|&side| self.network(&[1, side, side], 1).is_some()).unwrap_or(1)
    }

    /// Its name in a scenario.
    pub fn name(&self) -> &'static str {
        match self {
            ModelConfig::Softmax => "softmax",
            ModelConfig::Mlp { .. } => "mlp",
            ModelConfig::Cnn { .. } => "cnn",
            ModelConfig::Vgg11 { .. } => "vgg11",
            ModelConfig::Resnet8 => "resnet8",
            ModelConfig::TorchScript { .. } => "torchscript",
        }
    }

    /// Whether only libtorch can run it.
    pub fn is_deep(&self) -> bool {
        !matches!(self, ModelConfig::Softmax)
    }

    /// What it costs on samples of `shape` with so many outputs; `None` where [`network`] is.
    ///
    /// [`network`]: ModelConfig::network
    pub fn cost(&self, shape: &[usize], outputs: usize) -> Option<Cost> {
        self.network(shape, outputs).map(|network| network.cost())
    }

    /// Its layers for samples of `shape` with so many outputs. `None` for a module that was exported,
    /// whose layers only PyTorch knows, and for samples that the layers cannot take: rows of numbers
    /// where they need images, or images that are too small.
    pub fn network(&self, shape: &[usize], outputs: usize) -> Option<Network> {
        let layers = match self {
            ModelConfig::Softmax => softmax(outputs),
            ModelConfig::Mlp { hidden } => mlp(hidden, outputs),
            ModelConfig::Cnn { channels, hidden } => cnn(*channels, *hidden, outputs),
            ModelConfig::Vgg11 { dropout } => vgg11(*dropout, outputs),
            ModelConfig::Resnet8 => resnet8(outputs),
            ModelConfig::TorchScript { .. } => return None,
        };
        Network::new(shape, layers)
    }
}

fn softmax(outputs: usize) -> Vec<Layer> {
    let (name, start) = (String::new(), Initialisation::Zeros);
    vec![Layer::Flatten, Layer::Dense { name, outputs, start }]
}

fn mlp(hidden: &[usize], outputs: usize) -> Vec<Layer> {
    let mut layers = vec![Layer::Flatten];
    for (number, units) in (1..).zip(hidden) {
        layers.extend([dense(format!("fc{number}"), *units), Layer::Relu]);
    }
    layers.push(dense(format!("fc{}", hidden.len() + 1), outputs));
    layers
}

/// Max-pool and ReLU commute, and pooling first is cheaper.
fn cnn([first, second]: [usize; 2], hidden: usize, outputs: usize) -> Vec<Layer> {
    vec![
        Layer::ChannelsLast,
        convolution("conv1", first, Kernel::same(5, 1), true),
        Layer::MaxPool(Kernel::apart(2)),
        Layer::Relu,
        convolution("conv2", second, Kernel::same(5, 1), true),
        Layer::MaxPool(Kernel::apart(2)),
        Layer::Relu,
        Layer::Flatten,
        dense("fc1", hidden),
        Layer::Relu,
        dense("fc2", outputs),
    ]
}

/// Configuration A of Simonyan and Zisserman with a classifier for small images, as the paper's
/// experiments use it; named as the usual PyTorch code for CIFAR does.
fn vgg11(dropout: f64, outputs: usize) -> Vec<Layer> {
    let mut layers = Vec::new();
    for group in [&[64][..], &[128], &[256, 256], &[512, 512], &[512, 512]] {
        for &outputs in group {
            // PyTorch numbers all layers, also those without parameters.
            let (name, start) = (format!("features.{}", layers.len()), Initialisation::FanOut);
            let kernel = Kernel::same(3, 1);
            layers.push(Layer::Convolution { name, outputs, kernel, bias: true, start });
            layers.push(Layer::Relu);
        }
        layers.push(Layer::MaxPool(Kernel::apart(2)));
    }
    layers.extend([
        Layer::Flatten,
        Layer::Dropout(dropout),
        dense("classifier.1", 512),
        Layer::Relu,
        Layer::Dropout(dropout),
        dense("classifier.4", 512),
        Layer::Relu,
        dense("classifier.6", outputs),
    ]);
    layers.retain(|layer| !matches!(layer, Layer::Dropout(part) if *part == 0.0));
    layers
}

/// Three blocks of two convolutions, with group norm in eight groups.
fn resnet8(outputs: usize) -> Vec<Layer> {
    let norm = |name: String| Layer::GroupNorm { name, groups: 8 };
    let mut layers = vec![
        convolution("conv1", 16, Kernel::same(3, 1), false),
        norm("norm1".into()),
        Layer::Relu,
    ];
    // A block that has more channels than the one before it halves the image.
    for (block, channels, stride) in [(1, 16, 1), (2, 32, 2), (3, 64, 2)] {
        let name = |part: &str| format!("block{block}.{part}");
        let shortcut = match stride {
            1 => Vec::new(),
            _ => vec![
                convolution(name("shortcut.conv"), channels, Kernel::same(1, stride), false),
                norm(name("shortcut.norm")),
            ],
        };
        let body = vec![
            convolution(name("conv1"), channels, Kernel::same(3, stride), false),
            norm(name("norm1")),
            Layer::Relu,
            convolution(name("conv2"), channels, Kernel::same(3, 1), false),
            norm(name("norm2")),
        ];
        layers.push(Layer::Residual { body, shortcut });
    }
    layers.extend([Layer::GlobalAverage, dense("fc", outputs)]);
    layers
}

fn dense(name: impl Into<String>, outputs: usize) -> Layer {
    Layer::Dense { name: name.into(), outputs, start: Initialisation::FanIn }
}

fn convolution(name: impl Into<String>, outputs: usize, kernel: Kernel, bias: bool) -> Layer {
    let (name, start) = (name.into(), Initialisation::FanIn);
    Layer::Convolution { name, outputs, kernel, bias, start }
}

#[cfg(test)]
mod tests;
