//! Samples as the native kernels want them.

/// Samples in the kernel's layout: rows of `features` values and a trailing 1 for the bias.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shard {
    /// Row by row.
    pub x: Vec<f32>,
    /// Labels.
    pub y: Vec<u32>,
}

/// A classification problem whose samples every client holds as a [`Shard`].
pub struct Shards {
    /// Features per sample, without the bias.
    pub features: usize,
    /// Classes.
    pub classes: usize,
    /// Training samples of each client.
    pub train: Vec<Shard>,
    /// Test samples of all clients together.
    pub test: Shard,
}
