//! Data sets and fleets that cells have in common: each is made once and kept for those that come later.
//!
//! A trainer has no state of its own, and devices do not change: what cells make of them is theirs. So cells with the
//! same task, batch and seed train on the same data, and cells with the same fleet have the same devices, side by side
//! or one after the other. What was not used for longest goes when there is too much of it.

use super::build::BuildError;
use crate::data::TaskConfig;
use crate::device::FleetConfig;
use crate::memory;
use crate::scenario::{DrawnFleet, Plan};
use crate::train::{DeviceChoice, Trainer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What part of the memory that is left may be kept for cells that come later.
const PART: f64 = 0.25;

/// The trainers and fleets that were made.
pub(super) struct SharedParts {
    trainers: KeptParts<TrainerKey, Arc<dyn Trainer>>,
    fleets: KeptParts<FleetKey, DrawnFleet>,
}

/// What a trainer depends on.
#[derive(Clone, PartialEq)]
struct TrainerKey {
    task: TaskConfig,
    batch: usize,
    seed: u64,
    device: DeviceChoice,
}

/// What devices and the work of clients depend on.
#[derive(Clone, PartialEq)]
struct FleetKey {
    task: TaskConfig,
    fleet: FleetConfig,
    batch: usize,
    seed: u64,
    /// Bits of a model and of an update, and whether links are looked at one by one.
    travels: (u64, u64, bool),
}

impl SharedParts {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        let left = memory::available().map_or(f64::MAX, |available| available.bytes) * PART;
        SharedParts { trainers: KeptParts::new(left / 2.0), fleets: KeptParts::new(left / 2.0) }
    }

    /// The trainer of a plan's task with a seed.
    pub(super) fn trainer(
        &self,
        plan: &Plan,
        (seed, device): (u64, DeviceChoice),
        make: impl FnOnce() -> Result<Arc<dyn Trainer>, BuildError>,
    ) -> Result<Arc<dyn Trainer>, BuildError> {
        // A plug-in keeps what it made itself, and may have a state.
        if plan.task.kind == "plugin" {
            return make();
        }
        let (task, batch) = (plan.task.clone(), plan.client.batch.size());
        let samples = plan.task.clients as f64 * plan.task.problem.typical_samples();
        let bytes = plan.task.data_bytes(samples);
        self.trainers.get(TrainerKey { task, batch, seed, device }, bytes, make)
    }

    /// The devices of a plan with a seed.
    pub(super) fn fleet(&self, plan: &Plan, seed: u64) -> Result<DrawnFleet, BuildError> {
        let make = || Ok(plan.draw_fleet(seed)?);
        if plan.task.kind == "plugin" {
            return make();
        }
        let payload = plan.payload();
        let key = FleetKey {
            task: plan.task.clone(),
            fleet: plan.fleet.clone(),
            batch: plan.client.batch.size(),
            seed,
            travels: (payload.down, payload.up, plan.has_wires()),
        };
        self.fleets.get(key, 64.0 * plan.task.clients as f64, make)
    }
}

/// Things that take long to make, by what they depend on.
struct KeptParts<K, V> {
    /// The one used last is the last.
    entries: Mutex<Vec<Entry<K, V>>>,
    most: f64,
}

struct Entry<K, V> {
    key: K,
    bytes: f64,
    /// Locked while it is made: others who want the same wait for it.
    made: Arc<Mutex<Option<V>>>,
}

impl<K: Clone + PartialEq, V: Clone> KeptParts<K, V> {
    fn new(most: f64) -> Self {
        KeptParts { entries: Mutex::new(Vec::new()), most }
    }

    fn get<E>(&self, key: K, bytes: f64, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let made = self.entry(key, bytes);
        let mut made = locked(&made);
        if let Some(made) = &*made {
            return Ok(made.clone());
        }
        let new = make()?;
        *made = Some(new.clone());
        Ok(new)
    }

    fn entry(&self, key: K, bytes: f64) -> Arc<Mutex<Option<V>>> {
        let mut entries = locked(&self.entries);
        let found = entries.iter().position(|entry| entry.key == key);
        let entry = match found {
            Some(at) => entries.remove(at),
            None => Entry { key, bytes, made: Arc::default() },
        };
        let made = entry.made.clone();
        entries.push(entry);
        let mut all: f64 = entries.iter().map(|entry| entry.bytes).sum();
        while all > self.most && entries.len() > 1 {
            all -= entries.remove(0).bytes;
        }
        made
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn what_was_made_is_found_again_until_there_is_too_much() {
        let (shelf, made) = (KeptParts::<u32, u32>::new(20.0), AtomicUsize::new(0));
        let get = |key: u32| {
            let make = || {
                made.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Infallible>(key * 2)
            };
            let Ok(value) = shelf.get(key, 10.0, make);
            assert_eq!(value, key * 2);
            made.load(Ordering::Relaxed)
        };
        assert_eq!([get(1), get(1), get(2), get(1), get(3), get(1), get(2)], [1, 1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn who_wants_the_same_waits_for_it() {
        let (shelf, made) = (KeptParts::<u32, u32>::new(1e9), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let make = || {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        made.fetch_add(1, Ordering::Relaxed);
                        Ok::<_, Infallible>(7)
                    };
                    let Ok(value) = shelf.get(1, 1.0, make);
                    assert_eq!(value, 7);
                });
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }
}
