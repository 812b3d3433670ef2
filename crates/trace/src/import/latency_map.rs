//! Latencies as a JSON object: device → task → milliseconds, as FLASH and others keep them.

use super::{Latencies, Outcome};
use crate::error::shown;
use crate::{Change, Compute, Recording};
use serde_json::Value;

/// The latency of `task` in a device's entry; without a task the only one that it has, which then is the task of
/// all. One that is missing, null or 0 was not measured.
pub(super) fn device(
    device: String,
    entry: Value,
    task: &mut Option<String>,
    latencies: Latencies,
) -> Outcome {
    let Value::Object(tasks) = entry else {
        return Err("expected an object of tasks, each with its latency in ms".into());
    };
    let found = match (&task, tasks.len()) {
        (Some(task), _) => tasks.get(task),
        (None, 0) => None,
        (None, 1) => {
            // What the first device has is what is asked of the others.
            *task = tasks.keys().next().cloned();
            tasks.values().next()
        }
        (None, _) => {
            let names: Vec<_> = tasks.keys().take(10).map(|name| shown(name)).collect();
            return Err(format!("several tasks, choose one with --task: {}", names.join(", ")));
        }
    };
    let millis = match found {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value.as_f64().ok_or("expected a latency in ms, a number")?,
    };
    let nanos = latencies.factor() * millis * 1e6;
    match nanos {
        0.0 => Ok(None),
        nanos if nanos > 0.0 && nanos < 3e17 => {
            let compute = Some(Compute::Sample(nanos));
            let changes = vec![Change { compute, ..Change::default() }];
            Ok(Some(Recording { device, changes, end: None }))
        }
        _ => Err(format!("found {millis:e} ms, expected a latency above 0 and below 10^11 ms")),
    }
}
