//! Which model learns from a data set, and what a step of it costs.

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
    /// Whatever somebody exported.
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

/// How large a model is, and how much work a sample is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Parameters d.
    pub parameters: usize,
    /// Floating-point operations of learning from one sample.
    pub flops: f64,
    /// Outputs of all layers for one sample, which are kept until its gradient is known.
    pub units: f64,
}

impl ModelConfig {
    /// McMahan et al.'s network.
    pub const CNN: ModelConfig = ModelConfig::Cnn { channels: [32, 64], hidden: 512 };

    /// Sides that images must have for something to be left of them before the last layers.
    pub fn least_side(&self) -> usize {
        match self {
            ModelConfig::Cnn { .. } => 4,
            ModelConfig::Vgg11 { .. } => 32,
            _ => 1,
        }
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

    /// What it costs on samples of `shape` with so many outputs; `None` where only the model itself
    /// can tell. Multiplications and additions once forward and twice backward, but no gradient for
    /// the input.
    pub fn cost(&self, shape: &[usize], outputs: usize) -> Option<Cost> {
        let features: usize = shape.iter().product();
        let image = || match *shape {
            [channels, height, width] => Some((channels, height, width)),
            _ => None,
        };
        let mut sum = Sum::default();
        match self {
            ModelConfig::Softmax => {
                sum.dense(features, outputs);
            }
            ModelConfig::Mlp { hidden } => {
                let mut before = features;
                for units in hidden {
                    sum.dense(before, *units);
                    before = *units;
                }
                sum.dense(before, outputs);
            }
            ModelConfig::Cnn { channels: [first, second], hidden } => {
                let (channels, height, width) = image()?;
                sum.convolution(channels, *first, 5, height * width, true);
                sum.convolution(*first, *second, 5, (height / 2) * (width / 2), true);
                sum.dense(second * (height / 4) * (width / 4), *hidden);
                sum.dense(*hidden, outputs);
            }
            ModelConfig::Vgg11 { .. } => {
                let (mut before, mut height, mut width) = image()?;
                for group in [&[64][..], &[128], &[256, 256], &[512, 512], &[512, 512]] {
                    for channels in group {
                        sum.convolution(before, *channels, 3, height * width, true);
                        before = *channels;
                    }
                    (height, width) = (height / 2, width / 2);
                }
                sum.dense(512 * height * width, 512);
                sum.dense(512, 512);
                sum.dense(512, outputs);
            }
            ModelConfig::Resnet8 => {
                let (channels, mut height, mut width) = image()?;
                sum.convolution(channels, 16, 3, height * width, false);
                sum.norm(16);
                let mut before = 16;
                for channels in [16, 32, 64] {
                    if channels != before {
                        (height, width) = (height.div_ceil(2), width.div_ceil(2));
                        sum.convolution(before, channels, 1, height * width, false);
                        sum.norm(channels);
                    }
                    sum.convolution(before, channels, 3, height * width, false);
                    sum.norm(channels);
                    sum.convolution(channels, channels, 3, height * width, false);
                    sum.norm(channels);
                    before = channels;
                }
                sum.dense(64, outputs);
            }
            ModelConfig::TorchScript { .. } => return None,
        }
        Some(Cost { parameters: sum.parameters, flops: sum.flops, units: sum.units })
    }
}

#[derive(Default)]
struct Sum {
    parameters: usize,
    flops: f64,
    units: f64,
}

impl Sum {
    fn dense(&mut self, inputs: usize, outputs: usize) {
        self.units += outputs as f64;
        self.layer(inputs * outputs, outputs, 1);
    }

    fn convolution(&mut self, from: usize, to: usize, kernel: usize, area: usize, bias: bool) {
        self.units += to as f64 * area as f64;
        self.layer(from * to * kernel * kernel, if bias { to } else { 0 }, area);
    }

    fn norm(&mut self, channels: usize) {
        self.parameters += 2 * channels;
    }

    /// A layer whose weights are each used `times` for a sample.
    fn layer(&mut self, weights: usize, biases: usize, times: usize) {
        // The first layer's input needs no gradient.
        let passes = if self.parameters == 0 { 4.0 } else { 6.0 };
        self.parameters += weights + biases;
        self.flops += passes * weights as f64 * times as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_their_published_sizes() {
        let size = |model: ModelConfig, shape: &[usize]| model.cost(shape, 10).unwrap().parameters;
        assert_eq!(size(ModelConfig::Softmax, &[1, 28, 28]), 7850);
        // McMahan et al. 2017: 199,210 and 1,663,370 parameters.
        let mlp = ModelConfig::Mlp { hidden: vec![200, 200] };
        assert_eq!(size(mlp, &[1, 28, 28]), 199_210);
        assert_eq!(size(ModelConfig::CNN, &[1, 28, 28]), 1_663_370);
        let small = ModelConfig::Cnn { channels: [6, 16], hidden: 100 };
        assert_eq!(size(small, &[1, 28, 28]), 156 + 2416 + 78_500 + 1010);
        assert_eq!(size(ModelConfig::Vgg11 { dropout: 0.5 }, &[3, 32, 32]), 9_750_922);
        assert!(ModelConfig::CNN.cost(&[60], 10).is_none(), "a row is no image");
    }

    #[test]
    fn work_is_counted_without_a_gradient_for_the_input() {
        let softmax = ModelConfig::Softmax.cost(&[60], 10).unwrap();
        assert_eq!(softmax.flops, 4.0 * 60.0 * 10.0);
        // The 20.5 MFLOP of 32 samples through 784-200-10.
        let mlp = ModelConfig::Mlp { hidden: vec![200] }.cost(&[784], 10).unwrap();
        assert_eq!(32.0 * mlp.flops, 32.0 * (4.0 * 156_800.0 + 6.0 * 2000.0));
        assert_eq!(mlp.units, 210.0);
        let cnn = ModelConfig::CNN.cost(&[1, 28, 28], 10).unwrap();
        assert_eq!(cnn.units, 32.0 * 784.0 + 64.0 * 196.0 + 522.0);
    }
}
