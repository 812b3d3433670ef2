//! Networks as lists of layers: what parameters they have, and what they do with them.

use gruppetto_sim::random::Stream;
use rand::Rng;
use tch::{Device, Tensor};

/// One layer of a network. Whatever has parameters has a name, under which PyTorch finds them.
#[derive(Clone, Debug)]
pub(super) enum Layer {
    /// Everything but the batch in one dimension.
    Flatten,
    /// All channels of a pixel side by side in memory: the same numbers, which the processor's
    /// convolutions and pools get through faster, half as fast again for few channels.
    ChannelsLast,
    Dense {
        name: String,
        inputs: i64,
        outputs: i64,
        start: Start,
    },
    Conv(Conv),
    /// Group norm: like batch norm, but of one sample alone, so that clients share no statistics.
    Norm {
        name: String,
        groups: i64,
        channels: i64,
    },
    Relu,
    /// The largest of 2 × 2.
    Pool,
    /// The mean of every channel.
    Average,
    /// Training sets this part of all units to 0 and the others up.
    Dropout(f64),
    /// relu(body(x) + shortcut(x)).
    Residual {
        body: Vec<Layer>,
        shortcut: Vec<Layer>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Conv {
    pub(super) name: String,
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) kernel: i64,
    pub(super) stride: i64,
    pub(super) bias: bool,
    pub(super) start: Start,
}

/// How a layer is initialised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Start {
    Zeros,
    /// Weights and biases uniform within ±1/√(inputs of a unit): PyTorch's own.
    FanIn,
    /// Weights normal with variance 2/(kernel² · outputs), biases 0: VGG's, after He et al.
    FanOut,
}

/// A tensor of parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) shape: Vec<i64>,
    pub(super) law: Law,
}

/// What a parameter's entries are drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Law {
    Constant(f64),
    Uniform(f64),
    Normal(f64),
}

impl Parameter {
    pub(super) fn len(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }
}

impl Start {
    fn laws(self, inputs: i64, kernel_area: i64, outputs: i64) -> [Law; 2] {
        let bound = 1.0 / (inputs as f64 * kernel_area as f64).sqrt();
        let he = (2.0 / (kernel_area as f64 * outputs as f64)).sqrt();
        match self {
            Start::Zeros => [Law::Constant(0.0); 2],
            Start::FanIn => [Law::Uniform(bound); 2],
            Start::FanOut => [Law::Normal(he), Law::Constant(0.0)],
        }
    }
}

/// The parameters of layers, in the order in which [`forward`] takes them.
pub(super) fn parameters(layers: &[Layer]) -> Vec<Parameter> {
    let mut all = Vec::new();
    let mut add = |name: &str, part: &str, shape: &[i64], law| {
        let name = if name.is_empty() { part.into() } else { format!("{name}.{part}") };
        all.push(Parameter { name, shape: shape.to_vec(), law });
    };
    for layer in layers {
        match layer {
            Layer::Dense { name, inputs, outputs, start } => {
                let [weight, bias] = start.laws(*inputs, 1, *outputs);
                add(name, "weight", &[*outputs, *inputs], weight);
                add(name, "bias", &[*outputs], bias);
            }
            Layer::Conv(Conv { name, from, to, kernel, bias, start, .. }) => {
                let [weights, biases] = start.laws(*from, kernel * kernel, *to);
                add(name, "weight", &[*to, *from, *kernel, *kernel], weights);
                if *bias {
                    add(name, "bias", &[*to], biases);
                }
            }
            Layer::Norm { name, channels, .. } => {
                add(name, "weight", &[*channels], Law::Constant(1.0));
                add(name, "bias", &[*channels], Law::Constant(0.0));
            }
            Layer::Residual { body, shortcut } => {
                for parameter in parameters(body).into_iter().chain(parameters(shortcut)) {
                    add("", &parameter.name, &parameter.shape, parameter.law);
                }
            }
            Layer::Flatten
            | Layer::ChannelsLast
            | Layer::Relu
            | Layer::Pool
            | Layer::Average
            | Layer::Dropout(_) => {}
        }
    }
    all
}

/// The output of layers for a batch `x`. Units are dropped by `masks`; without, none are.
pub(super) fn forward(
    layers: &[Layer],
    parameters: &mut std::slice::Iter<'_, Tensor>,
    mut x: Tensor,
    masks: &mut Option<Stream>,
) -> Tensor {
    for layer in layers {
        let mut next = || parameters.next().expect("as many as the layers have");
        x = match layer {
            Layer::Flatten => x.flatten(1, -1),
            Layer::ChannelsLast if x.device() == Device::Cpu => channels_last(&x),
            Layer::ChannelsLast => x,
            Layer::Dense { .. } => {
                let (weight, bias) = (next(), next());
                x.linear(weight, Some(bias))
            }
            Layer::Conv(Conv { kernel, stride, bias, .. }) => {
                let weight = next();
                let bias = bias.then(next);
                let same = kernel / 2;
                x.conv2d(weight, bias, [*stride; 2], [same; 2], [1, 1], 1)
            }
            Layer::Norm { groups, .. } => {
                let (weight, bias) = (next(), next());
                x.group_norm(*groups, Some(weight), Some(bias), 1e-5, true)
            }
            Layer::Relu => x.relu(),
            Layer::Pool => x.max_pool2d([2, 2], [2, 2], [0, 0], [1, 1], false),
            Layer::Average => x.mean_dim([2i64, 3].as_slice(), false, x.kind()),
            Layer::Dropout(part) => match masks {
                Some(rng) => &x * mask(rng, *part, &x.size(), x.device()),
                None => x,
            },
            Layer::Residual { body, shortcut } => {
                let through = forward(body, parameters, x.shallow_clone(), masks);
                (through + forward(shortcut, parameters, x, masks)).relu()
            }
        };
    }
    x
}

/// Images with all channels of a pixel side by side. libtorch goes by the strides, and those of a single
/// channel would tell it nothing.
pub(super) fn channels_last(x: &Tensor) -> Tensor {
    let (images, channels, height, width) = x.size4().expect("images");
    let strides = [height * width * channels, 1, width * channels, channels];
    let pixels = x.permute([0, 2, 3, 1]).contiguous();
    pixels.as_strided([images, channels, height, width], strides, None)
}

/// 0 for a `part` of all units, and 1/(1 − part) for the others. From our own stream: libtorch's
/// generator belongs to all threads.
fn mask(rng: &mut Stream, part: f64, shape: &[i64], device: Device) -> Tensor {
    let units = shape.iter().product::<i64>();
    let (dropped, kept) = ((part * 2f64.powi(32)) as u64, (1.0 / (1.0 - part)) as f32);
    let unit = |_| if u64::from(rng.next_u32()) < dropped { 0.0 } else { kept };
    let mask: Vec<f32> = (0..units).map(unit).collect();
    Tensor::from_slice(&mask).reshape(shape).to_device(device)
}
