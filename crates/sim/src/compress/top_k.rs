//! Only the largest numbers of an update.

/// How many are sent of so many: that part, rounded, and at least one.
pub(super) fn count(part: f64, parameters: usize) -> usize {
    ((part * parameters as f64).round() as usize).clamp(1, parameters)
}

/// Zeroes all but the `count` numbers of largest magnitude; of equals the first are kept. What is
/// no number counts as larger than all.
pub(super) fn keep_largest(update: &mut [f64], count: usize) {
    let Some(smaller) = update.len().checked_sub(count).filter(|smaller| *smaller > 0) else {
        return;
    };
    // Magnitudes are in the order of their bits, and whole numbers are compared faster.
    let mut sizes: Vec<u64> = update.iter().map(|value| magnitude(*value)).collect();
    let (_, least, larger) = sizes.select_nth_unstable(smaller);
    let least = *least;
    let mut equals = count - larger.iter().filter(|size| **size > least).count();
    for value in update {
        match magnitude(*value) {
            size if size > least => {}
            size if size == least && equals > 0 => equals -= 1,
            _ => *value = 0.0,
        }
    }
}

fn magnitude(value: f64) -> u64 {
    value.abs().to_bits()
}
