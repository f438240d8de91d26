//! How much memory the process has needed, and how much more there is.

use std::fs::read_to_string;
use std::path::{Component, Path};

/// The largest resident memory of the process so far; none where the system does not tell.
pub fn peak_bytes() -> Option<u64> {
    kilobytes(&read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The memory that the process may still take; none where the system does not tell. The limits of the control groups that it
/// is in count, as a container has them.
pub fn available_bytes() -> Option<u64> {
    available_under(Path::new("/"))
}

/// The same with the files of the system below a folder.
fn available_under(root: &Path) -> Option<u64> {
    let of_machine =
        read_to_string(root.join("proc/meminfo")).ok().and_then(|text| kilobytes(&text, "MemAvailable:"));
    [of_machine, free_in_groups(root)].into_iter().flatten().min()
}

/// The number of a line as `MemAvailable:  123 kB`, in bytes.
fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What the groups of the process leave free; none without a limit.
///
/// `/proc/self/cgroup` has a line `0::/path` for the one hierarchy of version 2, and one `number:controllers:/path` for each
/// of version 1. A limit of any group from the process's own up to the root counts.
fn free_in_groups(root: &Path) -> Option<u64> {
    let groups = read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounted = root.join("sys/fs/cgroup");
    let mut free = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let of_hierarchy = if number == "0" && controllers.is_empty() {
            // Beside version 1 that of version 2 has a folder of its own, and no memory.
            least_free(&mounted, path, ["memory.max", "memory.current"])
        } else if controllers.split(',').any(|controller| controller == "memory") {
            least_free(&mounted.join("memory"), path, ["memory.limit_in_bytes", "memory.usage_in_bytes"])
        } else {
            None
        };
        free = [free, of_hierarchy].into_iter().flatten().min();
    }
    free
}

/// The least of limit − usage in a group and those above it.
///
/// In a container the root that is mounted may be the group itself, which the path then names as the host sees it: groups
/// that are not there are passed over.
fn least_free(mounted: &Path, path: &str, [limit, usage]: [&str; 2]) -> Option<u64> {
    let number = |file: &Path| read_to_string(file).ok()?.trim().parse::<u64>().ok();
    // Outside of its own namespace a group begins with `..`, and none of that is mounted.
    let own: Vec<_> = Path::new(path)
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .map(Component::as_os_str)
        .collect();
    let groups =
        (0..=own.len()).map(|depth| mounted.join(own[..depth].iter().collect::<std::path::PathBuf>()));
    groups
        .filter_map(|group| {
            // Without a limit version 2 says `max`, which is no number.
            let most = number(&group.join(limit)).filter(|&most| most < UNLIMITED)?;
            Some(most.saturating_sub(number(&group.join(usage))?))
        })
        .min()
}

/// Without a limit version 1 says the largest number of whole pages, whatever their size.
const UNLIMITED: u64 = 1 << 62;

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};

    use tempfile::{TempDir, tempdir};

    use super::*;

    /// A system with 8 GB and these files.
    fn system(files: &[(&str, &str)]) -> TempDir {
        let folder = tempdir().unwrap();
        let meminfo = ("proc/meminfo", "MemTotal:  9000000 kB\nMemAvailable:    8000000 kB\n");
        for (name, text) in files.iter().chain([&meminfo]) {
            let path = folder.path().join(name);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, text).unwrap();
        }
        folder
    }

    fn available(files: &[(&str, &str)]) -> Option<u64> {
        available_under(system(files).path())
    }

    #[test]
    fn without_groups_or_limits_the_machine_counts() {
        assert_eq!(available(&[]), Some(8_192_000_000));
        let unlimited = [
            ("proc/self/cgroup", "0::/user/run\n"),
            ("sys/fs/cgroup/user/memory.max", "max\n"),
            ("sys/fs/cgroup/user/run/memory.max", "max\n"),
            ("sys/fs/cgroup/user/run/memory.current", "1000\n"),
        ];
        assert_eq!(available(&unlimited), Some(8_192_000_000));
        assert_eq!(available_under(tempdir().unwrap().path()), None);
    }

    #[test]
    fn the_tightest_of_nested_groups_of_version_2_counts() {
        let nested = |own: &str, above: &str| {
            available(&[
                ("proc/self/cgroup", "0::/slice/run/job\n"),
                ("sys/fs/cgroup/slice/memory.max", above),
                ("sys/fs/cgroup/slice/memory.current", "3000000\n"),
                ("sys/fs/cgroup/slice/run/memory.max", "max\n"),
                ("sys/fs/cgroup/slice/run/memory.current", "2000000\n"),
                ("sys/fs/cgroup/slice/run/job/memory.max", own),
                ("sys/fs/cgroup/slice/run/job/memory.current", "1000000\n"),
            ])
        };
        assert_eq!(nested("5000000\n", "max\n"), Some(4_000_000));
        assert_eq!(nested("5000000\n", "4000000\n"), Some(1_000_000));
        assert_eq!(nested("max\n", "4000000\n"), Some(1_000_000));
        assert_eq!(nested("500000\n", "4000000\n"), Some(0), "more in use than allowed");
    }

    #[test]
    fn a_container_sees_its_own_group_at_the_root() {
        for path in ["0::/\n", "0::/docker/abc\n", "0::/../other\n"] {
            let files = [
                ("proc/self/cgroup", path),
                ("sys/fs/cgroup/memory.max", "5000000\n"),
                ("sys/fs/cgroup/memory.current", "2000000\n"),
            ];
            assert_eq!(available(&files), Some(3_000_000), "{path}");
        }
    }

    #[test]
    fn version_1_has_the_limit_below_its_memory_controller() {
        let version_1 = |limit: &str, above: &str| {
            available(&[
                ("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/abc\n0::/elsewhere\n"),
                ("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", limit),
                ("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "1000000\n"),
                ("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", above),
                ("sys/fs/cgroup/memory/docker/memory.usage_in_bytes", "2000000\n"),
            ])
        };
        let none = "9223372036854771712\n";
        assert_eq!(version_1("7000000\n", none), Some(6_000_000));
        assert_eq!(version_1(none, "7000000\n"), Some(5_000_000));
        assert_eq!(version_1(none, none), Some(8_192_000_000));
    }

    #[test]
    fn nonsense_is_no_limit() {
        for groups in ["", "nonsense", "0:\n1:memory\n", ":::\n", "4:memory:\n"] {
            assert_eq!(available(&[("proc/self/cgroup", groups)]), Some(8_192_000_000), "{groups}");
        }
    }
}
