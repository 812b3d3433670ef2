//! Sizes, work and tensors of every architecture.

use super::*;
use crate::data::Parameter;

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
    assert_eq!(size(ModelConfig::Resnet8, &[3, 32, 32]), 464 + 4672 + 14_528 + 57_728 + 650);
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
    assert_eq!(cnn.flops, 4.0 * 800.0 * 784.0 + 6.0 * (51_200.0 * 196.0 + 1_605_632.0 + 5120.0));
    // Blocks of 32², 16² and 8² pixels, the last two with a convolution in the shortcut.
    let resnet = ModelConfig::Resnet8.cost(&[3, 32, 32], 10).unwrap();
    assert_eq!(resnet.units, 3.0 * (16.0 * 1024.0 + 32.0 * 256.0 + 64.0 * 64.0) + 10.0);
    let [first, second, third] =
        [2.0 * 2304.0, 512.0 + 4608.0 + 9216.0, 2048.0 + 18_432.0 + 36_864.0];
    let blocks = first * 1024.0 + second * 256.0 + third * 64.0;
    assert_eq!(resnet.flops, 4.0 * 432.0 * 1024.0 + 6.0 * (blocks + 640.0));
}

/// The tensors of a model in the order of its file, as "name 3×4".
fn tensor_shapes(model: &ModelConfig, shape: &[usize]) -> Vec<String> {
    let network = model.network(shape, 10).unwrap();
    assert_eq!(network.outputs(), [10]);
    let count: usize = network.parameters().iter().map(Parameter::size).sum();
    assert_eq!(count, model.cost(shape, 10).unwrap().parameters, "{}", model.name());
    let sides = |shape: &[usize]| shape.iter().map(usize::to_string).collect::<Vec<_>>();
    let tensor = |p: &Parameter| format!("{} {}", p.name, sides(&p.shape).join("×"));
    network.parameters().iter().map(tensor).collect()
}

/// Files of earlier runs have these names, and a run starts from the same numbers as long as the
/// order stays.
#[test]
fn tensors_keep_their_names_shapes_and_order() {
    let softmax = tensor_shapes(&ModelConfig::Softmax, &[1, 4, 5]);
    assert_eq!(softmax, ["weight 10×20", "bias 10"]);
    let mlp = tensor_shapes(&ModelConfig::Mlp { hidden: vec![7, 5] }, &[60]);
    let layers = ["fc1.weight 7×60", "fc1.bias 7", "fc2.weight 5×7", "fc2.bias 5"];
    assert_eq!(mlp[..4], layers);
    assert_eq!(mlp[4..], ["fc3.weight 10×5", "fc3.bias 10"]);
    let cnn = tensor_shapes(&ModelConfig::CNN, &[3, 30, 33]);
    let convolutions =
        ["conv1.weight 32×3×5×5", "conv1.bias 32", "conv2.weight 64×32×5×5", "conv2.bias 64"];
    assert_eq!(cnn[..4], convolutions);
    let dense = ["fc1.weight 512×3584", "fc1.bias 512", "fc2.weight 10×512", "fc2.bias 10"];
    assert_eq!(cnn[4..], dense);
}

#[test]
fn vgg_is_numbered_as_in_pytorch() {
    let vgg = |dropout| tensor_shapes(&ModelConfig::Vgg11 { dropout }, &[3, 33, 64]);
    let mut expected = Vec::new();
    let mut from = 3;
    let numbers = [0, 3, 6, 8, 11, 13, 16, 18];
    for (number, to) in numbers.into_iter().zip([64, 128, 256, 256, 512, 512, 512, 512]) {
        expected.push(format!("features.{number}.weight {to}×{from}×3×3"));
        expected.push(format!("features.{number}.bias {to}"));
        from = to;
    }
    for (number, to, from) in [(1, 512, 1024), (4, 512, 512), (6, 10, 512)] {
        expected.push(format!("classifier.{number}.weight {to}×{from}"));
        expected.push(format!("classifier.{number}.bias {to}"));
    }
    assert_eq!(vgg(0.5), expected);
    assert_eq!(vgg(0.0), expected, "dropout has no parameters");
}

#[test]
fn a_shortcut_comes_after_its_block() {
    let norm =
        |name: &str, channels| ["weight", "bias"].map(|part| format!("{name}.{part} {channels}"));
    let mut expected = vec!["conv1.weight 16×3×3×3".to_string()];
    expected.extend(norm("norm1", 16));
    for (block, from, to) in [(1, 16, 16), (2, 16, 32), (3, 32, 64)] {
        let name = |part: &str| format!("block{block}.{part}");
        expected.push(format!("block{block}.conv1.weight {to}×{from}×3×3"));
        expected.extend(norm(&name("norm1"), to));
        expected.push(format!("block{block}.conv2.weight {to}×{to}×3×3"));
        expected.extend(norm(&name("norm2"), to));
        if from != to {
            expected.push(format!("block{block}.shortcut.conv.weight {to}×{from}×1×1"));
            expected.extend(norm(&name("shortcut.norm"), to));
        }
    }
    expected.extend(["fc.weight 10×64".to_string(), "fc.bias 10".to_string()]);
    assert_eq!(tensor_shapes(&ModelConfig::Resnet8, &[3, 32, 32]), expected);
}

#[test]
fn images_have_to_survive_every_pool() {
    let script = ModelConfig::TorchScript { path: "net.pt".into(), loss: Loss::Mse };
    for (model, side) in [
        (ModelConfig::Softmax, 1),
        (ModelConfig::Mlp { hidden: vec![3] }, 1),
        (ModelConfig::CNN, 4),
        (ModelConfig::Vgg11 { dropout: 0.5 }, 32),
        (ModelConfig::Resnet8, 1),
        (script, 1),
    ] {
        assert_eq!(model.least_side(), side, "{}", model.name());
    }
}
