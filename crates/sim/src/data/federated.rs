//! A data set that is spread over clients: what a trainer gets.

use super::{Augment, Dataset, Features, Samples, Shard, Shards, Targets};
use std::sync::Arc;

/// The partitioned problem that a trainer gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Federated {
    /// The data.
    pub data: Arc<Dataset>,
    /// Indices of the training samples of each client: ascending, or in the order of a split file.
    pub clients: Vec<Vec<u32>>,
    /// What is done to training images.
    pub augment: Augment,
}

impl Federated {
    /// Everybody's samples in the layout of the native kernels: standardised, with a trailing 1.
    /// Real targets have no class and become 0.
    pub fn shards(&self) -> Shards {
        let data = &*self.data;
        let levels = data.levels();
        let train = self.clients.iter().map(|own| shard(data, &levels, &data.train, own.iter()));
        let train = train.collect();
        let everyone: Vec<u32> = (0..data.test.len() as u32).collect();
        let test = shard(data, &levels, &data.test, everyone.iter());
        Shards { features: data.features(), classes: data.classes, train, test }
    }
}

fn shard<'a>(
    data: &Dataset,
    levels: &[[f32; 256]],
    samples: &Samples,
    which: impl ExactSizeIterator<Item = &'a u32>,
) -> Shard {
    let features = data.features();
    let mut shard = Shard::default();
    shard.x.reserve_exact(which.len() * (features + 1));
    shard.y.reserve_exact(which.len());
    for index in which {
        let index = *index as usize;
        let range = index * features..(index + 1) * features;
        match &samples.x {
            Features::Bytes(x) => {
                let planes = x[range].chunks_exact(features / levels.len()).zip(levels);
                for (plane, levels) in planes {
                    shard.x.extend(plane.iter().map(|pixel| levels[*pixel as usize]));
                }
            }
            Features::Floats(x) => shard.x.extend_from_slice(&x[range]),
        }
        shard.x.push(1.0);
        shard.y.push(match &samples.y {
            Targets::Classes(y) => y[index],
            Targets::Values(_) => 0,
        });
    }
    shard
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::tests::images;

    #[test]
    fn shards_hold_standardised_rows_in_order() {
        let data = images([1, 1, 2], vec![0, 255, 255, 0, 255, 255], vec![0, 1, 1]);
        let (mean, std) = (data.mean[0], data.std[0]);
        let clients = vec![vec![2], vec![0, 1]];
        let federated = Federated { data: Arc::new(data), clients, augment: Augment::None };
        let shards = federated.shards();
        let (low, high) = ((-mean / std) as f32, ((1.0 - mean) / std) as f32);
        assert_eq!(shards.train[0], Shard { x: vec![high, high, 1.0], y: vec![1] });
        assert_eq!(shards.train[1].x, [low, high, 1.0, high, low, 1.0]);
        assert_eq!((shards.test.y, shards.features, shards.classes), (vec![0, 1, 1], 2, 2));
    }
}
