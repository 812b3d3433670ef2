//! Limits of control groups, of version 1 and 2.
//!
//! A group's limit holds for all its processes together, and for the groups below it: the path is followed
//! up to the root. In a container the root that is seen is the container's own group, and the path may be
//! one outside of it that does not exist here; the root counts in any case.

use std::path::Path;

/// The names that a version has for its files.
struct GroupFiles {
    limit: &'static str,
    used: &'static str,
    /// Pages of files in `memory.stat`, which the system takes back when memory is short.
    cached: [&'static str; 2],
}

const V1: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: ["total_active_file", "total_inactive_file"],
};
const V2: GroupFiles = GroupFiles {
    limit: "memory.max",
    used: "memory.current",
    cached: ["active_file", "inactive_file"],
};

/// Version 1 says "no limit" with the largest multiple of a page.
const UNLIMITED: f64 = 1e18;

/// Bytes that are left to this process, of which `/proc/self/cgroup` has this text; `None`: no group has a
/// limit.
pub(super) fn left(root: &Path, groups: &str) -> Option<f64> {
    let mounts = root.join("sys/fs/cgroup");
    let left = groups.lines().flat_map(|line| {
        // hierarchy:controllers:path
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let memory = controllers.split(',').any(|name| name == "memory");
        match (controllers, memory) {
            // Beside version 1, version 2 is mounted further down.
            ("", _) => [mounts.clone(), mounts.join("unified")]
                .iter()
                .filter_map(|mount| least(mount, path, &V2))
                .collect(),
            (_, true) => Vec::from_iter(least(&mounts.join("memory"), path, &V1)),
            _ => Vec::new(),
        }
    });
    left.min_by(f64::total_cmp)
}

/// The least that a group and those above it leave.
fn least(mount: &Path, path: &str, files: &GroupFiles) -> Option<f64> {
    let below = Path::new(path.trim_start_matches('/'));
    let inside = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let below = if inside { below } else { Path::new("") };
    let folders = below.ancestors().map(|group| mount.join(group));
    folders.filter_map(|folder| left_of(&folder, files)).min_by(f64::total_cmp)
}

fn left_of(folder: &Path, files: &GroupFiles) -> Option<f64> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let limit: f64 = read(files.limit)?.trim().parse().ok().filter(|limit| *limit < UNLIMITED)?;
    let used: f64 = read(files.used).and_then(|text| text.trim().parse().ok()).unwrap_or(0.0);
    let stat = read("memory.stat").unwrap_or_default();
    let cached: f64 = stat
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| files.cached.contains(name))
        .filter_map(|(_, bytes)| bytes.trim().parse::<f64>().ok())
        .sum();
    Some((limit - (used - cached).max(0.0)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::system;
    use super::*;

    #[test]
    fn the_tightest_group_of_a_path_counts() {
        let files = [
            ("sys/fs/cgroup/memory.max", "max\n"),
            ("sys/fs/cgroup/slurm/memory.max", "1000\n"),
            ("sys/fs/cgroup/slurm/memory.current", "400\n"),
            ("sys/fs/cgroup/slurm/memory.stat", "anon 300\nactive_file 50\ninactive_file 40\n"),
            ("sys/fs/cgroup/slurm/job/memory.max", "900\n"),
            ("sys/fs/cgroup/slurm/job/memory.current", "100\n"),
            ("sys/fs/cgroup/other/memory.max", "1\n"),
        ];
        let root = system(&files);
        let left = |groups: &str| left(root.path(), groups);
        assert_eq!(left("0::/slurm/job\n"), Some(690.0), "1000 − (400 − 90)");
        assert_eq!(left("0::/slurm\n"), Some(690.0));
        assert_eq!(left("0::/\n"), None, "no limit");
        assert_eq!(left("0::/slurm/job/task_0\n"), Some(690.0), "a group without files");
        assert_eq!(left("0::/../../other\n"), None, "outside of what is seen here");
        for odd in ["", "rubbish", "0::", "4:cpu,cpuacct:/other\n", ":::\n"] {
            assert_eq!(left(odd), None, "{odd}");
        }
    }

    #[test]
    fn version_1_has_other_names() {
        let files = [
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n"),
            ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3000\n"),
            ("sys/fs/cgroup/memory/job/memory.stat", "cache 9\ntotal_inactive_file 1000\n"),
        ];
        let root = system(&files);
        let groups = "12:pids:/job\n4:memory:/job\n0::/job\n";
        assert_eq!(left(root.path(), groups), Some(3000.0), "5000 − (3000 − 1000)");
        assert_eq!(left(root.path(), "4:cpu,memory:/\n"), None);
    }

    /// Inside a container without a namespace the path is the host's, and the root is the container's group.
    #[test]
    fn a_path_that_is_not_there_leaves_the_root() {
        let files = [
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "700\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "200\n"),
        ];
        let root = system(&files);
        assert_eq!(left(root.path(), "4:memory:/docker/0a1b2c\n"), Some(500.0));
    }
}
