//! Values that are tables in the file, with a key for each of a fixed list of names.

use crate::metric::{Metric, Metrics};
use crate::record::{Account, OUTCOMES, Outcome};
use crate::run_files::latency::{Latencies, LatencySummary, Phase};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// Metrics; `null` where a task has no such metric or its value is not finite.
pub(super) mod metrics {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        metrics: &Metrics,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let value = |metric| metrics.get(metric).filter(|value| value.is_finite());
        to.collect_map(Metric::ALL.map(|metric| (metric.name(), value(metric))))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Metrics, D::Error> {
        let named = BTreeMap::<String, Option<f64>>::deserialize(from)?;
        let mut metrics = Metrics::default();
        for metric in Metric::ALL {
            if let Some(value) = named.get(metric.name()).copied().flatten() {
                metrics.set(metric, value);
            }
        }
        Ok(metrics)
    }
}

/// Latencies by phase.
pub(super) mod latencies {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        latencies: &Latencies,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(Phase::ALL.map(|phase| (phase.name(), latencies.get(phase))))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Latencies, D::Error> {
        let named = BTreeMap::<String, LatencySummary>::deserialize(from)?;
        let mut latencies = Latencies::default();
        for phase in Phase::ALL {
            latencies.set(phase, named.get(phase.name()).copied().unwrap_or_default());
        }
        Ok(latencies)
    }
}

/// Participations by outcome.
pub(super) mod outcomes {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        counts: &[u64; OUTCOMES],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(Outcome::ALL.map(|outcome| (outcome.name(), counts[outcome as usize])))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<[u64; OUTCOMES], D::Error> {
        let named = BTreeMap::<String, u64>::deserialize(from)?;
        Ok(Outcome::ALL.map(|outcome| named.get(outcome.name()).copied().unwrap_or_default()))
    }
}

/// Device time by class, in the order of the classes.
pub(super) mod device_time {
    use super::*;

    /// The account of a class as the file has it.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(default)]
    struct InSeconds {
        compute_seconds: f64,
        idle_seconds: f64,
        offline_seconds: f64,
        transfer_seconds: f64,
    }

    pub(in super::super) fn serialize<S: Serializer>(
        accounts: &[(String, Account)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(accounts.len()))?;
        for (class, Account { compute, transfer, idle, offline }) in accounts {
            let in_seconds = InSeconds {
                compute_seconds: seconds(*compute),
                idle_seconds: seconds(*idle),
                offline_seconds: seconds(*offline),
                transfer_seconds: seconds(*transfer),
            };
            map.serialize_entry(class, &in_seconds)?;
        }
        map.end()
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(String, Account)>, D::Error> {
        from.deserialize_map(InOrder)
    }

    /// A map would sort the classes by name.
    struct InOrder;

    impl<'de> Visitor<'de> for InOrder {
        type Value = Vec<(String, Account)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("device time by class")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut accounts = Vec::new();
            while let Some((class, of)) = map.next_entry::<String, InSeconds>()? {
                let account = Account {
                    compute: nanos(of.compute_seconds),
                    transfer: nanos(of.transfer_seconds),
                    idle: nanos(of.idle_seconds),
                    offline: nanos(of.offline_seconds),
                };
                accounts.push((class, account));
            }
            Ok(accounts)
        }
    }

    pub(in super::super) fn seconds(nanos: u128) -> f64 {
        nanos as f64 / 1e9
    }

    /// Nanoseconds that are written as these seconds again: a product may be rounded past them.
    pub(in super::super) fn nanos(of: f64) -> u128 {
        let product = (of * 1e9).round();
        let near = [product, product.next_up(), product.next_down()];
        let exact = near.into_iter().find(|nanos| seconds(*nanos as u128) == of);
        exact.unwrap_or(product) as u128
    }
}
