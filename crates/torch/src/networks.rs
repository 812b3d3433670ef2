//! The networks that scenarios name.

use super::layer::{Conv, Layer, Start};
use gruppetto_sim::data::ModelConfig;

/// The layers of a model for samples of `shape` with so many outputs; `None` for one that somebody
/// exported, or one that needs images and gets none.
pub(super) fn layers(model: &ModelConfig, shape: &[usize], outputs: usize) -> Option<Vec<Layer>> {
    let features = shape.iter().product::<usize>() as i64;
    let outputs = outputs as i64;
    Some(match (model, shape) {
        (ModelConfig::Softmax, _) => {
            let start = Start::Zeros;
            vec![
                Layer::Flatten,
                Layer::Dense { name: String::new(), inputs: features, outputs, start },
            ]
        }
        (ModelConfig::Mlp { hidden }, _) => {
            let mut layers = vec![Layer::Flatten];
            let mut inputs = features;
            for (i, units) in hidden.iter().enumerate() {
                layers.extend([dense(format!("fc{}", i + 1), inputs, *units as i64), Layer::Relu]);
                inputs = *units as i64;
            }
            layers.push(dense(format!("fc{}", hidden.len() + 1), inputs, outputs));
            layers
        }
        (ModelConfig::Cnn { channels: [first, second], hidden }, &[channels, height, width]) => {
            let (first, second, hidden) = (*first as i64, *second as i64, *hidden as i64);
            // The largest of what is not below 0 is what is not below 0 of the largest, and cheaper.
            vec![
                Layer::ChannelsLast,
                conv("conv1", channels as i64, first, 5, 1, true),
                Layer::Pool,
                Layer::Relu,
                conv("conv2", first, second, 5, 1, true),
                Layer::Pool,
                Layer::Relu,
                Layer::Flatten,
                dense("fc1", second * (height / 4 * (width / 4)) as i64, hidden),
                Layer::Relu,
                dense("fc2", hidden, outputs),
            ]
        }
        (ModelConfig::Vgg11 { dropout }, &[channels, height, width]) => {
            vgg11(*dropout, channels as i64, (height / 32 * (width / 32)) as i64, outputs)
        }
        (ModelConfig::Resnet8, &[channels, ..]) if shape.len() == 3 => {
            resnet8(channels as i64, outputs)
        }
        _ => return None,
    })
}

fn dense(name: impl Into<String>, inputs: i64, outputs: i64) -> Layer {
    Layer::Dense { name: name.into(), inputs, outputs, start: Start::FanIn }
}

fn conv(name: &str, from: i64, to: i64, kernel: i64, stride: i64, bias: bool) -> Layer {
    Layer::Conv(Conv { name: name.into(), from, to, kernel, stride, bias, start: Start::FanIn })
}

/// Configuration A of Simonyan and Zisserman with a classifier for small images, as the paper's
/// experiments use it; named as the usual PyTorch code for CIFAR does.
fn vgg11(dropout: f64, channels: i64, area: i64, outputs: i64) -> Vec<Layer> {
    let (mut layers, mut from) = (Vec::new(), channels);
    // The place in PyTorch's list of layers.
    let mut place = 0;
    for group in [&[64][..], &[128], &[256, 256], &[512, 512], &[512, 512]] {
        for to in group {
            let (name, start) = (format!("features.{place}"), Start::FanOut);
            let conv = Conv { name, from, to: *to, kernel: 3, stride: 1, bias: true, start };
            layers.extend([Layer::Conv(conv), Layer::Relu]);
            (from, place) = (*to, place + 2);
        }
        layers.push(Layer::Pool);
        place += 1;
    }
    layers.extend([
        Layer::Flatten,
        Layer::Dropout(dropout),
        dense("classifier.1", 512 * area, 512),
        Layer::Relu,
        Layer::Dropout(dropout),
        dense("classifier.4", 512, 512),
        Layer::Relu,
        dense("classifier.6", 512, outputs),
    ]);
    layers.retain(|layer| !matches!(layer, Layer::Dropout(part) if *part == 0.0));
    layers
}

/// Three blocks of two convolutions, with group norm in eight groups.
fn resnet8(channels: i64, outputs: i64) -> Vec<Layer> {
    let norm = |name: String, channels| Layer::Norm { name, groups: 8, channels };
    let mut layers =
        vec![conv("conv1", channels, 16, 3, 1, false), norm("norm1".into(), 16), Layer::Relu];
    let mut from = 16;
    for (i, to) in [(1, 16), (2, 32), (3, 64)] {
        let stride = if from == to { 1 } else { 2 };
        let name = |part: &str| format!("block{i}.{part}");
        let shortcut = match from == to {
            true => Vec::new(),
            false => vec![
                conv(&name("shortcut.conv"), from, to, 1, stride, false),
                norm(name("shortcut.norm"), to),
            ],
        };
        let body = vec![
            conv(&name("conv1"), from, to, 3, stride, false),
            norm(name("norm1"), to),
            Layer::Relu,
            conv(&name("conv2"), to, to, 3, 1, false),
            norm(name("norm2"), to),
        ];
        layers.push(Layer::Residual { body, shortcut });
        from = to;
    }
    layers.extend([Layer::Average, dense("fc", 64, outputs)]);
    layers
}
