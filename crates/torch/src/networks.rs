//! Networks in libtorch: what it computes for each layer of a description.
//!
//! Which layers a network has, their sizes and their parameters come from [`gruppetto_sim::data`]; a new
//! architecture needs no line here, a new kind of layer one arm of [`forward`].

use gruppetto_sim::data::{Kernel, Layer};
use gruppetto_sim::random::Stream;
use rand::Rng;
use tch::{Device, Tensor};

/// The output of layers for a batch `x`, given the tensors of their parameters in the order of
/// [`Network::parameters`](gruppetto_sim::data::Network::parameters). Dropout draws from `masks`; without
/// it, no unit is dropped.
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
            Layer::Convolution { kernel, bias, .. } => {
                let weight = next();
                let bias = bias.then(next);
                let [_, stride, padding] = both_ways(*kernel);
                x.conv2d(weight, bias, stride, padding, [1, 1], 1)
            }
            Layer::GroupNorm { groups, .. } => {
                let (weight, bias) = (next(), next());
                x.group_norm(*groups as i64, Some(weight), Some(bias), 1e-5, true)
            }
            Layer::Relu => x.relu(),
            Layer::MaxPool(kernel) => {
                let [size, stride, padding] = both_ways(*kernel);
                x.max_pool2d(size, stride, padding, [1, 1], false)
            }
            Layer::GlobalAverage => x.mean_dim([2i64, 3].as_slice(), false, x.kind()),
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

/// Size, stride and padding of a kernel, each downwards and across.
fn both_ways(Kernel { size, stride, padding }: Kernel) -> [[i64; 2]; 3] {
    [size, stride, padding].map(|pixels| [pixels as i64; 2])
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

#[cfg(test)]
mod tests;
