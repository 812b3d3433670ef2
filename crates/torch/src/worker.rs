//! A network on a device that one thread at a time computes with.

use super::networks::forward;
use super::script::{Script, reason};
use super::{Net, TorchError};
use gruppetto_sim::data::{Network, Parameter};
use gruppetto_sim::random::Stream;
use std::panic::resume_unwind;
use tch::{Device, Tensor, no_grad};

/// Parameters on a device and what is computed from them. It stays there between rounds.
pub(super) struct Worker {
    pub(super) device: Device,
    body: Body,
    /// The parameters, tensor by tensor.
    leaves: Vec<Tensor>,
    /// Momentum, or the sum of a step's terms; one per parameter.
    buffers: Vec<Tensor>,
}

enum Body {
    Network(Network),
    Script(Script),
}

/// What a step adds to the gradient: κ and q of [`Terms`](gruppetto_sim::train::Terms), and momentum.
pub(super) struct Step<'a> {
    pub(super) rate: f64,
    pub(super) momentum: f64,
    pub(super) shrink: f32,
    pub(super) pull: Option<&'a [Tensor]>,
}

impl Worker {
    pub(super) fn new(net: &Net, device: Device) -> Result<Self, TorchError> {
        let (body, leaves): (_, Vec<_>) = match net {
            Net::Network(network) => {
                let leaf = |parameter: &Parameter| {
                    let kind = (tch::Kind::Float, device);
                    Tensor::zeros(sides(parameter), kind).set_requires_grad(true)
                };
                let leaves = network.parameters().iter().map(leaf).collect();
                (Body::Network(network.clone()), leaves)
            }
            Net::Script(path) => {
                let script = Script::load(path, device)?;
                let leaves = script.leaves.iter().map(Tensor::shallow_clone).collect();
                (Body::Script(script), leaves)
            }
        };
        let buffers = no_grad(|| leaves_like(&leaves));
        Ok(Worker { device, body, leaves, buffers })
    }

    /// Takes over parameters that lie one after the other.
    pub(super) fn load(&mut self, values: &[f32]) {
        let pieces = self.pieces(values);
        no_grad(|| self.leaves.iter_mut().zip(&pieces).for_each(|(leaf, piece)| leaf.copy_(piece)));
    }

    /// A vector of as many entries as there are parameters, on the device and cut into their shapes.
    pub(super) fn pieces(&self, values: &[f32]) -> Vec<Tensor> {
        let flat = Tensor::from_slice(values).to_device(self.device);
        let mut from = 0;
        let piece = |leaf: &Tensor| {
            let len = leaf.numel() as i64;
            let piece = flat.narrow(0, from, len).view(&leaf.size()[..]);
            from += len;
            piece
        };
        self.leaves.iter().map(piece).collect()
    }

    /// The parameters one after the other.
    pub(super) fn save(&self) -> Vec<f32> {
        flat(&self.leaves)
    }

    /// Forgets what momentum there was.
    pub(super) fn rest(&mut self) {
        self.buffers.iter_mut().for_each(|buffer| {
            let _ = buffer.zero_();
        });
    }

    /// The network's output for a batch.
    pub(super) fn forward(&self, x: Tensor, masks: &mut Option<Stream>) -> Tensor {
        match &self.body {
            Body::Network(network) => forward(network.layers(), &mut self.leaves.iter(), x, masks),
            // It was tried when the scenario was read.
            Body::Script(script) => script
                .forward(&x)
                // Not a mistake of this program: whoever asked for the work tells of it.
                .unwrap_or_else(|error| resume_unwind(Box::new(reason(&error.to_string())))),
        }
    }

    /// The gradient of `loss` for every parameter.
    pub(super) fn gradient(&self, loss: &Tensor) -> Vec<Tensor> {
        let mut gradient = Tensor::run_backward(&[loss], &self.leaves, false, false);
        for (gradient, leaf) in gradient.iter_mut().zip(&self.leaves) {
            // What the loss does not depend on has none: it stays where it is.
            if !gradient.defined() {
                *gradient = no_grad(|| leaf.zeros_like());
            }
        }
        gradient
    }

    /// Moves the parameters along `gradient` by the law of a step, in place: what libtorch would put
    /// in a temporary costs as much as the step.
    pub(super) fn step(&mut self, gradient: &[Tensor], step: &Step<'_>) {
        let number = |value: f64| Tensor::from(value as f32).to_device(self.device);
        let down = number(-step.rate);
        let shrink = (step.shrink != 0.0).then(|| number(step.shrink.into()));
        no_grad(|| {
            let places = self.leaves.iter_mut().zip(&mut self.buffers).zip(gradient);
            for (i, ((leaf, buffer), gradient)) in places.enumerate() {
                if step.momentum == 0.0 && shrink.is_none() && step.pull.is_none() {
                    let _ = leaf.addcmul_(gradient, &down);
                    continue;
                }
                if step.momentum > 0.0 {
                    let _ = buffer.g_mul_scalar_(step.momentum);
                    let _ = buffer.g_add_(gradient);
                } else {
                    buffer.copy_(gradient);
                }
                if let Some(shrink) = &shrink {
                    let _ = buffer.addcmul_(leaf, shrink);
                }
                if let Some(pull) = step.pull {
                    let _ = buffer.g_add_(&pull[i]);
                }
                let _ = leaf.addcmul_(buffer, &down);
            }
        });
    }
}

/// The shape of a parameter as libtorch takes it.
pub(super) fn sides(parameter: &Parameter) -> Vec<i64> {
    parameter.shape.iter().map(|&side| side as i64).collect()
}

fn leaves_like(leaves: &[Tensor]) -> Vec<Tensor> {
    leaves.iter().map(|leaf| leaf.zeros_like().detach()).collect()
}

/// Tensors one after the other.
pub(super) fn flat(tensors: &[Tensor]) -> Vec<f32> {
    let mut values = vec![0.0; tensors.iter().map(Tensor::numel).sum()];
    let mut rest = &mut values[..];
    for tensor in tensors {
        let (own, others) = rest.split_at_mut(tensor.numel());
        tensor.detach().contiguous().copy_data(own, tensor.numel());
        rest = others;
    }
    values
}
