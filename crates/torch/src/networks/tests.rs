//! What libtorch computes against what the description of each network says.

use super::*;
use crate::tests::{MODELS, images, small, trainer};
use crate::worker::{Worker, sides};
use crate::{Net, Trainer, tensor_shapes};
use gruppetto_sim::data::{Augment, Initialisation, ModelConfig, Network, Parameter};
use std::collections::HashSet;
use tch::Kind;

/// Every architecture, with the settings that change its layers.
fn models() -> impl Iterator<Item = ModelConfig> {
    let others = [
        ModelConfig::Mlp { hidden: vec![7, 5] },
        ModelConfig::Cnn { channels: [6, 16], hidden: 30 },
        ModelConfig::Vgg11 { dropout: 0.0 },
    ];
    MODELS.into_iter().chain(others)
}

/// Tensors of 0.1 for the parameters of a network.
fn leaves(network: &Network) -> Vec<Tensor> {
    let leaf = |parameter: &Parameter| {
        Tensor::full(sides(parameter), 0.1, (Kind::Float, Device::Cpu)).set_requires_grad(true)
    };
    network.parameters().iter().map(leaf).collect()
}

/// Sends three samples through every beginning of a network: libtorch gives the shape that the
/// description says, and takes as many parameters.
fn compare_shapes(input: &[usize], layers: &[Layer]) {
    for length in 1..=layers.len() {
        let first = Network::new(input, layers[..length].to_vec()).unwrap();
        let leaves = leaves(&first);
        let batch: Vec<i64> =
            [3].into_iter().chain(input.iter().map(|&side| side as i64)).collect();
        let x = Tensor::arange(batch.iter().product::<i64>(), (Kind::Float, Device::Cpu));
        let mut rest = leaves.iter();
        let output = forward(first.layers(), &mut rest, x.reshape(&batch[..]), &mut None);
        let found: Vec<usize> = output.size()[1..].iter().map(|&side| side as usize).collect();
        assert_eq!(found, first.outputs(), "after {:?}", layers[length - 1]);
        assert_eq!(rest.len(), 0, "every parameter is used: {:?}", layers[length - 1]);
    }
}

#[test]
fn libtorch_has_the_parameters_of_the_description() {
    for model in models() {
        let shape = small(&model);
        let network = model.network(&shape, 4).unwrap();
        let described: Vec<(String, Vec<usize>)> =
            network.parameters().iter().map(|own| (own.name.clone(), own.shape.clone())).collect();
        let names: HashSet<&String> = described.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), described.len(), "{}: a name twice", model.name());

        // Before a run, in the file of a model, and in a worker.
        let data = images(shape, 4);
        assert_eq!(tensor_shapes(&model, &data).unwrap(), described);
        let trainer = trainer(&model, data, Augment::None);
        let start = trainer.default_start(1);
        assert_eq!(start.len(), network.cost().parameters, "{}", model.name());
        let written = trainer.tensors(&start).into_iter().map(|own| (own.name, own.shape));
        assert_eq!(written.collect::<Vec<_>>(), described);
        let worker = Worker::new(&Net::Network(network.clone()), Device::Cpu).unwrap();
        let pieces = worker.pieces(&vec![0.0; start.len()]).into_iter().map(|piece| piece.size());
        let expected = network.parameters().iter().map(sides);
        assert_eq!(pieces.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

#[test]
fn libtorch_gives_the_shapes_that_costs_are_counted_with() {
    for model in models() {
        // Sides that do not halve evenly, too.
        for shape in [[1, 32, 32], [3, 33, 46]] {
            let network = model.network(&shape, 10).unwrap();
            compare_shapes(&shape, network.layers());
            assert_eq!(network.outputs(), [10]);
        }
    }
    let softmax = ModelConfig::Softmax.network(&[60], 10).unwrap();
    compare_shapes(&[60], softmax.layers());
    assert!(ModelConfig::CNN.network(&[60], 10).is_none(), "a row is no image");
}

/// Kernels that none of the networks above has.
#[test]
fn kernels_of_any_stride_and_padding_are_described_rightly() {
    let kernel = |size, stride, padding| Kernel { size, stride, padding };
    let convolution = |name: &str, outputs, kernel| {
        let (name, start) = (name.into(), Initialisation::FanOut);
        Layer::Convolution { name, outputs, kernel, bias: true, start }
    };
    let layers = [
        convolution("conv1", 8, kernel(7, 2, 3)),
        Layer::MaxPool(kernel(3, 2, 1)),
        convolution("conv2", 4, kernel(4, 3, 0)),
        Layer::MaxPool(kernel(2, 1, 0)),
    ];
    compare_shapes(&[3, 40, 51], &layers);
}

/// Where pixels lie in memory changes no value.
#[test]
fn channels_that_lie_last_are_the_same_numbers() {
    for channels in [1, 3] {
        let x = Tensor::arange(2 * channels * 12, (Kind::Float, Device::Cpu));
        let x = x.reshape([2, channels, 3, 4]);
        let last = channels_last(&x);
        assert_eq!(last.stride(), [12 * channels, 1, 4 * channels, channels]);
        assert!(last.equal(&x));
        assert!(last.flatten(1, -1).equal(&x.flatten(1, -1)));
    }
}
