//! A digest of the data that a trainer was made with.
//!
//! Processes that train together each build the data from the same scenario. A digest of what they built
//! tells whether it is the same: another version of a file or of a library shows before anything is trained.

use super::TaskDescription;
use crate::data::{Dataset, Features, Federated, Samples, Shards, Targets};
use xxhash_rust::xxh3::Xxh3;

/// Numbers that are put into a block before the block is hashed.
const BLOCK: usize = 512;

/// A hash of data, in the order in which it is added.
#[derive(Clone, Default)]
pub struct DataDigest(Xxh3);

impl DataDigest {
    /// Of what a task is like: how large, whose data counts how much.
    pub fn of(description: &TaskDescription) -> Self {
        let mut digest = DataDigest::default();
        digest.doubles(&[description.parameters as f64]);
        digest.doubles(&description.p);
        digest.numbers(&description.samples);
        digest
    }

    /// Adds doubles.
    pub fn doubles(&mut self, values: &[f64]) {
        self.entries(values, |value| value.to_le_bytes());
    }

    /// Adds single-precision numbers.
    pub fn singles(&mut self, values: &[f32]) {
        self.entries(values, |value| value.to_le_bytes());
    }

    /// Adds whole numbers.
    pub fn numbers(&mut self, values: &[u32]) {
        self.entries(values, |value| value.to_le_bytes());
    }

    /// Adds softmax data in the layout of the native kernels.
    pub fn shards(&mut self, shards: &Shards) {
        for shard in shards.train.iter().chain([&shards.test]) {
            self.singles(&shard.x);
            self.numbers(&shard.y);
        }
    }

    /// Adds a data set and how it is spread.
    pub fn federated(&mut self, problem: &Federated) {
        let Dataset { train, test, .. } = &*problem.data;
        self.samples(train);
        self.samples(test);
        problem.clients.iter().for_each(|own| self.numbers(own));
    }

    fn samples(&mut self, samples: &Samples) {
        match &samples.x {
            Features::Bytes(bytes) => {
                self.length(bytes.len());
                self.0.update(bytes);
            }
            Features::Floats(values) => self.singles(values),
        }
        match &samples.y {
            Targets::Classes(classes) => self.numbers(classes),
            Targets::Values(values) => self.singles(values),
        }
    }

    /// The digest of everything that was added.
    pub fn finish(&self) -> u64 {
        self.0.digest()
    }

    /// So that what ends one array cannot begin the next.
    fn length(&mut self, len: usize) {
        self.0.update(&(len as u64).to_le_bytes());
    }

    fn entries<T: Copy, const N: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
        self.length(values.len());
        let mut block = Vec::with_capacity(BLOCK * N);
        for values in values.chunks(BLOCK) {
            block.clear();
            values.iter().for_each(|value| block.extend_from_slice(&bytes(*value)));
            self.0.update(&block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Shard;

    fn digest(train: &[(&[f32], &[u32])]) -> u64 {
        let shard = |(x, y): &(&[f32], &[u32])| Shard { x: x.to_vec(), y: y.to_vec() };
        let test = Shard { x: Vec::new(), y: Vec::new() };
        let train = train.iter().map(shard).collect();
        let mut digest = DataDigest::default();
        digest.shards(&Shards { features: 1, classes: 2, train, test });
        digest.finish()
    }

    #[test]
    fn every_number_and_whose_it_is_counts() {
        let one = digest(&[(&[1.0, 2.0], &[0]), (&[3.0], &[1])]);
        assert_eq!(one, digest(&[(&[1.0, 2.0], &[0]), (&[3.0], &[1])]));
        for other in [
            digest(&[(&[1.0, 2.5], &[0]), (&[3.0], &[1])]),
            digest(&[(&[1.0, 2.0], &[1]), (&[3.0], &[1])]),
            digest(&[(&[1.0], &[0]), (&[2.0, 3.0], &[1])]),
            digest(&[(&[3.0], &[1]), (&[1.0, 2.0], &[0])]),
        ] {
            assert_ne!(one, other);
        }
    }
}
