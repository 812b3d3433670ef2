//! Crop and flip: every image a step sees is shifted by up to four pixels each way and mirrored every
//! other time, as is usual for CIFAR.
//!
//! What comes in at the edges is zero *after* standardisation, the mean colour of the training set,
//! and not black. Draws come from a stream of their own for every client and round, so they are the
//! same whatever the thread and however the batches are drawn.

use crate::random::{Purpose, Stream, index, stream};

/// What is done to training images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Augment {
    /// Nothing.
    None,
    /// A random crop after padding by [`PADDING`], and a mirror image half the time.
    CropFlip,
}

/// Pixels around an image from which a crop may come.
pub const PADDING: usize = 4;

/// One draw of a crop and a flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CropFlip {
    /// Rows of padding above the crop that are skipped, 0 to 8; 4 is no shift.
    pub down: usize,
    /// The same for columns.
    pub right: usize,
    /// Whether the crop is mirrored.
    pub mirrored: bool,
}

impl CropFlip {
    /// The stream of a client's draws in a round.
    pub fn stream(seed: u64, client: u32, round: u64) -> Stream {
        stream(seed, Purpose::Augmentation, client.into(), round)
    }

    /// Draws what is done to the next image: three numbers of the stream, always.
    pub fn draw(rng: &mut Stream) -> Self {
        let span = 2 * PADDING as u32 + 1;
        let (down, right) = (index(rng, span) as usize, index(rng, span) as usize);
        CropFlip { down, right, mirrored: index(rng, 2) == 1 }
    }

    /// Standardises `sample`, an image of shape [channels, height, width], by `levels` (see
    /// [`Dataset::levels`](super::Dataset::levels)) into `out`, cropped and flipped.
    ///
    /// # Panics
    /// If `sample`, `levels` or `out` are not of that shape.
    pub fn apply(self, shape: [usize; 3], sample: &[u8], levels: &[[f32; 256]], out: &mut [f32]) {
        let [channels, height, width] = shape;
        assert!(sample.len() == channels * height * width && out.len() == sample.len());
        let planes = sample.chunks_exact(height * width).zip(out.chunks_exact_mut(height * width));
        for ((plane, out), levels) in planes.zip(&levels[..channels]) {
            for (y, row) in out.chunks_exact_mut(width).enumerate() {
                let from = (y + self.down).checked_sub(PADDING).filter(|y| *y < height);
                for (x, value) in row.iter_mut().enumerate() {
                    let x = if self.mirrored { width - 1 - x } else { x };
                    let x = (x + self.right).checked_sub(PADDING).filter(|x| *x < width);
                    *value = match (from, x) {
                        (Some(y), Some(x)) => levels[plane[y * width + x] as usize],
                        _ => 0.0,
                    };
                }
            }
        }
    }
}

/// Draws a crop and a flip from `rng` and does them to `sample`; see [`CropFlip::apply`].
pub fn crop_flip(
    shape: [usize; 3],
    sample: &[u8],
    levels: &[[f32; 256]],
    rng: &mut Stream,
    out: &mut [f32],
) {
    CropFlip::draw(rng).apply(shape, sample, levels, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixel values as they are, and something else in the second channel.
    fn levels() -> Vec<[f32; 256]> {
        vec![std::array::from_fn(|v| v as f32), std::array::from_fn(|v| -(v as f32))]
    }

    fn apply(down: usize, right: usize, mirrored: bool) -> Vec<f32> {
        let mut out = vec![f32::NAN; 12];
        let sample: Vec<u8> = (1..=12).collect();
        CropFlip { down, right, mirrored }.apply([2, 2, 3], &sample, &levels(), &mut out);
        out
    }

    #[test]
    fn crops_and_flips_by_hand() {
        let plain: Vec<f32> =
            (1..=6).map(|v| v as f32).chain((7..=12).map(|v| -v as f32)).collect();
        assert_eq!(apply(4, 4, false), plain);
        assert_eq!(apply(4, 4, true)[..6], [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
        // One row further down: the last row comes from below the image.
        assert_eq!(apply(5, 4, false)[..6], [4.0, 5.0, 6.0, 0.0, 0.0, 0.0]);
        // One column to the left: the first column comes from outside.
        assert_eq!(apply(4, 3, false)[..6], [0.0, 1.0, 2.0, 0.0, 4.0, 5.0]);
        // The crop comes before the flip.
        assert_eq!(apply(4, 3, true)[..6], [2.0, 1.0, 0.0, 5.0, 4.0, 0.0]);
        assert_eq!(apply(0, 0, false), [0.0; 12]);
        assert_eq!(apply(8, 8, true), [0.0; 12]);
    }

    #[test]
    fn every_crop_is_equally_likely() {
        let mut rng = CropFlip::stream(1, 2, 3);
        let mut counts = [[0u32; 9]; 2];
        let mut mirrored = 0;
        for _ in 0..18_000 {
            let drawn = CropFlip::draw(&mut rng);
            counts[0][drawn.down] += 1;
            counts[1][drawn.right] += 1;
            mirrored += u32::from(drawn.mirrored);
        }
        assert!(counts.iter().flatten().all(|n| (1800..2200).contains(n)), "{counts:?}");
        assert!((8700..9300).contains(&mirrored));
    }

    #[test]
    fn clients_and_rounds_have_their_own_draws() {
        let of = |client, round| {
            let mut rng = CropFlip::stream(1, client, round);
            [(); 8].map(|()| CropFlip::draw(&mut rng))
        };
        assert_eq!(of(1, 1), of(1, 1));
        assert!(of(1, 1) != of(2, 1) && of(1, 1) != of(1, 2));
    }
}
