//! A data set in memory, as every model gets it.
//!
//! Images stay bytes, a quarter of what floats would take; trainers standardise them on the way in,
//! all by the same [`Dataset::levels`]. Tables are floats and are used as they are.

use std::fmt;

/// Bytes that libtorch's standardised images may take up. Standardising batch by batch costs a small
/// network about a thirtieth of its time; data beyond this belong to networks that do not notice.
pub const STANDARDISED: usize = 256 << 20;

/// Training and test samples, and what is known of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// What it is called in messages and reports.
    pub name: String,
    /// Shape of one sample: channels, height and width of an image, or the number of features.
    pub shape: Vec<usize>,
    /// Number of classes; 0 where targets are real numbers.
    pub classes: usize,
    /// What the file calls each class; one name per class.
    pub class_names: Vec<String>,
    /// What is learned from.
    pub train: Samples,
    /// What is tested with; may be empty.
    pub test: Samples,
    /// Mean of pixel/255 over the training images, by channel; empty for tables.
    pub mean: Vec<f64>,
    /// Standard deviation of pixel/255 over the training images, by channel; empty for tables.
    pub std: Vec<f64>,
    /// Whose each training sample is, where the data says so.
    pub clients: Option<NaturalClients>,
}

/// Samples, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Every sample's features, by rows of the product of the shape.
    pub x: Features,
    /// Every sample's target.
    pub y: Targets,
}

/// Features of samples.
#[derive(Clone, PartialEq)]
pub enum Features {
    /// Pixels.
    Bytes(Vec<u8>),
    /// Numbers, all finite.
    Floats(Vec<f32>),
}

/// What is to be predicted.
#[derive(Clone, PartialEq)]
pub enum Targets {
    /// A class per sample, below the data set's number of classes.
    Classes(Vec<u32>),
    /// A number per sample, all finite.
    Values(Vec<f32>),
}

/// The clients that the data itself tells apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaturalClients {
    /// The client of each training sample.
    pub of: Vec<u32>,
    /// What the file calls each client, in the order in which they first appear.
    pub names: Vec<String>,
}

impl Dataset {
    /// Numbers in one sample.
    pub fn features(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether samples are images: bytes that are standardised by channel.
    pub fn is_images(&self) -> bool {
        matches!(self.train.x, Features::Bytes(_))
    }

    /// What each pixel value becomes in each channel: (v/255 − mean)/std, worked out in double
    /// precision and rounded once, so that every trainer sees the same bits. A channel that never
    /// changes is only centred.
    pub fn levels(&self) -> Vec<[f32; 256]> {
        let level = |(mean, std): (&f64, &f64)| {
            let std = if *std > 0.0 { *std } else { 1.0 };
            std::array::from_fn(|value| ((value as f64 / 255.0 - mean) / std) as f32)
        };
        self.mean.iter().zip(&self.std).map(level).collect()
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        let of = |samples: &Samples| match &samples.x {
            Features::Bytes(x) => x.len() + 4 * samples.len(),
            Features::Floats(x) => 4 * (x.len() + samples.len()),
        };
        of(&self.train) + of(&self.test)
    }
}

impl Samples {
    /// Bytes of libtorch's copy: images as floats unless that were too much, and wide labels.
    pub fn copied(&self) -> usize {
        let x = match &self.x {
            Features::Bytes(x) if 4 * x.len() > STANDARDISED => x.len(),
            Features::Bytes(x) => 4 * x.len(),
            Features::Floats(x) => 4 * x.len(),
        };
        x + 8 * self.len()
    }

    /// The first `count` of them.
    pub fn first(&self, count: usize) -> Samples {
        let (count, width) = (count.min(self.len()), |all: usize| all / self.len().max(1));
        let x = match &self.x {
            Features::Bytes(x) => Features::Bytes(x[..count * width(x.len())].to_vec()),
            Features::Floats(x) => Features::Floats(x[..count * width(x.len())].to_vec()),
        };
        let y = match &self.y {
            Targets::Classes(y) => Targets::Classes(y[..count].to_vec()),
            Targets::Values(y) => Targets::Values(y[..count].to_vec()),
        };
        Samples { x, y }
    }

    /// How many.
    pub fn len(&self) -> usize {
        match &self.y {
            Targets::Classes(y) => y.len(),
            Targets::Values(y) => y.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The classes, unless targets are real numbers.
    pub fn labels(&self) -> Option<&[u32]> {
        match &self.y {
            Targets::Classes(y) => Some(y),
            Targets::Values(_) => None,
        }
    }
}

impl Samples {
    /// These samples, in this order.
    pub fn select(&self, which: &[u32], features: usize) -> Samples {
        fn rows<T: Copy>(all: &[T], which: &[u32], width: usize) -> Vec<T> {
            let row = |index: &u32| &all[*index as usize * width..][..width];
            which.iter().flat_map(row).copied().collect()
        }
        Samples {
            x: match &self.x {
                Features::Bytes(x) => Features::Bytes(rows(x, which, features)),
                Features::Floats(x) => Features::Floats(rows(x, which, features)),
            },
            y: match &self.y {
                Targets::Classes(y) => Targets::Classes(rows(y, which, 1)),
                Targets::Values(y) => Targets::Values(rows(y, which, 1)),
            },
        }
    }
}

/// Mean and standard deviation of pixel/255 in each of `channels`, each of `area` pixels. Sums are
/// whole numbers, so the order of summation cannot matter.
pub fn moments(pixels: &[u8], channels: usize, area: usize) -> (Vec<f64>, Vec<f64>) {
    let mut sums = vec![(0u64, 0u64); channels];
    for (index, plane) in pixels.chunks_exact(area).enumerate() {
        let (mut sum, mut squares) = (0u64, 0u64);
        for &pixel in plane {
            sum += u64::from(pixel);
            squares += u64::from(pixel) * u64::from(pixel);
        }
        sums[index % channels].0 += sum;
        sums[index % channels].1 += squares;
    }
    let n = (pixels.len() / channels).max(1) as u128;
    let mean = |&(sum, _): &(u64, u64)| sum as f64 / (255.0 * n as f64);
    let std = |&(sum, squares): &(u64, u64)| {
        let spread = n * u128::from(squares) - u128::from(sum) * u128::from(sum);
        (spread as f64).sqrt() / (255.0 * n as f64)
    };
    (sums.iter().map(mean).collect(), sums.iter().map(std).collect())
}

/// Millions of numbers are nothing to print.
impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Features::Bytes(x) => write!(f, "{} bytes", x.len()),
            Features::Floats(x) => write!(f, "{} floats", x.len()),
        }
    }
}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Targets::Classes(y) => write!(f, "{} classes", y.len()),
            Targets::Values(y) => write!(f, "{} values", y.len()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Images of `shape` with the given pixels and labels, and the same again for testing.
    pub(crate) fn images(shape: [usize; 3], pixels: Vec<u8>, y: Vec<u32>) -> Dataset {
        let (mean, std) = moments(&pixels, shape[0], shape[1] * shape[2]);
        let classes = y.iter().max().map_or(2, |top| *top as usize + 1).max(2);
        let samples = Samples { x: Features::Bytes(pixels), y: Targets::Classes(y) };
        Dataset {
            name: "test".into(),
            shape: shape.into(),
            classes,
            class_names: (0..classes).map(|class| class.to_string()).collect(),
            train: samples.clone(),
            test: samples,
            mean,
            std,
            clients: None,
        }
    }

    /// `counts[k]` samples of class k, one pixel each, in order.
    pub(crate) fn labelled(counts: &[usize]) -> Dataset {
        let y: Vec<u32> = counts.iter().enumerate().flat_map(|(k, n)| vec![k as u32; *n]).collect();
        images([1, 1, 1], y.iter().map(|k| *k as u8).collect(), y)
    }

    #[test]
    fn moments_are_those_of_the_definition() {
        // Two channels of two pixels, two images: channel 0 has 0, 255, 0, 255; channel 1 is flat.
        let pixels = [0, 255, 51, 51, 0, 255, 51, 51];
        let (mean, std) = moments(&pixels, 2, 2);
        assert_eq!((mean, std), (vec![0.5, 0.2], vec![0.5, 0.0]));
    }

    #[test]
    fn levels_standardise() {
        let data = images([2, 1, 2], vec![0, 255, 51, 51, 0, 255, 51, 51], vec![0, 1]);
        let levels = data.levels();
        assert_eq!((levels[0][0], levels[0][255]), (-1.0, 1.0));
        assert_eq!((levels[1][51], levels[1][255]), (0.0, 0.8), "only centred");
        assert!(data.is_images() && data.features() == 4);
        assert_eq!(data.bytes(), 2 * (8 + 8));
    }
}
