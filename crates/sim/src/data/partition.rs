//! Which client gets which samples of a data set.
//!
//! How many everybody gets is drawn before which ones: the schedule of a run needs only the sizes,
//! and those are cheap however large the data is. Both depend on the seed, and on nothing else that
//! could change.

mod dirichlet;

use super::Dataset;
use crate::random::{Purpose, shuffle, stream};
use std::fmt;
use std::sync::Arc;

/// `[task.partition]`: how samples are spread over clients.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionConfig {
    /// The rule.
    pub scheme: PartitionScheme,
    /// No client may have fewer samples than this.
    pub min_size: usize,
}

/// The rule by which samples are assigned to clients.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionScheme {
    /// Everybody gets the same number, at random.
    Iid,
    /// Of each class, client i gets a part p_i, with p ~ Dirichlet(α, …, α).
    Dirichlet(f64),
    /// Sorted by label and cut into pieces, of which everybody gets so many at random.
    Shards(usize),
    /// As a file says: the indices of training samples, client by client.
    File(Arc<Vec<Vec<u32>>>),
    /// As the data says.
    Natural,
}

impl fmt::Display for PartitionScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartitionScheme::Iid => f.write_str("iid"),
            PartitionScheme::Dirichlet(alpha) => write!(f, "dirichlet = {alpha}"),
            PartitionScheme::Shards(each) => write!(f, "shards = {each}"),
            PartitionScheme::File(_) => f.write_str("split by a file"),
            PartitionScheme::Natural => f.write_str("natural"),
        }
    }
}

/// A partition cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// Too small a share for somebody.
    #[error("client {client} gets {found} samples, fewer than min_size = {least}")]
    #[allow(missing_docs)]
    TooSmall { client: usize, found: usize, least: usize },
    /// There are not enough samples, however they are spread.
    #[error("{clients} clients × {least} samples are more than the {samples} there are")]
    #[allow(missing_docs)]
    TooMany { clients: usize, least: usize, samples: usize },
    /// No draw was good enough.
    #[error(
        "dirichlet = {alpha} never gave {clients} clients min_size = {least} samples in {tries} \
         draws (seed {seed})"
    )]
    #[allow(missing_docs)]
    Unlucky { alpha: String, clients: usize, least: usize, tries: u64, seed: u64 },
    /// Every class would be divided among everybody.
    #[error("{classes} classes among {clients} clients are too many to divide: are they classes?")]
    #[allow(missing_docs)]
    Vast { classes: usize, clients: usize },
    /// The scheme goes by classes.
    #[error("the targets are real numbers, and this scheme goes by classes")]
    NoClasses,
}

impl PartitionConfig {
    /// Training samples n_i of every client.
    pub fn sizes(
        &self,
        data: &Dataset,
        clients: usize,
        seed: u64,
    ) -> Result<Vec<u32>, PartitionError> {
        let all = data.train.len();
        let least = self.min_size.max(1);
        if clients.saturating_mul(least) > all {
            return Err(PartitionError::TooMany { clients, least, samples: all });
        }
        let sizes: Vec<u32> = match &self.scheme {
            PartitionScheme::Iid => even(all, clients).map(|range| range.len() as u32).collect(),
            PartitionScheme::Dirichlet(alpha) => {
                let counts = dirichlet::counts(data, clients, *alpha, least, seed)?;
                let of = |client: usize| counts.iter().map(|class| class[client]).sum();
                (0..clients).map(of).collect()
            }
            PartitionScheme::Shards(each) => {
                let dealt = deal(all, clients, *each, seed)?;
                dealt.iter().map(|own| own.iter().map(|range| range.len() as u32).sum()).collect()
            }
            PartitionScheme::File(indices) => indices.iter().map(|own| own.len() as u32).collect(),
            PartitionScheme::Natural => {
                let mut sizes = vec![0; clients];
                let natural = data.clients.as_ref();
                natural.iter().flat_map(|n| &n.of).for_each(|c| sizes[*c as usize] += 1);
                sizes
            }
        };
        match sizes.iter().position(|size| (*size as usize) < least) {
            Some(client) => {
                let found = sizes[client] as usize;
                Err(PartitionError::TooSmall { client, found, least })
            }
            None => Ok(sizes),
        }
    }

    /// The training samples of every client, as many as [`PartitionConfig::sizes`] says.
    pub fn assign(
        &self,
        data: &Dataset,
        clients: usize,
        seed: u64,
    ) -> Result<Vec<Vec<u32>>, PartitionError> {
        self.sizes(data, clients, seed)?;
        let all = data.train.len();
        let mut given: Vec<Vec<u32>> = match &self.scheme {
            // A file is taken at its word, the order of its samples included.
            PartitionScheme::File(indices) => return Ok(indices.to_vec()),
            PartitionScheme::Iid => {
                let mut order: Vec<u32> = (0..all as u32).collect();
                shuffle(&mut order, &mut stream(seed, Purpose::Partition, 0, ORDER));
                even(all, clients).map(|range| order[range].to_vec()).collect()
            }
            PartitionScheme::Dirichlet(alpha) => {
                dirichlet::assign(data, clients, *alpha, self.min_size.max(1), seed)?
            }
            PartitionScheme::Shards(each) => {
                let labels = data.train.labels().ok_or(PartitionError::NoClasses)?;
                let mut sorted: Vec<u32> = (0..all as u32).collect();
                sorted.sort_by_key(|index| labels[*index as usize]);
                let dealt = deal(all, clients, *each, seed)?;
                let own = |ranges: Vec<std::ops::Range<usize>>| {
                    ranges.into_iter().flat_map(|range| sorted[range].to_vec()).collect()
                };
                dealt.into_iter().map(own).collect()
            }
            PartitionScheme::Natural => {
                let mut given = vec![Vec::new(); clients];
                let natural = data.clients.iter().flat_map(|natural| &natural.of);
                natural.enumerate().for_each(|(i, client)| given[*client as usize].push(i as u32));
                given
            }
        };
        given.iter_mut().for_each(|own| own.sort_unstable());
        Ok(given)
    }
}

/// Rounds of the stream of a partition: draws of sizes count from 0, and this is the order in which
/// samples are handed out.
const ORDER: u64 = 1 << 32;

/// `0..all` in parts as even as can be.
fn even(all: usize, parts: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..parts).map(move |part| all * part / parts..all * (part + 1) / parts)
}

/// The pieces of `0..all` that every client gets.
fn deal(
    all: usize,
    clients: usize,
    each: usize,
    seed: u64,
) -> Result<Vec<Vec<std::ops::Range<usize>>>, PartitionError> {
    let pieces = clients.saturating_mul(each);
    if pieces > all {
        return Err(PartitionError::TooMany { clients, least: each, samples: all });
    }
    let mut cut: Vec<_> = even(all, pieces).collect();
    shuffle(&mut cut, &mut stream(seed, Purpose::Partition, 0, 0));
    Ok(cut.chunks_exact(each).map(<[_]>::to_vec).collect())
}

#[cfg(test)]
mod tests;
