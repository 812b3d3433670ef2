//! The kind of processor. Native kernels give the same bits on all of them; libtorch chooses its code by kind.

use crate::scenario::Scenario;

/// What the processor of this machine is called.
pub(super) fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    name(&text).unwrap_or_else(|| std::env::consts::ARCH.into())
}

/// The name in `/proc/cpuinfo`; virtual machines may give several kinds one name, so numbers stand beside it.
fn name(text: &str) -> Option<String> {
    let get = |key: &str| {
        let line = text.lines().find(|line| line.split(':').next().unwrap_or("").trim() == key)?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let name = get("model name")?;
    let numbers = [get("cpu family")?, get("model")?, get("stepping")?];
    Some(format!("{name} ({})", numbers.join("/")))
}

/// What there is to say where a run goes on that began on another kind of processor.
pub(super) fn other_processor(scenario: &Scenario, then: &str) -> Option<String> {
    let depends =
        scenario.variants.iter().any(|variant| variant.plan.task.problem.depends_on_processor());
    let now = processor();
    (depends && !then.is_empty() && then != now).then(|| {
        format!(
            "the run began on another kind of processor ({then}, and this is {now}): libtorch may round \
             differently here, so results may differ in their last digits from those of one machine"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_first_core() {
        let text = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Fast @ 2GHz\nstepping\t: 7\n\
                    processor\t: 1\nmodel name\t: Other\n";
        assert_eq!(name(text).as_deref(), Some("Fast @ 2GHz (6/85/7)"));
        assert_eq!(name("Hardware : board"), None);
        assert!(!processor().is_empty());
    }
}
