//! The user's wish that a run should end.

use super::LocalRun;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set from anywhere, for instance by Ctrl-C. The run ends at the next event; jobs that are being computed
/// are left.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The run should end. Whether somebody has said so before.
    pub fn set(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether the run should end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes `count` local steps of so many floating-point operations each, and looks between a few of
    /// them whether the run should end. Whether all of them were made.
    pub fn steps(&self, run: &mut dyn LocalRun, count: u64, flops: f64) -> bool {
        let chunk = chunk(flops);
        let mut left = count;
        while left > 0 {
            if self.is_set() {
                return false;
            }
            let now = left.min(chunk);
            run.steps(now);
            left -= now;
        }
        run.settle()
    }
}

/// Steps that take about a twentieth of a second on one core, or half a second on a very slow one.
fn chunk(flops: f64) -> u64 {
    const OPERATIONS: f64 = 5e8;
    // Of a plug-in's steps little may be known.
    const UNKNOWN: u64 = 16;
    match flops > 0.0 {
        true => ((OPERATIONS / flops) as u64).max(1),
        false => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes how many steps it is asked for at a time, and interrupts itself after some.
    struct Counting {
        asked: Vec<u64>,
        interrupt: Interrupt,
        until: u64,
    }

    impl LocalRun for Counting {
        fn steps(&mut self, count: u64) {
            self.asked.push(count);
            if self.asked.iter().sum::<u64>() >= self.until {
                self.interrupt.set();
            }
        }

        fn change(self: Box<Self>) -> Vec<f64> {
            Vec::new()
        }
    }

    fn asked(count: u64, flops: f64, until: u64) -> (Vec<u64>, bool) {
        let interrupt = Interrupt::default();
        let mut run = Counting { asked: Vec::new(), interrupt: interrupt.clone(), until };
        let made = interrupt.steps(&mut run, count, flops);
        (run.asked, made)
    }

    #[test]
    fn short_steps_are_taken_in_one_go_and_long_ones_one_by_one() {
        assert_eq!(asked(1000, 1e4, u64::MAX), (vec![1000], true));
        assert_eq!(asked(3, 1e9, u64::MAX), (vec![1, 1, 1], true));
        assert_eq!(asked(40, 0.0, u64::MAX), (vec![16, 16, 8], true), "a plug-in does not say");
    }

    #[test]
    fn steps_are_left_when_the_run_should_end() {
        assert_eq!(asked(5, 1e9, 2), (vec![1, 1], false));
        assert_eq!(asked(2, 1e9, 2), (vec![1, 1], true), "all were made by then");
        let interrupt = Interrupt::default();
        interrupt.set();
        let mut run = Counting { asked: Vec::new(), interrupt: interrupt.clone(), until: 1 };
        assert!(!interrupt.steps(&mut run, 1, 1.0));
        assert!(run.asked.is_empty());
    }
}
