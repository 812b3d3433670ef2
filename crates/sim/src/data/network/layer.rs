//! One layer: what shape it gives, which parameters it has, and what these start with.

/// One layer of a network. A layer with parameters has a name, under which PyTorch finds them.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// Makes a row of numbers of an image.
    Flatten,
    /// Has the channels of a pixel side by side in memory from here on. The values stay the same; on a
    /// processor, convolutions and pools of few channels are up to half as fast again.
    ChannelsLast,
    /// Every output is a weighted sum of all inputs, plus a bias.
    #[allow(missing_docs)]
    Dense { name: String, outputs: usize, start: Initialisation },
    /// A convolution with so many output channels.
    #[allow(missing_docs)]
    Convolution { name: String, outputs: usize, kernel: Kernel, bias: bool, start: Initialisation },
    /// Group norm: like batch norm, but of one sample alone, so that clients share no statistics.
    #[allow(missing_docs)]
    GroupNorm { name: String, groups: usize },
    /// max(x, 0).
    Relu,
    /// The largest value under the kernel, channel by channel.
    MaxPool(Kernel),
    /// The mean of every channel.
    GlobalAverage,
    /// Training sets this part of all units to 0 and scales the others up.
    Dropout(f64),
    /// relu(body(x) + shortcut(x)). An empty shortcut is x itself.
    #[allow(missing_docs)]
    Residual { body: Vec<Layer>, shortcut: Vec<Layer> },
}

/// A square kernel that slides over an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Pixels on a side.
    pub size: usize,
    /// Pixels from one place to the next.
    pub stride: usize,
    /// Pixels that are added on each border of the image.
    pub padding: usize,
}

impl Kernel {
    /// With stride 1 the image keeps its size, for kernels of odd `size`.
    pub const fn same(size: usize, stride: usize) -> Kernel {
        Kernel { size, stride, padding: size / 2 }
    }

    /// Places that lie side by side and do not overlap.
    pub const fn apart(size: usize) -> Kernel {
        Kernel { size, stride: size, padding: 0 }
    }

    /// How many places there are along a side of an image; `None` if the kernel does not fit.
    fn places(self, side: usize) -> Option<usize> {
        let rest = (side + 2 * self.padding).checked_sub(self.size)?;
        Some(rest / self.stride + 1)
    }
}

/// How the parameters of a layer are initialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialisation {
    /// All parameters are 0.
    Zeros,
    /// Weights and biases uniform within ±1/√(inputs of a unit), as in PyTorch.
    FanIn,
    /// Weights normal with variance 2/(kernel² · outputs) and biases 0, as in VGG, after He et al.
    FanOut,
}

/// A tensor of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in files.
    pub name: String,
    /// Its sides, in PyTorch's order.
    pub shape: Vec<usize>,
    /// What its entries start with.
    pub law: Law,
}

/// What the entries of a parameter are drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// All the same.
    Constant(f64),
    /// Uniform within ± this bound.
    Uniform(f64),
    /// Normal with mean 0 and this standard deviation.
    Normal(f64),
}

impl Parameter {
    /// How many entries it has.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

impl Initialisation {
    /// The laws of weights and biases.
    fn laws(self, inputs: usize, kernel_area: usize, outputs: usize) -> [Law; 2] {
        let bound = 1.0 / (inputs as f64 * kernel_area as f64).sqrt();
        let he = (2.0 / (kernel_area as f64 * outputs as f64)).sqrt();
        match self {
            Initialisation::Zeros => [Law::Constant(0.0); 2],
            Initialisation::FanIn => [Law::Uniform(bound); 2],
            Initialisation::FanOut => [Law::Normal(he), Law::Constant(0.0)],
        }
    }
}

impl Layer {
    /// The shape of a sample after this layer, given its shape before; `None` if the layer cannot take
    /// it. A residual is not asked: the walk over the network goes through both its branches.
    pub(super) fn shape_after(&self, before: &[usize]) -> Option<Vec<usize>> {
        Some(match (self, before) {
            (Layer::Relu | Layer::Dropout(_), _) => before.to_vec(),
            (Layer::Flatten, _) => vec![before.iter().product()],
            (Layer::Dense { outputs, .. }, [_]) => vec![*outputs],
            (Layer::ChannelsLast, [_, _, _]) => before.to_vec(),
            (Layer::Convolution { outputs, kernel, .. }, &[_, height, width]) => {
                vec![*outputs, kernel.places(height)?, kernel.places(width)?]
            }
            (Layer::MaxPool(kernel), &[channels, height, width]) => {
                vec![channels, kernel.places(height)?, kernel.places(width)?]
            }
            (Layer::GroupNorm { groups, .. }, [channels, _, _]) if channels % groups == 0 => {
                before.to_vec()
            }
            (Layer::GlobalAverage, [channels, _, _]) => vec![*channels],
            _ => return None,
        })
    }

    /// Its parameters if a sample has shape `before`, in the order in which it uses them.
    pub(super) fn parameters(&self, before: &[usize]) -> Vec<Parameter> {
        let inputs = before.first().copied().unwrap_or(1);
        let parameter = |layer: &str, part: &str, shape: &[usize], law| {
            let name = if layer.is_empty() { part.into() } else { format!("{layer}.{part}") };
            Parameter { name, shape: shape.to_vec(), law }
        };
        match self {
            Layer::Dense { name, outputs, start } => {
                let [weights, biases] = start.laws(inputs, 1, *outputs);
                let weight = parameter(name, "weight", &[*outputs, inputs], weights);
                vec![weight, parameter(name, "bias", &[*outputs], biases)]
            }
            Layer::Convolution { name, outputs, kernel, bias, start } => {
                let [weights, biases] = start.laws(inputs, kernel.size * kernel.size, *outputs);
                let shape = [*outputs, inputs, kernel.size, kernel.size];
                let weight = Some(parameter(name, "weight", &shape, weights));
                let bias = bias.then(|| parameter(name, "bias", &[*outputs], biases));
                weight.into_iter().chain(bias).collect()
            }
            Layer::GroupNorm { name, .. } => vec![
                parameter(name, "weight", &[inputs], Law::Constant(1.0)),
                parameter(name, "bias", &[inputs], Law::Constant(0.0)),
            ],
            Layer::Flatten
            | Layer::ChannelsLast
            | Layer::Relu
            | Layer::MaxPool(_)
            | Layer::GlobalAverage
            | Layer::Dropout(_)
            | Layer::Residual { .. } => Vec::new(),
        }
    }
}
