//! Which clients a run tells of one by one.

use crate::random::{Purpose, shuffle, stream};
use crate::scenario::RecordClients;

/// Which clients get rows: `None` for all. The set depends on the scenario's seed alone, so every
/// variant and repeat tells of the same clients.
pub fn recorded(which: RecordClients, seed: u64, clients: usize) -> Option<Vec<bool>> {
    match which {
        RecordClients::All => None,
        RecordClients::Off => Some(Vec::new()),
        RecordClients::Sample(count) => {
            let mut chosen = vec![false; clients];
            chosen.iter_mut().take(count).for_each(|chosen| *chosen = true);
            shuffle(&mut chosen, &mut stream(seed, Purpose::Recording, 0, 0));
            Some(chosen)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_asked_size_and_depends_on_the_seed_alone() {
        assert_eq!(recorded(RecordClients::All, 1, 9), None);
        assert_eq!(recorded(RecordClients::Off, 1, 9), Some(Vec::new()));
        let sample = |seed| recorded(RecordClients::Sample(3), seed, 100).unwrap();
        assert_eq!(sample(1).iter().filter(|chosen| **chosen).count(), 3);
        assert_eq!(sample(1), sample(1));
        assert_ne!(sample(1), sample(2));
    }
}
