//! A network as data: its layers in order, and what follows from them.
//!
//! ```text
//!   ModelConfig            ┌─► cost: how many parameters, how much work per sample
//!   shape of a sample   ─► Network ─► parameters: names, shapes, initial values
//!   number of outputs      └─► layers, which libtorch computes in this order
//! ```
//!
//! [`ModelConfig::network`](super::ModelConfig::network) describes each architecture once. Scenarios
//! count with its [cost](Network::cost), model files hold its [parameters](Network::parameters) under
//! their names, and `crates/torch` computes its [layers](Network::layers). A layer states what it gives;
//! what it takes follows from the layers before it, so no size is written twice.

mod layer;

pub use layer::{Initialisation, Kernel, Law, Layer, Parameter};

/// How large a model is, and how much work a sample is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Parameters d.
    pub parameters: usize,
    /// Floating-point operations of learning from one sample: multiplications and additions, once
    /// forward and twice backward, but no gradient for the input.
    pub flops: f64,
    /// Outputs of all layers for one sample, which are kept until its gradient is known.
    pub units: f64,
}

/// Layers that fit together, for samples of one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    layers: Vec<Layer>,
    outputs: Vec<usize>,
    parameters: Vec<Parameter>,
    cost: Cost,
}

impl Network {
    /// The network of `layers` for samples of shape `input`: channels, height and width of an image,
    /// or the number of features. `None` if a layer cannot take what the layers before it give, as a
    /// convolution that gets a row of numbers or an image smaller than its kernel.
    pub fn new(input: &[usize], layers: Vec<Layer>) -> Option<Network> {
        let mut walk = Walk::default();
        let outputs = walk.through(&layers, input, true)?;
        let parameters: usize = walk.parameters.iter().map(Parameter::size).sum();
        let cost = Cost { parameters, flops: walk.flops, units: walk.units };
        Some(Network { layers, outputs, parameters: walk.parameters, cost })
    }

    /// Its layers, in the order in which a sample passes them.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The shape of what the last layer gives for one sample.
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// Its parameters, in the order in which the layers use them. A residual's body comes before its
    /// shortcut.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// How large it is, and how much work a sample is.
    pub fn cost(&self) -> Cost {
        self.cost
    }
}

/// What has been collected from the layers so far.
#[derive(Default)]
struct Walk {
    parameters: Vec<Parameter>,
    flops: f64,
    units: f64,
}

impl Walk {
    /// Follows a sample of `shape` through `layers` and returns its shape after them. `untouched` says
    /// that no layer with parameters came before: the gradient for such an input is never computed.
    fn through(
        &mut self,
        layers: &[Layer],
        shape: &[usize],
        mut untouched: bool,
    ) -> Option<Vec<usize>> {
        let mut shape = shape.to_vec();
        for layer in layers {
            let known = self.parameters.len();
            shape = match layer {
                Layer::Residual { body, shortcut } => {
                    let after = self.through(body, &shape, untouched)?;
                    let beside = self.through(shortcut, &shape, untouched)?;
                    (after == beside).then_some(after)?
                }
                layer => self.one(layer, &shape, untouched)?,
            };
            untouched &= self.parameters.len() == known;
        }
        Some(shape)
    }

    fn one(&mut self, layer: &Layer, before: &[usize], untouched: bool) -> Option<Vec<usize>> {
        let after = layer.shape_after(before)?;
        let parameters = layer.parameters(before);
        if let (Layer::Dense { .. } | Layer::Convolution { .. }, [weights, ..]) =
            (layer, &parameters[..])
        {
            // A convolution uses every weight once for each pixel that it gives.
            let pixels: usize = after[1..].iter().product();
            let passes = if untouched { 4.0 } else { 6.0 };
            self.flops += passes * weights.size() as f64 * pixels as f64;
            self.units += after.iter().product::<usize>() as f64;
        }
        self.parameters.extend(parameters);
        Some(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(outputs: usize) -> Layer {
        Layer::Dense { name: "fc".into(), outputs, start: Initialisation::FanIn }
    }

    fn convolution(outputs: usize, kernel: Kernel) -> Layer {
        let (name, start) = ("conv".into(), Initialisation::FanIn);
        Layer::Convolution { name, outputs, kernel, bias: false, start }
    }

    #[test]
    fn layers_that_do_not_fit_make_no_network() {
        let fits =
            |input: &[usize], layers: &[Layer]| Network::new(input, layers.to_vec()).is_some();
        let kernel = Kernel::same(3, 1);
        assert!(fits(&[3, 8, 8], &[convolution(4, kernel), Layer::Flatten, dense(2)]));
        assert!(!fits(&[3, 8, 8], &[dense(2)]), "an image is not flattened");
        assert!(!fits(&[192], &[convolution(4, kernel)]), "a row is no image");
        assert!(fits(&[1, 2, 2], &[Layer::MaxPool(Kernel::apart(2))]));
        assert!(!fits(&[1, 2, 1], &[Layer::MaxPool(Kernel::apart(2))]), "nothing is left");
        let norm = Layer::GroupNorm { name: "norm".into(), groups: 8 };
        assert!(!fits(&[12, 2, 2], &[norm]), "12 channels are not 8 equal groups");
        let residual = |body: Vec<Layer>| Layer::Residual { body, shortcut: Vec::new() };
        assert!(fits(&[4, 8, 8], &[residual(vec![convolution(4, kernel)])]));
        assert!(!fits(&[3, 8, 8], &[residual(vec![convolution(4, kernel)])]), "3 + 4 channels");
    }

    #[test]
    fn shapes_follow_from_the_kernel() {
        let after = |side, kernel| {
            let network = Network::new(&[1, side, 9], vec![convolution(5, kernel)]);
            network.unwrap().outputs().to_vec()
        };
        assert_eq!(after(8, Kernel::same(3, 1)), [5, 8, 9]);
        assert_eq!(after(8, Kernel::same(3, 2)), [5, 4, 5]);
        assert_eq!(after(7, Kernel::same(1, 2)), [5, 4, 5]);
        assert_eq!(after(8, Kernel { size: 5, stride: 1, padding: 0 }), [5, 4, 5]);
    }

    /// The first layer on either way of a residual takes the sample itself.
    #[test]
    fn no_gradient_is_counted_for_the_sample() {
        let one = || convolution(2, Kernel::same(1, 1));
        let residual = Layer::Residual { body: vec![one(), one()], shortcut: vec![one()] };
        let network = Network::new(&[2, 3, 3], vec![residual, one()]).unwrap();
        assert_eq!(network.cost().flops, 4.0 * 9.0 * (4.0 + 6.0 + 4.0 + 6.0));
        assert_eq!(network.cost().units, 4.0 * 18.0);
        assert_eq!(network.cost().parameters, 16);
    }
}
