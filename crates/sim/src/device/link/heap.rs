//! A heap whose entries can be found again, to take them out or to move them.
//!
//! Nobody searches: where an entry stands is written down under its number, in `places`, whenever
//! it moves. Each entry has four below it instead of two: half as many levels to walk, and the
//! four lie side by side.

/// Numbered entries, the smallest key first.
#[derive(Clone, Debug)]
pub(super) struct Heap<K> {
    entries: Vec<(K, u32)>,
}

impl<K> Default for Heap<K> {
    fn default() -> Self {
        Heap { entries: Vec::new() }
    }
}

/// Where the entry of each number stands in its heap. Heaps whose numbers differ may share one.
pub(super) type Places = [u32];

const CHILDREN: usize = 4;

impl<K: Copy + Ord> Heap<K> {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn first(&self) -> Option<(K, u32)> {
        self.entries.first().copied()
    }

    pub(super) fn push(&mut self, key: K, id: u32, places: &mut Places) {
        let end = self.entries.len();
        self.entries.push((key, id));
        self.rise(end, (key, id), places);
    }

    /// Takes out the entry `id`, which is here, and returns its key.
    pub(super) fn remove(&mut self, id: u32, places: &mut Places) -> K {
        let at = places[id as usize] as usize;
        let (key, found) = self.entries.swap_remove(at);
        debug_assert_eq!(found, id, "an entry is where it was written to be");
        if let Some(&moved) = self.entries.get(at) {
            self.settle(at, moved, places);
        }
        key
    }

    /// Gives the entry `id`, which is here, another key.
    pub(super) fn change(&mut self, key: K, id: u32, places: &mut Places) {
        self.settle(places[id as usize] as usize, (key, id), places);
    }

    /// Puts `entry` where it belongs, given that place `at` is free.
    fn settle(&mut self, at: usize, entry: (K, u32), places: &mut Places) {
        if at > 0 && entry.0 < self.entries[(at - 1) / CHILDREN].0 {
            self.rise(at, entry, places);
        } else {
            self.sink(at, entry, places);
        }
    }

    fn rise(&mut self, mut at: usize, entry: (K, u32), places: &mut Places) {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.entries[parent].0 <= entry.0 {
                break;
            }
            self.put(at, self.entries[parent], places);
            at = parent;
        }
        self.put(at, entry, places);
    }

    fn sink(&mut self, mut at: usize, entry: (K, u32), places: &mut Places) {
        loop {
            let from = at * CHILDREN + 1;
            let to = (from + CHILDREN).min(self.entries.len());
            let Some(least) = (from..to).min_by_key(|&child| self.entries[child].0) else { break };
            if entry.0 <= self.entries[least].0 {
                break;
            }
            self.put(at, self.entries[least], places);
            at = least;
        }
        self.put(at, entry, places);
    }

    fn put(&mut self, at: usize, entry: (K, u32), places: &mut Places) {
        self.entries[at] = entry;
        places[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Any sequence of pushes, changes and removals, against a map searched from end to end.
        #[test]
        fn the_first_is_the_smallest(acts in proptest::collection::vec((0u32..40, 0u64..30), 1..300)) {
            let (mut heap, mut places) = (Heap::default(), vec![0; 40]);
            let mut plain = BTreeMap::new();
            for (id, key) in acts {
                match plain.get(&id) {
                    None => heap.push(key, id, &mut places),
                    Some(_) if key > 10 => heap.change(key, id, &mut places),
                    Some(old) => prop_assert_eq!(heap.remove(id, &mut places), *old),
                }
                if plain.contains_key(&id) && key <= 10 {
                    plain.remove(&id);
                } else {
                    plain.insert(id, key);
                }
                prop_assert_eq!(heap.len(), plain.len());
                prop_assert_eq!(heap.first().map(|(key, _)| key), plain.values().min().copied());
                if let Some((key, id)) = heap.first() {
                    prop_assert_eq!(plain.get(&id), Some(&key));
                }
            }
        }
    }
}
