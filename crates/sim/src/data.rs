//! What is learned: generators of federated problems, and data sets that are split over clients.
//!
//! [`QuadraticConfig::init`] and [`SyntheticConfig::init`] draw a problem for a seed, client by client
//! from the client's own stream, so that client 7 has the same data whether there are 10 clients or a
//! million. A [`Dataset`] in memory is split by a [`PartitionConfig`] into a [`Federated`] problem.
//! A [`ModelConfig`] describes the [`Network`] that learns from it, as data.
//! Nothing here knows of files, time or devices.

mod augment;
mod dataset;
mod federated;
mod model;
mod network;
mod partition;
mod quadratic;
mod shard;
mod synthetic;

pub use augment::{Augment, CropFlip, PADDING, crop_flip};
pub use dataset::{Dataset, Features, NaturalClients, STANDARDISED, Samples, Targets, moments};
pub use federated::Federated;
pub use model::{Backend, Loss, ModelConfig};
pub use network::{Cost, Initialisation, Kernel, Law, Layer, Network, Parameter};
pub use partition::{PartitionConfig, PartitionError, PartitionScheme};
pub use quadratic::{Centers, Curvature, LocalCurvature, Quadratic, QuadraticConfig};
pub use shard::{Shard, Shards};
pub use synthetic::{Split, SyntheticConfig};

/// Samples that go through a deep model together when it is evaluated.
pub const EVALUATED_TOGETHER: usize = 250;

/// Training samples of a deep model that an evaluation looks at. All of them would cost as much as a pass
/// of training.
pub const EVALUATED_TRAINING: usize = 10_000;
