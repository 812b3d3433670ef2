//! A whole trace in memory, ready to be replayed.

use crate::{Input, Recordings, TraceError};
use gruppetto_sim::device::TraceStore;

/// Reads a whole trace; of devices whose name begins with `prefix` only.
pub fn read_store(input: &Input, prefix: &str) -> Result<TraceStore, TraceError> {
    let mut trace = TraceStore::default();
    for recording in Recordings::read(input)? {
        let recording = recording?;
        if recording.device.starts_with(prefix) {
            trace.add(&recording);
        }
    }
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gruppetto_sim::device::{Compute, Point, Toggle};

    fn trace(text: &str) -> TraceStore {
        read_store(&Input::bytes("test.csv", text.as_bytes().to_vec()), "").unwrap()
    }

    #[test]
    fn what_is_not_told_holds_on_and_before_it_is_told_is_what_comes() {
        let trace = trace(
            "device,time [s],step_time [ms],up [Mbps],available\n\
             a,1,10,,1\na,2,,3,\na,3,20,,0\na,9,,,\nb,0,5,,\n",
        );
        let step = |ms: f64| Some(Compute::Step(ms * 1e6));
        let point =
            |s: u64, ms, up| Point { at: s * 1_000_000_000, compute: step(ms), up, down: None };
        assert_eq!(
            trace.points(0),
            [
                point(0, 10.0, Some(3_000_000)),
                point(2, 10.0, Some(3_000_000)),
                point(3, 20.0, Some(3_000_000))
            ]
        );
        let toggle = |s: u64, there| Toggle::new(s * 1_000_000_000, there);
        assert_eq!(trace.toggles(0), [toggle(1, true), toggle(3, false)]);
        assert_eq!((trace.length(0), trace.length(1)), (9_000_000_000, 0));
        assert!(trace.toggles(1).is_empty());
        assert!(trace.knows_its_ends() && trace.tells_compute() && trace.tells_availability());
        assert!(!trace.tells_up() && !trace.tells_down(), "only one recording tells its uplink");
    }

    #[test]
    fn devices_are_taken_by_the_beginning_of_their_name() {
        let text = "device,time [s],step_time [ms]\nfast-1,0,1\nslow-1,0,9\nfast-2,0,2\n";
        let input = Input::bytes("test.csv", text.as_bytes().to_vec());
        assert_eq!(read_store(&input, "fast").unwrap().len(), 2);
        assert!(read_store(&input, "medium").unwrap().is_empty());
    }
}
