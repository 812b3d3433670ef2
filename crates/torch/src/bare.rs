//! What client training is measured against: a bare loop of `tch` that does nothing but steps.

use super::networks::channels_last;
use super::{Feed, one_thread};
use gruppetto_sim::data::{Dataset, ModelConfig};
use std::time::{Duration, Instant};
use tch::nn::{self, ModuleT, OptimizerConfig};
use tch::{Device, Kind, Tensor};

/// Samples per second of plain steps on batches of `batch`, as somebody writes them who uses `tch`
/// by itself: its layers, its optimiser, its random order, data that is in memory as it is needed. A
/// cnn's layers come in the same order as ours, and images lie the same way: it is the rest that is measured.
pub fn bare_loop(model: &ModelConfig, data: &Dataset, batch: i64, time: Duration) -> f64 {
    one_thread();
    let store = nn::VarStore::new(Device::Cpu);
    let root = store.root();
    let net = match model {
        ModelConfig::Cnn { .. } => {
            let same = nn::ConvConfig { padding: 2, ..Default::default() };
            nn::seq_t()
                .add_fn(channels_last)
                .add(nn::conv2d(&root, 1, 32, 5, same))
                .add_fn(|x| x.max_pool2d([2, 2], [2, 2], [0, 0], [1, 1], false).relu())
                .add(nn::conv2d(&root, 32, 64, 5, same))
                .add_fn(|x| x.max_pool2d([2, 2], [2, 2], [0, 0], [1, 1], false).relu())
                .add_fn(|x| x.flatten(1, -1))
                .add(nn::linear(&root, 3136, 512, Default::default()))
                .add_fn(Tensor::relu)
                .add(nn::linear(&root, 512, 10, Default::default()))
        }
        ModelConfig::Mlp { .. } => nn::seq_t()
            .add_fn(|x| x.flatten(1, -1))
            .add(nn::linear(&root, 784, 200, Default::default()))
            .add_fn(Tensor::relu)
            .add(nn::linear(&root, 200, 10, Default::default())),
        other => panic!("no bare loop is written for {other:?}"),
    };
    let size: usize = store.trainable_variables().iter().map(Tensor::numel).sum();
    let cost = model.cost(&data.shape, 10);
    assert_eq!(Some(size), cost.map(|cost| cost.parameters), "the bare loop has other layers");
    let mut optimizer = nn::Sgd::default().build(&store, 0.02).expect("plain SGD");
    let all = data.train.len();
    let (x, y) = Feed::new(data, &data.train, Device::Cpu).slice(0, all);
    let (began, mut seen) = (Instant::now(), 0);
    loop {
        for indices in Tensor::randperm(all as i64, (Kind::Int64, Device::Cpu)).split(batch, 0) {
            let (x, y) = (x.index_select(0, &indices), y.index_select(0, &indices));
            let loss = net.forward_t(&x, true).cross_entropy_for_logits(&y);
            optimizer.backward_step(&loss);
            seen += indices.size()[0];
            if began.elapsed() >= time {
                return seen as f64 / began.elapsed().as_secs_f64();
            }
        }
    }
}
