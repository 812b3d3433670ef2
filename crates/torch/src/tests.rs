//! Every network against finite differences, and against the native kernels where there are some.

use super::*;
use gruppetto_sim::data::{Augment, Features, Layer, Samples, Targets};
use gruppetto_sim::solver::{Correction, Solver};
use gruppetto_sim::train::SoftmaxTrainer;
use rand::Rng;
use tch::no_grad;

/// Images of noise with random labels.
pub(super) fn images(shape: [usize; 3], count: usize) -> Dataset {
    let mut rng = stream(5, Purpose::Data, 0, 0);
    let features: usize = shape.iter().product();
    let mut samples = |count: usize| Samples {
        x: Features::Bytes((0..count * features).map(|_| rng.next_u32() as u8).collect()),
        y: Targets::Classes((0..count).map(|_| rng.next_u32() % 4).collect()),
    };
    let (train, test) = (samples(count), samples(count / 2));
    Dataset {
        name: "noise".into(),
        shape: shape.to_vec(),
        classes: 4,
        class_names: (0..4).map(|class| class.to_string()).collect(),
        train,
        test,
        mean: vec![0.5; shape[0]],
        std: vec![0.3; shape[0]],
        clients: None,
    }
}

/// Two clients that have every other sample.
fn problem(data: Dataset, augment: Augment) -> Federated {
    let all = data.train.len() as u32;
    let clients = (0..2).map(|client| (client..all).step_by(2).collect()).collect();
    Federated { data: Arc::new(data), clients, augment }
}

pub(super) fn trainer(model: &ModelConfig, data: Dataset, augment: Augment) -> TorchTrainer {
    TorchTrainer::new(model, problem(data, augment), 8, 3, DeviceChoice::Cpu).unwrap()
}

fn job(values: &[f64], client: u32, solver: Solver) -> Job {
    let model = Arc::new(Model::new(values.to_vec()));
    Job { model, client, round: 1, solver, correction: Correction::default() }
}

fn change(trainer: &dyn Trainer, job: Job, steps: u64) -> Vec<f64> {
    let mut run = trainer.begin(job);
    run.steps(steps);
    run.change()
}

pub(super) const MODELS: [ModelConfig; 5] = [
    ModelConfig::Softmax,
    ModelConfig::Mlp { hidden: Vec::new() },
    ModelConfig::CNN,
    ModelConfig::Vgg11 { dropout: 0.5 },
    ModelConfig::Resnet8,
];

/// Small images: VGG halves them five times.
pub(super) fn small(model: &ModelConfig) -> [usize; 3] {
    if matches!(model, ModelConfig::Vgg11 { .. }) { [1, 32, 32] } else { [2, 8, 8] }
}

/// In double precision, so that differences are of the gradient and not of rounding.
#[test]
fn gradients_are_what_finite_differences_say() {
    one_thread();
    for model in MODELS.iter().chain([&ModelConfig::Mlp { hidden: vec![7, 5] }]) {
        let data = images(small(model), 4);
        let network = model.network(&data.shape, 4).unwrap();
        let trainer = trainer(model, data.clone(), Augment::None);
        // Away from zero, where softmax starts, and from the kinks of units that are all 0.
        let start = trainer.default_start(1);
        let mut rng = stream(9, Purpose::Noise, 0, 0);
        let mut leaf = 0;
        let leaves: Vec<tch::Tensor> = network
            .parameters()
            .iter()
            .map(|parameter| {
                let values: Vec<f64> = start[leaf..leaf + parameter.size()]
                    .iter()
                    .map(|value| value + 0.05 * (rng.random::<f64>() - 0.5))
                    .collect();
                leaf += parameter.size();
                let tensor = tch::Tensor::from_slice(&values).view(&worker::sides(parameter)[..]);
                tensor.set_requires_grad(true)
            })
            .collect();
        let (x, y) = Feed::new(&data, &data.train, Device::Cpu).slice(0, 4);
        let x = x.to_kind(Kind::Double);
        let value = || {
            let mut masks = Some(stream(1, Purpose::Mask, 0, 0));
            let double = forward_double(network.layers(), &leaves, &x, &mut masks);
            loss(&double, &y, Loss::CrossEntropy, Reduction::Mean)
        };
        let gradient = tch::Tensor::run_backward(&[value()], &leaves, false, false);
        for (tensor, gradient) in leaves.iter().zip(&gradient) {
            let (flat, gradient) = (tensor.view(-1), gradient.reshape(-1));
            for place in [0, flat.size()[0] / 2, flat.size()[0] - 1] {
                let h = 1e-6;
                let at = |to: f64| {
                    no_grad(|| {
                        let mut entry = flat.narrow(0, place, 1);
                        let _ = entry.g_add_scalar_(to);
                    });
                    no_grad(|| value().double_value(&[]))
                };
                let (above, below) = (at(h), at(-2.0 * h));
                at(h);
                let (found, expected) =
                    (gradient.double_value(&[place]), (above - below) / (2.0 * h));
                let close = (found - expected).abs() <= 1e-6 + 1e-4 * expected.abs();
                assert!(close, "{}: {found}, differences say {expected}", model.name());
            }
        }
    }
}

fn forward_double(
    layers: &[Layer],
    leaves: &[tch::Tensor],
    x: &tch::Tensor,
    masks: &mut Option<gruppetto_sim::random::Stream>,
) -> tch::Tensor {
    networks::forward(layers, &mut leaves.iter(), x.shallow_clone(), masks)
}

/// Every term of the law, on the same batches.
#[test]
fn softmax_moves_as_the_native_kernel_moves_it() {
    let data = images([1, 4, 5], 40);
    let federated = problem(data.clone(), Augment::None);
    let native = SoftmaxTrainer::new(federated.shards(), 8, 3);
    let torch = trainer(&ModelConfig::Softmax, data, Augment::None);
    let start = torch.start(2, 0.1);
    let native_start = native.values(&torch.tensors(&start)).unwrap();
    for solver in [
        Solver::sgd(0.1),
        Solver { momentum: 0.9, ..Solver::sgd(0.05) },
        Solver { prox: 0.5, weight_decay: 0.01, ..Solver::sgd(0.1) },
        Solver { momentum: 0.5, prox: 0.2, lr_decay: 0.9, ..Solver::sgd(0.1) },
    ] {
        let moved = change(&torch, job(&start, 1, solver), 25);
        let expected = change(&native, job(&native_start, 1, solver), 25);
        let sum = |start: &[f64], change: &[f64]| -> Vec<f64> {
            start.iter().zip(change).map(|(x, d)| x + d).collect()
        };
        let moved = torch.tensors(&sum(&start, &moved));
        let expected = native.tensors(&sum(&native_start, &expected));
        for (moved, expected) in moved.iter().zip(&expected) {
            let (Values::F32(a), Values::F32(b)) = (&moved.values, &expected.values) else {
                panic!("both are in single precision")
            };
            assert_eq!(moved.name, expected.name);
            let off = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off < 2e-5, "{solver:?}: off by {off}");
        }
    }
    let model = Arc::new(Model::new(start));
    let native_model = Arc::new(Model::new(native_start));
    let pool = gruppetto_sim::train::Pool::new(0, 0).unwrap();
    let measured = |trainer: Arc<dyn Trainer>, model: &Arc<Model>| {
        gruppetto_sim::train::evaluate(&trainer, &pool, model, None).unwrap().unwrap().metrics
    };
    let (a, b) = (measured(Arc::new(torch), &model), measured(Arc::new(native), &native_model));
    for metric in gruppetto_sim::metric::Metric::ALL {
        if let (Some(a), Some(b)) = (a.get(metric), b.get(metric)) {
            assert!((a - b).abs() < 1e-5, "{metric}: {a} and {b}");
        }
    }
    assert_eq!(a.iter().count(), 3);
}

#[test]
fn a_step_is_the_same_wherever_and_whenever_it_is_made() {
    for model in MODELS {
        let trainer = Arc::new(trainer(&model, images(small(&model), 20), Augment::CropFlip));
        let start = trainer.default_start(4);
        let job = || job(&start, 0, Solver { momentum: 0.9, ..Solver::sgd(0.05) });
        let once = change(&*trainer, job(), 3);
        // One by one, after others, and in another thread.
        let mut run = trainer.begin(job());
        (0..3).for_each(|_| run.steps(1));
        assert_eq!(once, run.change(), "{}", model.name());
        let (other, again) = (trainer.clone(), job());
        let elsewhere = std::thread::spawn(move || change(&*other, again, 3)).join().unwrap();
        assert_eq!(once, elsewhere, "{}", model.name());
        assert!(once.iter().any(|delta| *delta != 0.0));
    }
}

#[test]
fn crops_on_a_device_are_those_done_by_hand() {
    let data = images([3, 6, 5], 10);
    let feed = Feed::new(&data, &data.train, Device::Cpu);
    let (x, _) = feed.batch(&[4, 7]);
    let mut rng = stream(1, Purpose::Augmentation, 2, 3);
    let cropped = feed.augmented(x, Augment::CropFlip, &mut rng);
    let mut rng = stream(1, Purpose::Augmentation, 2, 3);
    let Features::Bytes(bytes) = &data.train.x else { panic!("images") };
    for (place, sample) in [(0, 4), (1, 7)] {
        let mut expected = vec![0.0; 90];
        let sample = &bytes[sample * 90..(sample + 1) * 90];
        gruppetto_sim::data::crop_flip([3, 6, 5], sample, &data.levels(), &mut rng, &mut expected);
        let found = Vec::<f32>::try_from(cropped.get(place).reshape(-1)).unwrap();
        let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-5, "off by {off}");
    }
}

#[test]
fn vgg_starts_as_published() {
    let trainer =
        trainer(&ModelConfig::Vgg11 { dropout: 0.0 }, images([3, 32, 32], 4), Augment::None);
    let tensors = trainer.tensors(&trainer.default_start(1));
    let spread = |name: &str| {
        let tensor = tensors.iter().find(|tensor| tensor.name == name).unwrap();
        let Values::F32(values) = &tensor.values else { panic!("single precision") };
        let n = values.len() as f32;
        let mean = values.iter().sum::<f32>() / n;
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / n).sqrt()
    };
    // He et al.: √(2/(9·outputs)); linear layers uniform within 1/√inputs, so a third of that squared.
    for (name, expected) in [
        ("features.3.weight", (2.0f32 / (9.0 * 128.0)).sqrt()),
        ("classifier.1.weight", (1.0f32 / (3.0 * 512.0)).sqrt()),
        ("features.3.bias", 0.0),
    ] {
        let found = spread(name);
        assert!((found - expected).abs() <= 0.02 * expected, "{name}: {found}, not {expected}");
    }
}
