//! A client's change as it travels: in the precision in which it was computed, and with the same bits.

use gruppetto_sim::train::Model;

/// Δ of a local run.
#[derive(Debug, PartialEq)]
pub(crate) enum Change {
    /// Every entry is a single-precision number.
    Single(Vec<f32>),
    /// The difference of two such numbers often is none. Then this is where the run ended: rank 0 knows where it
    /// began.
    End(Vec<f32>),
    /// Neither.
    Double(Vec<f64>),
}

impl Change {
    /// The smallest form from which [`Change::unpack`] gives the same bits.
    pub(crate) fn pack(delta: Vec<f64>, model: &Model) -> Change {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
        if delta.iter().all(|&d| same(f64::from(d as f32), d)) {
            return Change::Single(delta.iter().map(|&d| d as f32).collect());
        }
        let mut ends = Vec::with_capacity(model.len());
        for (&d, &then) in delta.iter().zip(model.narrow()) {
            let end = (f64::from(then) + d) as f32;
            if !same(f64::from(end) - f64::from(then), d) {
                break;
            }
            ends.push(end);
        }
        if ends.len() == delta.len() {
            return Change::End(ends);
        }
        Change::Double(delta)
    }

    /// Δ, where `model` is the version that the run began with.
    pub(crate) fn unpack(self, model: &Model) -> Vec<f64> {
        match self {
            Change::Single(delta) => delta.into_iter().map(f64::from).collect(),
            Change::End(end) => end
                .iter()
                .zip(model.narrow())
                .map(|(now, then)| f64::from(*now) - f64::from(*then))
                .collect(),
            Change::Double(delta) => delta,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn what_is_unpacked_has_the_bits_that_were_packed() {
        let model = Model::new(vec![1.0, 0.1, -3e-30, 1e30]);
        let ends: [f32; 4] = [1.25, 0.3, 7.5, 1.1e30];
        let differences: Vec<f64> = ends
            .iter()
            .zip(model.narrow())
            .map(|(now, then)| f64::from(*now) - f64::from(*then))
            .collect();
        let cases = [
            (vec![0.5, -0.25, 0.0, -0.0], 0),
            (differences, 1),
            (vec![0.1, 0.2, 0.3, 1e-300], 2),
            (vec![f64::NAN, f64::INFINITY, 0.1, 0.0], 2),
            // Of buffers there may be more than of parameters.
            (vec![0.1; 5], 2),
        ];
        for (delta, form) in cases {
            let packed = Change::pack(delta.clone(), &model);
            let found = match &packed {
                Change::Single(_) => 0,
                Change::End(_) => 1,
                Change::Double(_) => 2,
            };
            assert_eq!(found, form, "{delta:?}");
            assert_eq!(bits(&packed.unpack(&model)), bits(&delta));
        }
    }
}
