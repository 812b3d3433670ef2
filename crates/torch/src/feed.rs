//! The data on a device, and the batches that come from it.

use gruppetto_sim::data::{
    Augment, CropFlip, Dataset, Features, PADDING, STANDARDISED, Samples, Targets,
};
use gruppetto_sim::random::Stream;
use tch::{Device, Kind, Tensor};

/// Samples that stay on a device. Many images stay bytes there, and are standardised batch by batch.
pub(super) struct Feed {
    x: Tensor,
    y: Tensor,
    shape: Vec<i64>,
    /// What pixels are multiplied by, and what is added then, by channel.
    levels: Option<(Tensor, Tensor)>,
    device: Device,
}

impl Feed {
    pub(super) fn new(data: &Dataset, samples: &Samples, device: Device) -> Self {
        let shape: Vec<i64> = data.shape.iter().map(|&side| side as i64).collect();
        let all = [&[samples.len() as i64][..], &shape].concat();
        let (x, levels) = match &samples.x {
            Features::Bytes(bytes) => (Tensor::from_slice(bytes), Some(levels(data, device))),
            Features::Floats(floats) => (Tensor::from_slice(floats), None),
        };
        let y = match &samples.y {
            Targets::Classes(classes) => {
                let classes: Vec<i64> = classes.iter().map(|&class| class.into()).collect();
                Tensor::from_slice(&classes)
            }
            Targets::Values(values) => Tensor::from_slice(values),
        };
        let (x, y) = (x.reshape(all).to_device(device), y.to_device(device));
        let mut feed = Feed { x, y, shape, levels, device };
        if 4 * feed.x.numel() <= STANDARDISED {
            // The same operations on the same numbers: not a bit of a batch depends on this.
            feed.x = feed.standardised(feed.x.shallow_clone());
            feed.levels = None;
        }
        feed
    }

    /// A handle to the same data, for another thread.
    pub(super) fn share(&self) -> Feed {
        Feed {
            x: self.x.shallow_clone(),
            y: self.y.shallow_clone(),
            shape: self.shape.clone(),
            levels: self.levels.as_ref().map(|(a, b)| (a.shallow_clone(), b.shallow_clone())),
            device: self.device,
        }
    }

    /// The samples at `indices` and their targets.
    pub(super) fn batch(&self, indices: &[i64]) -> (Tensor, Tensor) {
        let indices = Tensor::from_slice(indices).to_device(self.device);
        let (x, y) = (self.x.index_select(0, &indices), self.y.index_select(0, &indices));
        (self.standardised(x), y)
    }

    /// Samples `from..from + len` and their targets. A copy: somebody's network may work in place.
    pub(super) fn slice(&self, from: usize, len: usize) -> (Tensor, Tensor) {
        let part = |all: &Tensor| all.narrow(0, from as i64, len as i64).copy();
        (self.standardised(part(&self.x)), part(&self.y))
    }

    fn standardised(&self, x: Tensor) -> Tensor {
        match &self.levels {
            Some((times, plus)) => x.to_kind(Kind::Float).g_mul_(times).g_add_(plus),
            None => x,
        }
    }

    /// The images of a batch, each cropped and flipped by the next draw: one gather for all of them,
    /// from images with a margin.
    pub(super) fn augmented(&self, x: Tensor, augment: Augment, rng: &mut Stream) -> Tensor {
        let (Augment::CropFlip, &[channels, height, width]) = (augment, &self.shape[..]) else {
            return x;
        };
        let margin = PADDING as i64;
        let wide = width + 2 * margin;
        let images = x.size()[0];
        let mut places = Vec::with_capacity((images * height * width) as usize);
        for _ in 0..images {
            let CropFlip { down, right, mirrored } = CropFlip::draw(rng);
            for y in 0..height {
                let row = (y + down as i64) * wide + right as i64;
                let columns = (0..width).map(|x| if mirrored { width - 1 - x } else { x });
                places.extend(columns.map(|x| row + x));
            }
        }
        let places = Tensor::from_slice(&places).to_device(self.device);
        let places = places.view([images, 1, height * width]);
        let padded = x.constant_pad_nd([margin, margin, margin, margin]).flatten(2, -1);
        padded
            .gather(2, &places.expand([images, channels, height * width], false), false)
            .view([images, channels, height, width])
    }
}

/// (v/255 − mean)/std as v·times + plus, one of each per channel.
fn levels(data: &Dataset, device: Device) -> (Tensor, Tensor) {
    let std = |std: f64| if std > 0.0 { std } else { 1.0 };
    let times: Vec<f32> = data.std.iter().map(|s| (1.0 / (255.0 * std(*s))) as f32).collect();
    let plus: Vec<f32> =
        data.mean.iter().zip(&data.std).map(|(mean, s)| (-mean / std(*s)) as f32).collect();
    let tensor = |values: &[f32]| {
        Tensor::from_slice(values).view([values.len() as i64, 1, 1]).to_device(device)
    };
    (tensor(&times), tensor(&plus))
}
