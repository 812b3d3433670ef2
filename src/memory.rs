//! How much memory this process may still take, and files read with a bound.
//!
//! The machine's free memory is one bound. A batch system or a container sets others, which are often much
//! lower: limits of the process (`ulimit`) and of its control group and the groups above that. What is left is
//! the least of all. A process that goes beyond them fails in the middle of a run, or is killed.

mod bounded;
mod cgroup;

pub(crate) use bounded::{Bounded, read_at_most};

use std::path::Path;

/// Memory that can be had now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemoryLeft {
    /// How many bytes.
    pub bytes: f64,
    /// What bounds them.
    pub bound: MemoryBound,
}

/// What bounds the memory of this process.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MemoryBound {
    /// All that the machine has free.
    Machine,
    /// A limit of the process; how a shell sets it.
    Process(&'static str),
    /// The limit of a control group, as of a container or a batch job.
    ControlGroup,
}

impl MemoryLeft {
    /// The amount and what it is bound by, as in "1.2 GB are free (limit of the control group)".
    pub(crate) fn describe(&self) -> String {
        let free = format!("{:.1} GB are free", self.bytes / 1e9);
        match self.bound {
            MemoryBound::Machine => free,
            MemoryBound::Process(limit) => format!("{free} below the limit of `{limit}`"),
            MemoryBound::ControlGroup => {
                format!("{free} below the limit of the control group (container or batch job)")
            }
        }
    }
}

/// Memory that can be had now; `None` where the system does not say.
pub(crate) fn available() -> Option<MemoryLeft> {
    available_below(Path::new("/"))
}

/// The same of a system whose files are below `root`.
fn available_below(root: &Path) -> Option<MemoryLeft> {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let machine = kilobytes(&read("proc/meminfo"), "MemAvailable:");
    let machine = machine.map(|bytes| MemoryLeft { bytes, bound: MemoryBound::Machine });
    let (limits, status) = (read("proc/self/limits"), read("proc/self/status"));
    let process = PROCESS_LIMITS.iter().filter_map(|(limit, used, shell)| {
        let left = soft_limit(&limits, limit)? - kilobytes(&status, used).unwrap_or(0.0);
        Some(MemoryLeft { bytes: left.max(0.0), bound: MemoryBound::Process(shell) })
    });
    let group = cgroup::left(root, &read("proc/self/cgroup"));
    let group = group.map(|bytes| MemoryLeft { bytes, bound: MemoryBound::ControlGroup });
    machine.into_iter().chain(process).chain(group).min_by(|a, b| a.bytes.total_cmp(&b.bytes))
}

/// Limits of a process as `/proc/self/limits` calls them, what counts towards them in `/proc/self/status`,
/// and how they are set. Linux does not enforce the one on resident memory.
const PROCESS_LIMITS: [(&str, &str, &str); 2] =
    [("Max address space", "VmSize:", "ulimit -v"), ("Max data size", "VmData:", "ulimit -d")];

/// The value of a line like `VmSize:  1234 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(1024.0 * line.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// The soft limit of a line like `Max data size  unlimited  unlimited  bytes`, if there is one.
fn soft_limit(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system with these files.
    pub(super) fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    const MEMINFO: (&str, &str) =
        ("proc/meminfo", "MemTotal:       65536 kB\nMemAvailable:   32768 kB\n");
    const STATUS: (&str, &str) = (
        "proc/self/status",
        "Name:\tx\nVmPeak:\t 4096 kB\nVmSize:\t    2048 kB\nVmData:\t 1024 kB\n",
    );

    fn limits(space: &str, data: &str) -> String {
        format!(
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max data size             {data}            unlimited            bytes     \n\
             Max address space         {space}            unlimited            bytes     \n"
        )
    }

    #[test]
    fn the_least_bound_counts() {
        let left = |files: &[(&str, &str)]| available_below(system(files).path());
        let of = |megabytes: u32, bound| {
            Some(MemoryLeft { bytes: f64::from(megabytes) * 1048576.0, bound })
        };
        assert_eq!(left(&[]), None, "a system that says nothing");
        assert_eq!(left(&[MEMINFO]), of(32, MemoryBound::Machine));
        let with = |text: &str| left(&[MEMINFO, STATUS, ("proc/self/limits", text)]);
        assert_eq!(with(&limits("unlimited", "unlimited")), of(32, MemoryBound::Machine));
        let space = MemoryBound::Process("ulimit -v");
        assert_eq!(with(&limits("16777216", "unlimited")), of(14, space.clone()));
        let data = MemoryBound::Process("ulimit -d");
        assert_eq!(with(&limits("16777216", "8388608")), of(7, data));
        assert_eq!(with(&limits("1048576", "8388608")), of(0, space), "more is used than allowed");
        assert_eq!(with("rubbish\nMax data size\n"), of(32, MemoryBound::Machine));
        let group = ("proc/self/cgroup", "0::/job\n");
        let max = ("sys/fs/cgroup/job/memory.max", "4194304\n");
        let used = ("sys/fs/cgroup/job/memory.current", "1048576\n");
        assert_eq!(left(&[MEMINFO, group, max, used]), of(3, MemoryBound::ControlGroup));
    }

    #[test]
    fn this_process_has_some_left() {
        if cfg!(target_os = "linux") {
            assert!(available().unwrap().bytes > 1e6);
        }
    }
}
