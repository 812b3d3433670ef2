//! Curves of a bounded number of points.

/// Every so many-th of the values it was given, and the last.
#[derive(Clone, Debug)]
pub(super) struct Thinned<T> {
    kept: Vec<T>,
    last: Option<T>,
    most: usize,
    every: u64,
    seen: u64,
}

impl<T: Clone> Thinned<T> {
    /// At most `most` values, which is at least 2.
    pub(super) fn new(most: usize) -> Self {
        Thinned { kept: Vec::new(), last: None, most: most.max(2), every: 1, seen: 0 }
    }

    pub(super) fn add(&mut self, value: T) {
        if self.seen.is_multiple_of(self.every) {
            if self.kept.len() + 1 >= self.most {
                // Half of them will do from now on.
                let mut index = 0;
                self.kept.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.kept.push(value.clone());
                self.last = None;
                self.seen += 1;
                return;
            }
        }
        self.last = Some(value);
        self.seen += 1;
    }

    /// What is left, with the last of all.
    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().chain(&self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_all_kept_and_many_evenly() {
        for count in [0u64, 1, 5, 99, 100, 101, 1000, 123_457] {
            let mut thinned = Thinned::new(100);
            (0..count).for_each(|value| thinned.add(value));
            let kept: Vec<u64> = thinned.values().copied().collect();
            assert!(kept.len() <= 100, "{count}: {}", kept.len());
            assert_eq!(kept.last().copied(), count.checked_sub(1));
            assert_eq!(kept.first().copied(), (count > 0).then_some(0));
            if count < 100 {
                assert_eq!(kept.len() as u64, count);
            } else {
                assert!(kept.len() >= 49);
                let inner = &kept[..kept.len() - 1];
                let gap = inner[1] - inner[0];
                assert!(inner.windows(2).all(|pair| pair[1] - pair[0] == gap), "{count}");
            }
        }
    }
}
