//! Sums over the updates that were used.

/// Updates used, added up.
#[derive(Clone, Copy)]
pub(super) struct Used {
    pub(super) count: u64,
    /// Smallest, sum and largest.
    pub(super) tau: [u64; 3],
    pub(super) compute: u128,
}

impl Used {
    pub(super) const NONE: Used = Used { count: 0, tau: [u64::MAX, 0, 0], compute: 0 };

    #[inline]
    pub(super) fn add(&mut self, other: Used) {
        let ([a, b, c], [least, sum, most]) = (self.tau, other.tau);
        self.count += other.count;
        self.tau = [a.min(least), b + sum, c.max(most)];
        self.compute += other.compute;
    }
}
