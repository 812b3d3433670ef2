//! A curve of any length in bounded memory.

/// Points that are kept: a terminal has no more dots than that from left to right.
const MOST: usize = 512;

/// Values over simulated time. When there are too many, every second one goes; the last one stays.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    points: Vec<(f64, f64)>,
    /// One in so many is kept.
    stride: u64,
    seen: u64,
    last: Option<(f64, f64)>,
}

impl Default for Curve {
    fn default() -> Self {
        Curve { points: Vec::new(), stride: 1, seen: 0, last: None }
    }
}

impl Curve {
    /// Adds a value at a time in seconds. What is not finite cannot be drawn and is left out.
    pub(super) fn push(&mut self, seconds: f64, value: f64) {
        if !seconds.is_finite() || !value.is_finite() {
            return;
        }
        if self.seen.is_multiple_of(self.stride) {
            if self.points.len() == MOST {
                let mut index = 0;
                self.points.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.stride *= 2;
            }
            if self.seen.is_multiple_of(self.stride) {
                self.points.push((seconds, value));
            }
        }
        self.seen += 1;
        self.last = Some((seconds, value));
    }

    /// The points that are left, in order, the last one among them.
    pub(super) fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let more = self.last.filter(|last| self.points.last() != Some(last));
        self.points.iter().copied().chain(more)
    }

    /// The last value.
    pub(super) fn last(&self) -> Option<f64> {
        self.last.map(|(_, value)| value)
    }

    /// Whether there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_thinned_evenly_and_keep_their_ends() {
        let mut curve = Curve::default();
        for n in 0..1_000_000 {
            curve.push(f64::from(n), f64::from(n) * 2.0);
        }
        let points: Vec<(f64, f64)> = curve.points().collect();
        assert!((MOST / 2..=MOST + 1).contains(&points.len()), "{}", points.len());
        assert_eq!(points[0], (0.0, 0.0));
        assert_eq!(*points.last().unwrap(), (999_999.0, 1_999_998.0));
        let steps: Vec<f64> = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        assert!(steps[..steps.len() - 1].windows(2).all(|pair| pair[0] == pair[1]), "evenly");
    }

    #[test]
    fn what_is_not_finite_is_left_out() {
        let mut curve = Curve::default();
        curve.push(1.0, f64::NAN);
        curve.push(2.0, f64::INFINITY);
        assert!(curve.is_empty());
        curve.push(3.0, 1.0);
        assert_eq!(curve.points().collect::<Vec<_>>(), [(3.0, 1.0)]);
    }
}
